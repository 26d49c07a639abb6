/**
 * @module test/support/decodings
 * A platform that keeps a record of every decoder that is opened, and how far it is read.
 */

import type { Platform } from '../../src/engine/contract/platform.js';
import type { DecodeRequest, Decoder } from '../../src/media/decoder.js';
import type { VideoInput } from '../../src/media/types.js';

/** One opening of a decoder. */
export interface Decoding {
  readonly input: VideoInput;
  readonly request: DecodeRequest;
  /** Frames decoded, as far as reading showed. */
  readonly frames: number;
}

/** The platform, and what it has decoded so far. */
export function watchedPlatform(platform: Platform): { platform: Platform; opened: readonly Decoding[] } {
  const opened: Decoding[] = [];
  const watched = (decoder: Decoder): Decoder => ({
    id: decoder.id,
    availability: () => decoder.availability(),
    probe: (input, signal) => decoder.probe(input, signal),
    timestamps: (input, signal, track) => decoder.timestamps(input, signal, track),
    async open(input, facts, request) {
      const record = { input, request, frames: 0 };
      opened.push(record);
      const source = await decoder.open(input, facts, request);
      return {
        info: source.info,
        seekable: source.seekable,
        facts: source.facts,
        decoder: source.decoder,
        decodedBy: source.decodedBy,
        ...(source.scaledBy !== undefined && { scaledBy: source.scaledBy }),
        timestamp: (index) => source.timestamp(index),
        async readFrame(index, into) {
          const found = await source.readFrame(index, into);
          if (found) record.frames = Math.max(record.frames, index + 1);
          return found;
        },
        close: () => source.close(),
      };
    },
  });
  return {
    opened,
    platform: {
      ...platform,
      decoders: async (options) => (await platform.decoders(options)).map(watched),
    },
  };
}
