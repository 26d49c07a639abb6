import { score } from 'anyvmaf';

const report = await score(
  { reference: 'reference.y4m', distorted: 'distorted.y4m' },
  {
    models: [
      'version=vmaf_v0.6.1',
      'version=vmaf_v0.6.1neg:name=neg',
      'version=vmaf_b_v0.6.3:name=bootstrap',
    ],
    features: ['psnr=enable_apsnr=true'],
  },
);

for (const { name } of report.models) console.log(name, report.pooled_metrics[name]?.mean);
console.log('worst twentieth below', report.distribution.vmaf?.percentiles.p5);
console.log('95 % sure of', report.pooled_metrics.bootstrap_ci_p95_lo?.mean, 'and more');
console.log('PSNR of all frames together', report.aggregate_metrics.apsnr_y);
