/**
 * @module media/yuv
 * Raw planar YUV: consecutive frames without headers.
 */
import { AnyvmafError, usageError } from '../core/errors.js';
import { describeFormat, formatProblem, roundedDownChroma, storedFrameBytes } from '../core/frame.js';
import { shown } from '../core/printable.js';
import { sniffContent } from './sniff.js';
import type { FrameLayout, RawVideoFormat, VideoInfo } from './types.js';

/** @throws {AnyvmafError} `usage` */
export function checkRawFormat(raw: RawVideoFormat): void {
  const problem = formatProblem(raw);
  if (problem) throw usageError(`the given raw format is not usable: ${problem}.`);
}

export function rawLayout(raw: RawVideoFormat): FrameLayout {
  return { start: 0, frameHeader: 0, frameBytes: storedFrameBytes(raw) };
}

/**
 * @param size file size in bytes; `null` for a stream
 * @param start the first bytes, to recognise files that are not raw video
 * @throws {AnyvmafError} `media` if the file is smaller than one frame
 */
export function rawInfo(
  raw: RawVideoFormat,
  name: string,
  size: number | null,
  start: Uint8Array,
): VideoInfo {
  const { width, height, bitDepth, chroma } = raw;
  const looksLike = sniffContent(start);
  const warnings = looksLike
    ? [`${shown(name)} was read as raw YUV as requested, but it looks like ${looksLike}.`]
    : [];
  const info = { name, container: 'yuv', width, height, bitDepth, chroma, warnings } as const;
  if (size === null) return { ...info, frameCount: null };
  const expectedBytes = storedFrameBytes(raw);
  const frameCount = Math.floor(size / expectedBytes);
  const foundBytes = size % expectedBytes;
  if (frameCount === 0) {
    const what = `${shown(name)} has ${size} bytes, less than one frame of ${describeFormat(raw)} (${expectedBytes} bytes)`;
    const why = looksLike ? `it looks like ${looksLike}, not raw YUV` : roundedDownChroma(raw, size);
    const hint = why ?? ({ purpose: 'check', option: 'raw' } as const);
    throw new AnyvmafError('media', what, { hints: [hint], file: name });
  }
  return {
    ...info,
    frameCount,
    ...(foundBytes > 0 ? { incompleteFrame: { index: frameCount, expectedBytes, foundBytes } } : {}),
  };
}
