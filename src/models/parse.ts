/**
 * @module models/parse
 * Parses and validates model files (spec 5.1), and binds a model's features to extractors, with the options of the model
 * and of the request.
 */
import { isObject } from '../core/arguments.js';
import { type AnyvmafError, messageOf, modelError } from '../core/errors.js';
import { quoted, showJson, shown } from '../core/printable.js';
import { EXTRACTORS, findProvider } from '../metrics/extractors.js';
import { createExtractor, logName, type OptionTexts, refuseFolders } from '../metrics/options.js';
import { parseLibsvm } from './libsvm.js';
import type {
  ModelDefinition,
  ModelDescription,
  ModelFile,
  ModelInput,
  ModelRequest,
  ScoreTransform,
} from './types.js';

/** libvmaf's limits. */
const MAX_FEATURES = 64;
const MAX_KNOTS = 10;
const MODEL_TYPES = ['LIBSVMNUSVR', 'BOOTSTRAP_LIBSVMNUSVR', 'RESIDUEBOOTSTRAP_LIBSVMNUSVR'] as const;
const NORM_TYPES = ['linear_rescale', 'none'] as const;

/**
 * Parses a model file: one model, or a collection under the keys "0", "1", ...
 * @throws {AnyvmafError} `model`, naming the invalid member
 */
export function parseModelFile(text: string, name: string): ModelFile {
  const where = `Model ${quoted(name)}`;
  const root = object(parseJson(text, where), where);
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
  const model = object(object(value, where).model_dict, `${where} member "model_dict"`);
  const names = array(model.feature_names, `${where} "feature_names"`).map((name) =>
    string(name, `${where} "feature_names"`),
  );
  if (names.length < 1 || names.length > MAX_FEATURES || names.includes(''))
    throw wrong(`${where} "feature_names"`, names, `1 to ${MAX_FEATURES} names`);
  const options = parseOptions(model.feature_opts_dicts, names.length, `${where} "feature_opts_dicts"`);
  const normalisation = parseNormalisation(model, names.length, where);
  const clip = parseClip(model.score_clip, `${where} "score_clip"`);
  const transform = parseTransform(model.score_transform, `${where} "score_transform"`);
  const { chroma_correction_parameter: parameter } = model;
  const chroma = optional(parameter, number, `${where} "chroma_correction_parameter"`);
  if (chroma !== undefined) {
    for (const part of ['adm3', 'speed_chroma']) {
      if (names.filter((name) => name.includes(part)).length !== 1)
        throw modelError(`${where} has a chroma correction, which needs exactly one ${part} feature.`);
    }
  }
  return {
    type: choice(model.model_type, MODEL_TYPES, `${where} "model_type"`),
    inputs: names.map((feature, i) => ({ feature, options: options[i] ?? {} })),
    ...(normalisation && { normalisation }),
    ...(clip && { clip }),
    ...(transform && { transform }),
    ...(chroma !== undefined && { chromaCorrection: chroma }),
    svm: parseLibsvm(string(model.model, `${where} "model"`), names.length, where),
  };
}

/** Converts options to texts, as on the command line. */
function parseOptions(value: unknown, features: number, where: string): readonly OptionTexts[] {
  const dictionaries = optional(value, array, where) ?? [];
  if (value != null && dictionaries.length !== features)
    throw modelError(`${where} has ${dictionaries.length} entries for ${features} features.`);
  return dictionaries.map((dictionary) =>
    Object.fromEntries(
      Object.entries(object(dictionary, where)).map(([option, setting]) => {
        if (typeof setting === 'boolean' || typeof setting === 'number') return [option, String(setting)];
        return [option, string(setting, `${where} ${quoted(option)}`)];
      }),
    ),
  );
}

function parseNormalisation(model: Readonly<Record<string, unknown>>, features: number, where: string) {
  if (choice(model.norm_type, NORM_TYPES, `${where} "norm_type"`) === 'none') return undefined;
  const slopes = numbers(model.slopes, features + 1, `${where} "slopes"`);
  const intercepts = numbers(model.intercepts, features + 1, `${where} "intercepts"`);
  const [score, ...inputs] = slopes.map((slope, i) => ({ slope, intercept: intercepts[i]! }));
  if (!score || score.slope === 0) throw wrong(`${where} "slopes"`, 0, 'other than 0 for the score');
  return { score, inputs };
}

function parseClip(value: unknown, where: string): readonly [number, number] | undefined {
  if (value == null) return undefined;
  const [low = 0, high = 0] = numbers(value, 2, where);
  if (low > high) throw wrong(where, value, '[smallest, largest]');
  return [low, high];
}

function parseTransform(value: unknown, where: string): ScoreTransform | undefined {
  if (value == null) return undefined;
  const transform = object(value, where);
  const coefficients: { p0?: number; p1?: number; p2?: number } = {};
  for (const key of ['p0', 'p1', 'p2'] as const) {
    const coefficient = optional(transform[key], number, `${where} "${key}"`);
    if (coefficient !== undefined) coefficients[key] = coefficient;
  }
  const knots = optional(transform.knots, array, `${where} "knots"`)?.map((knot): [number, number] => {
    const [x = 0, y = 0] = numbers(knot, 2, `${where} "knots"`);
    return [x, y];
  });
  if (knots && knots.length > MAX_KNOTS)
    throw wrong(`${where} "knots"`, knots.length, `at most ${MAX_KNOTS} points`);
  return {
    enabled: optional(transform.enabled, boolean, `${where} "enabled"`) ?? false,
    ...coefficients,
    ...(knots && { knots }),
    outLteIn: isTrueText(transform.out_lte_in, `${where} "out_lte_in"`),
    outGteIn: isTrueText(transform.out_gte_in, `${where} "out_gte_in"`),
  };
}

/** Model files store these booleans as strings. */
function isTrueText(value: unknown, where: string): boolean {
  return value != null && choice(value, ['true', 'false'] as const, where) === 'true';
}

function optional<T>(value: unknown, parse: (value: unknown, where: string) => T, where: string) {
  return value == null ? undefined : parse(value, where);
}

function object(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw wrong(where, value, 'an object');
  return Object.fromEntries(Object.entries(value));
}

function array(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(where, value, 'an array');
  return value;
}

function numbers(value: unknown, length: number, where: string): readonly number[] {
  const items = array(value, where).map((item) => number(item, where));
  if (items.length !== length) throw wrong(where, items, `${length} numbers`);
  return items;
}

function number(value: unknown, where: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(where, value, 'a number');
  return value;
}

function string(value: unknown, where: string): string {
  if (typeof value !== 'string') throw wrong(where, value, 'a string');
  return value;
}

function boolean(value: unknown, where: string): boolean {
  if (typeof value !== 'boolean') throw wrong(where, value, 'true or false');
  return value;
}

function choice<Choice extends string>(value: unknown, choices: readonly Choice[], where: string): Choice {
  const found = choices.find((candidate) => candidate === value);
  if (found === undefined) throw wrong(where, value, choices.map((text) => `"${text}"`).join(' or '));
  return found;
}

function wrong(where: string, value: unknown, expected: string): AnyvmafError {
  const found = value === undefined ? 'missing' : showJson(value);
  return modelError(`${where} is ${found} but must be ${expected}.`);
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
