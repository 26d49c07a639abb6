/**
 * @module metrics/finishers/further
 * The extractors beyond VMAF v0's, by name: what each has measured and how it makes features of it.
 */
import { ansnr } from './ansnr.js';
import { cambi } from './cambi.js';
import { ciede } from './ciede.js';
import { floatAdm } from './float-adm.js';
import { floatMotion } from './float-motion.js';
import { floatPsnr } from './float-psnr.js';
import { floatVif } from './float-vif.js';
import { moment } from './moment.js';
import { psnrHvs } from './psnr-hvs.js';
import { speedChroma, speedTemporal } from './speed.js';
import { msSsim, ssim } from './ssim.js';
import type { FurtherExtractor } from './types.js';

/** One entry for each extractor that shares the core's common calling convention. */
export const FURTHER: Readonly<Record<string, FurtherExtractor>> = {
  float_psnr: floatPsnr,
  float_moment: moment,
  float_ansnr: ansnr,
  float_ssim: ssim,
  float_ms_ssim: msSsim,
  float_motion: floatMotion,
  float_vif: floatVif,
  float_adm: floatAdm,
  psnr_hvs: psnrHvs,
  ciede,
  cambi,
  speed_chroma: speedChroma,
  speed_temporal: speedTemporal,
};
