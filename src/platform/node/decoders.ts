/**
 * @module platform/node/decoders
 * What can decode video in Node, the preferred first: ffmpeg, mediabunny with its server package, ffmpeg.wasm.
 */
import type { Decoder } from '../../media/decoder.js';
import { createFfmpegDecoder } from './ffmpeg/decoder.js';
import { nodeMediabunnyDecoder } from './mediabunny-decoder.js';
import { type NodeWasmOptions, nodeWasmDecoder } from './wasm-decoder.js';

/** Made once each, because decoders remember what they were asked. */
let made: { readonly local: readonly Decoder[]; readonly fetching: readonly Decoder[] } | undefined;

/**
 * @param allowUrl lets ffmpeg fetch videos
 * @param wasm where the worker of ffmpeg.wasm is
 */
export function nodeDecoders(allowUrl: boolean, wasm: NodeWasmOptions): readonly Decoder[] {
  if (!made) {
    const others = [nodeMediabunnyDecoder(), nodeWasmDecoder(wasm)];
    made = {
      local: [createFfmpegDecoder(), ...others],
      fetching: [createFfmpegDecoder({ allowUrl: true }), ...others],
    };
  }
  return allowUrl ? made.fetching : made.local;
}
