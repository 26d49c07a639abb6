/**
 * @module web/saved/functions
 * Reads and writes saved reports in a worker, since a long report takes most of a second. Frames are sent in batches, so
 * that neither thread is blocked.
 */
import {
  AnyvmafError,
  type FrameMetrics,
  formatHtml,
  type HtmlOptions,
  type ReadReport,
  type Report,
  type ReportFormat,
  readReport,
  writeReport,
} from 'anyvmaf';
import type { CallContext } from '../engine/calls.js';

/** Frames per message. */
const BATCH = 400;

/** A report without its frames, which are sent separately. */
export type Head = Omit<Report, 'frames'>;

/** The contents of a saved report, then its frames. */
export type ReadEvent =
  | { readonly saved: Omit<ReadReport, 'frames'> }
  | { readonly frames: readonly FrameMetrics[] };

/** The format to write, and its options. */
export interface WriteCall {
  readonly format: ReportFormat | 'html';
  readonly options: Pick<HtmlOptions, 'written' | 'pictures'>;
}

/** The reports to write, as they arrive. */
let gathered: { readonly head: Head; readonly frames: FrameMetrics[] }[] = [];

export const paper = {
  /** Reads a file; emits its contents, then its frames. */
  async read({ file }: { file: File }, { emit }: CallContext<ReadEvent>): Promise<void> {
    const { frames, ...saved } = readReport(await file.text(), file.name);
    emit({ saved });
    for (let i = 0; i < frames.length; i += BATCH) emit({ frames: frames.slice(i, i + BATCH) });
  },

  /** Takes the reports to write, without frames. */
  async begin(heads: readonly Head[]): Promise<void> {
    gathered = heads.map((head) => ({ head, frames: [] }));
  },

  async add({ index, frames }: { index: number; frames: readonly FrameMetrics[] }): Promise<void> {
    for (const frame of frames) gathered[index]?.frames.push(frame);
  },

  /** Writes the gathered reports and forgets them. */
  async write({ format, options }: WriteCall): Promise<Blob> {
    const reports = gathered.map(({ head, frames }): Report => ({ ...head, frames }));
    gathered = [];
    if (format === 'html') return new Blob([await formatHtml(reports, options)], { type: 'text/html' });
    const [report] = reports;
    if (!report)
      throw new AnyvmafError('internal', 'There is no report to write; please report this as a bug.');
    return new Blob([...writeReport(report, format)], { type: 'text/plain' });
  },
};

export type Paper = typeof paper;
