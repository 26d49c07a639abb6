/**
 * @module models/parse
 * Parses and validates model files (spec 5.1), and binds a model's features to extractors, with the options of the model
 * and of the request.
 */
import { defined, isObject } from '../core/arguments.js';
import { messageOf, modelError } from '../core/errors.js';
import { quoted, showJson, shown } from '../core/printable.js';
import {
  among,
  fitting,
  flag,
  list,
  maybe,
  number,
  object,
  optionTexts,
  type Refuse,
  type Shape,
  string,
} from '../core/shapes.js';
import { EXTRACTORS, findProvider } from '../metrics/extractors.js';
import { createExtractor, logName, refuseFolders } from '../metrics/options.js';
import { parseLibsvm } from './libsvm.js';
import type {
  ModelDefinition,
  ModelDescription,
  ModelFile,
  ModelInput,
  ModelRequest,
  Normalisation,
} from './types.js';

/** libvmaf's limits. */
const MAX_FEATURES = 64;
const MAX_KNOTS = 10;

const numbers = (length: number) => list(number, `${length} numbers`, length, length);
const pair = numbers(2) as Shape<readonly [number, number]>;
/** Model files store these booleans as strings. */
const truth = fitting<'true' | 'false'>(
  '"true" or "false"',
  (value) => value === 'true' || value === 'false',
);

const modelFile = object({
  model_dict: object({
    model_type: among(['LIBSVMNUSVR', 'BOOTSTRAP_LIBSVMNUSVR', 'RESIDUEBOOTSTRAP_LIBSVMNUSVR']),
    norm_type: among(['linear_rescale', 'none']),
    feature_names: list(
      fitting<string>('a string', (value) => typeof value === 'string' && value !== ''),
      `1 to ${MAX_FEATURES} names`,
      1,
      MAX_FEATURES,
    ),
    feature_opts_dicts: maybe(list(optionTexts, 'an array')),
    score_clip: maybe(pair),
    score_transform: maybe(
      object({
        enabled: maybe(flag),
        p0: maybe(number),
        p1: maybe(number),
        p2: maybe(number),
        knots: maybe(list(pair, `an array of at most ${MAX_KNOTS} points`, 0, MAX_KNOTS)),
        out_lte_in: maybe(truth),
        out_gte_in: maybe(truth),
      }),
    ),
    chroma_correction_parameter: maybe(number),
    model: string,
  }),
});

/**
 * Parses a model file: one model, or a collection under the keys "0", "1", ...
 * @throws {AnyvmafError} `model`, naming the invalid member
 */
export function parseModelFile(text: string, name: string): ModelFile {
  const where = `Model ${quoted(name)}`;
  const root = parseJson(text, where);
  if (!isObject(root)) throw refusing(where)('', root, 'an object');
  if (root.model_dict !== undefined) return { kind: 'single', members: [parseModel(root, where)] };
  if (root['0'] === undefined)
    throw modelError(`${where} has neither a member "model_dict" nor "0"; it is not a VMAF model file.`);
  const keys = Object.keys(root);
  if (keys.length < 2 || keys.some((key, i) => key !== String(i)))
    throw modelError(`${where} is a collection, so its keys must be "0", "1", ..., at least two.`);
  const members = keys.map((key) => parseModel(root[key], `${where}, member "${key}",`));
  return { kind: 'collection', members };
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = messageOf(cause);
    // Engines quote the text, which may contain line breaks and binary data.
    const line = reason.replaceAll(/\s+/g, ' ');
    const text = !/[\p{C}\uFFFD]/u.test(line);
    throw modelError(`${where} is not JSON: ${text ? line : 'it contains binary data'}.`, { cause });
  }
}

function parseModel(value: unknown, where: string): ModelDefinition {
  const refuse = refusing(where);
  const { model_dict: model } = modelFile('', value, refuse);
  const { feature_names: names, feature_opts_dicts: options = [], score_clip: clip } = model;
  if (model.feature_opts_dicts && options.length !== names.length)
    throw modelError(
      `${where} "feature_opts_dicts" has ${options.length} entries for ${names.length} features.`,
    );
  if (clip && clip[0] > clip[1]) throw refuse('model_dict.score_clip', clip, '[smallest, largest]');
  const normalisation = model.norm_type === 'none' ? undefined : normalisationOf(value, names.length, refuse);
  const { out_lte_in: lte, out_gte_in: gte, enabled = false, ...curve } = model.score_transform ?? {};
  const { chroma_correction_parameter: chromaCorrection } = model;
  for (const part of chromaCorrection === undefined ? [] : ['adm3', 'speed_chroma']) {
    if (names.filter((name) => name.includes(part)).length !== 1)
      throw modelError(`${where} has a chroma correction, which needs exactly one ${part} feature.`);
  }
  return defined({
    type: model.model_type,
    inputs: names.map((feature, i) => ({ feature, options: options[i] ?? {} })),
    normalisation,
    clip,
    transform: model.score_transform && {
      enabled,
      ...curve,
      outLteIn: lte === 'true',
      outGteIn: gte === 'true',
    },
    chromaCorrection,
    svm: parseLibsvm(model.model, names.length, where),
  });
}

function normalisationOf(value: unknown, features: number, refuse: Refuse): Normalisation {
  const row = numbers(features + 1);
  const lines = object({ model_dict: object({ slopes: row, intercepts: row }) });
  const { slopes, intercepts } = lines('', value, refuse).model_dict;
  const [score, ...inputs] = slopes.map((slope, i) => ({ slope, intercept: intercepts[i]! }));
  if (!score || score.slope === 0) throw refuse('model_dict.slopes', 0, 'other than 0 for the score');
  return { score, inputs };
}

function refusing(where: string): Refuse {
  return (path, value, expected) => {
    const found = value === undefined ? 'missing' : showJson(value);
    return modelError(`${where}${path && ` ${quoted(path)}`} is ${found} but must be ${expected}.`);
  };
}

/**
 * @param overloads options that override the model's, for all features of an extractor
 * @throws {AnyvmafError} `model` for an unknown feature or an overload of an extractor that the model does not use;
 * `feature` for an unknown option or an invalid value
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
    throw modelError(
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

/** The description of a regression for callers. */
export function describeDefinition(
  { type, inputs, clip, transform }: ModelDefinition,
  bound: readonly ModelInput[],
): Pick<ModelDescription, 'type' | 'inputs' | 'clip' | 'transform'> {
  const described = inputs.map(({ feature, options }, i) => {
    const { logName = feature, instance } = bound[i] ?? {};
    return { feature, logName, extractor: instance?.spec.name ?? '', options };
  });
  return { type, inputs: described, clip: clip ?? null, transform: transform ?? null };
}

function requireProvider(feature: string, source: string): NonNullable<ReturnType<typeof findProvider>> {
  const provider = findProvider(feature);
  if (provider && provider.feature.emitted !== 'sequence') return provider;
  const known = EXTRACTORS.map(({ name }) => name).join(', ');
  throw modelError(
    `Model ${quoted(source)} needs the feature ${quoted(feature)}, which no extractor provides (extractors: ${known}); ` +
      'choose another model.',
  );
}
