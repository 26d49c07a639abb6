/**
 * @module web/results/changes
 * Compares encodes with an earlier run: the reports of a file, or another encode on show.
 */
import { messageOf } from '../engine/calls.js';
import './changes.css';
import {
  type Baseline,
  bitrateText,
  type Cell,
  type Change,
  ChartState,
  changeOf,
  colourOf,
  FrameChart,
  type FrameEncodes,
  labelOf,
  listen,
  NONE,
} from 'anyvmaf/view';
import { h } from '../dom.js';
import { inTurn } from '../schedule.js';
import { html, made, render, type TemplateResult } from '../templates.js';
import { text } from '../text.js';
import { chartMenu, frameFile } from './chart-menu.js';
import { Columns, type Encode, type Encodes } from './encodes.js';
import { readBaselines } from './open.js';
import type { Follower, Section, View } from './view.js';

const words = text.results.changes;

/** `change` may be a reason why there is none. */
interface Compared {
  readonly encode: Encode;
  readonly change: Change | string;
}

/** What encodes are compared with: the reports of a file, or the frames of an encode on show. */
export interface Earlier {
  readonly baseline?: Baseline | undefined;
  readonly anchor?: Encode['result']['frames'] | undefined;
}

export class Changes implements Section {
  readonly element: HTMLElement;
  readonly #encodes: Encodes;
  readonly #view: View;
  readonly #said = h('p', { class: 'small soft', role: 'status' });
  readonly #shown = h('div');
  readonly #plot = h('div');
  readonly #which: HTMLSelectElement;
  readonly #files: HTMLInputElement;
  readonly #stops: (() => void)[];
  /** Outlives the section, which is built again for other encodes. */
  readonly #earlier: Cell<Earlier>;
  /** Key of what is on show. */
  #drawn = '';
  #chart: ReturnType<typeof differenceChart> | undefined;

  constructor(encodes: Encodes, view: View, earlier: Cell<Earlier>) {
    this.#encodes = encodes;
    this.#view = view;
    this.#earlier = earlier;
    this.#which = made(
      html`<select aria-label=${words.which} @change=${() => this.#choose(this.#which.value)}></select>`,
    );
    this.#files = made(
      html`<input type="file" class="unseen" accept=".json,.ndjson,.xml" multiple tabindex="-1" aria-label=${words.open} @change=${() => this.#read([...(this.#files.files ?? [])])}>`,
    );
    this.element = made(
      html`<section class="card changes" aria-labelledby="changes-heading"><div class="bar"><h2 id="changes-heading">${words.heading}</h2><span class="hint faint small">${words.hint}</span><span class="tools">${this.#which}${this.#files}<button type="button" class="tool" @click=${() => this.#files.click()}>${words.open}</button></span></div>${this.#said}${this.#shown}${this.#plot}</section>`,
    );
    this.#stops = [
      // First, because it draws at once, and the others then find nothing new.
      earlier.watch(() => {
        this.#drawn = '';
        this.update();
      }),
      ...[view.shown, view.chosen].map((cell) => cell.watch(() => this.update())),
    ];
  }

  hasContent(): boolean {
    const { running, list } = this.#encodes;
    return !running && list.some(({ result }) => result.report);
  }

  update(): void {
    const { list, running } = this.#encodes;
    const { metric, shown } = this.#view;
    const ready = list.filter(({ result }) => result.report);
    const { anchor, baseline } = this.#earlier.value;
    const first = list.find(({ result }) => result.frames === anchor);
    const name = first?.name ?? baseline?.name ?? '';
    const names = ready.map((encode) => encode.name);
    const now = JSON.stringify([metric, running, name, first?.index, shown.value, names]);
    this.element.hidden = !this.hasContent();
    if (now === this.#drawn || this.element.hidden || metric === undefined) return;
    this.#drawn = now;
    render(options(ready, this.#earlier.value), this.#which);
    this.#which.hidden = ready.length < 2 && !baseline;
    const compared = this.#compared(first, metric);
    const table = compared.length > 0 && tableOf(compared, this.#encodes, this.#view, metric, name);
    render(table || '', this.#shown);
    this.#chart?.close();
    this.#chart = compared.some(({ change }) => typeof change !== 'string')
      ? differenceChart(this.#plot, compared, this.#encodes, this.#view, metric)
      : undefined;
    if (!this.#chart) this.#plot.replaceChildren();
  }

  complete(): void {
    this.#chart?.complete();
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.#chart?.close();
  }

  async #read(chosen: readonly File[]): Promise<void> {
    this.#files.value = '';
    if (chosen.length === 0) return;
    this.#said.textContent = words.reading;
    try {
      const baseline = await readBaselines(chosen);
      this.#said.textContent = '';
      // Shown by the section that is there now.
      this.#earlier.value = { baseline };
    } catch (error) {
      this.#said.textContent = messageOf(error);
    }
  }

  #choose(value: string): void {
    this.#said.textContent = '';
    const { baseline } = this.#earlier.value;
    const anchor = value === '' ? undefined : this.#encodes.list[Number(value)]?.result.frames;
    this.#earlier.value = value === 'file' ? { baseline } : { anchor };
  }

  /** @param first the baseline, if it is on show */
  #compared(first: Encode | undefined, metric: string): readonly Compared[] {
    const open = first?.result.report && { name: first.name, reports: [first.result.report] };
    const before = open ?? this.#earlier.value.baseline;
    if (!before) return [];
    const { list } = this.#encodes;
    return list
      .filter((encode) => encode !== first && this.#view.shown.value[encode.index])
      .map((encode) => {
        const { report } = encode.result;
        // A chosen encode is compared with all others; a file's only report with the only encode on show.
        const change = report && changeOf(before, report, metric, open ? 1 : list.length);
        return { encode, change: change ?? words.unfinished };
      });
  }
}

function options(ready: readonly Encode[], { baseline, anchor }: Earlier): TemplateResult[] {
  const chosen = ready.find(({ result }) => result.frames === anchor);
  return [
    html`<option value="" ?selected=${!baseline && !chosen}>${words.none}</option>`,
    ...(baseline ? [html`<option value="file" selected>${baseline.name}</option>`] : []),
    ...(ready.length < 2 ? [] : ready).map(
      (encode) =>
        html`<option value="${encode.index}" ?selected=${encode === chosen}>${encode.name}</option>`,
    ),
  ];
}

/** Values rounded to 0 have no sign. */
function signed(value: string): string {
  return Number.parseFloat(value) > 0 ? `+${value}` : value.replace(/^-/, '−');
}

function tableOf(
  list: readonly Compared[],
  encodes: Encodes,
  view: View,
  metric: string,
  name: string,
): TemplateResult {
  const first = list.find(({ change }) => typeof change !== 'string')?.change;
  const statistics = typeof first === 'object' ? first.values.map(({ statistic }) => statistic) : [];
  const heads = [
    ...statistics.map((key) => words.statistics[key]),
    ...(statistics.length > 0 ? [words.rate, words.worst, words.fallen] : []),
  ];
  const rows = list.flatMap(({ encode, change }) =>
    typeof change === 'string'
      ? []
      : [
          html`<tr><th scope="row" .style=${colourOf(encode.index)}><span class="swatch"></span>${encode.name}</th>${cells(change, encode, encodes, view, metric).map((cell, i) => html`<td data-label=${heads[i] ?? ''}>${cell}</td>`)}</tr>`,
        ],
  );
  const why = list.flatMap(({ encode, change }) =>
    typeof change === 'string' ? [html`<p class="why small">${encode.name}: ${change}</p>`] : [],
  );
  if (rows.length === 0) return html`${why}`;
  const label = words.table(labelOf(metric), name);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table><caption class="unseen">${label}</caption><thead><tr><th scope="col">${words.encode}</th>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>${why}`;
}

/** Current values; below them the difference and the earlier value. */
function cells(
  { values, rates, worst, fallen }: Change,
  { index, columns }: Encode,
  encodes: Encodes,
  view: View,
  metric: string,
): TemplateResult[] {
  const value = (number: number | undefined) =>
    number === undefined ? NONE : encodes.valueText(metric, number);
  const cell = (now: string, by: string, was: string, kind: 'better' | 'worse' | 'same' | '') =>
    html`${now}<small><b class="${kind}">${by}${kind && html`<span class="unseen"> ${words[kind]}</span>`}</b> ${words.was(was)}</small>`;
  const [rateBefore, rate] = rates;
  const more = rate === undefined || !rateBefore ? Number.NaN : (100 * (rate - rateBefore)) / rateBefore;
  const at = (frame: number) => frame + columns.shift;
  const show = (frame: number) =>
    html`<button type="button" class="tool" title="${words.show(at(frame))}" @click=${() => view.open(index, at(frame))}>${at(frame)}</button>`;
  return [
    ...values.map(({ value: now, before, drop }) => {
      const by = value(now === undefined ? undefined : now - before);
      const kind = Number.parseFloat(by) === 0 ? 'same' : drop > 0 ? 'worse' : 'better';
      return cell(value(now), signed(by), value(before), kind);
    }),
    cell(
      bitrateText(rate) ?? NONE,
      Number.isNaN(more) ? '' : `${signed(more.toFixed(1))} %`,
      bitrateText(rateBefore) ?? NONE,
      '',
    ),
    html`${worst[1] === undefined ? NONE : show(worst[1])}<small>${words.was(worst[0] === undefined ? NONE : String(at(worst[0])))}</small>`,
    fallen
      ? html`${show(fallen.frame)}<small><b class="worse">${signed(value(fallen.difference))}</b></small>`
      : html`${words.noFall}`,
  ];
}

/** Difference per frame of all compared encodes, on the axis of the other charts. */
function differenceChart(
  box: HTMLElement,
  list: readonly Compared[],
  encodes: Encodes,
  view: View,
  metric: string,
): Pick<Follower, 'complete' | 'close'> {
  const state = new ChartState(differencesOf(list, encodes, metric), view);
  state.shown.value = encodes.list.map(() => true);
  const said = words.chart(labelOf(metric));
  const plot = h('div', { class: 'plot large changes-plot', role: 'img', 'aria-label': said });
  const chart = new FrameChart(plot, state, 'large', metric, inTurn);
  const menu = chartMenu(frameFile(chart, words.heading));
  box.replaceChildren(
    h('div', { class: 'changes-head' }, h('span', { class: 'faint small' }, said), menu),
    plot,
  );
  const stop = listen(chart);
  chart.update();
  return {
    complete: () => chart.complete(),
    close() {
      stop();
      chart.close();
    },
  };
}

function differencesOf(list: readonly Compared[], encodes: Encodes, metric: string): FrameEncodes {
  const differing = list.flatMap(({ encode, change }) =>
    typeof change === 'string' ? [] : [{ encode, columns: columnsOf(change, encode, metric), change }],
  );
  return {
    list: differing.map(({ encode: { index, name }, columns }) => ({ index, name, columns })),
    span: encodes.span,
    rate: encodes.rate,
    origin: encodes.origin,
    coming: false,
    isScore: () => false,
    said: (frame) => encodes.said(frame),
    valueText: (name, value) => signed(encodes.valueText(name, value)),
    meanOf: (index) => {
      const { statistic, value, before } =
        differing.find(({ encode }) => encode.index === index)?.change.values[0] ?? {};
      return statistic === 'mean' && value !== undefined ? value - (before ?? 0) : undefined;
    },
  };
}

/** The differences, on an axis that includes 0. */
function columnsOf({ frames }: Change, { columns: { shift } }: Encode, metric: string) {
  const columns = new Columns();
  for (const frame of frames) columns.add(frame);
  columns.shift = shift;
  const [low, high] = columns.extent(metric) ?? [0, 0];
  return {
    numbers: columns.numbers,
    values: (name: string) => columns.values(name),
    // Differences that round to 0 must not fill the chart.
    extent: () => [Math.min(-0.01, low), Math.max(0.01, high)] as const,
  };
}
