/**
 * @module platform/node/files
 * Files by name in Node: positional reads of regular files; and streams for standard input, pipes and devices, read at the
 * consumer's pace and stoppable at any time.
 */
import {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  open as openCallback,
  openSync,
  readvSync,
  type Stats,
  statSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { ioError, usageError } from '../../core/errors.js';
import { BY_USER, type Origin } from '../../core/origin.js';
import { shown } from '../../core/printable.js';
import { fileError, openChecked } from '../../files/checked-file.js';
import { localPath } from '../../files/file-url.js';
import { namesSequence } from '../../files/sequence.js';
import type { ByteReader, ByteStream, FilePlatform, OpenedFile } from '../../media/types.js';
import { RemoteVideo } from '../../media/types.js';

/** `-` is standard input; a file of that name is `./-`. */
export const nodeFiles: FilePlatform = {
  async open(file) {
    if (file === '-') return openStandardInput();
    if (typeof file === 'number') return openDescriptor(file);
    return openPath(localPath(file));
  },
  reopen: openRegularFile,
  namesSequence,
  openUrl,
};

async function openUrl(url: string, hosts: readonly string[], signal?: AbortSignal): Promise<RemoteVideo> {
  const [{ AllowedHosts }, { RemoteFile }] = await Promise.all([
    import('../../remote/request.js'),
    import('../../remote/remote-file.js'),
  ]);
  return new RemoteVideo(await RemoteFile.open(url, new AllowedHosts(hosts), { signal }));
}

/** Files of an origin: a foreign file must be regular and lie in the allowed folders. */
export function nodeFilesOf(origin: Origin): FilePlatform {
  if (origin.by === 'user') return nodeFiles;
  return {
    async open(file) {
      if (typeof file === 'number') return openDescriptor(file);
      const path = resolve(localPath(file));
      return { kind: 'random', reader: openRegularFile(path, origin), path, origin };
    },
    reopen: (path) => openRegularFile(path, origin),
    openUrl,
  };
}

function openStandardInput(): OpenedFile {
  const { stdin } = process;
  if (stdin.isTTY)
    throw usageError('standard input (-) is a terminal; pipe a video into it: PROGRAM | anyvmaf - ...');
  if (stdin.destroyed || stdin.readableEnded)
    throw ioError('standard input (-) was already read to its end; it can be read only once.');
  return { kind: 'stream', stream: nodeByteStream(stdin, 'standard input') };
}

function openDescriptor(fd: number): OpenedFile {
  const name = `file descriptor ${fd}`;
  try {
    return { kind: 'stream', stream: nodeByteStream(descriptorStream(fd, fstatSync(fd)), name) };
  } catch (cause) {
    throw fileError(name, cause);
  }
}

async function openPath(path: string): Promise<OpenedFile> {
  if (path === '') throw ioError('the path of a video is empty; give a file, or - for standard input.');
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) throw systemError('EISDIR');
    if (stats.isFile()) return { kind: 'random', reader: openRegularFile(path), path: resolve(path) };
    const fd = stats.isFIFO() ? await openFifo(path) : openSync(path, 'r');
    return { kind: 'stream', stream: nodeByteStream(descriptorStream(fd, stats), path) };
  } catch (cause) {
    throw fileError(path, cause);
  }
}

function openRegularFile(path: string, origin = BY_USER): ByteReader {
  try {
    return new FileReader(path, openChecked(path, origin));
  } catch (cause) {
    throw fileError(path, cause);
  }
}

/** Reads a regular file at any position, synchronously and unbuffered. */
class FileReader implements ByteReader {
  readonly size: number;
  readonly #path: string;
  #fd: number | undefined;

  /** @param fd owned by the reader from now on */
  constructor(path: string, fd: number) {
    this.#path = path;
    this.#fd = fd;
    this.size = fstatSync(fd).size;
  }

  read(position: number, parts: readonly Uint8Array[]): number {
    const fd = this.#fd;
    if (fd === undefined) throw usageError(`${shown(this.#path)} was read after it was closed.`);
    let left = parts;
    let done = 0;
    try {
      // Reads may be short (on some file systems, or for huge frames): only zero bytes mean the end.
      while (left.length > 0) {
        const got = readvSync(fd, left, position + done);
        if (got === 0) break;
        done += got;
        left = after(left, got);
      }
    } catch (cause) {
      throw fileError(this.#path, cause);
    }
    return done;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** The parts left to fill after `count` bytes. */
function after(parts: readonly Uint8Array[], count: number): readonly Uint8Array[] {
  let index = 0;
  let skip = count;
  for (const part of parts) {
    if (skip < part.length) break;
    skip -= part.length;
    index++;
  }
  const left = parts.slice(index);
  const [first] = left;
  if (first && skip > 0) left[0] = first.subarray(skip);
  return left;
}

/** The stream owns the descriptor. */
function descriptorStream(fd: number, stats: Stats): Readable {
  // Sockets read pipes without blocking a pool thread, so that idle reads can be stopped.
  if (stats.isFIFO() || stats.isSocket()) return new Socket({ fd, readable: true, writable: false });
  return createReadStream('', { fd });
}

/** Opens a named pipe; waits for a writer in a pool thread, except on Linux, which can tell that there is none yet. */
function openFifo(path: string): Promise<number> {
  const flags = process.platform === 'linux' ? constants.O_RDONLY | constants.O_NONBLOCK : constants.O_RDONLY;
  return promisify(openCallback)(path, flags);
}

const systemError = (code: string): Error => Object.assign(new Error(code), { code });

export function nodeByteStream(stream: Readable, name: string): ByteStream {
  const chunks: AsyncIterator<unknown> = stream[Symbol.asyncIterator]();
  // The next read reports errors between reads; without a listener they would end the process.
  stream.on('error', () => {});
  let closed = false;
  return {
    async next() {
      for (;;) {
        let result: IteratorResult<unknown>;
        try {
          result = await chunks.next();
        } catch (cause) {
          if (closed) return undefined;
          throw fileError(name, cause);
        }
        if (result.done) return undefined;
        if (!(result.value instanceof Uint8Array))
          throw usageError(`${name} was switched to text by setEncoding; video is read as bytes.`);
        if (result.value.length > 0) return result.value;
      }
    },
    close() {
      closed = true;
      stream.destroy();
    },
  };
}
