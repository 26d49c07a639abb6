/**
 * @module web/frames/viewer/grid
 * Up to two more encodes beside the pair on show, at the same moment. All pictures are drawn together once loaded.
 */
import { fill, h } from '../../dom.js';
import { engine } from '../../engine/client.js';
import type { EncodeResult, EncodeSource } from '../../session.js';
import { text } from '../../text.js';
import type { Drawable, ShownPair } from '../draw.js';
import { setOptions } from '../settings.js';
import type { Pane } from '../stage.js';
import { FrameStore, type LoadFrames } from '../store.js';
import { frameText, metricsOf, momentIn, pairSource } from './subject.js';

const words = text.frames;

export interface Beside {
  readonly results: readonly EncodeResult[];
  readonly names: readonly string[];
  readonly encode: number;
  /** The encode shown as reference; `null`: the reference itself. */
  readonly other: number | null;
  readonly frame: number;
}

/** The reference is on show already, so its picture is dropped. */
const loadEncodes: LoadFrames = (call, { signal, onEvent }) =>
  engine.call('frames', call, {
    signal,
    onEvent(pair) {
      pair.reference.close();
      onEvent(pair);
    },
  });

class Place {
  readonly select: HTMLSelectElement;
  readonly pane: Pane;
  readonly #store: FrameStore;
  readonly #score = h('span');
  listed: readonly { readonly i: number; readonly source: EncodeSource | undefined }[] = [];
  /** `null`: none; `undefined`: the next free encode. */
  chosen: EncodeSource | null | undefined;
  encode: number | undefined;
  pair: ShownPair | undefined;
  /** True until its picture arrives or fails. */
  waits = false;

  /** @param loaded called when no picture is pending */
  constructor(pane: Pane, name: string, budget: number, changed: () => void, loaded: () => void) {
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
      loaded();
    };
    this.#store = new FrameStore(loadEncodes, { ready: end, failed: () => end() }, budget);
  }

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
    const score = own && at !== undefined && frameText(own, metric, metricsOf(own, at)?.[metric]);
    const isMissing = own && !this.pair && !this.waits;
    this.#score.textContent = isMissing ? words.noPicture : score || '';
  }
}

export class Grid {
  readonly #places: readonly Place[];
  #on = false;
  #beside: Beside | undefined;

  /** @param budget in bytes @param changed called for other encodes @param loaded called when all pictures arrived */
  constructor(panes: readonly Pane[], budget: number, changed: () => void, loaded: () => void) {
    this.#places = panes.map(
      (pane, i) =>
        new Place(pane, words.further[i] ?? '', budget / panes.length, changed, () => {
          if (this.isComplete) loaded();
        }),
    );
  }

  set on(on: boolean) {
    this.#on = on;
    if (!on) this.rest();
  }

  get isComplete(): boolean {
    return !this.#places.some((place) => place.waits);
  }

  get encodes(): readonly number[] {
    return this.#on ? this.#places.flatMap(({ encode }) => encode ?? []) : [];
  }

  get pictures(): readonly { readonly name: string; readonly picture: Drawable }[] {
    return this.#places.flatMap(({ encode = -1, pair }) =>
      pair ? [{ name: this.#beside?.names[encode] ?? '', picture: pair.distorted }] : [],
    );
  }

  want(beside: Beside, step: number | undefined): void {
    this.#beside = beside;
    this.#list(beside);
    for (const place of this.#places) {
      if (this.#on && place.encode !== undefined) place.want(beside, step);
      else place.rest();
    }
  }

  draw(): void {
    for (const place of this.#places) place.draw();
  }

  describe(metric: string): void {
    const beside = this.#beside;
    if (beside) for (const place of this.#places) place.describe(beside, metric);
  }

  /** Cycles through the encodes and none. */
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

  /** Chosen encodes stay; free places get the next encodes not yet on show. */
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
      // Keep what is on show while other encodes come and go.
      place.chosen = all.find(({ i }) => i === place.encode)?.source ?? place.chosen;
    }
    for (const place of this.#places) {
      place.listed = all.filter(({ i }) => i === place.encode || !taken.has(i));
      const options = place.listed.map(({ i }) => [i, names[i] ?? ''] as const);
      setOptions(place.select, [['', words.none], ...options]);
      place.select.value = String(place.encode ?? '');
      place.select.title = names[place.encode ?? -1] ?? words.none;
      place.pane.isUsed = place.listed.length > 0;
    }
  }
}
