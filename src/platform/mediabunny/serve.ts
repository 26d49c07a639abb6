/**
 * @module platform/mediabunny/serve
 * The parser thread's side of the mediabunny decoder: opens files, decodes, and returns frames.
 */

import { shown } from '../../core/printable.js';
import type { DecodedSource } from '../../media/decoder.js';
import type { ByteReader } from '../../media/platform.js';
import { BlockReader, bytesReader } from '../../media/readers.js';
import { Handed, type Monitor, type Served } from '../../parsing/serve.js';
import type { LentVideo, PlaneSizes, ReadFrame, VideoCalls } from './calls.js';
import type { TrackDecoder } from './decoder.js';

/** Smaller files are read at once: then their reader never waits. */
const SMALL = 8 << 20;

/**
 * Milliseconds of silence allowed: a base, one more for so many bytes, and a maximum; four times what a file takes on a
 * free processor.
 */
const SILENCE = 4000;
const BYTES_PER_MILLISECOND = 5000;
const MOST_SILENCE = 40_000;

/** The bytes come from another process: they are fetched in blocks, and the latest are kept. */
const BLOCKS = { bytes: 1 << 18, kept: 16 } as const;

/**
 * The lent video as a reader that reports progress when it reads new bytes.
 * @throws {AnyvmafError} `io` if reading fails
 */
export async function openLent({ name, size }: LentVideo, monitor: Monitor): Promise<ByteReader> {
  // Not `media`, after which the next decoder would be tried: a file that hangs one reader is not given to others.
  const silence = Math.min(MOST_SILENCE, SILENCE + size / BYTES_PER_MILLISECOND);
  monitor.patience(silence, { code: 'io', subject: `${shown(name)} cannot be read by mediabunny` });
  const input = monitor.input(size);
  if (size <= SMALL) {
    const bytes = new Uint8Array(size);
    return bytesReader(bytes.subarray(0, await input.read(0, [bytes])));
  }
  const seen = new Uint8Array(Math.ceil(size / BLOCKS.bytes));
  return new BlockReader(input, BLOCKS, (block) => {
    if (seen[block] === 0) monitor.progress();
    seen[block] = 1;
  });
}

export function serveVideo(decoder: TrackDecoder): Served<VideoCalls> {
  let source: DecodedSource | undefined;
  let reported = 0;
  return {
    async ready() {},
    probe: (video: LentVideo) => decoder.probe(video),
    async timestamps(video) {
      const packets = await decoder.timestamps(video);
      return packets && new Handed(packets, [bufferOf(packets.times)]);
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

function planesOf({ y, cb, cr }: PlaneSizes) {
  const planes = new ArrayBuffer(y + cb + cr);
  return {
    planes,
    y: new Uint8Array(planes, 0, y),
    ...(cb > 0 && { cb: new Uint8Array(planes, y, cb) }),
    ...(cr > 0 && { cr: new Uint8Array(planes, y + cb, cr) }),
  };
}
