/**
 * @module platform/node/ffmpeg/source
 * Frames decoded by an ffmpeg process, as a source for the scorer.
 */
import { onAbort } from '../../../core/abort.js';
import { AnyvmafError } from '../../../core/errors.js';
import type { FramePlanes, VideoFormat } from '../../../core/frame.js';
import type { Remedy } from '../../../core/hint.js';
import { quoted, shown } from '../../../core/printable.js';
import type { Fraction } from '../../../core/rational.js';
import {
  type DecodedSource,
  type DecodeRequest,
  decodedInfo,
  requireInOrder,
  type TrackFacts,
} from '../../../media/decoder.js';
import { afterTime, earlyEndError, earlyEndWarning, gapWarning, MediaError } from '../../../media/errors.js';
import { PlaneMap } from '../../../media/sources.js';
import type { VideoInfo } from '../../../media/types.js';
import type { Plan } from '../../ffmpeg/plan.js';
import type { DecodedFrame, DecodeRun, End } from './run.js';

/** How many frames a chain of filters may give. */
export interface FrameBound {
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
  /** Problems at the beginning, as sentences. */
  readonly warnings: readonly string[];
  /** For filters that may give more frames than they take. */
  readonly bound?: FrameBound;
  /** Why the file could not be fetched; ffmpeg only sees that it ended. */
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
  readonly #request: DecodeRequest;
  readonly #planes: PlaneMap;
  readonly #trackStart: number;
  readonly #known: Float64Array | undefined;
  readonly #warnings: string[];
  readonly #fetchFailure: () => Error | undefined;
  readonly #bound: FrameBound | undefined;
  readonly #forget: () => void;
  /** Presentation times of the frames taken so far, in seconds from the track's start. */
  readonly #times: number[] = [];
  #first: DecodedFrame | undefined;
  #over: 'end' | AnyvmafError | undefined;
  #damage: string | undefined;
  #warnedOfGaps = false;

  /** @param first the first frame, which shows that there is one */
  constructor(run: DecodeRun, first: DecodedFrame, options: SourceOptions) {
    const { facts, request, format, plan } = options;
    this.facts = facts;
    this.decodedBy = options.decodedBy;
    this.#run = run;
    this.#fetchFailure = options.fetchFailure;
    this.#bound = options.bound;
    this.#first = first;
    this.#request = request;
    this.#planes = new PlaneMap(format);
    this.#trackStart = plan.trackStart ?? run.log.firstTime ?? 0;
    this.#known = plan.times;
    this.#warnings = [...options.warnings];
    const { width, height } = format;
    const scaled = width !== facts.width || height !== facts.height;
    if (scaled && request.size) this.scaledBy = `swscale ${request.size.filter}`;
    const sampleAspect = scaled ? rescaledAspect(facts, format) : facts.sampleAspect;
    const shaped = { ...facts, ...format, sampleAspect };
    this.info = decodedInfo(shaped, plan.frameCount, this.#warnings);
    this.#forget = onAbort(request.signal, () => void run.close());
  }

  get damage(): string | undefined {
    return this.#damage;
  }

  readFrame(index: number, into: FramePlanes): boolean | Promise<boolean> {
    requireInOrder(this.facts.name, index, this.#times.length);
    const parts = this.#planes.parts(into);
    for (;;) {
      const next = this.#over ?? this.#first ?? this.#run.poll();
      if (next === undefined) return this.#run.next().then((came) => this.#goOn(came, index, into));
      const done = this.#take(next, index, into, parts);
      if (done !== undefined) return done;
    }
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

  /** Continues {@link readFrame} after a wait. */
  #goOn(came: DecodedFrame | End, index: number, into: FramePlanes): boolean | Promise<boolean> {
    const done = this.#take(this.#over ?? came, index, into, this.#planes.parts(into));
    return done ?? this.readFrame(index, into);
  }

  #tooMany({ chain, taken, most }: FrameBound): AnyvmafError {
    const error = new AnyvmafError(
      'usage',
      `the filters ${quoted(chain)} make more than ${most} frames from the ${taken} of ${shown(this.facts.name)}, ` +
        'whose timestamps may have a gap; use a lower rate, or a part of the video.',
    );
    this.#over = error;
    return error;
  }

  /** Takes a frame or the end; `undefined` for a frame before the one wanted. */
  #take(
    next: DecodedFrame | End | 'end' | AnyvmafError,
    index: number,
    into: FramePlanes,
    parts: readonly Uint8Array[],
  ): boolean | undefined {
    this.#request.signal?.throwIfAborted();
    if (next === 'end') return false;
    if (next instanceof AnyvmafError) throw next;
    if ('kind' in next) return this.#finish(next);
    if (this.#bound && this.#times.length >= this.#bound.most) throw this.#tooMany(this.#bound);
    this.#first = undefined;
    this.#warnOfGaps();
    const wanted = this.#times.length === index;
    this.#times.push(this.#known?.[this.#times.length] ?? next.time - this.#trackStart);
    if (wanted) {
      let at = 0;
      for (const part of parts) {
        part.set(next.bytes.subarray(at, at + part.length));
        at += part.length;
      }
      this.#planes.finish(into);
    }
    this.#run.release(next);
    return wanted ? true : undefined;
  }

  /** @throws {AnyvmafError} unless a video may end this way */
  #finish(end: End): false {
    const failure = this.#fetchFailure();
    if (failure) {
      void this.#run.close();
      throw failure;
    }
    if (end.kind === 'end') this.#warnOfGaps();
    if (end.kind === 'damage' && this.#request.damage === 'accept') {
      const { text, cutOff } = end;
      const frames = this.#times.length;
      this.#damage = earlyEndWarning(this.facts, { frames, lastTime: this.#lastTime, cutOff, text });
      // The gap's warning says that the decoder does not complain, but now it does.
      const gap = this.#warnings.indexOf(gapWarning(this.facts.name));
      if (gap >= 0) this.#warnings.splice(gap, 1);
      this.#warnedOfGaps = true;
      this.#warnings.push(this.#damage);
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
    // In other containers it is the packet at which a file is cut off, which is reported as damage.
    if (this.#warnedOfGaps || this.#run.log.gaps === 0 || this.facts.container !== 'mpegts') return;
    this.#warnedOfGaps = true;
    this.#warnings.push(gapWarning(this.facts.name));
  }

  get #lastTime(): number | undefined {
    return this.timestamp(this.#times.length - 1);
  }
}

const OTHER_DECODER: Remedy = { purpose: 'choose', option: 'decoder' };

/**
 * The error for a premature end.
 * @param frames read before
 * @param lastTime of the last of them, in seconds
 */
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
      return new AnyvmafError(
        'media',
        `${shown(facts.name)} changes from ${facts.width}x${facts.height} ${facts.pixelFormat} to ` +
          `${end.found.width}x${end.found.height} ${end.found.pixelFormat} at frame ${frames}${afterTime(lastTime)}; cut it ` +
          'there, and score the parts one by one.',
      );
    case 'failure':
      return new AnyvmafError(
        'io',
        `ffmpeg failed on ${shown(facts.name)} ${frames === 0 ? 'before the first frame' : `at frame ${frames}${afterTime(lastTime)}`}: ` +
          shown(end.text),
        { hints: ['run it again', OTHER_DECODER], file: facts.name },
      );
  }
}

/** Changes the sample aspect so that the picture keeps its own. */
function rescaledAspect(facts: TrackFacts, { width, height }: VideoFormat): Fraction | undefined {
  const { sampleAspect } = facts;
  if (!sampleAspect) return undefined;
  const num = sampleAspect.num * facts.width * height;
  const den = sampleAspect.den * facts.height * width;
  const divisor = greatestCommon(num, den);
  return { num: num / divisor, den: den / divisor };
}

function greatestCommon(a: number, b: number): number {
  return b === 0 ? a : greatestCommon(b, a % b);
}
