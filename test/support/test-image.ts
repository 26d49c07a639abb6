/**
 * @module test/support/test-image
 * The synthetic test image for which libvmaf's values at every stage of the features are known.
 */
import type { VideoFormat } from '../../src/core/frame.js';
import {
  allocateSamples,
  type SampleClip,
  type SampleSide,
  samplePlaneSizes,
} from '../../src/sample/generator.js';

/** Luma of the test image T(W, H, b, t) or of its "saw" variant, both sides. */
function testPlane(width: number, height: number, depth: number, t: number, saw: boolean, side: SampleSide) {
  const level = (x: number, y: number): number => {
    const v = 3 * x + 5 * y + ((x * y) >> 3) + 17 * t + 4 * ((x ^ y) & 15);
    if (saw) return v & 255;
    const folded = v % 510;
    return folded > 255 ? 510 - folded : folded;
  };
  const out = allocateSamples(depth, width * height);
  const extra = depth - 8;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let value = level(x, y);
      if (side === 'distorted') {
        const smooth = (value + level(Math.min(x + 1, width - 1), y) + 1) >> 1;
        value = Math.max(0, Math.min(255, smooth + ((7 * x + 13 * y + 5 * t) % 9) - 4));
      }
      const low = (5 * x + 3 * y + t) & ((1 << extra) - 1);
      out[y * width + x] = (value << extra) | low;
    }
  }
  return out;
}

/**
 * The synthetic test image T and its variant `saw`, whose full-scale edges reach the overflow cases. Chroma plane p is T
 * of that plane's size, 7 p frames later.
 */
export function makeTestImage(format: VideoFormat, variant: 'T' | 'saw' = 'T'): SampleClip {
  const sizes = samplePlaneSizes(format);
  return {
    format,
    frame(side, index) {
      return sizes.map(({ width, height }, plane) => ({
        width,
        height,
        samples: testPlane(width, height, format.bitDepth, index + 7 * plane, variant === 'saw', side),
      }));
    },
  };
}
