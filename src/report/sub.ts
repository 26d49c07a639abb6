/**
 * @module report/sub
 * The log as MicroDVD subtitles, to show a frame's values over the video (specification C.5).
 */
import { type Precision, textNumber } from './format.js';
import type { Report } from './types.js';

/**
 * @returns the file line by line
 * @throws {AnyvmafError} `usage` when the precision is not one
 */
export function* writeSub(
  report: Report,
  precision: Precision = 'legacy',
): Generator<string, void, undefined> {
  const number = textNumber(precision);
  for (const frame of report.frames) {
    let row = `{${frame.frameNum}}{${frame.frameNum + 1}}frame: ${frame.frameNum}|`;
    for (const name of report.metrics) {
      const value = frame.metrics[name];
      if (typeof value === 'number') row += `${name}: ${number(value)}|`;
    }
    yield `${row}\n`;
  }
}
