/**
 * @module report/csv
 * The CSV log (specification C.5). As in libvmaf a value that is missing is skipped, not left blank, and there are no
 * pooled values.
 */
import { type Precision, textNumber } from './format.js';
import type { Report } from './types.js';

/**
 * @returns the file line by line
 * @throws {AnyvmafError} `usage` when the precision is not one
 */
export function* writeCsv(
  report: Report,
  precision: Precision = 'legacy',
): Generator<string, void, undefined> {
  const number = textNumber(precision);
  yield `Frame,${report.metrics.map((name) => `${name},`).join('')}\n`;
  for (const frame of report.frames) {
    let row = `${frame.frameNum},`;
    for (const name of report.metrics) {
      const value = frame.metrics[name];
      if (typeof value === 'number') row += `${number(value)},`;
    }
    yield `${row}\n`;
  }
}
