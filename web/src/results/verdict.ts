/**
 * @module web/results/verdict
 * Problems of a score: root causes with buttons that fix them, then all findings, folded.
 */
import type { Finding } from 'anyvmaf';
import { colourOf, findingValues, flawNote, flawsOf, namedCause, remarks } from 'anyvmaf/view';
import { html, type TemplateResult, templates } from '../templates.js';
import { text } from '../text.js';
import type { Encodes } from './encodes.js';

const words = text.results;

export interface Mend {
  readonly finding: Finding;
  readonly files: readonly File[];
}

export interface Remedies {
  canMend(finding: Finding): boolean;
  /** Fixes each finding, then scores again. */
  mend(all: readonly Mend[]): void;
  /** Files or settings have changed since the result. */
  readonly outdated: boolean;
}

/** For saved reports and rehearsals. */
export const NO_REMEDIES: Remedies = { canMend: () => false, mend: () => {}, outdated: false };

/** Each cause once, then all findings. */
export function verdict(encodes: Encodes, remedies: Remedies): TemplateResult {
  const causes = new Map<string, Flaw[]>();
  for (const flaw of flawsOf(encodes.list.map(({ facts }) => facts))) {
    const { trust, root } = flaw;
    const key = `${trust.verdict} ${root?.code ?? trust.cause}`;
    causes.set(key, [...(causes.get(key) ?? []), flaw]);
  }
  const cards = [...causes.values()].map((flaws) => causeCard(encodes, remedies, flaws));
  return html`${cards}${found(encodes)}`;
}

type Flaw = ReturnType<typeof flawsOf>[number];

/** A line for one encode; for several a list, with a button for all. */
function causeCard({ list }: Encodes, remedies: Remedies, flaws: readonly Flaw[]): TemplateResult {
  const [{ trust }] = flaws as [Flaw];
  const note = trust.verdict === 'fine' ? '' : words.trust.notes[trust.verdict];
  const lines = flaws.flatMap(({ trust, root, of }) =>
    of.flatMap((i) => {
      const encode = list[i];
      if (!encode) return [];
      const file = encode.result.source?.distorted;
      const mends: Mend[] = root && file && remedies.canMend(root) ? [{ finding: root, files: [file] }] : [];
      return [{ encode, mends, cause: namedCause(trust), detail: trust.cause ?? '' }];
    }),
  );
  const mends = lines.flatMap((line) => line.mends);
  const all = (label: string) =>
    mends.length === 0
      ? ''
      : html`<button type="button" class="tool strong" @click=${() => remedies.mend(mends)}>${label}</button>`;
  const [only, ...more] = lines;
  if (!only || more.length === 0) {
    const name = list.length > 1 ? only?.encode.name : undefined;
    return html`<div class="flaw-line">${flawNote(templates, trust, note, only?.cause ?? '', name)}${all(words.trust.mend)}</div>`;
  }
  // Only one encode can be swapped with the reference.
  const together = mends.length > 1 && mends[0]?.finding.hint?.option !== 'swap';
  const isSingle = flaws.length === 1;
  const cause = isSingle ? only.cause : `[${trust.codes[0] ?? ''}]`;
  return html`<div class="flaw-card"><div class="flaw-line">${flawNote(templates, trust, words.trust.of(note, lines.length), cause)}${together ? all(words.trust.mendAll(mends.length)) : ''}</div>
<ul class="flaw-list">${lines.map(
    (line) =>
      html`<li .style=${colourOf(line.encode.index)}><span><span class="swatch"></span><b>${line.encode.name}</b>${isSingle ? '' : `: ${line.detail}`}</span>${line.mends.length > 0 ? html`<button type="button" class="tool" aria-label="${words.trust.mendOf(line.encode.name)}" @click=${() => remedies.mend(line.mends)}>${words.trust.mendOne}</button>` : ''}</li>`,
  )}</ul></div>`;
}

const SIGNS = { error: ['bad', '!'], warning: ['warn', '!'], info: ['note', 'i'] } as const;

/** Root causes first, folded. */
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

export function outdatedNote({ outdated }: Remedies): TemplateResult | undefined {
  if (!outdated) return undefined;
  return html`<p class="flaw-note outdated" role="status" .style=${'--tone:var(--warn)'}>${words.outdated}</p>`;
}
