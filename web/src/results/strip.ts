/**
 * @module web/results/strip
 * Small pictures of an encode's worst moments above the curve; each opens its frame.
 */
import { colourOf, percentOf } from 'anyvmaf/view';
import { drawPixels, h, svg } from '../dom.js';
import { text } from '../text.js';
import type { Encodes } from './encodes.js';
import type { MomentPictures } from './pictures.js';
import type { View } from './view.js';

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
    .map((one) => ({ ...one, middle: one.at }))
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
  /** By encode and frame; each is drawn once. */
  readonly #drawn = new Map<string, HTMLCanvasElement>();

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
      view.zoom.watch(() => this.#move()),
      ...[view.moments, view.lead].map((cell) => cell.watch(() => this.update())),
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
    const held = element.contains(document.activeElement) ? document.activeElement?.textContent : undefined;
    this.#buttons = new Map(places.map(({ frame }) => [frame, this.#button(lead.value, frame)]));
    element.replaceChildren(...this.#buttons.values(), this.#stems);
    this.#put(places);
    // Keep the focus.
    const again = [...this.#buttons.values()].find(({ textContent }) => textContent === held);
    again?.focus({ preventScroll: true });
  }

  /** Rebuilds only if the pictures change. */
  #move(): void {
    const places = this.#places();
    if (places.map(({ frame }) => frame).join() === [...this.#buttons.keys()].join()) this.#put(places);
    else this.update();
  }

  #places(): Place[] {
    const { lead, moments, span } = this.#view;
    const frames = moments.value
      .filter((one) => one.encode === lead.value && one.frame >= span[0] && one.frame <= span[1])
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
    return h(
      'button',
      {
        type: 'button',
        title: said,
        style: colourOf(encode),
        onclick: () => this.#view.open(encode, frame),
      },
      this.#picture(encode, frame),
      h('span', { class: 'unseen' }, said),
    );
  }

  #picture(encode: number, frame: number): HTMLCanvasElement | undefined {
    const key = `${encode} ${frame}`;
    const shift = this.#encodes.list[encode]?.columns.shift ?? 0;
    const made = this.#pictures.get(encode, frame - shift)?.distorted;
    if (!made || this.#drawn.has(key)) return this.#drawn.get(key);
    const canvas = drawPixels(h('canvas', { 'aria-hidden': 'true' }), made);
    this.#drawn.set(key, canvas);
    return canvas;
  }
}
