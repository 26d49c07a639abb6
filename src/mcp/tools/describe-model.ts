/**
 * @module mcp/tools/describe-model
 * `describe_model`: what a model is made of, by name, id or path.
 */
import * as z from 'zod/v4';
import { modelName } from '../paths.js';
import { defineTool, READ_ONLY } from '../tool.js';

export const describeModelTool = defineTool({
  name: 'describe_model',
  title: 'Describe a model',
  description:
    'Says what a model is made of: kind of regression, features it reads and the extractors and options behind them, ' +
    'clipping, transform, support vectors; of a tiny model its graph and what its values are good for.',
  inputSchema: z.object({
    name: modelName(
      'Name or id of list_models (vmaf_v0.6.1), its file (vmaf_v0.6.1.json), or path of a model file.',
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
      .describe('As model files call it; null for pkl and onnx, and for models to be pulled.'),
    feature_names: z.array(z.string()).nullable().describe('Internal names of the features it reads.'),
    kind: z
      .enum(['single', 'collection', 'fr', 'nr', 'filter'])
      .optional()
      .describe('fr and nr are tiny models: with a reference and without.'),
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
    // Not a tuple: clients of the older protocol read schemas by a draft that has none of this kind.
    clip: z
      .array(z.number())
      .nullable()
      .optional()
      .describe('Lowest and highest score; null where scores are not clipped.'),
    availability: z
      .enum(['built-in', 'pulled', 'to be pulled'])
      .optional()
      .describe(
        'Of the models of list_models. One to be pulled is described by what is known without its file.',
      ),
    pull_with: z.string().optional().describe('The command that fetches it, once.'),
    transform: z.enum(['none', 'on request', 'always']).optional(),
    score_with: z.string().optional().describe('Of a tiny model: the parameter that scores with it.'),
    experimental: z.string().optional().describe('Of a tiny model: all that its values are good for.'),
  }),
  annotations: READ_ONLY,
  async handler({ name }, { files }) {
    const { describeModelFile } = await import('../scoring/model-description.js');
    return { document: await describeModelFile(name, files) };
  },
});
