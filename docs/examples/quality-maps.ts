import { writeFile } from 'node:fs/promises';
import { qualityMaps } from 'anyvmaf';

const videos = { reference: 'reference.y4m', distorted: 'distorted.y4m' };

for await (const maps of qualityMaps(videos, [2, 5])) {
  await writeFile(`lost_${maps.index}.png`, await maps.render().png());

  // The loss of the finest scale of VIF in each cell; their sum is 1 - integer_vif_scale0.
  const [finest] = maps.vif;
  const lost = finest?.loss.reduce((sum, loss) => sum + loss, 0) ?? 0;
  console.log(maps.index, lost.toFixed(4), (1 - (maps.features.integer_vif_scale0 ?? 0)).toFixed(4));

  // The place with the largest loss over all features.
  const { width, blockSize, values } = maps.lost();
  const worst = values.indexOf(Math.max(...values));
  console.log(`most at ${blockSize * (worst % width)}, ${blockSize * Math.floor(worst / width)}`);
}
