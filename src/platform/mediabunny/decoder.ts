/**
 * @module platform/mediabunny/decoder
 * The decoder that takes files apart with mediabunny and decodes with WebCodecs, or what stands in for it.
 */
import type { Decoder } from '../../media/decoder.js';
import type { VideoInput } from '../../media/types.js';
import type { MediabunnyHost } from './host.js';
import { MediabunnySource } from './source.js';
import { mediaError, type OpenedTrack, openTrack, SAME, trackFacts } from './track.js';

/** @param host a browser, or Node */
export function createMediabunnyDecoder(host: MediabunnyHost): Decoder {
  async function open(input: VideoInput, signal?: AbortSignal): Promise<OpenedTrack> {
    signal?.throwIfAborted();
    const library = await host.load();
    const { name, reader } = await host.openInput(input);
    return openTrack(host, library, name, reader);
  }

  /** Runs `use` on an open track; an abort closes it, and is what is thrown then. */
  async function withTrack<T>(
    input: VideoInput,
    signal: AbortSignal | undefined,
    use: (opened: OpenedTrack) => Promise<T>,
  ): Promise<T> {
    const opened = await open(input, signal);
    signal?.addEventListener('abort', opened.close);
    try {
      signal?.throwIfAborted();
      return await use(opened);
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    } finally {
      signal?.removeEventListener('abort', opened.close);
      opened.close();
    }
  }

  return {
    id: 'mediabunny',
    availability: () => host.availability(),
    probe: (input, signal) => withTrack(input, signal, (opened) => trackFacts(host, opened)),

    timestamps: (input, signal) =>
      withTrack(input, signal, async ({ name, track, library }) => {
        const times: number[] = [];
        try {
          const packets = new library.EncodedPacketSink(track);
          for await (const { timestamp } of packets.packets(undefined, undefined, { metadataOnly: true })) {
            // Frames before the start of an edit list are decoded but not shown.
            if (timestamp >= -SAME) times.push(timestamp);
          }
        } catch (error) {
          throw mediaError(name, error);
        }
        if (times.length === 0) return null;
        const sorted = Float64Array.from(times).sort();
        const first = sorted[0] ?? 0;
        return sorted.map((time) => time - first);
      }),

    async open(input, facts, request) {
      const opened = await open(input, request.signal);
      try {
        return await MediabunnySource.start(host, opened, facts, request);
      } catch (error) {
        opened.close();
        throw error;
      }
    },
  };
}
