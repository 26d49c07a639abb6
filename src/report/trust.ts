/**
 * @module report/trust
 * Judges whether a report's numbers can be believed: one verdict from its findings and warnings.
 */
import { requireArray, requireObject } from '../core/arguments.js';
import { causeRank, judge } from '../media/preflight/judge.js';
import type { Finding } from '../media/preflight/types.js';
import type { Trust } from './schema.js';
import type { Report } from './types.js';

export type { Trust } from './schema.js';

/** Whether a report's numbers can be believed. */
export type Verdict = Trust['verdict'];

/** Findings that mean a wrong pair even as warnings, and make a finding that they follow from mean it too. */
const MISMATCHED: readonly string[] = ['dynamic-range', 'dolby-vision', 'lost-frames', 'unrelated', 'offset'];

/** All findings that mean a wrong pair even as warnings. */
const WRONG_PAIR: readonly string[] = [...MISMATCHED, 'framing', 'black-borders', 'swapped'];

/** Sign beside a score; findings of the same weight have the same. */
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
export function isWrongPair({ code, severity }: Finding, all: readonly Finding[] = []): boolean {
  if (severity === 'info') return false;
  if (severity === 'error' || WRONG_PAIR.includes(code)) return true;
  return all.some((one) => one.follows === code && MISMATCHED.includes(one.code));
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
