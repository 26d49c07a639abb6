/**
 * @module tiny/documents
 * Reads the JSON that describes tiny models: registries (model/tiny/registry.schema.json), and sidecars
 * (model/tiny/sidecar.schema.json), which describe a graph's tensors.
 */
import { defined, isObject } from '../core/arguments.js';
import { type AnyvmafError, messageOf, modelError } from '../core/errors.js';
import { quoted, showJson, shown } from '../core/printable.js';
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
function parseRegistry(text: string, what: string): readonly TinyRegistryEntry[] {
  const root = JsonObject.parse(text, what);
  // Version 1 added licences and bundles.
  const version = root.integer('schema_version', 0, 1000);
  if (version !== 0 && version !== 1) throw root.wrong('schema_version', '0 or 1');
  const models = root.raw('models');
  if (!Array.isArray(models)) throw root.wrong('models', 'a list');
  const entries = models.map((value: unknown, i) => entryOf(new JsonObject(value, `${what}, model ${i}`)));
  const ids = new Set<string>();
  for (const { id } of entries) {
    if (ids.has(id)) throw modelError(`${what}: the id ${quoted(id)} is listed twice.`);
    ids.add(id);
  }
  return entries;
}

function entryOf(row: JsonObject): TinyRegistryEntry {
  const id = row.text('id', 64);
  if (id === undefined || !/^[a-z0-9][a-z0-9._-]*$/.test(id))
    throw row.wrong('id', 'up to 64 lower-case letters, digits, dots, dashes and underscores');
  const kind = row.oneOf('kind', TINY_KINDS);
  if (kind === undefined) throw row.wrong('kind', `one of ${TINY_KINDS.join(', ')}`);
  const file = row.text('onnx', 255) ?? row.text('file', 255);
  if (file === undefined) throw row.wrong('onnx', 'the name of a file');
  const sha256 = digest(row, 'sha256');
  if (sha256 === undefined) throw row.wrong('sha256', '64 hexadecimal digits');
  const quantisation = row.oneOf('quant_mode', QUANTISATIONS) ?? 'fp32';
  return defined({
    id,
    kind,
    file,
    sha256,
    opset: row.integer('opset', 1, 99),
    description: row.text('description', 256),
    notes: row.text('notes', 512),
    card: row.text('card', 255),
    licence: row.text('license', 128) ?? row.text('licence', 128),
    licenceUrl: row.text('license_url', 512),
    smoke: row.flag('smoke') ?? false,
    experimental: row.text('experimental', 256),
    quantisation,
    manifestSha256: digest(row, 'manifest_sha256'),
    int8Sha256: digest(row, 'int8_sha256'),
    int8ManifestSha256: digest(row, 'int8_manifest_sha256'),
    sigstoreBundle: row.text('sigstore_bundle', 255),
    signer: signerOf(row),
  });
}

function signerOf(row: JsonObject): TinyRegistryEntry['signer'] {
  const [issuer, identity] = [row.text('sigstore_issuer', 512), row.text('sigstore_identity', 512)];
  if (issuer === undefined && identity === undefined) return undefined;
  if (issuer !== undefined && identity !== undefined) return { issuer, identity };
  throw issuer === undefined
    ? row.wrong('sigstore_issuer', 'given together with sigstore_identity')
    : row.wrong('sigstore_identity', 'given together with sigstore_issuer');
}

function digest(row: JsonObject, key: string): string | undefined {
  const text = row.text(key, 64);
  if (text === undefined) return undefined;
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw row.wrong(key, '64 hexadecimal digits');
}

export const MAX_SIDECAR_BYTES = 1024 * 1024;
const MAX_FEATURES = 32;
const MAX_CODECS = 32;
const MAX_OUTPUTS = 8;
const MAX_INPUTS = 8;
export const NO_SIDECAR: TinySidecar = { graphHasScaler: false };

/** @throws {AnyvmafError} `model` if it is not JSON or a member is invalid */
export function parseSidecar(text: string, what: string): TinySidecar {
  const root = JsonObject.parse(text, what);
  const name = root.text('name', 128);
  if (name !== undefined && !/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name))
    throw root.wrong('name', 'letters, digits, dots, dashes and underscores, beginning with a letter');
  const features = root.texts('feature_order', MAX_FEATURES) ?? root.texts('features', MAX_FEATURES);
  const stated = scalerOf(root, features?.length);
  const place = root.flag('onnx_has_scaler');
  const graphHasScaler = place ?? false;
  const output = root.text('output_name', 128);
  const [firstInput, secondInput] = root.texts('input_names', MAX_INPUTS) ?? [];
  const codec = codecOf(root);
  // Unknown kinds, of other tools, are ignored; the graph's inputs then decide.
  const statedKind = root.text('kind', 64);
  return defined({
    kind: TINY_KINDS.find((kind) => kind === statedKind),
    name,
    inputName: root.text('input_name', 128) ?? firstInput,
    referenceInput: root.text('reference_input', 128),
    distortedInput: root.text('distorted_input', 128),
    codecInput: root.text('codec_input', 128) ?? (codec && secondInput),
    outputNames: root.texts('output_names', MAX_OUTPUTS) ?? (output === undefined ? undefined : [output]),
    opset: root.integer('onnx_opset', 1, 99),
    quantisation: root.oneOf('quant_mode', QUANTISATIONS),
    features,
    featureOptions: featureOptions(root, features?.length),
    scaler: graphHasScaler ? undefined : stated,
    statedScaler: stated,
    graphHasScaler,
    scalerUnplaced: stated && place === undefined ? (true as const) : undefined,
    normMean: root.numbers('norm_mean', 3),
    normStd: positives(root, 'norm_std', 3),
    minSize: minSize(root),
    needsScene: root.flag('needs_scene') ? (true as const) : undefined,
    outputReduce: root.oneOf('output_reduce', ['mean']),
    outputRange: range(root),
    codec,
    better: betterOf(root),
  });
}

function scalerOf(root: JsonObject, width: number | undefined): TinyScaler | undefined {
  const [meanKey, stdKey] =
    root.raw('feature_mean') !== undefined || root.raw('feature_std') !== undefined
      ? (['feature_mean', 'feature_std'] as const)
      : (['input_mean', 'input_std'] as const);
  const mean = root.numbers(meanKey, MAX_FEATURES);
  const std = positives(root, stdKey, MAX_FEATURES);
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

function positives(root: JsonObject, key: string, limit: number): readonly number[] | undefined {
  const values = root.numbers(key, limit);
  if (values?.every((value) => value > 0) === false) throw root.wrong(key, 'a list of numbers above 0');
  return values;
}

function range(root: JsonObject): readonly [number, number] | undefined {
  const [low, high] = root.numbers('output_range', 2) ?? [];
  if (low === undefined) return undefined;
  if (high !== undefined && high > low) return [low, high];
  throw root.wrong('output_range', 'two numbers, the second above the first');
}

function minSize(root: JsonObject): TinySidecar['minSize'] {
  const [width, height] = root.numbers('min_size', 2) ?? [];
  if (width === undefined) return undefined;
  if (height !== undefined && [width, height].every((side) => Number.isInteger(side) && side > 0))
    return [width, height];
  throw root.wrong('min_size', 'two whole numbers above 0: width and height');
}

function featureOptions(root: JsonObject, width: number | undefined) {
  const list = root.list('feature_opts_dicts', MAX_FEATURES);
  if (!list) return undefined;
  if (list.length !== width) throw root.wrong('feature_opts_dicts', 'a list as long as feature_order');
  return list.map((value, i) => {
    const options = new JsonObject(value, `${root.what}, feature_opts_dicts ${i}`);
    return Object.fromEntries(
      options.keys().map((key) => {
        const option = options.raw(key);
        if (typeof option === 'string' || typeof option === 'number' || typeof option === 'boolean')
          return [key, String(option)];
        throw options.wrong(key, 'a text, a number, true or false');
      }),
    );
  });
}

function betterOf(root: JsonObject): TinySidecar['better'] {
  const scale = root.raw('scale');
  return scale === undefined
    ? undefined
    : new JsonObject(scale, `${root.what}, scale`).oneOf('better', ['higher', 'lower']);
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
  const vocabulary = root.texts('encoder_vocab', MAX_CODECS);
  if (!vocabulary) return undefined;
  const isLate =
    root.raw('encoder_vocab_version') === LATE.version || vocabulary.join(' ') === LATE.vocabulary;
  const late = isLate ? LATE : undefined;
  const preset = root.oneOf('codec_preset_norm', ['ordinal', 'constant']) ?? (late ? 'constant' : 'ordinal');
  const crf = root.oneOf('codec_crf_norm', ['div63', 'minmax']) ?? (late ? 'minmax' : 'div63');
  const value = root.number('codec_preset_value') ?? late?.preset;
  const min = root.number('codec_crf_min') ?? late?.crfMin;
  const max = root.number('codec_crf_max') ?? late?.crfMax;
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

/** A JSON object with typed getters. Absent and `null` members are `undefined`. */
class JsonObject {
  readonly #members: ReadonlyMap<string, unknown>;

  /** @throws {AnyvmafError} `model` if the value is not an object */
  constructor(
    value: unknown,
    readonly what: string,
  ) {
    if (!isObject(value)) throw modelError(`${what} is not a JSON object.`);
    this.#members = new Map(Object.entries(value));
  }

  /** @throws {AnyvmafError} `model` if the text is not a JSON object */
  static parse(text: string, what: string): JsonObject {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw modelError(`${what} is not JSON (${messageOf(cause)}).`, { cause });
    }
    return new JsonObject(value, what);
  }

  keys(): readonly string[] {
    return [...this.#members.keys()];
  }

  /** The unchecked value. */
  raw(key: string): unknown {
    return this.#members.get(key) ?? undefined;
  }

  text(key: string, limit = 1024): string | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (typeof value === 'string' && value.length > 0 && value.length <= limit) return value;
    throw this.wrong(key, `a text of 1 to ${limit} characters`);
  }

  flag(key: string): boolean | undefined {
    const value = this.raw(key);
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.wrong(key, 'true or false');
  }

  number(key: string): number | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    throw this.wrong(key, 'a number');
  }

  integer(key: string, min: number, max: number): number | undefined {
    const value = this.number(key);
    if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return value;
    throw this.wrong(key, `a whole number from ${min} to ${max}`);
  }

  oneOf<T extends string>(key: string, allowed: readonly T[]): T | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    const found = allowed.find((choice) => choice === value);
    if (found !== undefined) return found;
    throw this.wrong(key, `one of ${allowed.join(', ')}`);
  }

  list(key: string, limit: number): readonly unknown[] | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.length > 0 && value.length <= limit) return value;
    throw this.wrong(key, `a list of 1 to ${limit}`);
  }

  texts(key: string, limit: number): readonly string[] | undefined {
    const fits = (value: unknown) => typeof value === 'string' && value.length > 0 && value.length <= 128;
    return this.#listOf<string>(key, limit, fits, 'texts of up to 128 characters');
  }

  numbers(key: string, limit: number): readonly number[] | undefined {
    return this.#listOf<number>(key, limit, Number.isFinite, 'numbers');
  }

  #listOf<T>(
    key: string,
    limit: number,
    fits: (value: unknown) => boolean,
    what: string,
  ): readonly T[] | undefined {
    const list = this.list(key, limit);
    if (list?.every((value): value is T => fits(value)) !== false) return list as readonly T[] | undefined;
    throw this.wrong(key, `a list of 1 to ${limit} ${what}`);
  }

  wrong(key: string, expected: string): AnyvmafError {
    const value = this.raw(key);
    const found = value === undefined ? 'absent' : showJson(value);
    return modelError(`${this.what}: ${shown(key)} is ${found}, but it must be ${expected}.`);
  }
}
