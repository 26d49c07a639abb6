/**
 * @module cli/complaints
 * Prints warnings of reports, and failures of encodes, on standard error.
 */
import { baseName } from '../report/facts.js';
import { type Remark, remarks } from '../report/findings.js';
import { remedyText } from '../report/trust.js';
import type { FailedEncode, Report } from '../report/types.js';
import type { Terminal } from './terminal.js';

/** Prints errors and warnings; findings of severity `info` stay in the report. */
export function complainOf(reports: readonly Report[], terminal: Terminal): void {
  for (const remark of remarks(reports)) {
    const { severity, message, finding, of } = remark;
    if (severity === 'info') continue;
    const about =
      of.length < reports.length
        ? `${of.map((i) => baseName(reports[i]?.distorted.name ?? '')).join(', ')}: `
        : '';
    const remedy = remedyText(finding);
    terminal.complain(`${labelOf(remark)}: ${about}${message}${remedy === '' ? '' : ` (${remedy})`}`);
  }
}

function labelOf({ severity, grave }: Remark): string {
  return grave ? 'untrusted score' : severity;
}

/**
 * Prints one line per reason.
 * @param of number of encodes; a reason that all share is about the reference or the options
 */
export function complainOfFailures(failed: readonly FailedEncode[], of: number, terminal: Terminal): void {
  const reasons = new Map<string, string[]>();
  for (const { distorted, message } of failed)
    reasons.set(message, [...(reasons.get(message) ?? []), baseName(distorted)]);
  for (const [message, names] of reasons) {
    const named = names.length === of || names.every((name) => message.includes(name));
    const line = `${named ? '' : `${names.join(', ')}: `}${message}`;
    terminal.complain(line);
  }
  if (failed.length < of) {
    const names = failed.map(({ distorted }) => baseName(distorted)).join(', ');
    terminal.complain(`${failed.length} of ${of} encodes could not be scored: ${names}`);
  }
}
