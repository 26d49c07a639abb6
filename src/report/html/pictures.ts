/**
 * @module report/html/pictures
 * Pictures of the worst frames, embedded: small files that the caller made.
 */
import { isArray, requireObject } from '../../core/arguments.js';
import { usageError } from '../../core/errors.js';
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
  readonly map?: Uint8Array | undefined;
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

/** Checks a list of pictures. @throws {AnyvmafError} `usage` for anything else */
export function checkPictures(pictures: unknown): readonly HtmlPictures[] {
  if (pictures === undefined) return [];
  if (!isArray(pictures)) throw usageError('options.pictures must be a list of pictures of frames.');
  const list = pictures as readonly HtmlPictures[];
  for (const [i, one] of list.entries()) requireObject(`options.pictures[${i}]`, one, 'pictures of a frame');
  return list;
}
