/**
 * @module report/trust
 * Judges whether a report's numbers can be trusted, from its findings and warnings, and lists these.
 */
import { requireArray, requireObject } from '../core/arguments.js';
import type { Finding, Severity } from '../media/preflight/findings.js';
import { causeRank, judge } from '../media/preflight/judge.js';
import type { Report, Trust } from './schema.js';
import type { Line } from './sections.js';

export type { Trust } from './schema.js';

/** Whether a report's numbers can be trusted. */
export type Verdict = Trust['verdict'];

/** Findings that mean a wrong pair even as warnings; so do the findings that they follow from. */
const MISMATCHED: readonly string[] = ['dynamic-range', 'dolby-vision', 'lost-frames', 'unrelated', 'offset'];

const WRONG_PAIR: readonly string[] = [...MISMATCHED, 'framing', 'black-borders', 'swapped'];

export const TRUST_SIGNS: Readonly<Record<Verdict, string>> = { fine: '', doubtful: '!', untrusted: '×' };

export const TRUST_WORDS: Readonly<Record<Verdict, string>> = {
  fine: 'no problems found',
  doubtful: 'check the warnings before you trust this score',
  untrusted: 'do not trust this score',
};

/** Verdict on a pair before it is scored. */
export const TRUST_OUTLOOK: Readonly<Record<Verdict, string>> = {
  fine: 'No problems found',
  doubtful: 'A score of this pair may be misleading',
  untrusted: 'A score of this pair cannot be trusted',
};

export type Judged = Partial<Pick<Report, 'preflight' | 'warnings'>>;

type Ground = Finding | { readonly message: string };

/**
 * Returns the verdict on a report. Without preflight, only the warnings count.
 * @param report a whole report, or its findings and warnings
 * @throws {AnyvmafError} `usage` unless it is an object with lists
 */
export function trustOf(report: Judged): Trust {
  return flawOf(report).trust;
}

/** A verdict and the finding that is its root cause; `undefined` if that is a plain warning or there is none. */
export interface Judgement {
  readonly trust: Trust;
  readonly root: Finding | undefined;
}

export function flawOf(report: Judged): Judgement {
  requireObject('report', report, 'a report');
  const { preflight: found = [], warnings = [] } = report;
  requireArray('report.preflight', found);
  requireArray('report.warnings', warnings);
  const preflight = judge(found);
  const wrong = preflight.filter((finding) => isWrongPair(finding, preflight));
  if (wrong.length > 0) return judgement('untrusted', inOrder(wrong));
  const doubts = preflight.filter(({ severity }) => severity === 'warning');
  const plain = warnings.filter((message) => preflight.every((finding) => finding.message !== message));
  const grounds = [...inOrder(doubts), ...plain.map((message) => ({ message }))];
  return judgement(grounds.length > 0 ? 'doubtful' : 'fine', grounds);
}

function judgement(verdict: Verdict, grounds: readonly Ground[]): Judgement {
  const [first] = grounds;
  const root = first && 'code' in first ? first : undefined;
  const codes = grounds.flatMap((ground) => ('code' in ground ? ground.code : []));
  const trust = {
    verdict,
    codes: [...new Set(codes)],
    ...(first && { cause: first.message }),
    ...(root?.fix !== undefined && { fix: root.fix }),
  };
  return { trust, root };
}

/** True if a finding, by itself or as the cause of others in `all`, means that unrelated frames are compared. */
function isWrongPair({ code, severity }: Finding, all: readonly Finding[]): boolean {
  if (severity === 'info') return false;
  if (severity === 'error' || WRONG_PAIR.includes(code)) return true;
  return all.some((other) => other.follows === code && MISMATCHED.includes(other.code));
}

/** Causes first, then in the order of discovery. */
function inOrder(findings: readonly Finding[]): Finding[] {
  return [...findings].sort((a, b) => causeRank(a.code) - causeRank(b.code));
}

/** True if the fix changes nothing, but states that the user accepts the finding. */
export function accepts(finding: Finding | undefined): boolean {
  return finding?.hint?.purpose === 'accept';
}

/** Remedy in words: `fix: --offset 12`, or `to accept, pass --scale bicubic`; empty if there is none. */
export function remedyText(finding: Finding | undefined): string {
  if (finding?.fix === undefined) return '';
  return accepts(finding) ? finding.fix : `fix: ${finding.fix}`;
}

/** The root cause with its codes: `[offset] the pictures do not ...`. */
export function namedCause({ codes, cause = '' }: Trust): string {
  return codes.length > 0 ? `[${codes.join(', ')}] ${cause}` : cause;
}

/** As {@link namedCause}, with the remedy: `[offset] the pictures do not ... (fix: offset: 12)`. */
export function causeText({ trust, root }: Judgement): string {
  const remedy = remedyText(root);
  return `${namedCause(trust)}${remedy === '' ? '' : ` (${remedy})`}`;
}

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
export function remarks(reports: readonly Judged[]): Remark[] {
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
      const follows = preflight.find((other) => other.code === finding.follows)?.message;
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
  const direct = list.filter(({ follows }) => follows === message);
  return direct.flatMap((remark) => [remark, ...followersOf(remark, list)]);
}

/** Lines of remarks; `names` of encodes prefix those that are not about all of them. */
export function remarkLines(list: readonly Remark[], names: readonly string[] = []): Line[] {
  return list.flatMap(({ severity, code, message, finding, follows, of }): Line[] => {
    if (follows !== undefined)
      return [{ lead: `    ${FOLLOWS} `, text: `[${code}] ${message}`, tone: 'dim', most: 1 }];
    const prefix = of.length < names.length ? `${of.map((i) => names[i]).join(', ')}: ` : '';
    const sentence = { lead: `  ${SIGNS[severity]} `, text: prefix + message };
    const tail = [code === undefined ? '' : `[${code}]`, remedyText(finding)].filter((part) => part !== '');
    return [
      severity === 'info' ? sentence : { ...sentence, tone: 'warn' },
      ...(tail.length > 0 ? [{ lead: '    ', text: tail.join('  '), tone: 'dim' } as const] : []),
    ];
  });
}
