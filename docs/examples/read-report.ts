import { readFile, writeFile } from 'node:fs/promises';
import { formatHtml, formatReport, isReport, readReport, score, worstFrames } from 'anyvmaf';

const report = await score({ reference: 'reference.y4m', distorted: 'distorted.y4m' });
await writeFile('saved.json', formatReport(report, 'json'));

// Any log of anyvmaf or libvmaf: JSON, NDJSON, XML, CSV or SUB, recognised by its content.
const saved = readReport(await readFile('saved.json', 'utf8'), 'saved.json');
console.log(saved.format, saved.frames.length, saved.pooled_metrics.vmaf?.mean);
console.log('computed here:', saved.computed.join(', ') || 'nothing');

for (const { frameNum, value } of worstFrames(saved, { metric: 'vmaf', worse: 'low' }, 3, 4)) {
  console.log('look at frame', frameNum, value);
}

// Reports of anyvmaf can be written in other formats. JSON and NDJSON are complete, XML lacks tiny models.
if (isReport(saved)) await writeFile('saved.html', await formatHtml(saved));
