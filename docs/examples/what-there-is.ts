import { describeModel, listExtractors, listModels, version } from 'anyvmaf';

console.log('anyvmaf', version);
for (const { name, intendedUse } of await listModels()) console.log(name, intendedUse);

const { inputs, supportVectors } = await describeModel('vmaf_v0.6.1neg');
console.log(
  inputs.map(({ logName }) => logName),
  supportVectors,
);

for (const { name, options } of listExtractors()) {
  for (const option of options) console.log(`${name}=${option.name}=${option.default}`, option.description);
}
