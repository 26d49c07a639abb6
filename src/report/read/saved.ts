/**
 * @module report/read/saved
 * What the readers of all formats share: the text with the place where it is broken, and what they find in it.
 */
import { AnyvmafError } from '../../core/errors.js';
import { decimalNumber } from '../../core/numbers.js';
import { measured, readFields, type Source, text } from '../kinds.js';
import { inputs, models, outcome, preparation, run } from '../schema.js';
import type { FrameMetrics, Report } from '../types.js';

/** Keys of a report that hold measured values. */
export type Measured = 'frames' | 'metrics' | 'pooled_metrics' | 'aggregate_metrics' | 'distribution';

/** A report as one file has it; what it lacks is absent. */
export interface SavedParts extends Partial<Omit<Report, 'frames'>> {
  /** In the order of the file. */
  readonly frames: readonly FrameMetrics[];
  /** What a reader of the file should know, full sentences. */
  readonly notes: readonly string[];
}

/** A saved report under the name that messages give it. */
export interface SavedText {
  readonly name: string;
  readonly text: string;
}

/** The error for a place in the text, lines and columns from 1. */
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

/** The error for something that is well formed but no report. */
export function notReport({ name }: Pick<SavedText, 'name'>, why: string): AnyvmafError {
  return new AnyvmafError(
    'io',
    `${name} is no report: ${why}. Reports are the JSON, NDJSON, XML, CSV and SUB files that anyvmaf and libvmaf write.`,
  );
}

function excerpt(text: string, offset: number): string {
  const rest = text.slice(offset, offset + 25);
  const line = rest.split(/[\r\n]/, 1)[0] ?? '';
  return line === '' ? 'the end of the line' : `"${line.length > 24 ? `${line.slice(0, 24)}…` : line}"`;
}

/** All keys of a report but those of measured values. */
export const OWN_FIELDS = {
  version: text,
  fps: measured,
  ...inputs.fields,
  ...preparation.fields,
  ...models.fields,
  ...run.fields,
  ...outcome.fields,
};

/** Everything but the measured values, as far as it is there and whole. */
export function ownParts(source: Source): Omit<SavedParts, 'frames' | 'notes'> {
  return readFields(OWN_FIELDS, source);
}

/** A value as the text formats and printf write it; `undefined` where it is none. */
export function measuredText(text: string): number | undefined {
  const special = /^([-+]?)(nan|inf)(?:inity)?$/i.exec(text);
  if (special) {
    if (special[2]?.toLowerCase() === 'nan') return Number.NaN;
    return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  return decimalNumber(text);
}
