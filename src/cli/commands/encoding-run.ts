/**
 * @module cli/commands/encoding-run
 * What commands do around work that encodes a source: files that are found writable before it, and what is shown during it.
 */
import { extname } from 'node:path';
import { usageError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import { type CurveResult, formatEncodingResult, type ResultFormat, type SearchStage } from '../../index.js';
import { stageText } from '../encoding-text.js';
import { type OutputFile, openOutput } from '../output.js';
import { interruptible } from '../signals.js';
import type { Terminal } from '../terminal.js';

/** What work may write and show. */
export interface EncodingTools {
  /** The files, in their order. */
  readonly files: readonly (OutputFile | undefined)[];
  readonly signal: AbortSignal;
  /** Shows in the last line of a terminal what is being done, not more often than people read; absent where nobody does. */
  readonly say: ((words: string) => void) | undefined;
  /** Prints a line above that. */
  line(text: string): void;
  /** Clears the last line. */
  clear(): void;
}

/** Milliseconds for which a line stays that only its numbers change. */
const READING = 100;

/**
 * Opens files, and does the work.
 * @param paths of files, of which none may be the source
 * @throws {AnyvmafError} what the work throws; `usage` or `io` for files that cannot be written, before hours of encoding
 */
export async function encodingRun<Result>(
  { source, quiet }: { readonly source: string; readonly quiet: boolean },
  paths: readonly (string | undefined)[],
  terminal: Terminal,
  work: (tools: EncodingTools) => Promise<Result>,
): Promise<Result> {
  const files: (OutputFile | undefined)[] = [];
  for (const path of paths) files.push(path === undefined ? undefined : await openOutput(path, [source]));
  const bar =
    terminal.canDraw && !quiet ? (await import('../progress-bar.js')).progressBar(terminal) : undefined;
  let last = { kind: '', time: 0 };
  const clear = () => bar?.clear();
  const say = (words: string) => {
    const now = { kind: words.replaceAll(/\d/g, ''), time: performance.now() };
    if (now.kind === last.kind && now.time - last.time < READING) return;
    last = now;
    bar?.say(words);
  };
  const line = (text: string) => {
    clear();
    if (!quiet) terminal.draw(`${text}\n`);
  };
  return interruptible(async ({ signal }) => {
    try {
      return await work({ files, signal, say: bar && say, line, clear });
    } finally {
      clear();
    }
  });
}

/** How results of curves are given out. */
export interface ResultSettings {
  readonly source: string;
  /** Files, of which each has its format from the end of its name. */
  readonly outputs: readonly string[];
  /** What is printed. */
  readonly format: ResultFormat;
  readonly quiet: boolean;
}

/**
 * Measures curves, and gives out the result.
 * @param work `line` prints a line where a person reads the result
 */
export async function curvesRun<Result extends CurveResult>(
  settings: ResultSettings,
  terminal: Terminal,
  work: (tools: {
    readonly signal: AbortSignal;
    readonly onStage?: (stage: SearchStage) => void;
    line(text: string): void;
  }) => Promise<Result>,
): Promise<Result> {
  const { outputs, format } = settings;
  const formats = outputs.map(formatOf);
  return encodingRun(settings, outputs, terminal, async ({ files, signal, say, line, clear }) => {
    const result = await work({
      signal,
      ...(say && { onStage: (stage) => say(stageText(stage)) }),
      line: format === 'text' ? line : clear,
    });
    clear();
    for (const [i, file] of files.entries())
      await file?.write([await formatEncodingResult(result, formats[i] ?? 'json')], signal);
    await terminal.print(await formatEncodingResult(result, format));
    return result;
  });
}

const FORMATS: Readonly<Record<string, ResultFormat>> = {
  '.json': 'json',
  '.csv': 'csv',
  '.html': 'html',
  '.htm': 'html',
  '.txt': 'text',
};

/** @throws {AnyvmafError} `usage` for a name whose ending says no format */
function formatOf(path: string): ResultFormat {
  const format = FORMATS[extname(path).toLowerCase()];
  if (format !== undefined) return format;
  throw usageError(
    `the result is to be written to ${shown(path)}, but its name must end in ${Object.keys(FORMATS).join(', ')}.`,
  );
}
