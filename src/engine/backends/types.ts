/**
 * @module engine/backends/types
 * What a backend computes: raw per-frame measurements from which every feature is finished in plain arithmetic
 * (engine/results/finish). A backend knows nothing of features, models or files.
 */

import type { VideoFormat } from '../../core/frame.js';
import { type HeatmapFile, type MetricVariant, metricSpec } from '../../core/kernel.js';
import { canExceed } from './excess.js';

/** One set of VIF statistics: differs from another only by its gain limit. */
export interface VifVariant {
  /** `vif_enhn_gain_limit`, 1..100. */
  readonly enhnGainLimit: number;
  /** `vif_skip_scale0`: scale 0 is neither needed nor computed (unless another variant needs it). */
  readonly skipScale0: boolean;
}

/** One set of ADM measurements. */
export interface AdmVariant {
  /** `adm_enhn_gain_limit`, 1..100. */
  readonly enhnGainLimit: number;
  /** `adm_noise_weight`, 0..1500. */
  readonly noiseWeight: number;
  /** `adm_norm_view_dist` in picture heights. */
  readonly normViewDist: number;
  /** `adm_ref_display_height` in lines. */
  readonly refDisplayHeight: number;
  /** `adm_csf_mode`, 0..3. */
  readonly csfMode: number;
  /** `adm_csf_scale`, mode 1 only. */
  readonly csfScale: number;
  /** `adm_csf_diag_scale`, mode 1 only. */
  readonly csfDiagScale: number;
  readonly skipAim: boolean;
  readonly skipScale0: boolean;
}

/** One kind of per-frame reference SAD. */
export interface MotionVariant {
  /** Distance in frames to the earlier reference picture: 1, or 2 with the five-frame window. */
  readonly window: 1 | 2;
  /** Blur each frame by itself, as libvmaf up to 3.0 did. */
  readonly legacy: boolean;
}

/** Everything to measure on each frame pair. Arrays hold distinct variants; empty means not needed. */
export interface ExtractionPlan {
  readonly format: VideoFormat;
  readonly vif: readonly VifVariant[];
  readonly adm: readonly AdmVariant[];
  readonly motion: readonly MotionVariant[];
  /** Number of planes whose sum of squared errors is wanted: 0, 1 (luma) or 3. */
  readonly psnrPlanes: 0 | 1 | 3;
  /** The metrics beyond VMAF v0's. */
  readonly metrics: readonly MetricVariant[];
  /** Models that look at the pictures themselves: values they give per pair, and whether they need chroma. */
  readonly pictures?: { readonly fields: number; readonly chroma: boolean };
}

/**
 * Layout of a frame's record, a run of doubles (see {@link recordLayout}):
 * - per VIF variant 8: numerator of scales 0..3, denominator of scales 0..3 (binary32 values, spec 3.6);
 * - per ADM variant 12: numerator, denominator, AIM numerator of scales 0..3 (binary32 values, spec 4.8, 4.9);
 * - per motion variant 1: the integer SAD, NaN while there is no earlier picture;
 * - per PSNR plane 2: high and low 32 bits of the integer sum of squared errors;
 * - per further metric what its function in wasm/include/anyvmaf.h gives, NaN while an earlier picture is missing;
 * - where samples can be above their range, 2: of the reference and of the distorted picture what engine/backends/excess found;
 * - what picture models give, which the extractor leaves NaN: whoever brings the frames fills it in.
 * Fields are NaN on frames for which only what works on every frame was asked.
 */
export interface RecordLayout {
  readonly vif: number;
  readonly adm: number;
  readonly motion: number;
  readonly psnr: number;
  /** Of each of the plan's metrics. */
  readonly metrics: readonly number[];
  /** -1 where no sample can be above its range. */
  readonly excess: number;
  readonly pictures: number;
  /** Doubles per frame. */
  readonly length: number;
}

export const VIF_FIELDS = 8;
export const ADM_FIELDS = 12;
export const PSNR_FIELDS = 2;
const EXCESS_FIELDS = 2;

/** Offsets of each group within a frame's record. */
export function recordLayout(plan: ExtractionPlan): RecordLayout {
  const vif = 0;
  const adm = vif + plan.vif.length * VIF_FIELDS;
  const motion = adm + plan.adm.length * ADM_FIELDS;
  const psnr = motion + plan.motion.length;
  let length = psnr + plan.psnrPlanes * PSNR_FIELDS;
  const metrics = plan.metrics.map(({ metric }) => {
    const at = length;
    length += metricSpec(metric).fields;
    return at;
  });
  const watched = canExceed(plan.format.bitDepth);
  const excess = watched ? length : -1;
  if (watched) length += EXCESS_FIELDS;
  const pictures = length;
  length += plan.pictures?.fields ?? 0;
  return { vif, adm, motion, psnr, metrics, excess, pictures, length };
}

/** What has to be kept of earlier pairs. */
export interface HistoryNeeds {
  /** Earlier pairs. */
  readonly frames: 0 | 1 | 2;
  /** Their chroma planes too. */
  readonly chroma: boolean;
  /** Their distorted pictures too, not only the reference. */
  readonly distorted: boolean;
}

/** What the plan's metrics look back to. */
export function historyNeeds(plan: ExtractionPlan): HistoryNeeds {
  const looking = plan.metrics.filter(({ metric }) => metricSpec(metric).history !== 'none');
  const windows = plan.motion.map(({ window }) => window);
  return {
    frames: windows.includes(2) ? 2 : windows.length + looking.length > 0 ? 1 : 0,
    chroma: looking.some(({ chroma }) => chroma),
    distorted: looking.some(({ metric }) => metricSpec(metric).history === 'pair'),
  };
}

/** Planes of a picture that the plan's metrics read: luma alone, or all three. */
export function planesRead(plan: ExtractionPlan): 1 | 3 {
  const chroma = plan.psnrPlanes === 3 || plan.pictures?.chroma === true;
  return chroma || plan.metrics.some((metric) => metric.chroma) ? 3 : 1;
}

/** Which pictures of a pair are read. */
export interface PicturesRead {
  readonly reference: boolean;
  readonly distorted: boolean;
}

/**
 * Pictures that the plan's metrics read of a pair: motion alone looks at the reference only, and where subsampling leaves
 * a pair out, often nothing is looked at.
 * @param spatial as in `Measurer.measure`
 */
export function picturesRead(plan: ExtractionPlan, spatial: boolean): PicturesRead {
  const metrics = plan.metrics
    .map(({ metric }) => metricSpec(metric))
    .filter(({ everyFrame }) => everyFrame || spatial);
  const both =
    plan.psnrPlanes > 0 ||
    (spatial && (plan.vif.length > 0 || plan.adm.length > 0 || plan.pictures !== undefined)) ||
    metrics.some(({ pictures }) => pictures === 'pair');
  return { reference: both || plan.motion.length > 0 || metrics.length > 0, distorted: both };
}

/** The files of heatmaps that the plan's metrics fill, in the order of `Measurer.heatmaps`. */
export function heatmapFiles(plan: ExtractionPlan): readonly HeatmapFile[] {
  return plan.metrics.flatMap(({ heatmaps }) => heatmaps ?? []);
}
