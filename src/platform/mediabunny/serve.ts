/**
 * @module platform/mediabunny/serve
 * The parser thread's side of the mediabunny decoder: demuxes with mediabunny, decodes with WebCodecs or its substitute, and
 * returns frames.
 */
import type { AnyvmafError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import type { TrackTimes } from '../../media/decoder.js';
import { hidesFrames, isCrowded } from '../../media/evidence/packets.js';
import { BlockReader, bytesReader } from '../../media/readers.js';
import type { ByteReader } from '../../media/types.js';
import { Handed, type Monitor, type Served } from '../../parsing/serve.js';
import type { LentVideo, PlaneSizes, VideoCalls } from './remote.js';
import { TrackFrames } from './source.js';
import type { MediabunnyHost, OpenedTrack } from './track.js';
import { beyond, decodingError, openTrack, packetsOf, SAME, shownTimes, trackFacts } from './track.js';

/** Smaller files are read whole, so that their reader never waits. */
const SMALL = 8 << 20;

/** Milliseconds of silence: base, bytes per further millisecond, and maximum; four times what an idle CPU needs. */
const SILENCE = 4000;
const BYTES_PER_MILLISECOND = 5000;
const MOST_SILENCE = 40_000;

/** Bytes come from another process: fetch blocks, and keep the latest. */
const BLOCKS = { bytes: 1 << 18, kept: 16 } as const;

/** Opens the lent video; reading new bytes reports progress. @throws {AnyvmafError} `io` if reading fails */
export async function openLent({ name, size }: LentVideo, monitor: Monitor): Promise<ByteReader> {
  // Not `media`, which would make the next decoder try it: do not give a file that hangs one reader to another.
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

export function serveVideo(host: MediabunnyHost): Served<VideoCalls> {
  /** The latest immutable video, to reopen without reading its index again. */
  let cached: OpenedTrack | undefined;
  let frames: TrackFrames | undefined;

  async function openVideo(video: LentVideo): Promise<OpenedTrack> {
    if (!cached || !video.isOpen) {
      cached?.close();
      cached = undefined;
      const opened = await openTrack(host, video, await host.openInput(video));
      if (video.isOpen === undefined) return opened;
      cached = opened;
    }
    // Stays open until another video replaces it or the thread ends.
    return { ...cached, close() {} };
  }

  async function withTrack<T>(video: LentVideo, use: (opened: OpenedTrack) => Promise<T>): Promise<T> {
    const opened = await openVideo(video);
    try {
      return await use(opened);
    } finally {
      opened.close();
    }
  }

  return {
    async ready() {},
    probe: (video: LentVideo) => withTrack(video, (opened) => trackFacts(host, opened)),
    async timestamps(video) {
      const packets = await withTrack(video, (opened) => trackPackets(host, opened));
      return packets && new Handed(packets, [bufferOf(packets.times)]);
    },
    async open({ video, facts, request }) {
      const opened = await openVideo(video);
      try {
        frames = await TrackFrames.start(host, opened, facts, request);
      } catch (error) {
        opened.close();
        throw error;
      }
      return host.engine;
    },
    async read({ index, sizes }) {
      if (!frames) throw new Error('no video is open');
      const { planes, ...into } = planesOf(sizes);
      const known = frames.times.length;
      const found = await frames.read(index, into);
      return new Handed({ found, planes, times: frames.times.slice(known) }, [planes]);
    },
    async close() {
      await frames?.close();
      frames = undefined;
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

/** Times of all displayed frames, from the first, and bytes of all packets; `null` if no frame is displayed. */
async function trackPackets(host: MediabunnyHost, opened: OpenedTrack): Promise<TrackTimes | null> {
  const { name, container, codec } = opened;
  let times: number[] = [];
  let bytes = 0;
  try {
    let before = 0;
    let lastKey = Number.NEGATIVE_INFINITY;
    for await (const { timestamp, type, byteLength } of packetsOf(host, opened)) {
      // Key frames are in display order, unless the clock is set back.
      if (container === 'mpegts' && type === 'key') {
        if (timestamp <= lastKey) throw clockSetBack(opened, host, before);
        lastKey = timestamp;
      }
      before++;
      bytes += byteLength;
      // Frames before the start of an edit list are decoded but not shown.
      if (timestamp >= -SAME) times.push(timestamp);
    }
    if (hidesFrames(codec) && isCrowded(times)) times = await shownTimes(host, opened);
  } catch (error) {
    throw decodingError(name, error);
  }
  if (times.length === 0) return null;
  const sorted = Float64Array.from(times).sort();
  const [first = Number.NaN] = sorted;
  return { times: sorted.map((time) => time - first), bytes };
}

/** mediabunny sorts frames by time, which mixes those before and after. @param frames before the set-back */
function clockSetBack({ name }: OpenedTrack, host: MediabunnyHost, frames: number): AnyvmafError {
  const what = `the timestamps of ${shown(name)} go back after ${frames} frames, as in joined recordings`;
  return beyond(host, name, `${what}, and mediabunny orders frames by them`);
}
