/**
 * @module test/node/api/examples
 * The examples of docs/api.md and examples/live run, the page shows them as they are, and a run of the built package leaves
 * nothing behind in its process.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { yuvFile } from '../../../src/sample/files.js';
import { built, root } from '../../support/built.js';
import { run as runProgram } from '../../support/cli.js';
import { file, SMALL, y4mPair } from '../../support/clips.js';
import { ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { testFolder } from '../../support/folders.js';

const examples = new URL('../../../docs/examples/', import.meta.url);
const names = readdirSync(examples)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.replace('.ts', ''));
const pair = y4mPair({ width: 192, height: 108, bitDepth: 8, chroma: '420' }, 8);
const folder = testFolder();
const before = process.cwd();

beforeAll(() => {
  for (const side of ['reference', 'distorted'] as const) {
    file(folder, `${side}.y4m`, pair[side]);
    file(folder, `${side}.yuv`, yuvFile(pair.clip, side, 8));
  }
  // Without an encoder, Y4M under these names: content decides, not the name.
  const make = (name: string, side: 'reference' | 'distorted', options: readonly string[]) =>
    hasFfmpeg
      ? ffmpeg(join(folder, name), ['-i', join(folder, `${side}.y4m`), ...options])
      : file(folder, name, pair[side]);
  make('master.mov', 'reference', ['-c:v', 'libx264', '-crf', '1']);
  make('encode.mp4', 'distorted', ['-vf', 'scale=96:54', '-c:v', 'libx264']);
  process.chdir(folder);
});
afterAll(() => process.chdir(before));

let printed: unknown[][] = [];
beforeEach(() => {
  printed = [];
  vi.spyOn(console, 'log').mockImplementation((...values) => {
    printed.push(values);
  });
  return () => vi.restoreAllMocks();
});

/** What each example must have printed. */
const outcomes: Readonly<Record<string, () => void>> = {
  'score-files': () => {
    expect(printed).toHaveLength(9);
    expect(printed[0]).toEqual(['VMAF', expect.any(Number)]);
    expect(printed[8]).toEqual([7, expect.any(Number)]);
  },
  'any-two-videos': () => {
    expect(printed[0]).toEqual([expect.any(Number), expect.stringContaining('192x108')]);
    if (hasFfmpeg) expect(printed[1]).toEqual(['swscale bicubic', []]);
  },
  'look-first': () => {
    if (hasFfmpeg) expect(printed[0]).toEqual(['192x108', '96x54']);
    expect(printed.at(-1)).toEqual([expect.any(Number), expect.any(Number), expect.any(String)]);
  },
  'read-report': () => {
    expect(printed.slice(0, 2)).toEqual([
      ['json', 8, expect.any(Number)],
      ['computed here:', 'nothing'],
    ]);
    expect(printed.slice(2)).toEqual([
      ['look at frame', expect.any(Number), expect.any(Number)],
      ['look at frame', expect.any(Number), expect.any(Number)],
    ]);
    expect(readFileSync(join(folder, 'saved.html'), 'utf8')).toContain('distorted.y4m against reference.y4m');
  },
  'quality-maps': () => {
    const [first, most] = printed;
    expect([first?.[0], first?.[1]]).toEqual([2, first?.[2]]);
    expect(most?.[0]).toMatch(/^most at \d+, \d+$/);
    expect([...readFileSync('lost_5.png').subarray(1, 4)]).toEqual([...Buffer.from('PNG')]);
  },
  'several-encodes': () => {
    expect(printed.map(([name]) => name).sort()).toEqual(['best:', 'distorted.y4m', 'encode.mp4']);
  },
  'worst-frames': () => {
    // Eight frames at 25 a second: only one is a second from itself.
    expect(printed).toEqual([[expect.any(Number), expect.stringMatching(/Luma differs by/)]]);
    const [[index] = []] = printed;
    const start = (name: string) =>
      readFileSync(`${name}_${String(index)}.png`)
        .subarray(1, 4)
        .toString();
    expect(['frame', 'difference'].map(start)).toEqual(['PNG', 'PNG']);
  },
  'raw-video': () => expect(printed).toEqual([['4 pairs of 8 frames']]),
  'models-and-features': () => {
    expect(printed.slice(0, 3).map(([name]) => name)).toEqual(['vmaf', 'neg', 'bootstrap']);
    for (const line of printed) expect(line).toContainEqual(expect.any(Number));
  },
  'progress-and-cancel': () => {
    expect(printed.at(-1)).toEqual(['2 workers, 8 pairs']);
    expect(printed.at(-2)?.[0]).toMatch(/^8 of 8, [\d.]+ fps, 0 s left$/);
  },
  streams: () => expect(printed).toEqual([[8, []]]),
  'own-frames': () => expect(printed.at(-1)).toEqual([expect.objectContaining({ mean: expect.any(Number) })]),
  'own-source': () => expect(printed).toEqual([[expect.any(Number), 60]]),
  'write-report': () => {
    expect(printed[0]?.[0]).toMatch(/^reference .*\nScore\n {2}vmaf /s);
    expect(printed[1]?.[0]).toMatch(/^Frame,integer_adm2,.*,vmaf,$/);
    expect(JSON.parse(readFileSync('report.json', 'utf8')).frames).toHaveLength(8);
  },
  errors: () => expect(printed).toEqual([['io', expect.stringContaining('missing.y4m')]]),
  'what-there-is': () => {
    expect(printed).toContainEqual([expect.arrayContaining(['integer_vif_scale0_egl_1']), [211]]);
  },
  predict: () => {
    expect(printed).toHaveLength(8);
    for (const line of printed) {
      const number = expect.any(Number);
      expect(line).toEqual([number, number, 'with all fine detail', number]);
    }
  },
  browser: () => {},
};

describe('the examples', () => {
  it('are all known here', () => expect(Object.keys(outcomes).sort()).toEqual([...names].sort()));

  it.each(names)('%s runs', async (name) => {
    const module: unknown = await import(`../../../docs/examples/${name}.ts`);
    outcomes[name]?.();
    if (name === 'browser') {
      const { compare } = module as typeof import('../../../docs/examples/browser.js');
      const [r, d] = [new File([pair.reference], 'r.y4m'), new File([pair.distorted], 'd.y4m')];
      expect(await compare(r, d, new AbortController().signal)).toBeGreaterThan(0);
    }
  });
});

describe('docs/api.md', () => {
  const page = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');

  it.each(names)('shows %s as it is', (name) => {
    const code = readFileSync(join(new URL('.', examples).pathname, `${name}.ts`), 'utf8');
    const message = `docs/examples/${name}.ts is not in docs/api.md as it stands`;
    expect(page.includes(`\`\`\`ts\n${code}\`\`\``), message).toBe(true);
  });

  it('shows no other code', () => expect(page.match(/```ts\n/g)).toHaveLength(names.length));
});

it.runIf(hasFfmpeg)(`watch-encode.mjs succeeds only if it writes the encode (${needsFfmpeg})`, () => {
  const example = join(root, 'examples/live/watch-encode.mjs');
  const watch = (output: string) =>
    spawnSync(process.execPath, [example, 'reference.y4m', output], { cwd: folder, encoding: 'utf8' });
  expect(watch('none/kept.mkv')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('No such file'),
  });
  expect(watch('kept.mkv')).toMatchObject({ status: 0, stderr: '' });
  expect(statSync(join(folder, 'kept.mkv')).size).toBeGreaterThan(1000);
});

const small = testFolder();
const { reference, distorted } = y4mPair(SMALL, 12);
file(small, 'reference.y4m', reference);
file(small, 'distorted.y4m', distorted);
file(small, 'damaged.y4m', distorted.slice(0, -10));

const API = `import * as api from ${JSON.stringify(built('dist/bundle/js/index.js'))};\n`;

/** Runs a module that has `api`; its last line of output is JSON. */
function run(code: string, ...flags: string[]): unknown {
  const args = [...flags, '--input-type=module', '-e', `${API}${code}`];
  const settings = { cwd: small, encoding: 'utf8', timeout: 50_000 } as const;
  const { stdout, stderr, status, signal } = spawnSync(process.execPath, args, settings);
  expect({ stderr, status, signal }).toEqual({ stderr: '', status: 0, signal: null });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? 'null');
}

/** Runs by how they end. */
const RUNS = {
  succeeded: 'api.score(files, { threads })',
  'read bytes':
    'api.score({ reference: readFileSync("reference.y4m"), distorted: "distorted.y4m" }, { threads })',
  failed: 'api.score({ reference: "reference.y4m", distorted: "damaged.y4m" }, { threads })',
  'failed halfway':
    'api.score({ reference: stream("reference.y4m"), distorted: stream("damaged.y4m") }, { threads })',
  'was aborted': 'api.score(files, { threads, signal: AbortSignal.timeout(10) })',
  'finished a scorer': 'scorer(threads, (one) => one.finish())',
  'closed a scorer': 'scorer(threads, (one) => one.close())',
};

describe('after a run the process holds nothing and ends by itself', () => {
  it.each([0, 2])('however the run ended, with %i threads', (threads) => {
    const result = run(`
      import { createReadStream, readdirSync, readFileSync } from 'node:fs';
      import { Readable } from 'node:stream';
      const held = () => JSON.stringify([
        process.getActiveResourcesInfo().filter((kind) => !/^(TTYWrap|PipeWrap|TickObject|Immediate|CloseReq)$/.test(kind)),
        process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0,
      ]);
      const settle = () => new Promise((resolve) => setTimeout(resolve, 20));
      const files = { reference: 'reference.y4m', distorted: 'distorted.y4m' };
      const stream = (name) => Readable.toWeb(createReadStream(name));
      const scorer = async (threads, end) => {
        const one = await api.createScorer({ width: 98, height: 54, bitDepth: 8, chroma: '420' }, { threads });
        const frame = { y: new Uint8Array(98 * 54) };
        await one.push(frame, frame);
        await end(one);
      };
      const threads = ${threads};
      // The first run loads what stays loaded.
      await api.score(files, { threads: 2 });
      await settle();
      const before = held();
      const after = {};
      const runs = { ${Object.entries(RUNS).map(([name, code]) => `${JSON.stringify(name)}: () => ${code}`)} };
      for (const [name, go] of Object.entries(runs)) {
        await go().catch(() => {});
        // Closing takes a moment; what is never closed stays.
        for (let i = 0; i < 100 && held() !== before; i++) await settle();
        after[name] = held();
      }
      console.log(JSON.stringify([before, after]));
    `);
    const [before, after] = result as [string, Record<string, string>];
    expect(after).toEqual(Object.fromEntries(Object.keys(RUNS).map((name) => [name, before])));
  });

  it('even when it was aborted while standard input is silent', async () => {
    const run = `api.score({ reference: '-', distorted: 'distorted.y4m' }, { signal: AbortSignal.timeout(50) })`;
    const code = `${API}console.log(await ${run}.catch(({ name }) => name));`;
    // Its standard input is left open.
    const args = ['--input-type=module', '-e', code];
    const ended = await runProgram(process.execPath, args, { cwd: small, meanwhile: () => {} });
    expect(ended).toEqual({ code: 0, stdout: 'TimeoutError\n', stderr: '' });
  });
});

// With half as many, one array that doubles near the end reads as 100 bytes a frame more.
const FRAMES = 6000;

it.each([0, 2])('memory does not grow with the number of frames, %i threads', (threads) => {
  const code = `
      const [width, height, frames] = [32, 32, ${FRAMES}];
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
        if ((index + 1) % (frames / 6) !== 0) return;
        // The second frees what the first left to finalizers.
        gc();
        gc();
        const { heapUsed, arrayBuffers } = process.memoryUsage();
        samples.push(heapUsed + arrayBuffers);
      };
      await api.score({ reference: source('a', frames, sample), distorted: source('b', frames, () => {}) }, { threads: ${threads} });
      console.log(JSON.stringify(samples));
      `;
  const samples = run(code, '--expose-gc') as number[];
  expect(samples).toHaveLength(6);
  const perFrame = ((samples.at(-1) ?? 0) - (samples[1] ?? 0)) / ((FRAMES * 4) / 6);
  // A frame has 15 values, doubled where an array grows; the frame itself has 2048 bytes.
  expect(perFrame).toBeLessThan(400);
});
