/**
 * @module metrics/psnr
 * PSNR in decibels, per frame and over the whole sequence, from sums of squared errors (metrics spec D.5).
 */
import { chromaSize, type VideoFormat } from '../core/frame.js';
import { log10 } from '../core/log10.js';
import { decibelCap } from './checks.js';
import {
  type Emit,
  type ExtractorInstance,
  type Fields,
  type Finisher,
  flagOption,
  type Metric,
  numberOption,
} from './metric.js';
import { extractor, type FeatureSpec, feature, flag, real } from './spec.js';

const PLANES = ['y', 'cb', 'cr'] as const;

/** In order of emission: for each plane the PSNR, then with `enable_mse` the mean squared error. */
function psnrFeatures(): FeatureSpec[] {
  const features: FeatureSpec[] = [];
  for (const plane of PLANES) {
    const when = plane === 'y' ? [] : ['enable_chroma'];
    const chroma = plane !== 'y';
    features.push(feature(`psnr_${plane}`, undefined, { when, chroma, worse: 'low' }));
    features.push(
      feature(`mse_${plane}`, undefined, { when: [...when, 'enable_mse'], chroma, worse: 'high' }),
    );
  }
  for (const plane of PLANES)
    features.push(feature(`apsnr_${plane}`, undefined, { when: ['enable_apsnr'], emitted: 'sequence' }));
  return features;
}

function planesOf(instance: ExtractorInstance, format: VideoFormat) {
  const measured = flagOption(instance, 'enable_chroma') && format.chroma !== '400' ? 3 : 1;
  return PLANES.slice(0, measured).map((name) => ({ name, samples: samplesOf(name, format) }));
}

function samplesOf(plane: (typeof PLANES)[number], format: VideoFormat): number {
  const { width, height } = plane === 'y' ? format : chromaSize(format);
  return width * height;
}

export const PSNR: Metric = {
  spec: extractor({
    name: 'psnr',
    source: 'wasm/src/sse.c',
    description: 'Peak signal-to-noise ratio of each plane in dB.',
    options: [
      flag('enable_chroma', true, { description: 'Measure the chroma planes too.' }),
      flag('enable_mse', false, { description: 'Also emit the mean squared error of each plane.' }),
      flag('enable_apsnr', false, {
        description: 'Also give the PSNR of all frames together as an aggregate.',
      }),
      flag('reduced_hbd_peak', false, {
        description:
          'Above 8 bit take 255 shifted to the bit depth as the peak, not the largest sample value.',
      }),
      real('min_sse', 0, 0, Number.MAX_VALUE, {
        inName: false,
        description:
          'Sum of squared errors whose PSNR, rounded up, is the largest PSNR given; 0 gives 6 * bit depth + 12.',
      }),
    ],
    features: psnrFeatures(),
    temporal: true,
  }),
  measure: (instance, format) => ({ options: [], extent: [planesOf(instance, format).length] }),
  calls: ([variant], format) =>
    ([0, 1, 2] as const).slice(0, variant?.extent[0]).map((plane) => ({
      run: 'sse',
      args: [
        { of: 'reference', plane, back: 0 },
        { of: 'distorted', plane, back: 0 },
        samplesOf(PLANES[plane], format),
      ],
      fields: 2,
      chroma: plane > 0,
      cost: 0.6,
    })),
  finish: (instance, format) => new PsnrSequence(instance, format),
};

interface Plane {
  readonly name: (typeof PLANES)[number];
  /** Per frame. */
  readonly samples: number;
  /** Largest PSNR to report, in dB. */
  readonly cap: number;
  /** Sums of the high and of the low halves of all frames' errors, exact for 2^21 frames. */
  high: number;
  low: number;
}

class PsnrSequence implements Finisher {
  readonly #planes: readonly Plane[];
  readonly #peakSquared: number;
  #frames = 0;

  constructor(instance: ExtractorInstance, format: VideoFormat) {
    const { bitDepth } = format;
    const reduced = flagOption(instance, 'reduced_hbd_peak');
    const peakSquared = (reduced ? 255 * 2 ** (bitDepth - 8) : 2 ** bitDepth - 1) ** 2;
    this.#peakSquared = peakSquared;
    const minSse = numberOption(instance, 'min_sse');
    this.#planes = planesOf(instance, format).map(({ name, samples }) => {
      const cap = minSse === 0 ? decibelCap(format) : Math.ceil(10 * log10(peakSquared / (minSse / samples)));
      return { name, samples, cap, high: 0, low: 0 };
    });
  }

  push(frame: number, fields: Fields, emit: Emit): void {
    this.#frames++;
    for (const [index, plane] of this.#planes.entries()) {
      const [high, low] = [fields(2 * index), fields(2 * index + 1)];
      plane.high += high;
      plane.low += low;
      const mse = (high * 2 ** 32 + low) / plane.samples;
      const decibels = 10 * log10(this.#peakSquared / Math.max(mse, 1e-16));
      emit(frame, `psnr_${plane.name}`, Math.min(decibels, plane.cap));
      emit(frame, `mse_${plane.name}`, mse);
    }
  }

  /** As in libvmaf, planes that are not measured have minus infinity. */
  aggregates(): Readonly<Record<string, number>> {
    const none = PLANES.map((name) => [`apsnr_${name}`, Number.NEGATIVE_INFINITY] as const);
    const measured = this.#planes.map(({ name, samples, high, low }) => {
      const total = this.#frames * samples;
      if (total === 0) return [`apsnr_${name}`, Number.NEGATIVE_INFINITY] as const;
      const errors = Number((BigInt(high) << 32n) + BigInt(low));
      const decibels = 10 * (log10(this.#peakSquared) + log10(total) - log10(errors));
      const cap = Math.ceil(10 * log10(this.#peakSquared * total * 2));
      return [`apsnr_${name}`, Math.min(decibels, cap)] as const;
    });
    return Object.fromEntries([...none, ...measured]);
  }
}
