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
    'Compares encoders or presets of the installed ffmpeg on samples of a source: BD-rate against the first, encoding ' +
    'speed on this machine, and the setting and bit rate for each target quality. Writes no encode. Takes minutes.',
  inputSchema: z.object({
    src: encodingSource.src,
    target_vmaf: z.number().describe('One target quality.').optional(),
    target_vmafs: z
      .array(z.number())
      .max(8)
      .describe('Several. Default without target_vmaf: 94, 96, 97, 98. []: fixed parameter values.')
      .optional(),
    encoders: z
      .array(z.string().min(1).max(400))
      .min(1)
      .max(8)
      .default(['libx264', 'libx265', 'libsvtav1', 'libvpx-vp9'])
      .describe('ffmpeg names, optionally with options: libx264:preset=slow. The first is the anchor.'),
    width: encodingSource.width,
    height: encodingSource.height,
    pix_fmt: encodingSource.pix_fmt,
    framerate: encodingSource.framerate,
    no_parallel: z.boolean().default(false).describe('No effect: encoders always run one at a time.'),
    model,
    ...encodingLimits,
  }),
  outputSchema: z.object({
    ...headKeys,
    src: z.string().describe('As given.'),
    tool_version: z.string(),
    wall_time_ms: z.number(),
    schema_version: z.int().optional().describe('2 with target_vmafs.'),
    target_vmaf: z.number().optional().describe('If it is the only target; rows are then sorted by rate.'),
    target_vmafs: z.array(z.number()).optional(),
    rows: z
      .array(
        z.object({
          codec: z.string().describe('As given.'),
          adapter: z.string().describe('ffmpeg encoder name.'),
          runtime_variant: z.string(),
          ffmpeg_bin: z.string(),
          encoder_version: z.string(),
          best_crf: z.number().describe("Value of the encoder's parameter."),
          bitrate_kbps: z.number(),
          encode_time_ms: z.number().nullable(),
          vmaf_score: z.number(),
          target_vmaf: z.number(),
          ok: z.boolean().describe('Whether it reaches the target.'),
          error: z.string(),
        }),
      )
      .describe('Setting and rate of each encoder for each target.'),
    summary: z.string(),
    notes: z.array(z.string()),
    metric: z.string(),
    ties: z.array(z.string()).describe('Encoders within measurement error of the one with the lowest rate.'),
    encoders: z.array(
      z.object({
        name: z.string(),
        encoder: z.string(),
        parameter: z.string(),
        frames_per_second: z.number().nullable().describe('Encoding speed on this machine.'),
        at_targets: z.array(
          z.object({
            target_vmaf: z.number(),
            value: z.number(),
            kbps: z.number(),
            vmaf: z.number(),
            reached: z.boolean(),
            kbps_at_target: z.number().nullable().describe('Interpolated on the curve; null outside it.'),
          }),
        ),
        points: z.array(z.object({ value: z.number(), vmaf: z.number(), kbps: z.number() })),
        not_monotone: z.array(z.number()).describe('Parameter values that score higher than a finer one.'),
      }),
    ),
    deltas: z.array(
      z.object({
        anchor: z.string(),
        test: z.string(),
        bd_rate_percent: z
          .number()
          .nullable()
          .describe('Mean rate difference at equal quality; negative: a lower rate.'),
        interval_95: z
          .array(z.number())
          .nullable()
          .describe('Of bd_rate_percent; a tie if it contains 0. null: too few parts of the video.'),
        bd_vmaf: z.number().nullable().describe('Mean quality difference at equal rate.'),
        overlap: z.number().nullable().describe('Fraction of the shorter curve that was compared.'),
        refused: z.string().nullable().describe('Why there is no BD-rate.'),
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
  value: z.number().describe("Value of the encoder's parameter."),
  kbps: z.number(),
  vmaf: z.number().describe("Scored at the source's size."),
});

export const runLadderTool = defineTool({
  name: 'run_ladder',
  title: 'Build a bitrate ladder',
  description:
    'Encodes samples of a source at several sizes and picks rungs on the convex hull of quality over rate. Returns the ' +
    'rungs, the rate from which each size is best, and the ffmpeg command for DASH and HLS. Writes no encode. Takes minutes.',
  inputSchema: z.object({
    src: encodingSource.src,
    resolutions: z
      .array(z.string())
      .min(1)
      .max(12)
      .describe('Sizes such as 1920x1080, or heights such as 720; none larger than the source.'),
    encoder: z.string().max(64).default('libx264').describe('ffmpeg encoder name.'),
    encoder_options: encoderOptions,
    target_vmafs: z
      .array(z.number())
      .max(12)
      .default([])
      .describe('Target qualities. Default: fixed parameter values.'),
    quality_tiers: z.int().min(1).max(32).default(5).describe('Number of rungs.'),
    format: z
      .enum(['json', 'hls', 'dash'])
      .default('json')
      .describe('Manifest: a JSON object, an HLS playlist or a DASH MPD.'),
    spacing: z
      .enum(['log_bitrate', 'vmaf', 'uniform'])
      .default('log_bitrate')
      .describe('Scale on which rungs are evenly spaced; uniform: same as vmaf.'),
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
              bandwidth_bps: z.number().describe('Average.'),
              vmaf: z.number(),
              crf: z.number().describe("Value of the encoder's parameter."),
            }),
          ),
        }),
      ])
      .describe('The rungs; for hls and dash, text that names the files created by command.'),
    format: z.enum(['json', 'hls', 'dash']),
    summary: z.string(),
    notes: z.array(z.string()),
    encoder: z.string(),
    parameter: z.string(),
    metric: z.string(),
    rungs: z.array(rung).describe('Sorted by rate; each was measured.'),
    hull: z.array(rung).describe('Points on the convex hull.'),
    takeovers: z
      .array(z.object({ width: z.int(), height: z.int(), kbps: z.number(), vmaf: z.number() }))
      .describe('Rate from which each size is best.'),
    encodes: z.int(),
    command: z
      .array(z.string())
      .describe("Encodes all rungs; 'anyvmaf ladder --master' then measures bandwidths."),
    warnings: z.array(z.string()),
    results: encodingResults('the hull'),
  }),
  handler: async (input, context) => (await import('../scoring/curves.js')).runLadder(input, context),
});
