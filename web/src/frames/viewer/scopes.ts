/**
 * @module web/frames/viewer/scopes
 * Histogram, waveform and vectorscope of both pictures, from displayed colours. Loaded on demand.
 */
import { h } from '../../dom.js';
import { html, made, render } from '../../templates.js';
import { text } from '../../text.js';
import type { Stage } from '../stage.js';

const words = text.frames.scopes;

const KINDS = ['histogram', 'waveform', 'vectorscope'] as const;
const ROLES = ['reference', 'distorted'] as const;
/** Width and height in pixels, one per level. */
const SIDE = 256;

type Counts = Uint32Array;

export class Scopes {
  readonly element = made(
    html`<div class="frames-scopes" hidden role="group" aria-label=${words.label}></div>`,
  );
  readonly #stage: Stage;
  #kind = -1;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Cycles through the kinds and none. */
  next(): void {
    this.#kind = this.#kind + 1 < KINDS.length ? this.#kind + 1 : -1;
    this.draw();
  }

  draw(): void {
    const kind = KINDS[this.#kind];
    this.element.hidden = kind === undefined;
    if (!kind) return;
    const figures = ROLES.map((role) => {
      const name = this.#stage.look.names[role];
      const canvas = h('canvas', { width: SIDE, height: SIDE, class: 'frames-scope', role: 'img' });
      canvas.setAttribute('aria-label', `${words[kind]}: ${name}`);
      const pixels = pixelsOf(this.#stage.canvasOf(role));
      if (pixels) paint(canvas, counted(kind, pixels), kind === 'histogram');
      return html`<figure>${canvas}<figcaption>${name}</figcaption></figure>`;
    });
    render(html`<p>${words[kind]}</p><div>${figures}</div>`, this.element);
  }
}

/** The picture scaled to the scope's width, so that its columns are the scope's. */
function pixelsOf(picture: HTMLCanvasElement | undefined): ImageData | undefined {
  if (!picture) return undefined;
  const height = Math.max(1, Math.round((picture.height * SIDE) / picture.width));
  const small = h('canvas', { width: SIDE, height }).getContext('2d', { willReadFrequently: true });
  // Smoothing would invent levels.
  if (small) small.imageSmoothingEnabled = false;
  small?.drawImage(picture, 0, 0, SIDE, height);
  return small?.getImageData(0, 0, SIDE, height);
}

/** Luma and chroma by BT.709, as displayed. */
function counted(kind: (typeof KINDS)[number], { data, width }: ImageData): Counts {
  const counts = new Uint32Array(SIDE * SIDE);
  const add = (x: number, y: number) => {
    const at = Math.round(y) * SIDE + Math.round(x);
    counts[at] = (counts[at] ?? 0) + 1;
  };
  for (let i = 0; i < data.length; i += 4) {
    const [red = 0, green = 0, blue = 0] = data.subarray(i, i + 3);
    const luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    if (kind === 'histogram') add(luma, 0);
    else if (kind === 'waveform') add((i / 4) % width, 255 - luma);
    else add(127.5 + (blue - luma) / 1.8556, 127.5 - (red - luma) / 1.5748);
  }
  return counts;
}

function paint(canvas: HTMLCanvasElement, counts: Counts, asBars: boolean): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  context.fillStyle = '#0c0d0f';
  context.fillRect(0, 0, SIDE, SIDE);
  const most = counts.reduce((a, b) => Math.max(a, b), 1);
  context.fillStyle = '#9cf0c8';
  counts.forEach((count, at) => {
    if (count === 0) return;
    const [x, y] = [at % SIDE, Math.floor(at / SIDE)];
    const share = Math.sqrt(count / most);
    context.globalAlpha = asBars ? 1 : Math.max(0.3, share);
    if (asBars) context.fillRect(x, SIDE * (1 - share), 1, SIDE * share);
    else context.fillRect(x, y, 1, 1);
  });
}
