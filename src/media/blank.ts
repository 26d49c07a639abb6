/**
 * @module media/blank
 * A source of frames that are not there: it stands where a pair has no reference.
 */
import type { VideoFormat } from '../core/frame.js';
import type { FrameSource } from './types.js';

/** What it is called in reports. */
const NO_REFERENCE = '(no reference)';

/**
 * Frames of a format that leave the planes as they are.
 * @param frameCount as many as the other video has, `null` for as many as are asked for
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
