/**
 * @module web/setup/kind
 * Tells raw YUV, Y4M and encoded video apart by name and first bytes, without loading anything for it.
 */
import type { FileKind } from '../session.js';

/** Bytes from a file's start that {@link kindOf} looks at. */
export const START_BYTES = 16;

const RAW_NAME = /\.(yuv|raw|i420|iyuv|yv12|y8|nv12|nv21|p010|uyvy|yuy2)$/i;

/**
 * How a file holds its frames. Content goes before the name; a file that says nothing by either is taken as encoded, and
 * whoever decodes it says what is wrong with it.
 */
export function kindOf(name: string, start: Uint8Array): FileKind {
  if (String.fromCharCode(...start.subarray(0, 9)) === 'YUV4MPEG2') return 'y4m';
  return RAW_NAME.test(name) ? 'raw' : 'encoded';
}
