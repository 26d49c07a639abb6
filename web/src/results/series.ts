/**
 * @module web/results/series
 * Editor that puts encodes into series, by dragging or by ticking them. Loaded when opened.
 */
import type { FrameMetrics } from 'anyvmaf';
import { colourOf, curveNames } from 'anyvmaf/view';
import type { Session } from '../session.js';
import { html, render, type TemplateResult } from '../templates.js';
import { text } from '../text.js';
import type { Encode, Encodes } from './encodes.js';

const words = text.results.series;

/** Type of dragged data: indices of encodes. */
const DRAGGED = 'application/x-anyvmaf-encodes';

export class SeriesEditor {
  readonly #element: HTMLElement;
  readonly #encodes: Encodes;
  readonly #session: Session;
  #ticked = new Set<object>();
  /** Target of ticked encodes; empty: a new series. */
  #to = '';

  constructor(element: HTMLElement, encodes: Encodes, session: Session) {
    this.#element = element;
    this.#encodes = encodes;
    this.#session = session;
  }

  update(): void {
    const { list } = this.#encodes;
    const names = this.#names();
    const series = [...new Set(names)];
    const ticked = list.filter(({ result }) => this.#ticked.has(result.frames));
    const choose = ({ target }: Event) => {
      this.#to = (target as HTMLSelectElement).value;
    };
    const options = ['', ...series].map(
      (name) =>
        html`<option value=${name} ?selected=${name === this.#to}>${name === '' ? words.fresh : name}</option>`,
    );
    render(
      html`<p class="soft small">${words.hint}</p>
<ul class="series">${series.map((name) =>
        this.#row(
          name,
          list.filter((_, i) => names[i] === name),
        ),
      )}<li class="fresh soft small" @dragover=${allow} @drop=${(event: DragEvent) => this.#drop(event, '')}>${words.dropNew}</li></ul>
<div class="tools"><select aria-label=${words.to} @change=${choose}>${options}</select><button type="button" class="tool" ?disabled=${ticked.length === 0} @click=${() => this.#move(ticked, this.#to)}>${words.move}</button><button type="button" class="tool" @click=${() => this.#guess()}>${words.guess}</button></div>`,
      this.#element,
    );
  }

  #names(): string[] {
    return curveNames(this.#encodes.list).map((name) => name ?? words.none);
  }

  #row(name: string, members: readonly Encode[]): TemplateResult {
    const rename = ({ target }: Event) => {
      const input = target as HTMLInputElement;
      const typed = input.value.trim();
      if (typed === '') input.value = name;
      else this.#move(members, typed);
    };
    return html`<li @dragover=${allow} @drop=${(event: DragEvent) => this.#drop(event, name)}><input type="text" aria-label=${words.name(name)} maxlength="60" .value=${name} @change=${rename}>${members.map((encode) => this.#chip(encode))}</li>`;
  }

  #chip({ index, name, result }: Encode): TemplateResult {
    const tick = ({ target }: Event) => {
      this.#ticked[(target as HTMLInputElement).checked ? 'add' : 'delete'](result.frames);
      this.update();
    };
    const drag = ({ dataTransfer }: DragEvent) => {
      const ticked = this.#encodes.list.filter((encode) => this.#ticked.has(encode.result.frames));
      const all = this.#ticked.has(result.frames) ? ticked.map((encode) => encode.index) : [index];
      dataTransfer?.setData(DRAGGED, all.join());
    };
    return html`<label class="chip" title=${name} draggable="true" .style=${colourOf(index)} @dragstart=${drag}><input type="checkbox" .checked=${this.#ticked.has(result.frames)} @change=${tick}><span class="swatch"></span><span>${name}</span></label>`;
  }

  #drop(event: DragEvent, to: string): void {
    const places = event.dataTransfer?.getData(DRAGGED) ?? '';
    if (places === '') return;
    event.preventDefault();
    event.stopPropagation();
    this.#move(
      places.split(',').flatMap((place) => this.#encodes.list[Number(place)] ?? []),
      to,
    );
  }

  /** Fixes the series of all encodes, so that later guesses change none. @param to empty: a new series */
  #move(moved: readonly Encode[], to: string): void {
    const names = this.#names();
    let fresh = 1;
    while (names.includes(words.numbered(fresh))) fresh++;
    const { series, results, kept } = this.#session;
    const living = new Set<readonly FrameMetrics[]>(
      [...results.value, ...kept.value].map(({ frames }) => frames),
    );
    const entries = this.#encodes.list.map((encode, i) => {
      const name = moved.includes(encode) ? to || words.numbered(fresh) : names[i];
      return [encode.result.frames, name ?? ''] as const;
    });
    this.#ticked = new Set();
    series.value = new Map([...[...series.value].filter(([frames]) => living.has(frames)), ...entries]);
  }

  #guess(): void {
    const { series } = this.#session;
    const shown = new Set<readonly FrameMetrics[]>(this.#encodes.list.map(({ result }) => result.frames));
    this.#ticked = new Set();
    series.value = new Map([...series.value].filter(([frames]) => !shown.has(frames)));
    this.update();
  }
}

function allow(event: DragEvent): void {
  if (event.dataTransfer?.types.includes(DRAGGED)) event.preventDefault();
}
