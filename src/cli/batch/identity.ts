/**
 * @module cli/batch/identity
 * What tells whether a job was done before: the content of its line, and of each file size, time, head and tail.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { withoutAccess } from '../../core/printable.js';
import { isUrl } from '../commands/pairing-options.js';
import type { Job } from './table.js';

/** Bytes read at the head and at the tail of a file. */
const ENDS = 64 * 1024;

/**
 * The identity of a job: hexadecimal, the same as long as neither its line nor its files change. Where a file is fetched
 * from, it goes by what is there: a URL that is signed anew is the same, and so are other hosts that are allowed.
 * @param signal stops fetching
 */
export async function jobId({ args, settings }: Job, signal?: AbortSignal): Promise<string> {
  const { reference, distorted, options } = settings;
  const files = [...(reference === undefined ? [] : [reference]), ...distorted];
  const hosts = typeof options.allowUrl === 'object' ? options.allowUrl : undefined;
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

type Facts = readonly [size: number, state: number | string, digest: string];

/** Of a file: bytes, milliseconds of its last change, and a digest; `null` if it is not there, or no file of this machine. */
async function fileFacts(path: string): Promise<Facts | null> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const { size, mtimeMs } = await file.stat();
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
