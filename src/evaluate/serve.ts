/**
 * @module evaluate/serve
 * The parser thread's part of an evaluation: reads the table and the model, and evaluates.
 */
import { quoted, shown } from '../core/printable.js';
import type { ByteReader } from '../media/types.js';
import type { Monitor, Served } from '../parsing/serve.js';
import type { TinyPlatform, TinyRuntimes } from '../tiny/types.js';
import { compare, evaluate } from './evaluate.js';
import type { EvaluationCalls, LentTable } from './evaluation.js';
import { FeatureTable, type TableColumns } from './table/read.js';

/** Base time limit in milliseconds, and the data that extend it by one: four times what one core takes. */
const SILENCE = 4000;
const BYTES_PER_MILLISECOND = 5000;
const ROWS_PER_MILLISECOND = 125;
/** Time limit in milliseconds for a runtime to start a model or to run one batch: the longest of a parser. */
const RUNTIME_SILENCE = 40_000;

export function serveEvaluation(tiny: TinyPlatform, monitor: Monitor): Served<EvaluationCalls> {
  const platform: TinyPlatform = { ...tiny, runtimes: monitoredRuntimes(tiny.runtimes, monitor) };

  async function withTable<T>({ name, size }: LentTable, use: (table: TableColumns) => Promise<T>) {
    return use(await openMonitored(monitor.input(size), name, monitor));
  }

  return {
    evaluate: ({ model, table, options }) =>
      withTable(table, (columns) => evaluate(platform, model, columns, options)),
    compare: ({ models, table, options }) =>
      withTable(table, (columns) => compare(platform, models, columns, options)),
  };
}

/** Runs work with a time limit in milliseconds. @param reason what fails if it is exceeded */
function limited(monitor: Monitor, reason: Parameters<Monitor['patience']>[1]) {
  return async <T>(silence: number, work: () => Promise<T>): Promise<T> => {
    monitor.patience(silence, reason);
    try {
      return await work();
    } finally {
      // Computing has no time limit.
      monitor.patience(Number.POSITIVE_INFINITY, reason);
    }
  };
}

/** Opens the table with time limits on reading that grow with its size. */
async function openMonitored(reader: ByteReader, name: string, monitor: Monitor): Promise<TableColumns> {
  const within = limited(monitor, { code: 'io', subject: `${shown(name)} cannot be read as Parquet` });
  const opening = SILENCE + reader.size / BYTES_PER_MILLISECOND;
  const table = await within(opening, () => FeatureTable.open(reader, name));
  const reading = opening + table.rows / ROWS_PER_MILLISECOND;
  return {
    name: table.name,
    rows: table.rows,
    columns: table.columns,
    has: (column) => table.has(column),
    numbers: (column) => within(reading, () => table.numbers(column)),
    texts: (column) => within(reading, () => table.texts(column)),
  };
}

function monitoredRuntimes(runtimes: TinyRuntimes, monitor: Monitor): TinyRuntimes {
  return {
    devices: () => runtimes.devices(),
    async open(model, options) {
      const subject = `The tiny model ${quoted(model.source)} cannot be run`;
      const within = limited(monitor, { code: 'model', subject });
      const session = await within(RUNTIME_SILENCE, () => runtimes.open(model, options));
      const { runtime, device, notes } = session;
      return {
        runtime,
        device,
        notes,
        run: (inputs) => within(RUNTIME_SILENCE, () => session.run(inputs)),
        close: () => session.close(),
      };
    },
  };
}
