/**
 * @module platform/mediabunny/host
 * What the mediabunny decoder needs of its platform.
 */
import type { VideoSample } from 'mediabunny';
import type { DecoderAvailability } from '../../media/decoder.js';
import type { ByteReader } from '../../media/platform.js';
import type { VideoInput } from '../../media/types.js';

/** The library, as its package exports it. */
export type Mediabunny = typeof import('mediabunny');

/** A browser with WebCodecs, or Node with the decoders of `@mediabunny/server`. */
export interface MediabunnyHost {
  /** What decodes, for the report: `WebCodecs`, `libavcodec`. */
  readonly engine: string;
  availability(): Promise<DecoderAvailability>;
  /**
   * The library, with decoders registered.
   * @throws {AnyvmafError} `io` when it is not installed
   */
  load(): Promise<Mediabunny>;
  /** @throws {AnyvmafError} `io` when it cannot be read, `usage` when it is of a kind that cannot be read at will */
  openInput(input: VideoInput): Promise<{ readonly name: string; readonly reader: ByteReader }>;
  /** Whether a sample holds guesses in place of what was coded; absent where that cannot be told. */
  isPatched?(sample: VideoSample): boolean;
  /** The end of a sentence about a video that cannot be decoded here: `install ffmpeg`. */
  readonly remedy: string;
}
