/**
 * @module report/rows
 * Logs of one line per frame, without pooled values (specification C.5): CSV, and MicroDVD subtitles, which show a
 * frame's values over the video. As in libvmaf a missing value is skipped, not left blank.
 */
import { type Precision, textNumber } from './format.js';
import type { FrameMetrics, Report } from './types.js';

/**
 * @returns the file line by line
 * @throws {AnyvmafError} `usage` when the precision is not one
 */
export function* writeCsv(report: Report, precision?: Precision): Generator<string, void, undefined> {
  yield `Frame,${report.metrics.map((name) => `${name},`).join('')}\n`;
  yield* rows(
    report,
    precision,
    ({ frameNum }) => `${frameNum},`,
    (_, value) => `${value},`,
  );
}

/**
 * @returns the file line by line
 * @throws {AnyvmafError} `usage` when the precision is not one
 */
export function* writeSub(report: Report, precision?: Precision): Generator<string, void, undefined> {
  const begin = ({ frameNum: n }: FrameMetrics) => `{${n}}{${n + 1}}frame: ${n}|`;
  yield* rows(report, precision, begin, (name, value) => `${name}: ${value}|`);
}

function* rows(
  { frames, metrics }: Report,
  precision: Precision = 'legacy',
  begin: (frame: FrameMetrics) => string,
  cell: (name: string, value: string) => string,
): Generator<string, void, undefined> {
  const number = textNumber(precision);
  for (const frame of frames) {
    let row = begin(frame);
    for (const name of metrics) {
      const value = frame.metrics[name];
      if (typeof value === 'number') row += cell(name, number(value));
    }
    yield `${row}\n`;
  }
}
