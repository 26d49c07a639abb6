/**
 * @module search/activity
 * What the pictures of a source show, measured in small luma pictures as they go by. Pure.
 */
import { THUMBNAIL } from './cuts.js';

/** Of every frame of a source. */
export interface Activity {
  /** First frames of the shots after the first one, ascending. */
  readonly cuts: readonly number[];
  /** Square root of the mean difference from the nearer neighbour, in levels of 256: what an encoder has to follow. */
  readonly motion: readonly number[];
  /** Logarithm of the mean difference between neighbouring samples. */
  readonly texture: readonly number[];
}

const { width: WIDTH } = THUMBNAIL;
/** Values are kept to this part. */
const FINENESS = 1000;

/** Watches pictures go by. */
export class ActivityMeter {
  #before: Uint8Array | undefined;
  /** Mean difference from the picture before, by frame. */
  readonly #changes: number[] = [];
  readonly #texture: number[] = [];

  /** Takes the next picture. @param luma copied */
  add(luma: Uint8Array): void {
    this.#changes.push(this.#before ? differenceOf(luma, this.#before) : Number.POSITIVE_INFINITY);
    this.#texture.push(rounded(Math.log1p(textureOf(luma))));
    this.#before = luma.slice();
  }

  /** @param cuts as they were found in the same pictures */
  result(cuts: readonly number[]): Activity {
    const motion = this.#changes.map((change, at) => {
      const least = Math.min(change, this.#changes[at + 1] ?? Number.POSITIVE_INFINITY);
      return Number.isFinite(least) ? rounded(Math.sqrt(least)) : 0;
    });
    return { cuts, motion, texture: this.#texture };
  }
}

function rounded(value: number): number {
  return Math.round(value * FINENESS) / FINENESS;
}

function differenceOf(a: Uint8Array, b: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += Math.abs((a[i] as number) - (b[i] as number));
  return sum / a.length;
}

function textureOf(luma: Uint8Array): number {
  let sum = 0;
  for (let i = WIDTH; i < luma.length; i++) {
    if (i % WIDTH === 0) continue;
    const here = luma[i] as number;
    sum += Math.abs(here - (luma[i - 1] as number)) + Math.abs(here - (luma[i - WIDTH] as number));
  }
  return sum / luma.length;
}

/** What was kept as JSON; `undefined` for anything else, such as what a kill cut short. @param frames of the source */
export function parseActivity(text: string, frames: number): Activity | undefined {
  let data: Partial<Record<keyof Activity, unknown>> | null;
  try {
    data = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { cuts, motion, texture } = data ?? {};
  if (!isNumbers(cuts) || !isNumbers(motion) || !isNumbers(texture)) return undefined;
  const ascending = cuts.every((cut, i) => Number.isInteger(cut) && cut > (cuts[i - 1] ?? 0) && cut < frames);
  if (!ascending || motion.length !== frames || texture.length !== frames) return undefined;
  return { cuts, motion, texture };
}

function isNumbers(data: unknown): data is readonly number[] {
  return Array.isArray(data) && data.every((one) => typeof one === 'number' && Number.isFinite(one));
}
