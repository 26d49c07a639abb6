/**
 * @module mcp/tools/list-extractors
 * `list_extractors`: the feature extractors, their options and features.
 */
import * as z from 'zod/v4';
import { GPU_BACKENDS } from '../../core/choices.js';
import { usageError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import { defineTool } from '../tool.js';
import { inShort } from '../wording.js';

export const listExtractorsTool = defineTool({
  name: 'list_extractors',
  title: 'List feature extractors',
  description:
    'Lists the feature extractors of the built-in core with their options and the features they emit. To measure one, pass ' +
    'it as feature to vmaf_score or vmaf_score_encoded.',
  inputSchema: z.object({
    name: z.string().max(64).describe('List only this extractor, in full.').optional(),
  }),
  outputSchema: z.object({
    extractors: z.array(
      z.looseObject({
        name: z.string(),
        backend: z.enum(['cpu', ...GPU_BACKENDS]),
        source: z.string().describe('Its source file.'),
        description: z.string(),
        options: z.array(
          z.object({
            name: z.string(),
            type: z.enum(['bool', 'int', 'double', 'choice', 'folder']),
            default: z.union([z.boolean(), z.number(), z.string()]),
            choices: z.array(z.string()).optional(),
            min: z.number().optional(),
            max: z.number().optional(),
            description: z.string(),
          }),
        ),
        features: z
          .array(z.string())
          .describe('Names in reports, including those of options that are off by default.'),
      }),
    ),
  }),
  async handler({ name: wanted }) {
    const { listExtractors } = await import('../../index.js');
    const all = listExtractors();
    const listed = wanted === undefined ? all : all.filter(({ name }) => name === wanted);
    if (listed.length === 0) {
      const names = all.map(({ name }) => name).join(', ');
      throw usageError(`Unknown extractor ${quoted(wanted ?? '', 60)}; available: ${names}.`);
    }
    return {
      document: {
        extractors: listed.map(({ name, source, description, options, features }) => ({
          name,
          backend: 'cpu' as const,
          source,
          description: wanted === undefined ? inShort(description) : description,
          options: options.map(
            ({ name: option, type, default: byDefault, choices, min, max, description: text }) => ({
              name: option,
              type,
              default: byDefault,
              choices,
              min,
              max: max === Number.MAX_VALUE ? undefined : max,
              description: text,
            }),
          ),
          features: features.map(({ alias }) => alias),
        })),
      },
      spare: ['options', 'features', 'source', 'backend'].map((key) => `extractors.[].${key}`),
    };
  },
});
