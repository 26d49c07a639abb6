/**
 * @module web/results/verdict
 * What stands against a score, below it: the root cause with a button that mends it, then all that was found, folded.
 */
import type { Finding } from 'anyvmaf';
import { findingValues, flawNote, flawsOf, namedCause, remarks } from 'anyvmaf/view';
import { text } from '../text.js';
import type { Encodes } from './encodes.js';
import { html, type TemplateResult, templates } from './templates.js';

const words = text.results;

/** What the page can do about a result. */
export interface Remedies {
  /** Whether the page itself can mend what a finding says, and score again. */
  canMend(finding: Finding): boolean;
  /** @param files the distorted videos that it was found in */
  mend(finding: Finding, files: readonly File[]): void;
  /** Whether the result is of other files or settings than those that are chosen now. */
  readonly outdated: boolean;
}

/** Nothing can be done: of saved reports, and of a rehearsal. */
export const NO_REMEDIES: Remedies = {
  canMend: () => false,
  mend: () => {},
  outdated: false,
};

/** The flaws, then everything that was found. */
export function verdict(encodes: Encodes, remedies: Remedies): TemplateResult {
  const { list } = encodes;
  const flaws = flawsOf(list.map(({ facts }) => facts)).map(({ trust, root, of }) => {
    const said = trust.verdict === 'fine' ? '' : words.trust.notes[trust.verdict];
    const names = list.length > 1 ? of.map((i) => list[i]?.name).join(', ') : undefined;
    const note = flawNote(templates, trust, said, namedCause(trust), names);
    const files = of.flatMap((i) => list[i]?.result.source?.distorted ?? []);
    const mends = root && remedies.canMend(root);
    return html`<div class="flaw-line">${note}${mends ? html`<button type="button" class="tool strong" @click=${() => remedies.mend(root, files)}>${words.trust.mend}</button>` : ''}</div>`;
  });
  return html`${flaws}${found(encodes)}`;
}

const SIGNS = { error: ['bad', '!'], warning: ['warn', '!'], info: ['note', 'i'] } as const;

/** Everything that was found, the root causes first, folded. */
function found(encodes: Encodes): TemplateResult | undefined {
  const all = remarks(encodes.list.map(({ facts }) => facts));
  if (all.length === 0) return undefined;
  const items = all.map(({ severity, message, finding, follows, of }) => {
    const [tone, sign] = SIGNS[severity];
    const values = findingValues(finding);
    const which =
      of.length < encodes.list.length
        ? html`<b>${of.map((i) => encodes.list[i]?.name).join(', ')}: </b>`
        : '';
    return html`<li class=${follows === undefined ? 'finding' : 'finding follows'} .style=${`--tone:var(--${tone})`}><span class="sign" role="img" aria-label="${words.findings.severity[severity]}">${sign}</span><div>${which}${message}${values === '' ? '' : html`<div class="small soft">${values}</div>`}</div></li>`;
  });
  return html`<details class="found"><summary>${words.findings.found(all.length)}</summary><ul class="findings">${items}</ul></details>`;
}

/** Says that a result is of other settings, above its numbers. */
export function outdatedNote({ outdated }: Remedies): TemplateResult | undefined {
  if (!outdated) return undefined;
  return html`<p class="flaw-note outdated" role="status" .style=${'--tone:var(--warn)'}>${words.outdated}</p>`;
}
