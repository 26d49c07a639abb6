/**
 * @module tiny/content
 * Whether a picture shows anything: flat ones and noise have no quality that a model could have learned.
 */

/** What luma is: one tone, neighbours that have nothing in common, or neither. */
type Content = 'flat' | 'noise' | 'scene';

/** How many pictures were looked at, and how many of them show nothing. */
export interface ContentTally {
  readonly frames: number;
  readonly flat: number;
  readonly noise: number;
}

/** Standard deviation below which luma is flat, in 8-bit levels: less than the grain of film. */
const FLAT_DEVIATION = 2;
/**
 * Correlation of neighbours below which luma is noise, along rows and along columns. Scenes have 0.8 and more; those
 * whose noise has two thirds of the energy fall below.
 */
const NOISE_CORRELATION = 0.35;

/**
 * What a plane of luma is.
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
  // Neighbours of correlation r differ by 2 (1 - r) of the variance in the mean.
  const most = 2 * (1 - NOISE_CORRELATION) * variance;
  return across / ((width - 1) * height) > most && down / (width * (height - 1)) > most ? 'noise' : 'scene';
}

/** Both together. */
export function addTallies(a: ContentTally, b: ContentTally): ContentTally {
  return { frames: a.frames + b.frames, flat: a.flat + b.flat, noise: a.noise + b.noise };
}
