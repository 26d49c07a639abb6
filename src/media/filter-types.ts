/**
 * @module media/filter-types
 * What may be done to the pictures of a video before it is compared.
 */
import type { ColorMatrix, ColorRange } from '../core/choices.js';
import type { Deinterlacing } from './evidence/fields.js';
import type { SampleFormat } from './pixel-format.js';

/** What a caller asks for, of both videos. Pictures are filtered upright, in the order of these members. */
export interface FilterOptions {
  /** Makes whole pictures of the fields of each video that is interlaced by its pictures or its label, by ffmpeg's bwdif. */
  readonly deinterlace?: boolean;
  /** `auto` cuts black borders off: what lies outside the pictures of both. */
  readonly crop?: 'auto';
  /** The part of the picture to keep, `WIDTH:HEIGHT:X:Y` in samples as ffmpeg's crop; without X and Y, the middle. */
  readonly cropReference?: string;
  readonly cropDistorted?: string;
  /** Filters of ffmpeg, a chain as after `-vf`; only where ffmpeg decodes. */
  readonly vfReference?: string;
  readonly vfDistorted?: string;
  /** The range to which samples are converted where the video's is another; what states none is limited. */
  readonly colorRange?: ColorRange;
  /** The matrix to which samples are converted where the video's is another; what states none has its size's usual. */
  readonly matrix?: ColorMatrix;
  /** ffmpeg's name of the planar format in which both are compared, such as `yuv420p10le`. */
  readonly pixelFormat?: string;
}

/** A part of a picture, in samples. */
export interface CropArea {
  readonly width: number;
  readonly height: number;
  readonly x: number;
  readonly y: number;
}

/** What is done to one video, its facts known. */
export interface SideFilters {
  /** Which field is shown first: by the label, or by the pictures where these tell otherwise. */
  readonly deinterlace?: Deinterlacing;
  readonly crop?: CropArea;
  /** A checked chain of ffmpeg's filters. */
  readonly vf?: string;
  readonly range?: { readonly from: ColorRange; readonly to: ColorRange };
  readonly matrix?: { readonly from: ColorMatrix; readonly to: ColorMatrix };
  readonly format?: SampleFormat;
}

/** What needs no decoder of a certain kind; structured-cloneable. */
export type OwnFilters = Pick<SideFilters, 'crop' | 'range' | 'format'>;

/** A chain of filters in a decoder. */
export interface DecoderFilters {
  /** As after `-vf`. */
  readonly chain: string;
  /** Whether each frame gives one of the same time. */
  readonly keepsFrames: boolean;
}
