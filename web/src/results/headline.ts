/**
 * @module web/results/headline
 * The answer: one encode's score and what it means, or several encodes in a table.
 */
import {
  baseName,
  colourOf,
  compare,
  comparedText,
  flawSign,
  framesText,
  inputFacts,
  joined,
  labelOf,
  meaningOf,
  NONE,
  scale,
  skippedText,
  tiles,
  track,
  verdictBadge,
} from 'anyvmaf/view';
import { text } from '../text.js';
import type { Encode, Encodes, Pooled } from './encodes.js';
import type { Section } from './section.js';
import { html, made, render, type TemplateResult, templates } from './templates.js';
import { outdatedNote, type Remedies, verdict } from './verdict.js';

const words = text.results;

export function headlineSection(encodes: Encodes, remedies: Remedies): Section {
  const element = made(html`<section class="card headline" aria-labelledby="result-heading"></section>`);
  const update = () => {
    const [only, ...others] = encodes.list;
    element.classList.toggle('is-outdated', remedies.outdated);
    if (only)
      render(
        html`${outdatedNote(remedies)}${others.length === 0 ? single(encodes, only, remedies) : several(encodes, remedies)}`,
        element,
      );
  };
  return { element, update, close: () => {} };
}

/** What values stand for before there is a report, or where none will come. */
function soFar({ running }: Encodes, frames: string): string {
  return running ? words.soFarFrames(frames) : words.stopped(frames);
}

// --- one encode ---

function single(encodes: Encodes, encode: Encode, remedies: Remedies): TemplateResult {
  const { facts, count } = encode;
  const metric = encodes.ranking?.metric;
  const pooled = encodes.pooled(encode, metric);
  const { trust, word, tone, text: meaning } = meaningOf(encodes, encode);
  const reference = facts.reference ?? undefined;
  const against = reference?.name ?? encode.result.source?.reference.name;
  const growing = pooled?.origin === 'so far';
  return html`<h2 id="result-heading" class="title">${encode.name}</h2>
<p class="files">${joined([against && words.against(baseName(against)), ...(reference ? inputFacts(reference) : [])], ' · ')}</p>
<div class="answer">
<div><div class="score is-${trust.verdict}">${encodes.valueText(metric, pooled?.mean)}${flawSign(templates, trust)}<sup>${labelOf(metric ?? '')}${growing && encodes.running ? ` ${words.soFar}` : ''}</sup></div>
${word === undefined ? '' : html`<span class="pill" .style=${`--tone:var(--${tone})`}>${word}</span>`}${verdictBadge(templates, facts)}</div>
<div>${metric !== undefined && pooled && encodes.isScore(metric) ? scale(templates, encodes, metric, pooled, word) : ''}
<p class="soft small">${growing ? soFar(encodes, framesText(count)) : meaning}</p><p class="soft small compared">${comparedText(facts)}</p></div>
</div>
${verdict(encodes, remedies)}${tiles(templates, encodes, encode)}${origin(encode, pooled)}`;
}

/** Where a saved report's numbers come from, and what its file does not say. */
function origin({ result }: Encode, pooled: Pooled | undefined): TemplateResult | undefined {
  const { saved } = result;
  if (!saved) return undefined;
  const missing = (['reference', 'models', 'version'] as const).filter((key) => saved[key] === undefined);
  const sentences = [
    words.saved.from(saved.format.toUpperCase()),
    pooled?.origin === 'computed'
      ? words.saved.computed
      : saved.computed.includes('distribution') && words.saved.percentiles,
    missing.length > 0 && words.saved.lacks(missing.map((key) => words.saved.lacking[key]).join(', ')),
    ...saved.notes,
    words.saved.noFrames,
  ];
  return html`<p class="origin small soft">${joined(sentences, ' ')}</p>`;
}

// --- several encodes ---

function several(encodes: Encodes, remedies: Remedies): TemplateResult {
  const { list, ranking, apart } = encodes;
  const label = labelOf(ranking?.metric ?? '');
  const references = [
    ...new Set(list.map(({ facts, result }) => facts.reference?.name ?? result.source?.reference.name)),
  ];
  const [reference] = references;
  const of = references.length === 1 && reference ? baseName(reference) : undefined;
  const input = list.find(({ facts }) => facts.reference)?.facts.reference;
  const format = input ? inputFacts(apart ? { ...input, skipped: 0 } : input) : [];
  // Of one that failed before its first frame nothing is to come.
  const scored = encodes.running ? list : list.filter(({ count }) => count > 0);
  const growing = scored.some(({ growing: is }) => is);
  const why = growing ? undefined : incomparable(scored, references);
  const marked = !growing && why === undefined && scored.length > 1;
  const compared = compare(encodes);
  const heads = [label, words.table.worst, words.table.bitrate, words.table.size];
  const rows = compared.map(({ texts, best, trust, ...row }, i) => {
    const cells = heads.map((head, column) => {
      const is = marked && best[column];
      return html`<td data-label="${head}" class="${column === 0 ? 'main' : ''}${is ? ' best' : ''}">${texts[column] ?? NONE}${column === 0 ? flawSign(templates, trust) : ''}${is ? html`<span class="unseen"> (${words.table.best})</span>` : ''}</td>`;
    });
    const { name, facts, result } = list[i] as Encode;
    const skipped =
      apart && facts.reference
        ? html`<span class="skipped soft small">${words.table.skipped(skippedText(facts))}</span>`
        : '';
    return html`<tr .style=${colourOf(i)}><th scope="row" title="${result.name}"><span class="swatch"></span><span>${name}</span>${skipped}</th>${cells[0]}<td class="track-cell" aria-hidden="true">${track(templates, { texts, best, trust, ...row })}</td>${cells.slice(1)}</tr>`;
  });
  const frames = Math.min(...scored.map(({ count }) => count));
  const bests = marked && compared.some(({ best }) => best.includes(true)) ? words.table.bestNote : '';
  const said = growing
    ? soFar(encodes, framesText(frames))
    : why === undefined
      ? bests
      : words.table.incomparable(why);
  const [first, ...others] = heads.map((head) => html`<th scope="col">${head}</th>`);
  return html`<h2 id="result-heading" class="title">${words.severalOf(list.length, of)}</h2>
<p class="files">${joined([...format, modelText(list, ranking?.metric)], ' · ')}</p>
<div class="scroll"><table class="encodes"><caption class="unseen">${words.table.caption}</caption>
<thead><tr><th scope="col">${words.table.encode}</th>${first}<th class="track-cell" aria-hidden="true">${words.table.spread}</th>${others}</tr></thead>
<tbody>${rows}</tbody></table></div>
${verdict(encodes, remedies)}
<p class="soft small note">${said}</p>
${list[0]?.result.saved ? html`<p class="small soft">${words.saved.noFrames}</p>` : ''}`;
}

function modelText(list: readonly Encode[], metric: string | undefined): string {
  const sources = list.flatMap(
    ({ facts }) => facts.models?.find(({ name }) => name === metric)?.source ?? [],
  );
  return [...new Set(sources)].join(', ');
}

/** Why no encode is better than another, where numbers do not compare. */
function incomparable(
  list: readonly Encode[],
  references: readonly (string | undefined)[],
): string | undefined {
  const differ = (key: (encode: Encode) => unknown) => new Set(list.map(key)).size > 1;
  if (references.length > 1) return words.table.references;
  if (
    differ(({ facts }) =>
      JSON.stringify(facts.models?.map(({ name, source, options }) => [name, source, options])),
    )
  )
    return words.table.models;
  if (
    differ(
      ({ facts: { pairing, reference } }) =>
        `${(pairing ?? reference)?.width} ${(pairing ?? reference)?.height}`,
    )
  )
    return words.table.sizes;
  if (differ(({ count }) => count)) return words.table.counts;
  return undefined;
}
