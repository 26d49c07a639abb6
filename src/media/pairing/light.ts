/**
 * @module media/pairing/light
 * Brings samples to a higher format without a change of their light, for metrics of colour: the peak of full range stays the
 * peak, and chroma is interpolated as perceptual.wasm does it.
 */
import type { Colour } from '../../core/colour.js';
import type { PlaneSize, Samples, VideoFormat } from '../../core/frame.js';
import { FormatConverter } from './convert.js';

/** What conversions depend on. */
export type LightOfSamples = Pick<Colour, 'matrix' | 'range' | 'siting'>;

type Taps = readonly [number, number, number, number];
/** Weights of the four samples around an even and an odd place. */
type Phases = readonly [even: Taps, odd: Taps];

/** Catmull-Rom, as in wasm/perceptual/colour_frame.c: where chroma lies between luma samples, and on the even ones. */
const BETWEEN: Phases = [
  [-3 / 128, 29 / 128, 111 / 128, -9 / 128],
  [-9 / 128, 111 / 128, 29 / 128, -3 / 128],
];
const ON_EVEN: Phases = [
  [0, 0, 1, 0],
  [-1 / 16, 9 / 16, 9 / 16, -1 / 16],
];

/** Converts frames from one format to a higher one of the same size. */
export class LightConverter extends FormatConverter {
  readonly #peak: number;
  readonly #gain: number;
  /** Of chroma, which has its zero in the middle. */
  readonly #offset: number;
  readonly #across: Phases;
  readonly #down: Phases;

  constructor(from: VideoFormat, to: VideoFormat, { matrix, range, siting }: LightOfSamples) {
    super(from, to);
    const [peak, peakTo] = [2 ** from.bitDepth - 1, 2 ** to.bitDepth - 1];
    this.#peak = peakTo;
    this.#gain = range === 'full' ? peakTo / peak : 2 ** (to.bitDepth - from.bitDepth);
    this.#offset = matrix === 'gbr' ? 0 : 2 ** (to.bitDepth - 1) - 2 ** (from.bitDepth - 1) * this.#gain;
    this.#across = siting === 'center' ? BETWEEN : ON_EVEN;
    this.#down = siting === 'topleft' ? ON_EVEN : BETWEEN;
  }

  protected override luma(source: Samples, target: Samples): void {
    this.#scale(source, target, 0);
  }

  protected override chroma(source: Samples, small: PlaneSize, target: Samples, large: PlaneSize): void {
    if (small.width !== large.width || small.height !== large.height)
      this.#enlarge(source, small, target, large);
    else this.#scale(source, target, this.#offset);
  }

  #scale(source: Samples, target: Samples, offset: number): void {
    for (let i = 0; i < target.length; i++) target[i] = source[i]! * this.#gain + offset + 0.5;
  }

  #enlarge(source: Samples, small: PlaneSize, target: Samples, large: PlaneSize): void {
    const columns = placesOf(large.width, small.width, this.#across);
    const row = new Float64Array(small.width);
    for (const [y, { at, taps }] of placesOf(large.height, small.height, this.#down).entries()) {
      const [a, b, c, d] = at.map((place) => place * small.width) as [number, number, number, number];
      for (let x = 0; x < small.width; x++) {
        row[x] =
          source[a + x]! * taps[0] +
          source[b + x]! * taps[1] +
          source[c + x]! * taps[2] +
          source[d + x]! * taps[3];
      }
      let to = y * large.width;
      for (const { at: near, taps: weights } of columns) {
        let sum = 0;
        for (let k = 0; k < 4; k++) sum += row[near[k]!]! * weights[k]!;
        target[to++] = Math.min(this.#peak, Math.max(0, sum * this.#gain + this.#offset + 0.5));
      }
    }
  }
}

/** The four samples of `few` around each of `many` places, mirrored at the edges, and their weights. */
function placesOf(many: number, few: number, phases: Phases): { readonly at: Taps; readonly taps: Taps }[] {
  return Array.from({ length: many }, (_, i) => {
    if (many === few) return { at: [i, i, i, i], taps: [1, 0, 0, 0] };
    const first = (i >> 1) + (i & 1) - 2;
    const at = [0, 1, 2, 3].map((k) => mirrored(first + k, few)) as unknown as Taps;
    return { at, taps: phases[(i & 1) as 0 | 1] };
  });
}

function mirrored(place: number, count: number): number {
  const positive = place < 0 ? -1 - place : place;
  const inside = positive < count ? positive : 2 * count - 1 - positive;
  return Math.min(count - 1, Math.max(0, inside));
}
