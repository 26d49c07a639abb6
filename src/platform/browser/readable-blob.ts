/**
 * @module platform/browser/readable-blob
 * Encoded video in a browser as a Blob, which can be read more than once.
 */
import { AnyvmafError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import type { VideoInput } from '../../media/types.js';

/** @throws {AnyvmafError} `usage` for inputs that can be read only once, `io` for empty ones */
export function readableBlob(input: VideoInput): { readonly name: string; readonly blob: Blob } {
  const named = (name: string, blob: Blob) => {
    if (blob.size === 0) throw new AnyvmafError('io', `${shown(name)} is empty.`);
    return { name, blob };
  };
  if (input instanceof Blob) {
    return named('name' in input && typeof input.name === 'string' ? input.name : 'the Blob', input);
  }
  // A Blob refuses shared memory.
  if (input instanceof Uint8Array) return named('the byte array', new Blob([new Uint8Array(input)]));
  throw new AnyvmafError(
    'usage',
    'encoded video is read more than once and must be a File, Blob or Uint8Array in a browser.',
  );
}
