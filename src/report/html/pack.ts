/**
 * @module report/html/pack
 * Brings the values of a metric into the page in little room: whole numbers of two or three bytes between the
 * smallest and the largest value, as base64.
 */
import type { FrameMetrics } from '../types.js';

/** Values of one metric. The k-th is `low + code * (high - low) / top`; a code of `top + 1` stands for none. */
export interface PackedMetric {
  readonly low: number;
  readonly high: number;
  /** Bytes a value takes, most significant first. */
  readonly bytes: 2 | 3;
  readonly data: string;
}

/** Frame numbers: evenly spaced as a rule, else the distance of each to the one before (to -1 for the first). */
export type PackedFrames =
  | { readonly first: number; readonly step: number; readonly count: number }
  | { readonly gaps: readonly number[] };

/** Up to here values keep about seven digits; longer runs keep nearly five, below what a chart can show. */
const FINE_FRAMES = 40_000;

/** The values of `metric` in all frames. Non-finite ones are left out. */
export function packMetric(frames: readonly FrameMetrics[], metric: string): PackedMetric {
  const bytes = frames.length <= FINE_FRAMES ? 3 : 2;
  const top = 2 ** (8 * bytes) - 2;
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const frame of frames) {
    const value = frame.metrics[metric];
    if (!isNumber(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) [low, high] = [0, 0];
  const scale = high > low ? top / (high - low) : 0;
  const codes = new Uint8Array(frames.length * bytes);
  let at = 0;
  for (const frame of frames) {
    const value = frame.metrics[metric];
    const code = isNumber(value) ? Math.round((value - low) * scale) : top + 1;
    if (bytes === 3) codes[at++] = code >>> 16;
    codes[at++] = code >>> 8;
    codes[at++] = code;
  }
  return { low, high, bytes, data: base64(codes) };
}

/**
 * The numbers of all frames.
 * @param shift what is added to each
 */
export function packFrames(frames: readonly FrameMetrics[], shift = 0): PackedFrames {
  const first = frames[0]?.frameNum ?? 0;
  const step = Math.max(1, (frames[1]?.frameNum ?? first + 1) - first);
  if (frames.every((frame, i) => frame.frameNum === first + i * step)) {
    return { first: first + shift, step, count: frames.length };
  }
  return { gaps: frames.map((frame, i) => frame.frameNum - (frames[i - 1]?.frameNum ?? -1 - shift)) };
}

function isNumber(value: number | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** Bytes encoded at a time: a multiple of three, few enough to be arguments of a call. */
const PIECE = 3 << 12;

/** Bytes as base64. */
export function base64(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += PIECE) {
    text += btoa(String.fromCharCode(...bytes.subarray(i, i + PIECE)));
  }
  return text;
}
