/**
 * @module cli/commands/features-table
 * `anyvmaf features --parquet FILE`: measures pairs of videos and writes their features, one row per frame.
 */
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { AnyvmafError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import type { DatasetPair, DatasetSummary } from '../../index.js';
import { EXIT } from '../exit.js';
import { openOutput } from '../output.js';
import { interruption } from '../signals.js';
import type { Terminal } from '../terminal.js';
import { parsePairs, type TableSettings } from './features-table-options.js';

/** Writes the table. @returns the exit code */
export async function writeTable(settings: TableSettings, terminal: Terminal): Promise<number> {
  const { output, options, quiet, json } = settings;
  const pairs = await pairsOf(settings);
  const inputs = pairs.flatMap(({ reference, distorted }) => [String(reference), String(distorted)]);
  const list = 'list' in settings.pairs ? [settings.pairs.list] : [];
  const file = await openOutput(output, [...inputs, ...list]);
  const stop = interruption();
  const bar =
    terminal.canDraw && !quiet ? (await import('../progress-bar.js')).progressBar(terminal) : undefined;
  try {
    const { writeFeatures } = await import('../../index.js');
    const table = writeFeatures(pairs, {
      ...options,
      signal: stop.signal,
      ...(bar && { onProgress: bar.show }),
    });
    let summary: DatasetSummary | undefined;
    await file.write(
      (async function* () {
        summary = yield* table;
      })(),
      stop.signal,
    );
    bar?.clear();
    if (!summary) throw new AnyvmafError('internal', `nothing was written to ${output}`);
    for (const warning of summary.warnings) terminal.complain(`warning: ${warning}`);
    const { rows, columns } = summary;
    await terminal.print(
      json
        ? `${JSON.stringify({ file: output, rows, pairs: pairs.length, columns }, null, 2)}\n`
        : `${output}: ${rows} ${rows === 1 ? 'row' : 'rows'} of ${pairs.length} ${pairs.length === 1 ? 'pair' : 'pairs'}, ` +
            `columns ${columns.join(' ')}\n`,
    );
    return EXIT.ok;
  } finally {
    bar?.clear();
    stop.release();
  }
}

async function pairsOf({ pairs }: TableSettings): Promise<readonly DatasetPair[]> {
  if (!('list' in pairs)) return pairs;
  const { list, raw } = pairs;
  const folder = dirname(list);
  let text: string;
  try {
    text = await readFile(list, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const reason =
      code === 'ENOENT' ? 'there is no such file' : cause instanceof Error ? cause.message : cause;
    throw new AnyvmafError('io', `cannot read the list "${shown(list)}": ${reason}`, { cause });
  }
  return parsePairs(text, list, (path) => (isAbsolute(path) ? path : join(folder, path)), raw);
}
