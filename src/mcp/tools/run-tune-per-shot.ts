/**
 * @module mcp/tools/run-tune-per-shot
 * `run_tune_per_shot`: the shots of a video and an encoder setting for each. The reference's name and parameters, as far as
 * they make sense here.
 */
import * as z from 'zod/v4';
import { inputPath } from '../paths.js';
import { callLimits, encoderOptions } from '../scoring/encoding-parameters.js';
import { model } from '../scoring/parameters.js';
import { defineTool, READ_ONLY } from '../tool.js';

const shot = z.object({
  shot: z.int().describe('From 1.'),
  first_frame: z.int(),
  frames: z.int(),
  start: z.number().describe('Seconds.'),
  begins: z.enum(['start', 'cut', 'split']).describe('split: a part of a shot longer than allowed.'),
  value: z.number().describe('What to encode the shot with.'),
  mean: z.number().describe('Of the metric, with that value.'),
  kbps: z.number(),
  bytes: z.number(),
  margin: z.number().describe('Above the target.'),
});

export const runTunePerShotTool = defineTool({
  name: 'run_tune_per_shot',
  title: 'Tune an encoder shot by shot',
  description:
    'Finds the shots of a video (hard cuts) and, for an encoder of the installed ffmpeg, a setting for each: so that every ' +
    'shot reaches the target, or all together with the fewest bytes. Answers the shots, what that saves against one ' +
    'encode of all, and on request a table (csv) or a script (shell) that makes the encode with plain ffmpeg. It writes no encode. ' +
    'Takes minutes for a minute of video.',
  inputSchema: z.object({
    src: inputPath('The video to encode, of a kind that ffmpeg reads.'),
    target_vmaf: z.number().default(92).describe("Mean of the model's score to reach."),
    encoder: z
      .string()
      .max(64)
      .default('libx264')
      .describe("ffmpeg's name: libx264, libx265, libsvtav1, libaom-av1, libvpx-vp9 or another."),
    pix_fmt: z.string().max(32).optional().describe("Pixel format of the encodes. Default: the source's."),
    scene_threshold: z
      .number()
      .gt(0)
      .max(1)
      .default(0.3)
      .describe('Change of the picture at which a cut is one.'),
    format: z
      .enum(['json', 'shell', 'csv'])
      .default('json')
      .describe('shell and csv: also as text, in a resource.'),
    goal: z
      .enum(['each', 'whole'])
      .default('each')
      .describe(
        'Ours: each shot reaches the target, or the mean over all frames does with the fewest bytes.',
      ),
    encoder_options: encoderOptions,
    range: z
      .object({ min: z.number(), max: z.number() })
      .optional()
      .describe('Ours: values of the parameter to choose from.'),
    min_seconds: z.number().positive().default(0.5).describe('Ours: shortest shot.'),
    max_seconds_per_shot: z
      .number()
      .positive()
      .default(10)
      .describe('Ours: longest shot; a longer one is taken in parts.'),
    model,
    ...callLimits,
    max_seconds: callLimits.max_seconds.default(1800),
  }),
  outputSchema: z.object({
    summary: z.string(),
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
    uri: z.string().nullable().describe('The table or the script, as a resource.'),
  }),
  annotations: READ_ONLY,
  async handler(input, context) {
    const { tunePerShot } = await import('../scoring/shots.js');
    return tunePerShot(input, context);
  },
});
