/**
 * @module search/samples
 * Chooses the short runs of frames that stand for a whole video: one in each of many equally long parts, spread over how
 * much the parts' pictures cost.
 */
import { storedFrameBytes, type VideoFormat } from '../core/frame.js';
import type { FrameRun, SourceFacts } from './host.js';

/** A run of frames that is scored, and those around it that are encoded with it. */
export interface Sample {
  /** Frames of the source that are scored. */
  readonly scored: FrameRun;
  /** Frames that are encoded: the scored ones, what leads in to them, and what an encoder looks ahead to. */
  readonly encoded: FrameRun;
}

/** How much to sample. */
interface SampleSizes {
  /** Seconds of a sample. */
  readonly seconds: number;
  /** Share of the video that samples cover. */
  readonly share: number;
  /** Fewest samples, and most, where frames and bytes allow them. */
  readonly least: number;
  readonly most: number;
  /** Samples that half of a short video must hold: with fewer, the whole is encoded. */
  readonly fewest: number;
  /** Frames of all samples together at most, those that are not scored among them, and their bytes. */
  readonly mostFrames: number;
  readonly mostBytes: number;
}

/**
 * Many short samples: scenes differ more than the frames of a scene do, so that the number of samples counts, not their
 * length. Half a second is enough for a rate control that 8 frames lead in to.
 */
const SAMPLE_SIZES: SampleSizes = {
  seconds: 0.5,
  share: 1 / 8,
  least: 64,
  most: 128,
  fewest: 24,
  mostFrames: 4000,
  mostBytes: 6e9,
};

/** Frames before and after those that are scored: a rate control settles, and looks as far ahead. */
const AROUND = 8;

/** Golden ratio: successive multiples of it, modulo 1, spread evenly whatever their number. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/**
 * The samples of a video.
 * @returns in order; `null` where samples would not be much shorter than the whole
 */
export function chooseSamples(
  { times, sizes, track }: Pick<SourceFacts, 'times' | 'sizes'> & { readonly track?: VideoFormat },
  { seconds, share, least, most, fewest, mostFrames, mostBytes }: SampleSizes = SAMPLE_SIZES,
): readonly Sample[] | null {
  const frames = times.length;
  const duration = (times.at(-1) ?? 0) * (frames / Math.max(1, frames - 1));
  const perSecond = frames / duration;
  const length = Math.max(1, Math.round(seconds * perSecond));
  const each = length + 2 * AROUND;
  const inHalf = Math.floor(frames / 2 / each);
  if (!(duration > 0) || inHalf < fewest) return null;
  const stored = track ? mostBytes / storedFrameBytes(track) : mostFrames;
  const fitting = Math.max(2, Math.floor(Math.min(mostFrames, stored) / each));
  const count = Math.min(most, fitting, inHalf, Math.max(least, Math.ceil((duration * share) / seconds)));
  const cost = costs(sizes, length);
  return Array.from({ length: count }, (_, part) => {
    const start = Math.floor((part * frames) / count);
    const end = Math.floor(((part + 1) * frames) / count);
    const first = startIn(start, Math.min(end, frames) - length, (part * GOLDEN + 0.5) % 1, cost);
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

/**
 * The start between two frames whose cost stands at `rank` (0 the least, 1 the most). Shots are not preferred: what follows
 * a cut is coded better or worse than the rest of its shot, which would show in the prediction.
 */
function startIn(start: number, last: number, rank: number, cost: Float64Array): number {
  const places = Array.from({ length: Math.max(1, last - start + 1) }, (_, i) => start + i);
  const byCost = places.sort((a, b) => (cost[a] as number) - (cost[b] as number) || a - b);
  return byCost[Math.min(byCost.length - 1, Math.floor(rank * byCost.length))] as number;
}
