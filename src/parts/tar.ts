/**
 * @module parts/tar
 * Reads the files of a package's tarball as they come. Knows what npm writes and refuses everything else: links, devices,
 * names that lead out of the package, lengths that make no sense.
 */

/** A regular file in a tarball. */
export interface TarFile {
  /** Its path in the package, without the folder that holds everything. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Its content, to be read before the next file is asked for; what is not read is skipped. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** What is wrong with a tarball, the end of a sentence. */
export class BadTarball extends Error {}

const BLOCK = 512;

/** Largest extended header; names are its only use here. */
const MOST_HEADER = 1 << 20;

/**
 * Yields the regular files of a tarball.
 * @param bytes uncompressed
 * @throws {BadTarball}
 */
export async function* tarFiles(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TarFile, void> {
  const input = new Blocks(bytes);
  let named: string | undefined;
  for (;;) {
    const header = await input.block();
    if (header === undefined) throw new BadTarball('it ends before its end is marked');
    if (header.every((byte) => byte === 0)) return input.finish();
    checkSum(header);
    const size = number(header, 124, 12, 'a length');
    const type = String.fromCharCode(header[156] ?? 0);
    if (type === 'x' || type === 'g') {
      if (size > MOST_HEADER) throw new BadTarball('a header in it is too long');
      const path = pathIn(await input.all(size));
      if (type === 'x') named = path;
      continue;
    }
    const whole = named ?? ustarName(header);
    named = undefined;
    const path = insidePackage(whole);
    if (type === '5') {
      if (size !== 0) throw new BadTarball(`its folder ${JSON.stringify(whole)} has content`);
      continue;
    }
    // '\0' is what old programs write for a file.
    if (type !== '0' && type !== '\0')
      throw new BadTarball(`${JSON.stringify(whole)} in it is neither a file nor a folder`);
    if (path === '') throw new BadTarball('a file in it has no name');
    const content = input.content(size);
    yield { path, size, content };
    // What the caller left.
    for await (const _ of content);
    await input.skipTo(BLOCK);
  }
}

/**
 * The path without its first folder.
 * @throws {BadTarball} where it leads elsewhere
 */
function insidePackage(name: string): string {
  const steps = name.replace(/\/$/, '').split('/');
  const odd = steps.some((step) => step === '' || step === '.' || step === '..' || /[\\:\0]/.test(step));
  if (odd) throw new BadTarball(`the name ${JSON.stringify(name)} in it leads out of the package`);
  return steps.slice(1).join('/');
}

/** Name of an entry: a prefix and the rest of it. */
function ustarName(header: Uint8Array): string {
  const prefix = text(header, 257, 5) === 'ustar' ? text(header, 345, 155) : '';
  const name = text(header, 0, 100);
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** The `path` of an extended header: lines of `LENGTH KEY=VALUE\n`. */
function pathIn(bytes: Uint8Array): string | undefined {
  let path: string | undefined;
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = space < 0 ? Number.NaN : Number(latin1(bytes.subarray(at, space)));
    if (!(Number.isInteger(length) && length > 0 && at + length <= bytes.length))
      throw new BadTarball('a header in it is damaged');
    const line = new TextDecoder().decode(bytes.subarray(space + 1, at + length - 1));
    if (line.startsWith('size=')) throw new BadTarball('a file in it is larger than a package may have');
    if (line.startsWith('path=')) path = line.slice('path='.length);
    at += length;
  }
  return path;
}

function checkSum(header: Uint8Array): void {
  let sum = 8 * 0x20;
  for (const [i, byte] of header.entries()) if (i < 148 || i >= 156) sum += byte;
  if (number(header, 148, 8, 'a checksum') !== sum) throw new BadTarball('a header in it is damaged');
}

/** An octal number. */
function number(header: Uint8Array, at: number, length: number, what: string): number {
  const digits = text(header, at, length).trim();
  if (!/^[0-7]{1,11}$/.test(digits)) throw new BadTarball(`${what} in it is damaged`);
  return Number.parseInt(digits, 8);
}

/** A text that ends with its field or a zero byte. */
function text(header: Uint8Array, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end));
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, 20));
}

/** Pieces of any length as blocks and content. */
class Blocks {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #piece: Uint8Array = new Uint8Array();
  /** Bytes taken so far. */
  #taken = 0;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#pieces = bytes[Symbol.asyncIterator]();
  }

  /** A block; `undefined` at the end. */
  async block(): Promise<Uint8Array | undefined> {
    const first = await this.#some(BLOCK);
    if (first === undefined) return undefined;
    if (first.length === BLOCK) return first;
    return joined([first, ...(await this.#rest(BLOCK - first.length))]);
  }

  /** So many bytes at once, and what follows up to the next block. */
  async all(length: number): Promise<Uint8Array> {
    const bytes = joined(await this.#rest(length));
    await this.skipTo(BLOCK);
    return bytes;
  }

  /** So many bytes as they come, once: what a first reader leaves, a second one gets. */
  content(length: number): AsyncIterable<Uint8Array> {
    let left = length;
    return {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          if (left === 0) return { done: true, value: undefined };
          const value = await this.#some(left);
          if (value === undefined) throw cutOff();
          left -= value.length;
          return { done: false, value };
        },
      }),
    };
  }

  /** Reads what is left, so that its source ends well. */
  async finish(): Promise<void> {
    while ((await this.#some(Number.POSITIVE_INFINITY)) !== undefined);
  }

  /** Skips to a multiple of a length. */
  async skipTo(length: number): Promise<void> {
    await this.#rest((length - (this.#taken % length)) % length);
  }

  async #rest(length: number): Promise<Uint8Array[]> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.content(length)) pieces.push(piece);
    return pieces;
  }

  /** Some bytes, at most so many; `undefined` at the end. */
  async #some(most: number): Promise<Uint8Array | undefined> {
    while (this.#piece.length === 0) {
      const { done, value } = await this.#pieces.next();
      if (done) return undefined;
      this.#piece = value;
    }
    const some = this.#piece.subarray(0, most);
    this.#piece = this.#piece.subarray(some.length);
    this.#taken += some.length;
    return some;
  }
}

function cutOff(): BadTarball {
  return new BadTarball('it is cut off');
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
