/**
 * @module tiny/describe
 * Lists and describes tiny models without running them.
 */
import { requireObject, requireText } from '../core/arguments.js';
import { readRegistry } from './documents.js';
import { CANONICAL_FEATURES } from './features.js';
import { loadTinyModel } from './load.js';
import type {
  TinyDeviceStatus,
  TinyKind,
  TinyPart,
  TinyPlatform,
  TinyPort,
  TinyQuantisation,
  TinyRegistryEntry,
  TinyScaler,
} from './types.js';

/** Description of a tiny model. */
export interface TinyModelDescription {
  /** Id or path as requested. */
  readonly source: string;
  /** Key of its score in reports. */
  readonly name: string | null;
  readonly kind: TinyKind;
  readonly file: string;
  readonly sha256: string;
  /** All files of the model. */
  readonly parts: readonly TinyPart[];
  /** Lists the parts; signatures sign this text. */
  readonly manifest: string;
  readonly manifestSha256: string;
  /** True if a registry vouches for every file that its scores depend on. */
  readonly registered: boolean;
  /** Size with external weights. */
  readonly bytes: number;
  readonly opset: number;
  readonly producer: string;
  readonly quantisation: TinyQuantisation;
  readonly parameters: number;
  readonly operators: Readonly<Record<string, number>>;
  readonly inputs: readonly TinyPort[];
  readonly outputs: readonly TinyPort[];
  /** Columns of its feature input, `null` if it has none. */
  readonly features: readonly string[] | null;
  /** Scaling of features; `inGraph` is true if the graph does it. */
  readonly scaler: (TinyScaler & { readonly inGraph: boolean }) | null;
  /** Encoders of a codec-aware model, `null` for others. */
  readonly codecs: readonly string[] | null;
  /** Its registry entry, `null` for unlisted files. */
  readonly registry: TinyRegistryEntry | null;
  readonly warnings: readonly string[];
}

/** Options of `describeTinyModel`. */
export interface DescribeTinyOptions {
  /** The model's files by name, as in `TinyModelOptions`. */
  readonly files?: Readonly<Record<string, Blob>>;
}

export async function listTinyModels({ files }: TinyPlatform): Promise<readonly TinyRegistryEntry[]> {
  return readRegistry(files.builtIn);
}

export function listTinyDevices({ runtimes }: TinyPlatform): Promise<readonly TinyDeviceStatus[]> {
  return runtimes.devices();
}

/** @throws {AnyvmafError} as {@link loadTinyModel} */
export async function describeTinyModel(
  source: string,
  platform: TinyPlatform,
  options: DescribeTinyOptions = {},
): Promise<TinyModelDescription> {
  requireText('model', source, 'the id or the path of a tiny model');
  requireObject('options', options);
  const { files } = options;
  if (files !== undefined) requireObject('files', files, 'an object of Blobs by their names');
  const model = await loadTinyModel(source, platform, { files });
  const { sidecar, graph, program, entry } = model;
  const [first] = graph.inputs;
  const width = first?.dims?.length === 2 ? first.dims[1] : undefined;
  const { statedScaler, graphHasScaler } = sidecar;
  return {
    source,
    name: sidecar.name ?? entry?.id ?? null,
    kind: model.kind,
    file: model.file,
    sha256: model.sha256,
    parts: model.parts,
    manifest: model.manifest,
    manifestSha256: model.manifestSha256,
    registered: model.registered,
    bytes: program.external.reduce((sum, { bytes }) => sum + bytes.length, program.bytes.length),
    opset: graph.opset,
    producer: graph.producer,
    quantisation: model.quantisation,
    parameters: graph.parameters,
    operators: graph.operators,
    inputs: graph.inputs,
    outputs: graph.outputs,
    features: sidecar.features ?? (width === CANONICAL_FEATURES.length ? CANONICAL_FEATURES : null),
    scaler: statedScaler ? { ...statedScaler, inGraph: graphHasScaler } : null,
    codecs: sidecar.codec?.vocabulary ?? null,
    registry: entry ?? null,
    warnings: model.warnings,
  };
}
