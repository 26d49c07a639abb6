/**
 * @module media/platform
 * Platform functions for reading video: random access, byte streams, and files by name.
 */
import type { Origin } from '../core/origin.js';

export interface ByteReader {
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

export interface ByteStream {
  /**
   * The next bytes, at least one, valid until the next call; `undefined` at the end.
   * @throws {AnyvmafError} `io` when reading fails
   */
  next(): Promise<Uint8Array | undefined>;
  /** Stops the producer; a pending `next` then settles. May be called twice. */
  close(): void;
}

/** Random access to a regular file, or a stream from a pipe or device. */
export type OpenedFile =
  /** `path` opens the same file in any worker, with the checks of `origin` if the user did not name it. */
  | { readonly kind: 'random'; readonly reader: ByteReader; readonly path: string; readonly origin?: Origin }
  | { readonly kind: 'stream'; readonly stream: ByteStream };

/** Implemented in `platform/`. */
export interface FilePlatform {
  /**
   * Opens a path (`-` is standard input), a file URL or a file descriptor, which the result then owns.
   * @throws {AnyvmafError} `io` when it does not exist, is a directory or cannot be read
   */
  open(file: string | URL | number): Promise<OpenedFile>;
  /**
   * Reopens a `random` file of {@link open}.
   * @throws {AnyvmafError} `io`
   */
  reopen(path: string, origin?: Origin): ByteReader;
  /** True if a name stands for a sequence of picture files, which a decoder opens together. Absent if unsupported. */
  namesSequence?(name: string): boolean;
  /**
   * Decodes an encoded stream in order.
   * @returns the video as a Y4M stream; `undefined` if nothing can decode it
   */
  decodeStream?(bytes: ByteStream, name: string): Promise<DecodedStream | undefined>;
  /**
   * Opens a URL on one of these hosts for reading in parts. Absent if the platform fetches nothing.
   * @throws {AnyvmafError} `usage` for a URL or host that is not allowed; `io` if it cannot be read in parts
   */
  openUrl?(url: string, hosts: readonly string[], signal?: AbortSignal): Promise<RemoteVideo>;
}

export interface DecodedStream {
  readonly stream: ByteStream;
  /** For example `ffmpeg 5.1.9`. */
  readonly decodedBy: string;
}

export interface RemoteContent {
  /** The URL without name, password and query. */
  readonly name: string;
  /** Changes with the content. */
  readonly version: string;
  /** Set once reading failed, since other readers may not have been told. */
  readonly failure: Error | undefined;
  /** A new reader for each user. */
  reader(): ByteReader;
}

/** A video behind a checked URL. Its text lacks credentials and query, so that messages cannot leak them. */
export class RemoteVideo extends URL {
  readonly content: RemoteContent;

  constructor(content: RemoteContent) {
    super(content.name);
    this.content = content;
  }
}
