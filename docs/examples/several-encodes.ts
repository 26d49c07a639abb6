import { scoreMany } from 'anyvmaf';

const encodes = ['encode.mp4', 'distorted.y4m'];
const reports = await scoreMany('master.mov', encodes, {
  onReport: (report, index) => console.log(encodes[index], report.pooled_metrics.vmaf?.mean),
});

console.log('best:', Math.max(...reports.map(({ pooled_metrics }) => pooled_metrics.vmaf?.mean ?? 0)));
