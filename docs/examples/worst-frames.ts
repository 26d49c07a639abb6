import { writeFile } from 'node:fs/promises';
import { extractFrames, ranking, score, worstFrames } from 'anyvmaf';

const request = { reference: 'reference.y4m', distorted: 'distorted.y4m' };
const report = await score(request);
const by = ranking(report);

if (by) {
  const worst = worstFrames(report, by, 3).map(({ frameNum }) => frameNum);
  for await (const pair of extractFrames(request, worst)) {
    await writeFile(`frame_${pair.index}.png`, await pair.distorted.png());
    await writeFile(`difference_${pair.index}.png`, await pair.differencePng({ maxSide: 1024 }));
    console.log(pair.index, pair.facts().summary);
  }
}
