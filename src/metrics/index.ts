/**
 * @module metrics/index
 * The list of metrics. To add one, write its file and list it here.
 */
import { internalError } from '../core/errors.js';
import { ADM } from './adm.js';
import { BUTTERAUGLI } from './butteraugli.js';
import { CAMBI } from './cambi.js';
import { CIEDE } from './ciede.js';
import { CVVDP } from './cvvdp.js';
import { FLOAT_ADM } from './float-adm.js';
import { FLOAT_MOTION } from './float-motion.js';
import { FLOAT_ANSNR, FLOAT_MOMENT, FLOAT_PSNR } from './float-psnr.js';
import { FLOAT_MS_SSIM, FLOAT_SSIM } from './float-ssim.js';
import { FLOAT_VIF } from './float-vif.js';
import type { Metric } from './metric.js';
import { MOTION } from './motion.js';
import { PSNR } from './psnr.js';
import { PSNR_HVS } from './psnr-hvs.js';
import type { ExtractorSpec } from './spec.js';
import { SPEED_CHROMA, SPEED_TEMPORAL } from './speed.js';
import { SSIMULACRA2 } from './ssimulacra2.js';
import { VIF } from './vif.js';
import { XPSNR } from './xpsnr.js';

/** In libvmaf's order of registration, then ours: the first of two extractors that emit the same feature provides it. */
export const METRICS: readonly Metric[] = [
  FLOAT_PSNR,
  FLOAT_ANSNR,
  FLOAT_ADM,
  FLOAT_VIF,
  FLOAT_MOTION,
  FLOAT_MOMENT,
  SPEED_CHROMA,
  SPEED_TEMPORAL,
  FLOAT_MS_SSIM,
  FLOAT_SSIM,
  CIEDE,
  PSNR,
  PSNR_HVS,
  ADM,
  MOTION,
  VIF,
  CAMBI,
  XPSNR,
  SSIMULACRA2,
  BUTTERAUGLI,
  CVVDP,
];

export function metricOf({ spec }: { readonly spec: ExtractorSpec }): Metric {
  const metric = METRICS.find((candidate) => candidate.spec.name === spec.name);
  if (!metric) throw internalError(`The ${spec.name} extractor is not listed.`);
  return metric;
}
