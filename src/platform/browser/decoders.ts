/**
 * @module platform/browser/decoders
 * What can decode video in a browser, the preferred first: mediabunny over WebCodecs, ffmpeg.wasm.
 */

import type { Assets } from '../../engine/contract/platform.js';
import type { Decoder } from '../../media/decoder.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import { browserWasmDecoder } from './wasm-decoder.js';
import { webCodecsDecoder } from './webcodecs-decoder.js';

/** By the track that they read, each made once: they keep what they loaded. */
const made = new Map<string, readonly Decoder[]>();

/** @param assets says where things are at the moment */
export function browserDecoders(assets: () => Assets, track?: TrackRequest): readonly Decoder[] {
  const key = JSON.stringify(track ?? null);
  const decoders = made.get(key) ?? [
    webCodecsDecoder({ library: () => assets().mediabunny, parser: () => assets().parserWorker }, track),
    browserWasmDecoder({ core: () => assets().ffmpegCore, worker: () => assets().ffmpegWorker }, track),
  ];
  made.set(key, decoders);
  return decoders;
}
