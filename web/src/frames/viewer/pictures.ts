/**
 * @module web/frames/viewer/pictures
 * Saves pictures on show: those of the chosen view, the visible part, and all three side by side.
 */
import { h } from '../../dom.js';
import { text } from '../../text.js';
import { type Savable, savePng } from '../save.js';
import type { ViewSettings } from '../settings.js';
import type { Part, Stage } from '../stage.js';

const words = text.frames.save;

/** Pictures without the view's overlay. */
const PLAIN: readonly string[] = ['encode', 'reference', 'triple'];

export interface SaverActions {
  /** `rough`: the exact picture follows when playback stops; `isMade`: the view's overlay, if it has one, is on show. */
  now(): {
    readonly name: string | undefined;
    readonly frame: number;
    readonly rough: boolean;
    readonly isMade: boolean;
  };
  stopFilm(): void;
  map(): Promise<void>;
  said(sentence: string): void;
  failed(error: unknown): void;
}

/** Saves exact pictures only. */
export class Saver {
  readonly #stage: Stage;
  readonly #settings: ViewSettings;
  readonly #actions: SaverActions;
  /** Runs once the exact picture and its overlays are on show. */
  #whenExact: (() => void) | undefined;

  constructor(stage: Stage, settings: ViewSettings, actions: SaverActions) {
    this.#stage = stage;
    this.#settings = settings;
    this.#actions = actions;
  }

  /** Savable pictures, the one on show first. */
  get list(): readonly Savable[] {
    const { mode, opacity } = this.#settings;
    const stage = this.#stage;
    const chosen = mode.value;
    const { reference, distorted } = stage.look.names;
    const { modes } = text.frames;
    const of = (role: 'reference' | 'distorted' | 'difference') => stage.canvasOf(role);
    const all = [
      {
        kind: 'difference',
        label: modes.difference,
        canvas: chosen === 'difference' ? of('difference') : undefined,
      },
      {
        kind: 'map',
        label: modes.map,
        canvas: chosen === 'map' ? stage.mapCanvas(opacity.value) : undefined,
      },
      { kind: 'encode', label: distorted, canvas: of('distorted') },
      { kind: 'reference', label: reference, canvas: of('reference') },
    ] as const;
    const available = all.flatMap(({ canvas, ...picture }): Savable[] =>
      canvas ? [{ ...picture, draw: () => canvas }] : [],
    );
    if (chosen === 'flicker' && stage.look.shown === 'reference') available.reverse();
    const [first] = available;
    const { part } = stage;
    if (!first || !part) return available;
    const region: Savable = {
      kind: `region-${part.x}-${part.y}-${part.width}x${part.height}`,
      label: words.region(first.label),
      draw: async () => joined([await first.draw()], part),
    };
    const triple: Savable = { kind: 'triple', label: words.triple, draw: () => this.#triple() };
    return [...available, ...(stage.fits ? [] : [region]), triple];
  }

  /** @param one default: the picture on show */
  save(picture: Savable | undefined = this.list[0]): void {
    if (!picture) return;
    const { name, frame, rough, isMade } = this.#actions.now();
    if (rough || !(isMade || PLAIN.includes(picture.kind))) {
      this.#whenExact = () => {
        const exact = this.list.find(({ kind }) => kind === picture.kind);
        if (exact && this.#actions.now().frame === frame) this.save(exact);
      };
      this.#actions.stopFilm();
      return;
    }
    const file = `${(name ?? 'frame').replace(/\.[^.]*$/, '')}.frame-${frame}.${picture.kind}.png`;
    // Another frame may be on show since the menu was opened.
    const now = this.list.find(({ kind }) => kind === picture.kind) ?? picture;
    const made = async () => savePng(await now.draw(), file);
    made().then(() => this.#actions.said(words.saved(file)), this.#actions.failed);
  }

  /** Call when the exact picture and its overlays are on show. */
  complete(): void {
    const waiting = this.#whenExact;
    this.#whenExact = undefined;
    waiting?.();
  }

  /** The visible part of reference, encode and loss map, side by side. */
  async #triple(): Promise<HTMLCanvasElement> {
    await this.#actions.map();
    const stage = this.#stage;
    const all = [
      stage.canvasOf('reference'),
      stage.canvasOf('distorted'),
      stage.mapCanvas(this.#settings.opacity.value),
    ];
    const available = all.filter((canvas) => canvas !== undefined);
    if (!stage.part || available.length < all.length) throw new Error(words.failed);
    return joined(available, stage.part);
  }
}

function joined(pictures: readonly HTMLCanvasElement[], { x, y, width, height }: Part): HTMLCanvasElement {
  const canvas = h('canvas', { width: width * pictures.length, height });
  const context = canvas.getContext('2d');
  pictures.forEach((picture, i) => {
    context?.drawImage(picture, x, y, width, height, i * width, 0, width, height);
  });
  return canvas;
}
