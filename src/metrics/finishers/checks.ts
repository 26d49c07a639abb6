/**
 * @module metrics/finishers/checks
 * What formats an extractor can take, as errors that say what to do.
 */
import { AnyvmafError } from '../../core/errors.js';
import type { VideoFormat } from '../../core/frame.js';

/**
 * Refuses video without chroma.
 * @param option what makes the extractor measure colour, where it does not always
 * @throws {AnyvmafError} `feature`
 */
export function requireChroma(extractor: string, { chroma }: VideoFormat, option?: string): void {
  if (chroma !== '400') return;
  const why = option === undefined ? '' : ` with ${option}`;
  throw new AnyvmafError(
    'feature',
    `The ${extractor} extractor measures colour${why} but the video is 4:0:0, luma alone; ` +
      (option === undefined ? leaveOut(extractor) : `leave ${option} out.`),
  );
}

/**
 * Refuses pictures with a side shorter than `least`.
 * @throws {AnyvmafError} `feature`
 */
export function requireSide(
  extractor: string,
  { width, height }: VideoFormat,
  least: number,
  why = '',
): void {
  if (width >= least && height >= least) return;
  throw new AnyvmafError(
    'feature',
    `The ${extractor} extractor needs pictures of at least ${least}x${least}${why} but the video is ` +
      `${width}x${height}; ${leaveOut(extractor)}`,
  );
}

/** What to do about an extractor that cannot work, whoever asked for it. */
export function leaveOut(extractor: string): string {
  return `leave ${extractor} out, and a preset that asks for it.`;
}

/** Peak of luma samples in units of 8-bit levels, 255.75 at 10 bit. */
export function floatPeak({ bitDepth }: VideoFormat): number {
  return (2 ** bitDepth - 1) / 2 ** (bitDepth - 8);
}

/** Largest PSNR given at a bit depth, in dB: 60 at 8 bit, 72 at 10. */
export function decibelCap({ bitDepth }: VideoFormat): number {
  return 6 * bitDepth + 12;
}

/** Widest picture that libvmaf resamples bilinearly. */
const WIDEST_BILINEAR = 7680;

/**
 * Refuses a prescale whose result is too small to measure or too wide for its method.
 * @param least shortest side that can be measured
 * @throws {AnyvmafError} `feature`
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
  if (scaled < least || lines < least) {
    throw new AnyvmafError(
      'feature',
      `The ${extractor} extractor would prescale ${width}x${height} to ${scaled}x${lines}, but needs at least ` +
        `${least}x${least}; choose a larger prescale.`,
    );
  }
  if (method !== 'bilinear' || prescale === 1 || scaled <= WIDEST_BILINEAR) return;
  throw new AnyvmafError(
    'feature',
    `The ${extractor} extractor would prescale to ${scaled} columns, but bilinear goes up to ${WIDEST_BILINEAR}; ` +
      'choose a smaller prescale or another method.',
  );
}
