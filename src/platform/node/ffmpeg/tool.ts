/**
 * @module platform/node/ffmpeg/tool
 * Runs ffmpeg and ffprobe as processes that never outlive their purpose or ours. Inputs are opened here only: with
 * lists of what they may open and, unless the user named them, on a descriptor of the file that was checked.
 */

import { closeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { onAbort } from '../../../core/abort.js';
import { AnyvmafError } from '../../../core/errors.js';
import { shown } from '../../../core/printable.js';
import { limitError } from '../../../core/system-limits.js';
import { endChild, keepEnds, startChild } from '../../../files/child-process.js';
import type { ToolSource } from '../../ffmpeg/access.js';
import type { Channel } from './channel.js';
import type { FfmpegInput } from './input.js';

export type ToolName = 'ffmpeg' | 'ffprobe';

export interface Ending {
  /** `null` if a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
}

export interface ToolProcess {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles once the process is gone and both streams have ended; rejects if it could not be started. */
  readonly ended: Promise<Ending>;
  /** Kills it and waits until it is gone. May be called twice. */
  kill(): Promise<void>;
}

/** `ANYVMAF_FFMPEG` or `ANYVMAF_FFPROBE`, else the name, to be found on PATH. */
export function toolCommand(tool: ToolName): string {
  return process.env[tool === 'ffmpeg' ? 'ANYVMAF_FFMPEG' : 'ANYVMAF_FFPROBE'] || tool;
}

interface StartOptions {
  /** Takes its output, instead of a new pipe. */
  readonly channel?: Channel;
  /** A descriptor of this process that becomes number 3 of the tool. */
  readonly file?: number;
  /** Working folder, and so the place of files that are named without a folder. */
  readonly cwd?: string;
}

/** Starts a tool without a shell and without standard input. {@link startOn} and {@link runOn} open inputs. */
function startTool(
  tool: ToolName,
  args: readonly string[],
  { channel, file, cwd }: StartOptions = {},
): ToolProcess {
  const command = toolCommand(tool);
  const child = startChild(command, args, {
    stdio: ['ignore', channel?.output ?? 'pipe', 'pipe', ...(file === undefined ? [] : [file])],
    cwd,
  });
  // The process has its own by now; while this one is open, the channel does not end.
  channel?.output.destroy();
  const stdout = channel?.input ?? child.stdout;
  const { stderr } = child;
  // Too many open files; the child emits an error with the reason.
  if (!stdout || !stderr) throw pipeFailure(command);
  const emptied = new Promise<void>((resolve) => {
    if (channel) channel.input.once('close', () => resolve());
    else resolve(); // which `close` of the process has waited for
  });
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', (cause) => reject(startFailure(tool, command, cause)));
    child.once('close', (code, signal) => emptied.then(() => resolve({ code, signal })));
  });
  return { stdout, stderr, ended, kill: () => endChild(child, ended, [stdout, stderr]) };
}

export interface RunOptions {
  readonly signal?: AbortSignal;
  /** Takes standard output line by line; without it, the output is collected. */
  readonly onLine?: (line: string) => void;
  readonly cwd?: string;
}

/** @throws {AnyvmafError} `io` if it cannot be started; the signal's reason if it aborts */
export async function runTool(
  tool: ToolName,
  args: readonly string[],
  { signal, onLine, ...start }: RunOptions & StartOptions = {},
): Promise<Ending & { readonly stdout: string; readonly stderr: string }> {
  signal?.throwIfAborted();
  const child = startTool(tool, args, start);
  const forget = onAbort(signal, () => void child.kill());
  let stdout = '';
  const stderr = keepEnds(child.stderr);
  if (onLine) readLines(child.stdout, onLine);
  else
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
  try {
    const ending = await child.ended;
    signal?.throwIfAborted();
    return { ...ending, stdout, stderr: stderr() };
  } finally {
    forget();
  }
}

/** Calls `onLine` with each line, the last one even without its line feed. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  });
  stream.on('end', () => {
    if (rest !== '') onLine(rest);
  });
  stream.on('error', () => {});
}

function pipeFailure(command: string): Error {
  const cause = new Error('EMFILE: no pipes can be made');
  return limitError(cause, `${shown(command)} cannot be started`) ?? cause;
}

function startFailure(tool: ToolName, command: string, cause: Error): AnyvmafError {
  const code = 'code' in cause ? cause.code : undefined;
  const variable = tool === 'ffmpeg' ? 'ANYVMAF_FFMPEG' : 'ANYVMAF_FFPROBE';
  if (code === 'ENOENT') {
    const where =
      command === tool ? `${tool} is not on PATH` : `${shown(command)} (${variable}) does not exist`;
    return new AnyvmafError(
      'io',
      `${where}; install ffmpeg with your system's package manager, or set ${variable} to the program's path.`,
      { cause },
    );
  }
  const limited = limitError(cause, `${shown(command)} cannot be started`);
  if (limited) return limited;
  const why = code === 'EACCES' ? 'this user may not run it' : cause.message;
  return new AnyvmafError('io', `${shown(command)} cannot be started: ${shown(why)}.`, { cause });
}

type Command = (source: ToolSource) => readonly string[];

/**
 * @param channel takes the output, instead of a new pipe
 * @throws {AnyvmafError} `io` if the input may no longer be opened
 */
export function startOn(
  tool: ToolName,
  input: FfmpegInput,
  command: Command,
  channel?: Channel,
): ToolProcess {
  return holding(input, (file) => startTool(tool, command(input), { channel, file }));
}

/** @throws {AnyvmafError} `io` as {@link startOn}, or if it cannot be started; the signal's reason if it aborts */
export async function runOn(
  tool: ToolName,
  input: FfmpegInput,
  command: Command,
  options: RunOptions = {},
): Promise<Ending & { readonly stdout: string; readonly stderr: string }> {
  return holding(input, (file) => runTool(tool, command(input), { ...options, file }));
}

/** Keeps the input open while `start` starts a process, which then has its own descriptor. */
function holding<T>({ hold }: FfmpegInput, start: (file: number | undefined) => T): T {
  const file = hold?.();
  try {
    return start(file);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
