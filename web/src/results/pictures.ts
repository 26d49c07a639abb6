/**
 * @module web/results/pictures
 * Small pictures of the worst moments, made one encode at a time while neither a run nor the viewer is active, and the
 * strip of them above the curve; each opens its frame.
 */

import { colourOf, mapsOfMetric, percentOf } from 'anyvmaf/view';
import { drawPixels, h, svg } from '../dom.js';
import { engine } from '../engine/client.js';
import type { ThumbPair } from '../frames/draw.js';
import { isActive, type Session, sourceOf } from '../session.js';
import { text } from '../text.js';
import type { Encodes } from './encodes.js';
import type { View } from './view.js';

/** Pixels of the longest side: sharp at a moment's width on large screens. */
const SIDE = 320;

/** `undefined`: the encode gets no more pictures. */
type Listener = (encode: number, pair: ThumbPair | undefined) => void;

export class MomentPictures {
  readonly #encodes: Encodes;
  readonly #session: Session;
  /** By encode and the report's frame number. */
  readonly #made = new Map<string, ThumbPair>();
  /** Encodes that failed are not tried again. */
  readonly #failed = new Set<number>();
  #wanted: ReadonlyMap<number, readonly number[]> = new Map();
  #stop: AbortController | undefined;
  readonly #listeners = new Set<Listener>();
  readonly #unwatch: (() => void)[];

  constructor(encodes: Encodes, session: Session) {
    this.#encodes = encodes;
    this.#session = session;
    const turn = () => (this.#allowed ? this.#next() : this.#stop?.abort());
    this.#unwatch = [session.run.watch(turn), session.cursor.watch(turn)];
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get(encode: number, frame: number): ThumbPair | undefined {
    return this.#made.get(keyOf(encode, frame));
  }

  /** Pictures of the encode exist or will come. */
  expects(encode: number): boolean {
    return this.#encodes.list[encode]?.result.source !== undefined && !this.#failed.has(encode);
  }

  want(frames: ReadonlyMap<number, readonly number[]>): void {
    this.#wanted = frames;
    if (this.#allowed) this.#next();
  }

  close(): void {
    for (const stop of this.#unwatch) stop();
    this.#wanted = new Map();
    this.#stop?.abort();
  }

  get #allowed(): boolean {
    return !isActive(this.#session.run.value) && this.#session.cursor.value === null;
  }

  /** Makes missing pictures of the first encode that lacks some. */
  #next(): void {
    if (this.#stop) return;
    for (const [encode, frames] of this.#wanted) {
      const source = this.#encodes.list[encode]?.result.source;
      const indices = frames.filter((frame) => !this.#made.has(keyOf(encode, frame)));
      if (!source || indices.length === 0 || this.#failed.has(encode)) continue;
      this.#load(encode, indices);
      return;
    }
  }

  #notify(...event: Parameters<Listener>): void {
    for (const listener of this.#listeners) listener(...event);
  }

  async #load(encode: number, indices: readonly number[]): Promise<void> {
    const { result } = this.#encodes.list[encode] ?? {};
    const source = result && sourceOf(result);
    if (!source) return;
    const maps = mapsOfMetric(result.report);
    const stop = new AbortController();
    this.#stop = stop;
    try {
      await engine.call(
        'thumbs',
        { ...source, maps, indices, side: SIDE },
        {
          signal: stop.signal,
          onEvent: (pair) => {
            this.#made.set(keyOf(encode, pair.index), pair);
            this.#notify(encode, pair);
          },
        },
      );
    } catch {
      // Numbers show without pictures; the viewer reports problems of the files.
      if (!stop.signal.aborted) {
        this.#failed.add(encode);
        this.#notify(encode, undefined);
      }
    }
    this.#stop = undefined;
    if (this.#allowed) this.#next();
  }
}

function keyOf(encode: number, frame: number): string {
  return `${encode} ${frame}`;
}

const words = text.results.chart;

/** In pixels: margins of the large chart, and the gap between pictures. */
const [LEFT, RIGHT, GAP] = [40, 4, 6];

/** `at`: x of the frame; `middle`: x of the picture's centre. */
interface Place {
  readonly frame: number;
  readonly at: number;
  middle: number;
}

/**
 * Places pictures without overlap, as near to their frames as possible.
 * @param frames most important first; the last are left out if there is no room
 * @param wide width of a picture
 */
export function placed(frames: readonly Omit<Place, 'middle'>[], wide: number, width: number): Place[] {
  const most = Math.max(0, Math.floor((width + GAP) / (wide + GAP)));
  const places = frames
    .slice(0, most)
    .map((frame) => ({ ...frame, middle: frame.at }))
    .sort((a, b) => a.at - b.at);
  let left = wide / 2;
  for (const place of places) {
    place.middle = Math.max(left, place.middle);
    left = place.middle + wide + GAP;
  }
  let right = width - wide / 2;
  for (const place of places.toReversed()) {
    place.middle = Math.min(right, place.middle);
    right = place.middle - wide - GAP;
  }
  return places;
}

export class MomentStrip {
  readonly #element: HTMLElement;
  readonly #encodes: Encodes;
  readonly #view: View;
  readonly #pictures: MomentPictures;
  readonly #stops: (() => void)[];
  /** In pixels: all pictures, and one; measured on resize. */
  #room = 0;
  #wide = 0;
  #buttons = new Map<number, HTMLButtonElement>();
  readonly #stems = svg('svg', { 'aria-hidden': 'true', height: 10 });
  /** By encode, frame and title; each is drawn once. */
  readonly #drawn = new Map<string, HTMLButtonElement>();

  constructor(element: HTMLElement, encodes: Encodes, view: View, pictures: MomentPictures) {
    this.#element = element;
    this.#encodes = encodes;
    this.#view = view;
    this.#pictures = pictures;
    const resize = new ResizeObserver(() => {
      this.#room = Math.max(0, element.clientWidth - LEFT - RIGHT);
      this.#wide = Number.parseFloat(getComputedStyle(element).getPropertyValue('--wide')) || 96;
      this.update();
    });
    resize.observe(element);
    this.#stops = [
      () => resize.disconnect(),
      ...[view.zoom, view.moments, view.lead].map((cell) => cell.watch(() => this.update())),
      pictures.listen(() => this.update()),
    ];
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }

  update(): void {
    const element = this.#element;
    const { lead } = this.#view;
    if (!this.#encodes.list[lead.value] || this.#room === 0) return;
    const places = this.#places();
    const buttons = new Map(places.map(({ frame }) => [frame, this.#button(lead.value, frame)]));
    const [held] = [...this.#buttons].find(([, button]) => button === document.activeElement) ?? [];
    this.#buttons = buttons;
    const children = [...buttons.values(), this.#stems];
    // An element that is moved while it is pressed gets no click.
    if (children.some((child, i) => child !== element.childNodes[i])) {
      element.replaceChildren(...children);
      if (held !== undefined) buttons.get(held)?.focus({ preventScroll: true });
    }
    this.#put(places);
  }

  #places(): Place[] {
    const { lead, moments, span } = this.#view;
    const frames = moments.value
      .filter((moment) => moment.encode === lead.value && moment.frame >= span[0] && moment.frame <= span[1])
      .map(({ frame }) => ({ frame, at: (percentOf(frame, ...span) / 100) * this.#room }));
    return placed(frames, this.#wide, this.#room);
  }

  #put(places: readonly Place[]): void {
    for (const { frame, middle } of places) {
      const button = this.#buttons.get(frame);
      if (button) button.style.left = `${LEFT + middle}px`;
    }
    this.#stems.setAttribute('width', String(this.#room));
    const stems = places.map(({ at, middle }) => svg('line', { x1: middle, y1: 0, x2: at, y2: 10 }));
    this.#stems.replaceChildren(...stems);
  }

  #button(encode: number, frame: number): HTMLButtonElement {
    const said = words.moment(this.#encodes.said(frame));
    const key = `${encode} ${frame} ${said}`;
    const onclick = () => this.#view.open(encode, frame);
    const button =
      this.#drawn.get(key) ??
      h(
        'button',
        { type: 'button', title: said, style: colourOf(encode), onclick },
        h('span', { class: 'unseen' }, said),
      );
    this.#drawn.set(key, button);
    const shift = this.#encodes.list[encode]?.columns.shift ?? 0;
    const picture = this.#pictures.get(encode, frame - shift)?.distorted;
    if (picture && !button.querySelector('canvas'))
      button.prepend(drawPixels(h('canvas', { 'aria-hidden': 'true' }), picture));
    return button;
  }
}
