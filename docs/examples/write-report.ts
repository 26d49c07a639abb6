import { open, writeFile } from 'node:fs/promises';
import { formatHtml, formatProgress, formatReport, score, summarize, writeReport } from 'anyvmaf';

const width = process.stdout.columns ?? 80;
const report = await score(
  { reference: 'reference.y4m', distorted: 'distorted.y4m' },
  // A progress line that overwrites the previous one.
  { onProgress: (progress) => process.stderr.write(`\r${formatProgress(progress, { width })}`) },
);

// For people: the summary of the command line.
console.log(summarize(report, { width, color: process.stdout.isTTY }));

// Small reports as a string.
console.log(formatReport(report, 'csv', { precision: 'max' }).split('\n', 1)[0]);

// Reports of any length in pieces.
const file = await open('report.json', 'w');
for (const piece of writeReport(report, 'json')) await file.write(piece);
await file.close();

// A self-contained page with charts.
await writeFile('report.html', await formatHtml(report));
