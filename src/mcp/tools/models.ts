/**
 * @module mcp/tools/models
 * `list_models`: lists models; `describe_model`: describes one; `eval_model_on_split` and `compare_models`: measure how
 * well tiny ONNX models predict a table of opinion scores.
 */
import { basename } from 'node:path';
import * as z from 'zod/v4';
import { SPLITS, TINY_DEVICE_CHOICES, TINY_PRECISIONS } from '../../core/choices.js';
import type {
  EvaluateOptions,
  Evaluation,
  FeatureModel,
  ModelSummary,
  Origin,
  TinyRegistryEntry,
} from '../../index.js';
import {
  type CheckedModel,
  type FoundModel,
  inputPath,
  modelName,
  type ToolFiles,
  tinyModel,
  tinyModels,
} from '../paths.js';
import { choice, each, numbers, rows, textOrNull, texts, value, whole, wholeOrNull } from '../schemas.js';
import { defineTool, type ToolContext } from '../tool.js';
import { inShort, sentenceOf } from '../wording.js';

const availability = z.enum(['built-in', 'pulled', 'to be pulled']);
const pull_with = z.string().optional().describe('Command that downloads it, to be run once.');

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
        availability: availability.describe(
          'Whether it ships with the package, was downloaded, or must be downloaded first.',
        ),
        pull_with,
        default: z.boolean(),
      }),
    ),
    tiny_models: rows({
      id: z.string().describe('For tiny_model.'),
      kind: z.string().describe('fr: full-reference; nr: no-reference.'),
      description: z.string().optional(),
      quantisation: z.string(),
      licence: z.string().optional(),
    }).describe('Tiny models in the registry of the package.'),
  }),
  async handler() {
    const { listModels, listTinyModels } = await import('../../index.js');
    const [models, tiny] = await Promise.all([listModels(), listTinyModels()]);
    return {
      document: {
        models: models.map(({ kind, intendedUse, availability, ...model }, i) => ({
          ...{ ...factsOf(model), kind, intended_use: inShort(intendedUse), availability },
          pull_with: availability === 'to be pulled' ? pullCommand(model) : undefined,
          default: i === 0,
        })),
        tiny_models: tiny
          .filter(({ smoke }) => !smoke)
          .map(({ id, kind, quantisation, description, licence }) => {
            return { id, kind, quantisation, description, licence };
          }),
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
    ...each(z.string(), 'name', 'path'),
    format: z.enum(['json', 'pkl', 'onnx']),
    size_bytes: z.int(),
    model_type: textOrNull.describe(
      'As named in model files; null for pkl and onnx, and for models to be pulled.',
    ),
    feature_names: texts.nullable().describe('Internal names of the features it reads.'),
    kind: z
      .enum(['single', 'collection', 'fr', 'nr', 'filter'])
      .optional()
      .describe('fr and nr: tiny models, full-reference and no-reference.'),
    intended_use: z.string().optional(),
    inputs: rows({
      feature: z.string(),
      log_name: z.string().describe('Its name in reports.'),
      extractor: z.string(),
      options: z.record(z.string(), z.string()),
    }).optional(),
    // Not a tuple: clients of the older protocol read schemas by a draft without prefixItems.
    clip: numbers.nullable().optional().describe('Lowest and highest score; null if scores are not clipped.'),
    availability: availability
      .optional()
      .describe('For models from list_models. One to be pulled has only the facts known without its file.'),
    pull_with,
    transform: z.enum(['none', 'on request', 'always']).optional(),
    score_with: z.string().optional().describe('For a tiny model: the parameter that selects it.'),
    experimental: z.string().optional().describe('For a tiny model: what its values are good for.'),
  }),
  handler: async ({ name }, { files }) => ({ document: await describeModelFile(name, files) }),
});

function factsOf({ name, file, bytes }: Pick<ModelSummary, 'name' | 'file' | 'bytes'>) {
  return { name, path: `model/${file}`, format: 'json', size_bytes: bytes } as const;
}

const pullCommand = ({ name }: Pick<ModelSummary, 'name'>) => `anyvmaf models pull ${name}`;

/** @throws {AnyvmafError} `model` if the file is not a model */
async function describeModelFile(model: FoundModel, files: ToolFiles) {
  const { origin } = files;
  if (model.summary) return describeListed(model.summary, model.text, origin);
  if (model.tiny) return describeTiny(model.tiny);
  const { path, format, text } = model;
  const facts = { name: basename(path, `.${format}`), path, format, size_bytes: files.sizeOf(path) };
  if (text === undefined) return { ...facts, model_type: null, feature_names: null };
  const { openModel } = await import('../checked-api.js');
  return { ...facts, ...described(await openModel(text, { origin })) };
}

async function describeListed(summary: ModelSummary, text: CheckedModel, origin: Origin) {
  const { kind, intendedUse: intended_use, availability, features } = summary;
  const facts = { ...factsOf(summary), intended_use, availability };
  if (availability === 'to be pulled')
    return { ...facts, kind, model_type: null, feature_names: features, pull_with: pullCommand(summary) };
  const { openModel } = await import('../checked-api.js');
  const { describeModel } = await import('../../index.js');
  const [model, { supportVectors: support_vectors, licence, sha256 }] = await Promise.all([
    openModel(text, { origin }),
    describeModel(summary.name),
  ]);
  return { ...facts, ...described(model), support_vectors, licence, sha256 };
}

async function describeTiny({ id, file, kind, ...entry }: TinyRegistryEntry) {
  const { describeTinyModel } = await import('../../index.js');
  const found = await describeTinyModel(id);
  const { features, scaler, codecs, inputs, outputs, parameters, opset, quantisation, sha256 } = found;
  return {
    ...{ name: id, path: `model/tiny/${file}`, format: 'onnx' as const, size_bytes: found.bytes },
    ...{ model_type: null, feature_names: features, kind, intended_use: entry.description },
    experimental: entry.experimental,
    score_with: `tiny_model: ${JSON.stringify(id)}`,
    scaler: scaler && (scaler.inGraph ? 'in the graph' : 'in the sidecar'),
    graph: { inputs, outputs, parameters, opset },
    ...{ codecs, quantisation, licence: entry.licence ?? null, sha256 },
  };
}

function described({ type, kind, clip, transform, inputs }: FeatureModel) {
  return {
    ...{ model_type: type, feature_names: inputs.map(({ feature }) => feature), kind, clip },
    inputs: inputs.map(({ logName: log_name, feature, extractor, options }) => {
      return { feature, log_name, extractor, options };
    }),
    transform:
      transform === null
        ? ('none' as const)
        : transform.enabled
          ? ('always' as const)
          : ('on request' as const),
  };
}

/** Most keys with figures in an answer. */
const MOST_KEYS = 50;

const evaluationParameters = {
  features: inputPath(
    "Parquet table with a row per frame: key, mos, and features such as adm2. 'anyvmaf features --parquet' writes one.",
  ),
  split: z
    .enum(SPLITS)
    .default('test')
    .describe('Rows to use, split by the SHA-256 of their key; all rows without a column key.'),
  input_name: z
    .string()
    .min(1)
    .default('features')
    .describe('Graph input for the features. Default: from the sidecar, else the first.'),
  target: z.string().min(1).default('mos').describe('Column to predict.'),
  tiny_device: choice(TINY_DEVICE_CHOICES, 'Device for the model; fails if unavailable.'),
  tiny_precision: choice(TINY_PRECISIONS, 'Precision, for models that also come in int8.'),
  tiny_codec: z
    .string()
    .min(1)
    .describe('Codec-aware models: encoder of all rows. Default: column codec or encoder.')
    .optional(),
  tiny_preset: z.string().min(1).describe('Its preset. Default: column preset.').optional(),
  tiny_crf: z.number().min(0).max(63).describe('Its CRF. Default: column crf.').optional(),
  resamples: whole(0, 10_000)
    .describe('Bootstrap resamples for the 95 % intervals; 0: no intervals.')
    .optional(),
  seed: whole(0, 0xffffffff).default(1).describe('Bootstrap seed.'),
};

function evaluateOptions(
  input: Omit<z.output<z.ZodObject<typeof evaluationParameters>>, 'features'>,
  { signal, files }: ToolContext,
): EvaluateOptions & { readonly origin: Origin } {
  const { split, target, resamples, seed, input_name: name } = input;
  return {
    ...{ split, target, resamples, seed, origin: files.origin, signal },
    // As if missing: the engine tries this name anyway, after the sidecar's.
    inputName: name === 'features' ? undefined : name,
    device: input.tiny_device,
    precision: input.tiny_precision,
    codec: input.tiny_codec,
    preset: input.tiny_preset,
    crf: input.tiny_crf,
  };
}

const interval = numbers.min(2).max(2).nullable();

const intervals = z
  .looseObject({ plcc: interval, srocc: interval, krocc: interval, rmse: interval })
  .nullable()
  .describe('95 % bootstrap intervals, lower and upper end.');

const figures = {
  n: z.int().describe('Number of rows.'),
  plcc: value.describe('Pearson correlation; null if one side is constant.'),
  srocc: value.describe('Spearman rank correlation, average ranks for ties.'),
  krocc: value.describe("Kendall's tau-b."),
  rmse: z.number().describe('Root mean squared error, without fitting the predictions first.'),
};

/** Members to drop from a long answer, least important first. */
const SPARE_OF_EVALUATION = ['per_key', 'columns', 'left_out', 'bootstrap', 'clips', 'notes'] as const;

const evaluationSchema = z.looseObject({
  ...each(z.string(), 'model', 'features'),
  split: z.enum(SPLITS).describe('Rows evaluated; all for a table without keys.'),
  ...figures,
  columns: texts.describe('Features in the order of the model input.'),
  target: z.string(),
  intervals,
  bootstrap: z
    .looseObject({
      unit: z.enum(['key', 'clip', 'row']).describe('Unit that was resampled.'),
      ...each(z.int(), 'units', 'resamples', 'seed'),
      level: z.number(),
    })
    .nullable(),
  clips: z
    .looseObject({ ...figures, n: z.int().describe('Number of clips.'), intervals })
    .nullable()
    .describe('Figures over clips, each represented by its mean prediction and mean target.'),
  keys: wholeOrNull.describe('Number of keys; null for a table without keys.'),
  per_key: z
    .array(
      z.looseObject({ key: z.string(), ...figures, mean_prediction: z.number(), mean_target: z.number() }),
    )
    .nullable()
    .describe(`Figures of each key, largest error first, at most ${MOST_KEYS}.`),
  left_out: z
    .looseObject({ other_split: z.int(), no_key: z.int(), no_target: z.int(), no_feature: z.int() })
    .describe('Rows that were not evaluated, by reason.'),
  ...each(z.string(), 'runtime', 'device'),
  notes: texts.describe('Caveats about the figures.'),
});

/** @param names as the caller named model and table */
function evaluationDocument(
  evaluation: Evaluation,
  names: { readonly model: string; readonly features: string },
) {
  const { per_key: keys } = evaluation;
  const worst = keys?.toSorted((a, b) => b.rmse - a.rmse).slice(0, MOST_KEYS);
  return { ...evaluation, ...names, keys: keys?.length ?? null, per_key: worst ?? null };
}

export const evalModelOnSplit = defineTool({
  name: 'eval_model_on_split',
  title: 'Evaluate an ONNX model',
  description:
    'Measures how well a tiny ONNX model predicts opinion scores (column mos of a Parquet feature table) on the rows of a ' +
    'split. Returns PLCC, SROCC, KROCC and RMSE with 95 % intervals over rows and clips, and per key. Applies the ' +
    "model's sidecar.",
  inputSchema: z.object({
    model: tinyModel('Path of an .onnx file, or id of a registered tiny model.'),
    ...evaluationParameters,
  }),
  outputSchema: evaluationSchema,
  async handler({ model, features, ...input }, context) {
    return context.pool.run(1, async () => {
      const { evaluateModel } = await import('../checked-api.js');
      const evaluation = await evaluateModel(model.text, features.path, evaluateOptions(input, context));
      return {
        document: evaluationDocument(evaluation, { model: model.named, features: features.named }),
        spare: SPARE_OF_EVALUATION,
      };
    });
  },
});

export const compareModels = defineTool({
  name: 'compare_models',
  title: 'Rank ONNX models',
  description:
    'Ranks tiny ONNX models by how well they predict opinion scores on the same rows of a Parquet feature table: by ' +
    'descending PLCC, each with the figures of eval_model_on_split.',
  inputSchema: z.object({
    models: tinyModels('Paths of .onnx files, or ids of registered tiny models.', 100),
    ...evaluationParameters,
  }),
  outputSchema: z.looseObject({
    ranked: z.array(evaluationSchema).describe('By descending PLCC; undefined ones last.'),
    errors: rows({ model: z.string(), error: z.string() }).describe(
      'Models that could not be evaluated, in input order.',
    ),
  }),
  async handler({ models, features, ...input }, context) {
    const texts = [...new Set(models.flatMap((model) => ('text' in model ? model.text : [])))];
    return context.pool.run(1, async () => {
      const api = await import('../checked-api.js');
      const { ranked, errors: failed } =
        texts.length > 0
          ? await api.compareModels(texts, features.path, evaluateOptions(input, context))
          : { ranked: [], errors: [] };
      const errorOf = (given: (typeof models)[number]) =>
        'text' in given ? failed.find(({ model }) => model === given.text)?.error : sentenceOf(given.refusal);
      const nameOf = (text: string) =>
        models.find((given) => 'text' in given && given.text === text)?.named ?? text;
      return {
        document: {
          ranked: ranked.map((evaluation) => {
            const names = { model: nameOf(evaluation.model), features: features.named };
            return evaluationDocument(evaluation, names);
          }),
          errors: models.flatMap((given) => {
            const error = errorOf(given);
            return error === undefined ? [] : [{ model: given.named, error }];
          }),
        },
        spare: SPARE_OF_EVALUATION.map((key) => `ranked.[].${key}`),
      };
    });
  },
});
