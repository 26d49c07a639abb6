/**
 * @module metrics/float-vif
 * VIF per scale and in total from numerators and denominators in floating point (metrics spec D.14).
 */
import { atLeast, RESAMPLING, requirePrescale, resizingOptions } from './checks.js';
import { callEach, choiceOption, flagOption, type Metric, numberOption } from './metric.js';
import { DEBUG, extractor, feature, floatFeature, quotientParts, ranked, real, SCALES } from './spec.js';
import { finishVif, VIF_OPTIONS } from './vif.js';

/** The fourth scale needs at least one sample. */
const LEAST_SIDE = 8;

export const FLOAT_VIF: Metric = {
  spec: extractor({
    name: 'float_vif',
    source: 'wasm/src/float_vif.c',
    description: 'Visual information fidelity at four scales, in floating point.',
    options: [
      VIF_OPTIONS.debug,
      VIF_OPTIONS.gainLimit,
      ...resizingOptions('vif', 'pm'),
      ...[1, 2, 3].map((s) =>
        real(`vif_scale${s}_min_val`, 0, 0, 1, {
          alias: `s${s}miv`,
          description: `Smallest value of scale ${s}.`,
        }),
      ),
      real('vif_sigma_nsq', 2, 0, 5, { alias: 'snsq', description: 'Variance of the visual noise.' }),
      VIF_OPTIONS.skipScale0,
    ],
    features: [
      ...ranked('low', [...SCALES.map((s) => floatFeature(`vif_scale${s}`)), feature('vif', 'vif', DEBUG)]),
      ...quotientParts('vif'),
    ],
  }),
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
    return { options, extent: [] };
  },
  calls: callEach('float_vif', { fields: 8, cost: 35 }),
  finish: (instance) =>
    finishVif(instance, 'VMAF_feature_vif', 'vif', {
      value: (scale, quotient) =>
        scale === 0 ? quotient : atLeast(quotient, numberOption(instance, `vif_scale${scale}_min_val`)),
    }),
};
