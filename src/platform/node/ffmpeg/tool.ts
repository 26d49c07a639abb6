/**
 * @module platform/node/ffmpeg/tool
 * Finds ffmpeg, ffprobe and vmaf, and runs ffmpeg and ffprobe as processes that never outlive their purpose or this process.
 * Only this module opens inputs: with lists of permissions and, for foreign inputs, on a descriptor of the checked file.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { accessSync, closeSync, constants, type Stats, statSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { onAbort } from '../../../core/abort.js';
import { type AnyvmafError, codeOf, ioError } from '../../../core/errors.js';
import { shown } from '../../../core/printable.js';
import { limitError } from '../../../core/system-limits.js';
import type { Candidate } from '../../../engine/backends/native/types.js';
import { endChild, keepEnds, startChild } from '../../../files/child-process.js';
import type { ToolSource } from '../../ffmpeg/commands.js';
import type { FfmpegInput } from './input.js';

export type ToolName = 'ffmpeg' | 'ffprobe';

export interface Ending {
  /** `null` if a signal ended the process. */
  readonly code: number | null;
  readonly signal: string | null;
}

export interface ToolProcess {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the process and both streams have ended; rejects if it cannot be started. */
  readonly ended: Promise<Ending>;
  /** Kills the process and waits for its end. Idempotent. */
  kill(): Promise<void>;
}

/** `ANYVMAF_FFMPEG` or `ANYVMAF_FFPROBE`, else the name on PATH. */
export function toolCommand(tool: ToolName): string {
  return process.env[tool === 'ffmpeg' ? 'ANYVMAF_FFMPEG' : 'ANYVMAF_FFPROBE'] || tool;
}

interface StartOptions {
  /** Takes the output instead of a new pipe. */
  readonly channel?: Channel;
  /** A descriptor of this process, to become descriptor 3 of the tool. */
  readonly file?: number;
  readonly cwd?: string;
}

/** Starts a tool without shell and standard input. {@link startOn} and {@link runOn} open inputs. */
function startTool(tool: ToolName, args: readonly string[], { channel, file, cwd }: StartOptions = {}) {
  const command = toolCommand(tool);
  const child = startChild(command, args, {
    stdio: ['ignore', channel?.output ?? 'pipe', 'pipe', ...(file === undefined ? [] : [file])],
    cwd,
  });
  // The process has its own copy; the channel does not end while this one is open.
  channel?.output.destroy();
  const stdout = channel?.input ?? child.stdout;
  const { stderr } = child;
  // Too many open files; the child also emits an error.
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
  /** Takes standard output line by line, instead of collecting it. */
  readonly onLine?: (line: string) => void;
  readonly cwd?: string;
}

/** Characters of collected output. Answers about tracks and tags are far shorter; lists of packets are read by line. */
const MOST_OUTPUT = 16_000_000;

/** @throws {AnyvmafError} `io` if it cannot be started or prints too much; the signal's reason */
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
      if (stdout.length > MOST_OUTPUT) void child.kill();
    });
  try {
    const ending = await child.ended;
    signal?.throwIfAborted();
    if (stdout.length > MOST_OUTPUT)
      throw ioError(
        `${shown(toolCommand(tool))} printed more than 16 MB, but a short answer was expected; check that it is ` +
          `${tool}, or the metadata of its input.`,
      );
    return { ...ending, stdout, stderr: stderr() };
  } finally {
    forget();
  }
}

/** Calls `onLine` with each line, also with an unterminated last one. */
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
  const code = codeOf(cause);
  const variable = tool === 'ffmpeg' ? 'ANYVMAF_FFMPEG' : 'ANYVMAF_FFPROBE';
  if (code === 'ENOENT') {
    const where =
      command === tool ? `${tool} is not on PATH` : `${shown(command)} (${variable}) does not exist`;
    return ioError(
      `${where}; install ffmpeg with your system's package manager, or set ${variable} to the program's path.`,
      { cause },
    );
  }
  const limited = limitError(cause, `${shown(command)} cannot be started`);
  if (limited) return limited;
  const why = code === 'EACCES' ? 'this user may not run it' : cause.message;
  return ioError(`${shown(command)} cannot be started: ${shown(why)}.`, { cause });
}

type Command = (source: ToolSource) => readonly string[];

/** @param channel takes the output @throws {AnyvmafError} `io` if the input may no longer be opened */
export function startOn(tool: ToolName, input: FfmpegInput, args: Command, channel?: Channel): ToolProcess {
  return holding(input, (file) => startTool(tool, args(input), { channel, file }));
}

/** @throws {AnyvmafError} `io` as {@link startOn}, or if it cannot be started; the signal's reason */
export async function runOn(
  tool: ToolName,
  input: FfmpegInput,
  command: Command,
  options: RunOptions = {},
): Promise<Ending & { readonly stdout: string; readonly stderr: string }> {
  return holding(input, (file) => runTool(tool, command(input), { ...options, file }));
}

/** Keeps the input open until `start` has started a process, which has its own descriptor. */
function holding<T>({ hold }: FfmpegInput, start: (file: number | undefined) => T): T {
  const file = hold?.();
  try {
    return start(file);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Provides memory to read into. */
export interface Receiver {
  /** Memory for the next bytes: at least one byte, valid until the next call. */
  room(): Uint8Array;
  /** Called after filling bytes of the latest {@link room}. @returns false to pause the reader until its `resume` */
  filled(bytes: number): boolean;
}

export interface Channel {
  /** For the child; destroy it here after the child's start. */
  readonly output: Socket;
  /** Feeds the receiver; ends when the child closes its output. */
  readonly input: Socket;
}

/** Milliseconds to allow for connecting, which takes about one. */
const PATIENCE = 2000;

/** Connects a pair through Linux's abstract addresses; `undefined` if that fails. */
export async function openChannel(receiver: Receiver): Promise<Channel | undefined> {
  if (process.platform !== 'linux') return undefined;
  const path = `\0anyvmaf-${randomBytes(16).toString('hex')}`;
  const token = randomBytes(16);
  const server = createServer();
  let input: Socket | undefined;
  try {
    server.listen(path);
    await once(server, 'listening');
    input = connect({
      path,
      onread: { buffer: () => receiver.room(), callback: (bytes) => receiver.filled(bytes) },
    });
    // A broken connection appears as the end of the stream.
    input.on('error', () => {});
    input.write(token);
    return { input, output: await accept(server, token) };
  } catch {
    input?.destroy();
    return undefined;
  } finally {
    server.close();
  }
}

/** Waits for the connection with the token, since any process on this machine can connect to the address. */
async function accept(server: Server, token: Buffer): Promise<Socket> {
  const strangers = new Set<Socket>();
  let late: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      late = setTimeout(() => reject(new Error('nobody connected')), PATIENCE);
      server.once('error', reject);
      server.on('connection', (socket) => {
        strangers.add(socket);
        let shown = Buffer.alloc(0);
        socket
          .on('error', () => {})
          .on('data', (piece: Buffer) => {
            shown = Buffer.concat([shown, piece]);
            if (shown.length < token.length) return;
            if (!shown.equals(token)) {
              socket.destroy();
              return;
            }
            strangers.delete(socket);
            socket.pause();
            resolve(socket);
          });
      });
    });
  } finally {
    clearTimeout(late);
    for (const stranger of strangers) stranger.destroy();
  }
}

/** Extensions of programs on PATH. */
const ENDINGS = process.platform === 'win32' ? ['.exe', '.cmd', ''] : [''];

/** Files that may be the program: `named` (`vmafBin`), else those of the environment and PATH. */
export function findPrograms(kind: 'vmaf' | 'ffmpeg', named?: string): readonly Candidate[] {
  if (named !== undefined) return [lookAt(named, 'vmafBin')];
  const { VMAF_BIN, ANYVMAF_FFMPEG } = process.env;
  return kind === 'vmaf'
    ? oneOf('vmaf', VMAF_BIN, 'VMAF_BIN')
    : [...oneOf('ffmpeg', ANYVMAF_FFMPEG, 'ANYVMAF_FFMPEG'), ...findFfprobe()];
}

export function findFfprobe(): readonly Candidate[] {
  return oneOf('ffprobe', process.env.ANYVMAF_FFPROBE, 'ANYVMAF_FFPROBE');
}

function oneOf(name: string, named: string | undefined, variable: string): readonly Candidate[] {
  if (named) return [lookAt(named, variable)];
  const found = onPath(name);
  return found === undefined ? [] : [lookAt(found, 'PATH')];
}

/** The first executable file of that name on PATH. */
function onPath(name: string): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    // An empty entry means the working directory: never run programs from there.
    if (folder === '' || !isAbsolute(folder)) continue;
    for (const ending of ENDINGS) {
      const path = join(folder, name + ending);
      if (lookAt(path, 'PATH').key !== undefined) return path;
    }
  }
  return undefined;
}

function lookAt(named: string, from: string): Candidate {
  // Look up a bare name like a shell.
  const bare = !/[\\/]/.test(named) && named !== '' ? onPath(named) : undefined;
  const path = bare ?? (named === '' ? named : resolve(named));
  const nothing = (problem: string): Candidate => ({ path, from, problem: `${problem} (${from})` });
  let stats: Stats;
  try {
    stats = statSync(path);
    if (!stats.isFile()) return nothing('is not a file');
    accessSync(path, constants.X_OK);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return nothing('does not exist');
    return nothing(code === 'EACCES' ? 'is not executable by this user' : 'cannot be checked');
  }
  return { path, from, key: `${path}\n${stats.ino}\n${stats.size}\n${stats.mtimeMs}` };
}
