/**
 * @module web/results/plot
 * One chart over the frames, drawn by uPlot: decimated to its width, zoomed with all others, with a readout of its own
 * because what is pointed at are frames, not columns.
 */
import { colourOf, extentOf, frameTicks, labelOf, pinchFactor, ticks, valueRange } from 'anyvmaf/view';
import uPlot from 'uplot';
import { h } from '../dom.js';
import { inTurn } from '../schedule.js';
import { onTheme } from '../theme.js';
import { type Aligned, decimate } from './decimate.js';
import type { Encodes } from './encodes.js';
import { html, render } from './templates.js';
import type { View } from './view.js';

/** `large`: axes, readout, gestures. `small`: a curve. `map`: all frames, whatever the others show. */
export type PlotKind = 'large' | 'small' | 'map';

/** Milliseconds without a change after which charts out of sight are drawn too: for who scrolls fast, or saves a picture. */
const REST = 400;

/** A colour of the page. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export class Plot {
  readonly element: HTMLElement;
  metric: string;
  readonly #kind: PlotKind;
  readonly #encodes: Encodes;
  readonly #view: View;
  readonly #marks = h('div', { class: 'marks', 'aria-hidden': 'true' });
  readonly #tip = h('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' });
  #chart: uPlot | undefined;
  /** Of the element: asked for when it changes, for asking while it is being changed would lay the page out. */
  #room: readonly [width: number, height: number] = [0, 0];
  #size: readonly [width: number, height: number] = [0, 0];
  /** For the drawing that comes next. */
  #prepared: Aligned | undefined;
  #dark: string | undefined;
  #seen = false;
  #closed = false;
  #stale = true;
  #resting: ReturnType<typeof setTimeout> | undefined;
  readonly #sight: IntersectionObserver;
  readonly #resize: ResizeObserver;
  readonly #stop: (() => void)[] = [];

  constructor(encodes: Encodes, view: View, metric: string, kind: PlotKind) {
    this.#encodes = encodes;
    this.#view = view;
    this.#kind = kind;
    this.metric = metric;
    this.element = h('div', { class: `plot ${kind}` }, this.#tip);
    this.#sight = new IntersectionObserver(
      (entries) => {
        this.#seen = entries.at(-1)?.isIntersecting ?? false;
        if (this.#seen && this.#stale) inTurn(() => this.#late());
      },
      { rootMargin: '150px' },
    );
    this.#sight.observe(this.element);
    this.#resize = new ResizeObserver(() => {
      this.#room = [this.element.clientWidth, this.element.clientHeight];
      if (this.#stale && this.#seen) this.#draw();
      else this.update();
    });
    this.#resize.observe(this.element);
    this.#stop.push(
      view.zoom.watch(() => this.update()),
      view.shown.watch(() => this.update()),
      view.pointed.watch(() => this.#point()),
      onTheme(() => this.update()),
    );
    if (kind === 'large') this.#listen();
    if (kind === 'map') this.#listenMap();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#resting);
    this.#sight.disconnect();
    this.#resize.disconnect();
    for (const stop of this.#stop) stop();
    this.#chart?.destroy();
  }

  /** Draws what there is of a metric now. */
  show(metric: string): void {
    this.metric = metric;
    this.update();
  }

  /** Draws again before the screen is next drawn; out of sight once it comes into it, or when all has come to rest. */
  update(): void {
    const waits = this.#stale;
    this.#stale = true;
    this.#prepared = undefined;
    if (!this.#seen) {
      clearTimeout(this.#resting);
      if (!this.#encodes.coming) this.#resting = setTimeout(() => inTurn(() => this.#late()), REST);
      return;
    }
    if (waits) return;
    // The large chart follows the pointer; the others come one by one, and so does all that grows.
    if (this.#kind === 'large' && !this.#encodes.coming) requestAnimationFrame(() => this.#draw());
    else inTurn(() => this.#draw());
  }

  /** Draws at once, wherever it is and as wide as it is now. */
  complete(): void {
    this.#room = [this.element.clientWidth, this.element.clientHeight];
    this.#prepared = undefined;
    this.#draw(true);
  }

  #late(): void {
    if (this.#stale) this.#draw();
  }

  get #span(): readonly [number, number] {
    return this.#kind === 'map' ? this.#encodes.span : this.#view.span;
  }

  /** @param whole in one go */
  #draw(whole = false): void {
    const [width, height] = this.#room;
    if (width === 0 || height === 0 || this.#closed) return;
    this.#stale = false;
    // Colours are read once per drawing.
    const dark = colour('--bg');
    if (dark !== this.#dark) {
      this.#chart?.destroy();
      this.#chart = undefined;
      this.#dark = dark;
    }
    // The first time takes longest: it is three pieces of work, an empty chart, what is to be in it, and putting it there.
    const first = !this.#chart && !whole;
    const data: Aligned = first
      ? [[], ...this.#encodes.list.map(() => [])]
      : (this.#prepared ?? this.#data(width));
    this.#prepared = undefined;
    if (!this.#chart) {
      this.#chart = new uPlot(this.#options(width, height), data, this.element);
      this.#size = [width, height];
      this.#chart.over.append(this.#marks);
    } else {
      if (width !== this.#size[0] || height !== this.#size[1]) this.#chart.setSize({ width, height });
      this.#size = [width, height];
      const { shown } = this.#view;
      this.#encodes.list.forEach(({ index }) => {
        const show = shown.value[index] ?? true;
        if (this.#chart?.series[index + 1]?.show !== show) this.#chart?.setSeries(index + 1, { show });
      });
      this.#chart.setData(data, true);
    }
    if (first) {
      this.#stale = true;
      inTurn(() => {
        this.#prepared = this.#data(width);
        inTurn(() => this.#late());
      });
      return;
    }
    // Up to where it is drawn.
    this.element.dataset.last = String(Math.max(0, ...this.#encodes.list.map(({ columns }) => columns.last)));
    this.#point();
  }

  #data(width: number): Aligned {
    const [from, to] = this.#span;
    const { shown } = this.#view;
    const lines = this.#encodes.list.map(({ columns, index }) => {
      const values = shown.value[index] ? columns.values(this.metric) : undefined;
      return values && { columns, values };
    });
    const inner = this.#kind === 'large' ? width - 50 : width;
    return decimate(lines, from, to, Math.round(inner * Math.min(2, devicePixelRatio)));
  }

  /** All values of the encodes on show, with some air. */
  #range(): [number, number] {
    const shown = this.#encodes.list.filter(({ index }) => this.#view.shown.value[index]);
    const extent = extentOf(shown.map(({ columns }) => columns.extent(this.metric) ?? []));
    const score = this.#encodes.isScore(this.metric);
    // What nobody sees shall not fill the chart: two points of a score, a thousandth of anything else.
    const least = score ? 2 : Math.max(Math.abs(extent?.high ?? 0) / 1000, 1e-6);
    return valueRange(extent, least, score && this.#kind === 'large');
  }

  #options(width: number, height: number): uPlot.Options {
    const large = this.#kind === 'large';
    const font = '12px ui-sans-serif, system-ui, sans-serif';
    const axis = { font, stroke: colour('--faint'), show: large };
    const grid = { stroke: colour('--grid'), width: 1 };
    return {
      width,
      height,
      pxAlign: false,
      legend: { show: false },
      padding: large ? [10, 18, 0, 0] : [3, 0, 3, 0],
      cursor: {
        x: false,
        y: false,
        points: { show: false },
        drag: { x: large, y: false, setScale: false, dist: 5 },
        show: large,
        bind: {
          dblclick: () => () => {
            this.#view.zoom.value = null;
            return null;
          },
        },
      },
      scales: {
        x: { time: false, range: () => [this.#span[0], this.#span[1]] },
        y: { range: () => this.#range() },
      },
      axes: [
        {
          ...axis,
          size: 28,
          gap: 6,
          grid: { show: false },
          ticks: { stroke: colour('--line'), size: 4, width: 1 },
          splits: (chart) => this.#ticks(chart).map(({ frame }) => frame),
          values: (chart) => this.#ticks(chart).map(({ label }) => label),
        },
        {
          ...axis,
          size: 42,
          gap: 6,
          grid,
          ticks: { show: false },
          splits: (chart, _, low, high) =>
            ticks(low, high, Math.max(2, chart.bbox.height / devicePixelRatio / 40)),
          values: (_, splits) => splits.map((value) => String(value)),
        },
      ],
      series: [
        {},
        ...this.#encodes.list.map(({ index, name }): uPlot.Series => {
          const stroke = colour(`--s${index % 8}`);
          return {
            label: name,
            stroke,
            width: large ? 1.6 : 1.2,
            show: this.#view.shown.value[index] ?? true,
            alpha: this.#kind === 'map' ? 0.75 : 1,
            points: {
              show: (chart) => large && chart.data[0].length < chart.bbox.width / devicePixelRatio / 7,
              size: 5,
              fill: stroke,
              width: 0,
            },
          };
        }),
      ],
      hooks: {
        setSelect: [
          (chart) => {
            const { left, width: wide } = chart.select;
            if (wide < 4) return;
            const [from, to] = [chart.posToVal(left, 'x'), chart.posToVal(left + wide, 'x')];
            chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            this.#view.zoomTo(from, to);
          },
        ],
      },
    };
  }

  #ticks({ bbox }: uPlot) {
    const { rate, origin } = this.#encodes;
    return frameTicks(this.#span, Math.max(2, bbox.width / devicePixelRatio / 90), rate, origin);
  }

  // --- what is pointed at ---

  /** The line, the dots and the readout; the canvas stays as it is. */
  #point(): void {
    const chart = this.#chart;
    if (!chart) return;
    const frame = this.#view.pointed.value;
    const [from, to] = this.#span;
    const marks: HTMLElement[] = [];
    if (this.#kind === 'map') {
      const [left, right] = this.#view.span.map((value) => chart.valToPos(value, 'x'));
      if (this.#view.zoom.value && left !== undefined && right !== undefined)
        marks.push(h('i', { class: 'window', style: `left:${left}px;width:${Math.max(3, right - left)}px` }));
    } else if (frame !== null && frame >= from && frame <= to) {
      const x = chart.valToPos(frame, 'x');
      marks.push(h('i', { class: 'at', style: `left:${x}px` }));
      for (const { columns, index } of this.#encodes.list) {
        const value = this.#view.shown.value[index] ? columns.at(this.metric, frame) : Number.NaN;
        if (!Number.isFinite(value)) continue;
        const y = chart.valToPos(value, 'y');
        marks.push(h('i', { class: 'dot', style: `left:${x}px;top:${y}px;${colourOf(index)}` }));
      }
    }
    this.#marks.replaceChildren(...marks);
    if (this.#kind === 'large') this.#showTip(chart, frame);
  }

  #showTip(chart: uPlot, frame: number | null): void {
    const [from, to] = this.#span;
    this.#tip.hidden = frame === null || frame < from || frame > to;
    if (frame === null || this.#tip.hidden) return;
    const several = this.#encodes.list.length > 1;
    const rows = this.#encodes.list.map(({ columns, index, name }) => {
      if (!this.#view.shown.value[index]) return '';
      const value = this.#encodes.valueText(this.metric, columns.at(this.metric, frame));
      const current = several && index === this.#view.lead.value ? 'current' : '';
      return html`<div class="${current}"><span class="swatch" .style=${colourOf(index)}></span><span>${several ? name : labelOf(this.metric)}</span><b>${value}</b></div>`;
    });
    render(html`<div class="soft">${this.#encodes.said(frame)}</div>${rows}`, this.#tip);
    const x = chart.valToPos(frame, 'x') + chart.bbox.left / devicePixelRatio;
    const beyond = x + 18 + this.#tip.offsetWidth > this.element.clientWidth;
    this.#tip.style.left = `${Math.max(0, beyond ? x - 14 - this.#tip.offsetWidth : x + 14)}px`;
  }

  /** Frames position under the pointer. */
  #positionOf(event: MouseEvent): number | undefined {
    const chart = this.#chart;
    if (!chart) return undefined;
    const { left } = chart.over.getBoundingClientRect();
    return chart.posToVal(event.clientX - left, 'x');
  }

  #listen(): void {
    const { element } = this;
    const touches = new Map<number, number>();
    let pressed: readonly [x: number, y: number] | undefined;
    element.addEventListener('pointerdown', (event) => {
      pressed = [event.clientX, event.clientY];
      if (event.pointerType !== 'mouse') touches.set(event.pointerId, event.clientX);
    });
    element.addEventListener('pointermove', (event) => {
      const before = touches.get(event.pointerId);
      if (before !== undefined) {
        if (touches.size === 2) this.#pinch(touches, event);
        touches.set(event.pointerId, event.clientX);
        if (touches.size === 2) return;
      }
      const position = this.#positionOf(event);
      if (position !== undefined) this.#view.pointed.value = this.#view.nearest(position) ?? null;
    });
    const leave = (event: PointerEvent) => {
      touches.delete(event.pointerId);
      if (
        event.type === 'pointerleave' &&
        event.pointerType === 'mouse' &&
        !element.matches(':focus-visible')
      )
        this.#view.pointed.value = null;
    };
    for (const name of ['pointerup', 'pointercancel', 'pointerleave'] as const)
      element.addEventListener(name, leave);
    element.addEventListener('click', (event) => {
      const [x, y] = pressed ?? [event.clientX, event.clientY];
      // The end of a drag is no click.
      if (Math.abs(event.clientX - x) > 4 || event.detail > 1) return;
      const position = this.#positionOf(event);
      const frame = position === undefined ? undefined : this.#view.nearest(position);
      if (frame !== undefined) this.#view.open(this.#encodeAt(frame, y), frame);
    });
    // A page that is being scrolled past the chart goes on scrolling.
    window.addEventListener('wheel', this.#scrolled, { passive: true });
    this.#stop.push(() => window.removeEventListener('wheel', this.#scrolled));
    element.addEventListener(
      'wheel',
      (event) => {
        const now = performance.now();
        if (now - this.#lastScroll < 300 && !event.ctrlKey) {
          this.#lastScroll = now;
          return;
        }
        const [from, to] = this.#view.span;
        const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
        if (!this.#view.zoom.value && (sideways || event.deltaY > 0)) return;
        event.preventDefault();
        if (sideways) {
          const shift = (event.deltaX / element.clientWidth) * (to - from);
          this.#view.zoomTo(from + shift, to + shift);
        } else
          this.#view.zoomBy(
            2 ** (Math.sign(event.deltaY) * Math.min(1, Math.abs(event.deltaY) / 120)),
            this.#positionOf(event),
          );
      },
      { passive: false },
    );
  }

  #lastScroll = 0;
  readonly #scrolled = (event: WheelEvent): void => {
    if (!(event.target instanceof Node && this.element.contains(event.target)))
      this.#lastScroll = performance.now();
  };

  #pinch(touches: ReadonlyMap<number, number>, event: PointerEvent): void {
    const before = [...touches.values()];
    const after = [...touches].map(([id, x]) => (id === event.pointerId ? event.clientX : x));
    const left = this.#chart?.over.getBoundingClientRect().left ?? 0;
    const middle = ((after[0] ?? 0) + (after[1] ?? 0)) / 2 - left;
    this.#view.zoomBy(pinchFactor(before, after), this.#chart?.posToVal(middle, 'x'));
  }

  /** The encode whose line is nearest to the pointer. */
  #encodeAt(frame: number, clientY: number): number {
    const chart = this.#chart;
    if (!chart) return 0;
    const y = clientY - chart.over.getBoundingClientRect().top;
    let [best, distance] = [this.#view.lead.value, Number.POSITIVE_INFINITY];
    for (const { columns, index } of this.#encodes.list) {
      const value = this.#view.shown.value[index] ? columns.at(this.metric, frame) : Number.NaN;
      const away = Math.abs(chart.valToPos(value, 'y') - y);
      if (away < distance) [best, distance] = [index, away];
    }
    return best;
  }

  /** The window over the map is dragged; elsewhere it comes to the pointer. */
  #listenMap(): void {
    const { element } = this;
    let grip: number | undefined;
    element.addEventListener('pointerdown', (event) => {
      const at = this.#positionOf(event);
      if (event.button !== 0 || at === undefined || !this.#view.zoom.value) return;
      const [from, to] = this.#view.span;
      grip = at >= from && at <= to ? at - from : (to - from) / 2;
      this.#view.zoomTo(at - grip, at - grip + to - from);
      element.setPointerCapture(event.pointerId);
    });
    element.addEventListener('pointermove', (event) => {
      const at = this.#positionOf(event);
      if (grip === undefined || at === undefined) return;
      const [from, to] = this.#view.span;
      this.#view.zoomTo(at - grip, at - grip + to - from);
    });
    const end = () => {
      grip = undefined;
    };
    element.addEventListener('pointerup', end);
    element.addEventListener('pointercancel', end);
  }
}
