/**
 * @module metrics/adm
 * adm2, aim, adm3 and ADM per scale from numerators, denominators and AIM numerators (spec 4.10).
 */
import type { VideoFormat } from '../core/frame.js';
import { type AdmCsf, admCsf, csfSettings } from './adm-csf.js';
import { admLimit, atLeast, atMost } from './checks.js';
import {
  type ExtractorInstance,
  eachFrame,
  type Fields,
  type Finisher,
  flagOption,
  inGroups,
  LUMA_PAIR,
  type Metric,
  numberOption,
  type Variant,
} from './metric.js';
import { extractor, feature, flag, integer, integerFeature, integerParts, real, SCALES } from './spec.js';

/** Most parameter sets per call. */
const MOST = 64;
/** Per parameter set: numerators of the scales, denominators, AIM numerators. */
const FIELDS = 12;
/** Bytes of the core's `AnyvmafAdmVariant`, and offsets of its members. */
const STRUCT = { bytes: 88, rf: 16, fi: 48, parts: 80 };
/** libvmaf's denominator of a skipped scale 0. */
const SKIPPED_DEN = Math.fround(1e-10);
const ADM2 = integerFeature('adm2', { worse: 'low' });
const ADM_SCALES = SCALES.map((s) => feature(`integer_adm_scale${s}`, undefined, { worse: 'low' }));

export function admVariant(
  gainLimit: number,
  noiseWeight: number,
  { rf, fi }: AdmCsf,
  { aim, scale0 }: { readonly aim: boolean; readonly scale0: boolean },
): Variant {
  const options = [gainLimit, noiseWeight, ...rf.flat(), ...fi.flat()];
  return { options, extent: [Number(aim), Number(scale0)] };
}

/** Packs parameter sets as the core's `AnyvmafAdmVariant`. */
export function admStructs(variants: readonly Variant[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(variants.length * STRUCT.bytes));
  variants.forEach(({ options, extent }, i) => {
    const at = i * STRUCT.bytes;
    const write = (
      values: readonly number[],
      from: number,
      bytes: 4 | 8,
      set: 'Float64' | 'Float32' | 'Uint32',
    ) => {
      for (const [k, value] of values.entries()) view[`set${set}`](at + from + k * bytes, value, true);
    };
    write(options.slice(0, 2), 0, 8, 'Float64');
    write(options.slice(2, 10), STRUCT.rf, 4, 'Float32');
    write(options.slice(10), STRUCT.fi, 4, 'Uint32');
    // The core takes flags of parts to skip.
    const skipped = extent.map((part) => 1 - part);
    write(skipped, STRUCT.parts, 4, 'Uint32');
  });
  return new Uint8Array(view.buffer);
}

export const ADM_OPTIONS = [
  flag('debug', false, { description: 'Also emit ADM under its own name, and numerators and denominators.' }),
  real('adm_csf_scale', 1, 0, 50, {
    alias: 'scf',
    description: 'Factor on the horizontal and vertical contrast sensitivity, in adm_csf_mode 1 only.',
  }),
  real('adm_csf_diag_scale', 1, 0, 50, {
    alias: 'scfd',
    description: 'Factor on the diagonal contrast sensitivity, in adm_csf_mode 1 only.',
  }),
  real('adm_dlm_weight', 0.5, 0, 1, {
    alias: 'dlmw',
    description: 'Weight of detail loss in adm3; additive impairment has the rest.',
  }),
  real('adm_enhn_gain_limit', 100, 1, 100, {
    alias: 'egl',
    description:
      'Largest gain credited to enhancement of the distorted picture; 1 credits none (NEG models).',
  }),
  real('adm_norm_view_dist', 3, 0.75, 24, {
    alias: 'nvd',
    description: 'Viewing distance in picture heights.',
  }),
];

export const NOISE_WEIGHT = real('adm_noise_weight', 0.03125, 0, 1500, {
  alias: 'nw',
  description: 'Weight of the noise floor added to each band.',
});
export const LAST_OPTIONS = [
  flag('adm_skip_scale0', false, {
    alias: 'ssz',
    inName: true,
    description: 'Skip scale 0; its value is then 0.',
  }),
  real('adm_min_val', 0, 0, 1, { alias: 'min', description: 'Smallest value of adm3.' }),
];

export const ADM: Metric = {
  spec: extractor({
    name: 'adm',
    source: 'wasm/src/adm.c',
    description:
      'Detail loss (ADM), additive impairment (AIM) and their mix (adm3), from contrast-masked wavelet bands at four scales.',
    options: [
      ...ADM_OPTIONS,
      integer('adm_ref_display_height', 1080, 1, 4320, {
        alias: 'rdh',
        description: 'Height of the display in lines; view distance times height must be at least 3240.',
      }),
      integer('adm_csf_mode', 0, 0, 3, {
        alias: 'csf',
        description:
          'Contrast sensitivity: 0 Watson, 1 Barten, 2 blend, 3 blend fitted to mean absolute error.',
      }),
      NOISE_WEIGHT,
      flag('adm_skip_aim', false, { description: 'Skip additive impairment; its value is then 0.' }),
      ...LAST_OPTIONS,
    ],
    features: [
      ADM2,
      integerFeature('aim', { worse: 'high' }),
      integerFeature('adm3', { worse: 'low' }),
      ...ADM_SCALES,
      ...integerParts('adm'),
    ],
    featuresUpTo30: [ADM2, ...ADM_SCALES, ...integerParts('adm')],
  }),
  measure: (instance) => {
    const csf = admCsf(csfSettings(instance));
    return admVariant(
      numberOption(instance, 'adm_enhn_gain_limit'),
      numberOption(instance, 'adm_noise_weight'),
      csf,
      { aim: !flagOption(instance, 'adm_skip_aim'), scale0: !flagOption(instance, 'adm_skip_scale0') },
    );
  },
  calls: (variants) =>
    inGroups(variants, MOST).map((group) => ({
      run: 'adm',
      args: [...LUMA_PAIR, 'parameters', group.length],
      parameters: admStructs(group),
      fields: FIELDS * group.length,
      cost: 8 * group.length,
    })),
  finish: finishIntegerAdm,
  // Barten's sensitivities above 1 do not fit this extractor's fixed point.
  warning: (instance) =>
    numberOption(instance, 'adm_csf_mode') === 1
      ? 'The adm extractor overflows with adm_csf_mode=1, as in libvmaf, so its values are meaningless; float_adm supports this mode.'
      : undefined,
};

function finishIntegerAdm(instance: ExtractorInstance, format: VideoFormat): Finisher {
  const skipScale0 = flagOption(instance, 'adm_skip_scale0');
  const skipAim = flagOption(instance, 'adm_skip_aim');
  return finishAdm(instance, format, {
    names: {
      scale: (scale) => `integer_adm_scale${scale}`,
      totals: 'VMAF_integer_feature_',
      parts: 'integer_adm',
    },
    scale(scale, fields) {
      if (scale === 0 && skipScale0) return { num: 0, den: SKIPPED_DEN, aim: 0 };
      return { num: fields(scale), den: fields(4 + scale), aim: skipAim ? 0 : fields(8 + scale) };
    },
  });
}

/** Without `aim`, a scale does not count for AIM. */
interface ScaleParts {
  readonly num: number;
  readonly den: number;
  readonly aim?: number;
}

interface AdmKind {
  /** Internal name of a scale, and prefixes of those of totals, and of numerators and denominators. */
  readonly names: { scale(scale: number): string; readonly totals: string; readonly parts: string };
  scale(scale: (typeof SCALES)[number], fields: Fields): ScaleParts;
  /** Default: no limit. */
  readonly mostAim?: number;
  readonly harmonic?: boolean;
}

export function finishAdm(
  instance: ExtractorInstance,
  { width, height }: VideoFormat,
  {
    names: { scale: nameOf, totals, parts },
    scale: partsOf,
    mostAim = Number.POSITIVE_INFINITY,
    harmonic,
  }: AdmKind,
): Finisher {
  const weight = numberOption(instance, 'adm_dlm_weight');
  const minimum = numberOption(instance, 'adm_min_val');
  const limit = admLimit(width, height);
  return eachFrame((frame, fields, emit) => {
    let [totalNum, totalDen, aimNum, aimDen] = [0, 0, 0, 0];
    for (const scale of SCALES) {
      const { num, den, aim } = partsOf(scale, fields);
      totalNum += num;
      totalDen += den;
      if (aim !== undefined) {
        aimNum += aim;
        aimDen += den;
      }
      emit(frame, nameOf(scale), num / den);
      emit(frame, `${parts}_num_scale${scale}`, num);
      emit(frame, `${parts}_den_scale${scale}`, den);
    }
    if (totalNum < limit) totalNum = 0;
    if (totalDen < limit) totalDen = 0;
    const adm2 = totalDen === 0 ? 1 : totalNum / totalDen;
    // Undefined in libvmaf if the denominator is 0.
    const aim = totalDen === 0 ? 0 : atMost(aimNum / aimDen, mostAim);
    const mixed = harmonic ? (2 * adm2 * aim) / (adm2 + aim) : adm2 * weight + (1 - aim) * (1 - weight);
    emit(frame, `${totals}adm2_score`, adm2);
    emit(frame, `${totals}aim_score`, aim);
    emit(frame, `${totals}adm3_score`, atLeast(mixed, minimum));
    emit(frame, parts, adm2);
    emit(frame, `${parts}_num`, totalNum);
    emit(frame, `${parts}_den`, totalDen);
  });
}
