import { score } from 'anyvmaf';

const controller = new AbortController();
process.once('SIGINT', () => controller.abort());

const report = await score(
  { reference: 'reference.y4m', distorted: 'distorted.y4m' },
  {
    threads: 2,
    signal: controller.signal,
    onProgress({ framesDone, framesTotal, fps, secondsLeft }) {
      console.log(
        `${framesDone} of ${framesTotal ?? '?'}, ${fps.toFixed(1)} fps, ${secondsLeft?.toFixed(0) ?? '?'} s left`,
      );
    },
    onFrame({ frameNum, metrics }) {
      if ((metrics.vmaf ?? 100) < 40) console.log(`frame ${frameNum} is bad: ${metrics.vmaf}`);
    },
  },
);

console.log(`${report.threads} workers, ${report.frameCount} pairs`);
