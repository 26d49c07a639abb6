/**
 * @module test/node/engine/shards
 * Shards of stored and encoded videos: merged, they equal a whole run exactly, wherever they are cut; and what
 * merging refuses.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromBase64, toBase64 } from '../../../src/core/bytes.js';
import type { VideoFormat } from '../../../src/core/frame.js';
import { cutShard } from '../../../src/engine/shards/shard.js';
import { formatShard, readShard } from '../../../src/engine/shards/shard-file.js';
import { align, mergeShards, type Shard, score, scoreShard } from '../../../src/index.js';
import { METRICS } from '../../../src/metrics/index.js';
import type { ScoreOptions, ScoreRequest } from '../../../src/public.js';
import { y4mFile } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { comparable, inParts, ownSource, SMALL, storedPair, streamOf, y4mPair } from '../../support/clips.js';
import { encode, encodeFolder, hasFfmpeg, makeFile, needsFfmpeg } from '../../support/encode.js';
import { testFolder } from '../../support/folders.js';
import { seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

const folder = testFolder();
const FRAMES = 9;

/** Large enough for every extractor. */
const LARGE = { width: 224, height: 192, bitDepth: 8, chroma: '420' } as const;

const pairOf = (name: string, format: VideoFormat, frames = FRAMES, seed = 1): ScoreRequest =>
  storedPair(folder, name, y4mPair(format, frames, seed));

const base = y4mPair(SMALL, FRAMES);
const wide = y4mFile(makeSample({ ...SMALL, width: 130, height: 70 }), 'distorted', FRAMES);

const pairs = {
  small: pairOf('small', SMALL),
  deep: pairOf('deep', { ...SMALL, bitDepth: 10 }),
  large: pairOf('large', LARGE, 5),
  single: pairOf('single', SMALL, 1),
  short: storedPair(folder, 'short', { ...base, distorted: y4mPair(SMALL, FRAMES - 2).distorted }),
  sizes: storedPair(folder, 'sizes', { ...base, distorted: wide }),
} satisfies Record<string, ScoreRequest>;

const FIVE_FRAMES = 'motion=motion_five_frame_window=true';
const NR: ScoreOptions = { noReference: true, tiny: [{ model: 'nr_vmaf_v0.6.1', resize: 'bicubic' }] };

type Stored = readonly [string, keyof typeof pairs, ScoreOptions];
const CASES: readonly Stored[] = [
  ['the default model', 'small', {}],
  ['chunks of one frame on workers', 'small', { threads: 2, chunkFrames: 1 }],
  ['all extractors', 'large', { features: METRICS.map(({ spec }) => spec.name), noPrediction: true }],
  ['motion of five frames', 'small', { features: [`${FIVE_FRAMES}:motion_moving_average=true`] }],
  ['libvmaf 3.0', 'small', { compat: 'libvmaf-3.0', features: ['motion=debug=true'] }],
  ['a bootstrap model', 'small', { models: ['version=vmaf_b_v0.6.3'] }],
  ['values of the whole run', 'small', { features: ['psnr=enable_apsnr=true'], noPrediction: true }],
  ['subsampling', 'small', { subsample: 3 }],
  ['frames left out', 'small', { skipReference: 2, skipDistorted: 1, frameCount: 5 }],
  ['an offset', 'small', { offset: 2 }],
  ['a range', 'deep', { range: { unit: 'frames', start: 2, end: 8 } }],
  ['ten bits', 'deep', {}],
  ['one frame', 'single', { features: ['motion=debug=true'] }],
  ['a shorter encode', 'short', {}],
  ['another size', 'sizes', { scale: 'bilinear' }],
  ['preflight that checks the pictures', 'deep', { preflight: true }],
  ['the same in a strict run', 'small', { strict: true, preflight: true, features: ['psnr'] }],
  ['a tiny model on features', 'small', { tiny: [{ model: 'fr_vmaf_v0.6.1' }] }],
  ['a tiny model without a reference', 'large', NR],
];

const QUICK: ScoreOptions = { noPrediction: true, features: ['psnr', 'motion=debug=true'] };

describe('shards of stored videos, merged,', () => {
  it.each(CASES)('equal one run: %s', async (_, name, asked) => {
    const options = { preflight: false, ...asked };
    const whole = await score(pairs[name], options);
    for (const count of tier([options.subsample ? 2 : 3], name === 'small' ? [2, 3, 7] : [3])) {
      const merged = await inParts(pairs[name], count, options);
      expect(comparable(merged), `${count} parts`).toEqual(comparable(whole));
    }
  });

  it('equal one run with more parts than frames', async () => {
    const whole = await score(pairs.small, QUICK);
    const merged = await inParts(pairs.small, FRAMES + 4, QUICK);
    expect(comparable(merged)).toEqual(comparable(whole));
  });

  it('equal one run in every number of parts, with random options', async () => {
    const seed = Number(process.env.ANYVMAF_SEED ?? 20_26);
    const random = seeded(seed);
    for (let round = 0; round < tier(2, 6); round++) {
      const options: ScoreOptions = {
        preflight: false,
        threads: random.pick([0, 0, 2]),
        subsample: random.pick([1, 1, 2, 5]),
        skipReference: random.pick([0, 0, 1]),
        skipDistorted: random.pick([0, 0, 2]),
        frameCount: random.pick([0, 4, 100]),
        compat: random.pick(['libvmaf-3.2', 'libvmaf-3.0']),
        features: random.pick([[], ['psnr', 'motion=debug=true'], [FIVE_FRAMES]]),
      };
      const name = random.pick(['small', 'deep', 'short'] as const);
      const count = random.int(1, 10);
      const where = `seed ${seed}, round ${round}: ${name} in ${count}, ${JSON.stringify(options)}`;
      const whole = await score(pairs[name], options);
      expect(comparable(await inParts(pairs[name], count, options)), where).toEqual(comparable(whole));
    }
  });

  it('give each frame in order', async () => {
    const frames: number[] = [];
    await inParts(pairs.small, 3, { ...QUICK, onFrame: ({ frameNum }) => frames.push(frameNum) });
    expect(frames).toEqual(Array.from({ length: FRAMES }, (_, i) => i));
  });
});

const ENCODED_FRAMES = 44;

describe.runIf(hasFfmpeg)(`shards of encoded videos, merged, ${needsFfmpeg}`, () => {
  const master = (frames = ENCODED_FRAMES, rate: string | number = 25) =>
    encode({ codec: 'ffv1', source: 'mandelbrot', size: '96x64', frames, rate, extra: ['-g', '1'] });
  const copy = (name: string, ...options: string[]) => makeFile(name, '-i', `file:${master()}`, ...options);
  const x264 = ['-c:v', 'libx264', '-preset', 'medium', '-bf', '3', '-g', '12', '-crf', '30'];
  const openGop = [...x264, '-x264-params', 'open-gop=1:b-pyramid=normal:log-level=error'];
  const keyint = 'keyint=12:bframes=4:open-gop=1:log-level=error';
  const x265 = ['-c:v', 'libx265', '-preset', 'fast', '-x265-params', keyint];

  const videos: Readonly<Record<string, () => string>> = {
    'H.264 with open GOPs': () => copy('open.mkv', ...openGop),
    'HEVC with open GOPs': () => copy('hevc.mp4', ...x265),
    'another size': () => copy('smaller.mp4', '-vf', 'scale=64:48', ...x264),
    'another rate': () =>
      copy('slow.mp4', '-vf', "select='not(mod(n,2))',setpts=N/12.5/TB", '-r', '12.5', ...x264),
    'a variable rate': () =>
      copy('vfr.mkv', '-vf', "select='not(eq(mod(n,7),3))'", '-fps_mode', 'vfr', ...x264),
    'a late start': () => copy('late.mp4', '-vf', 'trim=start_frame=6,setpts=PTS-STARTPTS', ...x264),
    'a lost frame': () => copy('lost.mp4', '-vf', "select='not(eq(n,30))',setpts=N/25/TB", ...x264),
  };

  async function compare(distorted: string, options: ScoreOptions): Promise<void> {
    const request = { reference: master(), distorted };
    const whole = await score(request, options);
    expect(comparable(await inParts(request, tier(2, 3), options))).toEqual(comparable(whole));
  }

  it.each(tier(['HEVC with open GOPs', 'a lost frame'], Object.keys(videos)))('equal one run: %s', (kind) =>
    compare(videos[kind]?.() ?? '', QUICK),
  );

  const SECOND = { unit: 'seconds', start: 0.5, end: 1.5 } as const;
  const REQUESTS = [
    ['an offset that is searched', 'a late start', { ...QUICK, offset: 'auto' }],
    ['a range of time', 'H.264 with open GOPs', { ...QUICK, range: SECOND }],
    ['workers that get frames', 'another size', { threads: 2 }],
    ['a decoder of this package', 'H.264 with open GOPs', { ...QUICK, decoder: 'wasm' }],
  ] as const;
  it.each(REQUESTS.slice(0, tier(2, REQUESTS.length)))('equal one run: %s', (_, kind, options) =>
    compare(videos[kind]?.() ?? '', options),
  );

  it('equal one run of a truncated file', async () => {
    const bytes = readFileSync(videos['H.264 with open GOPs']?.() ?? '');
    const cut = join(encodeFolder(), 'cut.mkv');
    writeFileSync(cut, bytes.subarray(0, Math.floor(bytes.length * 0.6)));
    await compare(cut, { ...QUICK, allowDamaged: true });
  });
});

const OPTIONS = { features: ['psnr'], noPrediction: true, threads: 0 } as const;

const request = (seed: number) => pairOf(`${seed}`, SMALL, 6, seed);

const part = (number: number, count = 3, options = {}, seed = 1) =>
  scoreShard(request(seed), { number, count }, { ...OPTIONS, ...options });

const parts: readonly Shard[] = [await part(1), await part(2), await part(3)];

const error = async (work: () => unknown) => {
  try {
    await work();
    return 'none';
  } catch (thrown) {
    return (thrown as Error).message;
  }
};

describe('merging', () => {
  it('names the parts that are missing', async () => {
    expect(await error(() => mergeShards(parts.slice(1, 2)))).toContain('2 shards of 3 are missing: 1, 3;');
    expect(await error(() => mergeShards([]))).toContain('no shards');
  });

  it('accepts a part twice if both are equal, and refuses other duplicates', async () => {
    const merged = await mergeShards([...parts, await part(2)]);
    expect(merged.frameCount).toBe(6);
    const [, second] = parts;
    if (!second) throw new Error('there are three parts');
    const records = second.records.slice();
    records[3] = (records[3] ?? 0) + 1;
    const sentence = await error(() => mergeShards([...parts, { ...second, records }]));
    expect(sentence).toContain('shard 2 appears twice');
  });

  it.each([
    ['the options', () => part(2, 3, { subsample: 2 })],
    ['the content of the reference', () => part(2, 3, {}, 2)],
    ['the number of shards', () => part(2, 4)],
    ['the options', () => part(2, 3, { features: ['psnr', 'motion'] })],
  ])('refuses parts of another run: %s', async (what, other) => {
    const message = await error(async () =>
      mergeShards([parts[0] as Shard, await other(), parts[2] as Shard]),
    );
    expect(message).toContain('do not belong to one run');
    expect(message).toContain(what);
  });

  it('refuses parts of another version of anyvmaf and a model that differs here', async () => {
    const old = parts.map((shard) => ({ ...shard, version: '0.0.1' }));
    expect(await error(() => mergeShards(old))).toContain('measured by anyvmaf 0.0.1');
    const other = parts.map((shard) => ({ ...shard, plan: 'f'.repeat(64) }));
    expect(await error(() => mergeShards(other))).toContain('a model differs from the one the shards were');
  });
});

describe('the file of a part', () => {
  it('keeps every bit', () => {
    for (const shard of parts) {
      const again = readShard(formatShard(shard));
      expect(again).toEqual(shard);
      expect(new Uint8Array(again.records.buffer)).toEqual(new Uint8Array(shard.records.buffer));
    }
  });

  const whole = () => formatShard(parts[0] as Shard);
  it.each([
    ['no JSON', () => 'x', 'it is not JSON'],
    ['other JSON', () => '{}', 'was not written by a run with the option shard'],
    ['a torn file', () => whole().slice(0, 900), 'cut off or damaged'],
    [
      'a later layout',
      () => whole().replace('"format_version": 1', '"format_version": 2'),
      'its format version is 2',
    ],
    ['a missing key', () => whole().replace('"plan"', '"plans"'), 'its plan is missing'],
    ['wrong counts', () => whole().replace('"measured": 2', '"measured": 1'), 'values, but 1 pairs'],
  ])('is refused: %s', async (_, text, why) => {
    const message = await error(() => readShard(text(), 'part.json'));
    expect(message).toContain('part.json is not the record of a shard');
    expect(message).toContain(why);
  });
});

describe('a part', () => {
  it.each([
    ['a number past the count', { number: 4, count: 3 }, {}, 'from 1 to the count'],
    ['a program as backend', { number: 1, count: 2 }, { backend: 'native-cpu' }, 'no raw measurements'],
  ] as const)('is refused: %s', async (_, shard, options, why) => {
    const message = await error(() => scoreShard(request(1), shard, { ...OPTIONS, ...options }));
    expect(message).toContain(why);
  });

  it('is refused with heatmaps, which are files of a whole run, and for a stream', async () => {
    const { reference, distorted } = y4mPair({ width: 224, height: 192, bitDepth: 8, chroma: '420' }, 2);
    const features = [`cambi=heatmaps_path=${folder}`];
    const work = () =>
      scoreShard({ reference, distorted }, { number: 1, count: 2 }, { ...OPTIONS, features });
    expect(await error(work)).toContain('a shard writes no heatmaps');
    const small = y4mPair(SMALL, 2);
    const streamed = { ...small, reference: streamOf(small.reference) };
    const sentence = await error(() => scoreShard(streamed, { number: 1, count: 2 }, OPTIONS));
    expect(sentence).toContain('is a stream');
    const own = ownSource(small.clip, 'reference', 2, { seekable: true, frameCount: 2 });
    const again = 'because it is a source of your own, which cannot be opened a second time; ';
    const pair = { ...small, reference: own };
    expect(await error(() => scoreShard(pair, { number: 1, count: 2 }, OPTIONS))).toBe(
      `the reference "own reference" cannot be divided into shards, ${again}give it as a file.`,
    );
    expect(await error(() => align(pair))).toBe(
      `the offset of own reference cannot be found, ${again}give it as a file, or set the offset.`,
    );
    expect(await error(() => score(pair, { crop: 'auto' }))).toContain('it is a source of your own');
  });

  it('has its own share of the pairs', () => {
    const random = seeded(7);
    for (let round = 0; round < tier(40, 200); round++) {
      const [total, count] = [random.int(1, 5000), random.int(1, 300)];
      let next = 0;
      for (let number = 1; number <= count; number++) {
        const { first, end } = cutShard({ number, count }, total);
        expect(first).toBe(next);
        expect(end - first).toBeLessThanOrEqual(Math.ceil(total / count));
        next = end;
      }
      expect(next).toBe(total);
    }
  });
});

it('base64 keeps bytes of any length', () => {
  const random = seeded(11);
  for (const length of [0, 1, 2, 3, 4, 24_575, 24_576, 24_577]) {
    const bytes = random.bytes(length);
    const text = toBase64(bytes);
    expect(text).toBe(Buffer.from(bytes).toString('base64'));
    expect(fromBase64(text)).toEqual(bytes);
  }
  for (const wrong of ['a', 'ab=c', 'abc-', '====']) expect(fromBase64(wrong), wrong).toBeUndefined();
});
