/**
 * @module tiny/features
 * Finds the extractor of each column of a feature model.
 */

import { AnyvmafError } from '../core/errors.js';
import { nearest } from '../core/nearest.js';
import { quoted } from '../core/printable.js';
import { EXTRACTORS, type ExtractorSpec, type FeatureSpec } from '../metrics/extractors.js';
import { logName } from '../metrics/names.js';
import { createExtractor, type ExtractorInstance, refuseFolders } from '../metrics/options.js';
import type { TinySidecar } from './types.js';

/** Default columns of an input of width six. */
export const CANONICAL_FEATURES: readonly string[] = [
  'adm2',
  'vif_scale0',
  'vif_scale1',
  'vif_scale2',
  'vif_scale3',
  'motion2',
];

export interface TinyColumn {
  readonly feature: string;
  readonly instance: ExtractorInstance;
  /** Name of its values in a run. */
  readonly logName: string;
}

/**
 * @param width `null` if the graph does not state it
 * @throws {AnyvmafError} `model` for a missing list, another length, an unknown feature; `feature` for an unknown option
 */
export function bindColumns(
  { features, featureOptions }: Pick<TinySidecar, 'features' | 'featureOptions'>,
  width: number | null,
  source: string,
): readonly TinyColumn[] {
  const model = `The tiny model ${quoted(source)}`;
  const names = features ?? (width === CANONICAL_FEATURES.length ? CANONICAL_FEATURES : undefined);
  if (!names) {
    throw new AnyvmafError(
      'model',
      `${model} takes ${width ?? 'any number of'} features, but no sidecar names them; list them as feature_order in ` +
        'a JSON file beside it.',
    );
  }
  if (width !== null && names.length !== width) {
    throw new AnyvmafError(
      'model',
      `${model} takes ${width} features, but its sidecar lists ${names.length} (${names.join(', ')}).`,
    );
  }
  return names.map((feature, i) => {
    const { extractor, spec } = provider(feature, source);
    const options = featureOptions?.[i] ?? {};
    refuseFolders(options, `tiny model ${quoted(source)}`);
    const instance = createExtractor(extractor, options, `tiny model ${quoted(source)}`);
    return { feature, instance, logName: logName(spec, instance.suffix) };
  });
}

/** Finds a feature by its report name, its internal name, or either without `integer_`. */
function provider(name: string, source: string): { extractor: ExtractorSpec; spec: FeatureSpec } {
  for (const wanted of [`integer_${name}`, name]) {
    for (const extractor of EXTRACTORS) {
      const spec = extractor.features.find(
        (feature) => (feature.alias === wanted || feature.name === wanted) && feature.emitted !== 'sequence',
      );
      if (spec) return { extractor, spec };
    }
  }
  const known = EXTRACTORS.flatMap(({ features }) => features.map(({ alias }) => alias));
  const close = nearest(name, [...known, ...known.map((alias) => alias.replace(/^integer_/, ''))]);
  throw new AnyvmafError(
    'model',
    `The tiny model ${quoted(source)} reads the feature ${quoted(name)}, which no extractor provides` +
      `${close === undefined ? '' : ` (did you mean ${close}?)`}; docs/metrics.md lists the features.`,
  );
}
