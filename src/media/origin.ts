/**
 * @module media/origin
 * Who named the files of a call, which decides what may be opened because of them.
 */

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
