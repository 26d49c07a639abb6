/**
 * @module metrics/checks
 * Rejects formats that an extractor cannot measure; limits, peaks and options that several metrics share. As in libvmaf,
 * comparing NaN with a limit gives the limit.
 */
import { featureError } from '../core/errors.js';
import type { VideoFormat } from '../core/frame.js';
import { choice, type OptionSpec, real } from './spec.js';

/**
 * @param option that makes the extractor measure colour; absent if it always does
 * @throws {AnyvmafError} `feature` for video without chroma
 */
export function requireChroma(extractor: string, { chroma }: VideoFormat, option?: string): void {
  if (chroma !== '400') return;
  const why = option === undefined ? '' : ` with ${option}`;
  throw featureError(
    `The ${extractor} extractor measures colour${why} but the video is 4:0:0, luma only; ` +
      (option === undefined ? leaveOut(extractor) : `leave out ${option}.`),
  );
}

/** @throws {AnyvmafError} `feature` for pictures with a side shorter than `least` */
export function requireSide(extractor: string, { width, height }: VideoFormat, least: number, why = '') {
  if (width >= least && height >= least) return;
  throw featureError(
    `The ${extractor} extractor needs pictures of at least ${least}x${least}${why} but the video is ` +
      `${width}x${height}; ${leaveOut(extractor)}`,
  );
}

/** What to do about an unusable extractor, whether requested by name or by a preset. */
export function leaveOut(extractor: string): string {
  return `leave out ${extractor} and presets that include it.`;
}

/** Methods of a prescale option, in the core's order. */
export const RESAMPLING: readonly string[] = ['nearest', 'bilinear', 'bicubic', 'lanczos4'];

/** Kernel scales that libvmaf supports. */
const KERNEL_SCALES: readonly number[] = [
  ...[1, 1 / 2, 3 / 2, 2, 2 / 3, 24 / 10, 360 / 97, 4 / 3, 3.5 / 3, 3.75 / 3, 4.25 / 3, 5 / 3, 3, 1 / 2.25],
  ...[1.4746, 1.54, 1.6, 1.06667, 0.711111, 0.74074, 1.111111],
];

export function resizingOptions(prefix: string, alias: string): readonly OptionSpec[] {
  return [
    real(`${prefix}_kernelscale`, 1, 0.1, 4, {
      alias: 'ks',
      near: KERNEL_SCALES,
      description: 'Factor on the size of the Gaussian kernels.',
    }),
    real(`${prefix}_prescale`, 1, 0.1, 4, {
      alias: 'ps',
      description: 'Resize both pictures by this factor first.',
    }),
    choice(`${prefix}_prescale_method`, RESAMPLING, {
      alias,
      description: `How ${prefix}_prescale resizes.`,
    }),
  ];
}

const WIDEST_BILINEAR = 7680;

/**
 * @param least shortest side that can be measured
 * @throws {AnyvmafError} `feature` for a prescale whose result is too small to measure or too wide for its method
 */
export function requirePrescale(
  extractor: string,
  { width, height }: VideoFormat,
  prescale: number,
  method: string,
  least = 1,
): void {
  const scaled = Math.floor(width * prescale + 0.5);
  const lines = Math.floor(height * prescale + 0.5);
  if (scaled < least || lines < least)
    throw featureError(
      `The ${extractor} extractor would prescale ${width}x${height} to ${scaled}x${lines}, but needs at least ` +
        `${least}x${least}; choose a larger prescale.`,
    );
  if (method !== 'bilinear' || prescale === 1 || scaled <= WIDEST_BILINEAR) return;
  throw featureError(
    `The ${extractor} extractor would prescale to ${scaled} columns, but bilinear supports at most ${WIDEST_BILINEAR}; ` +
      'choose a smaller prescale or another method.',
  );
}

export function atMost(value: number, limit: number): number {
  if (value < limit) return value;
  return limit;
}

export function atLeast(value: number, limit: number): number {
  if (value > limit) return value;
  return limit;
}

/** Peak of luma samples in 8-bit levels: 255.75 at 10 bit. */
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
