/**
 * @module media/pairing/mapped
 * A source that gives frames of another in an order of their own: some twice, some not at all.
 */
import type { FramePlanes, FrameSource, VideoInfo } from '../types.js';

/** A source whose frame n is frame `frames[n]` of another. */
export class MappedSource implements FrameSource {
  readonly info: VideoInfo;
  readonly seekable: boolean;
  readonly #source: FrameSource;
  readonly #frames: ArrayLike<number>;
  /** The latest frame that will be asked for again, of a source that gives each once. */
  #kept: { readonly frame: number; readonly planes: FramePlanes } | undefined;

  /** @param frames ascending; numbers may repeat */
  constructor(source: FrameSource, frames: ArrayLike<number>) {
    this.info = { ...source.info, frameCount: frames.length };
    this.seekable = source.seekable;
    this.#source = source;
    this.#frames = frames;
  }

  readFrame(index: number, into: FramePlanes): boolean | Promise<boolean> {
    const frame = this.#frames[index];
    if (frame === undefined) return false;
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
