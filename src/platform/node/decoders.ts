/**
 * @module platform/node/decoders
 * What can decode video in Node, the preferred first: ffmpeg, mediabunny with its server package, ffmpeg.wasm.
 */

import type { Origin } from '../../core/origin.js';
import type { Decoder } from '../../media/decoder.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import { createFfmpegDecoder } from './ffmpeg/decoder.js';
import { type NodeParserOptions, nodeMediabunnyDecoder } from './mediabunny-decoder.js';
import { nodeWasmDecoder } from './wasm-decoder.js';

/** What decoders may open. */
export interface DecoderAccess {
  /** ffmpeg may fetch videos. */
  readonly urls: boolean;
  readonly origin: Origin;
  /** Of sequences of pictures. */
  readonly rate?: string;
  /** Default: a default track, else the largest. */
  readonly track?: TrackRequest;
}

/** Sets of decoders that are kept: more than a program has origins. */
const KEPT = 16;

/** By what they may open; each made once, because decoders remember what they were asked. */
const made = new Map<string, readonly Decoder[]>();

/** Where the scripts of workers are. */
export interface WorkerPlaces extends NodeParserOptions {
  /** The worker of ffmpeg.wasm. */
  readonly worker: () => URL;
}

export function nodeDecoders(access: DecoderAccess, places: WorkerPlaces): readonly Decoder[] {
  const { urls, origin, rate, track } = access;
  const key = JSON.stringify([urls, origin.by, origin.folders, rate, track]);
  const decoders = made.get(key) ?? [
    createFfmpegDecoder(access),
    nodeMediabunnyDecoder(places, origin, track),
    nodeWasmDecoder({ worker: places.worker, origin, track }),
  ];
  const [oldest] = made.keys();
  if (!made.has(key) && made.size >= KEPT && oldest !== undefined) made.delete(oldest);
  made.set(key, decoders);
  return decoders;
}
