/**
 * @module metrics/values
 * Limits and peaks that several metrics have in common. Limits are set as libvmaf does, by comparing: what is not a number
 * compares with nothing, so it becomes the limit.
 */
import type { VideoFormat } from '../core/frame.js';

/** The value where it is below the limit, else the limit. */
export function atMost(value: number, limit: number): number {
  if (value < limit) return value;
  return limit;
}

/** The value where it is above the limit, else the limit. */
export function atLeast(value: number, limit: number): number {
  if (value > limit) return value;
  return limit;
}

/** Peak of luma samples in units of 8-bit levels, 255.75 at 10 bit. */
export function floatPeak({ bitDepth }: VideoFormat): number {
  return (2 ** bitDepth - 1) / 2 ** (bitDepth - 8);
}

/** Largest PSNR given at a bit depth, in dB: 60 at 8 bit, 72 at 10. */
export function decibelCap({ bitDepth }: VideoFormat): number {
  return 6 * bitDepth + 12;
}

/** Sums of ADM below this count as nothing: 1e-10 for 1920x1080. */
export function admLimit(width: number, height: number): number {
  return (1e-10 * (width * height)) / (1920 * 1080);
}
