/**
 * @module core/presets
 * Models and features of the common test conditions of AOM and Netflix.
 */
import { AOM_CTC_VERSIONS, NFLX_CTC_VERSIONS } from './choices.js';
import { type AnyvmafError, usageError } from './errors.js';
import { quoted } from './printable.js';

export interface Preset {
  /** Their scores are `vmaf` and `vmaf_neg`. */
  readonly models: readonly string[];
  readonly features: readonly string[];
  /** Extractors that replace earlier entries of the same name on the command line. */
  readonly replaces?: readonly string[];
  /** True to compare videos of different bit depths at the larger one. */
  readonly commonBitDepth: boolean;
}

const DECIBELS = 'enable_db=true:clip_db=true';

/** v1.0 equals v2.0; v3.0 to v5.0 are alike. @throws {AnyvmafError} `usage` if the version is unknown */
export function aomCtc(version: string): Preset {
  if (version === 'proposed')
    throw usageError('The AOM CTC `proposed` is deprecated; it became v1.0, and v7.0 is the latest.');
  const known: readonly string[] = AOM_CTC_VERSIONS;
  const number = known.indexOf(version) + 1;
  if (number === 0) throw unknown('aom_ctc', version, AOM_CTC_VERSIONS);
  return {
    models: ['version=vmaf_v0.6.1:name=vmaf', 'version=vmaf_v0.6.1neg:name=vmaf_neg'],
    features: [
      'psnr=reduced_hbd_peak=true:enable_apsnr=true:min_sse=0.5',
      'ciede',
      `float_ssim=${number >= 7 ? 'scale=1:' : ''}${DECIBELS}`,
      `float_ms_ssim=${DECIBELS}`,
      'psnr_hvs',
      ...(number >= 3 ? ['cambi'] : []),
    ],
    ...(number >= 7 && { replaces: ['float_ssim'] }),
    commonBitDepth: number >= 6,
  };
}

/** @throws {AnyvmafError} `usage` if the version is unknown */
export function nflxCtc(version: string): Preset {
  if (!NFLX_CTC_VERSIONS.some((known) => known === version))
    throw unknown('nflx_ctc', version, NFLX_CTC_VERSIONS);
  return {
    models: ['version=vmaf_4k_v0.6.1:name=vmaf', 'version=vmaf_4k_v0.6.1neg:name=vmaf_neg'],
    features: ['psnr=enable_chroma=true:enable_apsnr=true', `float_ssim=${DECIBELS}`, 'cambi'],
    commonBitDepth: false,
  };
}

function unknown(preset: string, version: string, known: readonly string[]): AnyvmafError {
  const valid = known.length === 1 ? `there is ${known[0]}` : `there are ${known.join(', ')}`;
  return usageError(`bad ${preset} version ${quoted(version)}; ${valid}.`);
}
