import { score, trustOf } from 'anyvmaf';

const report = await score(
  { reference: 'master.mov', distorted: 'encode.mp4' },
  { models: ['auto'], scale: 'bicubic', range: { unit: 'seconds', start: 0, end: 0.2 } },
);

console.log(report.pooled_metrics.vmaf?.mean, report.models[0]?.chosen);
console.log(report.pairing?.distorted.scaledBy ?? 'not scaled', report.pairing?.frames.missing.frames);
for (const { severity, message, fix } of report.preflight ?? []) console.log(severity, message, fix);

const { verdict, codes, cause } = trustOf(report);
if (verdict === 'untrusted') throw new Error(`wrong pair (${codes.join(', ')}): ${cause}`);
