/**
 * @module mcp/scoring/model-description
 * What a model is, found by name among those of the package or by path among the allowed files.
 */
import { basename } from 'node:path';
import { describeModel, type FeatureModel, type Origin } from '../../index.js';
import { openModel } from '../checked-api.js';
import type { ToolFiles } from '../context.js';
import type { FoundModel } from '../paths.js';

/** What is known of any model file. */
interface FileFacts {
  name: string;
  path: string;
  format: 'json' | 'pkl' | 'onnx';
  size_bytes: number;
}

/** What `describe_model` answers. */
export interface ModelDocument extends FileFacts {
  model_type: string | null;
  feature_names: string[] | null;
  [more: string]: unknown;
}

/**
 * Describes a model of the registry or of a file.
 * @throws {AnyvmafError} `model` when the file is not a model
 */
export async function describeModelFile(model: FoundModel, files: ToolFiles): Promise<ModelDocument> {
  const { origin } = files;
  if ('summary' in model) return describeListed(model, origin);
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
      feature_names: [...summary.features],
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
    support_vectors: [...supportVectors],
    licence,
    sha256,
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
      options: { ...options },
    })),
    clip: model.clip === null ? null : [model.clip[0], model.clip[1]],
    transform: transform === null ? 'none' : transform.enabled ? 'always' : 'on request',
  };
}
