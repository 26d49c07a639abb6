/**
 * @module report/findings
 * Preflight findings and warnings as text for a terminal.
 */
import type { Finding, Severity } from '../media/preflight/types.js';
import type { Line } from './sections.js';
import { isWrongPair, remedyText } from './trust.js';
import type { Report } from './types.js';

const ORDER: readonly Severity[] = ['error', 'warning', 'info'];
/** Marks a finding that follows from another. */
const FOLLOWS = '└';
const SIGNS: Readonly<Record<Severity, string>> = { error: '×', warning: '!', info: '·' };

export interface Remark {
  readonly severity: Severity;
  /** Stable code; absent for plain warnings. */
  readonly code?: string;
  readonly message: string;
  readonly fix?: string;
  readonly finding?: Finding;
  /** True if it makes a score worthless. */
  readonly grave: boolean;
  /** The message of the remark that explains this one. */
  readonly follows?: string;
  /** Indices of the reports it is about. */
  readonly of: readonly number[];
}

/** Merges equal findings and warnings of reports: grave first, then by severity, each followed by its consequences. */
export function remarks(reports: readonly Partial<Pick<Report, 'preflight' | 'warnings'>>[]): Remark[] {
  const all = new Map<string, Remark & { of: number[] }>();
  const add = (key: string, remark: Omit<Remark, 'of'>, index: number): void => {
    const known = all.get(key);
    if (known) known.of.push(index);
    else all.set(key, { ...remark, of: [index] });
  };
  for (const [i, { preflight = [], warnings = [] }] of reports.entries()) {
    for (const finding of preflight) {
      const { severity, code, message, fix } = finding;
      const grave = isWrongPair(finding, preflight);
      const follows = preflight.find((one) => one.code === finding.follows)?.message;
      add(`${severity} ${code} ${message}`, { severity, code, message, fix, finding, grave, follows }, i);
    }
    for (const message of warnings) {
      if (preflight.some((finding) => finding.message === message)) continue;
      add(message, { severity: 'warning', message, grave: false }, i);
    }
  }
  const list = [...all.values()];
  const named = new Set(list.map(({ message }) => message));
  const causes = list.filter(({ follows }) => follows === undefined || !named.has(follows));
  causes.sort((a, b) => gravity(a) - gravity(b));
  return causes.flatMap((cause) => [cause, ...followersOf(cause, list)]);
}

function gravity({ severity, grave }: Remark): number {
  return grave ? -1 : ORDER.indexOf(severity);
}

function followersOf({ message }: Remark, list: readonly Remark[]): Remark[] {
  return list.filter(({ follows }) => follows === message).flatMap((one) => [one, ...followersOf(one, list)]);
}

/** Lines of remarks; `names` of encodes prefix those that are not about all of them. */
export function remarkLines(list: readonly Remark[], names: readonly string[] = []): Line[] {
  return list.flatMap(({ severity, code, message, finding, follows, of }): Line[] => {
    if (follows !== undefined)
      return [{ lead: `    ${FOLLOWS} `, text: `[${code}] ${message}`, tone: 'dim', most: 1 }];
    const about = of.length < names.length ? `${of.map((i) => names[i]).join(', ')}: ` : '';
    const sentence = { lead: `  ${SIGNS[severity]} `, text: about + message };
    const tail = [code === undefined ? '' : `[${code}]`, remedyText(finding)].filter((part) => part !== '');
    return [
      severity === 'info' ? sentence : { ...sentence, tone: 'warn' },
      ...(tail.length > 0 ? [{ lead: '    ', text: tail.join('  '), tone: 'dim' } as const] : []),
    ];
  });
}
