/**
 * @module cli/warnings
 * Says on standard error what reports warn of, one line each.
 */
import { baseName } from '../report/facts.js';
import { accepts, type Remark, remarks } from '../report/findings.js';
import { isWrongPair } from '../report/trust.js';
import type { Report } from '../report/types.js';
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
