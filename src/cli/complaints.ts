/**
 * @module cli/complaints
 * Says on standard error what reports warn of, and which of several encodes could not be scored.
 */
import { baseName } from '../report/facts.js';
import { accepts, type Remark, remarks } from '../report/findings.js';
import { isWrongPair } from '../report/trust.js';
import type { FailedEncode, Report } from '../report/types.js';
import type { Terminal } from './terminal.js';

/** Complains of errors and warnings; what is only worth knowing stays in the report. */
export function complainOf(reports: readonly Report[], terminal: Terminal): void {
  for (const remark of remarks(reports)) {
    const { severity, message, fix, finding, of } = remark;
    if (severity === 'info') continue;
    const about =
      of.length < reports.length
        ? `${of.map((i) => baseName(reports[i]?.distorted.name ?? '')).join(', ')}: `
        : '';
    const remedy = fix === undefined ? '' : ` (${accepts(finding) ? '' : 'fix: '}${fix})`;
    terminal.complain(`${labelOf(remark)}: ${about}${message}${remedy}`);
  }
}

/** What a complaint begins with: its severity, or that the number is not to be used. */
function labelOf({ severity, finding }: Remark): string {
  return finding && isWrongPair(finding) ? 'untrusted score' : severity;
}

/**
 * One line for each reason.
 * @param of how many encodes there were: what is wrong with all is not theirs, but the reference's or the options'
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
