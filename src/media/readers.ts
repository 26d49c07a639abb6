/**
 * @module media/readers
 * Random access to arrays in memory and Blobs, on every platform.
 */
import { AnyvmafError } from '../core/errors.js';
import { clause, shown } from '../core/printable.js';
import type { ByteReader } from './platform.js';

/** Reads an array, on shared memory or not, without a copy of the whole. */
export function bytesReader(bytes: Uint8Array): ByteReader {
  return {
    size: bytes.length,
    read: (position, parts) => scatter(bytes, Math.min(position, bytes.length), parts),
    close() {},
  };
}

/** Reads only the requested slices of a Blob or File. */
export function blobReader(blob: Blob, name: string): ByteReader {
  return {
    size: blob.size,
    async read(position, parts) {
      const wanted = parts.reduce((sum, part) => sum + part.length, 0);
      let slice: ArrayBuffer;
      try {
        slice = await blob.slice(position, position + wanted).arrayBuffer();
      } catch (cause) {
        throw readFailure(name, cause);
      }
      return scatter(new Uint8Array(slice), 0, parts);
    },
    close() {},
  };
}

/**
 * The error for a source that fails while being read; returns an `AnyvmafError` unchanged.
 */
export function readFailure(name: string, cause: unknown): AnyvmafError {
  if (cause instanceof AnyvmafError) return cause;
  // Browsers end their reasons with a full stop.
  const reason = clause(cause instanceof Error ? cause.message : String(cause));
  return new AnyvmafError('io', `reading ${shown(name)} failed: ${shown(reason)}.`, { cause });
}

function scatter(bytes: Uint8Array, from: number, parts: readonly Uint8Array[]): number {
  let at = from;
  for (const part of parts) {
    const end = Math.min(at + part.length, bytes.length);
    part.set(bytes.subarray(at, end));
    at = end;
  }
  return at - from;
}
