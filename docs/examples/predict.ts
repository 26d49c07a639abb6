import { openModel, score } from 'anyvmaf';

const model = await openModel('version=vmaf_v0.6.1');
const report = await score(
  { reference: 'reference.y4m', distorted: 'distorted.y4m' },
  { models: [], features: model.features },
);

for (const { frameNum, metrics } of report.frames) {
  const sharper = { ...metrics, integer_vif_scale0: 1 };
  console.log(frameNum, model.predict(metrics), 'with all fine detail', model.predict(sharper));
}
