/**
 * @module platform/browser/files
 * Refuses file names in a browser, where videos come as File, Blob, bytes or streams.
 */
import { type AnyvmafError, usageError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import type { FilePlatform } from '../../media/types.js';

/** Refuses paths; other inputs open without a platform. */
export const browserFiles: FilePlatform = {
  async open(file) {
    throw noPaths(String(file));
  },
  reopen(path) {
    throw noPaths(path);
  },
};

function noPaths(file: string): AnyvmafError {
  return usageError(
    `${quoted(file)} cannot be opened by name in a browser; give a File, Blob, Uint8Array or ` +
      `ReadableStream.`,
  );
}
