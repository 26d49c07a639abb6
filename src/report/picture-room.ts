/**
 * @module report/picture-room
 * Sizes the pictures of a page: each moment gets an equal share of the page's size limit.
 */
import { ranking, worstFrames } from './ranking.js';
import type { Report } from './schema.js';

export interface PictureFiles {
  readonly reference: Uint8Array;
  readonly distorted: Uint8Array;
  /** Heatmap of the distorted frame's quality loss. */
  readonly map?: Uint8Array;
}

/** Above this many encodes, two are shown side by side, with fewer moments each. */
export const MANY = 4;

export function listedMoments(encodes: number): number {
  return encodes > MANY ? 2 : Math.max(3, Math.floor(9 / encodes));
}

/** Frames of a report that a page of `encodes` lists, worst first. */
export function listedFrames(report: Report, encodes: number): readonly number[] {
  const by = ranking(report);
  return by ? worstFrames(report, by, listedMoments(encodes)).map(({ frameNum }) => frameNum) : [];
}

/** Default size limit of a page in million bytes: what mail servers accept. */
export const PAGE_MEGABYTES = 3;

export const PAGE_MEGABYTES_RANGE = [0.1, 1000] as const;

/** Longest side in pixels and quality of each attempt, best first. Quality 1 is lossless. */
const TRIES = [
  [960, 1],
  [960, 0.9],
  [960, 0.75],
  [640, 0.75],
  [384, 0.7],
  [192, 0.7],
] as const;

const WIDEST: number = TRIES[0][0];

/** Best lossless compression to expect: bytes of samples per byte of file. */
const COMPRESSIBLE = 4;

/** Bytes of one picture of a page at most, and of a moment's pictures together. */
export const LARGEST_PICTURE = 1 << 20;

export interface PictureTry {
  /** Longest side at most, in pixels. */
  readonly side: number;
  /** 0 to 1; 1 is lossless. */
  readonly quality: number;
  /** True if lossless files of this many samples each can fit; callers skip those that cannot. */
  fits(samples: number): boolean;
}

interface Moment {
  readonly frame: number;
  /** Width over height as shown. */
  readonly aspect: number;
  /** Skips an attempt with `undefined`. */
  write(attempt: PictureTry): Promise<PictureFiles | undefined>;
}

interface PagePicture extends PictureFiles {
  /** Index of the encode. */
  readonly report: number;
  readonly frame: number;
  readonly aspect: number;
}

/** Pictures for a page, the worst of every encode first, and sentences on why others are missing. */
export interface PagePictures {
  readonly pictures: readonly PagePicture[];
  readonly lacking: readonly string[];
}

export interface PageLimits {
  /** Size limit of the page, in million bytes. */
  readonly megabytes?: number;
  /** Size of the page without pictures, in bytes. */
  readonly bytes?: number;
}

export interface ListedEncode {
  readonly name: string;
  /** Worst first. */
  readonly frames: readonly number[];
}

interface PictureMaker<E extends ListedEncode> {
  /** Decodes the frames, in any order. */
  momentsOf(encode: E): AsyncIterable<Moment>;
  onMoment?(done: number, of: number): void;
  reasonOf(error: unknown): string;
  /** The option that allows more. */
  readonly remedy: string;
  readonly signal: AbortSignal;
}

/** Makes a page's pictures as large as fit; encodes that cannot be read again get none. Throws the signal's reason. */
export async function pagePicturesOf<E extends ListedEncode>(
  encodes: readonly E[],
  { megabytes = PAGE_MEGABYTES, bytes = 0 }: PageLimits,
  { momentsOf, onMoment, reasonOf, remedy, signal }: PictureMaker<E>,
): Promise<PagePictures> {
  const most = encodes.flatMap(({ frames }) => frames).length;
  // Base64 writes four characters for three bytes; the markup around a picture is small.
  const room = 0.74 * (megabytes * 1e6 - bytes);
  if (room <= 0) {
    const without = `${(bytes / 1e6).toFixed(1)} MB without them`;
    const why = `the page has ${without}, and the limit is ${megabytes} MB; ${remedy} allows more`;
    return { pictures: [], lacking: most === 0 ? [] : [`No pictures: ${why}.`] };
  }
  const made: (readonly PagePicture[])[] = [];
  const failed = new Map<string, string[]>();
  let [left, done, narrowest] = [room, 0, WIDEST];
  for (const [report, encode] of encodes.entries()) {
    const { name, frames } = encode;
    if (frames.length === 0) continue;
    const taken = new Map<number, PagePicture>();
    const before = done;
    try {
      for await (const { frame, aspect, write } of momentsOf(encode)) {
        const best = await bestWithin(left / Math.max(1, most - done), write);
        if (best) {
          taken.set(frame, { report, frame, aspect, ...best.files });
          left -= bytesOf(best.files);
          narrowest = Math.min(narrowest, best.side);
        }
        onMoment?.(++done, most);
      }
      // `taken` is in video order, `frames` by rank.
      made.push(frames.flatMap((frame) => taken.get(frame) ?? []));
    } catch (error) {
      signal.throwIfAborted();
      const why = reasonOf(error);
      failed.set(why, [...(failed.get(why) ?? []), name]);
    }
    // The share of moments without pictures goes to the others.
    done = before + frames.length;
  }
  const ranked = byRank(made);
  const pictures = fitting(ranked, room);
  const limit = `to keep the page below ${megabytes} MB; ${remedy} allows more.`;
  const [shown, all] = [pictures.length, ranked.length];
  const lacking = [...failed].map(([why, names]) => noPictures(names, why));
  if (shown < all) lacking.push(`${all - shown} of ${all} moments have no pictures, ${limit}`);
  if (shown > 0 && narrowest < WIDEST)
    lacking.push(`Some pictures are at most ${narrowest} pixels wide, ${limit}`);
  return { pictures, lacking };
}

/** The best pictures of a moment within its share of bytes, or the smallest, and their longest side at most. */
async function bestWithin(bytes: number, make: Moment['write']) {
  const share = Math.min(LARGEST_PICTURE, bytes);
  const fits = (samples: number) => 3 * samples <= COMPRESSIBLE * share;
  let files: PictureFiles | undefined;
  let used = WIDEST;
  for (const [side, quality] of TRIES) {
    if (files && bytesOf(files) <= share) break;
    files = (await make({ side, quality, fits })) ?? files;
    used = side;
  }
  return files && { files, side: used };
}

/** The pictures that fit; `made` has the most important first. */
function fitting(made: readonly PagePicture[], bytes: number): readonly PagePicture[] {
  let room = bytes;
  const beyond = made.findIndex((files) => {
    room -= bytesOf(files);
    return room < 0;
  });
  return made.slice(0, beyond === -1 ? undefined : beyond);
}

export function noPictures(names: readonly string[], why: string): string {
  return `No pictures of ${names.join(', ')}: ${/[.!?]$/.test(why) ? why : `${why}.`}`;
}

/** The worst of every encode, then the second of every encode. */
function byRank<T>(made: readonly (readonly T[])[]): T[] {
  const most = Math.max(0, ...made.map(({ length }) => length));
  return Array.from({ length: most }, (_, rank) => made.flatMap((of) => of[rank] ?? [])).flat();
}

function bytesOf({ reference, distorted, map }: PictureFiles): number {
  return reference.length + distorted.length + (map?.length ?? 0);
}
