/**
 * @module metrics/adm-csf
 * Contrast sensitivity factors of ADM for a viewing condition (spec 4.6).
 */
import { featureError } from '../core/errors.js';
import { log10 } from '../core/log10.js';
import { type ExtractorInstance, numberOption } from './metric.js';

/** Options of adm and float_adm that determine the factors. */
export interface AdmCsfSettings {
  /** `adm_norm_view_dist` in picture heights. */
  readonly normViewDist: number;
  /** `adm_ref_display_height` in lines. */
  readonly refDisplayHeight: number;
  /** `adm_csf_mode`: 0 Watson, 1 Barten, 2 blend, 3 blend fitted to mean absolute error. */
  readonly csfMode: number;
  /** `adm_csf_scale`, mode 1 only. */
  readonly csfScale: number;
  /** `adm_csf_diag_scale`, mode 1 only. */
  readonly csfDiagScale: number;
}

export function csfSettings(instance: ExtractorInstance): AdmCsfSettings {
  return {
    normViewDist: numberOption(instance, 'adm_norm_view_dist'),
    refDisplayHeight: numberOption(instance, 'adm_ref_display_height'),
    csfMode: numberOption(instance, 'adm_csf_mode'),
    csfScale: numberOption(instance, 'adm_csf_scale'),
    csfDiagScale: numberOption(instance, 'adm_csf_diag_scale'),
  };
}

/** For scales 0..3: the factor of the horizontal and vertical bands, then of the diagonal band. */
type FactorsByScale = readonly (readonly [number, number])[];

export interface AdmCsf {
  /** binary32, for the denominator. */
  readonly rf: FactorsByScale;
  /** Fixed point, for the numerators: 16 bits at scale 0, 32 bits at scales 1..3. */
  readonly fi: FactorsByScale;
}

const f32 = Math.fround;
/** Below this product of view distance and display height, the display is too coarse for the finest scale. */
const MIN_LINES = 3.0 * 1080;

/**
 * In mode 1, factors (1.2 to 27) do not fit the fixed point: `fi` wraps and scores are meaningless, as in libvmaf.
 * @throws {AnyvmafError} `feature` if libvmaf has no factors for these settings
 */
export function admCsf(settings: AdmCsfSettings): AdmCsf {
  const { normViewDist, refDisplayHeight, csfMode } = settings;
  const lines = normViewDist * refDisplayHeight;
  if (lines < MIN_LINES)
    throw featureError(
      `The adm extractor's adm_norm_view_dist ${normViewDist} times adm_ref_display_height ${refDisplayHeight} is ` +
        `${Number(lines.toPrecision(12))} but must be at least 3240 (3.0 times 1080); raise one of them.`,
    );
  const rf = floatFactors(settings);
  const usual = csfMode === 0 && Math.abs(lines - MIN_LINES) < 1e-8;
  return {
    rf,
    fi: rf.map((pair, scale) => (scale === 0 && usual ? USUAL_SCALE0 : fixedFactors(pair, scale))),
  };
}

/** For any viewing condition (metrics spec D.15). Modes 0 and 1 are as in {@link admCsf}, 2 differs, others are 0. */
export function floatAdmFactors(settings: AdmCsfSettings): FactorsByScale {
  const { csfMode } = settings;
  if (csfMode === 2) return SCALES.map((scale) => nativeFactors(scale, pixelsPerDegree(settings)));
  return floatFactors({ ...settings, csfMode: csfMode === 1 ? 1 : 0 });
}

/** Mode 2, in which the diagonal band has a higher frequency. */
function nativeFactors(scale: 0 | 1 | 2 | 3, resolution: number): readonly [number, number] {
  const frequency = resolution / 2 ** (scale + 1);
  const sensitivity = (rho: number) => f32((0.31 + 0.69 * rho) * Math.exp(-0.29 * rho));
  return [sensitivity(frequency), sensitivity(f32(frequency / 0.7))];
}

function pixelsPerDegree({ normViewDist, refDisplayHeight }: AdmCsfSettings): number {
  return f32((normViewDist * refDisplayHeight * Math.PI) / 180);
}

/** libvmaf's hand-rounded factors at 3.0 x 1080; conversion would give 36451 and 49414. */
const USUAL_SCALE0: readonly [number, number] = [36453, 49417];

function fixedFactors([hv, d]: readonly [number, number], scale: number): readonly [number, number] {
  if (scale === 0) return [Math.trunc(hv * 2 ** 21) % 2 ** 16, Math.trunc(d * 2 ** 23) % 2 ** 16];
  return [Math.trunc(hv * 2 ** 32) % 2 ** 32, Math.trunc(d * 2 ** 32) % 2 ** 32];
}

function floatFactors(settings: AdmCsfSettings): FactorsByScale {
  const { csfMode, csfScale, csfDiagScale } = settings;
  const resolution = pixelsPerDegree(settings);
  switch (csfMode) {
    case 0:
      return SCALES.map((scale) => [watson(scale, 0, resolution), watson(scale, 1, resolution)]);
    case 1:
      return SCALES.map((scale) => {
        const sensitivity = barten(scale, resolution);
        return [f32(sensitivity * csfScale), f32(sensitivity * csfDiagScale)];
      });
    default:
      return blendFactors(settings);
  }
}

const SCALES = [0, 1, 2, 3] as const;

/** Amplitudes of Watson's wavelet thresholds by scale: horizontal and vertical bands, then diagonal. */
const WATSON_AMPLITUDE = [
  [0.67234, 0.72709],
  [0.41317, 0.49428],
  [0.22727, 0.28688],
  [0.11792, 0.15214],
] as const;
const WATSON_ORIENTATION = [1, f32(0.534)] as const;

/** Rounding to single precision hides last-bit differences of `**` in doubles (chance of 2^-28). */
function watson(scale: 0 | 1 | 2 | 3, band: 0 | 1, resolution: number): number {
  const a = f32(0.495);
  const k = f32(0.466);
  const f0 = f32(0.401);
  const t = f32(log10((2 ** (scale + 1) * f0 * WATSON_ORIENTATION[band]) / resolution));
  const exponent = f32(f32(k * t) * t);
  return f32(1 / f32((2 * a * 10 ** exponent) / f32(WATSON_AMPLITUDE[scale][band])));
}

/** Parameters of Barten's function at 20 and at 150 cd/m2, for interpolation at 100. */
const BARTEN_20 = [0.334278, 3.79542, 1.07327, 6.4635] as const;
const BARTEN_150 = [0.394533, 2.7755, 1.16577, 7.45665] as const;
/** Amplitude and decay of each term of the eye's modulation transfer function. */
const EYE_MTF = [
  [0.42483859630129, 0.028],
  [0.57243510393648, 0.37],
  [0.000167576239164937, 37],
  [0.00255872352306433, 360],
] as const;

function barten(scale: 0 | 1 | 2 | 3, resolution: number): number {
  const u = f32(resolution / 2 ** (scale + 1));
  const [p0, p1, p2, p3] = [bartenParameter(0), bartenParameter(1), bartenParameter(2), bartenParameter(3)];
  const a = f32(1 + f32(p0 * u) ** p1);
  const b = f32(1 / (1 - Math.exp(-((u / 7) ** 2))) ** p2);
  const csf = f32(p3 / Math.sqrt(f32(a * b)));
  let mtf = 0;
  for (const [amplitude, decay] of EYE_MTF) mtf = f32(mtf + f32(amplitude) * Math.exp(-f32(decay) * u));
  const sensitivity = f32(f32(30.162) * (f32(f32(4.0627) / 100) ** f32(1.6596) + 1) ** f32(-0.2712));
  return f32(f32(csf * mtf) * sensitivity);
}

function bartenParameter(index: 0 | 1 | 2 | 3): number {
  const left = f32(BARTEN_20[index]);
  const right = f32(BARTEN_150[index]);
  const from = f32(log10(20));
  const to = f32(log10(150));
  const at = f32(log10(100));
  return f32(left + f32(f32(f32(right - left) / f32(to - from)) * f32(at - from)));
}

interface BlendRow {
  readonly height: number;
  readonly distance: number;
  /** By csf mode: factors of scales 0..3 for the horizontal and vertical bands, then for the diagonal. */
  readonly 2: readonly number[];
  readonly 3: readonly number[];
}

const BLEND_1080_3 = {
  2: [0.01183, 0.025026, 0.04295, 0.058621, 0.004302, 0.011778, 0.023918, 0.035901],
  3: [0.011249, 0.022606, 0.03593, 0.045673, 0.004097, 0.010921, 0.02143, 0.031313],
} as const;

/** Tabulated viewing conditions. {@link admCsf} rejects those below 3240 lines. */
const BLEND: readonly BlendRow[] = [
  { height: 1080, distance: 3, ...BLEND_1080_3 },
  { height: 2160, distance: 1.5, ...BLEND_1080_3 },
  {
    height: 1080,
    distance: 5,
    2: [0.004212, 0.014809, 0.029642, 0.047464, 0.000984, 0.005852, 0.0146, 0.027574],
    3: [0.004052, 0.013939, 0.026298, 0.038833, 0.000927, 0.005544, 0.013415, 0.024515],
  },
  {
    height: 2160,
    distance: 3,
    2: [0.00226, 0.01183, 0.025026, 0.04295, 0.000479, 0.004302, 0.011778, 0.023918],
    3: [0.002166, 0.011249, 0.022606, 0.03593, 0.000447, 0.004097, 0.010921, 0.02143],
  },
  {
    height: 2160,
    distance: 5,
    2: [0.000092, 0.004212, 0.014809, 0.029642, 0.00005, 0.000984, 0.005852, 0.0146],
    3: [0.000077, 0.004052, 0.013939, 0.026298, 0.000045, 0.000927, 0.005544, 0.013415],
  },
  {
    height: 720,
    distance: 5,
    2: [0.010144, 0.022561, 0.040309, 0.05672, 0.003463, 0.010282, 0.021839, 0.034641],
    3: [0.009689, 0.020577, 0.034162, 0.044523, 0.003302, 0.009579, 0.019661, 0.030318],
  },
];

function blendFactors({ csfMode, refDisplayHeight, normViewDist }: AdmCsfSettings): FactorsByScale {
  const row = BLEND.find(({ height, distance }) => height === refDisplayHeight && distance === normViewDist);
  const factors = csfMode === 2 || csfMode === 3 ? row?.[csfMode] : undefined;
  if (!factors) {
    const known = BLEND.map(({ height, distance }) => `${distance} x ${height}`).join(', ');
    throw featureError(
      `adm_csf_mode ${csfMode} has no factors for adm_norm_view_dist ${normViewDist} x adm_ref_display_height ` +
        `${refDisplayHeight}; supported: ${known}. adm_csf_mode 0 works with any.`,
    );
  }
  return SCALES.map((scale) => [f32(factors[scale] ?? Number.NaN), f32(factors[4 + scale] ?? Number.NaN)]);
}
