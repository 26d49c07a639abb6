/**
 * @module engine/measure/native-feed
 * Feeds a pair to an installed program by a pipe per video. Neither waits, as the program decides which it reads first.
 */

import type { FramePlanes, VideoFormat } from '../../core/frame.js';
import { chromaSize, lumaBytes, sampleBytes, storedChromaSize } from '../../core/frame.js';
import type { PictureSize } from '../../core/size.js';
import { MediaError } from '../../media/errors.js';
import type { PairSources } from '../../media/pairing/prepare.js';
import type { FrameSource } from '../../media/types.js';
import type { Feed } from '../backends/native/host.js';
import type { EndOfPair } from '../contract/protocol.js';
import type { Extent } from '../pair/pair.js';

export interface PipeForm {
  readonly format: VideoFormat;
  /** Whether chroma planes of odd sizes are rounded up, repeating their last samples. */
  readonly roundedUp: boolean;
  /** Y4M with its headers; otherwise samples alone. */
  readonly y4m: boolean;
}

type Role = keyof EndOfPair;

interface Progress {
  /** Frames that the program took. */
  sent: number;
  /** Number of the first missing frame. */
  ended?: number;
  /** Error of the incomplete frame in which it ends. */
  incomplete?: MediaError;
}

export class PairFeed {
  readonly #pair: PairSources;
  readonly #form: PipeForm;
  readonly #limit: number;
  readonly #onPair: () => void;
  readonly #sides: Record<Role, Progress> = { reference: { sent: 0 }, distorted: { sent: 0 } };
  #pairs = 0;
  /** One source may serve as both videos, and takes one call at a time. */
  #reading: Promise<unknown> = Promise.resolve();

  /** @param limit most pairs, `Infinity` for all @param onPair called for every pair that the program took */
  constructor(pair: PairSources, form: PipeForm, limit: number, onPair: () => void) {
    this.#pair = pair;
    this.#form = form;
    this.#limit = limit;
    this.#onPair = onPair;
  }

  /** Fills the pipe of one video. @throws errors of reading its frames */
  feed(role: Role): Feed {
    return async (write) => {
      const source = this.#pair[role];
      const skip = this.#pair.skip[role];
      const side = this.#sides[role];
      const frames = [new PipedFrame(this.#form), new PipedFrame(this.#form)] as const;
      if (this.#form.y4m && !(await write(y4mHeader(this.#form.format)))) return;
      // Read the next frame while the program takes this one.
      let taking = Promise.resolve(true);
      const count = () => {
        side.sent++;
        const pairs = Math.min(this.#sides.reference.sent, this.#sides.distorted.sent);
        if (pairs > this.#pairs) this.#onPair();
        this.#pairs = pairs;
      };
      // At the frame where the other video ended, only check whether it exists.
      for (let index = 0; index < this.#limit && index <= this.#last(); index++) {
        const frame = frames[index % 2 === 0 ? 0 : 1];
        try {
          if (!(await this.#read(source, skip + index, frame.planes))) {
            side.ended = index;
            break;
          }
        } catch (error) {
          // Whether the frame is missed depends on the other video.
          if (!(error instanceof MediaError && error.reason === 'incomplete')) throw error;
          side.incomplete = error;
          side.ended = index;
          break;
        }
        if (index === this.#last()) break;
        if (!(await taking)) return;
        taking = write(frame.pack()).then((taken) => {
          if (taken) count();
          return taken;
        });
      }
      await taking;
    };
  }

  /**
   * Number of pairs, as far as known; `null` if the program read neither video to its end.
   * @throws {MediaError} if a frame of a pair is incomplete
   */
  extent(): Extent | null {
    const { reference, distorted } = this.#sides;
    const pairs = this.#last();
    for (const [side, other] of [
      [reference, distorted],
      [distorted, reference],
    ] as const) {
      const ends = other.incomplete === undefined && other.ended !== undefined && other.ended <= pairs;
      if (side.incomplete && side.ended === pairs && !ends) throw side.incomplete;
    }
    if (!Number.isFinite(pairs)) return null;
    if (reference.ended === undefined && distorted.ended === undefined) return { pairs, ended: null };
    return {
      pairs,
      ended: { reference: reference.ended === pairs, distorted: distorted.ended === pairs },
    };
  }

  /** Number of the first pair that is missing or not wanted, as far as known. */
  #last(): number {
    const { reference, distorted } = this.#sides;
    const end = (side: Progress) => side.ended ?? Number.POSITIVE_INFINITY;
    return Math.min(this.#limit, end(reference), end(distorted));
  }

  #read(source: FrameSource, index: number, into: FramePlanes): Promise<boolean> | boolean {
    if (this.#pair.reference !== this.#pair.distorted) return source.readFrame(index, into);
    const next = this.#reading.then(() => source.readFrame(index, into));
    this.#reading = next.catch(() => {});
    return next;
  }
}

const FRAME = new TextEncoder().encode('FRAME\n');

class PipedFrame {
  /** Where a source writes the frame. */
  readonly planes: FramePlanes;
  readonly #bytes: Uint8Array;
  /** Chroma planes to pad, if stored and scored sizes differ. */
  readonly #spread: readonly Spread[];

  constructor({ format, roundedUp, y4m }: PipeForm) {
    const bytes = sampleBytes(format.bitDepth);
    const scored = chromaSize(format);
    const stored = roundedUp ? storedChromaSize(format) : scored;
    const luma = lumaBytes(format);
    const plane = stored.width * stored.height * bytes;
    const start = y4m ? FRAME.length : 0;
    this.#bytes = new Uint8Array(start + luma + 2 * plane);
    if (y4m) this.#bytes.set(FRAME);
    const part = (at: number, size: number) => this.#bytes.subarray(start + at, start + at + size);
    const chroma = [part(luma, plane), part(luma + plane, plane)] as const;
    const same = stored.width === scored.width && stored.height === scored.height;
    const [cb, cr] = same ? chroma : chroma.map(() => new Uint8Array(scored.width * scored.height * bytes));
    this.planes = { y: part(0, luma), ...(cb && cr && { cb, cr }) };
    this.#spread = same
      ? []
      : [cb, cr].flatMap((from, i) => {
          const to = chroma[i];
          return from && to ? [{ from, to, scored, stored, bytes }] : [];
        });
  }

  /** Returns the bytes of the frame in {@link planes}. */
  pack(): Uint8Array {
    for (const plane of this.#spread) spread(plane);
    return this.#bytes;
  }
}

interface Spread {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  readonly scored: PictureSize;
  readonly stored: PictureSize;
  readonly bytes: number;
}

/** Repeats the last column and the last row. */
function spread({ from, to, scored, stored, bytes }: Spread): void {
  const width = scored.width * bytes;
  const stride = stored.width * bytes;
  for (let y = 0; y < scored.height; y++) {
    to.set(from.subarray(y * width, (y + 1) * width), y * stride);
    if (stride > width) to.copyWithin(y * stride + width, y * stride + width - bytes, y * stride + width);
  }
  if (stored.height > scored.height) {
    to.copyWithin(scored.height * stride, (scored.height - 1) * stride, scored.height * stride);
  }
}

/** Declares one rate for both videos, so that filters pair them by number. */
function y4mHeader({ width, height, chroma, bitDepth }: VideoFormat): Uint8Array {
  const tag = bitDepth === 8 ? (chroma === '420' ? '420jpeg' : chroma) : `${chroma}p${bitDepth}`;
  return new TextEncoder().encode(`YUV4MPEG2 W${width} H${height} F25:1 Ip A1:1 C${tag}\n`);
}
