/**
 * @module media/blank
 * A placeholder source for the missing reference of no-reference models.
 */
import type { VideoFormat } from '../core/frame.js';
import type { FrameSource } from './types.js';

/** Name in reports. */
const NO_REFERENCE = '(no reference)';

/**
 * A source whose frames leave the planes unchanged.
 * @param frameCount number of frames of the other video, `null` if unknown
 */
export function blankSource(format: VideoFormat, frameCount: number | null): FrameSource {
  const { width, height, bitDepth, chroma } = format;
  const info = {
    name: NO_REFERENCE,
    container: 'frames',
    width,
    height,
    bitDepth,
    chroma,
    frameCount,
    warnings: [],
  } as const;
  return {
    info,
    seekable: true,
    descriptor: { kind: 'blank', info },
    readFrame: (index) => frameCount === null || index < frameCount,
    close: () => {},
  };
}
