/**
 * @module report/findings
 * Preflight findings and warnings as a person reads them in a terminal, and the doubts of several reports.
 */
import { printable } from '../core/printable.js';
import type { Finding, Severity } from '../media/preflight/types.js';
import { cut, type Paint, wrap } from './terminal.js';
import {
  flawOf,
  isWrongPair,
  type Judged,
  type Judgement,
  remedyText,
  TRUST_SIGNS,
  TRUST_WORDS,
} from './trust.js';
import type { Report } from './types.js';

const ORDER: readonly Severity[] = ['error', 'warning', 'info'];
/** The sign of what another finding explains. */
const FOLLOWS = '└';
const SIGNS: Readonly<Record<Severity, string>> = { error: '×', warning: '!', info: '·' };

/** Something to say about one or several of the encodes. */
export interface Remark {
  readonly severity: Severity;
  /** Stable code; absent of a plain warning. */
  readonly code?: string;
  readonly message: string;
  readonly fix?: string;
  readonly finding?: Finding;
  /** Whether it makes a score worthless. */
  readonly grave: boolean;
  /** The message of the remark that explains this one. */
  readonly follows?: string;
  /** Indices of the reports it is about. */
  readonly of: readonly number[];
}

/**
 * What reports warn of, the same thing once: what makes a score worthless, then by severity, each before what follows from
 * it; findings of preflight before warnings not among them.
 */
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

/** What follows from a remark, directly or by way of others. */
function followersOf({ message }: Remark, list: readonly Remark[]): Remark[] {
  return list.filter(({ follows }) => follows === message).flatMap((one) => [one, ...followersOf(one, list)]);
}

/**
 * Remarks as lines of at most `width` columns: a sign, the sentence, then its code and what fixes it.
 * @param names of the encodes, for a remark that is not about all of them
 */
export function remarkLines(
  list: readonly Remark[],
  width: number,
  style: Paint,
  names: readonly string[] = [],
): string[] {
  return list.flatMap(({ severity, code, message, finding, follows, of }) => {
    if (follows !== undefined) {
      const [first = '', ...more] = wrap(printable(`[${code}] ${message}`), width - 8);
      return [style.dim(`    ${FOLLOWS} ${first}${more.length > 0 ? ' …' : ''}`)];
    }
    const about = of.length < names.length ? `${of.map((i) => names[i]).join(', ')}: ` : '';
    const tone = severity === 'info' ? (text: string) => text : style.warn;
    const sentence = wrap(printable(about + message), width - 4).map((line, i) =>
      tone(`  ${i === 0 ? SIGNS[severity] : ' '} ${line}`),
    );
    const tail = [code === undefined ? '' : `[${code}]`, remedyText(finding)].filter((part) => part !== '');
    if (tail.length === 0) return sentence;
    return [
      ...sentence,
      ...wrap(printable(tail.join('  ')), width - 4).map((line) => style.dim(`    ${line}`)),
    ];
  });
}

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

/** A verdict where nothing but its cause is on show: there are no further warnings to read. */
const WORDS = { ...TRUST_WORDS, doubtful: 'doubtful' } as const;

/**
 * One doubt as a paragraph; of several, each in a line or two.
 * @param names of the reports; empty for one that needs none
 * @param most lines
 */
export function doubtLines(
  reports: readonly Report[],
  names: readonly string[],
  { width, style }: { readonly width: number; readonly style: Paint },
  most: number,
): string[] {
  const grave = ({ trust }: Flaw) => (trust.verdict === 'untrusted' ? 0 : 1);
  const flaws = flawsOf(reports).sort((a, b) => grave(a) - grave(b));
  const named = ({ of }: Flaw) =>
    of
      .map((i) => names[i] ?? '')
      .filter((name) => name !== '')
      .join(', ');
  const [only] = flaws;
  if (!only) return [];
  if (flaws.length === 1) return paragraph(only, named(only), width, most).map(style.warn);
  const all = flaws.map((flaw) => entry(flaw, named(flaw), width));
  let count = 0;
  let lines = 0;
  // The line that counts the others takes the place of one.
  while (count < all.length && lines + (all[count]?.length ?? 0) <= most - (count + 1 < all.length ? 1 : 0))
    lines += all[count++]?.length ?? 0;
  const rest = flaws.slice(count).flatMap(({ of }) => of).length;
  const others = rest > 0 ? [`  and ${rest} more that ${rest === 1 ? 'is' : 'are'} marked above`] : [];
  return [...all.slice(0, count).flat(), ...others].map(style.warn);
}

/** The sentence, cut where it must be, and what resolves it whole on a line of its own. */
function paragraph({ trust, root }: Flaw, about: string, width: number, most: number): string[] {
  const remedy = remedyText(root);
  const text = `${about === '' ? '' : `${about}: `}${WORDS[trust.verdict]}: ${trust.cause ?? ''}`;
  const fix = remedy === '' ? [] : [`    ${printable(remedy)}`];
  const room = most - fix.length;
  const lines = wrap(printable(text), width - 6);
  const kept = lines.length > room ? [...lines.slice(0, room - 1), `${lines[room - 1]} …`] : lines;
  return [...kept.map((part, i) => `  ${i === 0 ? TRUST_SIGNS[trust.verdict] : ' '} ${part}`), ...fix];
}

/** Names, verdict, code of the root cause, and what resolves it. */
function entry({ trust, root }: Flaw, about: string, width: number): string[] {
  const remedy = remedyText(root);
  const [code] = trust.codes;
  const said = `${WORDS[trust.verdict]}${code === undefined ? '' : ` [${code}]`}${remedy === '' ? '' : `; ${remedy}`}`;
  const named = cut(printable(about), width - 30, 'both');
  return wrap(`${named}: ${printable(said)}`, width - 6).map(
    (part, i) => `  ${i === 0 ? TRUST_SIGNS[trust.verdict] : ' '} ${part}`,
  );
}
