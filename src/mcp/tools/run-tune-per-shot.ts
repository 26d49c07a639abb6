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
  shot: z.int().describe('1-based.'),
  first_frame: z.int(),
  frames: z.int(),
  start_frame: z.int().describe('Same as first_frame.'),
  end_frame: z.int().describe('Exclusive.'),
  start: z.number().describe('Seconds.'),
  begins: z.enum(['start', 'cut', 'split']).describe('split: part of a shot that was too long.'),
  value: z.number().describe('Parameter value for the shot.'),
  mean: z.number().describe('Mean of the metric at that value.'),
  kbps: z.number(),
  crf: z.number().describe('Same as value.'),
  predicted_vmaf: z.number().describe('Same as mean.'),
  bitrate_kbps: z.number().describe('Same as kbps.'),
  bytes: z.number(),
  margin: z.number().describe('Above the target; negative: missed.'),
});

export const runTunePerShotTool = defineTool({
  name: 'run_tune_per_shot',
  title: 'Tune an encoder shot by shot',
  description:
    'Detects the shots of a video and finds an encoder setting for each (installed ffmpeg), so that every shot, or the ' +
    'whole with the fewest bytes, reaches the target. Returns the shots, the saving against one setting for all, and on ' +
    'request a table (csv), a script (shell) or the encode (output). Takes minutes per minute of video.',
  inputSchema: z.object({
    src: encodingSource.src,
    target_vmaf: z.number().default(92).describe('Target mean score.'),
    encoder: encoderName.default('libx264'),
    pix_fmt: encodingSource.pix_fmt,
    framerate: encodingSource.framerate,
    width: encodingSource.width,
    height: encodingSource.height,
    scene_threshold: z.number().gt(0).max(1).default(0.3).describe('Scene change that counts as a cut.'),
    output: outputPath(
      'File for the joined shots (.mp4, .m4v, .mov, .mkv, .webm), in an allowed folder. Default: none.',
    ),
    format: z
      .enum(['json', 'shell', 'csv'])
      .default('json')
      .describe('shell and csv: also text, in output and as a resource.'),
    goal: z
      .enum(['each', 'whole'])
      .default('each')
      .describe('each: every shot reaches the target; whole: the overall mean does, with the fewest bytes.'),
    encoder_options: encoderOptions,
    range: searchRange('Parameter values to choose from.'),
    min_seconds: z.number().positive().default(0.5).describe('Shortest shot.'),
    max_seconds_per_shot: z.number().positive().default(10).describe('Longest shot; longer shots are split.'),
    model,
    ...callLimits,
    max_seconds: callLimits.max_seconds.default(1800),
  }),
  outputSchema: z.object({
    ...headKeys,
    summary: z.string(),
    notes: z.array(z.string()),
    target_vmaf: z.number(),
    framerate: z.number().describe('Average frame rate of the source.'),
    format: z.enum(['json', 'shell', 'csv']),
    output: z.string().nullable().describe('The table or the script.'),
    encoder: z.string(),
    parameter: z.string(),
    metric: z.string(),
    goal: z.enum(['each', 'whole']),
    reached: z.boolean(),
    shots: z.array(shot),
    mean: z.number().describe('Mean over all frames.'),
    bytes: z.number(),
    kbps: z.number(),
    single: z
      .object({
        value: z.number(),
        bytes: z.number(),
        reached: z.boolean(),
      })
      .describe('One value for the whole video that reaches the same, if reached.'),
    saving: z.number().describe('Fraction of its bytes that settings per shot save.'),
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
      .describe('The file written to output, and its score.'),
    uri: z.string().nullable().describe('URI of the table or the script.'),
  }),
  // Writes a new file if `output` names one.
  annotations: { ...READ_ONLY, readOnlyHint: false, idempotentHint: false },
  handler: async (input, context) => (await import('../scoring/shots.js')).tunePerShot(input, context),
});
