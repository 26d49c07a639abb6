/**
 * @module engine/backends/frame-buffer
 * Packs a frame into one buffer (luma, then Cb, Cr and alpha), so that threads can pass it on as a whole.
 */

import type { FramePlanes } from '../../core/frame.js';
import { chromaSize, lumaBytes, sampleBytes } from '../../core/frame.js';
import { type ExtractionPlan, historyNeeds, planesRead } from './types.js';

export type PlaneName = 'y' | 'cb' | 'cr' | 'alpha';

/** Bytes of each plane that a plan measures; 0 for those it does not. */
export function planeBytes(plan: ExtractionPlan): Readonly<Record<PlaneName, number>> {
  const { width, height } = chromaSize(plan.format);
  const planes = planesRead(plan);
  const chroma = planes > 1 ? width * height * sampleBytes(plan.format.bitDepth) : 0;
  const y = lumaBytes(plan.format);
  return { y, cb: chroma, cr: chroma, alpha: planes === 4 ? y : 0 };
}

export function allocateFrame(plan: ExtractionPlan): ArrayBuffer {
  return new ArrayBuffer(Object.values(planeBytes(plan)).reduce((sum, bytes) => sum + bytes));
}

export function viewPlanes(buffer: ArrayBuffer, plan: ExtractionPlan): FramePlanes {
  const bytes = planeBytes(plan);
  const y = new Uint8Array(buffer, 0, bytes.y);
  if (bytes.cb === 0) return { y };
  const colours = bytes.y + 2 * bytes.cb;
  return {
    y,
    cb: new Uint8Array(buffer, bytes.y, bytes.cb),
    cr: new Uint8Array(buffer, bytes.y + bytes.cb, bytes.cr),
    ...(bytes.alpha > 0 && { alpha: new Uint8Array(buffer, colours, bytes.alpha) }),
  };
}

/** Copies what later pairs need of a frame buffer. @param into bytes to reuse */
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
  to.cr?.set(kept.subarray(bytes.y + bytes.cb, bytes.y + 2 * bytes.cb));
  to.alpha?.set(kept.subarray(bytes.y + 2 * bytes.cb));
}
