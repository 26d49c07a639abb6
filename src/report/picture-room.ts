/**
 * @module report/picture-room
 * How large the pictures on a page may be: each moment has an equal share of the room, so that the page stays below the size that
 * its user sets.
 */

/** Files of the pictures of one moment. */
export interface PictureFiles {
  readonly reference: Uint8Array;
  readonly distorted: Uint8Array;
  /** Where the distorted frame lost quality. */
  readonly map?: Uint8Array;
}

/** Million bytes that a page has at most unless its user says otherwise: what mail servers pass on. */
export const PAGE_MEGABYTES = 3;

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
export class PictureRoom {
  readonly #megabytes: number;
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
    // Base64 writes four characters for three bytes; what is around each picture is small.
    this.#whole = 0.74 * (megabytes * 1e6 - bytes);
    this.#left = this.#whole;
    this.#moments = moments;
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
    const limit = `for the page to stay below ${this.#megabytes} MB; ${remedy} allows more.`;
    return [
      ...(shown < made ? [`${made - shown} of ${made} moments have no pictures, ${limit}`] : []),
      ...(shown > 0 && this.#least < TRIES[0][0]
        ? [`Some pictures are at most ${this.#least} pixels wide, ${limit}`]
        : []),
    ];
  }
}

/** The worst of all encodes, then the second of all. */
export function byRank<T>(made: readonly (readonly T[])[]): T[] {
  const most = Math.max(0, ...made.map(({ length }) => length));
  return Array.from({ length: most }, (_, rank) => made.flatMap((of) => of[rank] ?? [])).flat();
}

function bytesOf({ reference, distorted, map }: PictureFiles): number {
  return reference.length + distorted.length + (map?.length ?? 0);
}
