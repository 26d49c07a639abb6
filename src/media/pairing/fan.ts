/**
 * @module media/pairing/fan
 * Shares a decoder among several readers: decodes each frame once and keeps it until the slowest reader has read it.
 */
import type { FramePlanes } from '../../core/frame.js';
import { allocateFrame, copyPlanes } from '../../core/frame.js';
import type { DecodedSource } from '../decoder.js';

export interface FramePart {
  readonly start: number;
  /** Exclusive; `Infinity` for the end of the video. */
  readonly end: number;
}

const WHOLE: FramePart = { start: 0, end: Number.POSITIVE_INFINITY };

export function hull(parts: readonly FramePart[]): FramePart {
  return {
    start: Math.min(...parts.map(({ start }) => start)),
    end: Math.max(...parts.map(({ end }) => end)),
  };
}

const FRAMES_AHEAD = 8;

export class Fan {
  readonly #source: DecodedSource;
  /** Next frame of each reader; `Infinity` once closed. */
  readonly #next: number[];
  readonly #frames = new Map<number, FramePlanes>();
  readonly #spare: FramePlanes[] = [];
  #decoded = 0;
  #end = Number.POSITIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #failure: unknown;
  #waiting: (() => void)[] = [];

  constructor(source: DecodedSource, readers: number) {
    this.#source = source;
    this.#next = new Array<number>(readers).fill(0);
  }

  /**
   * Source of a reader, from 0, each once. The last one to close closes the decoder.
   * @param part of the decoder's frames; its start is the reader's frame 0
   */
  tap(reader: number, { start, end }: FramePart = WHOLE): DecodedSource {
    const source = this.#source;
    const { frameCount } = source.info;
    this.#advance(reader, start);
    return {
      info: {
        ...source.info,
        frameCount: frameCount === null ? null : Math.max(0, Math.min(frameCount, end) - start),
      },
      seekable: false,
      facts: source.facts,
      decoder: source.decoder,
      decodedBy: source.decodedBy,
      ...(source.scaledBy !== undefined && { scaledBy: source.scaledBy }),
      timestamp: (index) => source.timestamp(start + index),
      readFrame: (index, into) => start + index < end && this.#read(reader, start + index, into),
      close: () => this.#close(reader),
    };
  }

  async #read(reader: number, index: number, into: FramePlanes): Promise<boolean> {
    this.#advance(reader, index);
    for (;;) {
      const frame = this.#frames.get(index);
      if (frame) {
        copyPlanes(frame, into);
        this.#advance(reader, index + 1);
        return true;
      }
      if (this.#failure !== undefined) throw this.#failure;
      if (index >= this.#end || this.#next[reader] === Number.POSITIVE_INFINITY) return false;
      if (!this.#reading && this.#decoded < Math.min(...this.#next) + FRAMES_AHEAD) {
        this.#reading = this.#decode();
      }
      await (this.#reading ?? new Promise<void>((resolve) => this.#waiting.push(resolve)));
    }
  }

  async #decode(): Promise<void> {
    // Include chroma, since some readers want it for a few frames.
    const planes = this.#spare.pop() ?? allocateFrame(this.#source.info);
    try {
      if (await this.#source.readFrame(this.#decoded, planes)) this.#frames.set(this.#decoded++, planes);
      else this.#end = this.#decoded;
    } catch (error) {
      this.#failure = error;
    }
    this.#reading = undefined;
    this.#wake();
  }

  #advance(reader: number, next: number): void {
    if (this.#next[reader]! >= next) return;
    this.#next[reader] = next;
    const slowest = Math.min(...this.#next);
    for (const [index, planes] of this.#frames) {
      if (index >= slowest) break;
      this.#frames.delete(index);
      this.#spare.push(planes);
    }
    this.#wake();
  }

  async #close(reader: number): Promise<void> {
    this.#advance(reader, Number.POSITIVE_INFINITY);
    if (this.#next.every((next) => next === Number.POSITIVE_INFINITY)) await this.#source.close();
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
