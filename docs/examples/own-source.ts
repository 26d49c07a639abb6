import { type FrameSource, score } from 'anyvmaf';

/** A video is anything that can write frame `index` into the given planes. */
function testPattern(noise: number): FrameSource {
  const width = 192;
  const height = 108;
  return {
    info: {
      name: 'pattern',
      container: 'frames',
      width,
      height,
      bitDepth: 8,
      chroma: '420',
      frameCount: 5,
      warnings: [],
    },
    seekable: false,
    readFrame(index, { y, cb, cr }) {
      if (index >= 5) return false;
      y.forEach((_, i) => {
        y[i] = (i % width) + index + ((i * 31) % 7) * noise;
      });
      // Only psnr requests chroma.
      cb?.fill(128);
      cr?.fill(128);
      return true;
    },
    close() {},
  };
}

const report = await score({ reference: testPattern(0), distorted: testPattern(3) }, { features: ['psnr'] });
console.log(report.pooled_metrics.vmaf?.mean, report.pooled_metrics.psnr_cb?.mean);
