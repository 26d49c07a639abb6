/**
 * @module models/load
 * Loads models from model strings, with overloads and flags applied: those of a run, or one that predicts from feature
 * values without a video.
 */
import { MAX_STRING, requireLength, requireText } from '../core/arguments.js';
import { hexDigest } from '../core/bytes.js';
import { featureError, internalError, usageError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import type { ExtractorInstance } from '../metrics/options.js';
import { parseModelString } from './grammar.js';
import { bindInputs, describeDefinition, parseModelFile } from './parse.js';
import { Predictor } from './predict.js';
import { readBuiltInModel, requireBuiltIn } from './registry.js';
import type { FeatureModel, LoadedModel, ModelInput, ModelRequest, ModelStore } from './types.js';

export const DEFAULT_MODEL = 'version=vmaf_v0.6.1';

/**
 * @throws {AnyvmafError} `usage` for a malformed string or a repeated name; `model` for an invalid name, file or
 * overload; `feature` for an invalid option value; `io` for an unreadable file
 */
export async function loadModels(
  texts: readonly string[],
  store: ModelStore,
): Promise<readonly LoadedModel[]> {
  for (const text of texts) requireLength('A model string', text, MAX_STRING);
  const requests = texts.map(parseModelString);
  const names = new Set<string>();
  for (const { name, text } of requests) {
    if (names.has(name))
      throw usageError(
        `Model string ${quoted(text)} names its score ${quoted(name)}, as another model does; ` +
          'add name=NAME so that each has its own name.',
      );
    names.add(name);
  }
  return Promise.all(requests.map((request) => loadModel(request, store)));
}

/**
 * Digests of the files that model strings name, in hexadecimal; other models change only with their names.
 * @throws {AnyvmafError} `usage` for a malformed string, `io` for an unreadable file
 */
export async function modelFileDigests(texts: readonly string[], store: ModelStore): Promise<string[]> {
  const paths = texts.flatMap((text) => {
    const { source } = parseModelString(text);
    return source.kind === 'path' ? source.path : [];
  });
  return Promise.all(paths.map(async (path) => hexDigest(await store.readFile(path))));
}

async function loadModel(request: ModelRequest, store: ModelStore): Promise<LoadedModel> {
  const { name, disableClip, enableTransform, overloads } = request;
  const source = request.source.kind === 'version' ? request.source.version : request.source.path;
  const advice = ' Give the path of a model file with path=FILE.';
  const text =
    request.source.kind === 'version'
      ? await readBuiltInModel(await requireBuiltIn(source, store, advice), store)
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

/** Loads a model from a string in libvmaf's grammar. Throws as {@link loadModels}. */
export async function openModel(store: ModelStore, text = DEFAULT_MODEL): Promise<FeatureModel> {
  requireText('model', text, 'a model string such as version=vmaf_v0.6.1');
  const [model] = await loadModels([text], store);
  const [main] = model?.members ?? [];
  if (!model || !main) throw internalError(`The model ${quoted(text)} holds no model.`);
  const { name, source, kind } = model;
  const described = describeDefinition(main.definition, main.inputs);
  const features = [...new Set(main.inputs.map(featureString))];
  return { name, source, kind, ...described, features, predict: scorer(model, described.inputs) };
}

/** Predicts with the main model only, without a collection's other members. */
function scorer(model: LoadedModel, inputs: FeatureModel['inputs']): FeatureModel['predict'] {
  const names = inputs.map(({ logName }) => logName);
  const { collectionKeys: _, members, ...main } = model;
  const predictor = new Predictor([{ ...main, members: members.slice(0, 1) }], names);
  const values = new Float64Array(names.length);
  const scores = new Float64Array(predictor.names.length);
  return (features) => {
    names.forEach((name, i) => {
      const value = features[name];
      if (typeof value !== 'number')
        throw featureError(
          `The model ${quoted(model.source)} reads ${names.join(', ')}, but there is no value for ${name}.`,
        );
      values[i] = value;
    });
    predictor.predict(values, scores);
    return scores[0] ?? Number.NaN;
  };
}

/** The feature string of an input: its extractor with all options that are not defaults. */
function featureString({ instance: { spec, options } }: ModelInput): string {
  const set = spec.options.filter(({ name, default: byDefault }) => options[name] !== byDefault);
  const texts = set.map(({ name }) => `${name}=${options[name]}`);
  return texts.length === 0 ? spec.name : `${spec.name}=${texts.join(':')}`;
}
