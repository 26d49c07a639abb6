/**
 * @module media/filter-types
 * What is done to the pictures of a video before it is compared.
 */
import type { ColorMatrix, ColorRange } from '../core/choices.js';
import type { Deinterlacing } from './evidence/fields.js';
import type { SampleFormat } from './pixel-format.js';

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
