/**
 * @module web/results/headline
 * The answer: one encode's score and its meaning, or a sortable table of several encodes; each row is tied to its lines
 * in the charts and its worst frame.
 */

import {
  baseName,
  type ComparedRow,
  colourOf,
  comparable,
  compare,
  comparedText,
  flawSign,
  framesText,
  furtherMetrics,
  headlineOf,
  inputFacts,
  joined,
  labelOf,
  matchText,
  meaningOf,
  NONE,
  referenceOf,
  scale,
  skippedText,
  tiles,
  track,
  verdictBadge,
} from 'anyvmaf/view';
import type { EncodeResult } from '../session.js';
import { differingWords } from '../setup/models.js';
import { html, made, render, type TemplateResult, templates } from '../templates.js';
import { text } from '../text.js';
import { type Encode, type Encodes, type Pooled, reachedText } from './encodes.js';
import { outdatedNote, type Remedies, verdict } from './verdict.js';
import type { Section, View } from './view.js';

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
    apart(others.flatMap((other) => (other.why === why ? other.encode.name : [])).join(', '), differs[why]),
  );
  const suspect = alike.flatMap(({ index, name }) => (wrong[index] ? [name] : []));
  return joined([marked && bestNote, ...reasons, suspect.length > 0 && untrusted(suspect.join(', '))], ' ');
}

function modelText(list: readonly Encode[], metric: string | undefined): string {
  const sources = list.flatMap(
    ({ facts }) => facts.models?.find(({ name }) => name === metric)?.source ?? [],
  );
  return [...new Set(sources)].join(', ');
}

const tableWords = text.results.table;

/** `null`: in the order given. */
type Sorting = { readonly column: number; readonly down: boolean } | null;

interface Column {
  readonly head: string;
  /** Sort keys of the rows; `undefined` sorts last. */
  readonly keys: readonly (number | string | undefined)[];
  /** The first click sorts descending. */
  readonly down: boolean;
}

/** Cycles: better end first, worse end first, unsorted. */
export function nextSorting(now: Sorting, column: number, down: boolean): Sorting {
  if (now?.column !== column) return { column, down };
  return now.down === down ? { column, down: !down } : null;
}

/** Indices of rows in sorted order; rows without a value are last either way. */
export function sorted(keys: readonly (number | string | undefined)[], down: boolean): number[] {
  const order = (a: number | string | undefined, b: number | string | undefined): number => {
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    const by =
      typeof a === 'number' && typeof b === 'number'
        ? a - b
        : String(a).localeCompare(String(b), 'en', { numeric: true });
    return down ? -by : by;
  };
  return keys.map((_, i) => i).sort((i, j) => order(keys[i], keys[j]) || i - j);
}

/** @param marked mark the best of each column @param sort called when a head is clicked */
function encodeTable(
  encodes: Encodes,
  view: View,
  compared: readonly ComparedRow[],
  marked: boolean,
  sorting: Sorting,
  sort: (sorting: Sorting) => void,
): TemplateResult {
  const columns = columnsOf(encodes, compared);
  const chosen = sorting && columns[sorting.column];
  const order = chosen && sorting ? sorted(chosen.keys, sorting.down) : compared.map((_, i) => i);
  const heads = columns.map(({ head, down }, i) => {
    const state = sorting?.column === i ? (sorting.down ? 'descending' : 'ascending') : 'none';
    return html`<th scope="col" aria-sort="${state}"><button type="button" class="sort" title="${tableWords.sortBy(head)}" @click=${() => sort(nextSorting(sorting, i, down))}>${head}<i aria-hidden="true">${{ none: '', ascending: '▲', descending: '▼' }[state]}</i></button></th>`;
  });
  const own = differingWords(encodes.list.map(({ result }) => (result.scored ?? result.was)?.settings));
  const rows = order.map((i) => rowOf(encodes, view, i, compared[i] as ComparedRow, marked, own[i]));
  return html`<div class="scroll"><table class="encodes"><caption class="unseen">${tableWords.caption}</caption>
<thead><tr>${heads.slice(0, 2)}<th class="track-cell" aria-hidden="true">${tableWords.spread}</th>${heads.slice(2)}</tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

function columnsOf(encodes: Encodes, compared: readonly ComparedRow[]): Column[] {
  const { metric = '', worse } = encodes.ranking ?? {};
  const best = worse !== 'high';
  const at = (head: string, column: number, down: boolean): Column => ({
    head,
    down,
    keys: compared.map(({ values }) => values[column]),
  });
  const further = furtherMetrics(encodes).map(
    (name, n): Column => ({
      head: labelOf(name),
      down: !encodes.isWorseHigh(name),
      keys: compared.map((row) => row.further[n]?.value),
    }),
  );
  return [
    { head: tableWords.encode, down: false, keys: encodes.list.map(({ name }) => name) },
    at(labelOf(metric), 0, best),
    at(tableWords.worst, 1, best),
    ...further,
    at(tableWords.bitrate, 2, false),
    at(tableWords.size, 3, false),
  ];
}

/** @param own settings in which the encode differs from others */
function rowOf(
  encodes: Encodes,
  view: View,
  i: number,
  row: ComparedRow,
  marked: boolean,
  own: string | undefined,
): TemplateResult {
  const { name, facts, result, partial, count } = encodes.list[i] as Encode;
  const { texts, best, trust, further } = row;
  const heads = [
    labelOf(encodes.ranking?.metric ?? ''),
    tableWords.worst,
    tableWords.bitrate,
    tableWords.size,
  ];
  const cell = (column: number) => {
    const isBest = marked && best[column];
    return html`<td data-label="${heads[column]}" class="${column === 0 ? 'main' : ''}${isBest ? ' best' : ''}">${texts[column] ?? NONE}${column === 0 ? flawSign(templates, trust) : ''}${isBest ? html`<span class="unseen"> (${tableWords.best})</span>` : ''}</td>`;
  };
  const others = furtherMetrics(encodes).map(
    (metric, n) => html`<td data-label="${labelOf(metric)}">${further[n]?.text ?? NONE}</td>`,
  );
  const reached = count > 0 ? tableWords.partial(reachedText(count, result)) : tableWords.notBegun;
  const part = partial ? html`<span class="skipped soft small">${reached}</span>` : '';
  const skipped =
    encodes.apart && facts.reference
      ? html`<span class="skipped soft small">${tableWords.skipped(skippedText(facts))}</span>`
      : '';
  const set = own ? html`<span class="skipped own soft small">${own}</span>` : '';
  const open = () => view.openWorst(i);
  const title = view.canOpen(i) ? tableWords.open(name) : tableWords.point(name);
  const light = (on: boolean) => () => view.light(i, on);
  const take = ({ target }: Event) => {
    view.toggle(i);
    view.light(i, view.shown.value[i] === true);
    // The last one cannot be left out.
    if (target instanceof HTMLInputElement) target.checked = view.shown.value[i] ?? true;
  };
  const taken = view.shown.value[i] ?? true;
  const box = html`<input type="checkbox" aria-label="${tableWords.take(name)}" title="${tableWords.take(name)}" .checked=${taken} @change=${take} @click=${(event: Event) => event.stopPropagation()}>`;
  return html`<tr class="${taken ? '' : 'left-out'}" .style=${colourOf(i)} @pointerenter=${light(true)} @pointerleave=${light(false)} @focusin=${light(true)} @focusout=${light(false)} @click=${open}><th scope="row" title="${result.name}">${box}<button type="button" class="open" title="${title}"><span class="swatch"></span><span>${name}</span></button>${set}${skipped}${part}</th>${cell(0)}<td class="track-cell" aria-hidden="true">${track(templates, row)}</td>${cell(1)}${others}${cell(2)}${cell(3)}</tr>`;
}
