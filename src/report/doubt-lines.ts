/**
 * @module report/doubt-lines
 * Why scores are marked, in a few lines for a terminal: the root cause and what resolves it, never one without the other.
 */
import { printable } from '../core/printable.js';
import { type Flaw, flawsOf } from './flaws.js';
import { cut, type Paint, wrap } from './terminal.js';
import { remedyText, TRUST_SIGNS, TRUST_WORDS } from './trust.js';
import type { Report } from './types.js';

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
