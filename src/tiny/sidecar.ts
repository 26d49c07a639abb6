/**
 * @module tiny/sidecar
 * Reads the sidecar of a tiny model (model/tiny/sidecar.schema.json), which describes the graph's tensors.
 */
import { JsonObject } from './json.js';
import { defined, QUANTISATIONS, TINY_KINDS } from './registry.js';
import type { CodecBlockSpec, TinyKind, TinyScaler, TinySidecar } from './types.js';

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
  return defined({
    kind: kindOf(root),
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

/** Ignores kinds of other tools; the graph's inputs then decide. */
function kindOf(root: JsonObject): TinyKind | undefined {
  const stated = root.text('kind', 64);
  return TINY_KINDS.find((kind) => kind === stated);
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

function featureOptions(
  root: JsonObject,
  width: number | undefined,
): readonly Readonly<Record<string, string>>[] | undefined {
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

/** Defaults of models with vocabulary version 3: trained on one preset and a range of rate factors. */
const LATE = {
  version: 3,
  vocabulary:
    'libx264 libaom-av1 libx265 h264_nvenc hevc_nvenc av1_nvenc h264_amf hevc_amf av1_amf h264_qsv hevc_qsv av1_qsv ' +
    'libvvenc libsvtav1 h264_videotoolbox hevc_videotoolbox',
  preset: 0.5,
  crfMin: 19,
  crfMax: 37,
} as const;

/** Defaults depend on the vocabulary: the oldest has ordinal presets and crf / 63. */
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
