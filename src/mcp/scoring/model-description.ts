/**
 * @module mcp/scoring/model-description
 * What a model is, found by name among those of the package or by path among the allowed files.
 */
import { basename, extname } from 'node:path';
import { AnyvmafError, describeModel, type FeatureModel, openModel } from '../../index.js';
import type { ToolFiles } from '../context.js';
import { builtInModels } from './model-files.js';
import { grammatical } from './models.js';

const FORMATS = ['json', 'pkl', 'onnx'] as const;

/** What is known of any model file. */
interface FileFacts {
  name: string;
  path: string;
  format: (typeof FORMATS)[number];
  size_bytes: number;
}

/** What `describe_model` answers. */
export interface ModelDocument extends FileFacts {
  model_type: string | null;
  feature_names: string[] | null;
  [more: string]: unknown;
}

/**
 * Describes a model of the package or of a file.
 * @param name name, file name, path within the package, or path of a file
 * @throws {AnyvmafError} `model` when there is none of that name, or the file is no model; `io` for a path that is not
 * allowed
 */
export async function describeModelFile(name: string, files: ToolFiles): Promise<ModelDocument> {
  const known = await builtInModels();
  const builtIn =
    known.find(({ summary }) => [summary.name, `${summary.name}.json`].includes(name)) ??
    known.find(({ path }) => path === name);
  if (builtIn) {
    const { summary, path } = builtIn;
    const { name: version, bytes, intendedUse, availability } = summary;
    const facts: FileFacts = { name: version, path, format: 'json', size_bytes: bytes };
    if (availability === 'to be pulled') {
      const how = `anyvmaf models pull ${version}`;
      const features = [...summary.features];
      return {
        ...facts,
        model_type: null,
        feature_names: features,
        kind: summary.kind,
        intended_use: intendedUse,
        availability,
        pull_with: how,
      };
    }
    const [model, { supportVectors, licence, sha256 }] = await Promise.all([
      openModel(`version=${version}`),
      describeModel(version),
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
  const format = FORMATS.find((known) => extname(name) === `.${known}`);
  if (format === undefined) {
    throw new AnyvmafError('model', `model '${name}' not found; run list_models to see available models.`);
  }
  const path = await files.resolveInput(name);
  const size = files.sizeOf(path);
  const facts: FileFacts = { name: basename(path, `.${format}`), path, format, size_bytes: size };
  if (format !== 'json') return { ...facts, model_type: null, feature_names: null };
  return described(facts, await openModel(`path=${grammatical(path)}`, { origin: files.origin }));
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
