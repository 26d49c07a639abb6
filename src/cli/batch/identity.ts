/**
 * @module cli/batch/identity
 * What tells whether a job was done before: the content of its line, and of each file size, time, head and tail.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { Job } from './table.js';

/** Bytes read at the head and at the tail of a file. */
const ENDS = 64 * 1024;

/** The identity of a job: hexadecimal, the same as long as neither its line nor its files change. */
export async function jobId({ args, settings }: Job): Promise<string> {
  const { reference, distorted } = settings;
  const files = [...(reference === undefined ? [] : [reference]), ...distorted];
  const facts = await Promise.all(files.map(fileFacts));
  return createHash('sha256')
    .update(JSON.stringify([args, facts]))
    .digest('hex')
    .slice(0, 32);
}

/** Of a file: bytes, milliseconds of its last change, and a digest; `null` if it is not there, or no file of this machine. */
async function fileFacts(path: string): Promise<readonly [number, number, string] | null> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const { size, mtimeMs } = await file.stat();
    const hash = createHash('sha256');
    const ends =
      size <= 2 * ENDS
        ? [[0, size]]
        : [
            [0, ENDS],
            [size - ENDS, ENDS],
          ];
    for (const [position = 0, length = 0] of ends) {
      const bytes = Buffer.alloc(length);
      const { bytesRead } = await file.read(bytes, 0, length, position);
      hash.update(bytes.subarray(0, bytesRead));
    }
    return [size, mtimeMs, hash.digest('hex')];
  } catch {
    // The run itself says what is wrong with it.
    return null;
  } finally {
    await file?.close();
  }
}
