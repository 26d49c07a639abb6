/**
 * @module metrics/extractors
 * The feature extractors this library knows: their options, the features they emit and how libvmaf names them.
 *
 * Adding an extractor means describing it in `core/extractors/`, adding it to the list here, and giving it its last
 * step in `score/finishers/`.
 */
import { CAMBI, CIEDE, PSNR_HVS, SPEED_CHROMA, SPEED_TEMPORAL } from './extractors/colour.js';
import { FLOAT_ADM, FLOAT_MOTION, FLOAT_VIF } from './extractors/float-vmaf.js';
import { ADM, MOTION, PSNR, VIF } from './extractors/integer.js';
import type { ExtractorSpec, FeatureSpec } from './extractors/spec.js';
import { FLOAT_ANSNR, FLOAT_MOMENT, FLOAT_MS_SSIM, FLOAT_PSNR, FLOAT_SSIM } from './extractors/structure.js';

export type { ExtractorSpec, FeatureSpec, OptionSpec, OptionValue } from './extractors/spec.js';

/** In libvmaf's order of registration: where two extractors emit one feature, the first has it. */
export const EXTRACTORS: readonly ExtractorSpec[] = frozen([
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
]);

/** The value, no part of which can be changed from now on: the table is handed out to callers. */
function frozen<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) frozen(part);
  return Object.freeze(value);
}

/** The extractors, with every option and feature; frozen. */
export function listExtractors(): readonly ExtractorSpec[] {
  return EXTRACTORS;
}

/** Names that people use for extractors which libvmaf has under one name only. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['ssim', 'float_ssim'],
  ['ms_ssim', 'float_ms_ssim'],
]);

/** The extractor of that name, if there is one; `ssim` and `ms_ssim` are those of `float_ssim` and `float_ms_ssim`. */
export function findExtractor(name: string): ExtractorSpec | undefined {
  const wanted = OTHER_NAMES.get(name) ?? name;
  return EXTRACTORS.find((extractor) => extractor.name === wanted);
}

/** The extractor that emits a feature, given by its internal name as model files do. */
export function findProvider(
  featureName: string,
): { extractor: ExtractorSpec; feature: FeatureSpec } | undefined {
  for (const extractor of EXTRACTORS) {
    const found = extractor.features.find(({ name }) => name === featureName);
    if (found) return { extractor, feature: found };
  }
  return undefined;
}
