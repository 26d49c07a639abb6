/**
 * @module platform/browser/decoders
 * Video decoders in a browser, preferred first: mediabunny over WebCodecs, in parser threads, and ffmpeg.wasm.
 */
import { AnyvmafError } from '../../core/errors.js';
import type { Assets } from '../../engine/contract/platform.js';
import type { Decoder } from '../../media/decoder.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import { blobReader } from '../../media/readers.js';
import { createRemoteDecoder } from '../mediabunny/remote.js';
import { readableBlob } from './readable-blob.js';
import { browserWasmDecoder } from './wasm-decoder.js';
import { startBrowserParser } from './workers.js';

/** By track; reused, since decoders keep what they loaded. */
const made = new Map<string, readonly Decoder[]>();

/** @param assets returns the current addresses */
export function browserDecoders(assets: () => Assets, track?: TrackRequest): readonly Decoder[] {
  const key = JSON.stringify(track ?? null);
  const decoders = made.get(key) ?? [webCodecsDecoder(assets, track), browserWasmDecoder(assets, track)];
  made.set(key, decoders);
  return decoders;
}

const ABSENT = 'this browser has no WebCodecs, or offers them only over HTTPS; load the page over HTTPS';

/** mediabunny over WebCodecs; without WebCodecs, its error points to ffmpeg.wasm. */
function webCodecsDecoder(assets: () => Assets, track?: TrackRequest): Decoder {
  const decoder = createRemoteDecoder({
    track,
    startWorker: () => startBrowserParser(assets().parserWorker),
    task() {
      const library = assets().mediabunny;
      // A thread would resolve a relative address differently.
      return {
        kind: 'video',
        library: library === undefined ? undefined : new URL(library, location.href).href,
      };
    },
    async openInput(input) {
      const { name, blob } = readableBlob(input);
      return { name, reader: blobReader(blob, name) };
    },
  });
  if (typeof VideoDecoder !== 'undefined') return decoder;
  return {
    ...decoder,
    availability: async () => ({ id: decoder.id, usable: false, reason: ABSENT }),
    async obtain() {
      throw new AnyvmafError('media', ABSENT, {
        hints: [{ purpose: 'fix', option: 'decoder', value: 'wasm', aim: '(ffmpeg.wasm needs none)' }],
      });
    },
  };
}
