/**
 * @module report/view/chart
 * One frame chart, on the page and in the HTML report: thinned to its width, zoomed with all others, with a readout.
 */
import {
  type Colours,
  drawAxes,
  drawLine,
  drawMean,
  drawMoment,
  drawShots,
  type Pen,
  penOf,
  Scale,
} from './chart-drawing.js';
import { type ChartState, type FrameEncodes, valueAt } from './chart-state.js';
import { colourOf, labelOf } from './numbers.js';
import { extentOf, frameTicks, type Span, valueRange } from './scales.js';

/** `large`: axes and a readout. `lane`: aligned below a large one. `small`: a curve. `map`: always all frames. */
export type ChartKind = 'large' | 'lane' | 'small' | 'map';

/** Draws a lane that has no metric. `rough` trades subpixel precision for speed. */
export type LanePainter = (pen: Pen, scale: Scale, colour: Colours, rough: boolean) => void;

/** Pixels around the plot area: above, right, below, left. */
const LARGE = [8, 4, 26, 40] as const;
const LANE = [6, 4, 4, 40] as const;
const BARE = [4, 0, 4, 0] as const;

/** Means are drawn for at most this many encodes. */
const MEANS = 3;

/** Lines drawn finely at once: without a graphics card, 16 would block the page for 50 ms. */
const FINE = 4;

/** Milliseconds without a change after which charts out of view are drawn too, for fast scrolling and screenshots. */
const REST = 400;

/** Colour of an encode: set by its page, or else by its number. */
function hueOf(index: number, colour: Colours): string {
  return colour(`--e${index}`) || colour(`--s${index % 16}`);
}

function dashOf(index: number, colour: Colours): number[] {
  return colour(`--d${index}`).split(' ').map(Number).filter(Boolean);
}

export class FrameChart {
  /** Scale of the last drawing. */
  scale = new Scale(1, 1, [0, 1], [0, 1]);
  #canvas: HTMLCanvasElement;
  readonly #marks: HTMLElement;
  readonly #tip: HTMLElement;
  /** Encodes in the readout's rows. */
  #listed = '';
  /** Size of the element, read when it changes: reading it while the element is modified would force a layout. */
  #room: readonly [width: number, height: number] = [0, 0];
  #selection: Span | undefined;
  #seen = false;
  #closed = false;
  #stale = true;
  #rough = false;
  /** The fine drawing in progress, which will replace the rough one. */
  #fine: Generator | undefined;
  #resting: ReturnType<typeof setTimeout> | undefined;
  readonly #stop: (() => void)[];

  /**
   * @param soon runs pieces of work one after the other
   * @param paint draws a lane that has no metric
   */
  constructor(
    readonly element: HTMLElement,
    readonly state: ChartState,
    readonly kind: ChartKind,
    public metric: string,
    readonly soon: (work: () => void) => void,
    readonly paint?: LanePainter,
  ) {
    this.#canvas = element.ownerDocument.createElement('canvas');
    this.#marks = this.#make('div', 'marks');
    this.#marks.style.inset = this.#insets.map((pixels) => `${pixels}px`).join(' ');
    this.#tip = this.#make('div', 'tip');
    for (const hidden of [this.#marks, this.#tip]) hidden.setAttribute('aria-hidden', 'true');
    element.append(this.#canvas, this.#marks);
    const sight = new IntersectionObserver(
      (entries) => {
        this.#seen = entries.at(-1)?.isIntersecting ?? false;
        if (this.#seen && this.#stale) this.#schedule();
      },
      { rootMargin: '150px' },
    );
    sight.observe(element);
    const resize = new ResizeObserver(() => {
      this.#measure();
      if (this.#stale && this.#seen) this.#draw();
      else this.update();
    });
    resize.observe(element);
    const theme = new MutationObserver(() => this.update());
    theme.observe(element.ownerDocument.documentElement, { attributeFilter: ['data-theme'] });
    this.#stop = [
      () => {
        for (const observer of [sight, resize, theme]) observer.disconnect();
      },
      // The map only moves its window.
      state.zoom.watch(() => (kind === 'map' ? this.#point() : this.update())),
      state.rest.watch(() => this.#rough && this.#refine()),
      state.shown.watch(() => this.update()),
      state.lit.watch(() => this.update()),
      // Out of view, it is drawn together with the marks once it comes into view.
      state.pointed.watch(() => {
        if (this.#seen) this.#point();
        else this.#stale = true;
      }),
      ...(kind === 'large'
        ? [state.moments, state.shots].map((cell) => cell.watch(() => this.update()))
        : []),
    ];
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#resting);
    for (const stop of this.#stop) stop();
  }

  show(metric: string): void {
    this.metric = metric;
    this.update();
  }

  /** Redraws before the next paint; out of view, when scrolled into view or at rest. */
  update(): void {
    const scheduled = this.#stale;
    this.#stale = true;
    if (this.#seen) {
      if (!scheduled) this.#schedule();
      return;
    }
    clearTimeout(this.#resting);
    if (!this.state.encodes.coming) this.#resting = setTimeout(() => this.soon(() => this.#late()), REST);
  }

  #schedule(): void {
    const { moving, encodes } = this.state;
    const late = () => this.#late();
    // While the shown part moves, all charts follow it, the large one without delay.
    if (moving && this.kind === 'large') requestAnimationFrame(late);
    else if (moving || encodes.coming) this.soon(late);
    else this.state.eachFrame(late);
  }

  /** Draws at once at the current size, in view or not. */
  complete(): void {
    this.#measure();
    this.#draw(false);
  }

  /** Frames being selected; `undefined` once that is over. */
  set selection(span: Span | undefined) {
    this.#selection = span;
    this.#point();
  }

  get selection(): Span | undefined {
    return this.#selection;
  }

  /** Position on the frame axis at `clientX`, by the chart's current place; a change is drawn later. */
  frameAt(clientX: number): number {
    const { left, width } = this.#marks.getBoundingClientRect();
    return this.scale.frameAt(((clientX - left) / width) * this.scale.width);
  }

  /** The encode whose line is nearest to `clientY`. */
  encodeAt(frame: number, clientY: number): number {
    const y = clientY - this.#marks.getBoundingClientRect().top;
    const away = (encode: FrameEncodes['list'][number]) =>
      Math.abs(this.scale.y(valueAt(encode, this.metric, frame)) - y);
    let [best, distance] = [this.state.lead.value, Number.POSITIVE_INFINITY];
    for (const encode of this.state.visible)
      if (away(encode) < distance) [best, distance] = [encode.index, away(encode)];
    return best;
  }

  get #insets() {
    return this.kind === 'large' ? LARGE : this.kind === 'lane' ? LANE : BARE;
  }

  get #span(): Span {
    return this.kind === 'map' ? this.state.encodes.span : this.state.span;
  }

  #measure(): void {
    this.#room = [this.element.clientWidth, this.element.clientHeight];
  }

  #late(): void {
    if (this.#stale) this.#draw();
  }

  #draw(rough = this.state.moving || this.state.visible.length > FINE): void {
    const [width, height] = this.#room;
    if (width === 0 || height === 0 || this.#closed) return;
    this.#stale = false;
    this.#rough = rough;
    this.#fine = undefined;
    const pen = penOf(this.#canvas, width, height);
    if (!pen) return;
    for (const _ of this.#drawing(pen, this.#room, rough));
    const last = Math.max(0, ...this.state.encodes.list.map(({ columns }) => columns.numbers.at(-1) ?? 0));
    if (!this.paint) this.element.dataset.last = String(last);
    this.#point();
    if (rough) this.#refine();
  }

  /** At rest, draws finely on a hidden canvas, a few lines per animation frame, and swaps it in when complete. */
  #refine(): void {
    if (this.state.moving || this.state.encodes.coming) return;
    const canvas = this.element.ownerDocument.createElement('canvas');
    const pen = penOf(canvas, ...this.#room);
    if (!pen) return;
    const drawing = this.#drawing(pen, this.#room, false);
    this.#fine = drawing;
    const next = () => {
      if (this.#stale || this.#closed || this.#fine !== drawing) return;
      for (let i = 0; i < FINE; i++) {
        if (!drawing.next().done) continue;
        this.#canvas.replaceWith(canvas);
        this.#canvas = canvas;
        this.#rough = false;
        return;
      }
      this.state.eachFrame(next);
    };
    this.state.eachFrame(next);
  }

  /** Draws everything but the marks, in the element's current colours. */
  drawOn(pen: Pen, room: readonly [width: number, height: number]): void {
    for (const _ of this.#drawing(pen, room, false));
  }

  /** Draws line by line. `rough` as for {@link drawLine}. */
  *#drawing(pen: Pen, [width, height]: readonly [width: number, height: number], rough: boolean) {
    const { encodes, visible } = this.state;
    const [top, right, bottom, left] = this.#insets;
    const scale = new Scale(width - left - right, height - top - bottom, this.#span, this.#range());
    this.scale = scale;
    const style = getComputedStyle(this.element);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const large = this.kind === 'large';
    pen.translate(left, top);
    if (this.paint) {
      this.paint(pen, scale, colour, rough);
      return;
    }
    // No axes before there is a frame.
    if (top + left > 4 && encodes.list.some(({ columns }) => columns.numbers.length > 0)) {
      const room = Math.max(2, scale.width / 90);
      drawAxes(pen, scale, large ? frameTicks(scale.span, room, encodes.rate, encodes.origin) : [], colour);
      if (large) drawShots(pen, scale, this.state.shots.value, colour('--edge'));
    }
    pen.save();
    pen.beginPath();
    pen.rect(-1, -top, scale.width + 2, scale.height + top + 2);
    pen.clip();
    pen.lineWidth = large ? 1.6 : 1.2;
    const lit = this.state.lit.value;
    let drawn: ReturnType<typeof drawLine> = { x: [], y: [] };
    // The highlighted line lies on top.
    for (const { columns, index } of visible.toSorted(
      (a, b) => Number(a.index === lit) - Number(b.index === lit),
    )) {
      const values = columns.values(this.metric);
      pen.globalAlpha = lit !== null && lit !== index ? 0.2 : this.kind === 'map' ? 0.75 : 1;
      pen.strokeStyle = pen.fillStyle = hueOf(index, colour);
      pen.setLineDash(dashOf(index, colour));
      if (values) drawn = drawLine(pen, scale, { frames: columns.numbers, values }, large, rough);
      yield;
    }
    pen.setLineDash([]);
    if (large) this.#drawMoments(pen, colour, drawn);
    pen.restore();
  }

  /** Means of few encodes, and markers. `drawn` is the last line. */
  #drawMoments(pen: Pen, colour: Colours, drawn: ReturnType<typeof drawLine>): void {
    const { encodes, visible, moments, lit } = this.state;
    const { scale, metric } = this;
    const fade = (index: number) => (lit.value !== null && lit.value !== index ? 0.2 : 1);
    for (const { index } of visible.length <= MEANS ? visible : []) {
      const mean = encodes.meanOf(index, metric);
      if (mean === undefined) continue;
      const named = visible.length === 1;
      const label = named ? `mean ${encodes.valueText(metric, mean)}` : '';
      const points = named ? drawn.y.map((y, i) => ({ x: scale.x(drawn.x[i] ?? 0), y: scale.y(y) })) : [];
      pen.globalAlpha = fade(index);
      drawMean(pen, scale, mean, hueOf(index, colour), colour('--card'), label, points);
    }
    for (const { encode, frame } of moments.value) {
      const shown = visible.find(({ index }) => index === encode);
      const [x, y] = [scale.x(frame), shown ? scale.y(valueAt(shown, metric, frame)) : Number.NaN];
      if (Number.isNaN(y) || x < -1 || x > scale.width + 1) continue;
      pen.globalAlpha = fade(encode);
      pen.fillStyle = hueOf(encode, colour);
      drawMoment(pen, x, y, colour('--card'));
    }
  }

  /** Range of all values of the shown encodes, with a margin. */
  #range(): Span {
    const { encodes, visible } = this.state;
    const extent = extentOf(visible.map(({ columns }) => columns.extent(this.metric) ?? []));
    const score = encodes.isScore(this.metric);
    // Invisible differences must not fill the chart: two points of a score, a thousandth of anything else.
    const least = score ? 2 : Math.max(Math.abs(extent?.high ?? 0) / 1000, 1e-6);
    return valueRange(extent, least, score && this.kind === 'large');
  }

  #make(tag: 'div' | 'span' | 'b' | 'i', name: string, style = '', text = ''): HTMLElement {
    const element = this.element.ownerDocument.createElement(tag);
    element.className = name;
    // Not as an attribute, which a strict content security policy blocks.
    element.style.cssText = style;
    element.textContent = text;
    return element;
  }

  /** A span of frames, at least 3 pixels wide. */
  #part(name: string, [from, to]: Span): HTMLElement {
    const left = this.scale.x(from);
    return this.#make('i', name, `left:${left}px;width:${Math.max(3, this.scale.x(to) - left)}px`);
  }

  /** Updates line, dots and readout without the canvas. */
  #point(): void {
    const { pointed, zoom, visible } = this.state;
    const frame = pointed.value;
    const [from, to] = this.#span;
    const marks: HTMLElement[] = [];
    const shown = this.kind !== 'map' && frame !== null && frame >= from && frame <= to;
    if (this.kind === 'map' && zoom.value) marks.push(this.#part('window', zoom.value));
    if (this.#selection) marks.push(this.#part('select', this.#selection));
    if (shown) {
      const x = this.scale.x(frame);
      marks.push(this.#make('i', 'at', `left:${x}px`));
      for (const encode of visible) {
        const y = this.scale.y(valueAt(encode, this.metric, frame));
        if (Number.isFinite(y))
          marks.push(this.#make('i', 'dot', `left:${x}px;top:${y}px;${colourOf(encode.index)}`));
      }
    }
    this.#marks.replaceChildren(...marks);
    const { over } = this.state;
    if (shown && (over ? over === this.element : this.kind === 'large')) this.#showTip(frame);
    else this.#tip.remove();
  }

  #showTip(frame: number): void {
    const { encodes, visible, lead } = this.state;
    const several = encodes.list.length > 1;
    const names = visible.map(({ index, name }) => [index, several ? name : labelOf(this.metric)] as const);
    // Rows stay while they show the same encodes.
    const listed = JSON.stringify(names);
    if (listed !== this.#listed) {
      this.#listed = listed;
      const rows = names.map(([index, name]) => {
        const row = this.#make('div', '');
        const swatch = this.#make('span', 'swatch', colourOf(index));
        row.append(swatch, this.#make('span', '', '', name), this.#make('b', ''));
        return row;
      });
      this.#tip.replaceChildren(this.#make('div', 'soft'), ...rows);
    }
    const [head, ...rows] = this.#tip.children;
    if (head) head.textContent = encodes.said(frame);
    for (const [i, row] of rows.entries()) {
      const encode = visible[i];
      if (!encode || !row.lastChild) continue;
      row.className = several && encode.index === lead.value ? 'current' : '';
      row.lastChild.textContent = encodes.valueText(this.metric, valueAt(encode, this.metric, frame));
    }
    if (!this.#tip.isConnected) this.element.append(this.#tip);
    const x = this.scale.x(frame) + this.#insets[3];
    const wide = this.#tip.offsetWidth;
    const left = x + 18 + wide > this.#room[0] ? x - 14 - wide : x + 14;
    this.#tip.style.left = `${Math.max(0, left)}px`;
  }
}
