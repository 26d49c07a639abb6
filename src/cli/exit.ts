/**
 * @module cli/exit
 * The exit codes of the program, and the error behind each.
 */
import { AnyvmafError } from '../core/errors.js';
import { sentence } from '../core/printable.js';
import { limitError } from '../core/system-limits.js';
import { messageInFlags } from './flags.js';

/** Documented in docs/cli.md and in the help. */
export const EXIT = {
  ok: 0,
  /** The command line is wrong. */
  usage: 1,
  /** A video, model, feature or file cannot be used, or a limit of the system was reached. */
  failed: 2,
  /** A score misses its limit or target, or cannot be trusted. */
  below: 3,
  /** A rule of `--alarm` came true. */
  alarm: 4,
  /** A defect of this program. */
  internal: 70,
  /** Ctrl-C: 128 + SIGINT. */
  interrupted: 130,
  /** The reader of standard output closed it: 128 + SIGPIPE. */
  closedPipe: 141,
  /** 128 + SIGTERM. */
  terminated: 143,
} as const;

/** The reader of standard output closed it; the process ends without a message. */
export class ClosedPipe extends Error {}

export class Interrupted extends AnyvmafError {
  readonly exitCode: number;

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super('aborted', signal === 'SIGINT' ? 'interrupted' : 'terminated');
    this.exitCode = signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
  }
}

export function exitCodeOf(thrown: unknown): number {
  const error = limitError(thrown) ?? thrown;
  if (error instanceof ClosedPipe) return EXIT.closedPipe;
  if (error instanceof Interrupted) return error.exitCode;
  if (!(error instanceof AnyvmafError) || error.code === 'internal') return EXIT.internal;
  if (error.code === 'aborted') return EXIT.interrupted;
  return error.code === 'usage' ? EXIT.usage : EXIT.failed;
}

/** The line to print; `undefined` for none. */
export function errorLine(thrown: unknown): string | undefined {
  const error = limitError(thrown) ?? thrown;
  if (error instanceof ClosedPipe) return undefined;
  if (error instanceof AnyvmafError) return sentence(messageInFlags(error));
  const text = error instanceof Error ? error.message || error.name : String(error);
  return `internal error in anyvmaf, please report it: ${sentence(text)} (ANYVMAF_DEBUG=1 shows where)`;
}
