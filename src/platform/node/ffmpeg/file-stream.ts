/**
 * @module platform/node/ffmpeg/file-stream
 * A Node stream as a stream of bytes that is read at the reader's pace and can be stopped at any time.
 */
import type { Readable } from 'node:stream';
import { AnyvmafError } from '../../../core/errors.js';
import { fileError } from '../../../files/file-errors.js';
import type { ByteStream } from '../../../media/platform.js';

export function nodeByteStream(stream: Readable, name: string): ByteStream {
  const chunks: AsyncIterator<unknown> = stream[Symbol.asyncIterator]();
  // The next read reports an error between two reads; without a listener it would end the process.
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
        if (!(result.value instanceof Uint8Array)) {
          throw new AnyvmafError(
            'usage',
            `${name} was switched to text by setEncoding; video is read as bytes.`,
          );
        }
        if (result.value.length > 0) return result.value;
      }
    },
    close() {
      closed = true;
      stream.destroy();
    },
  };
}
