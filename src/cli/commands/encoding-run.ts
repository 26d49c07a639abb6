/**
 * @module cli/commands/encoding-run
 * What commands do around work that encodes a source: result files that are found writable before it, progress during it.
 */
import { extname } from 'node:path';
import { usageError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import { type CurveResult, formatEncodingResult, type ResultFormat, type SearchStage } from '../../index.js';
import { type OutputFile, openOutput } from '../output.js';
import { interruptible } from '../signals.js';
import type { Terminal } from '../terminal.js';

/** How results are given out. */
export interface ResultSettings {
  readonly source: string;
  /** Files, of which each has its format from the end of its name. */
  readonly outputs: readonly string[];
  /** What is printed. */
  readonly format: ResultFormat;
  readonly quiet: boolean;
}

/** What work reports while it runs. */
export interface EncodingListeners {
  readonly onStage?: (stage: SearchStage) => void;
  readonly signal: AbortSignal;
  /** Prints a line on the terminal, above the one that says what is being done; nothing where nobody reads it. */
  line(text: string): void;
}

/**
 * Does the work, and gives out its result.
 * @throws {AnyvmafError} what the work throws; `usage` or `io` for files that cannot be written, before it begins
 */
export async function encodingRun<Result extends CurveResult>(
  { source, outputs, format, quiet }: ResultSettings,
  terminal: Terminal,
  work: (listeners: EncodingListeners) => Promise<Result>,
): Promise<Result> {
  const formats = outputs.map((path) => ({ path, as: formatOf(path) }));
  const files: (readonly [OutputFile, ResultFormat])[] = [];
  for (const { path, as } of formats) files.push([await openOutput(path, [source]), as]);
  const bar =
    terminal.canDraw && !quiet ? (await import('../progress-bar.js')).progressBar(terminal) : undefined;
  const line = (text: string) => {
    bar?.clear();
    if (!quiet && format === 'text') terminal.draw(`${text}\n`);
  };
  return interruptible(async ({ signal }) => {
    try {
      const onStage = bar && ((stage: SearchStage) => bar.say(stageText(stage)));
      const result = await work({ signal, line, ...(onStage && { onStage }) });
      bar?.clear();
      for (const [file, as] of files) await file.write([await formatEncodingResult(result, as)], signal);
      await terminal.print(await formatEncodingResult(result, format));
      return result;
    } finally {
      bar?.clear();
    }
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

/** What is being done, in a line. */
export function stageText(stage: SearchStage): string {
  if (stage.kind === 'reading') return 'reading the source';
  if (stage.kind === 'finding') return `looking for cuts, frame ${stage.frames} of ${stage.total}`;
  if (stage.kind === 'cutting') return `cutting ${stage.samples} samples, ${stage.frames} frames`;
  const { kind, encoder, size, value, whole } = stage;
  const what = whole ? 'the whole source' : 'samples';
  const far = stage.frames === undefined ? '' : `, frame ${stage.frames} of ${stage.total}`;
  return `${kind} ${what}${size ? ` in ${size.width}x${size.height}` : ''} with ${encoder} at ${value}${far}`;
}
