/**
 * @module tiny/content
 * Classifies pictures as flat, noise or scene. Models have learned nothing about flat pictures and noise.
 */

/** `flat`: one tone; `noise`: neighbouring samples are uncorrelated; `scene`: anything else. */
type Content = 'flat' | 'noise' | 'scene';

/** Number of classified pictures. */
export interface ContentTally {
  readonly frames: number;
  readonly flat: number;
  readonly noise: number;
}

/** Luma with a smaller standard deviation is flat; in 8-bit levels, below film grain. */
const FLAT_DEVIATION = 2;
/**
 * Luma with a smaller correlation of neighbours along rows and columns is noise. Scenes have 0.8 or more, unless noise
 * makes up two thirds of their energy.
 */
const NOISE_CORRELATION = 0.35;

/**
 * Classifies a plane of luma.
 * @param luma rows of `width` samples without gaps
 */
export function contentOf(luma: ArrayLike<number>, width: number, height: number, bitDepth: number): Content {
  const unit = 2 ** (bitDepth - 8);
  const pixels = width * height;
  let [sum, squares, across, down] = [0, 0, 0, 0];
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      const value = luma[at]!;
      sum += value;
      squares += value * value;
      if (x > 0) across += (value - luma[at - 1]!) ** 2;
      if (y > 0) down += (value - luma[at - width]!) ** 2;
    }
  }
  const variance = squares / pixels - (sum / pixels) ** 2;
  if (variance < (FLAT_DEVIATION * unit) ** 2) return 'flat';
  // The mean squared difference of neighbours with correlation r is 2 (1 - r) variance.
  const most = 2 * (1 - NOISE_CORRELATION) * variance;
  return across / ((width - 1) * height) > most && down / (width * (height - 1)) > most ? 'noise' : 'scene';
}

/** Adds two tallies. */
export function addTallies(a: ContentTally, b: ContentTally): ContentTally {
  return { frames: a.frames + b.frames, flat: a.flat + b.flat, noise: a.noise + b.noise };
}
