/**
 * @module core/origin
 * Who named the files of a call, which decides what may be opened.
 */
import { isObject, oneOf, wrongType } from './arguments.js';

/**
 * Who named the files of a call.
 *
 * A file named by the user of a program may be a playlist, whose files are opened too. A file named by someone else,
 * such as an agent or an uploader, is opened only if it holds its whole video: never a playlist, a manifest, a pattern
 * of pictures or anything else that makes a decoder open more files.
 */
export interface Origin {
  readonly by: 'user' | 'foreign';
  /**
   * With `foreign`: real paths of the folders that must contain every file read: videos, models with their files,
   * tables. The opened file is checked rather than its name, which could become a link in the meantime. Default:
   * anywhere.
   */
  readonly folders?: readonly string[];
}

/** The default origin of calls. */
export const BY_USER: Origin = { by: 'user' };
/** The strictest origin if no folders are known. */
export const FOREIGN: Origin = { by: 'foreign' };

/** @throws {AnyvmafError} `usage` */
export function checkOrigin(origin: Origin | undefined): void {
  if (origin === undefined) return;
  if (!isObject(origin)) throw wrongType('origin', origin, 'an object with by');
  oneOf('origin.by', origin.by, ['user', 'foreign']);
  const { by, folders } = origin;
  if (folders === undefined) return;
  if (by === 'foreign' && Array.isArray(folders) && folders.every((folder) => typeof folder === 'string'))
    return;
  throw wrongType('origin.folders', folders, "a list of real paths, and only with by 'foreign'");
}
