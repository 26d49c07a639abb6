/**
 * @module platform/node/decoders
 * Video decoders in Node, preferred first: ffmpeg, mediabunny with its server package, ffmpeg.wasm.
 */
import { FOREIGN, type Origin } from '../../core/origin.js';
import type { Decoder } from '../../media/decoder.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import { createRemoteDecoder } from '../mediabunny/remote.js';
import { createFfmpegDecoder } from './ffmpeg/decoder.js';
import { startNodeParser } from './parser-process.js';
import { openReadable } from './readable-input.js';
import { nodeWasmDecoder } from './wasm-decoder.js';

export interface DecoderAccess {
  /** ffmpeg may fetch videos. */
  readonly urls: boolean;
  readonly origin: Origin;
  /** Pictures per second of image sequences. */
  readonly rate?: string;
  readonly track?: TrackRequest;
}

/** Sets of decoders kept: more than a program has origins. */
const KEPT = 16;

/** By what they may open; reused, because decoders remember what they read. */
const made = new Map<string, readonly Decoder[]>();

/** @param scripts this package's `node-ffmpeg-worker.js` and `node-parser-worker.js` */
export function nodeDecoders(
  access: DecoderAccess,
  { worker, parser }: { readonly worker: () => URL; readonly parser: () => URL },
): readonly Decoder[] {
  const { urls, origin, rate, track } = access;
  const key = JSON.stringify([urls, origin.by, origin.folders, rate, track]);
  const decoders = made.get(key) ?? [
    createFfmpegDecoder(access),
    nodeMediabunnyDecoder({ parser, origin, track }),
    nodeWasmDecoder({ worker, origin, track }),
  ];
  const [oldest] = made.keys();
  if (!made.has(key) && made.size >= KEPT && oldest !== undefined) made.delete(oldest);
  made.set(key, decoders);
  return decoders;
}

/**
 * mediabunny over libavcodec, in parser processes; needs the packages `mediabunny` and `@mediabunny/server`.
 * @param options `parser`: this package's `node-parser-worker.js`; `origin`: of its files' names, by default not the
 * user; `track`: by default a default track, else the largest
 */
export function nodeMediabunnyDecoder({
  parser,
  origin = FOREIGN,
  track,
}: {
  readonly parser: () => URL;
  readonly origin?: Origin;
  readonly track?: TrackRequest;
}): Decoder {
  return createRemoteDecoder({
    track,
    startWorker: () => startNodeParser(parser()),
    task: () => ({ kind: 'video' }),
    openInput: (input) => openReadable(input, 'mediabunny', origin),
  });
}
