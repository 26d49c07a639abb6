/**
 * @module web/results/pictures
 * Small pictures of the worst moments, made one encode at a time while neither a run nor the viewer is active.
 */
import { engine } from '../engine/client.js';
import type { ThumbPair } from '../frames/thumbs.js';
import { isActive, type Session, sourceOf } from '../session.js';
import type { Encodes } from './encodes.js';

/** Pixels of the longest side: sharp at a moment's width on large screens. */
const SIDE = 320;

/** `undefined`: there will be no more of the encode. */
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

  #tell(...told: Parameters<Listener>): void {
    for (const listener of this.#listeners) listener(...told);
  }

  async #load(encode: number, indices: readonly number[]): Promise<void> {
    const source = sourceOf(this.#encodes.list[encode]?.result ?? {});
    if (!source) return;
    const stop = new AbortController();
    this.#stop = stop;
    try {
      await engine.call(
        'thumbs',
        { ...source, indices, side: SIDE },
        {
          signal: stop.signal,
          onEvent: (pair) => {
            this.#made.set(keyOf(encode, pair.index), pair);
            this.#tell(encode, pair);
          },
        },
      );
    } catch {
      // Numbers show without pictures; the viewer reports what is wrong with the files.
      if (!stop.signal.aborted) {
        this.#failed.add(encode);
        this.#tell(encode, undefined);
      }
    }
    this.#stop = undefined;
    if (this.#allowed) this.#next();
  }
}

function keyOf(encode: number, frame: number): string {
  return `${encode} ${frame}`;
}
