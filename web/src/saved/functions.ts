/**
 * @module web/saved/functions
 * Reading saved reports and writing new ones, in a worker: a long report takes the better part of a second. Frames cross
 * the border in batches, so that neither side ever stops for them.
 */
import {
  AnyvmafError,
  type FrameMetrics,
  formatHtml,
  type ReadReport,
  type Report,
  type ReportFormat,
  readReport,
  writeReport,
} from 'anyvmaf';
import type { CallContext } from '../engine/calls.js';

/** Frames that cross in one message. */
const BATCH = 400;

/** A report without its frames, which come apart. */
export type Head = Omit<Report, 'frames'>;

/** What a saved report says, then frames until there are no more. */
export type ReadEvent =
  | { readonly saved: Omit<ReadReport, 'frames'> }
  | { readonly frames: readonly FrameMetrics[] };

/** What is to be written. */
export interface WriteCall {
  readonly format: ReportFormat | 'html';
  readonly options: { readonly written?: string };
}

/** The reports that are on their way to be written. */
let gathered: { readonly head: Head; readonly frames: FrameMetrics[] }[] = [];

export const paper = {
  /** Reads a file; what it says comes first, then its frames. */
  async read({ file }: { file: File }, { emit }: CallContext<ReadEvent>): Promise<void> {
    const { frames, ...saved } = readReport(await file.text(), file.name);
    emit({ saved });
    for (let i = 0; i < frames.length; i += BATCH) emit({ frames: frames.slice(i, i + BATCH) });
  },

  /** Begins with the reports to write. */
  async begin(heads: readonly Head[]): Promise<void> {
    gathered = heads.map((head) => ({ head, frames: [] }));
  },

  async add({ index, frames }: { index: number; frames: readonly FrameMetrics[] }): Promise<void> {
    for (const frame of frames) gathered[index]?.frames.push(frame);
  },

  /** Writes what was gathered, and forgets it. */
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
