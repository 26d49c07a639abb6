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
  title: 'Find an encoder setting for a quality',
  description:
    'Finds the setting (mostly a CRF) with which an encoder of the installed ffmpeg makes the smallest file that ' +
    'reaches a quality, from encodes of samples of the source. Answers the setting, what it will score with an ' +
    'interval, the curve, and the ffmpeg command. It writes no encode. Takes seconds to minutes.',
  inputSchema: z.object({
    source: inputPath('The video to encode, of a kind that ffmpeg reads.'),
    encoder: encoderName,
    encoder_options: encoderOptions,
    targets: z
      .array(z.string().max(64))
      .min(1)
      .max(8)
      .default(['95'])
      .describe('All of these: 95 (the mean), p5>=90, worst_second>=85, psnr_y.mean>=40, cambi.max<=5.'),
    at_most: z.number().optional().describe('A mean above this wastes bits.'),
    max_size: z.number().positive().optional().describe("Largest size as a share of the source's: 0.6."),
    range: searchRange('Values of the parameter to search.'),
    pixel_format: z
      .string()
      .max(32)
      .optional()
      .describe("Pixel format of the encode. Default: the source's."),
    verify: z
      .boolean()
      .default(false)
      .describe('Also encode and score the whole source with the value found.'),
    model,
    ...encodingLimits,
  }),
  outputSchema: z.object({
    ...headKeys,
    summary: z.string(),
    encoder: z.string(),
    parameter: z.string(),
    value: z.number().describe('To encode with; the nearest where there is a shortfall.'),
    shortfall: z
      .object({
        reason: z.enum(['target', 'size', 'above']),
        by: z.number().optional().describe('Points missed, or above at_most.'),
        share: z.number().optional().describe("Its size as a share of the source's."),
      })
      .nullable(),
    unfinished: z
      .object({ min: z.number(), max: z.number() })
      .nullable()
      .describe('At max_seconds or max_encodes: range to go on with.'),
    predicted: z.number().describe("The first target's statistic over the whole video."),
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
    sampled_frames: z.int().nullable().describe('Frames that were scored; null for all.'),
    encodes: z.int(),
    final: z
      .object({
        mean: z.number(),
        qualities: z.array(z.number()).describe('By target.'),
        bytes: z.number(),
        reached: z.boolean(),
      })
      .nullable(),
    warnings: z.array(z.string()).describe('What of the source is lost.'),
    command: z.array(z.string()).describe('Makes the encode: a program and its arguments.'),
    results: encodingResults('the curve'),
  }),
  handler: async (input, context) => (await import('../scoring/quality.js')).findQuality(input, context),
});
