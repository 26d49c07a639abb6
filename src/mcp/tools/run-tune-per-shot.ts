/**
 * @module mcp/tools/run-tune-per-shot
 * `run_tune_per_shot`: an encoder setting for each shot of a video; follows the reference MCP server where that fits.
 */
import * as z from 'zod/v4';
import { outputPath } from '../paths.js';
import {
  callLimits,
  encoderName,
  encoderOptions,
  encodingSource,
  model,
  searchRange,
} from '../scoring/parameters.js';
import { defineTool, READ_ONLY } from '../tool.js';
import { headKeys } from '../verdict.js';

const shot = z.object({
  shot: z.int().describe('From 1.'),
  first_frame: z.int(),
  frames: z.int(),
  start_frame: z.int().describe('first_frame.'),
  end_frame: z.int().describe('The frame after the last.'),
  start: z.number().describe('Seconds.'),
  begins: z.enum(['start', 'cut', 'split']).describe('split: a part of a shot longer than allowed.'),
  value: z.number().describe('What to encode the shot with.'),
  mean: z.number().describe('Of the metric, with that value.'),
  kbps: z.number(),
  crf: z.number().describe('value.'),
  predicted_vmaf: z.number().describe('mean.'),
  bitrate_kbps: z.number().describe('kbps.'),
  bytes: z.number(),
  margin: z.number().describe('Above the target.'),
});

export const runTunePerShotTool = defineTool({
  name: 'run_tune_per_shot',
  title: 'Tune an encoder shot by shot',
  description:
    'Finds the shots of a video and an encoder setting for each (installed ffmpeg), so that every shot reaches the ' +
    'target, or all together with the fewest bytes. Answers the shots, what that saves against one setting for all, and ' +
    'on request a table (csv), a script (shell), or the encode itself (output). Takes minutes for a minute of video.',
  inputSchema: z.object({
    src: encodingSource.src,
    target_vmaf: z.number().default(92).describe("Mean of the model's score to reach."),
    encoder: encoderName.default('libx264'),
    pix_fmt: encodingSource.pix_fmt,
    framerate: encodingSource.framerate,
    width: encodingSource.width,
    height: encodingSource.height,
    scene_threshold: z
      .number()
      .gt(0)
      .max(1)
      .default(0.3)
      .describe('Change of the picture that counts as a cut.'),
    output: outputPath(
      'File for the joined shots (.mp4, .m4v, .mov, .mkv, .webm), in an allowed folder. Default: none.',
    ),
    format: z
      .enum(['json', 'shell', 'csv'])
      .default('json')
      .describe('shell and csv: also as text, in output and as a resource.'),
    goal: z
      .enum(['each', 'whole'])
      .default('each')
      .describe('Each shot reaches the target, or the mean of all does with the fewest bytes.'),
    encoder_options: encoderOptions,
    range: searchRange('Values of the parameter to choose from.'),
    min_seconds: z.number().positive().default(0.5).describe('Shortest shot.'),
    max_seconds_per_shot: z.number().positive().default(10).describe('Longest shot; longer ones are split.'),
    model,
    ...callLimits,
    max_seconds: callLimits.max_seconds.default(1800),
  }),
  outputSchema: z.object({
    ...headKeys,
    summary: z.string(),
    notes: z.array(z.string()),
    target_vmaf: z.number(),
    framerate: z.number().describe('Of the source, on average.'),
    format: z.enum(['json', 'shell', 'csv']),
    output: z.string().nullable().describe('The table or the script.'),
    encoder: z.string(),
    parameter: z.string(),
    metric: z.string(),
    goal: z.enum(['each', 'whole']),
    reached: z.boolean(),
    shots: z.array(shot),
    mean: z.number().describe('Of all frames.'),
    bytes: z.number(),
    kbps: z.number(),
    single: z
      .object({
        value: z.number(),
        bytes: z.number(),
        reached: z.boolean(),
      })
      .describe('One encode of the whole that reaches the same.'),
    saving: z.number().describe('Share of its bytes that the settings of the shots save.'),
    encodes: z.int(),
    warnings: z.array(z.string()),
    file: z
      .object({
        path: z.string(),
        bytes: z.number(),
        kbps: z.number(),
        mean: z.number(),
        reached: z.boolean(),
      })
      .nullable()
      .describe('What was written to output, as it was scored.'),
    uri: z.string().nullable().describe('The table or the script, as a resource.'),
  }),
  // Writes a new file if `output` names one.
  annotations: { ...READ_ONLY, readOnlyHint: false, idempotentHint: false },
  handler: async (input, context) => (await import('../scoring/shots.js')).tunePerShot(input, context),
});
