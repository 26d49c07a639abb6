/**
 * @module metrics/extractors
 * The feature extractors this library knows: their options, the features they emit and how libvmaf names them.
 */
import { DESCRIPTIONS } from './descriptions.js';
import type { ExtractorSpec, FeatureSpec } from './spec.js';

export type { ExtractorSpec, FeatureSpec, OptionSpec, OptionValue } from './spec.js';

/** In libvmaf's order of registration: where two extractors emit one feature, the first has it. */
export const EXTRACTORS: readonly ExtractorSpec[] = frozen(DESCRIPTIONS);

/** The value, no part of which can be changed from now on: the table is handed out to callers. */
function frozen<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) frozen(part);
  return Object.freeze(value);
}

/** The extractors, with every option and feature; frozen. */
export function listExtractors(): readonly ExtractorSpec[] {
  return EXTRACTORS;
}

/** The extractor of that name or other name, if there is one. */
export function findExtractor(name: string): ExtractorSpec | undefined {
  return EXTRACTORS.find((extractor) => extractor.name === name || extractor.otherName === name);
}

/**
 * The feature that a report has under a name, which may end in options.
 * @param name also an extractor's own, as in logs of older programs: then its first feature
 */
export function reportedFeature(name: string): FeatureSpec | undefined {
  let found: FeatureSpec | undefined;
  for (const extractor of EXTRACTORS) {
    if (extractor.name === name)
      return extractor.features.find(({ alias }) => alias === name) ?? extractor.features[0];
    for (const feature of extractor.features) {
      const { alias } = feature;
      const named = name === alias || name.startsWith(`${alias}_`);
      if (named && alias.length > (found?.alias.length ?? 0)) found = feature;
    }
  }
  return found;
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
