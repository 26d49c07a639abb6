/**
 * @module platform/node/mediabunny-decoder
 * The mediabunny decoder in Node, as the engine sees it; its work is done in parser processes.
 */

import { FOREIGN } from '../../core/origin.js';
import type { Decoder } from '../../media/decoder.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import { createRemoteDecoder } from '../mediabunny/remote.js';
import { startNodeParser } from './parser-process.js';
import { openReadable } from './readable-input.js';

/** Where the decoder's own files are. */
export interface NodeParserOptions {
  /** This package's `node-parser-worker.js`. */
  readonly parser: () => URL;
}

/**
 * mediabunny over libavcodec; usable where `mediabunny` and `@mediabunny/server` are installed.
 * @param origin of the names of its files
 */
export function nodeMediabunnyDecoder(
  { parser }: NodeParserOptions,
  origin = FOREIGN,
  track?: TrackRequest,
): Decoder {
  return createRemoteDecoder({
    ...(track && { track }),
    startWorker: () => startNodeParser(parser()),
    task: () => ({ kind: 'video' }),
    openInput: (input) => openReadable(input, 'mediabunny', origin),
  });
}
