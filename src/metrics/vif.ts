/**
 * @module metrics/vif
 * VIF per scale and in total from numerators and denominators (spec 3.6).
 */
import {
  doubles,
  type ExtractorInstance,
  eachFrame,
  type Finisher,
  flagOption,
  inGroups,
  type KernelCall,
  LUMA_PAIR,
  type Metric,
  numberOption,
} from './metric.js';
import { extractor, flag, integerFeature, integerParts, real, SCALES } from './spec.js';

/** Most gain limits per call. */
const MOST = 16;
/** Per gain limit: numerators of the scales, then denominators. */
const FIELDS = 8;

/** One call for several gain limits computes what they share once. */
export function vifCall(gainLimits: readonly number[], firstScale: 0 | 1): KernelCall {
  return {
    run: 'vif',
    args: [...LUMA_PAIR, 'parameters', gainLimits.length, firstScale],
    parameters: doubles(gainLimits),
    fields: FIELDS * gainLimits.length,
    cost: 16 * gainLimits.length,
  };
}

export const VIF_OPTIONS = {
  debug: flag('debug', false, {
    description: 'Also emit VIF over all scales, and numerators and denominators.',
  }),
  gainLimit: real('vif_enhn_gain_limit', 100, 1, 100, {
    alias: 'egl',
    description:
      'Largest gain credited to enhancement of the distorted picture; 1 credits none (NEG models).',
  }),
  skipScale0: flag('vif_skip_scale0', false, {
    alias: 'ssclz',
    inName: true,
    description: 'Skip scale 0; its value is then 0.',
  }),
};

export const VIF: Metric = {
  spec: extractor({
    name: 'vif',
    source: 'wasm/src/vif.c',
    description:
      'Visual information fidelity at four scales: the share of the reference’s information that survives in the distorted picture.',
    options: [VIF_OPTIONS.debug, VIF_OPTIONS.gainLimit, VIF_OPTIONS.skipScale0],
    features: [
      ...SCALES.map((s) => integerFeature(`vif_scale${s}`, { worse: 'low' })),
      ...integerParts('vif'),
    ],
  }),
  measure: (instance) => ({
    options: [numberOption(instance, 'vif_enhn_gain_limit')],
    extent: [Number(!flagOption(instance, 'vif_skip_scale0'))],
  }),
  calls: (variants) =>
    inGroups(variants, MOST).map((group) => {
      const gainLimits = group.flatMap(({ options }) => options);
      return vifCall(gainLimits, group.some(({ extent: [scale0] }) => scale0 === 1) ? 0 : 1);
    }),
  finish: (instance) =>
    finishVif(instance, 'VMAF_integer_feature_vif', 'integer_vif', {
      // A float quotient of floats: dividing in double and rounding again gives the same.
      value: (_, quotient) => Math.fround(quotient),
      // libvmaf's debug values of a skipped scale.
      skipped: [0, -1],
    }),
};

/**
 * @param scales prefix of the internal names of the scales' features
 * @param parts prefix of the names of numerators and denominators
 * @param how `value`: of a scale, from its quotient. `skipped`: parts of a skipped scale, if not as measured
 */
export function finishVif(
  instance: ExtractorInstance,
  scales: string,
  parts: string,
  how: {
    readonly value: (scale: number, quotient: number) => number;
    readonly skipped?: readonly [num: number, den: number];
  },
): Finisher {
  const skipScale0 = flagOption(instance, 'vif_skip_scale0');
  return eachFrame((frame, fields, emit) => {
    let totalNum = 0;
    let totalDen = 0;
    for (const scale of SCALES) {
      const skip = scale === 0 && skipScale0;
      const [num, den] = (skip && how.skipped) || [fields(scale), fields(4 + scale)];
      if (!skip) {
        totalNum += num;
        totalDen += den;
      }
      emit(frame, `${scales}_scale${scale}_score`, how.value(scale, skip ? 0 : num / den));
      emit(frame, `${parts}_num_scale${scale}`, num);
      emit(frame, `${parts}_den_scale${scale}`, den);
    }
    emit(frame, parts, totalDen === 0 ? 1 : totalNum / totalDen);
    emit(frame, `${parts}_num`, totalNum);
    emit(frame, `${parts}_den`, totalDen);
  });
}
