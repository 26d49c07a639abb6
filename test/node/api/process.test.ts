/**
 * What a run leaves behind in its process, tested on the built package in a process of its own.
 */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { built } from '../../support/built.js';
import { file, SMALL, scratchFolder, y4mPair } from '../../support/clips.js';

const folder = scratchFolder();
const pair = y4mPair(SMALL, 12);
file(folder, 'reference.y4m', pair.reference);
file(folder, 'distorted.y4m', pair.distorted);
file(folder, 'damaged.y4m', pair.distorted.slice(0, -10));

/** Runs a module that has `api`; its last line of output is JSON. */
function run(code: string, ...flags: string[]): unknown {
  const script = `import * as api from ${JSON.stringify(built('dist/bundle/js/index.js'))};\n${code}`;
  const { stdout, stderr, status, signal } = spawnSync(
    process.execPath,
    [...flags, '--input-type=module', '-e', script],
    { cwd: folder, encoding: 'utf8', timeout: 50_000 },
  );
  expect({ stderr, status, signal }).toEqual({ stderr: '', status: 0, signal: null });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? 'null');
}

/** What the process holds open, and its file descriptors. */
const HELD = `
  import { readdirSync } from 'node:fs';
  const held = () => JSON.stringify([
    process.getActiveResourcesInfo().filter((kind) => !/^(TTYWrap|PipeWrap|TickObject|Immediate|CloseReq)$/.test(kind)),
    process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0,
  ]);
  const settle = () => new Promise((resolve) => setTimeout(resolve, 20));
  await settle();
`;

describe('after a run the process holds nothing and ends by itself', () => {
  it.each([
    ['that went well', 'api.score(files, { threads })'],
    [
      'of bytes',
      'api.score({ reference: readFileSync("reference.y4m"), distorted: "distorted.y4m" }, { threads })',
    ],
    ['that failed', 'api.score({ reference: "reference.y4m", distorted: "damaged.y4m" }, { threads })'],
    [
      'that failed in the middle',
      'api.score({ reference: stream("reference.y4m"), distorted: stream("damaged.y4m") }, { threads })',
    ],
    ['that was aborted', 'api.score(files, { threads, signal: AbortSignal.timeout(10) })'],
    [
      'of a scorer that was finished',
      'api.createScorer(format, { threads }).then(async (scorer) => { await scorer.push(frame, frame); await scorer.finish(); })',
    ],
    [
      'of a scorer that was closed',
      'api.createScorer(format, { threads }).then(async (scorer) => { await scorer.push(frame, frame); await scorer.close(); })',
    ],
  ])('%s', (_, expression) => {
    const result = run(`
      import { createReadStream, readFileSync } from 'node:fs';
      import { Readable } from 'node:stream';
      ${HELD}
      const files = { reference: 'reference.y4m', distorted: 'distorted.y4m' };
      const stream = (name) => Readable.toWeb(createReadStream(name));
      const format = { width: 98, height: 54, bitDepth: 8, chroma: '420' };
      const frame = { y: new Uint8Array(98 * 54) };
      // Once to load what stays loaded.
      await api.score(files, { threads: 2 });
      await settle();
      const before = held();
      for (const threads of [0, 2]) {
        const outcome = await ${expression}.catch(() => {});
        await settle();
      }
      console.log(JSON.stringify([before, held()]));
    `);
    const [before, after] = result as [string, string];
    expect(after).toBe(before);
  });

  it('even when it was aborted while standard input is silent', () => {
    const result = run(`
      const start = performance.now();
      const run = api.score({ reference: '-', distorted: 'distorted.y4m' }, { signal: AbortSignal.timeout(50) });
      await run.catch(() => {});
      console.log(performance.now() - start);
    `);
    expect(result).toBeLessThan(5000);
  });
});

describe('memory', () => {
  it.each([0, 2])('does not grow with the number of frames, %i threads', (threads) => {
    const result = run(
      `
      const [width, height] = [64, 48];
      const source = (name, frames, onRead) => ({
        info: { name, container: 'frames', width, height, bitDepth: 8, chroma: '420', frameCount: null, warnings: [] },
        seekable: false,
        readFrame(index, { y }) {
          if (index >= frames) return false;
          onRead(index);
          y.fill(index);
          return true;
        },
        close() {},
      });
      const samples = [];
      const sample = (index) => {
        if (index % 1000 !== 999) return;
        gc();
        const { heapUsed, arrayBuffers } = process.memoryUsage();
        samples.push(heapUsed + arrayBuffers);
      };
      await api.score({ reference: source('a', 6000, sample), distorted: source('b', 6000, () => {}) }, { threads: ${threads} });
      console.log(JSON.stringify(samples));
      `,
      '--expose-gc',
    );
    const samples = result as number[];
    expect(samples).toHaveLength(6);
    const perFrame = ((samples.at(-1) ?? 0) - (samples[1] ?? 0)) / 4000;
    // A frame's 15 values, doubled where an array grows; a frame itself has 6144 bytes.
    expect(perFrame).toBeLessThan(400);
  });
});
