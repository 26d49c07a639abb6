/**
 * @module engine/backends/native/command
 * The interface of an installed libvmaf: command lines of its tool, and of ffmpeg and ffprobe with the libvmaf filter
 * (with filter graph escapes); and its JSON log.
 */
import { isObject, jsonOf } from '../../../core/arguments.js';
import { GPU_BACKENDS } from '../../../core/choices.js';
import { backendError } from '../../../core/errors.js';
import type { VideoFormat } from '../../../core/frame.js';
import { quoted } from '../../../core/printable.js';
import type { MetricSeries } from '../../../report/build.js';
import { withoutCWords } from '../../../report/read/formats.js';
import type { PooledMetric } from '../../../report/schema.js';
import type { DeviceOptions, NativeBackend, NativeProgram, NativeTask } from './types.js';
import { modelItems, programName } from './types.js';

/** All operations of a GPU, for tools that can only disable operations. */
const NO_GPU = '4294967295';

/** @throws {AnyvmafError} `backend` naming a part of the task that this program does not support */
export function commandArgs(program: NativeProgram, task: NativeTask): readonly string[] {
  return program.flavour === 'vmaf' ? vmafArgs(program, task) : ffmpegArgs(program, task);
}

/** Why a program does not support a format, as the end of a sentence; `undefined` if it does. */
export function formatProblem(
  { flavour }: Pick<NativeProgram, 'flavour'>,
  { chroma, bitDepth }: Pick<VideoFormat, 'chroma' | 'bitDepth'>,
): string | undefined {
  if (chroma === '400') return 'it supports only 4:2:0, 4:2:2 and 4:4:4';
  // ffmpeg silently converts formats that the filter does not list.
  const [depths, words] = flavour === 'vmaf' ? [[8, 10, 12, 16], '8, 10, 12 and 16'] : [[8, 10], '8 and 10'];
  return depths.includes(bitDepth) ? undefined : `it supports ${words} bit, not ${bitDepth}`;
}

function vmafArgs(program: NativeProgram, task: NativeTask): readonly string[] {
  const { input, models, features, devices, frameCount, skip } = task;
  const args = ['--reference', input.reference, '--distorted', input.distorted];
  if (input.raw) {
    const { width, height, chroma, bitDepth } = input.raw;
    args.push('--width', `${width}`, '--height', `${height}`);
    args.push('--pixel_format', chroma, '--bitdepth', `${bitDepth}`);
  }
  for (const model of models) {
    const items = modelItems(model).map(([key, value]) => `${key}=${value}`);
    args.push('--model', items.join(':'));
  }
  for (const feature of features) args.push('--feature', feature);
  if (!task.predicts) args.push('--no_prediction');
  if (task.subsample > 1) args.push('--subsample', `${task.subsample}`);
  if (task.threads > 0) args.push('--threads', `${task.threads}`);
  if (frameCount !== undefined) args.push('--frame_cnt', `${frameCount}`);
  if (skip?.reference) args.push('--frame_skip_ref', `${skip.reference}`);
  if (skip?.distorted) args.push('--frame_skip_dist', `${skip.distorted}`);
  args.push(...backendArgs(program, task.backend, devices));
  // Stock libvmaf prints six decimals and lacks the option.
  if (program.options.has('precision')) args.push('--precision', 'max');
  args.push('--quiet', '--json', '--output', task.log);
  return args;
}

function backendArgs(program: NativeProgram, backend: NativeBackend, devices: DeviceOptions): string[] {
  const { options } = program;
  const gpu = backend === 'native-cpu' ? undefined : backend;
  const args: string[] = [];
  if (options.has('backend')) {
    args.push('--backend', gpu ?? 'cpu');
  } else {
    for (const other of GPU_BACKENDS) {
      if (other !== gpu && options.has(`no_${other}`)) args.push(`--no_${other}`);
    }
    // A stock tool built with CUDA uses it by default, and its help does not say so.
    if (!gpu && !options.has('no_cuda') && options.has('gpumask')) args.push('--gpumask', NO_GPU);
  }
  const { cpumask, gpumask, syclDevice, hipDevice, metalDevice } = devices;
  if (cpumask !== undefined) args.push(...known('cpumask', cpumask));
  if (gpumask !== undefined) args.push(...known('gpumask', gpumask));
  const own = { sycl: syclDevice, hip: hipDevice, metal: metalDevice };
  for (const [name, device] of Object.entries(own)) {
    if (name !== gpu) continue;
    if (device !== undefined) args.push(...known(`${name}_device`, device));
    // Without the option --backend, naming a device turns it on.
    else if (!options.has('backend') && options.has(`${name}_device`)) args.push(`--${name}_device`, '0');
  }
  return args;

  function known(option: string, value: number): string[] {
    if (options.has(option)) return [`--${option}`, `${value}`];
    throw backendError(
      `${programName(program)} has no option --${option}; leave it out, or install a build that has it.`,
    );
  }
}

/** Most bytes of a Y4M header, without its newline, that the tool reads. */
const Y4M_HEADER_MAX = 254;

/** Whether the tool reads Y4M files with this header directly: not if they are marked as interlaced. */
export function vmafReadsY4m(header: string): boolean {
  const [magic, ...tags] = header.split(' ');
  // The last of repeated tags counts.
  const tag = (letter: string) => tags.findLast((text) => text.startsWith(letter))?.slice(1);
  return (
    magic === 'YUV4MPEG2' &&
    header.length <= Y4M_HEADER_MAX &&
    /^(p|\?|$)/.test(tag('I') ?? '?') &&
    /^(420(jpeg|mpeg2)?|444|(420|422|444)p1[02])$/.test(tag('C') ?? '420')
  );
}

/** Escapes a text for one level of ffmpeg's parsers, which differ only in the `delimiters` that end a value. */
function escaped(text: string, delimiters: string): string {
  const special = `\\' \t\n\r${delimiters}`;
  return [...text].map((character) => (special.includes(character) ? `\\${character}` : character)).join('');
}

/** Escapes a filter option's value in a graph: once for the list of options, once for the graph. */
export function escapeOption(value: string): string {
  return escaped(escaped(value, ':='), '[],;');
}

/** Formats filter options: `a=b:c=d|a=e`. @throws {AnyvmafError} `backend` for a text with `|`, which has no escape */
function lists(program: NativeProgram, all: readonly (readonly (readonly [string, string])[])[]): string {
  return all
    .map((items) =>
      items.map(([key, value]) => `${escaped(plain(key), ':=')}=${escaped(plain(value), ':=')}`).join(':'),
    )
    .join('|');

  function plain(text: string): string {
    if (!text.includes('|')) return text;
    throw backendError(
      `${quoted(text)} contains "|", which the libvmaf filter of ${programName(program)} ` +
        'cannot escape; rename it, or use the backend cpu.',
    );
  }
}

/** Splits a feature string `NAME=OPTION=VALUE:OPTION=VALUE`; like libvmaf, drops text after a further `=`. */
function featureItems(text: string): readonly (readonly [string, string])[] {
  const end = text.indexOf('=');
  const name = end < 0 ? text : text.slice(0, end);
  const options = end < 0 ? [] : text.slice(end + 1).split(':');
  return [
    ['name', name],
    ...options.map((option) => {
      const [key = '', value = ''] = option.split('=');
      return [key, value] as const;
    }),
  ];
}

function filterGraph(program: NativeProgram, task: NativeTask): string {
  const { input, models, features, subsample, threads, log } = task;
  const movie = (path: string) => `movie=filename=${escapeOption(path)}:format_name=yuv4mpegpipe`;
  const options = [
    'log_fmt=json',
    `log_path=${escapeOption(log)}`,
    // Otherwise the filter would repeat the last frame of the shorter video.
    'shortest=1',
    'eof_action=endall',
    'repeatlast=0',
    ...(models.length > 0 ? [`model=${escapeOption(lists(program, models.map(modelItems)))}`] : []),
    ...(features.length > 0 ? [`feature=${escapeOption(lists(program, features.map(featureItems)))}`] : []),
    ...(subsample > 1 ? [`n_subsample=${subsample}`] : []),
    ...(threads > 0 ? [`n_threads=${threads}`] : []),
  ];
  return `${movie(input.distorted)}[d];${movie(input.reference)}[r];[d][r]libvmaf=${options.join(':')}`;
}

/** @throws {AnyvmafError} `backend` naming an option that the filter lacks */
function ffmpegArgs(program: NativeProgram, task: NativeTask): readonly string[] {
  const refuse = (what: string) =>
    backendError(`the libvmaf filter of ${programName(program)} ${what}`, {
      hints: ['install vmaf itself', { purpose: 'name', option: 'vmafBin' }, 'use the backend cpu'],
    });
  if (!task.predicts || task.models.length === 0) throw refuse('always predicts with a model');
  for (const [name, value] of Object.entries(task.devices)) {
    if (value !== undefined) throw refuse(`has no option ${name}`);
  }
  const graph = filterGraph(program, task);
  return program.flavour === 'ffmpeg'
    ? ['-hide_banner', '-v', 'error', '-nostdin', '-filter_complex', graph, '-f', 'null', '-']
    : [
        ...['-hide_banner', '-v', 'error', '-f', 'lavfi', '-i', graph],
        ...['-count_frames', '-show_entries', 'stream=nb_read_frames', '-of', 'csv=p=0'],
      ];
}

export interface NativeLog {
  readonly version: string | null;
  readonly backendUsed: string | null;
  /** Ascending. */
  readonly frameNumbers: readonly number[];
  /** Metrics in the order of their first value, one value per frame; `present` is 0 for frames without one. */
  readonly series: readonly Required<MetricSeries>[];
  /** Metrics with all four statistics; `null` becomes NaN. */
  readonly pooled: ReadonlyMap<string, PooledMetric>;
  readonly aggregates: Readonly<Record<string, number>>;
}

/**
 * Reads a log. Values are the doubles nearest to the printed ones; `null`, and `nan` and `inf` of older versions (invalid
 * JSON), become NaN.
 * @param program name for messages
 * @throws {AnyvmafError} `backend` if the text is not libvmaf's log
 */
export function parseLog(text: string, program: string): NativeLog {
  const bad = (what: string) =>
    backendError(`${program} wrote a log that ${what}; install a working build of libvmaf.`);
  const root = jsonOf(text) ?? jsonOf(withoutCWords(text));
  if (!isObject(root)) throw bad('is not JSON');
  const { frames } = root;
  if (!Array.isArray(frames)) throw bad('has no frames');
  const columns = new Map<string, { values: Float64Array; present: Uint8Array }>();
  const frameNumbers: number[] = [];
  for (const [row, frame] of frames.entries()) {
    const number: unknown = isObject(frame) ? frame.frameNum : undefined;
    const metrics: unknown = isObject(frame) ? frame.metrics : undefined;
    const last = frameNumbers.at(-1) ?? -1;
    if (typeof number !== 'number' || !Number.isInteger(number) || number <= last || !isObject(metrics))
      throw bad(`has an invalid frame ${row}`);
    frameNumbers.push(number);
    for (const [name, value] of Object.entries(metrics)) {
      if (typeof value !== 'number' && value !== null) throw bad(`has no number for ${quoted(name)}`);
      let column = columns.get(name);
      if (!column) {
        column = { values: new Float64Array(frames.length), present: new Uint8Array(frames.length) };
        column.values.fill(Number.NaN);
        columns.set(name, column);
      }
      column.values[row] = value ?? Number.NaN;
      column.present[row] = 1;
    }
  }
  return {
    version: typeof root.version === 'string' ? root.version : null,
    backendUsed: typeof root.backend_used === 'string' ? root.backend_used : null,
    frameNumbers,
    series: [...columns].map(([name, column]) => ({ name, ...column })),
    pooled: statistics(root.pooled_metrics),
    aggregates: Object.fromEntries(
      membersOf(root.aggregate_metrics).map(([name, value]) => [name, number(value)]),
    ),
  };
}

const STATISTICS = ['min', 'max', 'mean', 'harmonic_mean'] as const satisfies (keyof PooledMetric)[];

function statistics(pooled: unknown): ReadonlyMap<string, PooledMetric> {
  const all = new Map<string, PooledMetric>();
  for (const [name, found] of membersOf(pooled)) {
    if (!isObject(found)) continue;
    const values = STATISTICS.map((key) => [key, found[key]] as const);
    if (values.some(([, value]) => value === undefined)) continue;
    all.set(name, Object.fromEntries(values.map(([key, value]) => [key, number(value)])) as PooledMetric);
  }
  return all;
}

const membersOf = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : []);

const number = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN);
