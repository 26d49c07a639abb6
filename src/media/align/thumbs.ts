/**
 * @module media/align/thumbs
 * Thumbnails of a video's first frames: read on demand and shared among searches, or pushed by the caller.
 */
import { lumaBytes } from '../../core/frame.js';
import type { Thumbs } from '../pairing/types.js';
import type { FrameSource } from '../types.js';
import { type LumaFormat, THUMBNAIL, Thumbnailer } from './thumbnail.js';

export interface OpenedPart {
  readonly source: FrameSource;
  /** Index in `source` of the part's first frame. */
  readonly start: number;
}

/** Opens frames [first, end) of a video. */
type OpenPart = (first: number, end: number) => Promise<OpenedPart>;

interface ThumbsReader extends Thumbs {
  /** Stops this reader; the last one closes the video. */
  close(): Promise<void>;
}

interface Reading {
  readonly end: number;
  readonly opening: Promise<OpenedPart & { readonly thumbnailer: Thumbnailer; readonly luma: Uint8Array }>;
}

/** Thumbnails (9 kB each) of the frames read so far; reads more on demand. */
export class RecordedThumbs {
  readonly #open: OpenPart;
  readonly #thumbs: Float32Array[] = [];
  #ended = false;
  #readers = 0;
  #part: Reading | undefined;
  #step: Promise<void> | undefined;

  constructor(open: OpenPart) {
    this.#open = open;
  }

  /** @param most frames that this reader needs, where the decoder may stop */
  reader(most: number): ThumbsReader {
    let handed = 0;
    let closed = false;
    const ended = () => this.#ended && handed >= this.#thumbs.length;
    this.#readers++;
    return {
      get ended() {
        return ended();
      },
      readTo: async (frames, take, signal) => {
        while (handed < Math.min(frames, most) && !ended()) {
          signal?.throwIfAborted();
          const thumb = this.#thumbs[handed];
          if (thumb) {
            take(thumb);
            handed++;
          } else {
            this.#step ??= this.#read(most).finally(() => {
              this.#step = undefined;
            });
            await this.#step;
          }
        }
      },
      close: async () => {
        if (closed) return;
        closed = true;
        if (--this.#readers === 0) await this.#close();
      },
    };
  }

  async #read(most: number): Promise<void> {
    const next = this.#thumbs.length;
    if (this.#part && this.#part.end <= next) await this.#close();
    this.#part ??= { end: most, opening: this.#begin(next, most) };
    const { end, opening } = this.#part;
    const { source, start, thumbnailer, luma } = await opening;
    if (await source.readFrame(start + next, { y: luma })) this.#thumbs.push(thumbnailer.shrink(luma));
    else this.#ended = next < end;
  }

  async #begin(first: number, end: number) {
    const { source, start } = await this.#open(first, end);
    const thumbnailer = new Thumbnailer(source.info, THUMBNAIL.width, THUMBNAIL.height);
    const luma = new Uint8Array(lumaBytes(source.info));
    // Relative to the video's first frame.
    return { source, start: start - first, thumbnailer, luma };
  }

  async #close(): Promise<void> {
    const part = this.#part;
    this.#part = undefined;
    const opened = await part?.opening.catch(() => undefined);
    await opened?.source.close();
  }
}

/** Thumbnails of frames that the caller pushes. */
export class PassingThumbs implements Thumbs {
  readonly #thumbnailer: Thumbnailer;
  readonly #waiting: Float32Array[] = [];
  #handed = 0;
  #over = false;
  #wake: () => void = () => {};

  constructor(format: LumaFormat) {
    this.#thumbnailer = new Thumbnailer(format, THUMBNAIL.width, THUMBNAIL.height);
  }

  get ended(): boolean {
    return this.#over && this.#waiting.length === 0;
  }

  /** Adds the next frame; returns false, and ignores it, after {@link end}. */
  add(luma: Uint8Array): boolean {
    if (this.#over) return false;
    this.#waiting.push(this.#thumbnailer.shrink(luma));
    this.#wake();
    return true;
  }

  end(): void {
    this.#over = true;
    this.#wake();
  }

  async readTo(frames: number, take: (thumb: Float32Array) => void, signal?: AbortSignal): Promise<void> {
    while (this.#handed < frames) {
      signal?.throwIfAborted();
      const next = this.#waiting.shift();
      if (next) {
        take(next);
        this.#handed++;
        continue;
      }
      if (this.#over) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
