/**
 * @module mcp/pictures/protocol
 * Messages between the server and the thread that makes pictures.
 */
import type { ErrorData } from '../../core/errors.js';
import type { ColorMeaning, ExtractOptions, FrameFacts, Origin, RgbImage, VideoFormat } from '../../index.js';
import type { CheckedRequest } from '../checked-api.js';

/** Pictures of a pair. */
export const PICTURES = ['reference', 'distorted', 'difference', 'map'] as const;
export type PictureName = (typeof PICTURES)[number];

/** Which frames of which files, and which pictures of them. */
export interface PictureJob {
  readonly request: CheckedRequest;
  /** Numbers of pairs. */
  readonly frames: readonly number[];
  readonly options: Omit<ExtractOptions, 'signal'> & { readonly origin: Origin };
  /** Whether the map is Butteraugli's, not that of VIF and ADM. */
  readonly butteraugli: boolean;
  /** Longest side of the pictures in samples; absent: they have full size. */
  readonly maxSide?: number;
  /** Limits of the small copies for a model; absent if none are wanted. */
  readonly previews?: {
    readonly names: readonly PictureName[];
    /** Longest side in samples. */
    readonly maxSide: number;
    /** Bytes that one may have: a PNG if that has no more, else a JPEG that is made smaller until it has. */
    readonly maxBytes: number;
  };
  /** Longest side of a copy of the distorted picture in plain RGB, for a describing model; absent: none. */
  readonly plainSide?: number;
}

/** One picture as PNG. */
export interface Png {
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A copy for a model. */
export interface Preview extends Png {
  readonly mimeType: 'image/png' | 'image/jpeg';
}

/** All that is made of one pair. */
export interface TakenPair {
  readonly index: number;
  readonly format: VideoFormat;
  /** Width over height as shown. */
  readonly aspect: number;
  readonly reference: TakenSide;
  readonly distorted: TakenSide;
  readonly facts: FrameFacts;
  /** The factor that the difference was multiplied with. */
  readonly gain: number;
  /** In full size unless the job says otherwise. */
  readonly pictures: Readonly<Record<PictureName, Png>>;
  readonly previews: Readonly<Partial<Record<PictureName, Preview>>>;
  readonly plain?: RgbImage;
}

/** Where a picture comes from. */
export interface TakenSide {
  readonly frame: number;
  readonly time: number | null;
  readonly color: ColorMeaning;
}

/** From the thread. */
export type FromPictureThread =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'taken'; readonly pair: TakenPair }
  | { readonly kind: 'done' }
  | ({ readonly kind: 'failed' } & ErrorData);

/** To the thread: a job, then perhaps the wish to stop. */
export type ToPictureThread = { readonly kind: 'job'; readonly job: PictureJob } | { readonly kind: 'stop' };
