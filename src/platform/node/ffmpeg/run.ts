/**
 * @module platform/node/ffmpeg/run
 * One ffmpeg process that decodes: its frames in order, and why they end.
 */
import { AnyvmafError } from '../../../core/errors.js';
import { type Part, seconds } from '../../ffmpeg/commands.js';
import { type ExpectedFrame, parseLogLine } from '../../ffmpeg/log.js';
import { type Channel, openChannel } from './channel.js';
import { FramePipe } from './frame-pipe.js';
import { type Ending, readLines, type ToolProcess } from './tool.js';

/** Lines of the log that are kept for messages. */
const KEPT_LINES = 8;

/** Why there are no more frames. */
export type End =
  /** All that were wanted or there. */
  | { readonly kind: 'end' }
  /** `cutOff`: the file ends before its video does. */
  | { readonly kind: 'damage'; readonly text: string; readonly cutOff: boolean }
  /** Frames stop being what they were at the start. */
  | { readonly kind: 'change'; readonly found: ExpectedFrame }
  /** ffmpeg itself went wrong. */
  | { readonly kind: 'failure'; readonly text: string };

/** A frame with its presentation time in seconds on the file's clock, `NaN` where it has none. */
export interface DecodedFrame {
  readonly bytes: Uint8Array;
  readonly time: number;
}

/** How to run. */
export interface RunOptions {
  /** Starts ffmpeg on the video, its frames to go into the channel where there is one. */
  readonly start: (channel: Channel | undefined) => ToolProcess;
  /** Bytes of one frame on the pipe. */
  readonly frameBytes: number;
  readonly expected: ExpectedFrame;
  readonly part: Part;
  /** A recording may begin between key frames, and what cannot be decoded of its beginning is no damage. */
  readonly startsAnywhere: boolean;
  /** Have the frames written straight into their memory, where the system can. */
  readonly direct: boolean;
}

/** Frames of one ffmpeg process. One call of {@link next} at a time. */
export class DecodeRun {
  readonly #options: RunOptions;
  readonly #pipe: FramePipe;
  readonly #process: ToolProcess;
  /** Log lines that tell of trouble, the first ones. */
  readonly #trouble: string[] = [];
  /** Times of frames that ffmpeg announced and that were not taken yet. */
  readonly #times: number[] = [];
  #unit = Number.NaN;
  #decoding = false;
  #gaps = 0;
  /** Frames decoded, announced as wanted, and taken. */
  #seen = 0;
  #announced = 0;
  #taken = 0;
  #firstTime: number | undefined;
  #skippedStart: string | undefined;
  #troubleBeforePart = false;
  /** After the announced frames. */
  #end: End | undefined;
  /** The file ended too early, and frames read before still come. */
  #draining = false;
  #gone = false;
  #wake: (() => void) | undefined;

  /** Starts ffmpeg. */
  static async start(options: RunOptions): Promise<DecodeRun> {
    let arrived = () => {};
    const pipe = new FramePipe(options.frameBytes, () => arrived());
    const channel = options.direct ? await openChannel(pipe) : undefined;
    const process = options.start(channel);
    if (channel) pipe.receiveFrom(process.stdout);
    else pipe.readFrom(process.stdout);
    const run = new DecodeRun(options, pipe, process);
    arrived = () => run.#stir();
    return run;
  }

  private constructor(options: RunOptions, pipe: FramePipe, process: ToolProcess) {
    this.#options = options;
    this.#pipe = pipe;
    this.#process = process;
    readLines(this.#process.stderr, (line) => this.#listen(line));
    this.#process.ended.then(
      (ending) => this.#ended(ending),
      (error: unknown) => {
        this.#end ??= {
          kind: 'failure',
          text: error instanceof AnyvmafError ? error.message : String(error),
        };
        this.#gone = true;
        this.#stir();
      },
    );
  }

  /** Packets so far before which others may be missing. */
  get gaps(): number {
    return this.#gaps;
  }

  /** Time of the first frame that was decoded, wanted or not, in seconds on the file's clock. */
  get firstTime(): number | undefined {
    return this.#firstTime;
  }

  /** Whether decoding began before the part that is wanted, and went well up to it. */
  get ledIn(): boolean {
    return this.#seen > this.#announced && !this.#troubleBeforePart;
  }

  /** The next frame, or why there is none. The frame's memory is given back by {@link release}. */
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
    if (this.#taken < this.#announced) {
      const bytes = this.#pipe.shift();
      if (bytes) {
        this.#taken++;
        return { bytes, time: this.#times.shift() ?? Number.NaN };
      }
      if (!this.#gone) return undefined;
      if (this.#end && this.#end.kind !== 'end') return this.#end;
      return { kind: 'failure', text: this.#trouble.at(-1) ?? 'it ended before all frames had come' };
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
    const event = parseLogLine(line);
    switch (event?.kind) {
      case undefined:
        return;
      case 'timebase':
        this.#unit = event.num / event.den;
        return;
      case 'decoding':
        this.#decoding = true;
        return;
      case 'gap':
        this.#gaps++;
        return;
      case 'damage':
        if (this.#trouble.length < KEPT_LINES) this.#trouble.push(event.text);
        this.#damaged(event.text, event.atEnd);
        return;
      case 'frame':
        this.#frame(event, (event.pts ?? Number.NaN) * this.#unit);
    }
  }

  #frame(found: ExpectedFrame, time: number): void {
    if (this.#end && !this.#draining) return;
    const { expected, part } = this.#options;
    const { width, height, pixelFormat } = found;
    if (
      width !== expected.width ||
      height !== expected.height ||
      unranged(pixelFormat) !== unranged(expected.pixelFormat)
    ) {
      this.#finish({ kind: 'change', found: { width, height, pixelFormat } });
      return;
    }
    const number = this.#seen++;
    this.#firstTime ??= time;
    // The same comparisons that the filter makes.
    if (part.fromFrame !== undefined && number < part.fromFrame) return;
    if (part.fromTime !== undefined && !(time >= Number(seconds(part.fromTime)))) return;
    if (part.untilTime !== undefined && !(time < Number(seconds(part.untilTime)))) {
      // Without times there is no telling where to stop.
      if (!Number.isNaN(time)) this.#finish({ kind: 'end' });
      return;
    }
    if (part.count !== undefined && this.#announced >= part.count) return;
    this.#announced++;
    this.#times.push(time);
    this.#stir();
    if (this.#announced === part.count) this.#finish({ kind: 'end' });
  }

  #damaged(text: string, atEnd: boolean): void {
    if (this.#end) {
      if (!atEnd) this.#draining = false;
      return;
    }
    if (this.#seen === 0) {
      if (!this.#decoding) return;
      if (this.#options.startsAnywhere || this.#options.part.seek !== undefined) {
        this.#skippedStart ??= text;
        return;
      }
    }
    if (this.#announced === 0 && this.#options.part.seek !== undefined) {
      this.#troubleBeforePart = true;
      return;
    }
    // What was read before the file's sudden end is still being decoded, and whole.
    this.#draining = atEnd;
    this.#finish({ kind: 'damage', text, cutOff: atEnd });
  }

  #finish(end: End): void {
    this.#end ??= end;
    this.#stir();
  }

  #ended(ending: Ending): void {
    this.#gone = true;
    this.#end ??= this.#endedHow(ending);
    this.#stir();
  }

  #endedHow({ code, signal }: Ending): End {
    if (signal !== null) return { kind: 'failure', text: `it was ended by ${signal}` };
    if (code === 0) return { kind: 'end' };
    const text = this.#skippedStart ?? this.#trouble.at(-1);
    if (text !== undefined && this.#decoding) return { kind: 'damage', text, cutOff: false };
    return { kind: 'failure', text: text ?? `it ended with code ${code}` };
  }

  #stir(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

/** The layout alone: ffmpeg has two names for some, one of which adds that the range is full. */
function unranged(pixelFormat: string): string {
  return pixelFormat.replace(/^yuvj/, 'yuv');
}
