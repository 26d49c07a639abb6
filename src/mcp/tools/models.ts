/**
 * @module mcp/tools/models
 * `list_models`: the available models; `describe_model`: the contents of one, by name, id or path.
 */
import { basename } from 'node:path';
import * as z from 'zod/v4';
import type { FeatureModel, Origin, TinyRegistryEntry } from '../../index.js';
import { type FoundModel, modelName, type ToolFiles } from '../paths.js';
import { defineTool } from '../tool.js';
import { inShort } from '../wording.js';

export const listModelsTool = defineTool({
  name: 'list_models',
  title: 'List models',
  description:
    'Lists the VMAF models, default first, with their intended use, then tiny ONNX models (for tiny_model). A model ' +
    '"to be pulled" works once the user has run pull_with.',
  inputSchema: z.object({}),
  outputSchema: z.object({
    models: z.array(
      z.looseObject({
        name: z.string(),
        path: z
          .string()
          .describe('Path in the package, for describe_model and for path=FILE in a model string.'),
        format: z.enum(['json', 'pkl', 'onnx']),
        size_bytes: z.int(),
        kind: z.enum(['single', 'collection']),
        intended_use: z.string(),
        availability: z
          .enum(['built-in', 'pulled', 'to be pulled'])
          .describe('Whether it ships with the package, was downloaded, or must be downloaded first.'),
        pull_with: z.string().optional().describe('Command that downloads it, to be run once.'),
        default: z.boolean(),
      }),
    ),
    tiny_models: z
      .array(
        z.object({
          id: z.string().describe('For tiny_model.'),
          kind: z.string().describe('fr: full-reference; nr: no-reference.'),
          description: z.string().optional(),
          quantisation: z.string(),
          licence: z.string().optional(),
        }),
      )
      .describe('Tiny models in the registry of the package.'),
  }),
  async handler() {
    const { listModels, listTinyModels } = await import('../../index.js');
    const [models, tiny] = await Promise.all([listModels(), listTinyModels()]);
    return {
      document: {
        models: models.map(({ name, file, bytes, kind, intendedUse, availability }, i) => ({
          name,
          path: `model/${file}`,
          format: 'json' as const,
          size_bytes: bytes,
          kind,
          intended_use: inShort(intendedUse),
          availability,
          pull_with: availability === 'to be pulled' ? `anyvmaf models pull ${name}` : undefined,
          default: i === 0,
        })),
        tiny_models: tiny
          .filter(({ smoke }) => !smoke)
          .map(({ id, kind, quantisation, description, licence }) => ({
            ...{ id, kind, quantisation, description, licence },
          })),
      },
      spare: [
        ...['tiny_models.[].quantisation', 'tiny_models.[].licence', 'tiny_models.[].description'],
        ...['kind', 'default', 'availability', 'size_bytes', 'format'].map((key) => `models.[].${key}`),
      ],
    };
  },
});

export const describeModelTool = defineTool({
  name: 'describe_model',
  title: 'Describe a model',
  description:
    'Describes a model: regression type, input features with their extractors and options, clipping, transform, support ' +
    'vectors; for a tiny model, its graph and what its values are good for.',
  inputSchema: z.object({
    name: modelName(
      'Name or id from list_models (vmaf_v0.6.1), its file name (vmaf_v0.6.1.json), or path of a model file.',
    ),
  }),
  outputSchema: z.looseObject({
    name: z.string(),
    path: z.string(),
    format: z.enum(['json', 'pkl', 'onnx']),
    size_bytes: z.int(),
    model_type: z
      .string()
      .nullable()
      .describe('As named in model files; null for pkl and onnx, and for models to be pulled.'),
    feature_names: z.array(z.string()).nullable().describe('Internal names of the features it reads.'),
    kind: z
      .enum(['single', 'collection', 'fr', 'nr', 'filter'])
      .optional()
      .describe('fr and nr: tiny models, full-reference and no-reference.'),
    intended_use: z.string().optional(),
    inputs: z
      .array(
        z.object({
          feature: z.string(),
          log_name: z.string().describe('Its name in reports.'),
          extractor: z.string(),
          options: z.record(z.string(), z.string()),
        }),
      )
      .optional(),
    // Not a tuple: clients of the older protocol read schemas by a draft without prefixItems.
    clip: z
      .array(z.number())
      .nullable()
      .optional()
      .describe('Lowest and highest score; null if scores are not clipped.'),
    availability: z
      .enum(['built-in', 'pulled', 'to be pulled'])
      .optional()
      .describe('For models from list_models. One to be pulled has only the facts known without its file.'),
    pull_with: z.string().optional().describe('Command that downloads it, to be run once.'),
    transform: z.enum(['none', 'on request', 'always']).optional(),
    score_with: z.string().optional().describe('For a tiny model: the parameter that selects it.'),
    experimental: z.string().optional().describe('For a tiny model: what its values are good for.'),
  }),
  handler: async ({ name }, { files }) => ({ document: await describeModelFile(name, files) }),
});

interface FileFacts {
  name: string;
  path: string;
  format: 'json' | 'pkl' | 'onnx';
  size_bytes: number;
}

interface ModelDocument extends FileFacts {
  model_type: string | null;
  feature_names: readonly string[] | null;
  [more: string]: unknown;
}

/** @throws {AnyvmafError} `model` if the file is not a model */
async function describeModelFile(model: FoundModel, files: ToolFiles): Promise<ModelDocument> {
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
  const { openModel } = await import('../checked-api.js');
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
  const [{ openModel }, { describeModel }] = [
    await import('../checked-api.js'),
    await import('../../index.js'),
  ];
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

async function describeTiny({ id, file, kind, ...entry }: TinyRegistryEntry): Promise<ModelDocument> {
  const { describeTinyModel } = await import('../../index.js');
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
