/**
 * @module metrics/xpsnr
 * XPSNR in decibels, per frame and over the whole sequence, like FFmpeg's filter xpsnr. Source: Helmrich et al.,
 * "XPSNR: a low-complexity extension of the perceptually weighted peak signal-to-noise ratio", ICASSP 2020.
 */
import type { ScoredFormat } from '../core/colour.js';
import { chromaSize, type VideoFormat } from '../core/frame.js';
import { log10 } from '../core/log10.js';
import { quotientOf } from '../core/numbers.js';
import {
  doubles,
  type Emit,
  type ExtractorInstance,
  type Fields,
  type Finisher,
  type Metric,
  numberOption,
  referenceLuma,
} from './metric.js';
import { extractor, type FeatureSpec, feature, ranked, real } from './spec.js';

const PLANES = ['y', 'u', 'v'] as const;
/** Weights of the planes in xpsnr_weighted. */
const WEIGHTS = [4, 1, 1] as const;
/** Least frames per second for the second temporal difference. */
const FAST = 32;

function xpsnrFeatures(): FeatureSpec[] {
  const each = [...PLANES, 'min', 'weighted'].map((name) => ({ name, chroma: name === 'u' || name === 'v' }));
  return [
    ...each.map(({ name, chroma }) => feature(`xpsnr_${name}`, undefined, { chroma })),
    ...each.map(({ name, chroma }) =>
      feature(`sequence_xpsnr_${name}`, undefined, { chroma, emitted: 'sequence' }),
    ),
  ];
}

/** Order of the temporal difference. Like FFmpeg, truncates the rate, and treats an unknown rate as slow. */
function orderOf(instance: ExtractorInstance, { frameRate }: ScoredFormat): 1 | 2 {
  const given = numberOption(instance, 'fps');
  const rate = given > 0 ? given : (quotientOf(frameRate) ?? 0);
  return Math.trunc(rate) < FAST ? 1 : 2;
}

export const XPSNR: Metric = {
  spec: extractor({
    name: 'xpsnr',
    beyondLibvmaf: true,
    source: 'wasm/src/xpsnr.c',
    description:
      'PSNR of each plane in dB, with errors weighted by the activity of the reference around them (XPSNR). Even sizes ' +
      'have the values of FFmpeg, also in the first frames, where missing earlier frames count as black; odd sizes lack ' +
      'the last column or row of chroma. Identical planes have a finite cap: 115 dB for 1920x1080 with 8 bits.',
    options: [
      real('fps', 0, 0, 1000, {
        description:
          'Frames per second: from 32 on, activity is the second difference in time, not the first; 0 takes the rate of the reference.',
      }),
    ],
    features: ranked('low', xpsnrFeatures()),
    temporal: true,
    previousReference: true,
  }),
  measure: (instance, format) => ({ options: [orderOf(instance, format)], extent: [] }),
  calls: (variants, { chroma }) =>
    variants.map(({ options }) => {
      const back = options[0] === 2 ? 2 : 1;
      return {
        run: 'xpsnr',
        args: ['frames', 'parameters', back === 2 ? referenceLuma(2) : 0],
        parameters: doubles(options),
        fields: PLANES.length,
        back,
        earlier: 'luma',
        padded: true,
        chroma: chroma !== '400',
        cost: 0.8,
      };
    }),
  finish: (_, format) => new XpsnrSequence(format),
};

interface Plane {
  readonly name: (typeof PLANES)[number];
  readonly peakEnergy: number;
  /** In dB without an error: that of half the smallest error, rounded up. Infinity would break means and limits. */
  readonly cap: number;
  /** Sums over frames of the roots of weighted errors, and of values in dB. */
  roots: number;
  decibels: number;
}

class XpsnrSequence implements Finisher {
  readonly #planes: readonly Plane[];
  #frames = 0;

  constructor(format: VideoFormat) {
    const peakSquared = (2 ** format.bitDepth - 1) ** 2;
    this.#planes = PLANES.slice(0, format.chroma === '400' ? 1 : 3).map((name) => {
      const { width, height } = name === 'y' ? format : chromaSize(format);
      const peakEnergy = width * height * peakSquared;
      return { name, peakEnergy, cap: Math.ceil(10 * log10(2 * peakEnergy)), roots: 0, decibels: 0 };
    });
  }

  push(frame: number, fields: Fields, emit: Emit): void {
    this.#frames++;
    const values = this.#planes.map((plane, i) => {
      const root = Math.sqrt(fields(i));
      const value = root > 0 ? 10 * log10(plane.peakEnergy / (root * root)) : plane.cap;
      plane.roots += root;
      plane.decibels += value;
      return value;
    });
    for (const [name, value] of this.#named(values)) emit(frame, `xpsnr_${name}`, value);
  }

  /** FFmpeg's summary: from the mean root, or the mean in dB if the mean root is below 1. */
  aggregates(): Readonly<Record<string, number>> {
    const count = this.#frames;
    if (count === 0) return {};
    const values = this.#planes.map(({ peakEnergy, roots, decibels }) => {
      const root = roots / count;
      return roots >= count ? 10 * log10(peakEnergy / (root * root)) : decibels / count;
    });
    return Object.fromEntries(this.#named(values).map(([name, value]) => [`sequence_xpsnr_${name}`, value]));
  }

  #named(values: readonly number[]): (readonly [string, number])[] {
    const weights = WEIGHTS.slice(0, values.length);
    const total = weights.reduce<number>((sum, weight) => sum + weight, 0);
    const weighted = values.reduce((sum, value, i) => sum + value * (WEIGHTS[i] ?? 0), 0) / total;
    return [
      ...this.#planes.map(({ name }, i) => [name, values[i] ?? Number.NaN] as const),
      ['min', Math.min(...values)],
      ['weighted', weighted],
    ];
  }
}
