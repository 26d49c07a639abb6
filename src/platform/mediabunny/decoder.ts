/**
 * @module platform/mediabunny/decoder
 * Takes files apart with mediabunny and decodes with WebCodecs, or what stands in for it. Runs in a parser thread.
 */
import type { AnyvmafError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import type { DecodedSource, DecodeRequest, TrackFacts } from '../../media/decoder.js';
import { isCrowded } from '../../media/evidence/packets.js';
import { hidesFrames } from '../../media/evidence/vpx.js';
import type { LentVideo, TrackPackets } from './calls.js';
import { MediabunnySource } from './source.js';
import {
  beyond,
  type MediabunnyHost,
  mediaError,
  type OpenedTrack,
  openTrack,
  packetsOf,
  SAME,
  shownTimes,
  trackFacts,
} from './track.js';

/** As a `Decoder`, of videos that came from another thread. */
export interface TrackDecoder {
  probe(video: LentVideo): Promise<TrackFacts>;
  timestamps(video: LentVideo): Promise<TrackPackets | null>;
  open(video: LentVideo, facts: TrackFacts, request: DecodeRequest): Promise<DecodedSource>;
}

/** @param host a browser, or Node */
export function createTrackDecoder(host: MediabunnyHost): TrackDecoder {
  /** The latest video, where its bytes cannot change: what opens it again need not go through its index again. */
  let kept: { readonly same: number; readonly opened: OpenedTrack } | undefined;

  async function open(video: LentVideo): Promise<OpenedTrack> {
    const { same } = video;
    if (!kept || kept.same !== same) {
      kept?.opened.close();
      kept = undefined;
      const opened = await openTrack(host, video, await host.openInput(video));
      if (same === undefined) return opened;
      kept = { same, opened };
    }
    // Closed when another one comes; until then, or until the thread ends, it stays open.
    return { ...kept.opened, close() {} };
  }

  async function withTrack<T>(video: LentVideo, use: (opened: OpenedTrack) => Promise<T>): Promise<T> {
    const opened = await open(video);
    try {
      return await use(opened);
    } finally {
      opened.close();
    }
  }

  return {
    probe: (video) => withTrack(video, (opened) => trackFacts(host, opened)),

    timestamps: (video) => withTrack(video, (opened) => trackPackets(host, opened)),

    async open(video, facts, request) {
      const opened = await open(video);
      try {
        return await MediabunnySource.start(host, opened, facts, request);
      } catch (error) {
        opened.close();
        throw error;
      }
    },
  };
}

/** Times of all frames that are shown, from the first one on, and bytes of all packets; `null` if none is shown. */
async function trackPackets(host: MediabunnyHost, opened: OpenedTrack): Promise<TrackPackets | null> {
  const { name, container, codec } = opened;
  let times: number[] = [];
  let bytes = 0;
  try {
    let before = 0;
    let lastKey = Number.NEGATIVE_INFINITY;
    for await (const { timestamp, type, byteLength } of packetsOf(host, opened)) {
      // Key frames come in the order in which they are shown, unless the clock is set back.
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
    throw mediaError(name, error);
  }
  if (times.length === 0) return null;
  const sorted = Float64Array.from(times).sort();
  const [first = Number.NaN] = sorted;
  return { times: sorted.map((time) => time - first), bytes };
}

/** mediabunny puts frames in the order of their times, which mixes those before and after. @param frames before */
function clockSetBack({ name }: OpenedTrack, host: MediabunnyHost, frames: number): AnyvmafError {
  const what = `the time stamps of ${shown(name)} go back after ${frames} frames, as where recordings are joined`;
  return beyond(host, name, `${what}, and mediabunny orders frames by them`);
}
