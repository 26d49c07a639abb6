/**
 * @module report/flaws
 * What is wrong with several reports, as pages and terminals tell it. One score alone is judged without this file.
 */
import type { Finding } from '../media/preflight/types.js';
import { flawOf, type Judged, type Judgement } from './trust.js';

/** Reports with the same flaw. */
export interface Flaw extends Judgement {
  /** Their indices. */
  readonly of: number[];
}

/** The flaws of reports, each once, in the order of the reports. */
export function flawsOf(reports: readonly Judged[]): Flaw[] {
  const flaws = new Map<string, Flaw>();
  for (const [i, report] of reports.entries()) {
    const found = flawOf(report);
    if (found.trust.verdict === 'fine') continue;
    const key = JSON.stringify(found.trust);
    const flaw = flaws.get(key) ?? { ...found, of: [] };
    flaw.of.push(i);
    flaws.set(key, flaw);
  }
  return [...flaws.values()];
}

/** What was found on either side, in words; empty where that is not told, or known of neither. */
export function findingValues(finding: Finding | undefined): string {
  const { reference, distorted } = finding ?? {};
  if (reference === undefined || distorted === undefined) return '';
  if (reference === null && distorted === null) return '';
  return `reference ${reference ?? 'unknown'}, distorted ${distorted ?? 'unknown'}`;
}
