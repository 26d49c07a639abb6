/**
 * @module web/frames/viewer/grid
 * Up to two further encodes beside the pair on show, of the same moment: which they are, their pictures and their scores.
 * Pictures of all are drawn together, once all are there.
 */
import { fill, h } from '../../dom.js';
import { engine } from '../../engine/client.js';
import type { EncodeResult, EncodeSource } from '../../session.js';
import { text } from '../../text.js';
import type { Drawable, ShownPair } from '../draw.js';
import type { Pane } from '../stage.js';
import { FrameStore, type LoadFrames } from '../store.js';
import { metricsOf, momentIn, pairSource } from './subject.js';

const words = text.frames;

/** What is on show beside the further encodes. */
export interface Beside {
  readonly results: readonly EncodeResult[];
  readonly names: readonly string[];
  readonly encode: number;
  /** The encode in the place of the reference; `null`: the reference itself. */
  readonly other: number | null;
  readonly frame: number;
}

/** Loads pictures of encodes; those of the reference are on show already. */
const loadEncodes: LoadFrames = (call, { signal, onEvent }) =>
  engine.call('frames', call, {
    signal,
    onEvent(pair) {
      pair.reference.close();
      onEvent(pair);
    },
  });

/** A pane for one more encode. */
class Place {
  readonly select: HTMLSelectElement;
  readonly pane: Pane;
  readonly #store: FrameStore;
  readonly #score = h('span');
  /** The encodes listed, with their places. */
  listed: readonly { readonly i: number; readonly source: EncodeSource | undefined }[] = [];
  /** What the user wants here; `null`: none, `undefined`: whichever is next. */
  chosen: EncodeSource | null | undefined;
  encode: number | undefined;
  pair: ShownPair | undefined;
  /** Whether its picture, or that there is none, is still awaited. */
  waits = false;

  /** @param there called when nothing is awaited any more */
  constructor(pane: Pane, name: string, budget: number, changed: () => void, there: () => void) {
    this.pane = pane;
    this.select = h('select', {
      'aria-label': name,
      onchange: () => {
        this.chosen = this.listed[this.select.selectedIndex - 1]?.source ?? null;
        changed();
      },
    });
    fill(pane.label, this.#score, this.select);
    const end = (pair?: ShownPair) => {
      this.pair = pair;
      this.waits = false;
      there();
    };
    this.#store = new FrameStore(loadEncodes, { ready: end, failed: () => end() }, budget);
  }

  /** Asks for the picture of the moment that a frame of another encode shows. */
  want({ results, encode, frame }: Beside, step: number | undefined): void {
    const [from, own] = [results[encode], results[this.encode ?? -1]];
    const at = from && own && momentIn(from, own, frame);
    const source = own && pairSource(own, at ?? 0);
    this.waits = at !== undefined && source !== undefined;
    if (this.waits && !this.pair) this.#score.textContent = '';
    if (at !== undefined && source) this.#store.want(source, at, step);
    else this.rest();
  }

  rest(): void {
    this.pair = undefined;
    this.waits = false;
    this.#store.rest();
  }

  close(): void {
    this.rest();
    this.#store.close();
    this.pane.layer.clear();
  }

  draw(): void {
    if (this.pair) this.pane.layer.draw(this.pair.distorted, this.pair);
    else this.pane.layer.clear();
  }

  describe({ results, encode, frame }: Beside, metric: string): void {
    const [from, own] = [results[encode], results[this.encode ?? -1]];
    const at = from && own && momentIn(from, own, frame);
    const score = at === undefined ? undefined : metricsOf(own as EncodeResult, at)?.[metric];
    const isMissing = own && !this.pair && !this.waits;
    this.#score.textContent = isMissing ? words.noPicture : (score?.toFixed(2) ?? '');
  }
}

export class Grid {
  readonly #places: readonly Place[];
  #on = false;
  #beside: Beside | undefined;

  /**
   * @param budget bytes of pictures to keep
   * @param changed called when other encodes are chosen
   * @param there called when the pictures of all are there
   */
  constructor(panes: readonly Pane[], budget: number, changed: () => void, there: () => void) {
    this.#places = panes.map(
      (pane, i) =>
        new Place(pane, words.further[i] ?? '', budget / panes.length, changed, () => {
          if (this.isComplete) there();
        }),
    );
  }

  /** Whether the view has further encodes. */
  set on(on: boolean) {
    this.#on = on;
    if (!on) this.rest();
  }

  /** Whether no picture is awaited. */
  get isComplete(): boolean {
    return !this.#places.some((place) => place.waits);
  }

  /** The encodes on show. */
  get encodes(): readonly number[] {
    return this.#on ? this.#places.flatMap(({ encode }) => encode ?? []) : [];
  }

  /** Their pictures, with names. */
  get pictures(): readonly { readonly name: string; readonly picture: Drawable }[] {
    return this.#places.flatMap(({ encode = -1, pair }) =>
      pair ? [{ name: this.#beside?.names[encode] ?? '', picture: pair.distorted }] : [],
    );
  }

  /** Asks for the pictures beside those of a frame. @param step as of {@link FrameStore.want} */
  want(beside: Beside, step: number | undefined): void {
    this.#beside = beside;
    this.#list(beside);
    for (const place of this.#places) {
      if (this.#on && place.encode !== undefined) place.want(beside, step);
      else place.rest();
    }
  }

  /** Draws what came for the frame that was asked for last. */
  draw(): void {
    for (const place of this.#places) place.draw();
  }

  /** Updates the scores. */
  describe(metric: string): void {
    const beside = this.#beside;
    if (beside) for (const place of this.#places) place.describe(beside, metric);
  }

  /** Shows the next encode in a place, or none after the last. */
  next(i: number): void {
    const { select } = this.#places[i] ?? {};
    if (!select || !this.#on) return;
    select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
    select.dispatchEvent(new Event('change'));
  }

  rest(): void {
    for (const place of this.#places) place.rest();
  }

  close(): void {
    this.#beside = undefined;
    for (const place of this.#places) place.close();
  }

  /** Decides which encodes are on show: those chosen, else the next ones that are not there yet. */
  #list({ results, names, encode, other }: Beside): void {
    const all = results.flatMap(({ source }, i) =>
      source && i !== encode && i !== other ? [{ i, source }] : [],
    );
    const chosen = this.#places.map((place) => all.find(({ source }) => source === place.chosen)?.i);
    const taken = new Set(chosen);
    for (const [n, place] of this.#places.entries()) {
      const free = place.chosen === null ? undefined : all.find(({ i }) => !taken.has(i))?.i;
      place.encode = chosen[n] ?? free;
      taken.add(place.encode);
      // What is on show stays while others come and go.
      place.chosen = all.find(({ i }) => i === place.encode)?.source ?? place.chosen;
    }
    for (const place of this.#places) {
      place.listed = all.filter(({ i }) => i === place.encode || !taken.has(i));
      const options = place.listed.map(({ i }) => ({ i, name: names[i] ?? '' }));
      const key = JSON.stringify(options);
      if (place.select.dataset.listed !== key) {
        place.select.dataset.listed = key;
        const none = h('option', { value: '' }, words.none);
        fill(place.select, none, ...options.map(({ i, name }) => h('option', { value: i }, name)));
      }
      place.select.value = String(place.encode ?? '');
      place.select.title = names[place.encode ?? -1] ?? words.none;
      place.pane.isUsed = place.listed.length > 0;
    }
  }
}
