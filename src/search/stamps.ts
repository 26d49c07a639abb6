/**
 * @module search/stamps
 * Times of the frames of segments, so that what is joined of them is shown when the source is.
 */
import type { FrameRun, SourceFacts } from './host.js';

/** Seconds by which the times of a source at a constant rate are off: containers round to milliseconds. */
const ROUNDING = 0.0011;
/** Ticks of a second where frames have times of their own: as exact as times are read. */
const MICROSECONDS = 1_000_000;

/** When frames are shown, in whole ticks. */
export interface Clock {
  /** Ticks of a second. */
  readonly perSecond: number;
  /** Ticks from the first frame to frame `index`, which may lie before the first or after the last. */
  tick(index: number): number;
}

/** The clock of a source: its frame rate where that is constant, otherwise its frames' own times. */
export function clockOf({ track, times }: Pick<SourceFacts, 'track' | 'times'>): Clock {
  const rate = track.frameRate;
  if (rate && rate.num > 0 && rate.num <= MICROSECONDS) {
    const even = times.every((time, i) => Math.abs(time - (i * rate.den) / rate.num) <= ROUNDING);
    const finer = rate.num < 1000 ? 1000 : 1;
    if (even) return { perSecond: rate.num * finer, tick: (index) => index * rate.den * finer };
  }
  const ticks: number[] = [];
  for (const time of times) {
    // Two frames of one time would have no order.
    ticks.push(Math.max(Math.round(time * MICROSECONDS), (ticks.at(-1) ?? -1) + 1));
  }
  const last = ticks.at(-1) ?? 0;
  const period = Math.max(1, Math.round(ticks.length > 1 ? last / (ticks.length - 1) : MICROSECONDS / 25));
  return {
    perSecond: MICROSECONDS,
    tick(index) {
      if (index < 0) return index * period;
      return ticks[index] ?? last + (index - ticks.length + 1) * period;
    },
  };
}

/**
 * Times of a segment's packets from its first frame, in decoding order.
 * @param ranks the place in presentation order of each packet
 * @param delay packets by which decoding runs ahead, at least as many as each segment needs
 */
export function segmentStamps(
  clock: Clock,
  { first }: FrameRun,
  ranks: readonly number[],
  delay: number,
): { readonly pts: readonly number[]; readonly dts: readonly number[] } {
  const start = clock.tick(first);
  return {
    pts: ranks.map((rank) => clock.tick(first + rank) - start),
    dts: ranks.map((_, n) => clock.tick(first + n - delay) - start),
  };
}

/** An expression of ffmpeg whose value at packet `N` is the N-th of `values`: as deep as their number has bits. */
export function lookup(values: readonly number[], from = 0, to: number = values.length): string {
  if (to - from <= 1) return String(values[from] ?? 0);
  const middle = (from + to) >> 1;
  return `if(lt(N,${middle}),${lookup(values, from, middle)},${lookup(values, middle, to)})`;
}
