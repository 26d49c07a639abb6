/**
 * @module mcp/tools/list-models
 * `list_models`: the models that ship with the package.
 */
import * as z from 'zod/v4';
import { defineTool, READ_ONLY } from '../tool.js';

export const listModelsTool = defineTool({
  name: 'list_models',
  title: 'List VMAF models',
  description:
    'Lists the VMAF models that ship with the server, the default first, and what each is meant for. Score with one by ' +
    'model "version=NAME"; describe_model says what it is made of.',
  inputSchema: z.object({}),
  outputSchema: z.object({
    models: z.array(
      z.looseObject({
        name: z.string(),
        path: z
          .string()
          .describe('Within the package; describe_model and path=FILE of a model string take it.'),
        format: z.enum(['json', 'pkl', 'onnx']),
        size_bytes: z.int(),
        kind: z.enum(['single', 'collection']),
        intended_use: z.string(),
        default: z.boolean(),
      }),
    ),
  }),
  annotations: READ_ONLY,
  async handler() {
    const { builtInModels } = await import('../scoring/model-files.js');
    const models = await builtInModels();
    return {
      document: {
        models: models.map(({ summary, path, sizeBytes }, i) => ({
          name: summary.name,
          path,
          format: 'json' as const,
          size_bytes: sizeBytes,
          kind: summary.kind,
          intended_use: summary.intendedUse,
          default: i === 0,
        })),
      },
    };
  },
});
