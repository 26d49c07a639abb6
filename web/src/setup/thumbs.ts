/**
 * @module web/setup/thumbs
 * The first frame of every chosen file, small, made while no run needs the worker.
 */
import { drawPixels, h } from '../dom.js';
import { engine } from '../engine/client.js';
import type { Thumb } from '../frames/thumbs.js';
import { type ChosenFile, isActive, type Session } from '../session.js';

/** Longest side in pixels. */
const SIDE = 192;

/** The small pictures of a session's files. */
export class FileThumbs {
  readonly #session: Session;
  /** By file and the format it is read in; `null` while it is made, and where it cannot be. */
  readonly #made = new Map<string, Thumb | null>();
  /** Where each is shown; lists are drawn again while it is made. */
  readonly #places = new Map<string, HTMLCanvasElement>();
  #turn: Promise<void> = Promise.resolve();

  constructor(session: Session) {
    this.#session = session;
  }

  /** A place for the picture of a file, which fills as soon as there is one: nothing moves then. */
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
    // What is found about the pair comes first; lists are drawn again then.
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
        // Asked for again after the run, which has the worker to itself.
        this.#made.delete(key);
        return;
      }
      // What is wrong with a file is said by the look at the pair.
      const thumb = await engine.call('thumb', asked).catch(() => undefined);
      const place = this.#places.get(key);
      if (!thumb || !place) return;
      this.#made.set(key, thumb);
      drawThumb(place, thumb);
    });
  }
}

/** Draws a small picture and shows it. */
function drawThumb(canvas: HTMLCanvasElement, thumb: Thumb): void {
  drawPixels(canvas, thumb);
  canvas.style.aspectRatio = String(thumb.aspect);
  canvas.hidden = false;
}
