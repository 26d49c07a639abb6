/**
 * @module engine/backends/native/host
 * What a platform must offer to run installed programs: finding them, and running one in a private folder.
 */

import { shown } from '../../../core/printable.js';
import type { NativeProgram } from './types.js';

/** A file that may be the program looked for. */
export interface Candidate {
  /** Absolute path, or the name as requested if there is no file. */
  readonly path: string;
  /** Who named it: `vmafBin`, a variable of the environment, or `PATH`. */
  readonly from: string;
  /** Changes when the file does; absent where there is nothing that could run. */
  readonly key?: string;
  /** Why it cannot run, as the end of a sentence. */
  readonly problem?: string;
}

/**
 * Hands the bytes of one pipe over.
 * @param write resolves once the bytes have been taken and may be overwritten; `false` when nobody reads any longer
 */
export type Feed = (write: (bytes: Uint8Array) => Promise<boolean>) => Promise<void>;

/** One run of a program. */
export interface NativeJob {
  readonly path: string;
  readonly args: readonly string[];
  /** Small files to put into the private folder, which is the working directory. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Named pipes to make there. */
  readonly feeds?: Readonly<Record<string, Feed>>;
  /** A file to read back from there. */
  readonly output?: string;
  /** Time limit in milliseconds. Default: none. */
  readonly timeout?: number;
  /** Milliseconds that it may neither read what waits for it nor end. Default: as long as it takes. */
  readonly stall?: number;
  /** Ends it at once; its reason is thrown. */
  readonly signal?: AbortSignal;
}

/** How a run ended. Its folder and pipes are gone. */
export interface NativeOutcome {
  /** `unstartable`: it never ran; `timeout`: it was ended. */
  readonly kind: 'ended' | 'unstartable' | 'timeout';
  /** `null` if a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** The start and the end of its output. */
  readonly stdout: string;
  readonly stderr: string;
  /** Absent if it did not write the file. */
  readonly output?: string;
  /** Why it could not be started, the end of a sentence. */
  readonly reason?: string;
  /** Wall-clock milliseconds. */
  readonly time: number;
  /** The time limit that it ran into, in milliseconds. */
  readonly limit?: number;
}

/** Installed programs of one platform. */
export interface NativeHost {
  /** Whether {@link NativeJob.feeds} works here. */
  readonly pipes: boolean;
  /**
   * Files that may be the program, the preferred first.
   * @param named the only one to look at
   */
  candidates(kind: 'vmaf' | 'ffmpeg', named?: string): readonly Candidate[];
  /**
   * Runs a program to its end. Nothing of it is left when the promise settles: no process, no file.
   * @throws the signal's reason, and what a feed throws
   */
  run(job: NativeJob): Promise<NativeOutcome>;
}

/** How messages call a program. */
export function programName({ flavour, path }: Pick<NativeProgram, 'flavour' | 'path'>): string {
  return `${flavour} (${oneLine(path)})`;
}

/** What a program said, as the part of a message: its lines in one, and not longer than `most` characters. */
export function oneLine(text: string, most = 300): string {
  const lines = text.split(/[\r\n\u2028\u2029]+/).map((line) => line.trim());
  return shown(lines.filter((line) => line !== '').join(' / '), most);
}

/** How a run failed, the end of a sentence; `undefined` when it ended well. */
export function failure(outcome: NativeOutcome): string | undefined {
  const { kind, code, signal, reason, time, limit = time } = outcome;
  if (kind === 'unstartable') return `cannot be started: ${reason ?? 'for an unknown reason'}`;
  if (kind === 'timeout') return `did not answer within ${Math.round(limit / 100) / 10} s and was ended`;
  if (signal !== null) return `was ended by ${signal}${saying(outcome)}`;
  if (code !== 0) return `ended with status ${code}${saying(outcome)}`;
  return undefined;
}

/** What it said last, for the end of a sentence. */
function saying({ stdout, stderr }: NativeOutcome): string {
  const text = stderr.trim() || stdout.trim();
  const lines = text.split('\n').slice(-3).join('\n');
  return text === '' ? ' without a word' : `, saying "${oneLine(lines)}"`;
}
