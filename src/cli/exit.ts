/**
 * @module cli/exit
 * Exit codes, errors and findings in the words of the command line, and interruption by signals.
 */
import type { Worker } from 'node:worker_threads';
import { AnyvmafError, type HintName, hintText, type OptionHint, objectionsText } from '../core/errors.js';
import { shellWord } from '../core/names.js';
import { wordsOf } from '../core/option-words.js';
import { sentence, shown } from '../core/printable.js';
import { formatSize } from '../core/size.js';
import { limitError } from '../core/system-limits.js';
import type { AlignResult, Finding, Report } from '../index.js';

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

/** Writes a hint as a flag, such as `--offset 12`. */
const flags: HintName = (hint) => {
  if (hint.purpose === 'pull') return `'anyvmaf models pull ${hint.model}'`;
  if (hint.purpose === 'install') return `'anyvmaf setup ${hint.part}', or add --yes`;
  const { flag: name, written = `--${name}` } = wordsOf(hint.option);
  const flag = hint.option === 'raw' ? '-w, -h, -p and -b' : written;
  if (hint.value === undefined || hint.value === true) return flag;
  switch (hint.option) {
    case 'range': {
      const { unit, start, end } = hint.value;
      const text = (value: number) => (unit === 'seconds' ? `${Number(value.toFixed(3))}s` : String(value));
      return `${flag} ${text(start)}-${end === undefined ? '' : text(end)}`;
    }
    case 'raw': {
      const { width, height, chroma, bitDepth } = hint.value;
      return `--width ${width} --height ${height} --pixel_format ${chroma} --bitdepth ${bitDepth}`;
    }
    case 'swap':
      return `--reference ${shellWord(shown(hint.value.reference))} --distorted ${shellWord(shown(hint.value.distorted))}`;
    case 'vfDistorted':
    case 'vfReference':
      return `${flag} ${shellWord(hint.value)}`;
    case 'window':
      return `--offset auto --window ${hint.value}`;
    default:
      return `${flag} ${formatSize(hint.value)}`;
  }
};

/** The fix if one of several encodes has an offset, because each has its own. */
const SEARCHED: OptionHint = { purpose: 'fix', option: 'offset', value: 'auto' };

export function messageInFlags({ message, objections }: AnyvmafError): string {
  return objections ? objectionsText(objections, flags) : message;
}

/**
 * Adds to each finding the flag that resolves it.
 * @param ofAll for one of several encodes: true if a finding is about all of them. Flags apply to all encodes, so one
 * that would harm the others is not advised
 */
export function findingsInFlags(
  findings: readonly Finding[],
  ofAll: (finding: Finding) => boolean = () => true,
): Finding[] {
  return findings.map((finding) => {
    const { hint } = finding;
    if (!hint) return finding;
    if (ofAll(finding)) return { ...finding, fix: hintText(hint, flags) };
    if (hint.option === 'offset') return { ...finding, fix: hintText(SEARCHED, flags) };
    const fix = hintText(hint, flags);
    return { ...finding, fix: hint.purpose === 'prepare' ? `score it alone with ${fix}` : fix };
  });
}

export function alignmentAdvice({ reason, offset }: Pick<AlignResult, 'reason' | 'offset'>): string {
  return reason === 'edge' ? 'To look further: --window N' : `To score with it: --offset ${offset}`;
}

/**
 * Adds warnings about ineffective options to a report, and flags to its findings.
 * @param ofAll see {@link findingsInFlags}
 */
export function completeReport(
  report: Report,
  ignored: readonly string[],
  ofAll?: (finding: Finding) => boolean,
): Report {
  const { preflight } = report;
  return {
    ...report,
    warnings: [...report.warnings, ...ignored],
    ...(preflight && { preflight: findingsInFlags(preflight, ofAll) }),
  };
}

/** Milliseconds that threads get to end. */
const GRACE = 400;

/** Threads of this process, including those of libraries. */
const threads = new Set<Worker>();

process.on('worker', (worker) => {
  threads.add(worker);
  worker.once('exit', () => threads.delete(worker));
});

/** Ends the process with a code; after an interruption, even if threads do not end. */
export async function endProcess(code: number): Promise<never> {
  const signal = code === EXIT.interrupted ? 'SIGINT' : code === EXIT.terminated ? 'SIGTERM' : undefined;
  if (signal !== undefined) {
    const late = new Promise<void>((resolve) => setTimeout(resolve, GRACE));
    await Promise.race([Promise.all([...threads].map((thread) => thread.terminate())), late]);
    endNow(signal, code);
  }
  return process.exit(code);
}

/** Ends the process at once: with the code if no thread runs, otherwise by the signal, which means the same. */
export function endNow(signal: NodeJS.Signals, code: number): void {
  if (threads.size === 0) process.exit(code);
  // Run the cleanup of exit listeners now.
  process.emit('exit', code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Still here: the first process of a container is immune to its own signals.
  process.exit(code);
}

/** Milliseconds that a run gets to stop after a signal. */
const PATIENCE = 1500;

export interface Interruption {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Restores the usual effect of both signals. */
  release(): void;
}

/**
 * Listens for SIGINT and SIGTERM: the first one aborts; a second one, or a timeout, ends the process. Signals reach a
 * thread only between two tasks: work that may block it for long belongs elsewhere, see parsing/parser.
 * @param patience milliseconds until the process is ended
 */
export function interruption(patience = PATIENCE): Interruption {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const stop = (name: NodeJS.Signals) => {
    const reason = new Interrupted(name === 'SIGTERM' ? 'SIGTERM' : 'SIGINT');
    const end = () => endNow(name, reason.exitCode);
    if (controller.signal.aborted) return end();
    controller.abort(reason);
    timer = setTimeout(() => {
      // The blocked command cannot report it.
      process.stderr.write(`anyvmaf: ${reason.message}\n`);
      end();
    }, patience);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => {
      clearTimeout(timer);
      process.off('SIGINT', stop).off('SIGTERM', stop);
    },
  };
}

export async function interruptible<T>(work: (stop: Interruption) => Promise<T>): Promise<T> {
  const stop = interruption();
  try {
    return await work(stop);
  } finally {
    stop.release();
  }
}
