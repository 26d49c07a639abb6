/**
 * @module platform/node/ffmpeg/run
 * One ffmpeg process that decodes: its frames, some of them ahead of the reader, and why they end.
 */

import type { Readable } from 'node:stream';
import { AnyvmafError } from '../../../core/errors.js';
import { isPieceEnd } from '../../ffmpeg/access.js';
import { type DecodedPart, type ExpectedFrame, FrameLog } from '../../ffmpeg/log.js';
import { type Channel, openChannel, type Receiver } from './channel.js';
import { type Ending, readLines, type ToolProcess } from './tool.js';

export type End =
  /** All wanted frames have come, or all that exist. */
  | { readonly kind: 'end' }
  /** `cutOff`: the file ends before its video does. */
  | { readonly kind: 'damage'; readonly text: string; readonly cutOff: boolean }
  /** Frames no longer look as they did at the start. */
  | { readonly kind: 'change'; readonly found: ExpectedFrame }
  | { readonly kind: 'failure'; readonly text: string };

/** `time` is in seconds on the file's clock, `NaN` if there is none. */
export interface DecodedFrame {
  readonly bytes: Uint8Array;
  readonly time: number;
}

export interface RunOptions extends DecodedPart {
  /** Starts ffmpeg on the video, with the channel as its output if there is one. */
  readonly start: (channel: Channel | undefined) => ToolProcess;
  /** Bytes of one frame on the pipe. */
  readonly frameBytes: number;
  /** Have frames written straight into their memory, if the system can. */
  readonly direct: boolean;
}

/** Frames of one ffmpeg process. Allows one call of {@link next} at a time. */
export class DecodeRun {
  readonly #options: RunOptions;
  readonly #pipe: FramePipe;
  readonly #process: ToolProcess;
  readonly #log: FrameLog;
  /** Times of frames that were announced and not taken yet. */
  readonly #times: number[] = [];
  #taken = 0;
  /** After the announced frames. */
  #end: End | undefined;
  /** The file is truncated, and frames read before still come. */
  #draining = false;
  #gone = false;
  #wake: (() => void) | undefined;

  static async start(options: RunOptions): Promise<DecodeRun> {
    let arrived = () => {};
    const pipe = new FramePipe(options.frameBytes, () => arrived());
    const channel = options.direct ? await openChannel(pipe) : undefined;
    const process = options.start(channel);
    if (channel) pipe.receiveFrom(process.stdout);
    else pipe.readFrom(process.stdout);
    const run = new DecodeRun(options, pipe, process);
    arrived = () => run.#wakeReader();
    return run;
  }

  private constructor(options: RunOptions, pipe: FramePipe, process: ToolProcess) {
    this.#options = options;
    this.#pipe = pipe;
    this.#process = process;
    this.#log = new FrameLog(options);
    readLines(this.#process.stderr, (line) => this.#listen(line));
    this.#process.ended.then(
      (ending) => this.#ended(ending),
      (error: unknown) => {
        this.#end ??= {
          kind: 'failure',
          text: error instanceof AnyvmafError ? error.message : String(error),
        };
        this.#gone = true;
        this.#wakeReader();
      },
    );
  }

  get log(): Pick<FrameLog, 'gaps' | 'firstTime' | 'ledIn'> {
    return this.#log;
  }

  /** The next frame, or why there is none. Return its memory with {@link release}. */
  async next(): Promise<DecodedFrame | End> {
    for (;;) {
      const now = this.poll();
      if (now) return now;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** As {@link next}, if it is there already. */
  poll(): DecodedFrame | End | undefined {
    if (this.#taken < this.#log.wanted) {
      const bytes = this.#pipe.shift();
      if (bytes) {
        this.#taken++;
        return { bytes, time: this.#times.shift() ?? Number.NaN };
      }
      if (!this.#gone) return undefined;
      if (this.#end && this.#end.kind !== 'end') return this.#end;
      return { kind: 'failure', text: this.#log.trouble.at(-1) ?? 'it ended before all frames had arrived' };
    }
    return this.#draining && !this.#gone ? undefined : this.#end;
  }

  release(frame: DecodedFrame): void {
    this.#pipe.release(frame.bytes);
  }

  /** Ends the process and waits until it is gone. */
  close(): Promise<void> {
    this.#end ??= { kind: 'end' };
    return this.#process.kill();
  }

  #listen(line: string): void {
    if (isPieceEnd(line)) return;
    // Do not count frames after the last one.
    const over = this.#end !== undefined && !this.#draining;
    const event = this.#log.take(line, over);
    switch (event?.kind) {
      case 'wanted':
        this.#times.push(event.time);
        this.#wakeReader();
        if (this.#log.wanted === this.#options.part.count) this.#finish({ kind: 'end' });
        return;
      case 'past':
        this.#finish({ kind: 'end' });
        return;
      case 'change':
        this.#finish(event);
        return;
      case 'damage':
        // What was read before the truncation is still being decoded, and whole.
        this.#draining = event.atEnd && (this.#draining || !this.#end);
        this.#finish({ kind: 'damage', text: event.text, cutOff: event.atEnd });
    }
  }

  #finish(end: End): void {
    this.#end ??= end;
    this.#wakeReader();
  }

  #ended(ending: Ending): void {
    this.#gone = true;
    this.#end ??= this.#endedHow(ending);
    this.#wakeReader();
  }

  #endedHow({ code, signal }: Ending): End {
    if (signal !== null) return { kind: 'failure', text: `it was killed by ${signal}` };
    if (code === 0) return { kind: 'end' };
    const text = this.#log.skippedStart ?? this.#log.trouble.at(-1);
    if (text !== undefined && this.#log.decoding) return { kind: 'damage', text, cutOff: false };
    return { kind: 'failure', text: text ?? `it ended with code ${code}` };
  }

  #wakeReader(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

/**
 * Bytes of frames held, within {@link FEWEST} and {@link MOST} frames: one arrives, the others are ahead. Few, since
 * decoding ahead takes time from the workers that measure the first frames.
 */
const HELD = 12 << 20;
const FEWEST = 3;
const MOST = 8;

/** Cuts raw video, which comes straight into the frames' memory or piece by piece, into whole frames. */
export class FramePipe implements Receiver {
  readonly #frameBytes: number;
  readonly #onFrame: () => void;
  #stream: Readable | undefined;
  readonly #ready: Uint8Array[] = [];
  readonly #free: Uint8Array[] = [];
  /** Buffers that may still be allocated. */
  #unmade: number;
  /** Receives the next bytes; stays empty while no other buffer is free. */
  #filling: Uint8Array;
  #filled = 0;
  #full = false;
  /** Pieces that came while it was full: more than one, as Node resumes the pipes of a process that exits. */
  #rest: Uint8Array[] = [];

  constructor(frameBytes: number, onFrame: () => void) {
    this.#frameBytes = frameBytes;
    this.#onFrame = onFrame;
    this.#unmade = Math.min(MOST, Math.max(FEWEST, Math.floor(HELD / frameBytes)));
    this.#filling = this.#buffer();
  }

  /** Sets the stream that feeds this pipe as its receiver. */
  receiveFrom(stream: Readable): void {
    this.#stream = stream;
    stream.on('error', () => {});
  }

  readFrom(stream: Readable): void {
    this.receiveFrom(stream);
    stream.on('data', (piece: Buffer) => this.#take(piece));
  }

  /** The oldest frame; owned by the caller until {@link release}. */
  shift(): Uint8Array | undefined {
    return this.#ready.shift();
  }

  release(frame: Uint8Array): void {
    this.#free.push(frame);
    if (!this.#full) return;
    this.#full = false;
    const pieces = this.#rest;
    this.#rest = [];
    for (const piece of pieces) this.#take(piece);
    if (!this.#full) this.#stream?.resume();
  }

  room(): Uint8Array {
    return this.#filling.subarray(this.#filled);
  }

  filled(bytes: number): boolean {
    this.#filled += bytes;
    if (this.#filled < this.#frameBytes) return true;
    this.#ready.push(this.#filling);
    this.#filling = this.#buffer();
    this.#filled = 0;
    this.#full = this.#free.length === 0 && this.#unmade === 0;
    this.#onFrame();
    return !this.#full;
  }

  #take(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; ) {
      if (this.#full) {
        this.#rest.push(piece.subarray(at));
        this.#stream?.pause();
        return;
      }
      const bytes = piece.subarray(at, at + this.#frameBytes - this.#filled);
      this.room().set(bytes);
      at += bytes.length;
      this.filled(bytes.length);
    }
  }

  #buffer(): Uint8Array {
    const free = this.#free.pop();
    if (free) return free;
    this.#unmade--;
    return new Uint8Array(this.#frameBytes);
  }
}
