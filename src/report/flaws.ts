/**
 * @module report/flaws
 * Root causes of doubt in reports, with their remedies; apart from report/findings, which applications load at start.
 */
import { printable } from '../core/printable.js';
import type { Finding } from '../media/preflight/types.js';
import { type Layout, lineTexts } from './sections.js';
import { cut } from './terminal.js';
import { flawOf, type Judged, type Judgement, remedyText, TRUST_SIGNS, TRUST_WORDS } from './trust.js';
import type { Report } from './types.js';

export interface Flaw extends Judgement {
  /** Indices of the reports. */
  readonly of: number[];
}

/** Distinct flaws, in the order of the reports. */
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

/** Values of both sides in words; empty if the finding has none or both are unknown. */
export function findingValues(finding: Finding | undefined): string {
  const { reference, distorted } = finding ?? {};
  if (reference === undefined || distorted === undefined) return '';
  if (reference === null && distorted === null) return '';
  return `reference ${reference ?? 'unknown'}, distorted ${distorted ?? 'unknown'}`;
}

/** Verdicts printed with their cause alone, without a pointer to further warnings. */
const WORDS = { ...TRUST_WORDS, doubtful: 'doubtful' } as const;

/** One doubt as a paragraph, several in a line or two each, in at most `most` lines. Empty `names` are not printed. */
export function doubtLines(
  reports: readonly Report[],
  names: readonly string[],
  layout: Layout,
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
  if (flaws.length === 1) return paragraph(only, named(only), layout, most);
  const all = flaws.map((flaw) => entry(flaw, named(flaw), layout));
  let count = 0;
  let lines = 0;
  // Reserve one line for the count of the others.
  while (count < all.length && lines + (all[count]?.length ?? 0) <= most - (count + 1 < all.length ? 1 : 0))
    lines += all[count++]?.length ?? 0;
  const rest = flaws.slice(count).flatMap(({ of }) => of).length;
  const others = rest > 0 ? [`  and ${rest} more, marked above`] : [];
  return [...all.slice(0, count).flat(), ...others.map(layout.style.warn)];
}

/** The sentence, truncated to fit, and its remedy in full on its own line. */
function paragraph({ trust, root }: Flaw, about: string, layout: Layout, most: number): string[] {
  const remedy = remedyText(root);
  const text = `${about === '' ? '' : `${about}: `}${WORDS[trust.verdict]}: ${trust.cause ?? ''}`;
  const fix = remedy === '' ? [] : [layout.style.warn(`    ${printable(remedy)}`)];
  const lead = `  ${TRUST_SIGNS[trust.verdict]} `;
  return [...lineTexts({ lead, text, tone: 'warn', most: most - fix.length }, layout), ...fix];
}

function entry({ trust, root }: Flaw, about: string, layout: Layout): string[] {
  const remedy = remedyText(root);
  const [code] = trust.codes;
  const said = `${WORDS[trust.verdict]}${code === undefined ? '' : ` [${code}]`}${remedy === '' ? '' : `; ${remedy}`}`;
  const text = `${cut(printable(about), layout.width - 30, 'both')}: ${said}`;
  const lead = `  ${TRUST_SIGNS[trust.verdict]} `;
  return lineTexts({ lead, text, tone: 'warn', most: Number.POSITIVE_INFINITY }, layout);
}
