/**
 * @module test/support/finish
 * Finishes records made by hand: the features that come out, by name and frame.
 */

import type { Compat } from '../../src/core/choices.js';
import type { VideoFormat } from '../../src/core/frame.js';
import { type FeaturePlan, planFeatures } from '../../src/engine/backends/features.js';
import { FeatureFinisher, type FinishedFrame } from '../../src/engine/results/finish.js';
import { parseFeature } from '../../src/metrics/options.js';

/** A format for tests; 4:2:0, 8 bit unless said otherwise. */
export function videoFormat(width: number, height: number, more: Partial<VideoFormat> = {}): VideoFormat {
  return { width, height, bitDepth: 8, chroma: '420', ...more };
}

/** The plan for feature strings. */
export function planOf(
  features: readonly string[],
  format: VideoFormat,
  compat: Compat = 'libvmaf-3.2',
): FeaturePlan {
  return planFeatures(features.map(parseFeature), format, compat);
}

/** All that comes out of a sequence, and after which record each frame did (`flush` past the last). */
export interface Finished {
  readonly frames: readonly FinishedFrame[];
  readonly after: readonly number[];
  readonly aggregates: Readonly<Record<string, number>>;
  /** A feature's values over the frames listed. */
  series(name: string): number[];
}

/** Finishes a sequence given as one record per frame. */
export function finish(
  plan: FeaturePlan,
  records: readonly (readonly number[])[],
  subsample?: number,
): Finished {
  const finisher = new FeatureFinisher(plan, subsample);
  const frames: FinishedFrame[] = [];
  const after: number[] = [];
  const take = (finished: readonly FinishedFrame[], moment: number): void => {
    frames.push(...finished);
    after.push(...finished.map(() => moment));
  };
  records.forEach((record, i) => {
    // An offset, as within a chunk of records.
    take(finisher.push(Float64Array.of(-1, -1, ...record), 2), i);
  });
  take(finisher.flush(), records.length);
  return {
    frames,
    after,
    aggregates: finisher.aggregates(),
    series(name) {
      const slot = plan.names.indexOf(name);
      if (slot < 0) throw new Error(`no ${name} among ${plan.names.join(', ')}`);
      return frames.map(({ values }) => values[slot] ?? Number.NaN);
    },
  };
}
