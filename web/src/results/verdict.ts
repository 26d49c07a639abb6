/**
 * @module web/results/verdict
 * What stands against a score, below it: the root cause with a button that mends it, then all that was found, folded.
 */
import { type Finding, type Trust, trustOf } from 'anyvmaf';
import { flawNote, remarks } from 'anyvmaf/view';
import { text } from '../text.js';
import type { Encodes } from './encodes.js';
import { html, type TemplateResult, templates } from './templates.js';

const words = text.results;

/** What the page can do about a result. */
export interface Remedies {
  /** Whether the page itself can mend what a finding says, and score again. */
  canMend(finding: Finding): boolean;
  /** @param file the distorted video that it was found in */
  mend(finding: Finding, file: File | undefined): void;
  /** Whether the result is of other files or settings than those that are chosen now. */
  readonly outdated: boolean;
}

/** Nothing can be done: of saved reports, and of a rehearsal. */
export const NO_REMEDIES: Remedies = {
  canMend: () => false,
  mend: () => {},
  outdated: false,
};

/** Encodes with the same flaw. */
interface Flaw {
  readonly trust: Trust;
  /** The finding that is its root; absent if it is a plain warning. */
  readonly root: Finding | undefined;
  readonly names: string[];
  /** The distorted video of the first of them. */
  readonly file: File | undefined;
}

/** The flaws of all encodes, each once, in the order of the encodes. */
function flawsOf({ list }: Encodes): readonly Flaw[] {
  const flaws = new Map<string, Flaw>();
  for (const { facts, name, result } of list) {
    const trust = trustOf(facts);
    if (trust.verdict === 'fine') continue;
    const key = JSON.stringify([trust.verdict, trust.codes, trust.cause]);
    const root = facts.preflight?.find(({ message }) => message === trust.cause);
    const flaw = flaws.get(key) ?? { trust, root, names: [], file: result.source?.distorted };
    flaw.names.push(name);
    flaws.set(key, flaw);
  }
  return [...flaws.values()];
}

/** The flaws, then everything that was found. */
export function verdict(encodes: Encodes, remedies: Remedies): TemplateResult {
  const flaws = flawsOf(encodes).map(({ trust, root, names, file }) => {
    const { verdict, codes, cause = '' } = trust;
    const said = verdict === 'fine' ? '' : words.trust.notes[verdict];
    const named = codes.length > 0 ? `[${codes.join(', ')}] ` : '';
    const name = encodes.list.length > 1 ? names.join(', ') : undefined;
    const note = flawNote(templates, trust, said, `${named}${cause}`, name);
    const mends = root && remedies.canMend(root);
    return html`<div class="flaw-line">${note}${mends ? html`<button type="button" class="tool strong" @click=${() => remedies.mend(root, file)}>${words.trust.mend}</button>` : ''}</div>`;
  });
  return html`${flaws}${found(encodes)}`;
}

const SIGNS = { error: ['bad', '!'], warning: ['warn', '!'], info: ['note', 'i'] } as const;

/** Everything that was found, the root causes first, folded. */
function found(encodes: Encodes): TemplateResult | undefined {
  const all = remarks(encodes.list.map(({ facts }) => facts));
  if (all.length === 0) return undefined;
  const value = (side: Finding['reference']) => (side === null ? words.findings.unknown : String(side));
  const items = all.map(({ severity, message, finding, of }) => {
    const [tone, sign] = SIGNS[severity];
    const { reference, distorted } = finding ?? {};
    const values =
      reference === undefined || distorted === undefined
        ? ''
        : html`<div class="small soft">${words.findings.values(value(reference), value(distorted))}</div>`;
    const which =
      of.length < encodes.list.length
        ? html`<b>${of.map((i) => encodes.list[i]?.name).join(', ')}: </b>`
        : '';
    return html`<li class="finding" .style=${`--tone:var(--${tone})`}><span class="sign" role="img" aria-label="${words.findings.severity[severity]}">${sign}</span><div>${which}${message}${values}</div></li>`;
  });
  return html`<details class="found"><summary>${words.findings.found(all.length)}</summary><ul class="findings">${items}</ul></details>`;
}

/** Says that a result is of other settings, above its numbers. */
export function outdatedNote({ outdated }: Remedies): TemplateResult | undefined {
  if (!outdated) return undefined;
  return html`<p class="flaw-note outdated" role="status" .style=${'--tone:var(--warn)'}>${words.outdated}</p>`;
}
