/**
 * @module cli/exit
 * The exit codes of the program and which error leads to which.
 */
import { AnyvmafError } from '../core/errors.js';
import { sentence } from '../core/printable.js';
import { limitError } from '../core/system-limits.js';
import { messageInFlags } from './flags.js';

/** Exit codes, documented in docs/cli.md and in the help. */
export const EXIT = {
  ok: 0,
  /** The command line is wrong. */
  usage: 1,
  /** A video, a model, a feature or a file cannot be used, or a limit of the system was reached. */
  failed: 2,
  /** The score is below `--fail-under`, or that option cannot trust it. */
  below: 3,
  /** A rule of `--alarm` came true. */
  alarm: 4,
  /** A defect of this program. */
  internal: 70,
  /** Ctrl-C: 128 + SIGINT. */
  interrupted: 130,
  /** The reader of standard output went away: 128 + SIGPIPE. */
  closedPipe: 141,
  /** 128 + SIGTERM. */
  terminated: 143,
} as const;

/** The reader of standard output has closed it: the process ends without a message. */
export class ClosedPipe extends Error {}

/** The user asked to stop. */
export class Interrupted extends AnyvmafError {
  readonly exitCode: number;

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super('aborted', signal === 'SIGINT' ? 'interrupted' : 'terminated');
    this.exitCode = signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
  }
}

/** The exit code for whatever a command threw. */
export function exitCodeOf(thrown: unknown): number {
  const error = limitError(thrown) ?? thrown;
  if (error instanceof ClosedPipe) return EXIT.closedPipe;
  if (error instanceof Interrupted) return error.exitCode;
  if (!(error instanceof AnyvmafError) || error.code === 'internal') return EXIT.internal;
  if (error.code === 'aborted') return EXIT.interrupted;
  return error.code === 'usage' ? EXIT.usage : EXIT.failed;
}

/** The line to print about it; `undefined` prints nothing. */
export function messageOf(thrown: unknown): string | undefined {
  const error = limitError(thrown) ?? thrown;
  if (error instanceof ClosedPipe) return undefined;
  if (error instanceof AnyvmafError) return sentence(messageInFlags(error));
  const text = error instanceof Error ? error.message || error.name : String(error);
  return `a defect of anyvmaf itself, please report it: ${sentence(text)} (ANYVMAF_DEBUG=1 shows where)`;
}
