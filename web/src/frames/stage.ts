/**
 * @module web/frames/stage
 * The pictures: canvases with one pixel per sample, panned and zoomed together by the compositor.
 */
import { h } from '../dom.js';
import { html, made } from '../templates.js';
import { text } from '../text.js';
import type { Drawable, ShownPair } from './draw.js';
import {
  bounded,
  fitted,
  isSharp,
  nextZoom,
  originOf,
  type Point,
  type Size,
  type View,
  zoomedAt,
} from './transform.js';

const words = text.frames;

export const MODES = ['side', 'split', 'flicker', 'difference', 'map', 'grid'] as const;
export type Mode = (typeof MODES)[number];

export type Role = 'reference' | 'distorted';

interface Look {
  readonly names: Readonly<Record<Role, string>>;
  readonly scores: Readonly<Record<Role, string>>;
  /** The picture that flicker shows. */
  readonly shown: Role;
  /** The picture under the map. */
  readonly base: Role;
}

export interface StageListener {
  moved(zoom: number, fits: boolean): void;
  /** `null` once the pointer leaves. */
  hovered(at: Point | null): void;
}

/** A part of the pictures, in samples. */
export type Part = Size & Point;

/** Panning step of a key, in screen pixels. */
const PAN = 80;
/** Assumed shape until there is a picture. */
const USUAL: Size = { width: 16, height: 9 };
/** Zoom per wheel pixel, exponential. */
const WHEEL = 0.0016;

const FURTHER = ['third', 'fourth'] as const;

class Layer {
  readonly canvas = h('canvas', { 'aria-hidden': 'true' });
  readonly element: HTMLDivElement;

  constructor(name: string) {
    this.element = h('div', { class: `frames-layer frames-${name}` }, this.canvas);
  }

  draw(picture: Drawable | ImageData, { width, height }: Size): void {
    const { canvas } = this;
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const context = canvas.getContext('2d');
    if (picture instanceof ImageData) context?.putImageData(picture, 0, 0);
    else context?.drawImage(picture, 0, 0);
  }

  clear(): void {
    this.canvas.width = 0;
  }
}

/** An additional pane of the grid; its user sets the label. */
export class Pane {
  readonly layer: Layer;
  readonly label = h('div', { class: 'frames-label' });
  readonly element: HTMLDivElement;
  isUsed = false;

  constructor(name: string) {
    this.layer = new Layer(name);
    this.element = h('div', { class: 'frames-pane' }, this.layer.element, this.label);
  }
}

export class Stage {
  readonly element: HTMLElement;
  readonly divider: HTMLElement;
  readonly #listener: StageListener;
  readonly #reference = new Layer('reference');
  readonly #distorted = new Layer('distorted');
  readonly #difference = new Layer('difference');
  readonly #map = new Layer('map');
  readonly #panes: readonly [HTMLDivElement, HTMLDivElement];
  readonly #badges = [h('span', { class: 'frames-badge' }), h('span', { class: 'frames-badge' })] as const;
  readonly further = FURTHER.map((name) => new Pane(name));
  readonly #pointers = new Map<number, Point>();
  #mode: Mode = 'side';
  /** Displayed size, in square pixels. */
  #picture: Size | undefined;
  /** Width of a sample over its height. */
  #aspect = 1;
  #look: Look = {
    names: { reference: words.reference, distorted: words.distorted },
    scores: { reference: '', distorted: '' },
    shown: 'distorted',
    base: 'distorted',
  };
  #view: View = { zoom: 1, x: 0, y: 0 };
  #fits = true;
  #split = 0.5;
  #blockSize = 16;
  #waiting = false;

  constructor(listener: StageListener) {
    this.#listener = listener;
    this.#panes = [
      h('div', { class: 'frames-pane' }, this.#reference.element, this.#badges[0]),
      h('div', { class: 'frames-pane' }, this.#distorted.element, this.#badges[1]),
    ];
    this.divider = made(
      html`<div class="frames-divider" role="slider" tabindex="0" aria-label=${words.split} aria-valuemin="0" aria-valuemax="100" @keydown=${(event: KeyboardEvent) => this.#dividerKey(event)}></div>`,
    );
    this.element = made(
      html`<div class="frames-stage" role="group" tabindex="0" aria-label=${words.stage}>${[...this.#panes, this.divider]}</div>`,
    );
    this.element.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    this.element.addEventListener('pointerdown', (event) => this.#down(event));
    this.element.addEventListener('pointermove', (event) => this.#move(event));
    for (const end of ['pointerup', 'pointercancel'] as const)
      this.element.addEventListener(end, (event) => this.#pointers.delete(event.pointerId));
    this.element.addEventListener('pointerleave', () => listener.hovered(null));
    this.element.addEventListener('dblclick', () => (this.#fits ? this.zoomTo(this.#closeUp()) : this.fit()));
    new ResizeObserver(() => {
      this.#turn();
      this.#place();
    }).observe(this.element);
    this.mode = 'side';
    this.split = 0.5;
  }

  set mode(mode: Mode) {
    this.#mode = mode;
    this.element.dataset.view = mode;
    const [first, second] = this.#panes;
    const layers = {
      side: [this.#reference],
      split: [this.#reference, this.#distorted],
      flicker: [this.#reference, this.#distorted],
      difference: [this.#difference],
      map: [this.#reference, this.#distorted, this.#map],
      grid: [this.#reference],
    }[mode];
    first.replaceChildren(...layers.map(({ element }) => element), ...this.#badges);
    second.hidden = mode !== 'side' && mode !== 'grid';
    if (!second.hidden) second.replaceChildren(this.#distorted.element, this.#badges[1]);
    this.divider.hidden = mode !== 'split';
    this.#updateLayers();
    this.#place();
  }

  get mode(): Mode {
    return this.#mode;
  }

  get look(): Look {
    return this.#look;
  }

  change(look: Partial<Look>): void {
    this.#look = { ...this.#look, ...look };
    this.#updateLayers();
  }

  /** Share of the width for the reference. */
  set split(share: number) {
    this.#split = Math.min(1, Math.max(0, share));
    const percent = Math.round(100 * this.#split);
    this.element.style.setProperty('--split', `${100 * this.#split}%`);
    this.divider.setAttribute('aria-valuenow', String(percent));
    this.divider.setAttribute('aria-valuetext', words.splitAt(percent));
  }

  get split(): number {
    return this.#split;
  }

  /** Keeps zoom and position unless the size changes. */
  show(pair: ShownPair): void {
    const width = pair.width * pair.sampleAspect;
    const changed = this.#picture?.width !== width || this.#picture.height !== pair.height;
    this.#picture = { width, height: pair.height };
    this.#aspect = pair.sampleAspect;
    this.#reference.draw(pair.reference, pair);
    this.#distorted.draw(pair.distorted, pair);
    if (changed) {
      this.#fits = true;
      this.clear();
      this.#place();
    }
  }

  /** Call after changes to {@link further}. */
  refresh(): void {
    this.#place();
  }

  showDifference(bitmap: ImageBitmap): void {
    this.#difference.draw(bitmap, bitmap);
    this.#place();
  }

  /** One pixel per square of `blockSize` samples. */
  showMap(colours: ImageData, blockSize: number): void {
    this.#map.draw(colours, colours);
    this.#blockSize = blockSize;
    this.#place();
  }

  clear(): void {
    for (const layer of [this.#difference, this.#map]) layer.clear();
  }

  empty(): void {
    this.#picture = undefined;
    this.clear();
    for (const layer of [this.#reference, this.#distorted]) layer.clear();
  }

  canvasOf(name: Role | 'difference'): HTMLCanvasElement | undefined {
    const { canvas } = {
      reference: this.#reference,
      distorted: this.#distorted,
      difference: this.#difference,
    }[name];
    return canvas.width > 0 && this.#picture ? canvas : undefined;
  }

  /** The loss map over its picture, as shown; `undefined` without one. */
  mapCanvas(cover: number): HTMLCanvasElement | undefined {
    const [base, map] = [this.canvasOf(this.#look.base), this.#map.canvas];
    if (!base || map.width === 0) return undefined;
    const canvas = h('canvas', { width: base.width, height: base.height });
    const context = canvas.getContext('2d');
    if (!context) return undefined;
    context.filter = 'grayscale(1) brightness(0.62)';
    context.drawImage(base, 0, 0);
    context.filter = 'none';
    context.globalAlpha = cover;
    context.drawImage(map, 0, 0, map.width * this.#blockSize, map.height * this.#blockSize);
    return canvas;
  }

  get fits(): boolean {
    return this.#fits;
  }

  /** The visible part; `undefined` without a picture. */
  get part(): Part | undefined {
    const picture = this.#picture;
    if (!picture) return undefined;
    const pane = this.#paneSize();
    const { zoom, x, y } = this.#view;
    const along = (middle: number, room: number, size: number, unit: number) => {
      const from = Math.max(0, Math.floor((middle - room / zoom / 2) / unit));
      const to = Math.min(Math.round(size / unit), Math.ceil((middle + room / zoom / 2) / unit));
      return [from, to - from] as const;
    };
    const [left, width] = along(x, pane.width, picture.width, this.#aspect);
    const [top, height] = along(y, pane.height, picture.height, 1);
    return { x: left, y: top, width, height };
  }

  fit(): void {
    this.#fits = true;
    this.#place();
  }

  /** Zooms around the centre. */
  zoomTo(zoom: number): void {
    this.#setView({ ...this.#view, zoom });
  }

  zoomStep(direction: 1 | -1): void {
    this.zoomTo(nextZoom(this.#view.zoom, direction));
  }

  zoomCycle(): void {
    const { zoom } = this.#view;
    this.zoomTo(zoom === 1 ? 2 : zoom === 2 ? 4 : 1);
  }

  pan(across: number, down: number): void {
    const step = PAN / this.#view.zoom;
    this.#setView({ ...this.#view, x: this.#view.x + across * step, y: this.#view.y + down * step });
  }

  #closeUp(): number {
    return Math.max(1, nextZoom(this.#view.zoom, 1));
  }

  #setView(view: View): void {
    this.#fits = false;
    this.#view = view;
    this.#place();
  }

  /** Positions all canvases at the next paint. */
  #place(): void {
    if (this.#waiting) return;
    this.#waiting = true;
    this.element.dataset.placing = '';
    requestAnimationFrame(() => {
      this.#waiting = false;
      this.#arrange();
      this.#placeNow();
      delete this.element.dataset.placing;
    });
  }

  #turn(): void {
    const box = this.element.getBoundingClientRect();
    this.element.dataset.direction = this.#direction(this.#picture ?? USUAL, box);
  }

  #placeNow(): void {
    const picture = this.#picture;
    const box = this.element.getBoundingClientRect();
    if (!picture || box.width === 0 || box.height === 0) return;
    this.#turn();
    const pane = this.#paneSize();
    this.#view = bounded(this.#fits ? fitted(picture, pane) : this.#view, picture, pane);
    const { zoom } = this.#view;
    const ratio = devicePixelRatio;
    const origin = originOf(this.#view, pane);
    const sharp = isSharp(zoom);
    const further = this.further.map(({ layer }) => layer);
    for (const layer of [this.#reference, this.#distorted, this.#difference, this.#map, ...further]) {
      const { canvas, element } = layer;
      // Panes may not be aligned to screen pixels.
      const { left, top } = element.getBoundingClientRect();
      const correction = (at: number) => Math.round(at * ratio) / ratio - at;
      const x = origin.x / ratio + correction(left);
      const y = origin.y / ratio + correction(top);
      if (canvas.width === 0) continue;
      // Encodes scored at other sizes are shown at the same size.
      const [across, down] =
        layer === this.#map
          ? [this.#blockSize * this.#aspect, this.#blockSize]
          : [picture.width / canvas.width, picture.height / canvas.height];
      const scale = zoom / ratio;
      canvas.style.transform = `translate(${x}px, ${y}px) scale(${scale * across}, ${scale * down})`;
      canvas.style.imageRendering = sharp && layer !== this.#map ? 'pixelated' : 'auto';
      if (layer === this.#map) {
        // Clip border squares to the picture.
        const cut = (size: number, cells: number) => Math.max(0, cells - size / this.#blockSize);
        canvas.style.clipPath = `inset(0 ${cut(picture.width / this.#aspect, canvas.width)}px ${cut(picture.height, canvas.height)}px 0)`;
      }
    }
    this.element.dataset.sharp = String(sharp);
    this.#listener.moved(zoom, this.#fits);
  }

  /** The arrangement that shows the picture larger. */
  #direction(picture: Size, box: Size): 'row' | 'column' {
    if (this.#mode !== 'side') return 'row';
    const row = fitted(picture, { width: box.width / 2, height: box.height }).zoom;
    const column = fitted(picture, { width: box.width, height: box.height / 2 }).zoom;
    return column > row ? 'column' : 'row';
  }

  /** Chooses the number of columns that shows the pictures largest. */
  #arrange(): void {
    const isGrid = this.#mode === 'grid';
    const panes = this.further.flatMap(({ element, isUsed }) => (isGrid && isUsed ? [element] : []));
    for (const { element } of this.further) if (!panes.includes(element)) element.remove();
    // Do not move connected panes: they would lose the focus.
    for (const element of panes) if (!element.isConnected) this.divider.before(element);
    const picture = this.#picture;
    if (!isGrid || !picture) return;
    const { width, height } = this.element.getBoundingClientRect();
    const count = this.#visible.length;
    const zoomOf = (columns: number) =>
      fitted(picture, { width: width / columns, height: height / Math.ceil(count / columns) }).zoom;
    const best = this.#visible.map((_, i) => i + 1).reduce((a, b) => (zoomOf(b) > zoomOf(a) ? b : a));
    this.element.style.setProperty('--columns', String(best));
  }

  get #visible(): readonly HTMLElement[] {
    const further = this.further.map(({ element }) => element).filter(({ isConnected }) => isConnected);
    return [...this.#panes, ...further].filter(({ hidden }) => !hidden);
  }

  #paneSize(): Size {
    const { width, height } = this.#panes[0].getBoundingClientRect();
    return { width: Math.floor(width * devicePixelRatio), height: Math.floor(height * devicePixelRatio) };
  }

  #updateLayers(): void {
    const mode = this.#mode;
    const { names, scores, shown, base } = this.#look;
    const hidden = (role: Role) =>
      (mode === 'flicker' && shown !== role) || (mode === 'map' && base !== role);
    this.#reference.element.classList.toggle('frames-unseen', hidden('reference'));
    this.#distorted.element.classList.toggle('frames-unseen', hidden('distorted'));
    // Score first, as long names are cut off.
    const scored = (role: Role) => [scores[role], names[role]].filter(Boolean).join(' · ');
    const labels = {
      grid: [scored('reference'), scored('distorted')],
      side: [names.reference, names.distorted],
      split: [names.reference, names.distorted],
      flicker: [names[shown]],
      difference: [words.modes.difference],
      map: [names[base]],
    }[mode];
    this.#badges.forEach((element, i) => {
      element.textContent = element.title = labels[i] ?? '';
      element.hidden = labels[i] === undefined;
    });
    this.#badges[0].dataset.role = mode === 'flicker' ? shown : '';
  }

  /** From screen coordinates to coordinates around the centre of the pane. */
  #fromMiddle(x: number, y: number): Point {
    const boxes = this.#visible.map((pane) => pane.getBoundingClientRect());
    const inside = (box: DOMRect) => x >= box.left && x < box.right && y >= box.top && y < box.bottom;
    const box = boxes.find(inside) ?? boxes[0] ?? this.element.getBoundingClientRect();
    const ratio = devicePixelRatio;
    return {
      x: (x - box.left) * ratio - Math.floor(box.width * ratio) / 2,
      y: (y - box.top) * ratio - Math.floor(box.height * ratio) / 2,
    };
  }

  #wheel(event: WheelEvent): void {
    event.preventDefault();
    // Lines and pages to pixels. A trackpad pinch is a wheel event with ctrl and small deltas.
    const unit = [1, 16, 400][event.deltaMode] ?? 1;
    const speed = event.ctrlKey ? 4 * WHEEL : WHEEL;
    const zoom = this.#view.zoom * Math.exp(-event.deltaY * unit * speed);
    this.#setView(this.#zoomed(zoom, this.#fromMiddle(event.clientX, event.clientY)));
  }

  #zoomed(zoom: number, point: Point): View {
    const picture = this.#picture;
    if (!picture) return this.#view;
    const pane = this.#paneSize();
    const allowed = bounded({ ...this.#view, zoom }, picture, pane).zoom;
    return bounded(zoomedAt(this.#view, allowed, point), picture, pane);
  }

  #down(event: PointerEvent): void {
    // Labels of further panes are selects.
    if (event.button !== 0 || (event.target as Element).closest('select')) return;
    this.element.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.element.dataset.drag = this.divider.contains(event.target as Node) ? 'split' : 'pan';
  }

  #move(event: PointerEvent): void {
    const before = this.#pointers.get(event.pointerId);
    if (!before) {
      this.#hover(event);
      return;
    }
    const now = { x: event.clientX, y: event.clientY };
    if (this.element.dataset.drag === 'split') {
      const box = this.element.getBoundingClientRect();
      this.split = (now.x - box.left) / box.width;
    } else if (this.#pointers.size === 1) {
      const scale = devicePixelRatio / this.#view.zoom;
      const { zoom, x, y } = this.#view;
      this.#setView({ zoom, x: x - (now.x - before.x) * scale, y: y - (now.y - before.y) * scale });
    } else {
      this.#pinch(event.pointerId, before, now);
    }
    this.#pointers.set(event.pointerId, now);
  }

  #pinch(moving: number, before: Point, now: Point): void {
    const still = [...this.#pointers].find(([id]) => id !== moving)?.[1];
    if (!still) return;
    const distance = ({ x, y }: Point) => Math.max(1, Math.hypot(x - still.x, y - still.y));
    const zoom = (this.#view.zoom * distance(now)) / distance(before);
    this.#setView(this.#zoomed(zoom, this.#fromMiddle((now.x + still.x) / 2, (now.y + still.y) / 2)));
  }

  #hover(event: PointerEvent): void {
    const picture = this.#picture;
    if (!picture) return;
    const point = this.#fromMiddle(event.clientX, event.clientY);
    const x = Math.floor((this.#view.x + point.x / this.#view.zoom) / this.#aspect);
    const y = Math.floor(this.#view.y + point.y / this.#view.zoom);
    const inside = x >= 0 && y >= 0 && x < picture.width / this.#aspect && y < picture.height;
    this.#listener.hovered(inside ? { x, y } : null);
  }

  #dividerKey(event: KeyboardEvent): void {
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: this.#split - 0.02,
      ArrowRight: this.#split + 0.02,
      ArrowDown: this.#split - 0.02,
      ArrowUp: this.#split + 0.02,
      Home: 0,
      End: 1,
    };
    const split = steps[event.key];
    if (split === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.split = split;
  }
}
