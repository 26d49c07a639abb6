/**
 * @module engine/backends/native/ffmpeg-command
 * The command lines of ffmpeg and ffprobe with the libvmaf filter, and the escaping that filter graphs need.
 */
import { AnyvmafError } from '../../../core/errors.js';
import { quoted } from '../../../core/printable.js';
import { programName } from './host.js';
import { modelItems, type NativeModel, type NativeTask } from './task.js';
import type { NativeProgram } from './types.js';

/**
 * Escapes a text for one level of ffmpeg's parsers, which all take backslashes, quotes and blanks in the same way.
 * @param delimiters what ends a value at this level
 */
function escaped(text: string, delimiters: string): string {
  const special = `\\' \t\n\r${delimiters}`;
  return [...text].map((character) => (special.includes(character) ? `\\${character}` : character)).join('');
}

/** The value of a filter's option, within a graph: once for the list of options, once for the graph. */
export function escapeOption(value: string): string {
  return escaped(escaped(value, ':='), '[],;');
}

/**
 * Lists of keys and values as the filter's options `model` and `feature` take them: `a=b:c=d|a=e`.
 * @throws {AnyvmafError} `backend` where a text has the bar that separates lists, for which there is no escape
 */
function lists(program: NativeProgram, all: readonly (readonly (readonly [string, string])[])[]): string {
  return all
    .map((items) =>
      items.map(([key, value]) => `${escaped(plain(key), ':=')}=${escaped(plain(value), ':=')}`).join(':'),
    )
    .join('|');

  function plain(text: string): string {
    if (!text.includes('|')) return text;
    throw new AnyvmafError(
      'backend',
      `${quoted(text)} has a "|", which the libvmaf filter of ${programName(program.flavour, program.path)} ` +
        'cannot be told; rename it, or use the backend cpu.',
    );
  }
}

/** A feature string `NAME=OPTION=VALUE:OPTION=VALUE` as key and value; of a further `=` libvmaf drops what follows. */
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

/** The graph: both videos, and the filter that compares them. */
function filterGraph(program: NativeProgram, task: NativeTask): string {
  const { input, models, features, subsample, threads, log } = task;
  const movie = (path: string) => `movie=filename=${escapeOption(path)}:format_name=yuv4mpegpipe`;
  const options = [
    'log_fmt=json',
    `log_path=${escapeOption(log)}`,
    // Without these the shorter video's last frame would be compared again and again.
    'shortest=1',
    'eof_action=endall',
    'repeatlast=0',
    ...(models.length > 0 ? [`model=${escapeOption(lists(program, models.map(items)))}`] : []),
    ...(features.length > 0 ? [`feature=${escapeOption(lists(program, features.map(featureItems)))}`] : []),
    ...(subsample > 1 ? [`n_subsample=${subsample}`] : []),
    ...(threads > 0 ? [`n_threads=${threads}`] : []),
  ];
  return `${movie(input.distorted)}[d];${movie(input.reference)}[r];[d][r]libvmaf=${options.join(':')}`;

  function items(model: NativeModel): readonly (readonly [string, string])[] {
    return modelItems(model);
  }
}

/**
 * The arguments that run a task.
 * @throws {AnyvmafError} `backend` for what the filter cannot be told, naming it
 */
export function ffmpegArgs(program: NativeProgram, task: NativeTask): readonly string[] {
  const refuse = (what: string) =>
    new AnyvmafError(
      'backend',
      `the libvmaf filter of ${programName(program.flavour, program.path)} ${what}`,
      { hints: ['install vmaf itself', { purpose: 'name', option: 'vmafBin' }, 'use the backend cpu'] },
    );
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

/** Why the filter does not support a format, as the end of a sentence; `undefined` if it does. */
export function filterFormatProblem({
  chroma,
  bitDepth,
}: {
  readonly chroma: string;
  readonly bitDepth: number;
}): string | undefined {
  if (chroma === '400') return 'it takes video with chroma only (4:2:0, 4:2:2 and 4:4:4)';
  // ffmpeg silently converts formats that the filter does not list.
  if (bitDepth !== 8 && bitDepth !== 10) return `it takes 8 and 10 bit, not ${bitDepth}`;
  return undefined;
}
