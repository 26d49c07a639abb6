/**
 * @module metrics/finishers/float-adm
 * adm2, aim, adm3 and ADM per scale in floating point (metrics spec D.15).
 */

import type { VideoFormat } from '../../core/frame.js';
import { floatAdmFactors } from '../adm-csf.js';
import { type ExtractorInstance, flagOption, numberOption } from '../options.js';
import { atLeast, atMost } from './bounds.js';
import type { ExtractorFinisher, FurtherExtractor } from './types.js';

/** The float_adm extractor. */
export const floatAdm: FurtherExtractor = {
  measure: (instance) => {
    const computed = floatAdmFactors({
      normViewDist: numberOption(instance, 'adm_norm_view_dist'),
      refDisplayHeight: numberOption(instance, 'adm_ref_display_height'),
      csfMode: numberOption(instance, 'adm_csf_mode'),
      csfScale: numberOption(instance, 'adm_csf_scale'),
      csfDiagScale: numberOption(instance, 'adm_csf_diag_scale'),
    });
    const factors = computed.flatMap((bands, scale) =>
      bands.map((factor, band) => {
        const given = numberOption(instance, `adm_f${band + 1}s${scale}`);
        return given >= 0 ? Math.fround(given) : factor;
      }),
    );
    const options = [
      numberOption(instance, 'adm_enhn_gain_limit'),
      numberOption(instance, 'adm_noise_weight'),
      numberOption(instance, 'adm_p_norm'),
      numberOption(instance, 'adm_bypass_cm'),
      Number(flagOption(instance, 'adm_skip_scale0')),
      ...factors,
    ];
    return { metric: 'float_adm', options, chroma: false };
  },
  finish: finishFloatAdm,
};

function finishFloatAdm(instance: ExtractorInstance, { width, height }: VideoFormat): ExtractorFinisher {
  const weight = numberOption(instance, 'adm_dlm_weight');
  const minimum = numberOption(instance, 'adm_min_val');
  const harmonic = flagOption(instance, 'adm_adm3_apply_hm');
  const skippedAim = numberOption(instance, 'adm_skip_aim_scale');
  // Sums below this count as nothing.
  const limit = (1e-10 * (width * height)) / (1920 * 1080);
  return {
    push: (frame, record, emit) => {
      let totalNum = 0;
      let totalDen = 0;
      let aimNum = 0;
      let aimDen = 0;
      for (let scale = 0; scale < 4; scale++) {
        const num = record[scale] ?? Number.NaN;
        const den = record[4 + scale] ?? Number.NaN;
        totalNum += num;
        totalDen += den;
        if (scale !== skippedAim) {
          aimNum += record[8 + scale] ?? Number.NaN;
          aimDen += den;
        }
        emit(frame, `VMAF_feature_adm_scale${scale}_score`, num / den);
        emit(frame, `adm_num_scale${scale}`, num);
        emit(frame, `adm_den_scale${scale}`, den);
      }
      if (totalNum < limit) totalNum = 0;
      if (totalDen < limit) totalDen = 0;
      const adm2 = totalDen === 0 ? 1 : totalNum / totalDen;
      // Without a denominator libvmaf leaves it undefined.
      const aim = totalDen === 0 ? 0 : atMost(aimNum / aimDen, 1);
      const mixed = harmonic ? (2 * adm2 * aim) / (adm2 + aim) : adm2 * weight + (1 - aim) * (1 - weight);
      const adm3 = atLeast(mixed, minimum);
      emit(frame, 'VMAF_feature_adm2_score', adm2);
      emit(frame, 'VMAF_feature_aim_score', aim);
      emit(frame, 'VMAF_feature_adm3_score', adm3);
      emit(frame, 'adm', adm2);
      emit(frame, 'adm_num', totalNum);
      emit(frame, 'adm_den', totalDen);
    },
  };
}
