/**
 * @module metrics/values
 * Limits and peaks that several metrics share. Like in libvmaf, comparing with a limit turns NaN into the limit.
 */
import type { VideoFormat } from '../core/frame.js';

export function atMost(value: number, limit: number): number {
  if (value < limit) return value;
  return limit;
}

export function atLeast(value: number, limit: number): number {
  if (value > limit) return value;
  return limit;
}

/** Peak of luma samples in units of 8-bit levels, 255.75 at 10 bit. */
export function floatPeak({ bitDepth }: VideoFormat): number {
  return (2 ** bitDepth - 1) / 2 ** (bitDepth - 8);
}

/** Largest PSNR at a bit depth in dB: 60 at 8 bit, 72 at 10. */
export function decibelCap({ bitDepth }: VideoFormat): number {
  return 6 * bitDepth + 12;
}

/** Sums of ADM below this count as 0: 1e-10 for 1920x1080. */
export function admLimit(width: number, height: number): number {
  return (1e-10 * (width * height)) / (1920 * 1080);
}
