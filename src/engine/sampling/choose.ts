/**
 * @module engine/sampling/choose
 * Which pairs of a video are scored instead of all: short runs, two in each of several parts of equal length, at random.
 */
import { usageError } from '../../core/errors.js';
import { showValue } from '../../core/printable.js';

/** Runs to score. */
export interface SampleSizes {
  /** Number of runs, an even number of 4 or more. */
  readonly runs: number;
  /** Seconds of each; what is scored, not what is decoded before it. */
  readonly seconds: number;
  /** 32 bits; the same seed gives the same runs. Default 1. */
  readonly seed?: number;
}

/** `auto`: 24 runs of two seconds; a video that is not much longer is scored whole. */
export type Samples = SampleSizes | 'auto';

const AUTO: SampleSizes = { runs: 24, seconds: 2 };
const MAX_RUNS = 1000;
const MAX_SECONDS = 3600;
const MAX_SEED = 2 ** 32 - 1;

/** Runs that a part has room for at least, so that those drawn do not lie side by side. */
const ROOM = 4;

/** What is drawn. */
export interface Drawn {
  /** First pairs of the runs in order. Runs 2k and 2k + 1 lie in one part. */
  readonly starts: readonly number[];
  /** Pairs of a run. */
  readonly length: number;
  /** Share of the video that is drawn. */
  readonly share: number;
}

/** @throws {AnyvmafError} `usage` */
export function checkSamples(samples: Samples): Required<SampleSizes> {
  if (samples === 'auto') return { seed: 1, ...AUTO };
  const { runs, seconds, seed = 1 } = Object(samples) as Partial<SampleSizes>;
  const even = Number.isInteger(runs) && Number(runs) % 2 === 0 && Number(runs) >= 4;
  if (even && Number(runs) <= MAX_RUNS && Number(seconds) > 0 && Number(seconds) <= MAX_SECONDS) {
    if (!Number.isInteger(seed) || seed < 0 || seed > MAX_SEED) {
      throw usageError(
        `samples.seed is ${showValue(seed)}, but it must be a whole number from 0 to ${MAX_SEED}.`,
      );
    }
    return { runs: Number(runs), seconds: Number(seconds), seed };
  }
  throw usageError(
    `samples is ${showValue(samples)}, but it must be auto or { runs, seconds }: an even number of runs from 4 to ${MAX_RUNS}, ` +
      `each of up to ${MAX_SECONDS} seconds.`,
  );
}

/**
 * Draws runs. Each pair of the video has about the same chance.
 * @param total pairs of the video
 * @param length pairs of a run
 * @returns `undefined` where the runs would be a quarter of the video or more
 */
export function drawRuns(
  total: number,
  length: number,
  { runs, seed }: Required<SampleSizes>,
): Drawn | undefined {
  const parts = runs / 2;
  const places = Math.floor(total / (length * parts));
  if (places < 2 * ROOM) return undefined;
  const pitch = total / (parts * places);
  const random = mulberry(seed);
  const starts: number[] = [];
  for (let part = 0; part < parts; part++) {
    const first = Math.floor(random() * places);
    const other = Math.floor(random() * (places - 1));
    const both = [first, other >= first ? other + 1 : other].sort((a, b) => a - b);
    for (const place of both) {
      starts.push(Math.floor((part * places + place) * pitch + random() * (pitch - length)));
    }
  }
  return { starts, length, share: runs / (parts * places) };
}

/** Numbers from 0 to below 1, the same on every machine (Mulberry32). */
export function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
