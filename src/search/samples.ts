/**
 * @module search/samples
 * Chooses the short runs of frames that stand for a whole video: one in each of equally long parts, spread over how
 * much the parts' pictures cost, and begun at shots.
 */
import type { FrameRun, SourceFacts } from './host.js';

/** A run of frames that is scored, and those around it that are encoded with it. */
export interface Sample {
  /** Frames of the source that are scored. */
  readonly scored: FrameRun;
  /** Frames that are encoded: the scored ones, what leads in to them, and what an encoder looks ahead to. */
  readonly encoded: FrameRun;
}

/** How much to sample. */
export interface SampleSizes {
  /** Seconds of a sample. */
  readonly seconds: number;
  /** Share of the video that samples cover. */
  readonly share: number;
  /** Fewest samples, and most. */
  readonly least: number;
  readonly most: number;
  /** Frames of all samples together at most, those that are not scored among them. */
  readonly mostFrames: number;
}

/** Samples of 2 seconds, an eighth of the video and no fewer than 6. */
export const SAMPLE_SIZES: SampleSizes = { seconds: 2, share: 1 / 8, least: 6, most: 30, mostFrames: 4000 };

/** Frames before and after those that are scored: a rate control settles, and looks as far ahead. */
const AROUND = 8;

/** Golden ratio: successive multiples of it, modulo 1, spread evenly whatever their number. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/**
 * The samples of a video.
 * @returns in order; `null` where samples would not be much shorter than the whole
 */
export function chooseSamples(
  { times, sizes, keys }: Pick<SourceFacts, 'times' | 'sizes' | 'keys'>,
  { seconds, share, least, most, mostFrames }: SampleSizes = SAMPLE_SIZES,
): readonly Sample[] | null {
  const frames = times.length;
  const duration = (times.at(-1) ?? 0) * (frames / Math.max(1, frames - 1));
  const perSecond = frames / duration;
  const length = Math.max(1, Math.round(seconds * perSecond));
  const fitting = Math.floor(mostFrames / (length + 2 * AROUND));
  const count = Math.min(most, fitting, Math.max(least, Math.ceil((duration * share) / seconds)));
  if (!(count >= 2) || count * (length + 2 * AROUND) > frames / 2) return null;
  const cost = costs(sizes, length);
  const shots = new Set(keys);
  return Array.from({ length: count }, (_, part) => {
    const start = Math.floor((part * frames) / count);
    const end = Math.floor(((part + 1) * frames) / count);
    const first = startIn(start, Math.min(end, frames) - length, (part * GOLDEN + 0.5) % 1, cost, shots);
    const from = Math.max(0, first - AROUND);
    const until = Math.min(frames, first + length + AROUND);
    return { scored: { first, count: length }, encoded: { first: from, count: until - from } };
  });
}

/** Bytes of the source in the sample that would begin at each frame. */
function costs(sizes: Float64Array, length: number): Float64Array {
  const cost = new Float64Array(Math.max(0, sizes.length - length + 1));
  let sum = 0;
  sizes.forEach((size, i) => {
    sum += size - (i >= length ? (sizes[i - length] as number) : 0);
    if (i >= length - 1) cost[i - length + 1] = sum;
  });
  return cost;
}

/** The start between two frames whose cost stands at `rank` (0 the least, 1 the most), at a shot's start where there are some. */
function startIn(
  start: number,
  last: number,
  rank: number,
  cost: Float64Array,
  shots: ReadonlySet<number>,
): number {
  const all = Array.from({ length: Math.max(1, last - start + 1) }, (_, i) => start + i);
  const atShots = all.filter((frame) => shots.has(frame));
  // Two shots give no choice of cost.
  const places = atShots.length >= 3 ? atShots : all;
  const byCost = places.sort((a, b) => (cost[a] as number) - (cost[b] as number) || a - b);
  return byCost[Math.min(byCost.length - 1, Math.floor(rank * byCost.length))] as number;
}
