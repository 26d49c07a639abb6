/**
 * @module media/align/index
 * Finds the temporal offset between two videos from the luma of their first seconds.
 */
import { counted } from '../../core/printable.js';
import { Evidence } from './evidence.js';
import { search } from './search.js';
import { BEGINNING, type Slip, SlipDetector } from './slips.js';
import { type LumaFormat, THUMBNAIL, Thumbnailer } from './thumbnail.js';
import type { AlignOptions, AlignReason, AlignResult, Thumbs } from './types.js';
import { DEFAULT_WINDOW } from './types.js';

/** Pairs at the outermost offsets in the first round of reading. */
const FIRST_PAIRS = 50;

/** Least default of {@link AlignOptions.maxFrames}. */
const MIN_MAX_FRAMES = 300;

/** Most frames of the faster video to read per frame of the slower one. */
const MOST_AHEAD = 16;

interface ThumbsOptions {
  /** Offset of the first thumbnails, added to the result. Default 0. */
  readonly base?: number;
  /** Reference frame of each distorted frame at offset 0, ascending; needed if the rate ratio does not determine it. */
  readonly partners?: ArrayLike<number>;
  /** Windows to try in turn while the answer is ambiguous. Default: none. */
  readonly wider?: readonly number[];
}

/**
 * Finds the offset at which distorted frame i shows the same picture as reference frame i + offset. Sizes, bit
 * depths, brightness and contrast may differ. Reads only as far as needed.
 * @param options `assumed` is relative to `base`
 * @throws errors of the readers; the signal's reason
 */
export async function alignThumbs(
  first: Thumbs,
  second: Thumbs,
  options: AlignOptions,
  { base = 0, partners, wider = [] }: ThumbsOptions = {},
): Promise<AlignResult> {
  const { window = DEFAULT_WINDOW, rateRatio: ratio = 1, assumed = 0 } = options;
  const { maxFrames = Math.max(4 * window, MIN_MAX_FRAMES) } = options;
  const evidence = new Evidence(ratio, THUMBNAIL.width, partners);

  async function readTo(frames: number): Promise<void> {
    const wanted = framesToRead(frames, ratio);
    await Promise.all([
      first.readTo(wanted.reference, (t) => evidence.add('reference', t), options.signal),
      second.readTo(wanted.distorted, (t) => evidence.add('distorted', t), options.signal),
    ]);
  }

  let found: AlignResult | undefined;
  for (const span of [window, ...wider]) {
    const most = span === window ? maxFrames : framesForWider(span);
    for (let frames = Math.min(most, span + FIRST_PAIRS); ; frames = Math.min(most, 2 * frames)) {
      await readTo(frames);
      found = search(evidence, span, assumed, base);
      if (!found.ambiguous) return fromTheStart(evidence, found, assumed, base);
      if (frames >= most || (first.ended && second.ended)) break;
    }
    // No offset exceeds the length of the videos.
    const { reference, distorted } = evidence.frames;
    if (first.ended && second.ended && span >= Math.max(reference, distorted)) break;
  }
  if (!found) throw new Error('one window is always searched');
  return fromTheStart(evidence, found, assumed, base);
}

export function framesForWider(window: number): number {
  return 2 * window;
}

/** Reads fewer frames, to bound memory and time, if one rate exceeds {@link MOST_AHEAD} times the other. */
export function framesToRead(frames: number, ratio: number): { reference: number; distorted: number } {
  const most = frames * MOST_AHEAD;
  return {
    reference: Math.min(most, Math.ceil(frames * Math.max(1, ratio))),
    distorted: Math.min(most, Math.ceil(frames / Math.min(1, ratio))),
  };
}

/** Thumbnails of frames that the caller pushes. */
export class PassingThumbs implements Thumbs {
  readonly #thumbnailer: Thumbnailer;
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

  /** Adds the next frame; returns false, and ignores it, after {@link end}. */
  add(luma: Uint8Array): boolean {
    if (this.#over) return false;
    this.#waiting.push(this.#thumbnailer.shrink(luma));
    this.#wake();
    return true;
  }

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

/** Log likelihood ratio required on either side of a slip. */
const ENOUGH = 6;

const NO_SLIP: readonly AlignReason[] = ['unrelated', 'short'];

/**
 * Returns `found`, or the offset before a slip, with the slip, if the frames before it contradict `found`.
 * @param assumed the offset at which to look for slips
 * @param base offset of the first thumbnails
 */
function fromTheStart(evidence: Evidence, found: AlignResult, assumed: number, base: number): AlignResult {
  if (!evidence.oneByOne || NO_SLIP.includes(found.reason)) return found;
  const slipped = firstSlip(evidence, assumed);
  if (!slipped) return found;
  const { slip, before } = slipped;
  const after = before + slip.by;
  const frame = slip.frame + Math.max(0, -assumed);
  const early = evidence.favours(before, after, [0, frame]);
  const late = evidence.favours(after, before, [frame, Number.POSITIVE_INFINITY]);
  if (Math.min(early, late) < ENOUGH) return found;
  const offset = before + base;
  const { similarity } = evidence.fitness(before);
  const match = { reference: Math.max(0, offset), distorted: Math.max(0, -offset) };
  return {
    ...found,
    offset,
    confidence: 1 / (1 + Math.exp(-early)),
    candidates: [{ offset, similarity }],
    ambiguous: false,
    reason: 'clear',
    explanation:
      `Distorted frame ${match.distorted} shows reference frame ${match.reference}, but ` +
      `${counted(Math.abs(slip.by), 'frame')} ${Math.abs(slip.by) === 1 ? 'is' : 'are'} ` +
      `${slip.by > 0 ? 'missing' : 'added'} at distorted frame ${frame + Math.max(0, -base)}, so no single offset fits.`,
    slip,
  };
}

function firstSlip(
  evidence: Evidence,
  assumed: number,
): { readonly slip: Slip; readonly before: number } | undefined {
  const watch = new SlipDetector();
  for (const pair of evidence.signatures(assumed)) watch.add(pair);
  let before = assumed;
  for (const slip of watch.finish().slips) {
    if (slip.frame >= BEGINNING) return { slip, before };
    before = assumed + slip.ahead;
  }
  return undefined;
}
