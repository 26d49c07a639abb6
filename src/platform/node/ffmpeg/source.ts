/**
 * @module platform/node/ffmpeg/source
 * Frames decoded by one ffmpeg process, some of them ahead of the reader, and the reason of their end.
 */
import type { Readable } from 'node:stream';
import { onAbort } from '../../../core/abort.js';
import { AnyvmafError, ioError, mediaError, type Remedy, usageError } from '../../../core/errors.js';
import type { FramePlanes, VideoFormat } from '../../../core/frame.js';
import type { Fraction } from '../../../core/numbers.js';
import { quoted, shown } from '../../../core/printable.js';
import type { DecodedSource, DecodeRequest, TrackFacts } from '../../../media/decoder.js';
import { decodedInfo, requireInOrder } from '../../../media/decoder.js';
import { afterTime, earlyEndError, earlyEndWarning, gapWarning, MediaError } from '../../../media/errors.js';
import { PlaneMap } from '../../../media/sources.js';
import type { VideoInfo } from '../../../media/types.js';
import { isPieceEnd } from '../../ffmpeg/commands.js';
import { type DecodedPart, type ExpectedFrame, FrameLog } from '../../ffmpeg/log.js';
import type { Plan } from '../../ffmpeg/times.js';
import type { Channel, Ending, Receiver, ToolProcess } from './tool.js';
import { openChannel, readLines } from './tool.js';

/** Limit on the output of a filter chain. */
interface FrameBound {
  readonly chain: string;
  /** Frames of the video. */
  readonly taken: number;
  readonly most: number;
}

export interface SourceOptions {
  readonly facts: TrackFacts;
  readonly decodedBy: string;
  readonly request: DecodeRequest;
  /** Format of the frames on the pipe. */
  readonly format: VideoFormat;
  readonly plan: Plan;
  /** Problems at the beginning, as full sentences. */
  readonly warnings: readonly string[];
  /** For filters that may add frames. */
  readonly bound?: FrameBound;
  /** Why fetching failed; ffmpeg only sees the end of the file. */
  readonly fetchFailure: () => Error | undefined;
}

/** Frame 0 is the first of the requested range. */
export class FfmpegSource implements DecodedSource {
  readonly info: VideoInfo;
  readonly seekable = false;
  readonly decoder = 'ffmpeg';
  readonly facts: TrackFacts;
  readonly decodedBy: string;
  readonly scaledBy?: string;
  readonly #run: DecodeRun;
  readonly #options: SourceOptions;
  readonly #planes: PlaneMap;
  readonly #trackStart: number;
  readonly #warnings: string[];
  readonly #forget: () => void;
  /** Presentation times of taken frames, in seconds from the track's start. */
  readonly #times: number[] = [];
  #first: DecodedFrame | undefined;
  #over: 'end' | AnyvmafError | undefined;
  damage: string | undefined;
  #warnedOfGaps = false;

  /** @param first the first frame, already read */
  constructor(run: DecodeRun, first: DecodedFrame, options: SourceOptions) {
    const { facts, request, format, plan } = options;
    this.facts = facts;
    this.decodedBy = options.decodedBy;
    this.#run = run;
    this.#first = first;
    this.#options = options;
    this.#planes = new PlaneMap(format);
    this.#trackStart = plan.trackStart ?? run.log.firstTime ?? 0;
    this.#warnings = [...options.warnings];
    const { width, height } = format;
    const scaled = width !== facts.width || height !== facts.height;
    if (scaled && request.size) this.scaledBy = `swscale ${request.size.filter}`;
    const sampleAspect = scaled ? rescaledAspect(facts, format) : facts.sampleAspect;
    const shaped = { ...facts, ...format, sampleAspect };
    this.info = decodedInfo(shaped, plan.frameCount, this.#warnings);
    this.#forget = onAbort(request.signal, () => void run.close());
  }

  async readFrame(index: number, into: FramePlanes): Promise<boolean> {
    requireInOrder(this.facts.name, index, this.#times.length);
    const parts = this.#planes.parts(into);
    while (this.#times.length < index) if (!(await this.#take([]))) return false;
    if (!(await this.#take(parts))) return false;
    this.#planes.finish(into);
    return true;
  }

  timestamp(index: number): number | undefined {
    const time = this.#times[index];
    return time === undefined || Number.isNaN(time) ? undefined : time;
  }

  close(): Promise<void> {
    this.#over ??= 'end';
    this.#forget();
    return this.#run.close();
  }

  #tooMany({ chain, taken, most }: FrameBound): AnyvmafError {
    const error = usageError(
      `the filters ${quoted(chain)} make more than ${most} frames from the ${taken} of ${shown(this.facts.name)}, ` +
        'whose timestamps may have a gap; use a lower rate, or a part of the video.',
    );
    this.#over = error;
    return error;
  }

  /** Takes the next frame into `parts`; false at the end. */
  async #take(parts: readonly Uint8Array[]): Promise<boolean> {
    const { bound, plan, request } = this.#options;
    const next = this.#over ? undefined : (this.#first ?? (await this.#run.next()));
    request.signal?.throwIfAborted();
    if (this.#over instanceof AnyvmafError) throw this.#over;
    if (this.#over || !next) return false;
    if ('kind' in next) return this.#finish(next);
    if (bound && this.#times.length >= bound.most) throw this.#tooMany(bound);
    this.#first = undefined;
    this.#warnOfGaps();
    this.#times.push(plan.times?.[this.#times.length] ?? next.time - this.#trackStart);
    let at = 0;
    for (const part of parts) {
      part.set(next.bytes.subarray(at, at + part.length));
      at += part.length;
    }
    this.#run.release(next);
    return true;
  }

  /** @throws {AnyvmafError} unless a video may end this way */
  #finish(end: End): false {
    const failure = this.#options.fetchFailure();
    if (failure) {
      void this.#run.close();
      throw failure;
    }
    if (end.kind === 'end') this.#warnOfGaps();
    if (end.kind === 'damage' && this.#options.request.damage === 'accept') {
      const { text, cutOff } = end;
      const frames = this.#times.length;
      this.damage = earlyEndWarning(this.facts, { frames, lastTime: this.#lastTime, cutOff, text });
      // The damage disproves the gap's warning, which says that the decoder did not complain.
      const gap = this.#warnings.indexOf(gapWarning(this.facts.name));
      if (gap >= 0) this.#warnings.splice(gap, 1);
      this.#warnedOfGaps = true;
      this.#warnings.push(this.damage);
      this.#over = 'end';
    } else {
      this.#over = end.kind === 'end' ? 'end' : endError(end, this.facts, this.#times.length, this.#lastTime);
    }
    void this.#run.close();
    if (this.#over !== 'end') throw this.#over;
    return false;
  }

  /** Warns once, since missing frames show where the gaps are. */
  #warnOfGaps(): void {
    // In other containers, the gap is where the file is cut off, which is reported as damage.
    if (this.#warnedOfGaps || this.#run.log.gaps === 0 || this.facts.container !== 'mpegts') return;
    this.#warnedOfGaps = true;
    this.#warnings.push(gapWarning(this.facts.name));
  }

  get #lastTime(): number | undefined {
    return this.timestamp(this.#times.length - 1);
  }
}

const OTHER_DECODER: Remedy = { purpose: 'choose', option: 'decoder' };

/** The error for a premature end. @param frames read before @param lastTime of the last one, in seconds */
export function endError(
  end: Exclude<End, { kind: 'end' }>,
  facts: TrackFacts,
  frames: number,
  lastTime: number | undefined,
): AnyvmafError {
  switch (end.kind) {
    case 'damage':
      if (frames === 0) {
        return new MediaError(
          'damaged',
          0,
          `no frame of ${shown(facts.name)} can be decoded (${facts.codec}: ${shown(end.text)})`,
          { hints: ['download the file again', OTHER_DECODER], file: facts.name },
        );
      }
      return earlyEndError(facts, { frames, lastTime, cutOff: end.cutOff, text: end.text });
    case 'change':
      return mediaError(
        `${shown(facts.name)} changes from ${facts.width}x${facts.height} ${facts.pixelFormat} to ` +
          `${end.found.width}x${end.found.height} ${end.found.pixelFormat} at frame ${frames}${afterTime(lastTime)}; cut it ` +
          'there, and score the parts one by one.',
      );
    case 'failure':
      return ioError(
        `ffmpeg failed on ${shown(facts.name)} ${frames === 0 ? 'before the first frame' : `at frame ${frames}${afterTime(lastTime)}`}: ` +
          shown(end.text),
        { hints: ['run it again', OTHER_DECODER], file: facts.name },
      );
  }
}

/** Changes the sample aspect to keep the picture's aspect. */
function rescaledAspect(facts: TrackFacts, { width, height }: VideoFormat): Fraction | undefined {
  const { sampleAspect } = facts;
  if (!sampleAspect) return undefined;
  const num = sampleAspect.num * facts.width * height;
  const den = sampleAspect.den * facts.height * width;
  const divisor = greatestCommon(num, den);
  return { num: num / divisor, den: den / divisor };
}

const greatestCommon = (a: number, b: number): number => (b === 0 ? a : greatestCommon(b, a % b));

export type End =
  /** All wanted or existing frames have arrived. */
  | { readonly kind: 'end' }
  /** `cutOff`: the file ends before its video. */
  | { readonly kind: 'damage'; readonly text: string; readonly cutOff: boolean }
  /** The format of the frames changes. */
  | { readonly kind: 'change'; readonly found: ExpectedFrame }
  | { readonly kind: 'failure'; readonly text: string };

/** `time` is in seconds on the file's clock, `NaN` if there is none. */
export interface DecodedFrame {
  readonly bytes: Uint8Array;
  readonly time: number;
}

export interface RunOptions extends DecodedPart {
  /** Starts ffmpeg, with the channel as its output if there is one. */
  readonly start: (channel: Channel | undefined) => ToolProcess;
  /** Bytes of one frame on the pipe. */
  readonly frameBytes: number;
  /** Whether to receive frames straight into their memory, if the system can. */
  readonly direct: boolean;
}

/** Frames of one ffmpeg process. Allows one call of {@link next} at a time. */
export class DecodeRun {
  readonly #options: RunOptions;
  readonly #pipe: FramePipe;
  readonly #process: ToolProcess;
  readonly log: FrameLog;
  /** Times of announced frames. */
  readonly #times: number[] = [];
  #taken = 0;
  /** The end after the announced frames. */
  #end: End | undefined;
  /** Whether earlier frames of a truncated file still arrive. */
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
    this.log = new FrameLog(options);
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

  /** The next frame or the end. Return a frame's memory with {@link release}. */
  async next(): Promise<DecodedFrame | End> {
    for (;;) {
      const now = this.#available();
      if (now) return now;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #available(): DecodedFrame | End | undefined {
    if (this.#taken < this.log.wanted) {
      const bytes = this.#pipe.shift();
      if (bytes) {
        this.#taken++;
        return { bytes, time: this.#times.shift() ?? Number.NaN };
      }
      if (!this.#gone) return undefined;
      if (this.#end && this.#end.kind !== 'end') return this.#end;
      return { kind: 'failure', text: this.log.trouble.at(-1) ?? 'it ended before all frames had arrived' };
    }
    return this.#draining && !this.#gone ? undefined : this.#end;
  }

  release(frame: DecodedFrame): void {
    this.#pipe.release(frame.bytes);
  }

  close(): Promise<void> {
    this.#end ??= { kind: 'end' };
    return this.#process.kill();
  }

  #listen(line: string): void {
    if (isPieceEnd(line)) return;
    // Do not count frames after the end.
    const over = this.#end !== undefined && !this.#draining;
    const event = this.log.take(line, over);
    switch (event?.kind) {
      case 'wanted':
        this.#times.push(event.time);
        this.#wakeReader();
        if (this.log.wanted === this.#options.part.count) this.#finish({ kind: 'end' });
        return;
      case 'past':
        this.#finish({ kind: 'end' });
        return;
      case 'change':
        this.#finish(event);
        return;
      case 'damage':
        // Frames before the truncation are intact, and still being decoded.
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
    const text = this.log.skippedStart ?? this.log.trouble.at(-1);
    if (text !== undefined && this.log.decoding) return { kind: 'damage', text, cutOff: false };
    return { kind: 'failure', text: text ?? `it ended with code ${code}` };
  }

  #wakeReader(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

/**
 * Bytes of buffered frames, within {@link FEWEST} and {@link MOST} frames: one arriving, the others ahead. Few, since decoding
 * ahead takes time from the workers that measure the first frames.
 */
const HELD = 12 << 20;
const FEWEST = 3;
const MOST = 8;

/** Splits raw video, received straight into memory or piece by piece, into frames. */
export class FramePipe implements Receiver {
  readonly #frameBytes: number;
  readonly #onFrame: () => void;
  #stream: Readable | undefined;
  readonly #ready: Uint8Array[] = [];
  readonly #free: Uint8Array[] = [];
  /** Number of buffers left to allocate. */
  #unmade: number;
  /** The buffer to fill; stays empty while no other buffer is free. */
  #filling: Uint8Array;
  #filled = 0;
  #full = false;
  /** Pieces received while full: perhaps several, as Node resumes the pipes of an exiting process. */
  #rest: Uint8Array[] = [];

  constructor(frameBytes: number, onFrame: () => void) {
    this.#frameBytes = frameBytes;
    this.#onFrame = onFrame;
    this.#unmade = Math.min(MOST, Math.max(FEWEST, Math.floor(HELD / frameBytes)));
    this.#filling = this.#buffer();
  }

  /** Sets the stream whose receiver this pipe is. */
  receiveFrom(stream: Readable): void {
    this.#stream = stream;
    stream.on('error', () => {});
  }

  readFrom(stream: Readable): void {
    this.receiveFrom(stream);
    stream.on('data', (piece: Buffer) => this.#take(piece));
  }

  /** The oldest frame, owned by the caller until {@link release}. */
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
