/**
 * @module platform/mediabunny/host
 * What the mediabunny decoder needs of its platform.
 */
import type { VideoSample } from 'mediabunny';
import type { Remedy } from '../../core/hint.js';
import type { ByteReader } from '../../media/platform.js';
import type { LentVideo } from './calls.js';

/** The library, as its package exports it. */
export type Mediabunny = typeof import('mediabunny');

/** A parser thread of a browser with WebCodecs, or of Node with the decoders of `@mediabunny/server`. */
export interface MediabunnyHost {
  /** What decodes, for the report: `WebCodecs`, `libavcodec`. */
  readonly engine: string;
  /** The library, with decoders registered. */
  readonly library: Mediabunny;
  /** @throws {AnyvmafError} `io` when it cannot be read */
  openInput(video: LentVideo): Promise<ByteReader> | ByteReader;
  /** Called when a packet or a picture came out of a file. */
  progress(): void;
  /** Whether a sample holds guesses in place of what was coded; absent where that is unknown. */
  isPatched?(sample: VideoSample): boolean;
  /** Why decoding failed where this sample stands, which holds no picture then; absent where errors are thrown. */
  failureAt?(sample: VideoSample): unknown;
  /** What helps with a video that cannot be decoded here: `install ffmpeg`. */
  readonly remedies: readonly Remedy[];
}
