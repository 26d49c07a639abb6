/**
 * @module mcp/scoring/model-description
 * Describes a model of the package, by name or id, or of an allowed file.
 */
import { basename } from 'node:path';
import {
  describeModel,
  describeTinyModel,
  type FeatureModel,
  type Origin,
  type TinyRegistryEntry,
} from '../../index.js';
import { openModel } from '../checked-api.js';
import type { FoundModel, ToolFiles } from '../paths.js';

/** Facts about any model file. */
interface FileFacts {
  name: string;
  path: string;
  format: 'json' | 'pkl' | 'onnx';
  size_bytes: number;
}

/** What `describe_model` answers. */
export interface ModelDocument extends FileFacts {
  model_type: string | null;
  feature_names: readonly string[] | null;
  [more: string]: unknown;
}

/**
 * Describes a model of the registry or of a file.
 * @throws {AnyvmafError} `model` when the file is not a model
 */
export async function describeModelFile(model: FoundModel, files: ToolFiles): Promise<ModelDocument> {
  const { origin } = files;
  if ('summary' in model) return describeListed(model, origin);
  if ('tiny' in model) return describeTiny(model.tiny);
  const { path, format, text } = model;
  const facts: FileFacts = {
    name: basename(path, `.${format}`),
    path,
    format,
    size_bytes: files.sizeOf(path),
  };
  if (text === undefined) return { ...facts, model_type: null, feature_names: null };
  return described(facts, await openModel(text, { origin }));
}

async function describeListed(
  { summary, text }: Extract<FoundModel, { readonly summary: unknown }>,
  origin: Origin,
): Promise<ModelDocument> {
  const { name, file, bytes, kind, intendedUse, availability } = summary;
  const facts: FileFacts = { name, path: `model/${file}`, format: 'json', size_bytes: bytes };
  if (availability === 'to be pulled') {
    return {
      ...facts,
      model_type: null,
      feature_names: summary.features,
      kind,
      intended_use: intendedUse,
      availability,
      pull_with: `anyvmaf models pull ${name}`,
    };
  }
  const [model, { supportVectors, licence, sha256 }] = await Promise.all([
    openModel(text, { origin }),
    describeModel(name),
  ]);
  return {
    ...described(facts, model),
    intended_use: intendedUse,
    availability,
    support_vectors: supportVectors,
    licence,
    sha256,
  };
}

/** A tiny model of the registry. */
async function describeTiny({ id, file, kind, ...entry }: TinyRegistryEntry): Promise<ModelDocument> {
  const found = await describeTinyModel(id);
  const { features, scaler, codecs } = found;
  return {
    name: id,
    path: `model/tiny/${file}`,
    format: 'onnx',
    size_bytes: found.bytes,
    model_type: null,
    feature_names: features,
    kind,
    intended_use: entry.description,
    experimental: entry.experimental,
    score_with: `tiny_model: ${JSON.stringify(id)}`,
    scaler: scaler && (scaler.inGraph ? 'in the graph' : 'in the sidecar'),
    codecs,
    graph: {
      inputs: found.inputs,
      outputs: found.outputs,
      parameters: found.parameters,
      opset: found.opset,
    },
    quantisation: found.quantisation,
    licence: entry.licence ?? null,
    sha256: found.sha256,
  };
}

function described(facts: FileFacts, model: FeatureModel): ModelDocument {
  const { transform } = model;
  return {
    ...facts,
    model_type: model.type,
    feature_names: model.inputs.map(({ feature }) => feature),
    kind: model.kind,
    inputs: model.inputs.map(({ feature, logName, extractor, options }) => ({
      feature,
      log_name: logName,
      extractor,
      options,
    })),
    clip: model.clip,
    transform: transform === null ? 'none' : transform.enabled ? 'always' : 'on request',
  };
}
