/**
 * @module metrics/float-adm
 * adm2, aim, adm3 and ADM per scale in floating point (metrics spec D.15).
 */
import type { VideoFormat } from '../core/frame.js';
import { ADM_OPTIONS, LAST_OPTIONS, NOISE_WEIGHT } from './adm.js';
import { csfSettings, floatAdmFactors } from './adm-csf.js';
import { admLimit, atLeast, atMost } from './checks.js';
import {
  callEach,
  type ExtractorInstance,
  type Finisher,
  flagOption,
  type Metric,
  numberOption,
} from './metric.js';
import {
  DEBUG,
  extractor,
  feature,
  flag,
  floatFeature,
  integer,
  type OptionSpec,
  quotientParts,
  real,
  SCALES,
} from './spec.js';

function factorOptions(): OptionSpec[] {
  return ([1, 2] as const).flatMap((band) =>
    SCALES.map((s) =>
      real(`adm_f${band}s${s}`, -1, -1, 10, {
        alias: `f${band}s${s}`,
        description: `Contrast sensitivity of the ${band === 1 ? 'horizontal and vertical bands' : 'diagonal band'} at scale ${s}; below 0 it is computed.`,
      }),
    ),
  );
}

export const FLOAT_ADM: Metric = {
  spec: extractor({
    name: 'float_adm',
    source: 'wasm/src/float_adm.c',
    description: 'Detail loss (ADM), additive impairment (AIM) and their mix (adm3), in floating point.',
    options: [
      ...ADM_OPTIONS,
      integer('adm_ref_display_height', 1080, 1, 4320, {
        alias: 'rdf',
        description: 'Height of the display in lines.',
      }),
      integer('adm_csf_mode', 0, 0, 9, {
        alias: 'csf',
        description: 'Contrast sensitivity: 0 Watson, 1 Barten, 2 native; higher ones are 0.',
      }),
      NOISE_WEIGHT,
      ...LAST_OPTIONS,
      integer('adm_bypass_cm', 0, 0, 1, { alias: 'bcm', description: 'No contrast masking when 1.' }),
      flag('adm_adm3_apply_hm', false, {
        alias: 'aah',
        inName: true,
        description: 'Make adm3 the harmonic mean of adm2 and aim.',
      }),
      real('adm_p_norm', 3, 1, 20, { alias: 'apn', description: 'Exponent of the pooling over a band.' }),
      ...factorOptions(),
      integer('adm_skip_aim_scale', -1, 0, 3, { alias: 'sasc', description: 'Scale to exclude from aim.' }),
    ],
    features: [
      ...['adm2', 'aim', 'adm3', ...SCALES.map((s) => `adm_scale${s}`)].map((x) =>
        floatFeature(x, { worse: x === 'aim' ? 'high' : 'low' }),
      ),
      feature('adm', 'adm', { ...DEBUG, plainName: true, worse: 'low' }),
      ...quotientParts('adm'),
    ],
  }),
  measure: (instance) => {
    const computed = floatAdmFactors(csfSettings(instance));
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
    return { options, extent: [] };
  },
  calls: callEach('float_adm', { fields: 12, cost: 15 }),
  finish: finishFloatAdm,
};

function finishFloatAdm(instance: ExtractorInstance, { width, height }: VideoFormat): Finisher {
  const weight = numberOption(instance, 'adm_dlm_weight');
  const minimum = numberOption(instance, 'adm_min_val');
  const harmonic = flagOption(instance, 'adm_adm3_apply_hm');
  const skippedAim = numberOption(instance, 'adm_skip_aim_scale');
  const limit = admLimit(width, height);
  return {
    push: (frame, fields, emit) => {
      let totalNum = 0;
      let totalDen = 0;
      let aimNum = 0;
      let aimDen = 0;
      for (const scale of SCALES) {
        const num = fields(scale);
        const den = fields(4 + scale);
        totalNum += num;
        totalDen += den;
        if (scale !== skippedAim) {
          aimNum += fields(8 + scale);
          aimDen += den;
        }
        emit(frame, `VMAF_feature_adm_scale${scale}_score`, num / den);
        emit(frame, `adm_num_scale${scale}`, num);
        emit(frame, `adm_den_scale${scale}`, den);
      }
      if (totalNum < limit) totalNum = 0;
      if (totalDen < limit) totalDen = 0;
      const adm2 = totalDen === 0 ? 1 : totalNum / totalDen;
      // Undefined in libvmaf without a denominator.
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
