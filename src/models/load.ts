/**
 * @module models/load
 * Loads the models of a run from model strings, with overloads and flags applied.
 */

import { MAX_STRING, requireLength } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import type { ExtractorInstance } from '../metrics/options.js';
import { bindInputs } from './bind.js';
import { parseModelString } from './grammar.js';
import { parseModelFile } from './parse.js';
import { readBuiltInModel, requireBuiltIn } from './registry.js';
import type { LoadedModel, ModelRequest, ModelStore } from './types.js';

export const DEFAULT_MODEL = 'version=vmaf_v0.6.1';

/**
 * @throws {AnyvmafError} `usage` for a malformed string or a repeated name; `model` for an invalid name, file
 * or overload; `feature` for an invalid option value; `io` for an unreadable file
 */
export async function loadModels(
  texts: readonly string[],
  store: ModelStore,
): Promise<readonly LoadedModel[]> {
  for (const text of texts) requireLength('A model string', text, MAX_STRING);
  const requests = texts.map(parseModelString);
  const names = new Set<string>();
  for (const { name, text } of requests) {
    if (names.has(name)) {
      throw usageError(
        `Model string ${quoted(text)} names its score ${quoted(name)}, as another model does; ` +
          'add name=NAME so that each has its own name.',
      );
    }
    names.add(name);
  }
  return Promise.all(requests.map((request) => loadModel(request, store)));
}

async function loadModel(request: ModelRequest, store: ModelStore): Promise<LoadedModel> {
  const { name, disableClip, enableTransform, overloads } = request;
  const source = request.source.kind === 'version' ? request.source.version : request.source.path;
  const text =
    request.source.kind === 'version'
      ? await readBuiltInModel(await requireBuiltIn(source, store), store)
      : await store.readFile(source);
  const { kind, members: definitions } = parseModelFile(text, source);
  const members = definitions.map((definition) => ({
    definition,
    inputs: bindInputs(definition, overloads, source),
  }));
  const extractors = new Map<string, ExtractorInstance>();
  for (const { instance } of members.flatMap(({ inputs }) => inputs)) {
    if (!extractors.has(instance.key)) extractors.set(instance.key, instance);
  }
  return {
    name,
    source,
    kind,
    disableClip,
    enableTransform,
    members,
    extractors: [...extractors.values()],
    ...(kind === 'collection' && { collectionKeys: collectionKeys(name, members.length) }),
  };
}

/** Names of a collection's additional scores (spec 5.6). */
function collectionKeys(name: string, members: number): NonNullable<LoadedModel['collectionKeys']> {
  return {
    members: Array.from({ length: members - 1 }, (_, i) => `${name}_${String(i + 1).padStart(4, '0')}`),
    bagging: `${name}_bagging`,
    stddev: `${name}_stddev`,
    ciLow: `${name}_ci_p95_lo`,
    ciHigh: `${name}_ci_p95_hi`,
  };
}
