/**
 * @module platform/mediabunny/serve
 * The parser thread's side of the mediabunny decoder: opens files, decodes, and hands frames over.
 */

import { shown } from '../../core/printable.js';
import type { DecodedSource } from '../../media/decoder.js';
import type { ByteReader } from '../../media/platform.js';
import { bytesReader } from '../../media/readers.js';
import { Handed, type Monitor, type Served } from '../../parsing/serve.js';
import type { LentVideo, PlaneSizes, ReadFrame, VideoCalls } from './calls.js';
import type { TrackDecoder } from './decoder.js';

/** Files of so many bytes are read at once: whatever their reader then does, it does without waiting. */
const SMALL = 8 << 20;

/** Milliseconds without a sign of life, to begin with, and bytes that explain another one of them. */
const SILENCE = 1000;
const BYTES_PER_MILLISECOND = 20_000;
const MOST_SILENCE = 10_000;

/** Bytes that are fetched at once, and how many such blocks are kept. */
const BLOCK = 1 << 18;
const KEPT_BLOCKS = 16;

/**
 * The video that was lent, as a reader that tells when it reads what it has not read before.
 * @throws {AnyvmafError} `io` when reading fails
 */
export async function openLent({ name, size }: LentVideo, monitor: Monitor): Promise<ByteReader> {
  // Not `media`, after which the next decoder would be asked: what keeps one reader busy is not shown to others.
  const silence = Math.min(MOST_SILENCE, SILENCE + size / BYTES_PER_MILLISECOND);
  monitor.patience(silence, { code: 'io', subject: `${shown(name)} cannot be read by mediabunny` });
  const input = monitor.input(size);
  if (size <= SMALL) {
    const bytes = new Uint8Array(size);
    return bytesReader(bytes.subarray(0, await input.read(0, [bytes])));
  }
  return new BlockReader(input, monitor);
}

/** Reads whole blocks and keeps the latest: the bytes come from another process. */
class BlockReader implements ByteReader {
  readonly size: number;
  readonly #input: ByteReader;
  readonly #monitor: Monitor;
  /** By number, the latest last. */
  readonly #blocks = new Map<number, Promise<Uint8Array>>();
  readonly #seen: Uint8Array;

  constructor(input: ByteReader, monitor: Monitor) {
    this.size = input.size;
    this.#input = input;
    this.#monitor = monitor;
    this.#seen = new Uint8Array(Math.ceil(this.size / BLOCK));
  }

  async read(position: number, parts: readonly Uint8Array[]): Promise<number> {
    let at = position;
    for (const part of parts) {
      for (let filled = 0; filled < part.length; ) {
        const number = Math.floor(at / BLOCK);
        const block = at < this.size ? await this.#block(number) : new Uint8Array();
        const from = block.subarray(at - number * BLOCK, at - number * BLOCK + part.length - filled);
        if (from.length === 0) return at - position;
        part.set(from, filled);
        filled += from.length;
        at += from.length;
      }
    }
    return at - position;
  }

  close(): void {
    this.#input.close();
  }

  #block(number: number): Promise<Uint8Array> {
    const block = this.#blocks.get(number) ?? this.#fetch(number);
    this.#blocks.delete(number);
    this.#blocks.set(number, block);
    const [oldest = number] = this.#blocks.keys();
    if (this.#blocks.size > KEPT_BLOCKS) this.#blocks.delete(oldest);
    return block;
  }

  async #fetch(number: number): Promise<Uint8Array> {
    if (this.#seen[number] === 0) this.#monitor.progress();
    this.#seen[number] = 1;
    const bytes = new Uint8Array(Math.min(BLOCK, this.size - number * BLOCK));
    return bytes.subarray(0, await this.#input.read(number * BLOCK, [bytes]));
  }
}

/** The functions of a thread that decodes with `decoder`. */
export function serveVideo(decoder: TrackDecoder): Served<VideoCalls> {
  let source: DecodedSource | undefined;
  let reported = 0;
  return {
    async ready() {},
    probe: (video: LentVideo) => decoder.probe(video),
    async timestamps(video) {
      const times = await decoder.timestamps(video);
      return times && new Handed(times, [bufferOf(times)]);
    },
    async open({ video, facts, request }) {
      source = await decoder.open(video, facts, request);
      reported = 0;
      const { info, decodedBy } = source;
      return { info, decodedBy };
    },
    async read({ index, sizes }) {
      if (!source) throw new Error('no video is open');
      const { planes, ...into } = planesOf(sizes);
      const found = await source.readFrame(index, into);
      const times: (number | undefined)[] = [];
      if (found) for (; reported <= index; reported++) times.push(source.timestamp(reported));
      const { damage, info } = source;
      const frame: ReadFrame = { found, planes, times, warnings: [...info.warnings], damage };
      return new Handed(frame, [planes]);
    },
    async close() {
      await source?.close();
      source = undefined;
    },
  };
}

function bufferOf({ buffer }: Float64Array): ArrayBuffer {
  if (buffer instanceof ArrayBuffer) return buffer;
  throw new Error('shared memory cannot be handed over');
}

/** Where a frame is to be written. */
function planesOf({ y, cb, cr }: PlaneSizes) {
  const planes = new ArrayBuffer(y + cb + cr);
  return {
    planes,
    y: new Uint8Array(planes, 0, y),
    ...(cb > 0 && { cb: new Uint8Array(planes, y, cb) }),
    ...(cr > 0 && { cr: new Uint8Array(planes, y + cb, cr) }),
  };
}
