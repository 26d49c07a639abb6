import { open } from 'node:fs/promises';
import { formatReport, score, writeReport } from 'anyvmaf';

const report = await score({ reference: 'reference.y4m', distorted: 'distorted.y4m' });

// Small reports as a string.
console.log(formatReport(report, 'csv', { precision: 'max' }).split('\n', 1)[0]);

// Reports of any length piece by piece.
const file = await open('report.json', 'w');
for (const piece of writeReport(report, 'json')) await file.write(piece);
await file.close();
