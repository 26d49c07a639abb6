import { createScorer, type VideoFormat } from 'anyvmaf';

const format: VideoFormat = { width: 192, height: 108, bitDepth: 8, chroma: '420' };
await using scorer = await createScorer(format, {
  models: ['version=vmaf_v0.6.1', 'version=vmaf_v0.6.1neg:name=neg'],
});

for (let n = 0; n < 5; n++) {
  // VMAF needs only luma: packed rows, one byte per sample at 8 bit, two (little endian) above.
  const reference = { y: picture((x, y) => 3 * x + 2 * y + 5 * n) };
  const distorted = { y: picture((x, y) => (3 * x + 2 * y + 5 * n) & ~7) };
  for (const { frameNum, metrics } of await scorer.push(reference, distorted)) {
    console.log(frameNum, metrics.vmaf, metrics.neg);
  }
}

const report = await scorer.finish();
console.log(report.pooled_metrics.vmaf);

function picture(sample: (x: number, y: number) => number): Uint8Array {
  const { width, height } = format;
  return Uint8Array.from({ length: width * height }, (_, i) => sample(i % width, Math.floor(i / width)));
}
