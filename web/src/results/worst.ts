/**
 * @module web/results/worst
 * The worst moments, kept apart, with the features that dropped; each opens its frame.
 */
import { frameGap, type Ranking, worstFrames } from 'anyvmaf';
import { colourOf, percentOf, timeText } from 'anyvmaf/view';
import { drawPixels, fill, h, replacedBy, setBusy } from '../dom.js';
import type { Thumb, ThumbPair } from '../frames/draw.js';
import { spaced } from '../schedule.js';
import { html, made, render, type TemplateResult } from '../templates.js';
import { text } from '../text.js';
import type { Encode, Encodes } from './encodes.js';
import type { MomentPictures } from './pictures.js';
import type { Section, View } from './view.js';

const words = text.results.worst;

interface Row {
  readonly encode: number;
  readonly frame: number;
  readonly item: HTMLElement;
  readonly button: HTMLElement;
  /** Reference, encode and loss map; hidden until they are expected. */
  readonly shots: HTMLElement;
}

/** With more encodes, only the moments of one are shown. */
const MOST_SHOWN = 4;

interface Moment {
  readonly frame: number;
  readonly value: number;
  readonly causes: readonly string[];
}

export function worstSection(encodes: Encodes, view: View, pictures: MomentPictures): Section {
  const hint = made(html`<span class="faint small"></span>`);
  const lists = made(html`<div class="moments" aria-busy="true"></div>`);
  const element = made(
    html`<section class="card worst" aria-labelledby="worst-heading"><div class="bar"><h2 id="worst-heading">${words.heading}</h2>${hint}</div>${lists}</section>`,
  );
  const found = new Map<number, readonly Moment[]>();
  const moments = new MomentLists(lists, encodes, view, pictures);
  let next = 0;
  let searched = '';
  let due = false;

  /** One encode per task: a search reads all its frames. */
  const search = spaced(() => {
    const rank = encodes.ranking;
    const encode = encodes.list[next];
    if (!rank || !encode) return end();
    const { facts } = encode;
    const gap = facts.reference?.frameRate ? frameGap(facts) : Math.max(1, Math.round(encodes.rate ?? 10));
    hint.textContent = words.apart(gap);
    found.set(encode.index, momentsOf(encode, encodes, rank, gap));
    next++;
    if (next < encodes.list.length) return search();
    moments.draw(found);
    end();
  }, 0);

  function end(): void {
    due = false;
    view.moments.value = [...found].flatMap(([encode, moments]) =>
      moments.map(({ frame }) => ({ encode, frame })),
    );
    tell();
    // Only after the search of all frames: earlier moments may change.
    if (encodes.settled) pictures.want(ownFrames(found, encodes));
  }

  /** Busy while rows may still change: until the search of all frames is drawn. */
  function tell(): void {
    setBusy(lists, due || !encodes.settled || stateOf(encodes) !== searched);
  }

  function update(): void {
    const now = stateOf(encodes);
    if (now !== searched) {
      searched = now;
      due = true;
      next = 0;
      search();
    }
    tell();
  }

  return { element, update, close: () => search.stop() };
}

/** Frames of moments in each encode's own numbers. */
function ownFrames(found: ReadonlyMap<number, readonly Moment[]>, encodes: Encodes): Map<number, number[]> {
  return new Map(
    [...found].map(([encode, moments]) => {
      const shift = encodes.list[encode]?.columns.shift ?? 0;
      return [encode, moments.map(({ frame }) => frame - shift)];
    }),
  );
}

/** Key of a search. While frames arrive, it changes with every 10 % more frames. */
function stateOf(encodes: Encodes): string {
  return encodes.list
    .map((encode) => {
      const { length } = encode.columns;
      const amount = grows(encode, encodes) ? Math.floor(Math.log(length + 1) * 10) : `all ${length}`;
      return `${encode.columns.shift} ${amount}`;
    })
    .join();
}

/** False after a run that was stopped. */
function grows({ growing }: Encode, encodes: Encodes): boolean {
  return growing && !encodes.settled;
}

/** The worst moments, at least `gap` frames apart. */
function momentsOf(encode: Encode, encodes: Encodes, rank: Ranking, gap: number): Moment[] {
  const most = Math.max(3, Math.floor(6 / encodes.list.length));
  const worst = worstFrames({ frames: encode.result.frames }, rank, most, gap);
  return worst.map(({ frameNum, value }) => {
    const frame = frameNum + encode.columns.shift;
    return { frame, value, causes: grows(encode, encodes) ? [] : causesOf(encode, encodes, frame) };
  });
}

class MomentLists {
  readonly #lists: HTMLElement;
  readonly #encodes: Encodes;
  readonly #view: View;
  readonly #pictures: MomentPictures;
  /** By encode and frame; rows that stay keep their element, for the focus. */
  #rows = new Map<string, Row>();
  #drawn = '';
  /** With many encodes: the one whose moments are on show. */
  #picked = 0;

  constructor(lists: HTMLElement, encodes: Encodes, view: View, pictures: MomentPictures) {
    this.#lists = lists;
    this.#encodes = encodes;
    this.#view = view;
    this.#pictures = pictures;
    pictures.listen((encode, pair) => this.#take(encode, pair));
  }

  /** @param pair `undefined`: the encode gets no more pictures */
  #take(encode: number, pair: ThumbPair | undefined): void {
    if (!pair) {
      for (const row of this.#rows.values()) if (row.encode === encode) hideShots(row.shots);
      return;
    }
    const shift = this.#encodes.list[encode]?.columns.shift ?? 0;
    const row = this.#rows.get(rowKey(encode, pair.index + shift));
    if (row) drawShots(row.shots, pair);
  }

  /** The row of the same encode that is nearest in time. */
  #nearest({ encode, frame }: Row): Row | undefined {
    const away = (row: Row) => Math.abs(row.frame - frame);
    const [first] = [...this.#rows.values()]
      .filter((row) => row.encode === encode)
      .sort((a, b) => away(a) - away(b));
    return first;
  }

  #listOf(encode: Encode, moments: readonly Moment[], metric: string): TemplateResult {
    const { index, name } = encode;
    const [encodes, pictures] = [this.#encodes, this.#pictures];
    const items = moments.flatMap((moment) => {
      const row = this.#rows.get(rowKey(index, moment.frame));
      if (!row) return [];
      const made = pictures.get(index, moment.frame - encode.columns.shift);
      if (made) drawShots(row.shots, made);
      // Reserve room for pictures, so that nothing below moves when they arrive.
      else if (encodes.settled && pictures.expects(index)) awaitShots(row.shots, aspectOf(encode));
      render(content(encode, metric, moment, encodes, row.shots), row.button);
      return row.item;
    });
    const [several, many] = [encodes.list.length > 1, encodes.list.length > MOST_SHOWN];
    const list = html`<ol aria-label="${several ? name : words.heading}" ?hidden=${many && index !== this.#picked}>${items}</ol>`;
    if (!several || many) return list;
    return html`<h3 .style=${colourOf(index)}><span class="swatch"></span><span>${name}</span></h3>${list}`;
  }

  #picks(found: ReadonlyMap<number, readonly Moment[]>): TemplateResult {
    const pick = (index: number) => {
      this.#picked = index;
      this.#drawn = '';
      this.draw(found);
    };
    const buttons = this.#encodes.list.map(
      ({ index, name }) =>
        html`<button type="button" class="chip" title=${name} aria-pressed="${String(index === this.#picked)}" .style=${colourOf(index)} @click=${() => pick(index)}><span class="swatch"></span><span>${name}</span></button>`,
    );
    return html`<div class="chips" role="group" aria-label="${words.of}">${buttons}</div>`;
  }

  draw(found: ReadonlyMap<number, readonly Moment[]>): void {
    const encodes = this.#encodes;
    const metric = encodes.ranking?.metric;
    const now = JSON.stringify([...found]);
    if (now === this.#drawn || metric === undefined) return;
    this.#drawn = now;
    const focused = document.activeElement;
    const kept = this.#rows;
    const rows = encodes.list.flatMap((encode) =>
      (found.get(encode.index) ?? []).map(({ frame }) => {
        const key = rowKey(encode.index, frame);
        return [key, kept.get(key) ?? emptyRow(encode, frame, encodes, this.#view)] as const;
      }),
    );
    this.#rows = new Map(rows);
    const shown = encodes.list.map((encode) => this.#listOf(encode, found.get(encode.index) ?? [], metric));
    render(encodes.list.length > MOST_SHOWN ? [this.#picks(found), ...shown] : shown, this.#lists);
    for (const [key, row] of kept)
      if (!this.#rows.has(key)) replacedBy(row.button, this.#nearest(row)?.button);
    // Elements that are moved or removed lose the focus.
    const held = [...kept.values()].find(({ button }) => button === focused);
    if (held) (this.#nearest(held) ?? held).button.focus({ preventScroll: true });
  }
}

function rowKey(encode: number, frame: number): string {
  return `${encode} ${frame}`;
}

function emptyRow(encode: Encode, frame: number, encodes: Encodes, view: View): Row {
  const button = h('button', {
    type: 'button',
    title: view.canOpen(encode.index) ? words.open(frame) : words.point(frame),
    style: colourOf(encode.index),
    onclick: () => {
      const around = encodes.rate ? 2 * encodes.rate : 50;
      if (!view.canOpen(encode.index)) {
        view.zoomTo(frame - around, frame + around);
        document.getElementById('chart-heading')?.scrollIntoView({ block: 'start' });
      }
      view.open(encode.index, frame);
    },
  });
  const shots = h('span', { class: 'shots', 'aria-hidden': 'true', hidden: true });
  return { encode: encode.index, frame, item: h('li', {}, button), button, shots };
}

function content(
  encode: Encode,
  metric: string,
  { frame, value, causes }: Moment,
  encodes: Encodes,
  shots: HTMLElement,
): TemplateResult {
  const time = encodes.timeOf(frame);
  const frameText = encodes.apart ? text.results.chart.referenceFrame : text.results.chart.frame;
  const [low, high] = encode.columns.extent(metric) ?? [0, 1];
  const range = encodes.isScore(metric) ? encodes.rangeOf(metric) : undefined;
  const share = percentOf(value, ...(range ?? ([Math.min(0, low), high] as const)));
  return html`${shots}<span class="when"><span>${time === undefined ? frameText(frame) : timeText(time)}</span>${time === undefined ? '' : html`<span class="faint">${frameText(frame)}</span>`}</span>
<span class="line" aria-hidden="true"><i .style=${`width:${share}%`}></i></span>
<b>${encodes.valueText(metric, value)}</b>
${causes.length > 0 ? html`<span class="causes soft">${causes.join(', ')}</span>` : ''}`;
}

/** 16:9 if the report does not say. */
function aspectOf({ facts: { pairing, reference } }: Encode): number {
  const { width = 16, height = 9 } = pairing ?? reference ?? {};
  return width / height;
}

function awaitShots(shots: HTMLElement, aspect: number): void {
  if (!shots.hidden) return;
  const room = () => h('span', { class: 'awaited', style: `aspect-ratio:${aspect}` });
  const { reference, distorted, map } = words.shots;
  fill(shots, ...[reference, distorted, map].map((name) => shotOf(room(), name)));
  shots.hidden = false;
}

function shotOf(picture: HTMLElement, said: string): HTMLElement {
  return h('span', { class: 'shot' }, picture, h('span', { class: 'faint' }, said));
}

function hideShots(shots: HTMLElement): void {
  if (shots.classList.contains('drawn')) return;
  shots.replaceChildren();
  shots.hidden = true;
}

function drawShots(shots: HTMLElement, { reference, distorted, map }: ThumbPair): void {
  if (shots.classList.contains('drawn')) return;
  shots.classList.add('drawn');
  const shot = (thumb: Thumb, name: string) => {
    const canvas = drawPixels(h('canvas', { style: `aspect-ratio:${thumb.aspect}` }), thumb);
    const said = thumb.toneMapped ? `${name}: ${text.frames.toneMapped(thumb.toneMapped)}` : name;
    return shotOf(canvas, said);
  };
  const names = words.shots;
  fill(shots, shot(reference, names.reference), shot(distorted, names.distorted), shot(map, names.map));
  shots.hidden = false;
}

/** Causes by features more than two standard deviations below their mean. */
function causesOf(encode: Encode, encodes: Encodes, frame: number): string[] {
  const { columns } = encode;
  const fallen = new Map<string, number>();
  for (const metric of columns.metrics) {
    const cause = text.results.causes.find(([pattern]) => pattern.test(metric))?.[1];
    const pooled = cause === undefined ? undefined : encodes.pooled(encode, metric);
    if (cause === undefined || !pooled?.stddev) continue;
    const fall = (pooled.mean - columns.at(metric, frame)) / pooled.stddev;
    if (fall > 2) fallen.set(cause, Math.max(fall, fallen.get(cause) ?? 0));
  }
  return [...fallen]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 2)
    .map(([cause]) => cause);
}
