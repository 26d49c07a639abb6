/**
 * @module metrics/finishers/psnr
 * PSNR in decibels, per frame and over the whole sequence, from sums of squared errors (metrics spec D.5).
 */

import type { VideoFormat } from '../../core/frame.js';
import { log10 } from '../../core/log10.js';
import type { ExtractorInstance } from '../options.js';
import { flagOption, numberOption } from '../options.js';
import type { Emit, ExtractorFinisher } from './types.js';

/** @param instance an instance of the psnr extractor */
export function finishPsnr(instance: ExtractorInstance, format: VideoFormat): ExtractorFinisher {
  return new PsnrSequence(instance, format);
}

interface Plane {
  readonly name: 'y' | 'cb' | 'cr';
  readonly samples: number;
  /** Largest PSNR given. */
  readonly cap: number;
  /** Sums of the high and of the low halves of all frames' errors: exact for 2^21 frames. */
  high: number;
  low: number;
}

class PsnrSequence implements ExtractorFinisher {
  readonly #planes: readonly Plane[];
  readonly #measured: number;
  readonly #peakSquared: number;
  #frames = 0;

  constructor(instance: ExtractorInstance, format: VideoFormat) {
    const { bitDepth, chroma, width, height } = format;
    const reduced = flagOption(instance, 'reduced_hbd_peak');
    const peak = reduced ? 255 * 2 ** (bitDepth - 8) : 2 ** bitDepth - 1;
    this.#peakSquared = peak * peak;
    this.#measured = flagOption(instance, 'enable_chroma') && chroma !== '400' ? 3 : 1;
    const minSse = numberOption(instance, 'min_sse');
    const chromaWidth = chroma === '444' ? width : width >> 1;
    const chromaHeight = chroma === '420' ? height >> 1 : height;
    const plane = (name: Plane['name'], samples: number): Plane => {
      const cap =
        minSse === 0 ? 6 * bitDepth + 12 : Math.ceil(10 * log10(this.#peakSquared / (minSse / samples)));
      return { name, samples, cap, high: 0, low: 0 };
    };
    this.#planes = [
      plane('y', width * height),
      plane('cb', chromaWidth * chromaHeight),
      plane('cr', chromaWidth * chromaHeight),
    ];
  }

  push(frame: number, record: Float64Array, emit: Emit): void {
    this.#frames++;
    for (const [index, plane] of this.#planes.slice(0, this.#measured).entries()) {
      const high = record[2 * index] ?? Number.NaN;
      const low = record[2 * index + 1] ?? Number.NaN;
      plane.high += high;
      plane.low += low;
      const mse = (high * 2 ** 32 + low) / plane.samples;
      const decibels = 10 * log10(this.#peakSquared / Math.max(mse, 1e-16));
      emit(frame, `psnr_${plane.name}`, Math.min(decibels, plane.cap));
      emit(frame, `mse_${plane.name}`, mse);
    }
  }

  /** Like libvmaf also of the planes that are not measured, which gives minus infinity. */
  aggregates(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      this.#planes.map((plane, index) => {
        const errors = Number((BigInt(plane.high) << 32n) + BigInt(plane.low));
        const samples = index < this.#measured ? this.#frames * plane.samples : 0;
        if (samples === 0) return [`apsnr_${plane.name}`, Number.NEGATIVE_INFINITY];
        const decibels = 10 * (log10(this.#peakSquared) + log10(samples) - log10(errors));
        const cap = Math.ceil(10 * log10(this.#peakSquared * samples * 2));
        return [`apsnr_${plane.name}`, Math.min(decibels, cap)];
      }),
    );
  }
}
