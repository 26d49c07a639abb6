import { score } from 'anyvmaf';

const report = await score({ reference: 'reference.y4m', distorted: 'distorted.y4m' });

console.log('VMAF', report.pooled_metrics.vmaf?.mean);
for (const { frameNum, metrics } of report.frames) console.log(frameNum, metrics.vmaf);
