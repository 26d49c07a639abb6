/**
 * @module scripts/demo
 * `npm run demo`: makes a small pair of videos, scores it with the command line and prints the summary. Needs only
 * `npm ci`.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtCommand, loadBuilt } from './lib/project.mjs';

const CLI = builtCommand();
const FORMAT = { width: 640, height: 360, bitDepth: 8, chroma: '420' };
const FRAMES = 60;

const { makeSample } = await loadBuilt('sample/generator.js');
const { y4mHeader } = await loadBuilt('core/frame.js');
const { y4mFrame } = await loadBuilt('sample/files.js');

const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-demo-'));
try {
  const clip = makeSample(FORMAT, { seed: 2026, cut: FRAMES / 2 });
  const size = `${FORMAT.width}x${FORMAT.height}, ${FRAMES} frames`;
  console.log(`Making two videos of ${size}: moving texture, edges, grain and a cut; one of them blurred,`);
  console.log('quantised in blocks and noisy.\n');
  for (const side of ['reference', 'distorted']) {
    const file = openSync(join(folder, `${side}.y4m`), 'w');
    writeSync(file, y4mHeader(FORMAT));
    for (let index = 0; index < FRAMES; index++) writeSync(file, y4mFrame(clip, side, index));
    closeSync(file);
  }
  const names = ['reference.y4m', 'distorted.y4m'];
  console.log(`anyvmaf ${names.join(' ')}\n`);
  if (process.stdout.isTTY) {
    process.exitCode =
      spawnSync(process.execPath, [CLI, ...names], { cwd: folder, stdio: 'inherit' }).status ?? 1;
  } else {
    // Show the summary without a terminal too, where the command prints only the score.
    const { score } = await loadBuilt('index.js');
    const { findingsInFlags } = await loadBuilt('cli/exit.js');
    const { summarize } = await loadBuilt('report/summary.js');
    const [reference, distorted] = names.map((name) => join(folder, name));
    const report = await score({ reference, distorted });
    process.stdout.write(summarize({ ...report, preflight: findingsInFlags(report.preflight ?? []) }));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
