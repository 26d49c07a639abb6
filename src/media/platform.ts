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
  /** Whether a name stands for pictures in files of their own, which a decoder opens together. Absent where none may. */
  namesSequence?(name: string): boolean;
  /**
   * Decodes encoded video that comes as a stream, in order.
   * @param bytes what the stream gives, to its end
   * @returns the video as a Y4M stream, and what decodes; `undefined` where nothing can
   */
  decodeStream?(bytes: ByteStream, name: string): Promise<DecodedStream | undefined>;
  /**
   * Opens a URL on one of these hosts, which is then read in parts. Absent if the platform fetches nothing.
   * @throws {AnyvmafError} `usage` for a URL or host that is not allowed; `io` if it cannot be read so
   */
  openUrl?(url: string, hosts: readonly string[], signal?: AbortSignal): Promise<RemoteVideo>;
}

/** A stream that is decoded. */
export interface DecodedStream {
  readonly stream: ByteStream;
  /** `ffmpeg 5.1.9`. */
  readonly decodedBy: string;
}

/** What a platform knows of a file behind a URL. */
export interface RemoteContent {
  /** The URL without name, password and query. */
  readonly name: string;
  /** Changes when the content does. */
  readonly version: string;
  /** Why it could not be read, once it could not; whoever else reads it meanwhile may not have been told. */
  readonly failure: Error | undefined;
  /** A reader of its own for each user. */
  reader(): ByteReader;
}

/**
 * A video behind a URL that has been opened with the checks of its platform, as an input of decoders. As text it is the URL
 * without what gives access to it, so that no message can tell that.
 */
export class RemoteVideo extends URL {
  readonly content: RemoteContent;

  constructor(content: RemoteContent) {
    super(content.name);
    this.content = content;
  }
}
