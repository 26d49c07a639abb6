/**
 * @module web/saved/functions
 * Reads and writes saved reports in a worker, with frames in batches, so that neither thread is blocked.
 */
import {
  AnyvmafError,
  type CurveResult,
  type FrameMetrics,
  formatHtml,
  type HtmlOptions,
  type Precision,
  type ReadReport,
  type Report,
  type ReportFormat,
  readEncodingResult,
  readReport,
  writeReport,
} from 'anyvmaf';
import { reportTexts, writeTableCsv } from 'anyvmaf/view';
import type { CallContext } from '../engine/calls.js';

const BATCH = 400;

/** Frames are sent separately. */
export type Head = Omit<Report, 'frames'>;

/** Each report and then its frames; or the result of a search, a ladder or a comparison. */
export type ReadEvent =
  | { readonly curves: CurveResult }
  | { readonly saved: Omit<ReadReport, 'frames'> }
  | { readonly frames: readonly FrameMetrics[] };

/** One report, a page of several, or several in one file as from the command line. */
export type WriteFormat = ReportFormat | 'html' | 'all.csv' | 'all.json';

export interface WriteOptions
  extends Pick<HtmlOptions, 'written' | 'pictures' | 'picturesLacking' | 'looks' | 'curves'> {
  /** For formats other than HTML; default `legacy`. */
  readonly precision?: Precision;
}

/** Start of the result of a search, a ladder or a comparison. */
const ENCODING = /^\s{0,8}\{\s{0,8}"kind"\s{0,8}:\s{0,8}"(?:search|ladder|comparison)"/;

let gathered: { readonly head: Head; readonly frames: FrameMetrics[] }[] = [];

export const paper = {
  async read({ file }: { file: File }, { emit }: CallContext<ReadEvent>): Promise<void> {
    const text = await file.text();
    if (ENCODING.test(text.slice(0, 200))) {
      emit({ curves: await readEncodingResult(text) });
      return;
    }
    for (const report of reportTexts(text, file.name)) {
      const { frames, ...saved } = readReport(report, file.name);
      emit({ saved });
      for (let i = 0; i < frames.length; i += BATCH) emit({ frames: frames.slice(i, i + BATCH) });
    }
  },

  /** Frames follow with `add`. */
  async begin(heads: readonly Head[]): Promise<void> {
    gathered = heads.map((head) => ({ head, frames: [] }));
  },

  async add({ index, frames }: { index: number; frames: readonly FrameMetrics[] }): Promise<void> {
    for (const frame of frames) gathered[index]?.frames.push(frame);
  },

  async write({ format, options }: { format: WriteFormat; options: WriteOptions }): Promise<Blob> {
    const reports = gathered.map(({ head, frames }): Report => ({ ...head, frames }));
    gathered = [];
    if (format === 'html') return new Blob([await formatHtml(reports, options)], { type: 'text/html' });
    const { precision = 'legacy' } = options;
    if (format === 'all.csv') return new Blob([...writeTableCsv(reports, precision)], { type: 'text/csv' });
    if (format === 'all.json')
      return new Blob([...jsonList(reports, precision)], { type: 'application/json' });
    const [report] = reports;
    if (!report)
      throw new AnyvmafError('internal', 'There is no report to write; please report this as a bug.');
    return new Blob([...writeReport(report, format, { precision })], { type: 'text/plain' });
  },
};

function* jsonList(reports: readonly Report[], precision: Precision): Generator<string, void, undefined> {
  for (const [i, report] of reports.entries()) {
    yield i === 0 ? '[\n' : ',\n';
    yield* writeReport(report, 'json', { precision });
  }
  yield ']\n';
}

export type Paper = typeof paper;
