/**
 * @module mcp/scoring/shots
 * Tunes a video's shots within one call: on the pool, with progress and limits of time and disk.
 */
import { formatShots, type TuneShotsResult } from '../../index.js';
import type { Measuring } from '../call-threads.js';
import type { ToolContext } from '../context.js';
import type { InputFile, InputModel } from '../paths.js';
import { headOf } from '../verdict.js';
import { dryRun, ENCODES_OF_SEARCH, type EncodingCall, encodingCall } from './encoding.js';
import { type SourceInput, withSource } from './raw-source.js';

export interface ShotsInput extends SourceInput {
  readonly target_vmaf: number;
  readonly encoder: string;
  readonly scene_threshold: number;
  readonly output?: InputFile;
  readonly format: 'json' | 'shell' | 'csv';
  readonly goal: 'each' | 'whole';
  readonly encoder_options: Readonly<Record<string, string>>;
  readonly range?: { readonly min: number; readonly max: number } | undefined;
  readonly min_seconds: number;
  readonly max_seconds_per_shot: number;
  readonly model: InputModel;
}

/** @throws {AnyvmafError} those of the public `tuneShots`; `resource` at the limits of the call */
export async function tunePerShot(input: ShotsInput, context: ToolContext) {
  const { format } = input;
  const task = { source: input.src.path, limits: input };
  const work = (call: EncodingCall, api: Measuring) =>
    withSource(input, { files: context.files, signal: call.signal }, async (source) => {
      const tuned = await api.tuneShots(source.path, {
        ...call,
        encoder: input.encoder,
        encoderOptions: input.encoder_options,
        targets: [{ atLeast: input.target_vmaf }],
        goal: input.goal,
        threshold: input.scene_threshold,
        minSeconds: input.min_seconds,
        maxSeconds: input.max_seconds_per_shot,
        range: input.range,
        pixelFormat: source.pixelFormat,
        output: input.output?.path,
        models: [input.model.text],
        origin: source.origin,
        scratchBytes: source.scratchBytes,
      });
      const text = format === 'json' ? null : source.script(await formatShots(tuned, format));
      return { result: tuned, text, notes: source.notes };
    });
  // For each shot: its own search, its part of the search for one common value, and its encode in the written video.
  const most = (shots: number) => shots * (2 * ENCODES_OF_SEARCH + (input.output ? 1 : 0));
  if (input.dry_run) return dryRun(task, context, most, work);
  const { result, text, notes } = await encodingCall(task, context, work);
  const { reached, final } = result;
  const isReached = reached && final?.reached !== false;
  const facts = {
    ...headOf({
      outcome: isReached ? 'reached' : 'missed',
      reasons: [
        ...(result.warnings.length > 0 ? ['warnings'] : []),
        ...(isReached && final ? ['encode-written'] : []),
        ...(isReached && !final && text !== null ? [format === 'csv' ? 'table-written' : 'run-script'] : []),
      ],
      next: nextAfter(isReached, input, context),
    }),
    ...{ target_vmaf: input.target_vmaf, format, output: text, notes },
  };
  const spare = [...SPARE.map((key) => `shots.[].${key}`), 'output'];
  if (text === null) return { document: { ...facts, ...documentOf(result, null) }, spare };
  const { uri, link } = await context.resources.publish({
    name: format === 'csv' ? 'shots.csv' : 'encode-shots.sh',
    mimeType: format === 'csv' ? 'text/csv' : 'text/x-shellscript',
    description:
      format === 'csv' ? 'The shots as a table.' : 'POSIX shell script that makes the encode with ffmpeg.',
    data: text,
  });
  return { document: { ...facts, ...documentOf(result, uri) }, content: [link], spare };
}

/** After a miss: all values, then other encoders. Else a script; `null` once that or the encode is written. */
function nextAfter(
  isReached: boolean,
  { range, format, output, target_vmaf }: ShotsInput,
  context: ToolContext,
) {
  if (!isReached && range) return context.again({ range: undefined, output: undefined });
  if (!isReached) return context.instead('run_compare', { target_vmaf });
  return format === 'json' && !output ? context.again({ format: 'shell' }) : null;
}

/** Members of shots to drop from a long answer: duplicates, then the least important. */
const SPARE = [
  ...['crf', 'predicted_vmaf', 'bitrate_kbps', 'start_frame', 'end_frame'],
  ...['bytes', 'margin', 'begins', 'start'],
];

function documentOf(result: TuneShotsResult, uri: string | null) {
  const { encoder, parameter, goal, targets, reached, margin, shots, pooled, single, saving } = result;
  const [{ metric, atLeast } = { metric: 'vmaf', atLeast: Number.NaN }] = targets;
  const mean = (of: TuneShotsResult['pooled']) => of[metric]?.mean ?? Number.NaN;
  const short = `${(-margin).toFixed(2)} below`;
  const each = reached ? 'every shot reaches' : `the worst shot stays ${short}`;
  const all = reached ? 'together they reach' : `together they stay ${short}`;
  const what = goal === 'each' ? each : all;
  const share = `${(saving * 100).toFixed(1)} %`;
  return {
    summary:
      `${shots.length} shots with ${encoder}: ${what} ${metric} mean of ${atLeast}; one ${parameter} for all, ${single.value}, ` +
      `${single.reached ? `reaches the same, and a value per shot saves ${share}` : 'does not reach the same'}.`,
    encoder,
    parameter,
    metric,
    goal,
    reached,
    shots: shots.map((shot) => ({
      shot: shot.number,
      first_frame: shot.first,
      frames: shot.count,
      start_frame: shot.first,
      end_frame: shot.first + shot.count,
      start: shot.start,
      begins: shot.begins,
      value: shot.value,
      mean: mean(shot.pooled),
      kbps: shot.kbps,
      crf: shot.value,
      predicted_vmaf: mean(shot.pooled),
      bitrate_kbps: shot.kbps,
      bytes: shot.bytes,
      margin: shot.margin,
    })),
    mean: mean(pooled),
    bytes: result.bytes,
    kbps: result.kbps,
    single,
    saving,
    framerate:
      shots.reduce((sum, { count }) => sum + count, 0) / shots.reduce((sum, { seconds }) => sum + seconds, 0),
    encodes: result.encodes,
    warnings: result.warnings,
    file: result.final && {
      path: result.final.file,
      bytes: result.final.bytes,
      kbps: result.final.kbps,
      mean: mean(result.final.pooled),
      reached: result.final.reached,
    },
    uri,
  };
}
