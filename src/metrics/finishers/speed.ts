/**
 * @module metrics/finishers/speed
 * SpEED of chroma and of frame differences (metrics spec D.17).
 */

import { AnyvmafError } from '../../core/errors.js';
import type { VideoFormat } from '../../core/frame.js';
import { RESAMPLING } from '../extractors/float-vmaf.js';
import { choiceOption, type ExtractorInstance, flagOption, numberOption } from '../options.js';
import { atMost } from './bounds.js';
import { requireChroma, requirePrescale } from './checks.js';
import type { FurtherExtractor } from './types.js';

/** Five blocks of every 16th sample: less than that on a side leaves nothing to measure. */
const LEAST_SIDE = 80;

/** A prescale this near to 1 does nothing. */
const NO_PRESCALE = 1e-3;

/**
 * Refuses planes that are too small once prescaled.
 * @throws {AnyvmafError} `feature`
 */
function requireBlocks(instance: ExtractorInstance, plane: string, sides: readonly number[]): void {
  const prescale = numberOption(instance, 'speed_prescale');
  const [width = 0, height = 0] =
    Math.abs(prescale - 1) < NO_PRESCALE ? sides : sides.map((side) => Math.floor(side * prescale + 0.5));
  if (width >= LEAST_SIDE && height >= LEAST_SIDE) return;
  const { name } = instance.spec;
  throw new AnyvmafError(
    'feature',
    `The ${name} extractor needs ${plane} of at least ${LEAST_SIDE}x${LEAST_SIDE} samples but here it has ` +
      `${width}x${height}; leave ${name} out, or choose a larger speed_prescale.`,
  );
}

/** The options that both share, in the core's order. */
function shared(instance: ExtractorInstance, format: VideoFormat): number[] {
  const method = choiceOption(instance, 'speed_prescale_method');
  const prescale = numberOption(instance, 'speed_prescale');
  requirePrescale(instance.spec.name, format, prescale, method);
  return [
    numberOption(instance, 'speed_kernelscale'),
    prescale,
    RESAMPLING.indexOf(method),
    numberOption(instance, 'speed_sigma_nn'),
    numberOption(instance, 'speed_nn_floor'),
  ];
}

/** The speed_chroma extractor. */
export const speedChroma: FurtherExtractor = {
  measure: (instance, format) => {
    requireChroma('speed_chroma', format);
    const { width, height, chroma } = format;
    requireBlocks(instance, 'chroma', [
      chroma === '444' ? width : width >> 1,
      chroma === '420' ? height >> 1 : height,
    ]);
    const options = [...shared(instance, format), numberOption(instance, 'speed_weight_var_mode'), 0];
    return { metric: 'speed_chroma', options, chroma: true };
  },
  finish: (instance) => {
    const maximum = numberOption(instance, 'speed_max_val');
    return {
      push: (frame, record, emit) => {
        ['u', 'v', 'uv'].forEach((plane, i) => {
          const value = atMost(record[i] ?? Number.NaN, maximum);
          emit(frame, `Speed_chroma_feature_speed_chroma_${plane}_score`, value);
        });
      },
    };
  },
};

/** The speed_temporal extractor. */
export const speedTemporal: FurtherExtractor = {
  measure: (instance, format) => {
    requireBlocks(instance, 'luma', [format.width, format.height]);
    const options = [...shared(instance, format), 0, Number(flagOption(instance, 'speed_use_ref_diff'))];
    return { metric: 'speed_temporal', options, chroma: false };
  },
  finish: () => ({
    push: (frame, [score = Number.NaN], emit) => {
      // The first frame has none to differ from.
      emit(frame, 'Speed_temporal_feature_speed_temporal_score', frame === 0 ? 0 : score);
    },
  }),
};
