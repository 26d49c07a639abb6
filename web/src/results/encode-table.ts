/**
 * @module web/results/encode-table
 * Several encodes as a sortable table; each row is tied to its lines in the charts and its worst frame.
 */
import { ranking } from 'anyvmaf';
import {
  type ComparedRow,
  colourOf,
  flawSign,
  furtherMetrics,
  labelOf,
  NONE,
  skippedText,
  track,
} from 'anyvmaf/view';
import { differingWords } from '../setup/models.js';
import { text } from '../text.js';
import { type Encode, type Encodes, reachedText } from './encodes.js';
import { html, type TemplateResult, templates } from './templates.js';
import type { View } from './view.js';

const words = text.results.table;

/** `null`: in the order given. */
export type Sorting = { readonly column: number; readonly down: boolean } | null;

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
export function encodeTable(
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
    return html`<th scope="col" aria-sort="${state}"><button type="button" class="sort" title="${words.sortBy(head)}" @click=${() => sort(nextSorting(sorting, i, down))}>${head}<i aria-hidden="true">${{ none: '', ascending: '▲', descending: '▼' }[state]}</i></button></th>`;
  });
  const own = differingWords(encodes.list.map(({ result }) => (result.scored ?? result.was)?.settings));
  const rows = order.map((i) => rowOf(encodes, view, i, compared[i] as ComparedRow, marked, own[i]));
  return html`<div class="scroll"><table class="encodes"><caption class="unseen">${words.caption}</caption>
<thead><tr>${heads.slice(0, 2)}<th class="track-cell" aria-hidden="true">${words.spread}</th>${heads.slice(2)}</tr></thead>
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
      down: ranking({ metrics: [name] })?.worse !== 'high',
      keys: compared.map((row) => row.further[n]?.value),
    }),
  );
  return [
    { head: words.encode, down: false, keys: encodes.list.map(({ name }) => name) },
    at(labelOf(metric), 0, best),
    at(words.worst, 1, best),
    ...further,
    at(words.bitrate, 2, false),
    at(words.size, 3, false),
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
  const { name, facts, result } = encodes.list[i] as Encode;
  const { texts, best, trust, further } = row;
  const heads = [labelOf(encodes.ranking?.metric ?? ''), words.worst, words.bitrate, words.size];
  const cell = (column: number) => {
    const is = marked && best[column];
    return html`<td data-label="${heads[column]}" class="${column === 0 ? 'main' : ''}${is ? ' best' : ''}">${texts[column] ?? NONE}${column === 0 ? flawSign(templates, trust) : ''}${is ? html`<span class="unseen"> (${words.best})</span>` : ''}</td>`;
  };
  const others = furtherMetrics(encodes).map(
    (metric, n) => html`<td data-label="${labelOf(metric)}">${further[n]?.text ?? NONE}</td>`,
  );
  const { partial, count } = encodes.list[i] as Encode;
  const reached = count > 0 ? words.partial(reachedText(count, result)) : words.notBegun;
  const part = partial ? html`<span class="skipped soft small">${reached}</span>` : '';
  const skipped =
    encodes.apart && facts.reference
      ? html`<span class="skipped soft small">${words.skipped(skippedText(facts))}</span>`
      : '';
  const set = own ? html`<span class="skipped own soft small">${own}</span>` : '';
  const open = () => view.openWorst(i);
  const title = view.canOpen(i) ? words.open(name) : words.point(name);
  const light = (on: boolean) => () => view.light(i, on);
  const take = ({ target }: Event) => {
    view.toggle(i);
    view.light(i, view.shown.value[i] === true);
    // The last one cannot be left out.
    if (target instanceof HTMLInputElement) target.checked = view.shown.value[i] ?? true;
  };
  const taken = view.shown.value[i] ?? true;
  const box = html`<input type="checkbox" aria-label="${words.take(name)}" title="${words.take(name)}" .checked=${taken} @change=${take} @click=${(event: Event) => event.stopPropagation()}>`;
  return html`<tr class="${taken ? '' : 'left-out'}" .style=${colourOf(i)} @pointerenter=${light(true)} @pointerleave=${light(false)} @focusin=${light(true)} @focusout=${light(false)} @click=${open}><th scope="row" title="${result.name}">${box}<button type="button" class="open" title="${title}"><span class="swatch"></span><span>${name}</span></button>${set}${skipped}${part}</th>${cell(0)}<td class="track-cell" aria-hidden="true">${track(templates, row)}</td>${cell(1)}${others}${cell(2)}${cell(3)}</tr>`;
}
