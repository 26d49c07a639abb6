/**
 * @module web/results/headline
 * The answer: one encode's score and its meaning, or a table of several encodes.
 */
import {
  baseName,
  comparable,
  compare,
  comparedText,
  flawSign,
  framesText,
  headlineOf,
  inputFacts,
  joined,
  labelOf,
  matchText,
  meaningOf,
  referenceOf,
  scale,
  tiles,
  verdictBadge,
} from 'anyvmaf/view';
import type { EncodeResult } from '../session.js';
import { text } from '../text.js';
import { encodeTable, type Sorting } from './encode-table.js';
import { type Encode, type Encodes, type Pooled, reachedText } from './encodes.js';
import type { Section } from './section.js';
import { html, made, render, type TemplateResult, templates } from './templates.js';
import { outdatedNote, type Remedies, verdict } from './verdict.js';
import type { View } from './view.js';

const words = text.results;

export function headlineSection(encodes: Encodes, view: View, remedies: Remedies): Section {
  const element = made(html`<section class="card headline" aria-labelledby="result-heading"></section>`);
  let sorting: Sorting = null;
  const sort = (to: Sorting) => {
    sorting = to;
    update();
  };
  const update = () => {
    const [only, ...others] = encodes.list;
    element.classList.toggle('is-outdated', remedies.outdated);
    element.classList.toggle('is-running', encodes.running);
    if (only)
      render(
        html`${outdatedNote(remedies)}${others.length === 0 ? single(encodes, only, remedies) : several(encodes, { view, sorting, sort }, remedies)}`,
        element,
      );
  };
  return { element, update, close: view.shown.watch(update) };
}

function soFar({ running }: Encodes, frames: string): string {
  return running ? words.soFarFrames(frames) : words.stopped(frames);
}

// --- one encode ---

function single(encodes: Encodes, encode: Encode, remedies: Remedies): TemplateResult {
  const { facts, count } = encode;
  const metric = encodes.ranking?.metric;
  const pooled = encodes.pooled(encode, metric);
  const top = headlineOf(encodes, encode);
  const { trust, word, tone, text: meaning } = meaningOf(encodes, encode);
  const reference = facts.reference ?? undefined;
  const against = reference?.name ?? encode.result.source?.reference.name;
  const growing = pooled?.origin === 'so far';
  return html`<h2 id="result-heading" class="title">${encode.name}</h2>
<p class="files">${joined([against && words.against(baseName(against)), ...(reference ? inputFacts(reference) : []), matchText(facts)], ' · ')}</p>
<div class="answer">
<div><div class="score is-${pooled ? trust.verdict : 'awaited'}">${encodes.valueText(top?.metric, top?.value)}${flawSign(templates, trust)}<sup>${labelOf(top?.metric ?? metric ?? '')}${growing && encodes.running ? ` ${words.soFar}` : ''}</sup></div>
${word === undefined ? '' : html`<span class="pill" .style=${`--tone:var(--${tone})`}>${word}</span>`}${verdictBadge(templates, facts)}</div>
<div>${metric !== undefined && pooled && encodes.isScore(metric) ? scale(templates, encodes, metric, pooled, word) : ''}
<p class="soft small">${encodes.running && count === 0 ? words.soon : growing ? soFar(encodes, reachedText(count, encode.result)) : meaning}</p><p class="soft small compared">${comparedText(facts)}</p></div>
</div>
${verdict(encodes, remedies)}${tiles(templates, encodes, encode, encodes.running)}${origin(encode, pooled)}`;
}

/** How to get frames for results without videos. */
function lacking(results: readonly EncodeResult[]): string | undefined {
  const bare = results.filter(({ source, scored, saved, report }) => !source && !scored && (saved || report));
  const named = bare.every(({ report, saved }) => referenceOf(report ?? saved ?? {}));
  return bare.length === 0 ? undefined : named ? words.saved.dropVideos : words.saved.noFrames;
}

function hint(results: readonly EncodeResult[]): TemplateResult | undefined {
  const said = lacking(results);
  return said === undefined ? undefined : html`<p class="origin small soft">${said}</p>`;
}

/** Where a saved report's numbers come from, and what the file lacks. */
function origin({ result }: Encode, pooled: Pooled | undefined): TemplateResult | undefined {
  const { saved } = result;
  if (!saved) return hint([result]);
  const missing = (['reference', 'models', 'version'] as const).filter((key) => saved[key] === undefined);
  const sentences = [
    words.saved.from(saved.format.toUpperCase()),
    pooled?.origin === 'computed'
      ? words.saved.computed
      : saved.computed.includes('distribution') && words.saved.percentiles,
    missing.length > 0 && words.saved.lacks(missing.map((key) => words.saved.lacking[key]).join(', ')),
    ...saved.notes,
    lacking([result]),
  ];
  return html`<p class="origin small soft">${joined(sentences, ' ')}</p>`;
}

// --- several encodes ---

interface Table {
  readonly view: View;
  readonly sorting: Sorting;
  readonly sort: (to: Sorting) => void;
}

function several(encodes: Encodes, { view, sorting, sort }: Table, remedies: Remedies): TemplateResult {
  const { list, ranking, apart } = encodes;
  const references = [
    ...new Set(list.map(({ facts, result }) => facts.reference?.name ?? result.source?.reference.name)),
  ];
  const [reference] = references;
  const of = references.length === 1 && reference ? baseName(reference) : undefined;
  const input = list.find(({ facts }) => facts.reference)?.facts.reference;
  const format = input ? inputFacts(apart ? { ...input, skipped: 0 } : input) : [];
  const compared = compare(encodes);
  const marked = !encodes.running;
  const frames = Math.min(...list.map(({ count }) => count));
  const said = encodes.running
    ? words.soFarFrames(framesText(frames))
    : comparedNote(
        list,
        compared.some(({ best }) => best.includes(true)),
        compared.map(({ trust }) => trust.verdict === 'untrusted'),
      );
  return html`<h2 id="result-heading" class="title">${words.severalOf(list.length, of)}</h2>
<p class="files">${joined([...format, modelText(list, ranking?.metric), matchText(...list.map(({ facts }) => facts))], ' · ')}</p>
${encodeTable(encodes, view, compared, marked, sorting, sort)}
${verdict(encodes, remedies)}
<p class="soft small note">${said}</p>
${hint(list.map(({ result }) => result))}`;
}

/** Explains bold values, or why encodes have none. @param wrong per encode, whether its score is untrusted */
function comparedNote(list: readonly Encode[], marked: boolean, wrong: readonly boolean[]): string {
  const { alike, others } = comparable(list);
  const { bestNote, apart, incomparable, differ, differs, untrusted } = words.table;
  const all = [...new Set(others.map(({ why }) => why))];
  if (alike.length === 0)
    return all.length > 0 ? incomparable(all.map((why) => differ[why]).join(' and ')) : '';
  const reasons = all.map((why) =>
    apart(others.flatMap((one) => (one.why === why ? one.encode.name : [])).join(', '), differs[why]),
  );
  const never = alike.flatMap(({ index, name }) => (wrong[index] ? [name] : []));
  return joined([marked && bestNote, ...reasons, never.length > 0 && untrusted(never.join(', '))], ' ');
}

function modelText(list: readonly Encode[], metric: string | undefined): string {
  const sources = list.flatMap(
    ({ facts }) => facts.models?.find(({ name }) => name === metric)?.source ?? [],
  );
  return [...new Set(sources)].join(', ');
}
