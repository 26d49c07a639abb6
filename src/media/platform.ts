/**
 * @module media/platform
 * What reading video asks of the world outside: bytes at a position, bytes in order, and files by name.
 */
import type { Origin } from '../core/origin.js';

/** Bytes at any position of something of known size. */
export interface ByteReader {
  /** Bytes in all. */
  readonly size: number;
  /**
   * Fills `parts` one after another with the bytes from `position` on.
   * @returns bytes read; fewer than the parts hold only where the data end
   * @throws {AnyvmafError} `io` when reading fails
   */
  read(position: number, parts: readonly Uint8Array[]): number | Promise<number>;
  /** May be called twice. */
  close(): void;
}

/** Bytes in order, at the reader's pace. */
export interface ByteStream {
  /**
   * The next bytes, at least one, or `undefined` at the end. They stay valid until the next call.
   * @throws {AnyvmafError} `io` when reading fails
   */
  next(): Promise<Uint8Array | undefined>;
  /** Stops the producer; a `next` under way then settles. May be called twice. */
  close(): void;
}

/** A file once opened: at will where it is a regular file, in order where it is a pipe or a device. */
export type OpenedFile =
  /** `path` opens the same file in any worker, checked as `origin` says where the user did not name it. */
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
   * Opens again what {@link open} gave as `random`.
   * @throws {AnyvmafError} `io`
   */
  reopen(path: string, origin?: Origin): ByteReader;
}
