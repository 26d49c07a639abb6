/**
 * @module tiny/documents
 * Reads the JSON that describes tiny models: registries (model/tiny/registry.schema.json), and sidecars
 * (model/tiny/sidecar.schema.json), which describe a graph's tensors.
 */
import { defined, isObject } from '../core/arguments.js';
import { type AnyvmafError, messageOf, modelError } from '../core/errors.js';
import { quoted, showJson, shown } from '../core/printable.js';
import {
  among,
  fitting,
  flag,
  list,
  maybe,
  number,
  object,
  optional,
  optionTexts,
  positive,
  type Refuse,
  type Shape,
  text,
  whole,
} from '../core/shapes.js';
import type {
  CodecBlockSpec,
  TinyFolder,
  TinyKind,
  TinyQuantisation,
  TinyRegistryEntry,
  TinyScaler,
  TinySidecar,
} from './types.js';

const REGISTRY_FILE = 'registry.json';
const MAX_REGISTRY_BYTES = 4 * 1024 * 1024;
const TINY_KINDS: readonly TinyKind[] = ['fr', 'nr', 'filter'];
const QUANTISATIONS: readonly TinyQuantisation[] = ['fp32', 'static', 'dynamic', 'qat'];

/** Empty without a registry. @throws {AnyvmafError} `model` if any part of it is damaged */
export async function readRegistry(folder: TinyFolder): Promise<readonly TinyRegistryEntry[]> {
  const bytes = await folder.read(REGISTRY_FILE, MAX_REGISTRY_BYTES);
  if (!bytes) return [];
  return parseRegistry(new TextDecoder().decode(bytes), `the registry of tiny models in ${folder.name}`);
}

/** @throws {AnyvmafError} `model` */
function parseRegistry(json: string, what: string): readonly TinyRegistryEntry[] {
  const root = JsonObject.parse(json, what);
  // Version 1 added licences and bundles.
  root.need('schema_version', among([0, 1]));
  const entries = root.need(
    'models',
    list((path, value) => entryOf(new JsonObject(value, `${what}, ${path}`)), 'a list'),
  );
  const ids = new Set<string>();
  for (const { id } of entries) {
    if (ids.has(id)) throw modelError(`${what}: the id ${quoted(id)} is listed twice.`);
    ids.add(id);
  }
  return entries;
}

const digest = text(64, /^[0-9a-f]{64}$/i, '64 hexadecimal digits');
const id = text(
  64,
  /^[a-z0-9][a-z0-9._-]*$/,
  'up to 64 lower-case letters, digits, dots, dashes and underscores',
);

function entryOf(row: JsonObject): TinyRegistryEntry {
  const file = row.take('onnx', text(255)) ?? row.take('file', text(255));
  if (file === undefined) throw row.wrong('onnx', 'the name of a file');
  return defined({
    id: row.need('id', id),
    kind: row.need('kind', among(TINY_KINDS)),
    file,
    sha256: row.need('sha256', digest).toLowerCase(),
    opset: row.take('opset', whole(1, 99)),
    description: row.take('description', text(256)),
    notes: row.take('notes', text(512)),
    card: row.take('card', text(255)),
    licence: row.take('license', text(128)) ?? row.take('licence', text(128)),
    licenceUrl: row.take('license_url', text(512)),
    smoke: row.take('smoke', flag) ?? false,
    experimental: row.take('experimental', text(256)),
    quantisation: row.take('quant_mode', among(QUANTISATIONS)) ?? 'fp32',
    manifestSha256: row.take('manifest_sha256', digest)?.toLowerCase(),
    int8Sha256: row.take('int8_sha256', digest)?.toLowerCase(),
    int8ManifestSha256: row.take('int8_manifest_sha256', digest)?.toLowerCase(),
    sigstoreBundle: row.take('sigstore_bundle', text(255)),
    signer: signerOf(row),
  });
}

function signerOf(row: JsonObject): TinyRegistryEntry['signer'] {
  const issuer = row.take('sigstore_issuer', text(512));
  const identity = row.take('sigstore_identity', text(512));
  if (issuer === undefined && identity === undefined) return undefined;
  if (issuer !== undefined && identity !== undefined) return { issuer, identity };
  throw issuer === undefined
    ? row.wrong('sigstore_issuer', 'given together with sigstore_identity')
    : row.wrong('sigstore_identity', 'given together with sigstore_issuer');
}

export const MAX_SIDECAR_BYTES = 1024 * 1024;
const MAX_FEATURES = 32;
const MAX_CODECS = 32;
const MAX_OUTPUTS = 8;
const MAX_INPUTS = 8;

const name = text(
  128,
  /^[A-Za-z_][A-Za-z0-9_.-]*$/,
  'letters, digits, dots, dashes and underscores, beginning with a letter',
);
const some = <T>(item: Shape<T>, most: number, of: string) =>
  list(item, `a list of 1 to ${most} ${of}`, 1, most);
const names = (most: number) => some(text(128), most, 'texts');
const numbers = (most: number) => some(number, most, 'numbers');
const positives = (most: number) => some(positive, most, 'numbers above 0');
const two = (expected: string, fits: (first: number, second: number) => boolean) =>
  fitting<readonly [number, number]>(
    `two ${expected}`,
    (value) =>
      Array.isArray(value) && value.length === 2 && value.every(Number.isFinite) && fits(value[0], value[1]),
  );
const range = two('numbers, the second above the first', (low, high) => high > low);
const size = two('whole numbers above 0: width and height', (...sides) =>
  sides.every((side) => Number.isInteger(side) && side > 0),
);

/** @throws {AnyvmafError} `model` if it is not JSON or a member is invalid */
export function parseSidecar(json: string, what: string): TinySidecar {
  const root = JsonObject.parse(json, what);
  const features =
    root.take('feature_order', names(MAX_FEATURES)) ?? root.take('features', names(MAX_FEATURES));
  const scaler = scalerOf(root, features?.length);
  const inGraph = root.take('onnx_has_scaler', flag);
  const output = root.take('output_name', text(128));
  const [firstInput, secondInput] = root.take('input_names', names(MAX_INPUTS)) ?? [];
  const codec = codecOf(root);
  // Unknown kinds, of other tools, are ignored; the graph's inputs then decide.
  const statedKind = root.take('kind', text(64));
  return defined({
    kind: TINY_KINDS.find((kind) => kind === statedKind),
    name: root.take('name', name),
    inputName: root.take('input_name', text(128)) ?? firstInput,
    referenceInput: root.take('reference_input', text(128)),
    distortedInput: root.take('distorted_input', text(128)),
    codecInput: root.take('codec_input', text(128)) ?? (codec && secondInput),
    outputNames:
      root.take('output_names', names(MAX_OUTPUTS)) ?? (output === undefined ? undefined : [output]),
    opset: root.take('onnx_opset', whole(1, 99)),
    quantisation: root.take('quant_mode', among(QUANTISATIONS)),
    features,
    featureOptions: featureOptions(root, features?.length),
    scaler: scaler && { ...scaler, inGraph },
    normMean: root.take('norm_mean', numbers(3)),
    normStd: root.take('norm_std', positives(3)),
    minSize: root.take('min_size', size),
    needsScene: root.take('needs_scene', flag) ? (true as const) : undefined,
    outputReduce: root.take('output_reduce', among(['mean'])),
    outputRange: root.take('output_range', range),
    codec,
    better: root.take('scale', object({ better: maybe(among(['higher', 'lower'])) }))?.better,
  });
}

function scalerOf(root: JsonObject, width: number | undefined): TinyScaler | undefined {
  const [meanKey, stdKey] =
    root.raw('feature_mean') !== undefined || root.raw('feature_std') !== undefined
      ? (['feature_mean', 'feature_std'] as const)
      : (['input_mean', 'input_std'] as const);
  const mean = root.take(meanKey, numbers(MAX_FEATURES));
  const std = root.take(stdKey, positives(MAX_FEATURES));
  if (!mean && !std) return undefined;
  if (!mean || !std)
    throw root.wrong(mean ? stdKey : meanKey, `given together with ${mean ? meanKey : stdKey}`);
  const expected = width ?? mean.length;
  for (const [key, values] of [
    [meanKey, mean],
    [stdKey, std],
  ] as const) {
    if (values.length !== expected) throw root.wrong(key, `a list of ${expected} numbers, one per feature`);
  }
  return { mean, std };
}

function featureOptions(root: JsonObject, width: number | undefined) {
  const options = root.take('feature_opts_dicts', some(optionTexts, MAX_FEATURES, 'objects'));
  if (options && options.length !== width)
    throw root.wrong('feature_opts_dicts', 'a list as long as feature_order');
  return options;
}

/** Defaults of models with vocabulary version 3, which were trained on one preset and a range of rate factors. */
const LATE = {
  version: 3,
  vocabulary:
    'libx264 libaom-av1 libx265 h264_nvenc hevc_nvenc av1_nvenc h264_amf hevc_amf av1_amf h264_qsv hevc_qsv av1_qsv ' +
    'libvvenc libsvtav1 h264_videotoolbox hevc_videotoolbox',
  preset: 0.5,
  crfMin: 19,
  crfMax: 37,
} as const;

/** Defaults depend on the vocabulary; the oldest has ordinal presets and crf / 63. */
function codecOf(root: JsonObject): CodecBlockSpec | undefined {
  const vocabulary = root.take('encoder_vocab', names(MAX_CODECS));
  if (!vocabulary) return undefined;
  const isLate =
    root.raw('encoder_vocab_version') === LATE.version || vocabulary.join(' ') === LATE.vocabulary;
  const late = isLate ? LATE : undefined;
  const preset =
    root.take('codec_preset_norm', among(['ordinal', 'constant'])) ?? (late ? 'constant' : 'ordinal');
  const crf = root.take('codec_crf_norm', among(['div63', 'minmax'])) ?? (late ? 'minmax' : 'div63');
  const value = root.take('codec_preset_value', number) ?? late?.preset;
  const min = root.take('codec_crf_min', number) ?? late?.crfMin;
  const max = root.take('codec_crf_max', number) ?? late?.crfMax;
  if (preset === 'constant' && value === undefined)
    throw root.wrong('codec_preset_value', 'a number if codec_preset_norm is constant');
  if (crf === 'minmax' && (min === undefined || max === undefined || max <= min))
    throw root.wrong('codec_crf_max', 'a number above codec_crf_min');
  return {
    vocabulary,
    presetNorm: preset === 'constant' ? { kind: 'constant', value: value ?? 0 } : { kind: 'ordinal' },
    crfNorm: crf === 'minmax' ? { kind: 'minmax', min: min ?? 0, max: max ?? 1 } : { kind: 'div63' },
  };
}

/** A JSON object; `null` members count as absent. */
class JsonObject {
  readonly #members: ReadonlyMap<string, unknown>;
  readonly #what: string;

  /** @throws {AnyvmafError} `model` if the value is not an object */
  constructor(value: unknown, what: string) {
    if (!isObject(value)) throw modelError(`${what} is not a JSON object.`);
    this.#members = new Map(Object.entries(value));
    this.#what = what;
  }

  /** @throws {AnyvmafError} `model` if the text is not a JSON object */
  static parse(json: string, what: string): JsonObject {
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch (cause) {
      throw modelError(`${what} is not JSON (${messageOf(cause)}).`, { cause });
    }
    return new JsonObject(value, what);
  }

  /** The unchecked value. */
  raw(key: string): unknown {
    return this.#members.get(key) ?? undefined;
  }

  need<T>(key: string, shape: Shape<T>): T {
    return shape(key, this.raw(key), this.#refuse);
  }

  take<T>(key: string, shape: Shape<T>): T | undefined {
    return this.need(key, optional(shape));
  }

  wrong(key: string, expected: string): AnyvmafError {
    return this.#refuse(key, this.raw(key), expected);
  }

  readonly #refuse: Refuse = (path, value, expected) => {
    const found = value === undefined ? 'absent' : showJson(value);
    return modelError(`${this.#what}: ${shown(path)} is ${found}, but it must be ${expected}.`);
  };
}
