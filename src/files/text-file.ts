/**
 * @module files/text-file
 * Reads text files that the user named.
 */
import { readFile, stat } from 'node:fs/promises';
import { AnyvmafError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import { fileError } from './file-errors.js';

/** Most bytes of a report, or of the record of a part; longer pairs need more parts. */
export const MOST_REPORT_BYTES = 400 * 1024 * 1024;

/** @throws {AnyvmafError} `io` if it cannot be read, or has more than `most` bytes */
export async function readText(name: string, most = MOST_REPORT_BYTES): Promise<string> {
  try {
    const { size } = await stat(name);
    if (size > most)
      throw new AnyvmafError('io', `${shown(name)} has ${size} bytes, more than the ${most} that are read.`);
    return await readFile(name, 'utf8');
  } catch (cause) {
    throw fileError(name, cause);
  }
}
