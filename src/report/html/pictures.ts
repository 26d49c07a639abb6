/**
 * @module report/html/pictures
 * Pictures of the worst frames, embedded: small files that the caller made.
 */
import { isArray, requireObject } from '../../core/arguments.js';
import { usageError } from '../../core/errors.js';
import { showValue } from '../../core/printable.js';
import { base64 } from './pack.js';

/** Pictures of one frame: small JPEG, PNG or WebP files. */
export interface HtmlPictures {
  /** Which of the reports it is of, from 0. */
  readonly report: number;
  /** `frameNum` of the frame. */
  readonly frame: number;
  readonly reference: Uint8Array;
  readonly distorted: Uint8Array;
  /** Where the distorted frame lost quality. */
  readonly map?: Uint8Array;
  /** Width over height as shown. Default: that of each file. */
  readonly aspect?: number;
}

/** Encodes beyond which two stand beside each other, with fewer moments of each. */
export const MANY = 4;

/** Moments that the page lists of each of its encodes. */
export function listedMoments(encodes: number): number {
  return encodes > MANY ? 2 : Math.max(3, Math.floor(9 / encodes));
}

/** Bytes of a picture at most: the page holds many. */
const MOST = 1 << 20;

/** How files begin. */
const STARTS = [
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/png', [0x89, 0x50, 0x4e, 0x47]],
  ['image/webp', [0x52, 0x49, 0x46, 0x46]],
] as const;

/** A picture as the address of an image. @throws {AnyvmafError} `usage` if it is no picture, or a large one */
export function pictureUrl(name: string, bytes: unknown): string {
  if (!(bytes instanceof Uint8Array))
    throw usageError(`${name} must be the bytes of a JPEG, PNG or WebP file.`);
  if (bytes.length > MOST)
    throw usageError(`${name} has ${bytes.length} bytes, but may have at most ${MOST}: make it smaller.`);
  const type = STARTS.find(([, start]) => start.every((byte, i) => bytes[i] === byte))?.[0];
  if (type === undefined) throw usageError(`${name} is no JPEG, PNG or WebP file.`);
  return `data:${type};base64,${base64(bytes)}`;
}

/** Checks what is said of pictures that are not there. @throws {AnyvmafError} `usage` for anything else */
export function checkLacking(lacking: unknown): readonly string[] {
  if (lacking === undefined) return [];
  const list = isArray(lacking) ? (lacking as readonly unknown[]) : [undefined];
  if (!list.every((one) => typeof one === 'string'))
    throw usageError('options.picturesLacking must be a list of sentences.');
  return list;
}

/** Checks a list of pictures. @throws {AnyvmafError} `usage` for anything else */
export function checkPictures(pictures: unknown): readonly HtmlPictures[] {
  if (pictures === undefined) return [];
  if (!isArray(pictures)) throw usageError('options.pictures must be a list of pictures of frames.');
  const list = pictures as readonly HtmlPictures[];
  for (const [i, one] of list.entries()) {
    const name = `options.pictures[${i}]`;
    requireObject(name, one, 'pictures of a frame');
    const { aspect = 1 } = one;
    if (!(typeof aspect === 'number' && aspect > 0 && Number.isFinite(aspect)))
      throw usageError(`${name}.aspect must be a number above 0, but is ${showValue(aspect)}.`);
  }
  return list;
}
