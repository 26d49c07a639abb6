/**
 * @module metrics/finishers/vif
 * VIF per scale and in total from numerators and denominators (spec 3.6).
 */
import type { ExtractorInstance } from '../options.js';
import { flagOption } from '../options.js';
import type { Emit, ExtractorFinisher } from './types.js';

/** @param instance an instance of the vif extractor */
export function finishVif(instance: ExtractorInstance): ExtractorFinisher {
  const skipScale0 = flagOption(instance, 'vif_skip_scale0');
  return { push: (frame, record, emit) => emitVif(frame, record, skipScale0, emit) };
}

function emitVif(frame: number, record: Float64Array, skipScale0: boolean, emit: Emit): void {
  let totalNum = 0;
  let totalDen = 0;
  for (let scale = 0; scale < 4; scale++) {
    const skip = scale === 0 && skipScale0;
    // What the reference leaves in its debug values of a scale that it skips.
    const num = skip ? 0 : (record[scale] ?? Number.NaN);
    const den = skip ? -1 : (record[4 + scale] ?? Number.NaN);
    if (!skip) {
      totalNum += num;
      totalDen += den;
    }
    // A quotient of floats in float: dividing in double and rounding once more gives the same.
    emit(frame, `VMAF_integer_feature_vif_scale${scale}_score`, skip ? 0 : Math.fround(num / den));
    emit(frame, `integer_vif_num_scale${scale}`, num);
    emit(frame, `integer_vif_den_scale${scale}`, den);
  }
  emit(frame, 'integer_vif', totalDen === 0 ? 1 : totalNum / totalDen);
  emit(frame, 'integer_vif_num', totalNum);
  emit(frame, 'integer_vif_den', totalDen);
}
