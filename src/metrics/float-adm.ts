/**
 * @module metrics/float-adm
 * adm2, aim, adm3 and ADM per scale in floating point (metrics spec D.15).
 */
import { ADM_OPTIONS, finishAdm, LAST_OPTIONS, NOISE_WEIGHT } from './adm.js';
import { csfSettings, floatAdmFactors } from './adm-csf.js';
import { callEach, flagOption, type Metric, numberOption } from './metric.js';
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
    const names = ['adm_enhn_gain_limit', 'adm_noise_weight', 'adm_p_norm', 'adm_bypass_cm'];
    const numbers = names.map((name) => numberOption(instance, name));
    const skipScale0 = Number(flagOption(instance, 'adm_skip_scale0'));
    return { options: [...numbers, skipScale0, ...factors], extent: [] };
  },
  calls: callEach('float_adm', { fields: 12, cost: 15 }),
  finish: (instance, format) => {
    const skippedAim = numberOption(instance, 'adm_skip_aim_scale');
    return finishAdm(instance, format, {
      names: {
        scale: (scale) => `VMAF_feature_adm_scale${scale}_score`,
        totals: 'VMAF_feature_',
        parts: 'adm',
      },
      scale: (scale, fields) => ({
        ...{ num: fields(scale), den: fields(4 + scale) },
        ...(scale !== skippedAim && { aim: fields(8 + scale) }),
      }),
      mostAim: 1,
      harmonic: flagOption(instance, 'adm_adm3_apply_hm'),
    });
  },
};
