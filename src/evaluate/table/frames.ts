/**
 * @module evaluate/table/frames
 * The values per frame of a report as a Parquet file: the frame's number, and a column of doubles for each metric.
 */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { requireArray, requireObject, requireTexts } from '../../core/arguments.js';
import { version } from '../../core/version.js';

/** Rows of a row group. */
const GROUP_ROWS = 16_384;

/** What is written of a report. */
export interface FramesOfReport {
  readonly frames: readonly {
    readonly frameNum: number;
    readonly metrics: Readonly<Record<string, number>>;
  }[];
  readonly metrics: readonly string[];
  readonly reference: { readonly name: string };
  readonly distorted: { readonly name: string };
}

/**
 * The whole file. A metric without a value in a frame is null there.
 * @throws {AnyvmafError} `usage` for what is no report
 */
export function framesParquet(report: FramesOfReport): Uint8Array {
  requireObject('report', report);
  const { frames, metrics, reference, distorted } = report;
  requireArray('report.frames', frames);
  requireTexts('report.metrics', metrics);
  requireObject('report.reference', reference);
  requireObject('report.distorted', distorted);
  const bytes = new ByteWriter(1 << 16);
  const facts = { version, reference: reference.name, distorted: distorted.name };
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [
      { name: 'schema', num_children: 1 + metrics.length },
      { name: 'frame', type: 'INT32', repetition_type: 'REQUIRED' },
      ...metrics.map((name) => ({ name, type: 'DOUBLE', repetition_type: 'OPTIONAL' }) as const),
    ],
    statistics: false,
    createdBy: `anyvmaf version ${version}`,
    kvMetadata: Object.entries(facts).map(([key, value]) => ({ key: `anyvmaf.${key}`, value })),
  });
  for (let at = 0; at < frames.length; at += GROUP_ROWS) {
    const rows = frames.slice(at, at + GROUP_ROWS);
    const columnData = [
      { name: 'frame', data: Int32Array.from(rows, ({ frameNum }) => frameNum) },
      ...metrics.map((name) => ({ name, data: rows.map((row) => row.metrics[name]) })),
    ];
    writer.write({ columnData, rowGroupSize: GROUP_ROWS });
  }
  writer.finish();
  return bytes.getBytes();
}
