/**
 * @module cli/batch/identity
 * What tells whether a job was done before: the content of its line, and of each file size, time, head and tail.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { AnyvmafError } from '../../core/errors.js';
import { shown, withoutAccess } from '../../core/printable.js';
import { isUrl } from '../table-options.js';
import type { Job } from './table.js';

/** Bytes read at the head and at the tail of a file. */
const ENDS = 64 * 1024;

/**
 * The identity of a job: hexadecimal, the same as long as neither its line nor its files change. Where a file is fetched
 * from, it goes by what is there: a URL that is signed anew is the same, and so are other hosts that are allowed.
 * @param signal stops fetching
 */
export async function jobId({ args, settings }: Job, signal?: AbortSignal): Promise<string> {
  const { reference, distorted, hosts } = settings;
  const files = [...(reference === undefined ? [] : [reference]), ...distorted];
  const facts = await Promise.all(
    files.map((file) => (isUrl(file) ? urlFacts(file, hosts, signal) : fileFacts(file))),
  );
  const own = args.filter((arg) => !/^--(?:allow-url|max-seconds)\b/.test(arg));
  const line = facts.some((fact, i) => fact === null && isUrl(files[i] ?? '')) ? own : own.map(withoutAccess);
  return createHash('sha256')
    .update(JSON.stringify([line, facts]))
    .digest('hex')
    .slice(0, 32);
}

/**
 * Why the files of a job cannot be those of a batch: a pipe is read once, and waits for who writes to it.
 * @returns an error of code `io`; `undefined` for files, and for what is not there
 */
export async function onceOnly({ settings }: Job): Promise<AnyvmafError | undefined> {
  const { reference, distorted } = settings;
  for (const path of [...(reference === undefined ? [] : [reference]), ...distorted]) {
    const found = isUrl(path) ? undefined : await stat(path).catch(() => undefined);
    if (!found || found.isFile() || found.isDirectory()) continue;
    const what = found.isFIFO() ? 'a named pipe' : 'a device or a socket';
    return new AnyvmafError(
      'io',
      `${shown(path)} is ${what}, but a batch reads files; store the video, or score it by itself.`,
    );
  }
  return undefined;
}

type Facts = readonly [size: number, state: number | string, digest: string];

/** Of a file: bytes, milliseconds of its last change, and a digest; `null` if it is not there, or no file of this machine. */
async function fileFacts(path: string): Promise<Facts | null> {
  let file: FileHandle | undefined;
  try {
    // Without waiting for who writes to a named pipe.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = await file.stat();
    if (!stats.isFile()) return null;
    const { size, mtimeMs } = stats;
    const digest = await digestOf(size, (bytes, position) => file?.read(bytes, 0, bytes.length, position));
    return [size, mtimeMs, digest];
  } catch {
    // The run itself says what is wrong with it.
    return null;
  } finally {
    await file?.close();
  }
}

/** Of what is behind a URL; `null` if it cannot be read in parts, or may be fetched unchecked. */
async function urlFacts(
  url: string,
  hosts: readonly string[] | undefined,
  signal: AbortSignal | undefined,
): Promise<Facts | null> {
  if (!hosts) return null;
  try {
    const [{ AllowedHosts }, { RemoteFile }] = await Promise.all([
      import('../../remote/allowed-hosts.js'),
      import('../../remote/remote-file.js'),
    ]);
    const file = await RemoteFile.open(url, new AllowedHosts(hosts), { signal });
    const reader = file.reader();
    return [file.size, file.version, await digestOf(file.size, (bytes, at) => reader.read(at, [bytes]))];
  } catch {
    // The run itself says what is wrong with it.
    return null;
  }
}

/** Of the head and the tail of a file. */
async function digestOf(
  size: number,
  read: (bytes: Buffer, position: number) => Promise<number | { readonly bytesRead: number }> | undefined,
): Promise<string> {
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
    const got = await read(bytes, position);
    hash.update(bytes.subarray(0, typeof got === 'object' ? got.bytesRead : got));
  }
  return hash.digest('hex');
}
