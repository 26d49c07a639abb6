/**
 * @module platform/browser/webcodecs-decoder
 * The mediabunny decoder in a browser, as the engine sees it; its work is done in parser threads.
 */
import { AnyvmafError } from '../../core/errors.js';
import type { Decoder } from '../../media/decoder.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import { blobReader } from '../../media/readers.js';
import { createRemoteDecoder } from '../mediabunny/remote.js';
import { startBrowserParser } from './parser-worker.js';
import { readableBlob } from './readable-blob.js';

/** Where the decoder's files are; asked when they are needed. */
export interface WebCodecsPlaces {
  /** The library mediabunny, when the host says so; otherwise it is imported by its name. */
  library(): string | URL | undefined;
  /** This package's `browser-parser-worker.js`, when the host moved it. */
  parser(): string | URL | undefined;
}

const ABSENT = 'this browser has no WebCodecs, or not on a page that came over plain HTTP; use HTTPS';

/** mediabunny over WebCodecs; where there is none, says that ffmpeg.wasm decodes too. */
export function webCodecsDecoder(places: WebCodecsPlaces, track?: TrackRequest): Decoder {
  const decoder = createRemoteDecoder({
    ...(track && { track }),
    startWorker: () => startBrowserParser(places.parser()),
    task() {
      const library = places.library();
      // From a thread, a relative address would mean another place.
      return {
        kind: 'video',
        ...(library !== undefined && { library: new URL(library, location.href).href }),
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
