/**
 * @module files/file-url
 * Paths of `file:` URLs.
 */
import { fileURLToPath } from 'node:url';
import { usageError } from '../core/errors.js';
import { quoted, shown } from '../core/printable.js';

/**
 * Returns the path of a `file:` URL, also as text, as desktops put it into the clipboard; other text unchanged.
 * @throws {AnyvmafError} `usage` for a URL that names no file of this machine
 */
export function localPath(name: string | URL): string {
  if (typeof name !== 'string') {
    if (name.protocol !== 'file:')
      throw usageError(`${shown(name.href)} is not a file URL; download the video and give its path.`);
  } else if (!/^file:\//i.test(name)) return name;
  // A query or hash is not part of the path, though it may be meant to be.
  else if (/[?#]/.test(name))
    throw usageError(
      `${quoted(name)} has a "?" or "#", which ends the path of a URL; write %3F or %23, or give the path.`,
    );
  try {
    return fileURLToPath(name);
  } catch {
    throw usageError(`${quoted(String(name))} is not the URL of a file on this machine; give its path.`);
  }
}
