/**
 * @module platform/node/decoders
 * What can decode video in Node, the preferred first: ffmpeg, mediabunny with its server package, ffmpeg.wasm.
 */
import type { Decoder } from '../../media/decoder.js';
import { createFfmpegDecoder } from './ffmpeg/decoder.js';
import { type NodeParserOptions, nodeMediabunnyDecoder } from './mediabunny-decoder.js';
import { type NodeWasmOptions, nodeWasmDecoder } from './wasm-decoder.js';

/** Made once each, because decoders remember what they were asked. */
let made: { readonly local: readonly Decoder[]; readonly fetching: readonly Decoder[] } | undefined;

/**
 * @param allowUrl lets ffmpeg fetch videos
 * @param places where the workers of mediabunny and ffmpeg.wasm are
 */
export function nodeDecoders(
  allowUrl: boolean,
  places: NodeWasmOptions & NodeParserOptions,
): readonly Decoder[] {
  if (!made) {
    const others = [nodeMediabunnyDecoder(places), nodeWasmDecoder(places)];
    made = {
      local: [createFfmpegDecoder(), ...others],
      fetching: [createFfmpegDecoder({ allowUrl: true }), ...others],
    };
  }
  return allowUrl ? made.fetching : made.local;
}
