/**
 * @module cli/live-lines
 * Prints reports as JSON lines on standard output, each frame as soon as its values are final.
 */
import type { Precision } from '../report/format.js';
import { type NdjsonLines, ndjsonLines } from '../report/json.js';
import type { FailedEncode, FrameMetrics, Report, ReportHead } from '../report/types.js';

/** Prints one report after the other; lines of later ones wait. */
export class LiveLines {
  readonly #lines: NdjsonLines;
  readonly #print: (text: string) => Promise<void>;
  readonly #broken: (reason: unknown) => void;
  /** Per report: its metrics once it has started, the waiting lines, and whether it has ended. */
  readonly #reports: { metrics?: readonly string[]; waiting: string[]; complete: boolean }[];
  #turn = 0;
  #written: Promise<void> = Promise.resolve();

  /** @param broken called if printing fails */
  constructor(
    count: number,
    precision: Precision,
    print: (text: string) => Promise<void>,
    broken: (reason: unknown) => void,
  ) {
    this.#lines = ndjsonLines(precision);
    this.#print = print;
    this.#broken = broken;
    this.#reports = Array.from({ length: count }, () => ({ waiting: [], complete: false }));
  }

  readonly start = (head: ReportHead, index = 0): void => {
    const report = this.#reports[index];
    if (report) report.metrics = head.metrics;
    this.#add(index, this.#lines.header(head));
  };

  readonly frame = (frame: FrameMetrics, index = 0): void => {
    this.#add(index, this.#lines.frame(frame, this.#reports[index]?.metrics ?? []));
  };

  readonly end = (report: Report, index = 0): void => {
    const state = this.#reports[index];
    if (!state) return;
    // A report without any scored frame has not started.
    if (!state.metrics) this.start(report, index);
    state.complete = true;
    this.#add(index, this.#lines.summary(report));
  };

  readonly fail = (failed: FailedEncode, index: number): void => {
    const state = this.#reports[index];
    if (!state) return;
    state.complete = true;
    this.#add(index, this.#lines.failure(failed));
  };

  written(): Promise<void> {
    return this.#written;
  }

  #add(index: number, line: string): void {
    this.#reports[index]?.waiting.push(line);
    for (; ; this.#turn++) {
      const report = this.#reports[this.#turn];
      if (!report) return;
      const text = report.waiting.splice(0).join('');
      if (text !== '') this.#written = this.#written.then(() => this.#print(text));
      this.#written.catch(this.#broken);
      if (!report.complete) return;
    }
  }
}
