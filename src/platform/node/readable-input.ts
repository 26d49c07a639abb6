/**
 * @module platform/node/readable-input
 * Encoded video with random access, for decoders that read it themselves.
 */
import { existsSync } from 'node:fs';
import { AnyvmafError } from '../../core/errors.js';
import type { Origin } from '../../core/origin.js';
import { shown } from '../../core/printable.js';
import { type ByteReader, RemoteVideo } from '../../media/platform.js';
import { blobReader, bytesReader } from '../../media/readers.js';
import type { VideoInput } from '../../media/types.js';
import { nodeFilesOf } from './files.js';

export interface ReadableInput {
  /** As the user called it. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly reader: ByteReader;
  /** Of a file: opens it again anywhere, checked by its origin. */
  readonly path?: string;
}

/**
 * @param decoder that needs it, for messages
 * @param origin of its name
 * @throws {AnyvmafError} `io` if it cannot be read, `usage` if it can be read only once or is not encoded video
 */
export async function openReadable(
  input: VideoInput,
  decoder: string,
  origin: Origin,
): Promise<ReadableInput> {
  if (input instanceof Uint8Array) return readable('the byte array', bytesReader(input));
  if (input instanceof Blob) {
    const name = 'name' in input && typeof input.name === 'string' ? input.name : 'the Blob';
    return readable(name, blobReader(input, name));
  }
  if (input instanceof RemoteVideo) return readable(input.content.name, input.content.reader());
  if (typeof input === 'string' || input instanceof URL) {
    const name = String(input);
    if (/^https?:/i.test(name) && !existsSync(input)) {
      throw new AnyvmafError(
        'usage',
        `${shown(name)} is a URL, which only the ffmpeg decoder fetches; install ffmpeg, or download the video and ` +
          'give its path.',
      );
    }
    const opened = await nodeFilesOf(origin).open(input);
    if (opened.kind === 'random') return { ...readable(name, opened.reader), path: opened.path };
    opened.stream.close();
    throw readOnce(name, decoder);
  }
  throw readOnce(typeof input === 'number' ? `file descriptor ${input}` : 'this input', decoder);
}

function readable(name: string, reader: ByteReader): ReadableInput {
  if (reader.size > 0) return { name, size: reader.size, reader };
  reader.close();
  throw new AnyvmafError('io', `${shown(name)} is empty.`);
}

function readOnce(name: string, decoder: string): AnyvmafError {
  return new AnyvmafError(
    'usage',
    `${shown(name)} is not a file, and ${decoder} reads encoded video more than once; give it as a file.`,
  );
}
