/**
 * @module test/cli/run
 * Runs the built program as a user does, and makes small videos for it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { y4mFile, yuvFile } from '../../src/sample/files.js';
import { makeSample, type SampleOptions } from '../../src/sample/generator.js';

/** The built executable. */
export const PROGRAM = fileURLToPath(new URL('../../dist/bundle/js/main.js', import.meta.url));

/** What a run left behind. */
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
  /** Options for Node itself. */
  readonly node?: readonly string[];
  /** Called once the process runs. */
  readonly meanwhile?: (child: ChildProcess) => void;
}

/** Runs `anyvmaf ARGS` to its end. */
export function anyvmaf(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return run(process.execPath, [...(options.node ?? []), PROGRAM, ...args], options);
}

/** Runs a program to its end. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return new Promise((resolve, reject) => {
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
export interface Videos extends Disposable {
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

export function videos(): Videos {
  const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-cli-'));
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
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
