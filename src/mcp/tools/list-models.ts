/**
 * @module mcp/tools/list-models
 * `list_models`: the models that can be named.
 */
import * as z from 'zod/v4';
import { defineTool, READ_ONLY } from '../tool.js';
import { inShort } from '../wording.js';

export const listModelsTool = defineTool({
  name: 'list_models',
  title: 'List models',
  description:
    'Lists the VMAF models, the default first, with what each is for, then tiny ONNX models (for tiny_model). One ' +
    'that is to be pulled scores only after the user has run pull_with.',
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
        availability: z
          .enum(['built-in', 'pulled', 'to be pulled'])
          .describe('Whether it ships with the package, was fetched, or has to be fetched first.'),
        pull_with: z.string().optional().describe('The command that fetches it, once.'),
        default: z.boolean(),
      }),
    ),
    tiny_models: z
      .array(
        z.object({
          id: z.string().describe('For tiny_model.'),
          kind: z.string().describe('fr compares with the reference, nr needs none.'),
          description: z.string().optional(),
          quantisation: z.string(),
          licence: z.string().optional(),
        }),
      )
      .describe('Of the registry in the package.'),
  }),
  annotations: READ_ONLY,
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
          ...(availability === 'to be pulled' && { pull_with: `anyvmaf models pull ${name}` }),
          default: i === 0,
        })),
        tiny_models: tiny
          .filter(({ smoke }) => !smoke)
          .map(({ id, kind, quantisation, description, licence }) => ({
            id,
            kind,
            quantisation,
            ...(description !== undefined && { description }),
            ...(licence !== undefined && { licence }),
          })),
      },
      spare: [
        ...['tiny_models.[].quantisation', 'tiny_models.[].licence', 'tiny_models.[].description'],
        ...['kind', 'default', 'availability', 'size_bytes', 'format'].map((key) => `models.[].${key}`),
      ],
    };
  },
});
