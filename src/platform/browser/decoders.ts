/**
 * @module platform/browser/decoders
 * What can decode video in a browser, the preferred first: mediabunny over WebCodecs, ffmpeg.wasm.
 */

import type { Assets } from '../../engine/contract/platform.js';
import type { Decoder } from '../../media/decoder.js';
import { browserWasmDecoder } from './wasm-decoder.js';
import { webCodecsDecoder } from './webcodecs-decoder.js';

/** Made once: they keep what they loaded. */
let decoders: readonly Decoder[] | undefined;

/** @param assets says where things are at the moment */
export function browserDecoders(assets: () => Assets): readonly Decoder[] {
  decoders ??= [
    webCodecsDecoder({ library: () => assets().mediabunny, parser: () => assets().parserWorker }),
    browserWasmDecoder({ core: () => assets().ffmpegCore, worker: () => assets().ffmpegWorker }),
  ];
  return decoders;
}
