/**
 * @module test/support/tarball
 * Tarballs as npm writes them, and such as it does not.
 */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

/** An entry of a tarball. */
export interface Entry {
  readonly name: string;
  readonly content?: string | Uint8Array;
  /** A regular file by default. */
  readonly type?: string;
  readonly link?: string;
}

/** An uncompressed tarball. */
function tar(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(({ name, content = '', type = '0', link = '' }) => {
    const bytes = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(name, 0, 100);
    header.write('0000644\0', 100);
    header.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write('        ', 148);
    header.write(type, 156);
    header.write(link, 157, 100);
    header.write('ustar\u000000', 257);
    const sum = header.reduce((all, byte) => all + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** The same, as npm has it. */
export function tgz(entries: readonly Entry[]): Buffer {
  return gzipSync(tar(entries));
}

/** A digest as lock files write it. */
export function integrityOf(bytes: Uint8Array): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}
