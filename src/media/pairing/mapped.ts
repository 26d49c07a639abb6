/**
 * @module media/pairing/mapped
 * Repeats and skips frames of another source.
 */
import { allocateFrame, copyPlanes, type FramePlanes } from '../../core/frame.js';
import type { FrameSource, VideoInfo } from '../types.js';

/** Frame n is frame `frames[n]` of another source. */
export class MappedSource implements FrameSource {
  readonly info: VideoInfo;
  readonly seekable: boolean;
  readonly #source: FrameSource;
  readonly #frames: ArrayLike<number>;
  /** The frame that the next read repeats, if the source reads each frame only once. */
  #kept: { readonly frame: number; readonly planes: FramePlanes } | undefined;

  #look: ((luma: Uint8Array) => boolean) | undefined;
  #shown = 0;

  /** @param frames ascending; numbers may repeat */
  constructor(source: FrameSource, frames: ArrayLike<number>) {
    this.info = { ...source.info, frameCount: frames.length };
    this.seekable = source.seekable;
    this.#source = source;
    this.#frames = frames;
  }

  /**
   * Makes later reads pass the luma of all frames, skipped ones too, from the first used one, until `look` returns
   * false.
   */
  showAll(look: (luma: Uint8Array) => boolean): void {
    this.#look = look;
  }

  readFrame(index: number, into: FramePlanes): boolean | Promise<boolean> {
    const frame = this.#frames[index];
    if (frame === undefined) return false;
    return this.#look ? this.#readShowing(index, frame, into) : this.#readMapped(index, frame, into);
  }

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
      copyPlanes(this.#kept.planes, into);
      return true;
    }
    if (this.seekable || this.#frames[index + 1] !== frame) return this.#source.readFrame(frame, into);
    const planes = this.#kept?.planes ?? allocateFrame(this.info);
    // The next read may want chroma if this one does not.
    const whole = { ...planes, ...into };
    const keep = (found: boolean): boolean => {
      if (found) {
        copyPlanes(whole, planes);
        this.#kept = { frame, planes };
      }
      return found;
    };
    const reading = this.#source.readFrame(frame, whole);
    return typeof reading === 'boolean' ? keep(reading) : reading.then(keep);
  }

  close(): Promise<void> | void {
    return this.#source.close();
  }
}
