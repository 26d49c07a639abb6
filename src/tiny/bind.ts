/**
 * @module tiny/bind
 * Binds a model to a run: assigns tensors, names the score, and refuses options that do not fit the model.
 */
import { type AnyvmafError, modelError, usageError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import { bindColumns, codecBlock, scalerBefore, type TinyColumn } from './features.js';
import type { TinyModel, TinyModelOptions, TinyPort, TinyResize, TinyScaler, TinySidecar } from './types.js';

const DEFAULT_NAME = 'vmaf_tiny_model';

export interface TinyOutput {
  readonly tensor: string;
  /** Key in the report. */
  readonly metric: string;
}

interface Bound {
  readonly source: string;
  /** Key of its score; prefix of the keys if it has several. */
  readonly name: string;
  readonly outputs: readonly TinyOutput[];
  /** How to reduce several values per picture of an output. */
  readonly reduce?: 'mean';
  readonly range?: readonly [number, number];
}

export interface FeatureBinding extends Bound {
  readonly kind: 'features';
  readonly input: string;
  readonly columns: readonly TinyColumn[];
  readonly scaler?: TinyScaler;
  /** Equal for every frame. */
  readonly codec?: { readonly input: string; readonly block: Float32Array };
  /** Rows per call of the graph, `null` for any number. */
  readonly batch: 1 | null;
}

export type Role = 'reference' | 'distorted';

/** Can be sent to another thread. */
export interface PictureBinding extends Bound {
  readonly kind: 'picture';
  readonly inputs: readonly { readonly tensor: string; readonly role: Role }[];
  /** Luma, or RGB. */
  readonly channels: 1 | 3;
  /** `null` if the graph takes any size. */
  /** `null` if the graph accepts any size. */
  readonly height: number | null;
  readonly width: number | null;
  /** Normalisation per channel: (sample - mean) / std, samples in 0..1. */
  readonly mean: readonly number[];
  readonly std: readonly number[];
  readonly resize: TinyResize;
  readonly minSize?: readonly [width: number, height: number];
  /** Set to count distorted pictures that are flat or noise. */
  readonly needsScene?: true;
}

export type TinyBinding = FeatureBinding | PictureBinding;

/** Normalisation of ImageNet, on which RGB networks are usually trained. */
const IMAGENET = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } as const;

/** @throws {AnyvmafError} `model` for unsupported tensors; `usage` for options that do not fit the model */
export function bindTinyModel(model: TinyModel, options: TinyModelOptions): TinyBinding {
  const { graph, sidecar, source } = model;
  const refuse: Refuse = (reason) =>
    modelError(`The tiny model ${quoted(source)} cannot be used: ${reason}.`);
  if (model.kind === 'filter') throw refuse('it is a filter, which outputs pictures, not scores');
  const wanted = sidecar.inputName ?? sidecar.referenceInput ?? findPort(graph.inputs, FEATURES)?.name;
  const first = portOf(graph.inputs, wanted, 0, 'input', refuse);
  const rank = first.dims?.length;
  const name = options.name ?? sidecar.name ?? model.entry?.id ?? DEFAULT_NAME;
  const { outputReduce: reduce, outputRange: range } = sidecar;
  const bound: Bound = { source, name, outputs: outputsOf(model, name, refuse), reduce, range };
  if (rank === 2) return bindFeatures(model, options, bound, first, refuse);
  if (rank === 4) return bindPictures(model, options, bound, refuse);
  throw refuse(
    `its input ${quoted(first.name)} has ${rank === undefined ? 'an unknown rank' : `rank ${rank}`}; features ` +
      'have rank 2 (rows, features) and pictures rank 4 (1, channels, height, width)',
  );
}

/** Usual names of inputs, which graphs list in any order. */
const FEATURES = ['features'];
const REFERENCE = ['ref', 'reference'];
const DISTORTED = ['dist', 'dis', 'distorted'];

function findPort(ports: readonly TinyPort[], names: readonly string[]): TinyPort | undefined {
  return ports.find(({ name }) => names.includes(name.toLowerCase()));
}

type Refuse = (reason: string) => AnyvmafError;

/** The port that the sidecar names, else the one at an index. */
function portOf(
  ports: readonly TinyPort[],
  name: string | undefined,
  place: number,
  what: string,
  refuse: Refuse,
): TinyPort {
  const found = name === undefined ? ports[place] : ports.find((port) => port.name === name);
  if (found) return found;
  const available = ports.map((port) => JSON.stringify(port.name)).join(', ') || 'none';
  throw refuse(
    name === undefined
      ? `it has too few ${what}s: ${available}`
      : `its sidecar names the ${what} ${quoted(name)}, but the graph has ${available}`,
  );
}

function outputsOf({ graph, sidecar }: TinyModel, name: string, refuse: Refuse): readonly TinyOutput[] {
  const { outputNames } = sidecar;
  if (!outputNames) {
    const [only, ...others] = graph.outputs;
    if (!only) throw refuse('its graph has no output');
    if (others.length === 0) return [{ tensor: only.name, metric: name }];
    return graph.outputs.map((port) => ({ tensor: port.name, metric: `${name}_${port.name}` }));
  }
  return outputNames.map((wanted) => {
    const { name: tensor } = portOf(graph.outputs, wanted, 0, 'output', refuse);
    return { tensor, metric: outputNames.length === 1 ? name : `${name}_${tensor}` };
  });
}

function bindFeatures(
  { graph, sidecar, source }: TinyModel,
  options: TinyModelOptions,
  bound: Bound,
  input: TinyPort,
  refuse: Refuse,
): FeatureBinding {
  const [rows = null, width = null] = input.dims ?? [];
  if (rows !== null && rows !== 1)
    throw refuse(
      `its input ${quoted(input.name)} has a batch of ${rows} rows; only 1 or any number is supported`,
    );
  if (options.resize !== undefined && options.resize !== 'disabled')
    throw misfit(source, 'tiny_resize', 'reads features, not pictures');
  const columns = bindColumns(sidecar, width, source);
  const scaler = scalerBefore(sidecar);
  if (scaler && scaler.mean.length !== columns.length)
    throw refuse(`its sidecar scales ${scaler.mean.length} features, but it reads ${columns.length}`);
  const others = graph.inputs.filter(({ name }) => name !== input.name);
  const codec = bindCodec(sidecar, source, options, others, refuse);
  return { kind: 'features', ...bound, input: input.name, columns, scaler, codec, batch: rows };
}

function bindCodec(
  sidecar: TinySidecar,
  source: string,
  options: TinyModelOptions,
  others: readonly TinyPort[],
  refuse: Refuse,
): FeatureBinding['codec'] {
  if (others.length === 0) {
    refuseCodec(source, options);
    return undefined;
  }
  const port = portOf(others, sidecar.codecInput, 0, 'input', refuse);
  if (others.length > 1) {
    const names = others.map(({ name }) => JSON.stringify(name)).join(', ');
    throw refuse(`besides features it has the inputs ${names}, but only one codec input is supported`);
  }
  const [, width = null] = port.dims ?? [];
  if (!sidecar.codec || port.dims?.length !== 2 || width === null)
    throw refuse(
      `its input ${quoted(port.name)} besides features must be a codec block of rank 2 and fixed width, with ` +
        'encoder_vocab in the sidecar',
    );
  return { input: port.name, block: codecBlock(sidecar.codec, width, options, source) };
}

/** @throws {AnyvmafError} `usage` for encoder options of a model that is not codec-aware */
function refuseCodec(source: string, options: TinyModelOptions): void {
  for (const name of ['codec', 'preset', 'crf'] as const) {
    if (options[name] !== undefined) throw misfit(source, `tiny_${name}`, 'is not codec-aware');
  }
}

function misfit(source: string, option: string, why: string): AnyvmafError {
  return usageError(
    `${option} does not apply to the tiny model ${quoted(source)}, which ${why}; leave it out.`,
  );
}

function bindPictures(
  { graph, sidecar, source, kind }: TinyModel,
  options: TinyModelOptions,
  bound: Bound,
  refuse: Refuse,
): PictureBinding {
  refuseCodec(source, options);
  const { inputs } = graph;
  if (inputs.length > 2) throw refuse(`it takes ${inputs.length} pictures; only one or two are supported`);
  const pair = inputs.length === 2;
  const reference = pair ? referencePort(inputs, sidecar, refuse) : undefined;
  const rest = inputs.filter((port) => port !== reference);
  const named = sidecar.distortedInput ?? (pair ? undefined : sidecar.inputName);
  const distorted = portOf(rest, named, 0, 'input', refuse);
  if (pair && kind === 'nr') throw refuse('its kind is nr, but it takes two pictures');
  // Either input may state a size that the other leaves open.
  const [batch = null, channels = null, height = null, width = null] = (distorted.dims ?? []).map(
    (size, i) => size ?? reference?.dims?.[i] ?? null,
  );
  const same = reference === undefined || String(reference.dims) === String(distorted.dims);
  if (
    distorted.dims?.length !== 4 ||
    (reference && reference.dims?.length !== 4) ||
    (pair && !same && !isSymbolic(reference, distorted))
  )
    throw refuse('its pictures must have rank 4 (1, channels, height, width) and the same shape');
  if (batch !== null && batch !== 1)
    throw refuse(`its pictures have a batch of ${batch}; only 1 or any number is supported`);
  if (channels !== 1 && channels !== 3)
    throw refuse(
      `its pictures have ${channels ?? 'an unknown number of'} channels; only 1 (luma) or 3 (RGB) is supported`,
    );
  const plain = channels === 3 ? IMAGENET : { mean: [0], std: [1] };
  const mean = sidecar.normMean ?? plain.mean;
  const std = sidecar.normStd ?? plain.std;
  if (mean.length !== channels || std.length !== channels)
    throw refuse(
      `its sidecar must have one value per channel (${channels}) in norm_mean and norm_std, but has ${mean.length} and ${std.length}`,
    );
  return {
    kind: 'picture',
    ...bound,
    inputs: [
      ...(reference ? [{ tensor: reference.name, role: 'reference' as const }] : []),
      { tensor: distorted.name, role: 'distorted' },
    ],
    channels,
    height,
    width,
    mean,
    std,
    resize: options.resize ?? 'disabled',
    minSize: sidecar.minSize,
    needsScene: sidecar.needsScene,
  };
}

/** By the sidecar, else by usual names, else the first input. */
function referencePort(inputs: readonly TinyPort[], sidecar: TinySidecar, refuse: Refuse): TinyPort {
  const { referenceInput, distortedInput, inputName } = sidecar;
  if (referenceInput !== undefined) return portOf(inputs, referenceInput, 0, 'input', refuse);
  const distorted =
    distortedInput === undefined
      ? findPort(inputs, DISTORTED)
      : portOf(inputs, distortedInput, 0, 'input', refuse);
  const byName = findPort(inputs, REFERENCE) ?? (distorted && inputs.find((port) => port !== distorted));
  return byName ?? portOf(inputs, inputName, 0, 'input', refuse);
}

/** True if all sizes that both shapes state are equal. */
function isSymbolic(a: TinyPort | undefined, b: TinyPort): boolean {
  return (a?.dims ?? []).every((size, i) => size === null || b.dims?.[i] === null || size === b.dims?.[i]);
}
