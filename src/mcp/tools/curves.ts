/**
 * @module mcp/tools/curves
 * `run_compare`: compares encoders or presets on one source; `run_ladder`: builds a bitrate ladder.
 */
import * as z from 'zod/v4';
import { encodingResults } from '../scoring/documents.js';
import { encoderOptions, encodingLimits, encodingSource, model } from '../scoring/parameters.js';
import { defineTool } from '../tool.js';
import { headKeys } from '../verdict.js';

export const runCompareTool = defineTool({
  name: 'run_compare',
  title: 'Compare encoders',
  description:
    'Compares encoders or presets of the installed ffmpeg on samples of a source: how much less each needs than the first ' +
    'for equal quality (BD-rate), how fast it is here, and what it needs for a quality. It writes no encode. Takes minutes.',
  inputSchema: z.object({
    src: encodingSource.src,
    target_vmaf: z.number().describe('One quality to search for.').optional(),
    target_vmafs: z
      .array(z.number())
      .max(8)
      .describe('Several. Default: 94, 96, 97, 98 without target_vmaf; []: values of the parameter.')
      .optional(),
    encoders: z
      .array(z.string().min(1).max(400))
      .min(1)
      .max(8)
      .default(['libx264', 'libx265', 'libsvtav1', 'libvpx-vp9'])
      .describe("ffmpeg's names, with options where wanted: libx264:preset=slow. The first is the anchor."),
    width: encodingSource.width,
    height: encodingSource.height,
    pix_fmt: encodingSource.pix_fmt,
    framerate: encodingSource.framerate,
    no_parallel: z.boolean().default(false).describe('Encoders never run side by side.'),
    model,
    ...encodingLimits,
  }),
  outputSchema: z.object({
    ...headKeys,
    src: z.string().describe('As it was given.'),
    tool_version: z.string(),
    wall_time_ms: z.number(),
    schema_version: z.int().optional().describe('2, with target_vmafs.'),
    target_vmaf: z
      .number()
      .optional()
      .describe('If it was the only one requested; rows are then ordered by rate.'),
    target_vmafs: z.array(z.number()).optional(),
    rows: z
      .array(
        z.object({
          codec: z.string().describe('As it was given.'),
          adapter: z.string().describe("ffmpeg's name."),
          runtime_variant: z.string(),
          ffmpeg_bin: z.string(),
          encoder_version: z.string(),
          best_crf: z.number().describe("Of the encoder's parameter."),
          bitrate_kbps: z.number(),
          encode_time_ms: z.number().nullable(),
          vmaf_score: z.number(),
          target_vmaf: z.number(),
          ok: z.boolean().describe('Whether it reaches the target.'),
          error: z.string(),
        }),
      )
      .describe('What each encoder needs for each target.'),
    summary: z.string(),
    notes: z.array(z.string()),
    metric: z.string(),
    ties: z
      .array(z.string())
      .describe('Not distinguishable from the one that needs least: within the error.'),
    encoders: z.array(
      z.object({
        name: z.string(),
        encoder: z.string(),
        parameter: z.string(),
        frames_per_second: z.number().nullable().describe('Of encoding, on this machine.'),
        at_targets: z.array(
          z.object({
            target_vmaf: z.number(),
            value: z.number(),
            kbps: z.number(),
            vmaf: z.number(),
            reached: z.boolean(),
            kbps_at_target: z.number().nullable().describe('Read off the curve.'),
          }),
        ),
        points: z.array(z.object({ value: z.number(), vmaf: z.number(), kbps: z.number() })),
        not_monotone: z.array(z.number()).describe('Values that score better than a finer one.'),
      }),
    ),
    deltas: z.array(
      z.object({
        anchor: z.string(),
        test: z.string(),
        bd_rate_percent: z.number().nullable().describe('Mean difference of rate; negative: less is needed.'),
        interval_95: z
          .array(z.number())
          .nullable()
          .describe('Of bd_rate_percent; containing 0: a tie. null: too few parts of the video.'),
        bd_vmaf: z.number().nullable().describe('Mean difference of quality at equal rate.'),
        overlap: z.number().nullable().describe('The part of the shorter curve that was compared.'),
        refused: z.string().nullable().describe('Why there is none.'),
      }),
    ),
    encodes: z.int(),
    results: encodingResults('the curves'),
  }),
  handler: async (input, context) => (await import('../scoring/curves.js')).runCompare(input, context),
});

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
