/**
 * @module models/bind
 * Binds a model's features to extractors, with options of the model and of the request.
 */

import { AnyvmafError } from '../core/errors.js';
import { quoted, shown } from '../core/printable.js';
import { EXTRACTORS, findProvider } from '../metrics/extractors.js';
import { logName } from '../metrics/names.js';
import { createExtractor, refuseFolders } from '../metrics/options.js';
import type { ModelDefinition, ModelInput, ModelRequest } from './types.js';

/**
 * @param overloads options that override the model's own, for all features of an extractor
 * @throws {AnyvmafError} `model` for an unknown feature or an overload of an extractor that the model does not
 * use; `feature` for an unknown option or an invalid value
 */
export function bindInputs(
  definition: ModelDefinition,
  overloads: ModelRequest['overloads'],
  source: string,
): readonly ModelInput[] {
  const providers = definition.inputs.map((input) => ({
    ...input,
    provider: requireProvider(input.feature, source),
  }));
  const used = [...new Set(providers.map(({ provider }) => provider.extractor.name))];
  for (const { extractor, option } of overloads) {
    if (used.includes(extractor)) continue;
    throw new AnyvmafError(
      'model',
      `Model ${quoted(source)} does not use the extractor ${quoted(extractor)}, so ${shown(`${extractor}.${option}`)} cannot be set; ` +
        `it uses ${used.join(', ')}.`,
    );
  }
  return providers.map(({ options, provider: { extractor, feature } }) => {
    refuseFolders(options, `model ${quoted(source)}`);
    const merged = new Map(Object.entries(options));
    for (const overload of overloads) {
      if (overload.extractor === extractor.name) merged.set(overload.option, overload.value);
    }
    const instance = createExtractor(extractor, Object.fromEntries(merged), `model ${quoted(source)}`);
    return { instance, feature, logName: logName(feature, instance.suffix) };
  });
}

function requireProvider(feature: string, source: string): NonNullable<ReturnType<typeof findProvider>> {
  const provider = findProvider(feature);
  if (provider && provider.feature.emitted !== 'sequence') return provider;
  const known = EXTRACTORS.map(({ name }) => name).join(', ');
  throw new AnyvmafError(
    'model',
    `Model ${quoted(source)} needs the feature ${quoted(feature)}, which no extractor provides (extractors: ${known}); ` +
      'choose another model.',
  );
}
