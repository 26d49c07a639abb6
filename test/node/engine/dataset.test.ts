/**
 * @module test/node/engine/dataset
 * Tables made of videos hold what scoring gives, and are what evaluation reads.
 */
import { describe, expect, it } from 'vitest';
import type { DatasetOptions, DatasetPair } from '../../../src/engine/dataset.js';
import { compareModels, evaluateModel, score, writeFeatures } from '../../../src/index.js';
import { y4mFile } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { tableOf } from '../../support/tables.js';

const sample = makeSample({ width: 64, height: 64, bitDepth: 8, chroma: '420' }, { seed: 62 });
const reference = y4mFile(sample, 'reference', 5);
const distorted = y4mFile(sample, 'distorted', 5);

async function written(pairs: readonly DatasetPair[], options: DatasetOptions = {}) {
  const pieces: Uint8Array[] = [];
  const table = writeFeatures(pairs, { threads: 0, ...options });
  for (let next = await table.next(); ; next = await table.next()) {
    if (next.done)
      return { summary: next.value, file: Uint8Array.from(pieces.flatMap((piece) => [...piece])) };
    pieces.push(next.value);
  }
}

describe('a table of videos', () => {
  it("has every frame's features as scoring gives them, to the last bit", async () => {
    const pair = { reference, distorted, key: 'sample', clip: 'one' };
    const { file, summary } = await written([pair], { teacher: 'version=vmaf_v0.6.1', features: ['psnr'] });
    const columns =
      'key clip frame mos adm2 vif_scale0 vif_scale1 vif_scale2 vif_scale3 motion2 psnr_y psnr_cb psnr_cr teacher';
    expect(summary).toMatchObject({ rows: 5, pairs: 1, columns: columns.split(' ') });
    const { frames } = await score({ reference, distorted }, { threads: 0, features: ['psnr'] });
    const table = await tableOf(file);
    for (const [column, name] of [
      ['adm2', 'integer_adm2'],
      ['vif_scale0', 'integer_vif_scale0'],
      ['vif_scale3', 'integer_vif_scale3'],
      ['motion2', 'integer_motion2'],
      ['psnr_y', 'psnr_y'],
      ['teacher', 'vmaf'],
      ['mos', 'vmaf'],
    ] as const) {
      expect([...(await table.numbers(column))], column).toEqual(frames.map(({ metrics }) => metrics[name]));
    }
    expect(await table.texts('key')).toEqual(Array(5).fill('sample'));
  });

  it('of several pairs has them one after the other, each with its opinion score', async () => {
    const { file, summary } = await written([
      { reference, distorted, key: 7, mos: 2.5 },
      { reference, distorted: reference, key: 8, mos: 5 },
    ]);
    expect(summary.columns).not.toContain('teacher');
    const table = await tableOf(file);
    expect(await table.texts('key')).toEqual([...Array(5).fill('7'), ...Array(5).fill('8')]);
    expect([...(await table.numbers('mos'))]).toEqual([...Array(5).fill(2.5), ...Array(5).fill(5)]);
    expect([...(await table.numbers('frame'))]).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
  });

  it('keeps encodes of one name apart', async () => {
    const { file } = await written([
      { reference, distorted: new File([new Uint8Array(distorted)], 'a.y4m'), key: 'k' },
      { reference, distorted: new File([new Uint8Array(distorted)], 'a.y4m'), key: 'k' },
    ]);
    expect(new Set(await (await tableOf(file)).texts('clip'))).toEqual(new Set(['a', 'a_2']));
  });

  it.each([
    ['no pair', [], /no pair of videos/],
    ['no key', [{ reference, distorted }], /key of pair 1 is missing/],
    [
      'mos of some',
      [
        { reference, distorted, key: 1, mos: 3 },
        { reference, distorted, key: 1 },
      ],
      /Pair 2 has no mos/,
    ],
    ['mos that is none', [{ reference, distorted, key: 1, mos: Number.NaN }], /mos of pair 1 is NaN/],
    ['a key between numbers', [{ reference, distorted, key: 1.5 }], /key of pair 1 is 1\.5/],
  ] as const)('is refused of %s', async (_, pairs, message) => {
    await expect(written(pairs)).rejects.toThrow(message);
  });
});

describe('evaluation by the public API', () => {
  it('says what is wrong with its options and files', async () => {
    const bytes = new TextEncoder().encode('no table');
    await expect(evaluateModel('m.onnx', bytes)).rejects.toThrow(/the table is not a Parquet file/);
    await expect(evaluateModel('m.onnx', 'absent.parquet')).rejects.toThrow(/absent\.parquet/);
    await expect(evaluateModel('m.onnx', bytes, { resamples: -1 })).rejects.toThrow(/resamples is -1/);
    const wrong = { split: 'tets' } as unknown as Parameters<typeof evaluateModel>[2];
    await expect(compareModels(['m.onnx'], bytes, wrong)).rejects.toThrow(/did you mean test/);
  });
});
