/**
 * @module platform/mediabunny/decoder
 * Demuxes with mediabunny and decodes with WebCodecs or its substitute, in a parser thread.
 */
import type { AnyvmafError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import type { DecodedSource, DecodeRequest, TrackFacts } from '../../media/decoder.js';
import { hidesFrames, isCrowded } from '../../media/evidence/vpx.js';
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

/** A `Decoder` for videos from another thread. */
export interface TrackDecoder {
  probe(video: LentVideo): Promise<TrackFacts>;
  timestamps(video: LentVideo): Promise<TrackPackets | null>;
  open(video: LentVideo, facts: TrackFacts, request: DecodeRequest): Promise<DecodedSource>;
}

export function createTrackDecoder(host: MediabunnyHost): TrackDecoder {
  /** The latest video with unchangeable bytes: reopening it does not read its index again. */
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
    // Stays open until another one comes, or the thread ends.
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

/** Times of all frames shown, from the first, and bytes of all packets; `null` if no frame is shown. */
async function trackPackets(host: MediabunnyHost, opened: OpenedTrack): Promise<TrackPackets | null> {
  const { name, container, codec } = opened;
  let times: number[] = [];
  let bytes = 0;
  try {
    let before = 0;
    let lastKey = Number.NEGATIVE_INFINITY;
    for await (const { timestamp, type, byteLength } of packetsOf(host, opened)) {
      // Key frames come in display order, unless the clock is set back.
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

/** mediabunny sorts frames by time, which would mix those before and after. @param frames before the step back */
function clockSetBack({ name }: OpenedTrack, host: MediabunnyHost, frames: number): AnyvmafError {
  const what = `the timestamps of ${shown(name)} go back after ${frames} frames, as in joined recordings`;
  return beyond(host, name, `${what}, and mediabunny orders frames by them`);
}
