/**
 * @module metrics/extractors
 * Looks up feature extractors, their options and the features they emit.
 */
import { DESCRIPTIONS } from './descriptions.js';
import type { ExtractorSpec, FeatureSpec } from './spec.js';

export type { ExtractorSpec, FeatureSpec, OptionSpec, OptionValue } from './spec.js';

/** In libvmaf's order of registration: the first of two extractors that emit the same feature provides it. */
export const EXTRACTORS: readonly ExtractorSpec[] = frozen(DESCRIPTIONS);

/** Freezes a value deeply, since callers get it. */
function frozen<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) frozen(part);
  return Object.freeze(value);
}

/** The extractors, with every option and feature; frozen. */
export function listExtractors(): readonly ExtractorSpec[] {
  return EXTRACTORS;
}

export function findExtractor(name: string): ExtractorSpec | undefined {
  return EXTRACTORS.find((extractor) => extractor.name === name || extractor.otherName === name);
}

/**
 * Finds a feature by its name in reports, which may end in options.
 * @param name may be an extractor's, as in old logs: then its feature of that name, or its first one
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

/** Finds the extractor of a feature by its internal name, as in model files. */
export function findProvider(
  featureName: string,
): { extractor: ExtractorSpec; feature: FeatureSpec } | undefined {
  for (const extractor of EXTRACTORS) {
    const found = extractor.features.find(({ name }) => name === featureName);
    if (found) return { extractor, feature: found };
  }
  return undefined;
}
