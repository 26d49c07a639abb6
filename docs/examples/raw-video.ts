import { score } from 'anyvmaf';

const report = await score(
  {
    reference: 'reference.yuv',
    distorted: 'distorted.yuv',
    raw: { width: 192, height: 108, bitDepth: 8, chroma: '420' },
  },
  { skipReference: 1, skipDistorted: 1, frameCount: 4 },
);

console.log(`${report.frameCount} pairs of ${report.reference.frameCount} frames`);
