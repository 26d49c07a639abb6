/** What merging refuses: parts that are missing, that differ, that are no parts; and what cannot be measured in parts. */
import { beforeAll, describe, expect, it } from 'vitest';
import { fromBase64, toBase64 } from '../../../../src/core/base64.js';
import { cutShard } from '../../../../src/engine/shards/cut.js';
import { formatShard, readShard } from '../../../../src/engine/shards/shard-file.js';
import { mergeShards, type Shard, scoreShard } from '../../../../src/index.js';
import { file, SMALL, scratchFolder, streamOf, y4mPair } from '../../../support/clips.js';
import { seeded } from '../../../support/random.js';

const folder = scratchFolder();
const OPTIONS = { features: ['psnr'], noPrediction: true, threads: 0 } as const;

function request(seed: number) {
  const { reference, distorted } = y4mPair(SMALL, 6, seed);
  return {
    reference: file(folder, `${seed}-ref.y4m`, reference),
    distorted: file(folder, `${seed}-dis.y4m`, distorted),
  };
}

const part = (number: number, count = 3, options = {}, seed = 1) =>
  scoreShard(request(seed), { number, count }, { ...OPTIONS, ...options });

let parts: readonly Shard[] = [];

beforeAll(async () => {
  parts = [await part(1), await part(2), await part(3)];
});

const error = (work: () => unknown) =>
  Promise.resolve()
    .then(work)
    .then(
      () => 'none',
      (thrown: Error) => thrown.message,
    );

describe('merging', () => {
  it('names the parts that are missing', async () => {
    expect(await error(() => mergeShards(parts.slice(1, 2)))).toContain('2 shards of 3 are missing: 1, 3;');
    expect(await error(() => mergeShards([]))).toContain('no shards');
  });

  it('takes a part twice that says the same, and refuses one that does not', async () => {
    const merged = await mergeShards([...parts, await part(2)]);
    expect(merged.frameCount).toBe(6);
    const [, second] = parts;
    if (!second) throw new Error('there are three parts');
    const records = second.records.slice();
    records[3] = (records[3] ?? 0) + 1;
    expect(await error(() => mergeShards([...parts, { ...second, records }]))).toContain(
      'shard 2 is there twice',
    );
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

  it('refuses parts of another version of anyvmaf', async () => {
    const old = parts.map((shard) => ({ ...shard, version: '0.0.1' }));
    expect(await error(() => mergeShards(old))).toContain('measured by anyvmaf 0.0.1');
  });

  it('refuses a model that is another one here', async () => {
    const other = parts.map((shard) => ({ ...shard, plan: 'f'.repeat(64) }));
    expect(await error(() => mergeShards(other))).toContain('a model is another here');
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

  it.each([
    ['no JSON', () => 'x', 'no JSON'],
    ['other JSON', () => '{}', 'was not written by score'],
    ['a torn file', () => formatShard(parts[0] as Shard).slice(0, 900), 'cut off or damaged'],
    [
      'a later layout',
      () => formatShard(parts[0] as Shard).replace('"format_version": 1', '"format_version": 2'),
      'version 2',
    ],
    [
      'a missing key',
      () => formatShard(parts[0] as Shard).replace('"plan"', '"plans"'),
      'its plan is missing',
    ],
    [
      'values that do not fit the pairs',
      () => formatShard(parts[0] as Shard).replace('"measured": 2', '"measured": 1'),
      'values, but 1 pairs',
    ],
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

  it('is refused with heatmaps, which are files of a whole run', async () => {
    const { reference, distorted } = y4mPair({ width: 224, height: 192, bitDepth: 8, chroma: '420' }, 2);
    const features = [`cambi=heatmaps_path=${folder}`];
    const work = () =>
      scoreShard({ reference, distorted }, { number: 1, count: 2 }, { ...OPTIONS, features });
    expect(await error(work)).toContain('a shard writes no heatmaps');
  });

  it('is refused of a stream', async () => {
    const { reference, distorted } = y4mPair(SMALL, 2);
    const streamed = { reference: streamOf(reference), distorted };
    expect(await error(() => scoreShard(streamed, { number: 1, count: 2 }, OPTIONS))).toContain(
      'is a stream',
    );
  });

  it('has its share of the pairs, and no two have one', () => {
    const random = seeded(7);
    for (let round = 0; round < 200; round++) {
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
  for (const length of [0, 1, 2, 3, 4, 24_575, 24_576, 24_577, 60_000]) {
    const bytes = random.bytes(length);
    const text = toBase64(bytes);
    expect(text).toBe(Buffer.from(bytes).toString('base64'));
    expect(fromBase64(text)).toEqual(bytes);
  }
  for (const wrong of ['a', 'ab=c', 'abc-', '====']) expect(fromBase64(wrong), wrong).toBeUndefined();
});
