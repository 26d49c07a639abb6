/**
 * @module metrics/finishers/float-vif
 * VIF per scale and in total from numerators and denominators (metrics spec D.14).
 */
import { RESAMPLING } from '../extractors/float-vmaf.js';
import { choiceOption, flagOption, numberOption } from '../options.js';
import { atLeast } from './bounds.js';
import { requirePrescale } from './checks.js';
import type { FurtherExtractor } from './types.js';

/** So that the fourth scale has a sample. */
const LEAST_SIDE = 8;

/** The float_vif extractor. */
export const floatVif: FurtherExtractor = {
  measure: (instance, format) => {
    const method = choiceOption(instance, 'vif_prescale_method');
    const prescale = numberOption(instance, 'vif_prescale');
    requirePrescale('float_vif', format, prescale, method, LEAST_SIDE);
    const options = [
      numberOption(instance, 'vif_enhn_gain_limit'),
      numberOption(instance, 'vif_kernelscale'),
      prescale,
      prescale === 1 ? 0 : RESAMPLING.indexOf(method),
      numberOption(instance, 'vif_sigma_nsq'),
      Number(flagOption(instance, 'vif_skip_scale0')),
    ];
    return { metric: 'float_vif', options, chroma: false };
  },
  finish: (instance) => {
    const skipScale0 = flagOption(instance, 'vif_skip_scale0');
    const minima = [0, ...[1, 2, 3].map((s) => numberOption(instance, `vif_scale${s}_min_val`))];
    return {
      push: (frame, record, emit) => {
        let totalNum = 0;
        let totalDen = 0;
        for (let scale = 0; scale < 4; scale++) {
          const skip = scale === 0 && skipScale0;
          const num = record[scale] ?? Number.NaN;
          const den = record[4 + scale] ?? Number.NaN;
          if (!skip) {
            totalNum += num;
            totalDen += den;
          }
          const value = skip ? 0 : num / den;
          emit(
            frame,
            `VMAF_feature_vif_scale${scale}_score`,
            scale === 0 ? value : atLeast(value, minima[scale] ?? 0),
          );
          emit(frame, `vif_num_scale${scale}`, num);
          emit(frame, `vif_den_scale${scale}`, den);
        }
        emit(frame, 'vif', totalDen === 0 ? 1 : totalNum / totalDen);
        emit(frame, 'vif_num', totalNum);
        emit(frame, 'vif_den', totalDen);
      },
    };
  },
};
