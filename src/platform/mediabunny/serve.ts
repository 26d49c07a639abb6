/**
 * @module platform/mediabunny/serve
 * The parser thread's side of the mediabunny decoder: opens files, decodes, and hands frames over.
 */

import { shown } from '../../core/printable.js';
import type { DecodedSource } from '../../media/decoder.js';
import type { ByteReader } from '../../media/platform.js';
import { BlockReader, bytesReader } from '../../media/readers.js';
import { Handed, type Monitor, type Served } from '../../parsing/serve.js';
import type { LentVideo, PlaneSizes, ReadFrame, VideoCalls } from './calls.js';
import type { TrackDecoder } from './decoder.js';

/** Files of so many bytes are read at once: whatever their reader then does, it does without waiting. */
const SMALL = 8 << 20;

/**
 * Milliseconds without a sign of life, to begin with, and bytes that explain another one of them: four times what a file takes
 * that its reader has a processor for.
 */
const SILENCE = 4000;
const BYTES_PER_MILLISECOND = 5000;
const MOST_SILENCE = 40_000;

/** The bytes come from another process: they are fetched in blocks, of which the latest are kept. */
const BLOCKS = { bytes: 1 << 18, kept: 16 } as const;

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
  const seen = new Uint8Array(Math.ceil(size / BLOCKS.bytes));
  return new BlockReader(input, BLOCKS, (block) => {
    if (seen[block] === 0) monitor.progress();
    seen[block] = 1;
  });
}

/** The functions of a thread that decodes with `decoder`. */
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
