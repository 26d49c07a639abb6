/**
 * @module report/picture-room
 * How large the pictures on a page may be: each moment has an equal share of the room, so that the page stays below the size that
 * its user sets.
 */
import type { Report } from './types.js';
import { ranking, worstFrames } from './worst.js';

/** Files of the pictures of one moment. */
export interface PictureFiles {
  readonly reference: Uint8Array;
  readonly distorted: Uint8Array;
  /** Where the distorted frame lost quality. */
  readonly map?: Uint8Array;
}

/** Encodes beyond which two stand beside each other, with fewer moments of each. */
export const MANY = 4;

/** Moments that the page lists of each of its encodes. */
export function listedMoments(encodes: number): number {
  return encodes > MANY ? 2 : Math.max(3, Math.floor(9 / encodes));
}

/** The frames of a report that a page of so many encodes lists, the worst first. */
export function listedFrames(report: Report, encodes: number): readonly number[] {
  const by = ranking(report);
  return by ? worstFrames(report, by, listedMoments(encodes)).map(({ frameNum }) => frameNum) : [];
}

/** Million bytes that a page has at most unless its user says otherwise: what mail servers pass on. */
export const PAGE_MEGABYTES = 3;

/** The least and the most that users may say. */
export const PAGE_MEGABYTES_RANGE = [0.1, 1000] as const;

/** Sides in pixels and qualities of the tries, the best first. Quality 1 is lossless. */
const TRIES = [
  [960, 1],
  [960, 0.9],
  [960, 0.75],
  [640, 0.75],
  [384, 0.7],
  [192, 0.7],
] as const;

/** Lossless files of more samples for each byte of a share would not fit. */
const COMPRESSIBLE = 4;

/** Bytes of a moment's pictures at most: a page takes no larger file. */
const LARGEST = 1 << 20;

/** How to make the pictures of a moment. */
export interface PictureTry {
  /** Longest side at most, in pixels. */
  readonly side: number;
  /** 0 to 1; 1 is lossless. */
  readonly quality: number;
  /** Whether lossless files of this many samples each can fit; callers skip those that cannot. */
  fits(samples: number): boolean;
}

/** The room for pictures on a page. */
class PictureRoom {
  readonly #megabytes: number;
  readonly #bytes: number;
  readonly #whole: number;
  #left: number;
  #moments: number;
  #least: number = TRIES[0][0];

  /**
   * @param megabytes million bytes that the page may have
   * @param bytes that it has without pictures
   * @param moments that are to have pictures
   */
  constructor(megabytes: number, bytes: number, moments: number) {
    this.#megabytes = megabytes;
    this.#bytes = bytes;
    // Base64 writes four characters for three bytes; what is around each picture is small.
    this.#whole = 0.74 * (megabytes * 1e6 - bytes);
    this.#left = this.#whole;
    this.#moments = moments;
  }

  /** Whether the page is below its size without pictures. */
  get exists(): boolean {
    return this.#whole > 0;
  }

  /** Leaves the room of moments that have no pictures to the others. */
  pass(moments: number): void {
    this.#moments -= moments;
  }

  /**
   * Makes the pictures of the next moment: the best that fit its share, or the smallest.
   * @param make `undefined` where a try is not worth it
   */
  async take<T extends PictureFiles>(
    make: (one: PictureTry) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const share = Math.min(LARGEST, this.#left / Math.max(1, this.#moments--));
    const fits = (samples: number) => 3 * samples <= COMPRESSIBLE * share;
    let made: T | undefined;
    let used = 0;
    for (const [side, quality] of TRIES) {
      if (made && bytesOf(made) <= share) break;
      made = (await make({ side, quality, fits })) ?? made;
      used = side;
    }
    if (!made) return undefined;
    this.#left -= bytesOf(made);
    this.#least = Math.min(this.#least, used);
    return made;
  }

  /**
   * The pictures that fit.
   * @param made the most important first
   */
  within<T extends PictureFiles>(made: readonly T[]): readonly T[] {
    let room = this.#whole;
    const beyond = made.findIndex((one) => {
      room -= bytesOf(one);
      return room < 0;
    });
    return made.slice(0, beyond === -1 ? undefined : beyond);
  }

  /**
   * Why pictures are small or missing, in sentences.
   * @param shown how many of `made` moments have pictures
   * @param remedy what allows more, as the door names it
   */
  said(shown: number, made: number, remedy: string): readonly string[] {
    if (!this.exists) {
      const without = (this.#bytes / 1e6).toFixed(1);
      return made === 0
        ? []
        : [
            `There are no pictures: without them the page has ${without} MB of at most ${this.#megabytes}; ${remedy} allows more.`,
          ];
    }
    const limit = `for the page to stay below ${this.#megabytes} MB; ${remedy} allows more.`;
    return [
      ...(shown < made ? [`${made - shown} of ${made} moments have no pictures, ${limit}`] : []),
      ...(shown > 0 && this.#least < TRIES[0][0]
        ? [`Some pictures are at most ${this.#least} pixels wide, ${limit}`]
        : []),
    ];
  }
}

/** A moment whose pictures are to be made. */
interface Moment {
  readonly frame: number;
  /** Width over height as shown. */
  readonly aspect: number;
  write(one: PictureTry): Promise<PictureFiles | undefined>;
}

/** The pictures of a moment on a page. */
interface PagePicture extends PictureFiles {
  /** Which of the encodes it is of, from 0. */
  readonly report: number;
  readonly frame: number;
  readonly aspect: number;
}

/** Pictures for a page, the worst of every encode first, and why it lacks others, in sentences. */
export interface PagePictures {
  readonly pictures: readonly PagePicture[];
  readonly lacking: readonly string[];
}

/** What limits pictures. */
export interface PageLimits {
  /** Million bytes that the page may have. */
  readonly megabytes?: number;
  /** Bytes that it has without pictures. */
  readonly bytes?: number;
}

/** An encode on a page. */
export interface ListedEncode {
  readonly name: string;
  /** The worst first. */
  readonly frames: readonly number[];
}

/** How a door makes pictures, and speaks of them. */
interface PictureMaker<E extends ListedEncode> {
  /** Decodes the frames, in any order. */
  momentsOf(encode: E): AsyncIterable<Moment>;
  /** Told of each moment that is done. */
  onMoment?(done: number, of: number): void;
  reasonOf(error: unknown): string;
  /** What allows more. */
  readonly remedy: string;
  readonly signal: AbortSignal;
}

/**
 * Pictures for a page, as large as fit on it. An encode whose files cannot be read again has none.
 * @throws the signal's reason
 */
export async function pagePicturesOf<E extends ListedEncode>(
  encodes: readonly E[],
  { megabytes = PAGE_MEGABYTES, bytes = 0 }: PageLimits,
  { momentsOf, onMoment, reasonOf, remedy, signal }: PictureMaker<E>,
): Promise<PagePictures> {
  const most = encodes.flatMap(({ frames }) => frames).length;
  const room = new PictureRoom(megabytes, bytes, most);
  if (!room.exists) return { pictures: [], lacking: room.said(0, most, remedy) };
  const made: (readonly PagePicture[])[] = [];
  const failed = new Map<string, string[]>();
  let done = 0;
  for (const [report, encode] of encodes.entries()) {
    const { name, frames } = encode;
    if (frames.length === 0) continue;
    const taken = new Map<number, PagePicture>();
    const before = done;
    try {
      for await (const { frame, aspect, write } of momentsOf(encode)) {
        const files = await room.take(write);
        if (files) taken.set(frame, { report, frame, aspect, ...files });
        onMoment?.(++done, most);
      }
      // They came in the order of the video.
      made.push(frames.flatMap((frame) => taken.get(frame) ?? []));
    } catch (error) {
      signal.throwIfAborted();
      const why = reasonOf(error);
      failed.set(why, [...(failed.get(why) ?? []), name]);
    }
    room.pass(before + frames.length - done);
    done = before + frames.length;
  }
  const ranked = byRank(made);
  const pictures = room.within(ranked);
  const lacking = [...failed].map(([why, names]) => noPictures(names, why));
  return { pictures, lacking: [...lacking, ...room.said(pictures.length, ranked.length, remedy)] };
}

/** Says why encodes have no pictures. */
export function noPictures(names: readonly string[], why: string): string {
  return `There are no pictures of ${names.join(', ')}: ${/[.!?]$/.test(why) ? why : `${why}.`}`;
}

/** The worst of all encodes, then the second of all. */
function byRank<T>(made: readonly (readonly T[])[]): T[] {
  const most = Math.max(0, ...made.map(({ length }) => length));
  return Array.from({ length: most }, (_, rank) => made.flatMap((of) => of[rank] ?? [])).flat();
}

function bytesOf({ reference, distorted, map }: PictureFiles): number {
  return reference.length + distorted.length + (map?.length ?? 0);
}
