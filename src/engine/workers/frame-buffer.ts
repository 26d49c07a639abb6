/**
 * @module engine/workers/frame-buffer
 * One frame as one buffer (luma, then Cb, then Cr, packed), so that a frame travels between threads as a whole.
 */

import type { FramePlanes } from '../../core/frame.js';
import { chromaSize, lumaBytes, sampleBytes } from '../../core/frame.js';
import { type ExtractionPlan, historyNeeds, planesRead } from '../backends/types.js';

/** A plane of {@link FramePlanes}. */
export type PlaneName = 'y' | 'cb' | 'cr';

/** Bytes of each plane that a plan measures; 0 for those it does not. */
export function planeBytes(plan: ExtractionPlan): Readonly<Record<PlaneName, number>> {
  const { width, height } = chromaSize(plan.format);
  const chroma = planesRead(plan) === 3 ? width * height * sampleBytes(plan.format.bitDepth) : 0;
  return { y: lumaBytes(plan.format), cb: chroma, cr: chroma };
}

/** Room for the planes that a plan measures. */
export function allocateFrame(plan: ExtractionPlan): ArrayBuffer {
  const { y, cb, cr } = planeBytes(plan);
  return new ArrayBuffer(y + cb + cr);
}

/** The planes within a buffer that {@link allocateFrame} made. */
export function viewPlanes(buffer: ArrayBuffer, plan: ExtractionPlan): FramePlanes {
  const bytes = planeBytes(plan);
  const y = new Uint8Array(buffer, 0, bytes.y);
  if (bytes.cb === 0) return { y };
  return {
    y,
    cb: new Uint8Array(buffer, bytes.y, bytes.cb),
    cr: new Uint8Array(buffer, bytes.y + bytes.cb, bytes.cr),
  };
}

/** Copies the planes that both have. */
export function copyPlanes(from: FramePlanes, to: FramePlanes): void {
  to.y.set(from.y);
  if (from.cb && to.cb) to.cb.set(from.cb);
  if (from.cr && to.cr) to.cr.set(from.cr);
}

/**
 * What is kept of a frame as history.
 * @param buffer a frame as {@link allocateFrame} made room for
 * @param into bytes to use again
 * @returns luma, or all planes
 */
export function copyHistory(
  buffer: ArrayBuffer,
  plan: ExtractionPlan,
  into?: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  const kept = historyNeeds(plan).chroma ? new Uint8Array(buffer) : viewPlanes(buffer, plan).y;
  const copy = into ?? new Uint8Array(kept.length);
  copy.set(kept);
  return copy;
}

/** Writes what {@link copyHistory} kept to planes. */
export function writeHistory(kept: Uint8Array, plan: ExtractionPlan, to: FramePlanes): void {
  const bytes = planeBytes(plan);
  to.y.set(kept.subarray(0, bytes.y));
  if (kept.length === bytes.y) return;
  to.cb?.set(kept.subarray(bytes.y, bytes.y + bytes.cb));
  to.cr?.set(kept.subarray(bytes.y + bytes.cb));
}
