/**
 * @module web/setup/thumbs
 * Small pictures of the first frame of each file, made while no run needs the worker.
 */
import { drawPixels, h } from '../dom.js';
import { engine } from '../engine/client.js';
import type { Thumb } from '../frames/thumbs.js';
import { type ChosenFile, isActive, type Session } from '../session.js';

/** Longest side in pixels. */
const SIDE = 192;

export class FileThumbs {
  readonly #session: Session;
  /** By file, raw format and decoder; `null` while it is made, or if that failed. */
  readonly #made = new Map<string, Thumb | null>();
  /** Canvases on show; lists may be redrawn meanwhile. */
  readonly #places = new Map<string, HTMLCanvasElement>();
  #turn: Promise<void> = Promise.resolve();

  constructor(session: Session) {
    this.#session = session;
  }

  /** Reserves the room, so that nothing moves when the picture comes. */
  place(chosen: ChosenFile): HTMLElement {
    const canvas = h('canvas', { hidden: true });
    const { raw, settings, run, inspections } = this.#session;
    const format = chosen.kind === 'raw' ? raw.value : null;
    const readable = chosen.kind !== 'raw' || format !== null;
    const place = h('span', { class: 'file-thumb', 'aria-hidden': 'true', hidden: !readable }, canvas);
    const { decoder } = settings.value;
    const key = JSON.stringify([chosen.id, format, decoder]);
    this.#places.set(key, canvas);
    const known = this.#made.get(key);
    if (known) drawThumb(canvas, known);
    // Inspection comes first; lists are redrawn after it.
    const waits =
      isActive(run.value) || [...inspections.value.values()].some(({ phase }) => phase === 'pending');
    if (known === undefined && !waits && readable)
      this.#make(key, { file: chosen.file, raw: format, decoder, side: SIDE });
    return place;
  }

  #make(
    key: string,
    asked: { readonly file: File; readonly raw: Session['raw']['value'] } & {
      readonly decoder: 'mediabunny' | 'wasm';
      readonly side: number;
    },
  ): void {
    this.#made.set(key, null);
    this.#turn = this.#turn.then(async () => {
      if (isActive(this.#session.run.value)) {
        // Requested again after the run.
        this.#made.delete(key);
        return;
      }
      // The inspection reports what is wrong with a file.
      const thumb = await engine.call('thumb', asked).catch(() => undefined);
      const place = this.#places.get(key);
      if (!thumb || !place) return;
      this.#made.set(key, thumb);
      drawThumb(place, thumb);
    });
  }
}

function drawThumb(canvas: HTMLCanvasElement, thumb: Thumb): void {
  drawPixels(canvas, thumb);
  canvas.style.aspectRatio = String(thumb.aspect);
  canvas.hidden = false;
}
