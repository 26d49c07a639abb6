/**
 * @module mcp/tools/run-tune-per-shot
 * `run_tune_per_shot`: finds an encoder setting for each shot; follows the reference MCP server where possible.
 */
import * as z from 'zod/v4';
import type { TuneShotsResult } from '../../index.js';
import { outputPath } from '../paths.js';
import { choice, each, textOrNull, texts } from '../schemas.js';
import { codesOf, headKeys, headOf } from '../scoring/answers.js';
import { ENCODES_OF_SEARCH, sourceCall } from '../scoring/encoding.js';
import {
  callLimits,
  encoderName,
  encoderOptions,
  encodingSource,
  model,
  searchRange,
} from '../scoring/parameters.js';
import { defineTool, type InputOf, READ_ONLY, type ToolContext } from '../tool.js';

const shot = z.object({
  shot: z.int().describe('1-based.'),
  ...each(z.int(), 'first_frame', 'frames'),
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

const shotsInput = z.object({
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
  format: choice(['json', 'shell', 'csv'], 'shell and csv: also text, in output and as a resource.'),
  goal: choice(
    ['each', 'whole'],
    'each: every shot reaches the target; whole: the overall mean does, with the fewest bytes.',
  ),
  encoder_options: encoderOptions,
  range: searchRange('Parameter values to choose from.'),
  min_seconds: z.number().positive().default(0.5).describe('Shortest shot.'),
  max_seconds_per_shot: z.number().positive().default(10).describe('Longest shot; longer shots are split.'),
  model,
  ...callLimits,
  max_seconds: callLimits.max_seconds.default(1800),
});
type ShotsInput = InputOf<typeof shotsInput>;

export const runTunePerShotTool = defineTool({
  name: 'run_tune_per_shot',
  title: 'Tune an encoder shot by shot',
  description:
    'Detects the shots of a video and finds an encoder setting for each (installed ffmpeg), so that every shot, or the ' +
    'whole with the fewest bytes, reaches the target. Returns the shots, the saving against one setting for all, and on ' +
    'request a table (csv), a script (shell) or the encode (output). Takes minutes per minute of video.',
  inputSchema: shotsInput,
  outputSchema: z.object({
    ...headKeys,
    summary: z.string(),
    notes: texts,
    target_vmaf: z.number(),
    framerate: z.number().describe('Average frame rate of the source.'),
    format: z.enum(['json', 'shell', 'csv']),
    output: textOrNull.describe('The table or the script.'),
    ...each(z.string(), 'encoder', 'parameter', 'metric'),
    goal: z.enum(['each', 'whole']),
    reached: z.boolean(),
    shots: z.array(shot),
    mean: z.number().describe('Mean over all frames.'),
    ...each(z.number(), 'bytes', 'kbps'),
    single: z
      .object({ value: z.number(), bytes: z.number(), reached: z.boolean() })
      .describe('One value for the whole video that reaches the same, if reached.'),
    saving: z.number().describe('Fraction of its bytes that settings per shot save.'),
    encodes: z.int(),
    warnings: texts,
    file: z
      .object({ path: z.string(), ...each(z.number(), 'bytes', 'kbps', 'mean'), reached: z.boolean() })
      .nullable()
      .describe('The file written to output, and its score.'),
    uri: textOrNull.describe('URI of the table or the script.'),
  }),
  // Writes a new file if `output` names one.
  annotations: { ...READ_ONLY, readOnlyHint: false, idempotentHint: false },
  handler: tunePerShot,
});

/** @throws {AnyvmafError} those of the public `tuneShots`; `resource` at the limits of the call */
async function tunePerShot(input: ShotsInput, context: ToolContext) {
  const { formatShots } = await import('../../index.js');
  const { format, output, encoder_options: encoderOptions } = input;
  // For each shot: its search, its part of the search for one common value, and its encode in the output.
  const most = (shots: number) => shots * (2 * ENCODES_OF_SEARCH + (output ? 1 : 0));
  const done = await sourceCall(input, context, most, async (source, options, api) => {
    const tuned = await api.tuneShots(source.path, {
      ...{ ...options, encoder: input.encoder, encoderOptions, goal: input.goal, range: input.range },
      targets: [{ atLeast: input.target_vmaf }],
      threshold: input.scene_threshold,
      minSeconds: input.min_seconds,
      maxSeconds: input.max_seconds_per_shot,
      output: output?.path,
    });
    return { tuned, text: format === 'json' ? null : source.script(await formatShots(tuned, format)) };
  });
  if ('fits' in done) return done;
  const { notes } = done;
  const { tuned: result, text } = done.result;
  const { reached, final } = result;
  const isReached = reached && final?.reached !== false;
  const isSmaller = isReached && isSingleSmaller(result);
  const facts = {
    ...headOf({
      outcome: isReached ? 'reached' : 'missed',
      reasons: codesOf({
        warnings: result.warnings.length > 0,
        'single-value-smaller': isSmaller,
        'encode-written': isReached && final,
        [format === 'csv' ? 'table-written' : 'run-script']: isReached && !final && text !== null,
      }),
      next:
        (isSmaller && format === 'json' && !output ? nextForSingle(result, input, context) : undefined) ??
        nextAfter(isReached, input, context),
    }),
    ...{ target_vmaf: input.target_vmaf, format, output: text, notes },
  };
  const spare = [...SPARE.map((key) => `shots.[].${key}`), 'output'];
  if (text === null) return { document: { ...facts, ...documentOf(result, null) }, spare };
  const [name, mimeType, description] =
    format === 'csv'
      ? ['shots.csv', 'text/csv', 'The shots as a table.']
      : ['encode-shots.sh', 'text/x-shellscript', 'POSIX shell script that makes the encode with ffmpeg.'];
  const { uri, link } = await context.resources.publish({ name, mimeType, description, data: text });
  return { document: { ...facts, ...documentOf(result, uri) }, content: [link], spare };
}

/** True if one value for the whole takes no more bytes than values per shot. */
const isSingleSmaller = ({ single, saving }: TuneShotsResult) => single.reached && saving <= 0;

/** The command of one value for the whole; find_quality takes no raw video. */
function nextForSingle(
  { single: { value } }: TuneShotsResult,
  { src, encoder, target_vmaf, pix_fmt: pixel_format, width }: ShotsInput,
  context: ToolContext,
) {
  if (width !== undefined) return undefined;
  const search = { source: src.named, encoder, targets: [String(target_vmaf)], pixel_format };
  return context.instead('find_quality', { ...search, range: { min: value, max: value }, verify: true });
}

/** After a miss: all values, then other encoders. Else a script; `null` once it or the encode is written. */
function nextAfter(
  isReached: boolean,
  { range, format, output, target_vmaf }: ShotsInput,
  context: ToolContext,
) {
  if (!isReached && range) return context.again({ range: undefined, output: undefined });
  if (!isReached) return context.instead('run_compare', { target_vmaf });
  return format === 'json' && !output ? context.again({ format: 'shell' }) : null;
}

/** Members of shots to drop from a long answer: duplicates first. */
const SPARE = [
  ...['crf', 'predicted_vmaf', 'bitrate_kbps', 'start_frame', 'end_frame'],
  ...['bytes', 'margin', 'begins', 'start'],
];

function documentOf(result: TuneShotsResult, uri: string | null) {
  const { encoder, parameter, goal, targets, reached, margin, shots, pooled, single, saving, final } = result;
  const [{ metric, atLeast } = { metric: 'vmaf', atLeast: Number.NaN }] = targets;
  const mean = (of: TuneShotsResult['pooled']) => of[metric]?.mean ?? Number.NaN;
  const short = `${(-margin).toFixed(2)} below`;
  const each = reached ? 'every shot reaches' : `the worst shot stays ${short}`;
  const all = reached ? 'together they reach' : `together they stay ${short}`;
  const outcome = goal === 'each' ? each : all;
  const share = `${Math.abs(saving * 100).toFixed(1)} %`;
  const saved = isSingleSmaller(result) ? `takes ${share} more` : `saves ${share}`;
  return {
    summary:
      `${shots.length} shots with ${encoder}: ${outcome} ${metric} mean of ${atLeast}; one ${parameter} for all, ${single.value}, ` +
      `${single.reached ? `reaches the same, and a value per shot ${saved}` : 'does not reach the same'}.`,
    ...{ encoder, parameter, metric, goal, reached },
    shots: shots.map(({ number: shot, first, count, start, begins, value, pooled, kbps, bytes, margin }) => ({
      ...{ shot, first_frame: first, frames: count, start_frame: first, end_frame: first + count, start },
      ...{ begins, value, mean: mean(pooled), kbps },
      ...{ crf: value, predicted_vmaf: mean(pooled), bitrate_kbps: kbps, bytes, margin },
    })),
    ...{ mean: mean(pooled), bytes: result.bytes, kbps: result.kbps, single, saving },
    framerate: frameRateOf(shots),
    ...{ encodes: result.encodes, warnings: result.warnings, uri },
    file: final && {
      ...{ path: final.file, bytes: final.bytes, kbps: final.kbps },
      ...{ mean: mean(final.pooled), reached: final.reached },
    },
  };
}

/** Frames per second, without the rounding errors of the summed durations. */
function frameRateOf(shots: TuneShotsResult['shots']): number {
  const frames = shots.reduce((sum, { count }) => sum + count, 0);
  const seconds = shots.reduce((sum, shot) => sum + shot.seconds, 0);
  return Number((frames / seconds).toPrecision(12));
}
