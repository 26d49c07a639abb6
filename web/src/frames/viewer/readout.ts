/**
 * @module web/frames/viewer/readout
 * Shows the samples or loss under the pointer, and messages in place of pictures.
 */
import { h } from '../../dom.js';
import { EngineError, messageOf } from '../../engine/calls.js';
import { html, render } from '../../templates.js';
import { text } from '../../text.js';
import type { Drawable, LossGrid, ShownPair } from '../draw.js';
import type { PairSource } from '../serve.js';
import { lossText } from '../settings.js';
import type { Point, Size } from '../transform.js';

const words = text.frames;

/** Milliseconds that the pointer rests before samples are read. */
const REST = 40;

export class Readout {
  readonly element = h('p', { class: 'frames-readout', hidden: true, 'aria-hidden': 'true' });
  #resting: ReturnType<typeof setTimeout> | undefined;

  /** @param at in samples @param grid the map, if that is on show */
  show(
    at: Point | null,
    pair: ShownPair | undefined,
    grid: LossGrid | undefined,
    pictures: readonly { readonly name: string; readonly picture: Drawable }[],
  ): void {
    clearTimeout(this.#resting);
    this.element.hidden = at === null;
    if (!at || !pair) return;
    const tell = (more: unknown = '') =>
      render(html`<span>${words.at(at.x, at.y)}</span>${more}`, this.element);
    const loss = grid && lossAt(grid, at);
    tell(loss === undefined ? '' : html`<span>${words.here(lossText(loss))}</span>`);
    if (grid || pair.rough) return;
    this.#resting = setTimeout(() => {
      const samples = pictures.map(({ name, picture }) => {
        const rgb = sampleOf(picture, at, pair).join(' ');
        return html`<span><i class="frames-swatch" .style=${`background:rgb(${rgb})`}></i>${name} ${rgb}</span>`;
      });
      tell(samples);
    }, REST);
  }
}

function lossAt({ width, height, blockSize, density }: LossGrid, { x, y }: Point): number | undefined {
  const column = Math.min(width - 1, Math.floor(x / blockSize));
  const row = Math.min(height - 1, Math.floor(y / blockSize));
  return density[row * width + column];
}

let probe: CanvasRenderingContext2D | null | undefined;

/** Red, green and blue. @param whole size that `at` refers to */
function sampleOf(picture: Drawable, at: Point, whole: Size): readonly number[] {
  probe ??= h('canvas', { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
  // A picture closed meanwhile has no size.
  if (!probe || !(picture instanceof ImageBitmap) || picture.width === 0) return [];
  const x = Math.floor((at.x * picture.width) / whole.width);
  const y = Math.floor((at.y * picture.height) / whole.height);
  probe.drawImage(picture, x, y, 1, 1, 0, 0, 1, 1);
  return [...probe.getImageData(0, 0, 1, 1).data.subarray(0, 3)];
}

export class Message {
  readonly element = h('div', { class: 'frames-message', hidden: true });
  readonly #retry: () => void;

  constructor(retry: () => void) {
    this.#retry = retry;
  }

  hide(): void {
    this.element.hidden = true;
  }

  fail(error: unknown, source: PairSource | undefined): void {
    const name = error instanceof Error ? error.name : '';
    const message = messageOf(error);
    const gone = source && (name.startsWith('Not') || (error instanceof EngineError && error.code === 'io'));
    this.say(gone ? words.gone(source.reference.name, source.distorted.name) : message, true);
  }

  say(why: string, again = false): void {
    this.element.hidden = false;
    render(
      html`<div role="alert">${again ? html`<strong>${words.failed}</strong>` : ''}<p>${why}</p></div>${again ? html`<button type="button" class="tool" @click=${this.#retry}>${words.retry}</button>` : ''}`,
      this.element,
    );
  }
}
