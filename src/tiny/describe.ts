/**
 * @module tiny/describe
 * Lists and describes tiny models without running them.
 */
import { requireObject, requireText } from '../core/arguments.js';
import { readRegistry } from './documents.js';
import { CANONICAL_FEATURES } from './features.js';
import { loadTinyModel } from './load.js';
import type { TinyGraph } from './onnx/check.js';
import type { TinyDeviceStatus, TinyModel, TinyPlatform, TinyRegistryEntry, TinyScaler } from './types.js';

/** Description of a tiny model. */
export interface TinyModelDescription
  extends Pick<
      TinyModel,
      | ('source' | 'kind' | 'file' | 'sha256' | 'parts' | 'manifest' | 'manifestSha256' | 'registered')
      | ('quantisation' | 'warnings')
    >,
    Pick<TinyGraph, 'opset' | 'producer' | 'parameters' | 'operators' | 'inputs' | 'outputs'> {
  /** Key of its score in reports. */
  readonly name: string | null;
  /** Size including external weights. */
  readonly bytes: number;
  /** Columns of its feature input, `null` if it has none. */
  readonly features: readonly string[] | null;
  /** Scaling of features; `inGraph` is true if the graph contains it. */
  readonly scaler: (TinyScaler & { readonly inGraph: boolean }) | null;
  /** Encoders of a codec-aware model, `null` for others. */
  readonly codecs: readonly string[] | null;
  /** Its registry entry, `null` for unlisted files. */
  readonly registry: TinyRegistryEntry | null;
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
  const { kind, file, sha256, parts, manifest, manifestSha256, registered, quantisation, warnings } = model;
  const { sidecar, program, entry } = model;
  const { opset, producer, parameters, operators, inputs, outputs } = model.graph;
  const width = inputs[0]?.dims?.length === 2 ? inputs[0].dims[1] : undefined;
  const { scaler } = sidecar;
  return {
    source,
    name: sidecar.name ?? entry?.id ?? null,
    ...{ kind, file, sha256, parts, manifest, manifestSha256, registered },
    bytes: program.external.reduce((sum, { bytes }) => sum + bytes.length, program.bytes.length),
    ...{ opset, producer, quantisation, parameters, operators, inputs, outputs },
    features: sidecar.features ?? (width === CANONICAL_FEATURES.length ? CANONICAL_FEATURES : null),
    scaler: scaler ? { ...scaler, inGraph: scaler.inGraph ?? false } : null,
    codecs: sidecar.codec?.vocabulary ?? null,
    registry: entry ?? null,
    warnings,
  };
}
