/**
 * @module media/platform
 * Platform functions of reading video: random access, byte streams, and files by name.
 */
import type { Origin } from '../core/origin.js';

/** Random access to bytes of known size. */
export interface ByteReader {
  /** Total number of bytes. */
  readonly size: number;
  /**
   * Fills `parts` in order with the bytes from `position`.
   * @returns the number of bytes read, fewer than the parts hold only at the end
   * @throws {AnyvmafError} `io` when reading fails
   */
  read(position: number, parts: readonly Uint8Array[]): number | Promise<number>;
  /** May be called twice. */
  close(): void;
}

/** A byte stream at the reader's pace. */
export interface ByteStream {
  /**
   * The next bytes, at least one, or `undefined` at the end. They stay valid until the next call.
   * @throws {AnyvmafError} `io` when reading fails
   */
  next(): Promise<Uint8Array | undefined>;
  /** Stops the producer; a pending `next` then settles. May be called twice. */
  close(): void;
}

/** An opened file: random access to a regular file, a stream from a pipe or device. */
export type OpenedFile =
  /** `path` opens the same file in any worker, with the checks of `origin` if the user did not name it. */
  | { readonly kind: 'random'; readonly reader: ByteReader; readonly path: string; readonly origin?: Origin }
  | { readonly kind: 'stream'; readonly stream: ByteStream };

/** Files by name. Implemented in `platform/`. */
export interface FilePlatform {
  /**
   * Opens a path (`-` is standard input), a file URL or a file descriptor (which then belongs to the result).
   * @throws {AnyvmafError} `io` when it does not exist, is a directory or cannot be read
   */
  open(file: string | URL | number): Promise<OpenedFile>;
  /**
   * Reopens a `random` file of {@link open}.
   * @throws {AnyvmafError} `io`
   */
  reopen(path: string, origin?: Origin): ByteReader;
}
