/**
 * @module core/origin
 * Who named the files of a call, which decides what may be opened because of them.
 */
import { isObject, oneOf } from './arguments.js';
import { usageError } from './errors.js';
import { showValue } from './printable.js';

/**
 * Who named the files of a call.
 *
 * What the user of a program names may be a playlist, whose files are then opened too. What someone else names, such as
 * an agent, or who uploads videos, is opened only as a file that holds its whole video: never a playlist, a manifest, a
 * pattern of pictures or anything else that makes a decoder open further files.
 */
export interface Origin {
  readonly by: 'user' | 'foreign';
  /**
   * With `foreign`: real paths of folders, below which every file must lie that is read: videos, models and what belongs
   * to them, tables. The file that was opened is what is checked, not its name, so that a name that turns into a link
   * meanwhile leads nowhere. Default: anywhere.
   */
  readonly folders?: readonly string[];
}

/** Of calls that say nothing. */
export const BY_USER: Origin = { by: 'user' };

/** The strictest that can be said without knowing folders. */
export const FOREIGN: Origin = { by: 'foreign' };

/**
 * Who named the files.
 * @throws {AnyvmafError} `usage`
 */
export function checkOrigin(origin: Origin | undefined): void {
  if (origin === undefined) return;
  if (!isObject(origin)) {
    throw usageError(`origin is ${showValue(origin)}, but it must be an object with by.`);
  }
  oneOf('origin.by', origin.by, ['user', 'foreign']);
  const { by, folders } = origin;
  if (folders === undefined) return;
  if (by === 'foreign' && Array.isArray(folders) && folders.every((one) => typeof one === 'string')) return;
  throw usageError(
    `origin.folders is ${showValue(folders)}, but it must be a list of real paths, and goes with by foreign only.`,
  );
}
