import { open, writeFile } from 'node:fs/promises';
import { formatHtml, formatProgress, formatReport, score, summarize, writeReport } from 'anyvmaf';

const width = process.stdout.columns ?? 80;
const report = await score(
  { reference: 'reference.y4m', distorted: 'distorted.y4m' },
  // One line that says how far the run is, to be drawn over the last.
  { onProgress: (progress) => process.stderr.write(`\r${formatProgress(progress, { width })}`) },
);

// For people: what the command line shows at the end.
console.log(summarize(report, { width, color: process.stdout.isTTY }));

// Small reports as a string.
console.log(formatReport(report, 'csv', { precision: 'max' }).split('\n', 1)[0]);

// Reports of any length piece by piece.
const file = await open('report.json', 'w');
for (const piece of writeReport(report, 'json')) await file.write(piece);
await file.close();

// A page with charts that needs nothing else.
await writeFile('report.html', await formatHtml(report));
