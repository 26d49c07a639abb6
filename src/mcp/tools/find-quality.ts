/**
 * @module mcp/tools/find-quality
 * `find_quality`: finds the setting with which an encoder reaches a quality. Ours.
 */
import * as z from 'zod/v4';
import { inputPath } from '../paths.js';
import { encodingResults } from '../scoring/documents.js';
import { encoderName, encoderOptions, encodingLimits, model, searchRange } from '../scoring/parameters.js';
import { defineTool } from '../tool.js';
import { headKeys } from '../verdict.js';

const interval = z.array(z.number()).length(2).describe('Low end, high end.');

export const findQualityTool = defineTool({
  name: 'find_quality',
  title: 'Find the encoder setting for a target quality',
  description:
    'Finds the setting (usually a CRF) with which an encoder of the installed ffmpeg makes the smallest file that ' +
    'reaches a target quality, by encoding samples of the source. Returns the setting, its predicted score with an ' +
    'interval, the curve, and the ffmpeg command. Writes no encode. Takes seconds to minutes.',
  inputSchema: z.object({
    source: inputPath('Video to encode, in any format that ffmpeg reads.'),
    encoder: encoderName,
    encoder_options: encoderOptions,
    targets: z
      .array(z.string().max(64))
      .min(1)
      .max(8)
      .default(['95'])
      .describe(
        'Targets, all to be reached: 95 (the mean), p5>=90, worst_second>=85, psnr_y.mean>=40, cambi.max<=5.',
      ),
    at_most: z.number().optional().describe('Maximum mean; above it, bits are wasted.'),
    max_size: z
      .number()
      .positive()
      .optional()
      .describe("Maximum size as a fraction of the source's, such as 0.6."),
    range: searchRange('Parameter values to search.'),
    pixel_format: z
      .string()
      .max(32)
      .optional()
      .describe("Pixel format of the encode. Default: the source's."),
    verify: z.boolean().default(false).describe('Also encode and score the whole source at the value found.'),
    model,
    ...encodingLimits,
  }),
  outputSchema: z.object({
    ...headKeys,
    summary: z.string(),
    encoder: z.string(),
    parameter: z.string(),
    value: z.number().describe('Parameter value to encode with; with a shortfall, the nearest one.'),
    shortfall: z
      .object({
        reason: z.enum(['target', 'size', 'above']),
        by: z.number().optional().describe('Points below the target, or above at_most.'),
        share: z.number().optional().describe("Its size as a fraction of the source's."),
      })
      .nullable(),
    unfinished: z
      .object({ min: z.number(), max: z.number() })
      .nullable()
      .describe('Stopped at max_seconds or max_encodes: range to resume.'),
    predicted: z.number().describe("Predicted value of the first target's statistic over the whole video."),
    interval_95: interval,
    interval_99: interval,
    predicted_bytes: z.number(),
    points: z.array(
      z.object({
        value: z.number(),
        mean: z.number(),
        kbps: z.number(),
        margin: z.number().describe('Above the hardest target; negative: missed.'),
      }),
    ),
    not_monotone: z.array(z.number()).describe('Values that score better than the next finer one.'),
    sampled_frames: z.int().nullable().describe('Frames scored; null: all.'),
    encodes: z.int(),
    final: z
      .object({
        mean: z.number(),
        qualities: z.array(z.number()).describe('One per target.'),
        bytes: z.number(),
        reached: z.boolean(),
      })
      .nullable(),
    warnings: z.array(z.string()).describe('What the encode loses of the source.'),
    command: z.array(z.string()).describe('Command that makes the encode: program and arguments.'),
    results: encodingResults('the curve'),
  }),
  handler: async (input, context) => (await import('../scoring/quality.js')).findQuality(input, context),
});
