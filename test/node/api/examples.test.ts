/**
 * The examples of docs/api.md run, and the page shows them as they are.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { yuvFile } from '../../../src/sample/files.js';
import { file, scratchFolder, y4mPair } from '../../support/clips.js';
import { ffmpeg, hasFfmpeg } from '../../support/encode.js';

const examples = new URL('../../../docs/examples', import.meta.url);
const names = readdirSync(examples)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.replace('.ts', ''));
const pair = y4mPair({ width: 192, height: 108, bitDepth: 8, chroma: '420' }, 8);
const folder = scratchFolder();
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

/** What each example must have printed, beyond having run. */
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
    for (const name of ['frame', 'difference'])
      expect(
        readFileSync(`${name}_${String(index)}.png`)
          .subarray(1, 4)
          .toString(),
      ).toBe('PNG');
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
      expect(line).toEqual([
        expect.any(Number),
        expect.any(Number),
        'with all fine detail',
        expect.any(Number),
      ]);
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
      const [reference, distorted] = [
        new File([pair.reference], 'r.y4m'),
        new File([pair.distorted], 'd.y4m'),
      ];
      expect(await compare(reference, distorted, new AbortController().signal)).toBeGreaterThan(0);
    }
  });
});

describe('docs/api.md', () => {
  const page = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');

  it.each(names)('shows %s as it is', (name) => {
    const code = readFileSync(join(new URL('.', examples).pathname, `${name}.ts`), 'utf8');
    expect(
      page.includes(`\`\`\`ts\n${code}\`\`\``),
      `docs/examples/${name}.ts is not in docs/api.md as it stands`,
    ).toBe(true);
  });

  it('shows no other code', () => {
    expect(page.match(/```ts\n/g)).toHaveLength(names.length);
  });
});
