/**
 * @module mcp/tools/run-ladder
 * `run_ladder`: a bitrate ladder.
 */
import * as z from 'zod/v4';
import { encodingResults } from '../scoring/documents.js';
import { encoderOptions, encodingLimits, encodingSource, model } from '../scoring/parameters.js';
import { defineTool } from '../tool.js';
import { headKeys } from '../verdict.js';

const rung = z.object({
  width: z.int(),
  height: z.int(),
  value: z.number().describe("Of the encoder's parameter."),
  kbps: z.number(),
  vmaf: z.number().describe("Scored at the source's size."),
});

export const runLadderTool = defineTool({
  name: 'run_ladder',
  title: 'Build an encoding ladder',
  description:
    'Encodes samples of a source in several sizes and chooses rungs on the convex hull of quality over rate. Answers ' +
    'them, from which rate on each size is the best one, and the ffmpeg command for DASH and HLS. It writes no encode. ' +
    'Takes minutes.',
  inputSchema: z.object({
    src: encodingSource.src,
    resolutions: z
      .array(z.string())
      .min(1)
      .max(12)
      .describe('Sizes such as 1920x1080, or heights such as 720; none larger than the source.'),
    encoder: z.string().max(64).default('libx264').describe("ffmpeg's name of the encoder."),
    encoder_options: encoderOptions,
    target_vmafs: z
      .array(z.number())
      .max(12)
      .default([])
      .describe('Qualities to measure. Default: values of the parameter.'),
    quality_tiers: z.int().min(1).max(32).default(5).describe('Rungs to choose.'),
    format: z
      .enum(['json', 'hls', 'dash'])
      .default('json')
      .describe('Manifest: a JSON object, an HLS playlist or a DASH MPD.'),
    spacing: z
      .enum(['log_bitrate', 'vmaf', 'uniform'])
      .default('log_bitrate')
      .describe('What rungs are evenly spaced in; uniform is vmaf.'),
    framerate: encodingSource.framerate,
    width: encodingSource.width,
    height: encodingSource.height,
    pix_fmt: encodingSource.pix_fmt,
    model,
    ...encodingLimits,
  }),
  outputSchema: z.object({
    ...headKeys,
    manifest: z
      .union([
        z.string(),
        z.object({
          rungs: z.array(
            z.object({
              width: z.int(),
              height: z.int(),
              bitrate_kbps: z.number(),
              bandwidth_bps: z.number().describe('On average.'),
              vmaf: z.number(),
              crf: z.number().describe("Of the encoder's parameter."),
            }),
          ),
        }),
      ])
      .describe('The rungs; with hls and dash as text that names the files that command makes.'),
    format: z.enum(['json', 'hls', 'dash']),
    summary: z.string(),
    notes: z.array(z.string()),
    encoder: z.string(),
    parameter: z.string(),
    metric: z.string(),
    rungs: z.array(rung).describe('By rate; each was measured.'),
    hull: z.array(rung).describe('Points that no mixture of others beats.'),
    takeovers: z
      .array(z.object({ width: z.int(), height: z.int(), kbps: z.number(), vmaf: z.number() }))
      .describe('From which rate on each size is the best one.'),
    encodes: z.int(),
    command: z
      .array(z.string())
      .describe("Encodes all rungs; 'anyvmaf ladder --master' then measures bandwidths."),
    warnings: z.array(z.string()),
    results: encodingResults('the hull'),
  }),
  handler: async (input, context) => (await import('../scoring/curves.js')).runLadder(input, context),
});
