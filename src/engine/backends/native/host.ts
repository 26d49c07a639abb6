/**
 * @module engine/backends/native/host
 * What a platform must offer to run installed programs: finding them, and running one in a private folder.
 */

import { shown } from '../../../core/printable.js';
import type { NativeProgram } from './types.js';

/** A file that may be the requested program. */
export interface Candidate {
  /** Absolute path, or the name as requested if there is no file. */
  readonly path: string;
  /** Where the name comes from: `vmafBin`, an environment variable, or `PATH`. */
  readonly from: string;
  /** Changes when the file does; absent if nothing there can run. */
  readonly key?: string;
  /** Why it cannot run, as the end of a sentence. */
  readonly problem?: string;
}

/** Feeds one pipe. `write` resolves once its bytes may be overwritten, with `false` if the reader is gone. */
export type Feed = (write: (bytes: Uint8Array) => Promise<boolean>) => Promise<void>;

export interface NativeJob {
  readonly path: string;
  readonly args: readonly string[];
  /** Small files to create in the private folder, which is the working directory. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Named pipes to create there. */
  readonly feeds?: Readonly<Record<string, Feed>>;
  /** File to read back from there. */
  readonly output?: string;
  /** Time limit in milliseconds. Default: none. */
  readonly timeout?: number;
  /** Milliseconds without reading its pipes after which it is ended. Default: no limit. */
  readonly stall?: number;
  /** Ends it at once; `run` throws its reason. */
  readonly signal?: AbortSignal;
}

/** How a run ended. Its folder and pipes are gone. */
export interface NativeOutcome {
  /** `unstartable`: it never ran; `timeout`: it was ended. */
  readonly kind: 'ended' | 'unstartable' | 'timeout';
  /** `null` if a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** Start and end of its output. */
  readonly stdout: string;
  readonly stderr: string;
  /** Absent if the file was not written. */
  readonly output?: string;
  /** Why it could not start, as the end of a sentence. */
  readonly reason?: string;
  /** Wall-clock milliseconds. */
  readonly time: number;
  /** Time limit that it exceeded, in milliseconds. */
  readonly limit?: number;
}

export interface NativeHost {
  /** Whether {@link NativeJob.feeds} is supported. */
  readonly pipes: boolean;
  /** Files that may be the program, in order of preference; `named` alone if given. */
  candidates(kind: 'vmaf' | 'ffmpeg', named?: string): readonly Candidate[];
  /** Runs a program to its end; leaves no process and no file. @throws the signal's reason, and errors of feeds */
  run(job: NativeJob): Promise<NativeOutcome>;
}

export function programName({ flavour, path }: Pick<NativeProgram, 'flavour' | 'path'>): string {
  return `${flavour} (${oneLine(path)})`;
}

/** Joins the lines of a program's output for a message, in at most `most` characters. */
export function oneLine(text: string, most = 300): string {
  const lines = text.split(/[\r\n\u2028\u2029]+/).map((line) => line.trim());
  return shown(lines.filter((line) => line !== '').join(' / '), most);
}

/** How a run failed, as the end of a sentence; `undefined` if it succeeded. */
export function failure(outcome: NativeOutcome): string | undefined {
  const { kind, code, signal, reason, time, limit = time } = outcome;
  if (kind === 'unstartable') return `cannot be started: ${reason ?? 'unknown reason'}`;
  if (kind === 'timeout') return `did not answer within ${Math.round(limit / 100) / 10} s and was ended`;
  if (signal !== null) return `was ended by ${signal}${saying(outcome)}`;
  if (code !== 0) return `exited with status ${code}${saying(outcome)}`;
  return undefined;
}

/** Its last lines of output, for the end of a sentence. */
function saying({ stdout, stderr }: NativeOutcome): string {
  const text = stderr.trim() || stdout.trim();
  const lines = text.split('\n').slice(-3).join('\n');
  return text === '' ? ' without output' : `, printing "${oneLine(lines)}"`;
}
