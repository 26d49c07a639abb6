/**
 * @module report/doubt-lines
 * Why scores are marked, in a few lines for a terminal: the root cause and what resolves it, never one without the other.
 */
import { printable } from '../core/printable.js';
import { cut, type Paint, wrap } from './terminal.js';
import { remedyOf, TRUST_SIGNS, TRUST_WORDS, type Trust, trustOf } from './trust.js';
import type { Report } from './types.js';

/** A verdict where nothing but its cause is on show: there are no further warnings to read. */
const WORDS = { ...TRUST_WORDS, doubtful: 'doubtful' } as const;

/** Encodes that are marked for one reason. */
interface Doubt {
  readonly trust: Trust;
  readonly remedy: string;
  readonly names: string[];
}

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
  const doubts = doubtsOf(reports, names);
  const [only] = doubts;
  if (!only) return [];
  if (doubts.length === 1) return paragraph(only, width, most).map(style.warn);
  const all = doubts.map((doubt) => entry(doubt, width));
  let count = 0;
  let lines = 0;
  // The line that counts the others takes the place of one.
  while (count < all.length && lines + (all[count]?.length ?? 0) <= most - (count + 1 < all.length ? 1 : 0))
    lines += all[count++]?.length ?? 0;
  const rest = doubts.slice(count).flatMap((doubt) => doubt.names).length;
  const others = rest > 0 ? [`  and ${rest} more that ${rest === 1 ? 'is' : 'are'} marked above`] : [];
  return [...all.slice(0, count).flat(), ...others].map(style.warn);
}

/** Each once, the gravest first. */
function doubtsOf(reports: readonly Report[], names: readonly string[]): Doubt[] {
  const doubts = new Map<string, Doubt>();
  for (const [i, report] of reports.entries()) {
    const trust = trustOf(report);
    if (trust.verdict === 'fine') continue;
    const remedy = remedyOf(report);
    const key = JSON.stringify([trust.verdict, trust.cause, remedy]);
    const known = doubts.get(key) ?? { trust, remedy, names: [] };
    known.names.push(names[i] ?? '');
    doubts.set(key, known);
  }
  const grave = ({ trust }: Doubt) => (trust.verdict === 'untrusted' ? 0 : 1);
  return [...doubts.values()].sort((a, b) => grave(a) - grave(b));
}

/** The sentence, cut where it must be, and what resolves it whole on a line of its own. */
function paragraph({ trust, remedy, names }: Doubt, width: number, most: number): string[] {
  const about = names.filter((name) => name !== '').join(', ');
  const text = `${about === '' ? '' : `${about}: `}${WORDS[trust.verdict]}: ${trust.cause ?? ''}`;
  const fix = remedy === '' ? [] : [`    ${printable(remedy)}`];
  const room = most - fix.length;
  const lines = wrap(printable(text), width - 6);
  const kept = lines.length > room ? [...lines.slice(0, room - 1), `${lines[room - 1]} …`] : lines;
  return [...kept.map((part, i) => `  ${i === 0 ? TRUST_SIGNS[trust.verdict] : ' '} ${part}`), ...fix];
}

/** Names, verdict, code of the root cause, and what resolves it. */
function entry({ trust, remedy, names }: Doubt, width: number): string[] {
  const [code] = trust.codes;
  const said = `${WORDS[trust.verdict]}${code === undefined ? '' : ` [${code}]`}${remedy === '' ? '' : `; ${remedy}`}`;
  const named = cut(printable(names.join(', ')), width - 30, 'both');
  return wrap(`${named}: ${printable(said)}`, width - 6).map(
    (part, i) => `  ${i === 0 ? TRUST_SIGNS[trust.verdict] : ' '} ${part}`,
  );
}
