/**
 * @module report/read/saved
 * Shared by the readers of all formats: the text and its error positions, and the parts found in it.
 */
import { AnyvmafError } from '../../core/errors.js';
import { measured, readFields, type Source, text } from '../kinds.js';
import { inputs, models, outcome, preparation, run } from '../schema.js';
import type { FrameMetrics, Report } from '../types.js';

export type Measured = 'frames' | 'metrics' | 'pooled_metrics' | 'aggregate_metrics' | 'distribution';

/** A report as its file has it; what it lacks is absent. */
export interface SavedParts extends Partial<Omit<Report, 'frames'>> {
  /** In the order of the file. */
  readonly frames: readonly FrameMetrics[];
  /** Full sentences. */
  readonly notes: readonly string[];
}

/** A saved report and its name in messages. */
export interface SavedText {
  readonly name: string;
  readonly text: string;
}

/** Error at a place in the text; lines and columns count from 1. */
export function faultAt({ name, text }: SavedText, offset: number, what: string): AnyvmafError {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  const column = offset - before.lastIndexOf('\n');
  const found = offset >= text.length ? 'the file ends here' : `found ${excerpt(text, offset)}`;
  return new AnyvmafError(
    'io',
    `${name}, line ${line}, column ${column}: ${what}, ${found}; the file is damaged, cut off or was changed by hand.`,
  );
}

/** Error for a well-formed file that is not a report. */
export function notReport({ name }: Pick<SavedText, 'name'>, why: string): AnyvmafError {
  return new AnyvmafError(
    'io',
    `${name} is not a report: ${why}. Reports are the JSON, NDJSON, XML, CSV and SUB files that anyvmaf and libvmaf write.`,
  );
}

function excerpt(text: string, offset: number): string {
  const rest = text.slice(offset, offset + 25);
  const line = rest.split(/[\r\n]/, 1)[0] ?? '';
  return line === '' ? 'the end of the line' : `"${line.length > 24 ? `${line.slice(0, 24)}…` : line}"`;
}

/** All keys of a report except measured values. */
export const OWN_FIELDS = {
  version: text,
  fps: measured,
  ...inputs.fields,
  ...preparation.fields,
  ...models.fields,
  ...run.fields,
  ...outcome.fields,
};

/** Everything but the measured values, as far as it is present and complete. */
export function ownParts(source: Source): Omit<SavedParts, 'frames' | 'notes'> {
  return readFields(OWN_FIELDS, source);
}
