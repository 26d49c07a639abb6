/**
 * @module test/support/cli
 * Runs the command line, in this process or as a process of its own until that waits, and makes small videos for it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Terminal } from '../../src/cli/terminal.js';
import { sentence } from '../../src/core/printable.js';
import { y4mFile, yuvFile } from '../../src/sample/files.js';
import { makeSample, type SampleOptions } from '../../src/sample/generator.js';
import { testFolder } from './folders.js';

/** The built executable. */
export const PROGRAM = fileURLToPath(new URL('../../dist/bundle/js/main.js', import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** Fed to standard input, which is then closed; without it standard input is empty. */
  readonly input?: Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What both streams claim to be. Default: no terminal. */
  readonly terminal?: Partial<Terminal>;
}

/** Serialises runs in this process that change shared state. */
let exclusive: Promise<unknown> = Promise.resolve();

/**
 * Runs `anyvmaf ARGS` to its end, in this process and from the sources. Signals, pipes, start-up and exit need
 * {@link anyvmafProcess}.
 */
export async function anyvmaf(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const { input, env, cwd } = options;
  if (!input && !env && !cwd) return runInProcess(args, options);
  const before = exclusive;
  const turn = before.then(() => surrounded(options, () => runInProcess(args, options)));
  exclusive = turn.catch(() => {});
  return turn;
}

async function runInProcess(args: readonly string[], { terminal }: RunOptions): Promise<Outcome> {
  const { runProgram } = await import('../../src/cli/program/program.js');
  const recorder = recordingTerminal(terminal);
  const code = await runProgram(args, recorder.terminal);
  return { code, ...recorder.said };
}

/** A terminal that records its output; not interactive unless `claims` says so. */
export function recordingTerminal(claims: Partial<Terminal> = {}) {
  const said = { stdout: '', stderr: '' };
  const draw = (text: string) => {
    said.stderr += text;
  };
  const terminal: Terminal = {
    interactive: false,
    canDraw: false,
    colour: false,
    errorColour: false,
    columns: 80,
    errorColumns: 80,
    async print(text) {
      said.stdout += text;
    },
    draw,
    complain: (line) => draw(`anyvmaf: ${sentence(line)}\n`),
    async flush() {},
    ...claims,
  };
  return { terminal, said };
}

/** Does `work` with the environment, folder and standard input of a run, and restores them. */
async function surrounded<T>({ input, env = {}, cwd }: RunOptions, work: () => Promise<T>): Promise<T> {
  const outer = { cwd: process.cwd(), stdin: Object.getOwnPropertyDescriptor(process, 'stdin') };
  const changed = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  if (cwd !== undefined) process.chdir(cwd);
  if (input) Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from([input]) });
  try {
    return await work();
  } finally {
    if (input && outer.stdin) Object.defineProperty(process, 'stdin', outer.stdin);
    if (cwd !== undefined) process.chdir(outer.cwd);
    for (const [name, value] of changed) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/** Expects a failure: one line, no stack, nothing on standard output. */
export function expectFailure(
  { code, stdout, stderr }: Outcome,
  expectedCode: number,
  text: string | RegExp,
): void {
  expect(stderr).toMatch(text);
  expect(stderr).toMatch(/^anyvmaf: [^\n]*[^\n ]\n$/);
  expect(stderr).not.toMatch(/undefined|\[object|\bat .*:\d+:\d+|node:internal/);
  expect({ code, stdout }).toEqual({ code: expectedCode, stdout: '' });
}

/** Runs a command line that succeeds. */
export async function passes(args: readonly string[], options?: RunOptions): Promise<Outcome> {
  const outcome = await anyvmaf(args, options);
  expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
  return outcome;
}

/** Runs a command line that ends with this code and message. */
export async function ends(
  args: readonly string[],
  code: number,
  text: string | RegExp,
  options?: RunOptions,
): Promise<Outcome> {
  const outcome = await anyvmaf(args, options);
  expect(outcome.stderr).toMatch(text);
  expect(outcome, outcome.stderr).toMatchObject({ code });
  return outcome;
}

/** Runs a command line that fails as {@link expectFailure} says. */
export async function refuses(
  args: readonly string[],
  code: number,
  text: string | RegExp,
  options?: RunOptions,
): Promise<void> {
  expectFailure(await anyvmaf(args, options), code, text);
}

export interface ProcessOptions extends Omit<RunOptions, 'terminal'> {
  /** Options for Node itself. */
  readonly node?: readonly string[];
  /** Called once the process runs. */
  readonly meanwhile?: (child: ChildProcess) => void;
}

/** Runs the built `anyvmaf ARGS` in a process of its own. */
export function anyvmafProcess(args: readonly string[], options: ProcessOptions = {}): Promise<Outcome> {
  return run(process.execPath, [...(options.node ?? []), PROGRAM, ...args], options);
}

/** Runs a program to its end. */
export function run(program: string, args: readonly string[], options: ProcessOptions = {}) {
  return new Promise<Outcome>((resolve, reject) => {
    const { NO_COLOR: _, ...env } = process.env;
    const child = spawn(program, args, { env: { ...env, ...options.env }, cwd: options.cwd });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    child.on('error', reject).on('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.on('error', () => {});
    if (options.meanwhile) options.meanwhile(child);
    else child.stdin.end(options.input);
  });
}

/** A temporary folder with generated videos in it. */
export interface Videos {
  /** Path of a name in the folder. */
  at(name: string): string;
  /** Writes a file and gives its path. */
  put(name: string, content: string | Uint8Array): string;
  /** Writes a generated pair, Y4M or raw by the names' ends, and gives both paths. */
  pair(names: readonly [string, string], frames: number, options?: PairOptions): [string, string];
}

export interface PairOptions extends SampleOptions {
  readonly width?: number;
  readonly height?: number;
  readonly bitDepth?: number;
}

/** @param folder by default one that is gone after the tests of the file or group */
export function videos(folder = testFolder('cli')): Videos {
  const at = (name: string) => join(folder, name);
  const put = (name: string, content: string | Uint8Array) => {
    writeFileSync(at(name), content);
    return at(name);
  };
  return {
    at,
    put,
    pair: ([reference, distorted], frames, options = {}) => {
      const { width = 64, height = 48, bitDepth = 8 } = options;
      const clip = makeSample({ width, height, bitDepth, chroma: '420' }, { seed: 61, ...options });
      const file = (name: string, side: 'reference' | 'distorted') =>
        put(name, (name.endsWith('.yuv') ? yuvFile : y4mFile)(clip, side, frames));
      return [file(reference, 'reference'), file(distorted, 'distorted')];
    },
  };
}

/** Milliseconds between two checks, and the checks in a row that must find every thread asleep. */
const [LOOK, ENOUGH] = [50, 12];

/** Waits until every thread of a process sleeps for a while; a thread that only lacks a processor does not. Off Linux: a second. */
export async function atRest(pid: number | undefined): Promise<void> {
  if (process.platform !== 'linux') {
    await sleep(1000);
    return;
  }
  for (let asleep = 0; asleep < ENOUGH; await sleep(LOOK)) asleep = sleeps(pid) ? asleep + 1 : 0;
}

/** Whether all threads sleep. @throws {Error} if the process is gone */
function sleeps(pid: number | undefined): boolean {
  const folder = `/proc/${pid}/task`;
  return readdirSync(folder).every((thread) => {
    try {
      const stat = readFileSync(`${folder}/${thread}/stat`, 'latin1');
      return stat.slice(stat.lastIndexOf(')')).startsWith(') S');
    } catch {
      // The thread has just ended.
      return false;
    }
  });
}
