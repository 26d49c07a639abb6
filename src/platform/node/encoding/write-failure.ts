/**
 * @module platform/node/encoding/write-failure
 * Tells from what ffmpeg says that a file is not complete: it may end well although its last bytes were not written.
 */
import { AnyvmafError } from '../../../core/errors.js';
import { shown } from '../../../core/printable.js';

/** What ffmpeg says where a file system takes no more. */
const WRITE_FAILURE =
  /No space left on device|Disk quota exceeded|File too large|Read-only file system|Input\/output error/i;

/**
 * @param output where it was to be written, where that is not the private folder
 * @throws {AnyvmafError} `io` where ffmpeg says that it could not write all
 */
export function throwWriteFailure(stderr: string, output: string | undefined): void {
  const [found] = WRITE_FAILURE.exec(stderr) ?? [];
  // A source that cannot be read is no matter of writing.
  if (found === undefined || (/^Input/i.test(found) && !/writ|trailer|closing/i.test(stderr))) return;
  const why = /^No space/i.test(found) ? 'the disk is full' : found.toLowerCase();
  throw new AnyvmafError(
    'io',
    output === undefined
      ? `Temporary files cannot be written: ${why}; free some of it, or name another folder with TMPDIR.`
      : `${shown(output)} cannot be written: ${why}; free some of it, or write to another disk. No file was left.`,
  );
}
