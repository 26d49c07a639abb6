/**
 * @module web/results/lanes
 * Lanes below the curve: coded frames, further metrics, statistics of the visible span. Loaded after a run.
 */
import './lanes.css';
import {
  bitrateText,
  colourOf,
  drawAxes,
  drawLine,
  extentOf,
  FrameChart,
  highest,
  type LanePainter,
  labelOf,
  listen,
  Scale,
  sizeText,
  valueRange,
} from 'anyvmaf/view';
import { button, fill, h } from '../dom.js';
import { type Coded, codedOf, codedText } from '../packets/client.js';
import { KINDS } from '../packets/headers.js';
import { inTurn } from '../schedule.js';
import type { EncodeSource } from '../session.js';
import { html, made, render } from '../templates.js';
import { text } from '../text.js';
import { chartMenu, frameFile } from './chart-menu.js';
import { type Encode, type Encodes, shotsOf } from './encodes.js';
import type { Follower, View } from './view.js';

const words = text.results.lanes;

export function chartLanes(element: HTMLElement, encodes: Encodes, view: View): Follower {
  const coded = new CodedLane(element, encodes, view);
  const metrics = new MetricLanes(encodes, view);
  const span = new SpanStatistics(encodes, view, coded);
  fill(element, metrics.element, span.element);
  const parts = [coded, metrics, span];
  return {
    update() {
      const [first] = encodes.list;
      view.shots.value = first ? shotsOf(first.columns) : [];
      for (const part of parts) part.update();
    },
    complete() {
      for (const chart of [coded.chart, coded.quantizers, ...metrics.lanes.map((lane) => lane.chart)])
        chart.complete();
    },
    close() {
      for (const part of parts) part.close();
    },
  };
}

/** Codecs, by ffmpeg's names, whose frame headers contain the quantizer. */
const WITH_QUANTIZER = ['h264', 'hevc', 'vp9', 'av1'];

/** Bytes, types and quantizers of the coded frames of the leading encode. */
class CodedLane {
  readonly chart: FrameChart;
  readonly quantizers: FrameChart;
  /** Shared with the other lanes. */
  readonly #box: HTMLElement;
  readonly #element: HTMLElement;
  readonly #encodes: Encodes;
  readonly #view: View;
  readonly #legend = h('p', { class: 'lane-key small soft' });
  readonly #now = h('span', { class: 'lane-now' });
  /** Not by file: results of other tracks or skipped frames may share one. */
  readonly #known = new Map<EncodeSource, Coded | undefined>();
  /** Each is read once, although `update` runs after each read. */
  readonly #requested = new Set<EncodeSource>();
  readonly #rates = new WeakMap<Coded, Float64Array>();
  readonly #stops: (() => void)[];
  /** Called when the frames of an encode were read. */
  onRead: () => void = () => {};

  constructor(box: HTMLElement, encodes: Encodes, view: View) {
    this.#box = box;
    this.#encodes = encodes;
    this.#view = view;
    const plot = h('div', { class: 'plot lane', role: 'img', 'aria-label': words.coded });
    this.chart = new FrameChart(plot, view, 'lane', '', inTurn, (...drawing) => this.#paint(...drawing));
    const below = h('div', { class: 'plot lane quantizers', role: 'img' });
    this.quantizers = new FrameChart(below, view, 'lane', '', inTurn, (...drawing) =>
      this.#paintQuantizers(...drawing),
    );
    this.#element = made(
      html`<div class="lane-box coded"><h3 class="lane-head">${words.coded}${this.#now}${this.#menu()}</h3>${plot}${below}${this.#legend}</div>`,
    );
    this.#stops = [
      listen(this.chart),
      listen(this.quantizers),
      view.lead.watch(() => this.update()),
      view.pointed.watch(() => this.#tell()),
      view.rest.watch(() => this.#describe()),
    ];
  }

  close(): void {
    for (const stop of this.#stops) stop();
    for (const chart of [this.chart, this.quantizers]) chart.close();
  }

  /** `undefined` until they are read. */
  of(encode: Encode | undefined): Coded | undefined {
    const source = encode?.result.source;
    return source && this.#known.get(source);
  }

  update(): void {
    const encode = this.#encode;
    const source = encode?.result.source;
    for (const { result } of this.#encodes.list) this.#read(result);
    const none = !source || (this.#known.has(source) && !this.#known.get(source));
    // Keep the room during a run and while reading, so that nothing below moves.
    if (none) this.#box.classList.remove('awaits');
    if (none || !this.#encode?.result.report) this.#element.remove();
    else if (!this.#element.isConnected) this.#box.prepend(this.#element);
    // Likewise keep the quantizers' room while reading a codec that has them.
    const hasQuantizers = WITH_QUANTIZER.includes(encode?.result.report?.pairing?.distorted.codec ?? '');
    this.quantizers.element.hidden =
      !hasQuantizers || (this.of(encode) && !this.of(encode)?.frames.quantizer) === true;
    this.#describe();
    for (const chart of [this.chart, this.quantizers]) {
      chart.metric = this.#view.metric ?? '';
      chart.update();
    }
  }

  get #encode(): Encode | undefined {
    return this.#encodes.list[this.#view.lead.value];
  }

  #read(result: Encode['result']): void {
    const { source } = result;
    if (!source || !result.report || this.#requested.has(source)) return;
    this.#requested.add(source);
    const done = (coded: Coded | undefined) => {
      this.#known.set(source, coded);
      this.update();
      this.onRead();
    };
    // The other lanes work without container facts.
    codedOf(result).then(done, () => done(undefined));
  }

  #describe(): void {
    const encode = this.#encode;
    const coded = this.of(encode);
    if (!encode || !coded) {
      render(words.reading, this.#legend);
      return;
    }
    const [from, to] = this.#within(coded);
    const kinds = coded.frames.kinds.subarray(from, to + 1);
    const counts = KINDS.map((kind, i) => ({ kind, count: kinds.filter((n) => n === i).length }));
    const used = counts.filter(({ count }) => count > 0);
    const largest = mostOf(coded.frames.bytes, from, to);
    const most = mostOf(this.#ratesOf(coded), from, to);
    const scale = words.scale(sizeText(largest) ?? '', bitrateText(most) ?? '');
    const shots = this.#view.shots.value.length;
    render(
      html`${used.map(({ kind, count }) => html`<span class="kind kind-${kind}"><i aria-hidden="true"></i>${words.kinds[kind](count)}</span>`)}<span>${scale}</span><span>${this.#quantizersText(coded, from, to)}</span>${shots > 0 ? html`<span>${words.shots(shots)}</span>` : ''}`,
      this.#legend,
    );
    this.chart.element.setAttribute('aria-label', `${encode.name}: ${this.#legend.textContent}`);
    this.#tell();
  }

  /** Range of the visible quantizers; empty if unknown. */
  #quantizersText({ frames }: Coded, from: number, to: number): string {
    const found = extentOf([frames.quantizers.subarray(from, to + 1)]);
    const said = found && frames.quantizer ? words.quantizers[frames.quantizer](found.low, found.high) : '';
    this.quantizers.element.setAttribute('aria-label', said);
    return said;
  }

  /** Indices of the first and last visible coded frame. */
  #within(coded: Coded): readonly [number, number] {
    const shift = this.#encode?.columns.shift ?? 0;
    const [from, to] = this.#view.span;
    return [coded.nearest(from - shift), coded.nearest(to - shift)];
  }

  #ratesOf(coded: Coded): Float64Array {
    const rates = this.#rates.get(coded) ?? coded.rates();
    this.#rates.set(coded, rates);
    return rates;
  }

  #menu(): HTMLElement {
    return chartMenu({
      title: () => words.coded,
      element: () => this.chart.element,
      chart: this.chart,
      names: () => (this.#encode ? [this.#encode] : []),
      rows: () => this.#rows(),
    });
  }

  #rows(): (string | number)[][] {
    const encode = this.#encode;
    const coded = this.of(encode);
    const { frame, type, bytes, quantizer, rate } = text.results.chartFile;
    const head = [frame, type, bytes, quantizer, rate];
    if (!encode || !coded) return [head];
    const [from, to] = this.#within(coded);
    const rates = this.#ratesOf(coded);
    const rows = Array.from({ length: to - from + 1 }, (_, n) => {
      const i = from + n;
      const packet = coded.at(i);
      const at = (coded.pairs[i] ?? 0) + encode.columns.shift;
      return [at, packet?.kind ?? '', packet?.bytes ?? '', packet?.quantizer?.value ?? '', rates[i] ?? ''];
    });
    return [head, ...rows];
  }

  #tell(): void {
    const frame = this.#view.pointed.value;
    const encode = this.#encode;
    const coded = this.of(encode);
    const i = frame === null || !coded || !encode ? -1 : coded.nearest(frame - encode.columns.shift);
    const packet = coded?.at(i);
    const name = encode && this.#encodes.list.length > 1 ? encode.name : '';
    this.#now.textContent = packet
      ? codedText(packet, name, bitrateText(this.#ratesOf(coded as Coded)[i] ?? 0))
      : name;
  }

  /** A bar per frame by bytes, a line per key frame, and the bit rate. */
  #paint(...[pen, scale, colour, rough]: Parameters<LanePainter>): void {
    const coded = this.of(this.#encode);
    if (!coded) return;
    const shift = this.#encode?.columns.shift ?? 0;
    const [from, to] = this.#within(coded);
    const { bytes, kinds } = coded.frames;
    const { height, width } = scale;
    const x = (i: number) => scale.x((coded.pairs[i] ?? 0) + shift);
    const most = Math.max(1, mostOf(bytes, from, to));
    const wide = Math.max(1, (width / (to - from + 1)) * 0.8);
    const keys = kinds.subarray(from, to + 1).filter((kind) => kind === 0).length;
    const colours = KINDS.map((kind) => colour(`--kind-${kind.toLowerCase()}`));
    // Rare kinds last, so that they stay visible where frames share a pixel.
    for (const kind of [4, 3, 2, 1, 0]) {
      pen.fillStyle = colours[kind] ?? '';
      const frames = framesOf(kinds, kind, from, to);
      for (const i of rough ? highest(frames, bytes, x) : frames) {
        const high = Math.max(1, ((bytes[i] ?? 0) / most) * height);
        pen.fillRect(x(i) - wide / 2, height - high, wide, high);
        if (kind === 0 && keys < width / 6) pen.fillRect(Math.round(x(i)), 0, 1, height);
      }
    }
    const rates = this.#ratesOf(coded);
    const top = Math.max(1, mostOf(rates, from, to));
    pen.strokeStyle = colour('--ink');
    pen.lineWidth = 1.5;
    pen.beginPath();
    const step = Math.max(1, Math.floor((to - from) / width));
    for (let i = from; i <= to; i += step) pen.lineTo(x(i), height - ((rates[i] ?? 0) / top) * (height - 2));
    pen.stroke();
  }

  #paintQuantizers(...[pen, { width, height, span }, colour, rough]: Parameters<LanePainter>): void {
    const coded = this.of(this.#encode);
    if (!coded) return;
    const shift = this.#encode?.columns.shift ?? 0;
    const [from, to] = this.#within(coded);
    const { quantizers } = coded.frames;
    const range = valueRange(extentOf([quantizers.subarray(from, to + 1)]), 2, false);
    const scale = new Scale(width, height, [span[0] - shift, span[1] - shift], range);
    drawAxes(pen, scale, [], colour);
    pen.strokeStyle = colour('--ink');
    pen.lineWidth = 1.2;
    drawLine(pen, scale, { frames: coded.pairs, values: quantizers }, false, rough);
  }
}

function framesOf(kinds: Uint8Array, kind: number, from: number, to: number): number[] {
  const frames: number[] = [];
  for (let i = from; i <= to; i++) if (kinds[i] === kind) frames.push(i);
  return frames;
}

/** Too many values for `Math.max(...)`. */
function mostOf(values: Float64Array, from: number, to: number): number {
  return values.subarray(from, to + 1).reduce((most, value) => Math.max(most, value), 0);
}

interface MetricLane {
  readonly chart: FrameChart;
  readonly element: HTMLElement;
  readonly now: HTMLElement;
  readonly stop: () => void;
}

/** Metrics chosen in addition to the curve's. */
class MetricLanes {
  readonly element: HTMLElement;
  readonly #encodes: Encodes;
  readonly #view: View;
  readonly #box = h('div');
  readonly #select: HTMLSelectElement;
  readonly #stop: () => void;
  lanes: readonly MetricLane[] = [];

  constructor(encodes: Encodes, view: View) {
    this.#encodes = encodes;
    this.#view = view;
    this.#select = h('select', {
      'aria-label': words.add,
      onchange: () => {
        this.#add(this.#select.value);
        this.#list();
      },
    });
    this.element = h('div', { class: 'lane-box' }, this.#box, h('div', { class: 'lane-add' }, this.#select));
    this.#stop = view.pointed.watch(() => this.#tell());
  }

  close(): void {
    this.#stop();
    for (const lane of this.lanes) this.#drop(lane);
  }

  update(): void {
    this.#list();
    for (const { chart } of this.lanes) chart.update();
    this.#tell();
  }

  #list(): void {
    const shown = [this.#view.metric, ...this.lanes.map(({ chart }) => chart.metric)];
    const others = this.#encodes.ordered.filter((name) => !shown.includes(name));
    this.element.hidden = others.length + this.lanes.length === 0;
    render(
      ['', ...others].map(
        (name) => html`<option value=${name}>${name === '' ? words.add : labelOf(name)}</option>`,
      ),
      this.#select,
    );
    this.#select.value = '';
    this.#select.hidden = others.length === 0;
  }

  #add(metric: string): void {
    if (metric === '') return;
    const now = h('span', { class: 'lane-now' });
    const label = words.remove(labelOf(metric));
    const close = button({ 'aria-label': label, onclick: () => this.#remove(lane) }, '✕');
    const plot = h('div', { class: 'plot lane', role: 'img', 'aria-label': labelOf(metric) });
    const chart = new FrameChart(plot, this.#view, 'lane', metric, inTurn);
    const menu = chartMenu(frameFile(chart, labelOf(metric)));
    const element = h('div', {}, h('h3', { class: 'lane-head' }, labelOf(metric), now, menu, close), plot);
    const lane: MetricLane = { chart, element, now, stop: listen(chart) };
    this.lanes = [...this.lanes, lane];
    this.#box.append(element);
    this.#tell();
  }

  #remove(lane: MetricLane): void {
    this.#drop(lane);
    this.lanes = this.lanes.filter((other) => other !== lane);
    this.#list();
    this.#select.focus();
  }

  #drop({ chart, element, stop }: MetricLane): void {
    stop();
    chart.close();
    element.remove();
  }

  #tell(): void {
    const frame = this.#view.pointed.value;
    for (const { chart, now } of this.lanes) {
      const { metric } = chart;
      now.textContent = this.#view.visible
        .map(({ index, columns }) => {
          const value = frame === null ? this.#encodes.meanOf(index, metric) : columns.at(metric, frame);
          return value === undefined || Number.isNaN(value) ? '' : this.#encodes.valueText(metric, value);
        })
        .join('  ');
    }
  }
}

/** Statistics of the visible frames, while zoomed in. */
class SpanStatistics {
  readonly element = h('div', { class: 'lane-box span-statistics', hidden: true });
  readonly #encodes: Encodes;
  readonly #view: View;
  readonly #coded: CodedLane;
  readonly #stops: (() => void)[];
  /** Invalidates values of earlier updates. */
  #turn = 0;

  constructor(encodes: Encodes, view: View, coded: CodedLane) {
    this.#encodes = encodes;
    this.#view = view;
    this.#coded = coded;
    coded.onRead = () => this.update();
    this.#stops = [
      ...[view.rest, view.shown, view.chosen].map((cell) => cell.watch(() => this.update())),
      // Reserve room at once, so that nothing moves later.
      view.zoom.watch((zoom) => (zoom === null) !== this.element.hidden && this.update()),
    ];
  }

  close(): void {
    this.#turn++;
    for (const stop of this.#stops) stop();
  }

  /** Computes one encode at a time, as percentiles sort all frames; the old table stays until all are done. */
  update(): void {
    const turn = ++this.#turn;
    const { zoom, metric, visible, moving } = this.#view;
    const span = zoom.value && ([Math.ceil(zoom.value[0]), Math.floor(zoom.value[1])] as const);
    const appears = this.element.hidden;
    this.element.hidden = span === null || metric === undefined;
    if (span === null || metric === undefined) return;
    if (appears) this.#show(metric, span, []);
    if (moving) return;
    const values: string[][] = [];
    const inTime = (work: () => void) => inTurn(() => turn === this.#turn && work());
    for (const encode of visible) inTime(() => values.push(this.#values(encode, metric, span)));
    inTime(() => this.#show(metric, span, values));
  }

  /** @param values per visible encode; empty until computed */
  #show(metric: string, [from, to]: readonly [number, number], values: readonly string[][]): void {
    const names = Object.values(words.statistics);
    const head = [labelOf(metric), ...names];
    const open = (index: number) =>
      html`<button type="button" class="tool" @click=${() => this.#view.open(index, this.#view.worstWithin(index) ?? from)}>${words.open}</button>`;
    const rows = this.#view.visible.map(
      ({ index, name }, row) =>
        html`<tr .style=${colourOf(index)}><th scope="row">${name}</th>${names.map((label, i) => html`<td data-label=${label}>${values[row]?.[i] ?? '\u00a0'}</td>`)}<td>${this.#view.canOpen(index) ? open(index) : ''}</td></tr>`,
    );
    render(
      html`<h3 class="lane-head">${words.span(this.#encodes.said(from), this.#encodes.said(to))}</h3><table><thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}<td></td></tr></thead><tbody>${rows}</tbody></table>`,
      this.element,
    );
  }

  #values(encode: Encode, metric: string, [from, to]: readonly [number, number]): string[] {
    const { columns } = encode;
    const found = columns.statistics(metric, [from, to]);
    const value = (number: number | undefined) =>
      number === undefined ? '' : this.#encodes.valueText(metric, number);
    const coded = this.#coded.of(encode);
    const rate = coded?.rate(coded.nearest(from - columns.shift), coded.nearest(to - columns.shift));
    return [
      String(found?.count ?? 0),
      value(found?.mean),
      value(found?.harmonic_mean),
      value(found?.min),
      value(found?.percentile(this.#encodes.isWorseHigh(metric) ? 95 : 5)),
      rate === undefined || Number.isNaN(rate) ? '–' : (bitrateText(rate) ?? '–'),
    ];
  }
}
