/**
 * @module media/pairing/mapped
 * A source that gives frames of another in an order of their own: some twice, some not at all.
 */
import type { FramePlanes } from '../../core/frame.js';
import type { FrameSource, VideoInfo } from '../types.js';

/** A source whose frame n is frame `frames[n]` of another. */
export class MappedSource implements FrameSource {
  readonly info: VideoInfo;
  readonly seekable: boolean;
  readonly #source: FrameSource;
  readonly #frames: ArrayLike<number>;
  /** The latest frame that will be asked for again, of a source that gives each once. */
  #kept: { readonly frame: number; readonly planes: FramePlanes } | undefined;

  #look: ((luma: Uint8Array) => boolean) | undefined;
  /** Frames shown so far. */
  #shown = 0;

  /** @param frames ascending; numbers may repeat */
  constructor(source: FrameSource, frames: ArrayLike<number>) {
    this.info = { ...source.info, frameCount: frames.length };
    this.seekable = source.seekable;
    this.#source = source;
    this.#frames = frames;
  }

  /**
   * From now on reads also frames that are left out, from the first that is used on, and shows all in their order.
   * @param look is given the luma of each; `false` says that it has seen enough
   */
  showAll(look: (luma: Uint8Array) => boolean): void {
    this.#look = look;
  }

  readFrame(index: number, into: FramePlanes): boolean | Promise<boolean> {
    const frame = this.#frames[index];
    if (frame === undefined) return false;
    return this.#look ? this.#readShowing(index, frame, into) : this.#readMapped(index, frame, into);
  }

  /** Reads up to a frame one by one. */
  async #readShowing(index: number, frame: number, into: FramePlanes): Promise<boolean> {
    const show = (luma: Uint8Array) => {
      this.#shown++;
      if (this.#look && !this.#look(luma)) this.#look = undefined;
    };
    const first = this.#frames[0]!;
    while (this.#look && first + this.#shown < frame) {
      if (!(await this.#source.readFrame(first + this.#shown, { y: into.y }))) return false;
      show(into.y);
    }
    const found = await this.#readMapped(index, frame, into);
    if (found && first + this.#shown === frame) show(into.y);
    return found;
  }

  #readMapped(index: number, frame: number, into: FramePlanes): boolean | Promise<boolean> {
    if (this.#kept?.frame === frame) {
      copy(this.#kept.planes, into);
      return true;
    }
    const reading = this.#source.readFrame(frame, into);
    if (this.seekable || this.#frames[index + 1] !== frame) return reading;
    const keep = (found: boolean): boolean => {
      if (found) this.#keep(frame, into);
      return found;
    };
    return typeof reading === 'boolean' ? keep(reading) : reading.then(keep);
  }

  close(): Promise<void> | void {
    return this.#source.close();
  }

  #keep(frame: number, { y, cb, cr }: FramePlanes): void {
    const planes = this.#kept?.planes ?? {
      y: new Uint8Array(y.length),
      ...(cb && { cb: new Uint8Array(cb.length) }),
      ...(cr && { cr: new Uint8Array(cr.length) }),
    };
    copy({ y, ...(cb && { cb }), ...(cr && { cr }) }, planes);
    this.#kept = { frame, planes };
  }
}

function copy(from: FramePlanes, to: FramePlanes): void {
  to.y.set(from.y);
  if (from.cb && to.cb) to.cb.set(from.cb);
  if (from.cr && to.cr) to.cr.set(from.cr);
}
