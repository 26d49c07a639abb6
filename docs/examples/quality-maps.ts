import { writeFile } from 'node:fs/promises';
import { qualityMaps } from 'anyvmaf';

const videos = { reference: 'reference.y4m', distorted: 'distorted.y4m' };

for await (const maps of qualityMaps(videos, [2, 5])) {
  await writeFile(`lost_${maps.index}.png`, await maps.render().png());

  // What the finest scale of VIF loses, cell by cell: all cells together are 1 - integer_vif_scale0.
  const [finest] = maps.vif;
  const lost = finest?.loss.reduce((sum, loss) => sum + loss, 0) ?? 0;
  console.log(maps.index, lost.toFixed(4), (1 - (maps.features.integer_vif_scale0 ?? 0)).toFixed(4));

  // The place that takes most from all features together.
  const { width, blockSize, values } = maps.lost();
  const worst = values.indexOf(Math.max(...values));
  console.log(`most at ${blockSize * (worst % width)}, ${blockSize * Math.floor(worst / width)}`);
}
