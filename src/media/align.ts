/**
 * @module media/align
 * The temporal offset between two videos, from the luma of their first seconds.
 */
import { AnyvmafError } from '../core/errors.js';
import { lumaBytes } from '../core/frame.js';
import { Evidence } from './align/evidence.js';
import { search } from './align/search.js';
import { type LumaFormat, THUMBNAIL, Thumbnailer } from './align/thumbnail.js';
import type { AlignOptions, AlignResult, LumaReader, Thumbs } from './align/types.js';

export { thumbnail } from './align/thumbnail.js';
export type { AlignOptions, AlignResult, LumaReader } from './align/types.js';

/** Offsets searched by default: -50…50. */
const DEFAULT_WINDOW = 50;

/** Pairs at the outermost offsets after the first round of reading. */
const FIRST_PAIRS = 50;

/** Frames that every search may read, however small its window. */
const MIN_MAX_FRAMES = 300;

/** Frames of the faster video that are read for each of the slower one, at most. */
const MOST_AHEAD = 16;

/**
 * Finds the offset at which two videos show the same pictures: distorted frame i shows what reference frame i + offset
 * shows. Sizes, bit depths, brightness and contrast may differ. Reads only as far as needed, luma only.
 *
 * @example
 * const { offset, confidence, ambiguous } = await align(reference, distorted);
 *
 * @throws {AnyvmafError} `usage` for options out of range; whatever the readers throw; the signal's reason
 */
export async function align(
  reference: LumaReader,
  distorted: LumaReader,
  options: AlignOptions = {},
): Promise<AlignResult> {
  const { start } = checked(options);
  return alignThumbs(
    new LumaThumbs(reference, start.reference),
    new LumaThumbs(distorted, start.distorted),
    options,
    // One source may be both videos, and takes one call at a time.
    { oneAtATime: reference === distorted },
  );
}

/** How {@link alignThumbs} goes about it. */
export interface ThumbsOptions {
  /** Never reads both at the same time. */
  readonly oneAtATime?: boolean;
  /** Offset between the first thumbnails of the two; answers count from where it would have been 0. Default 0. */
  readonly base?: number;
  /** Reference frame of each distorted one at offset 0, ascending, where the ratio of the rates does not tell. */
  readonly partners?: ArrayLike<number> | undefined;
  /** Wider windows to go on with, one after another, while the answer is not clear. Default: none. */
  readonly wider?: readonly number[];
}

/**
 * As {@link align}, of thumbnails.
 * @param options as there, without `start`; `assumed` counts from the base
 */
export async function alignThumbs(
  first: Thumbs,
  second: Thumbs,
  options: Omit<AlignOptions, 'start'>,
  { oneAtATime = false, base = 0, partners, wider = [] }: ThumbsOptions = {},
): Promise<AlignResult> {
  const { window, maxFrames, ratio, assumed } = checked(options);
  const evidence = new Evidence(ratio, THUMBNAIL.width, partners);

  async function readTo(frames: number): Promise<void> {
    const wanted = framesToRead(frames, ratio);
    const read = [
      () => first.readTo(wanted.reference, (t) => evidence.add('reference', t), options.signal),
      () => second.readTo(wanted.distorted, (t) => evidence.add('distorted', t), options.signal),
    ] as const;
    if (oneAtATime) {
      for (const next of read) await next();
    } else {
      await Promise.all(read.map((next) => next()));
    }
  }

  let found: AlignResult | undefined;
  for (const span of [window, ...wider]) {
    const most = span === window ? maxFrames : framesForWider(span);
    for (let frames = Math.min(most, span + FIRST_PAIRS); ; frames = Math.min(most, 2 * frames)) {
      await readTo(frames);
      found = search(evidence, span, assumed, base);
      if (!found.ambiguous) return found;
      if (frames >= most || (first.ended && second.ended)) break;
    }
    // No offset is further away than the videos are long.
    const { reference, distorted } = evidence.frames;
    if (first.ended && second.ended && span >= Math.max(reference, distorted)) break;
  }
  if (!found) throw new Error('one window is always searched');
  return found;
}

/** Frames of each video that a wider window than asked for is searched with, at most. */
export function framesForWider(window: number): number {
  return 2 * window;
}

/**
 * Frames of each video to read for `frames` pairs. Where one rate is more than {@link MOST_AHEAD} times the other's, fewer
 * pairs are compared, so that memory and time stay bounded.
 * @param ratio reference frames per distorted frame
 */
export function framesToRead(frames: number, ratio: number): { reference: number; distorted: number } {
  const most = frames * MOST_AHEAD;
  return {
    reference: Math.min(most, Math.ceil(frames * Math.max(1, ratio))),
    distorted: Math.min(most, Math.ceil(frames / Math.min(1, ratio))),
  };
}

function checked(options: AlignOptions) {
  const { window = DEFAULT_WINDOW, rateRatio: ratio = 1, assumed = 0 } = options;
  const { start = { reference: 0, distorted: 0 } } = options;
  const { maxFrames = Math.max(4 * window, MIN_MAX_FRAMES) } = options;
  check(
    'window',
    window,
    Number.isInteger(window) && window >= 1 && window <= 1000,
    'a whole number from 1 to 1000',
  );
  check(
    'maxFrames',
    maxFrames,
    Number.isInteger(maxFrames) && maxFrames >= 8,
    'a whole number of at least 8',
  );
  check('rateRatio', ratio, ratio > 0 && Number.isFinite(ratio), 'a number above 0');
  check('assumed', assumed, Number.isInteger(assumed), 'a whole number');
  for (const side of ['reference', 'distorted'] as const) {
    const frame = start[side];
    check(`start.${side}`, frame, Number.isInteger(frame) && frame >= 0, 'a whole number of at least 0');
  }
  return { window, maxFrames, ratio, assumed, start };
}

function check(name: string, value: number, fine: boolean, expected: string): void {
  if (fine) return;
  throw new AnyvmafError('usage', `the alignment option ${name} is ${value}, but must be ${expected}.`);
}

/** Thumbnails of frames that someone else reads, in order from the first. */
export class PassingThumbs implements Thumbs {
  readonly #thumbnailer: Thumbnailer;
  /** Made and not yet handed out. */
  readonly #waiting: Float32Array[] = [];
  #handed = 0;
  #over = false;
  #wake: () => void = () => {};

  constructor(format: LumaFormat) {
    this.#thumbnailer = new Thumbnailer(format, THUMBNAIL.width, THUMBNAIL.height);
  }

  get ended(): boolean {
    return this.#over && this.#waiting.length === 0;
  }

  /**
   * Takes the next frame; after {@link end} that costs nothing.
   * @returns whether more are of use
   */
  add(luma: Uint8Array): boolean {
    if (this.#over) return false;
    this.#waiting.push(this.#thumbnailer.shrink(luma));
    this.#wake();
    return true;
  }

  /** Says that no more frames come, or are of use. */
  end(): void {
    this.#over = true;
    this.#wake();
  }

  async readTo(frames: number, take: (thumb: Float32Array) => void, signal?: AbortSignal): Promise<void> {
    while (this.#handed < frames) {
      signal?.throwIfAborted();
      const next = this.#waiting.shift();
      if (next) {
        take(next);
        this.#handed++;
        continue;
      }
      if (this.#over) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** Reads a video's frames one after another and shrinks them. */
class LumaThumbs implements Thumbs {
  readonly #reader: LumaReader;
  readonly #start: number;
  readonly #thumbnailer: Thumbnailer;
  readonly #luma: Uint8Array;
  #frames = 0;
  /** True once there are no more frames. */
  ended = false;

  constructor(reader: LumaReader, start: number) {
    this.#reader = reader;
    this.#start = start;
    this.#thumbnailer = new Thumbnailer(reader.info, THUMBNAIL.width, THUMBNAIL.height);
    this.#luma = new Uint8Array(lumaBytes(reader.info));
  }

  /** Reads on until `frames` were read in all, or the video ends. */
  async readTo(frames: number, take: (thumb: Float32Array) => void, signal?: AbortSignal): Promise<void> {
    while (this.#frames < frames && !this.ended) {
      signal?.throwIfAborted();
      const there = await this.#reader.readFrame(this.#start + this.#frames, { y: this.#luma });
      if (!there) {
        this.ended = true;
      } else {
        take(this.#thumbnailer.shrink(this.#luma));
        this.#frames++;
      }
    }
  }
}
