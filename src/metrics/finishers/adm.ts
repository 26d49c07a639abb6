/**
 * @module metrics/finishers/adm
 * adm2, aim, adm3 and ADM per scale from numerators, denominators and AIM numerators (spec 4.10).
 */

import type { VideoFormat } from '../../core/frame.js';
import type { ExtractorInstance } from '../options.js';
import { flagOption, numberOption } from '../options.js';
import type { Emit, ExtractorFinisher } from './types.js';

/** What the reference puts in the denominator of a scale 0 that it skips. */
const SKIPPED_DEN = Math.fround(1e-10);

/** @param instance an instance of the adm extractor */
export function finishAdm(instance: ExtractorInstance, format: VideoFormat): ExtractorFinisher {
  const skipScale0 = flagOption(instance, 'adm_skip_scale0');
  const skipAim = flagOption(instance, 'adm_skip_aim');
  const dlmWeight = numberOption(instance, 'adm_dlm_weight');
  const minimum = numberOption(instance, 'adm_min_val');
  // Sums below this count as nothing.
  const limit = (1e-10 * (format.width * format.height)) / (1920 * 1080);

  const push = (frame: number, record: Float64Array, emit: Emit): void => {
    let totalNum = 0;
    let totalDen = 0;
    let totalAim = 0;
    for (let scale = 0; scale < 4; scale++) {
      const skip = scale === 0 && skipScale0;
      const num = skip ? 0 : (record[scale] ?? Number.NaN);
      const den = skip ? SKIPPED_DEN : (record[4 + scale] ?? Number.NaN);
      totalNum += num;
      totalDen += den;
      totalAim += skip || skipAim ? 0 : (record[8 + scale] ?? Number.NaN);
      emit(frame, `integer_adm_scale${scale}`, num / den);
      emit(frame, `integer_adm_num_scale${scale}`, num);
      emit(frame, `integer_adm_den_scale${scale}`, den);
    }
    if (totalNum < limit) totalNum = 0;
    if (totalDen < limit) totalDen = 0;
    const adm2 = totalDen === 0 ? 1 : totalNum / totalDen;
    // The reference leaves aim undefined where there is nothing to divide by.
    const aim = totalDen === 0 ? 0 : totalAim / totalDen;
    const mixed = adm2 * dlmWeight + (1 - aim) * (1 - dlmWeight);
    let adm3 = minimum;
    // A mixture that is not a number counts as less.
    if (mixed > minimum) adm3 = mixed;
    emit(frame, 'VMAF_integer_feature_adm2_score', adm2);
    emit(frame, 'VMAF_integer_feature_aim_score', aim);
    emit(frame, 'VMAF_integer_feature_adm3_score', adm3);
    emit(frame, 'integer_adm', adm2);
    emit(frame, 'integer_adm_num', totalNum);
    emit(frame, 'integer_adm_den', totalDen);
  };
  return { push };
}
