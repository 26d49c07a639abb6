/**
 * @module test/node/engine/quality-maps
 * Maps of where quality is lost, by the public API: losses that add up to the features, and pictures of them.
 */
import { decode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import { extractFrames, mapQuality, type QualityMaps, qualityMaps, score } from '../../../src/index.js';
import type { FrameMetrics } from '../../../src/report/types.js';
import { y4mFile } from '../../../src/sample/files.js';
import { makeSample, type SampleDistortion } from '../../../src/sample/generator.js';
import { goldenCases } from '../../support/golden.js';
import { seeded } from '../../support/random.js';
import { needsShared, sharedPath } from '../../support/shared.js';

const SIZES = [
  { width: 96, height: 64, bitDepth: 8 },
  { width: 97, height: 61, bitDepth: 10 },
  { width: 33, height: 130, bitDepth: 12 },
] as const;

function request(format: (typeof SIZES)[number], distortion?: SampleDistortion) {
  const clip = makeSample({ ...format, chroma: '420' }, { seed: 5, ...(distortion && { distortion }) });
  return { reference: y4mFile(clip, 'reference', 3), distorted: y4mFile(clip, 'distorted', 3) };
}

async function mapsOf(...[pair, frames, options]: Parameters<typeof qualityMaps>): Promise<QualityMaps[]> {
  const all: QualityMaps[] = [];
  for await (const maps of qualityMaps(pair, frames, options)) all.push(maps);
  return all;
}

const sum = (values: Float64Array) => values.reduce((a, b) => a + b, 0);

/** What a map says of a frame must be what scoring says, and losses must add up to it. */
function check(maps: QualityMaps, metrics: FrameMetrics['metrics'] | undefined): void {
  for (const [name, value] of Object.entries(maps.features)) expect(value, name).toBe(metrics?.[name]);
  for (const [name, all] of [
    ['vif', maps.vif],
    ['adm', maps.adm],
  ] as const) {
    for (const { scale, loss } of all)
      expect(sum(loss), `${name} ${scale}`).toBeCloseTo(
        1 - Number(metrics?.[`integer_${name}_scale${scale}`]),
        6,
      );
  }
}

describe('qualityMaps', () => {
  for (const format of SIZES) {
    for (const blockSize of [4, 16, 128]) {
      it(`adds up to the features: ${format.width}x${format.height} ${format.bitDepth} bit by ${blockSize}`, async () => {
        const pair = request(format);
        const report = await score(pair, { features: ['vif', 'adm'], noPrediction: true, threads: 0 });
        const [first, last] = await mapsOf(pair, [2, 0], { blockSize });
        expect([first?.index, last?.index]).toEqual([0, 2]);
        for (const maps of [first, last]) if (maps) check(maps, report.frames[maps.index]?.metrics);
      });
    }
  }

  it('weighs the losses as vmaf_v0.6.1 weighs its features', async () => {
    const [maps] = await mapsOf(request(SIZES[1]), [1]);
    const lost = (name: string) => 1 - Number(maps?.features[`integer_${name}`]);
    // Slopes of the model file, and their sum.
    const [adm, all] = [2.8098077502505414, 9.41725442612];
    const slopes = [1.222763456258933, 1.5360318811084146, 1.7620864995501058, 2.08656468286432];
    const vif = slopes.reduce((total, slope, scale) => total + slope * lost(`vif_scale${scale}`), 0);
    expect(maps?.lost('adm').total).toBeCloseTo((adm * lost('adm2')) / all, 6);
    expect(maps?.lost('vif').total).toBeCloseTo(vif / all, 6);
    expect(maps?.lost().total).toBeCloseTo((vif + adm * lost('adm2')) / all, 6);
    const [both, parts] = [maps?.lost().values, [maps?.lost('vif').values, maps?.lost('adm').values]];
    both?.forEach((value, i) => {
      expect(value).toBeCloseTo((parts[0]?.[i] ?? 0) + (parts[1]?.[i] ?? 0), 12);
    });
  });

  it('loses nothing where both videos are the same', async () => {
    const { reference } = request(SIZES[0]);
    const [maps] = await mapsOf({ reference, distorted: reference }, [0]);
    for (const { loss } of maps?.vif ?? []) expect(Math.max(...loss)).toBeLessThan(1e-6);
    // ADM's rounding leaves a little of identical frames.
    expect(Math.abs(maps?.lost().total ?? 1)).toBeLessThan(1e-3);
  });

  it('counts enhancement as quality, or does not with a gain limit of 1', async () => {
    const size = { width: 64, height: 48 };
    const reference = seeded(3)
      .bytes(size.width * size.height)
      .map((v) => 64 + (v >> 1));
    const pair = {
      reference,
      // A quarter more contrast.
      distorted: reference.map((v) => Math.round(128 + 1.25 * (v - 128))),
      raw: { ...size, bitDepth: 8, chroma: '400' as const },
    };
    const [plain] = await mapsOf(pair, [0]);
    const [neg] = await mapsOf(pair, [0], { enhnGainLimit: 1 });
    expect(plain?.features.integer_vif_scale0).toBeGreaterThan(1);
    expect(plain?.lost('vif').total).toBeLessThan(0);
    expect(neg?.lost('vif').total).toBeGreaterThan(0);
  });

  it('is the same for a pair that extractFrames gave', async () => {
    const pair = request(SIZES[0]);
    const [maps] = await mapsOf(pair, [1], { blockSize: 8 });
    for await (const frames of extractFrames(pair, [1])) {
      const same = await mapQuality(frames, { blockSize: 8 });
      expect(same.lost().values).toEqual(maps?.lost().values);
    }
  });

  it('refuses what it cannot do', async () => {
    const pair = request(SIZES[0]);
    await expect(mapsOf(pair, [0], { blockSize: 12 })).rejects.toThrow(
      'blockSize is 12, but it must be 4, 8',
    );
    await expect(mapsOf(pair, [0], { enhnGainLimit: 0 })).rejects.toThrow('enhnGainLimit is 0, but');
    await expect(mapsOf(pair, [3])).rejects.toThrow('only 3 frames in common');
    const [maps] = await mapsOf(pair, [0]);
    expect(() => maps?.render({ scale: 1 })).toThrow(
      'scale is 1, but it must be 0, 1, 2 or 3, and goes with of',
    );
    expect(() => maps?.render({ full: 0 })).toThrow('full is 0, but it must be');
  });
});

describe('render', () => {
  it('draws a frame in its size with a legend below, or without, or smaller', async () => {
    const [maps] = await mapsOf(request(SIZES[0]), [0]);
    const file = decode((await maps?.render().png()) ?? new Uint8Array());
    expect([file.width, file.height, file.channels]).toEqual([96, 64 + 15, 3]);
    const bare = maps?.render({ legend: false }).image;
    expect([bare?.width, bare?.height, bare?.data.length]).toEqual([96, 64, 3 * 96 * 64]);
    const small = maps?.render({ legend: false, maxSide: 48, of: 'adm', scale: 3 }).image;
    expect([small?.width, small?.height]).toEqual([48, 32]);
  });

  it('is grey where nothing is lost and has colour where something is', async () => {
    const { reference } = request(SIZES[0]);
    const [same] = await mapsOf({ reference, distorted: reference }, [0]);
    const colourful = (maps: QualityMaps | undefined) => {
      const data = maps?.render({ legend: false, full: 0.5 }).image.data ?? new Uint8Array();
      let count = 0;
      for (let i = 0; i < data.length; i += 3) {
        const channels = [...data.subarray(i, i + 3)];
        if (Math.max(...channels) - Math.min(...channels) > 24) count++;
      }
      return count / (data.length / 3);
    };
    expect(colourful(same)).toBe(0);
    const [lossy] = await mapsOf(request(SIZES[0], { blur: 4 }), [0]);
    expect(colourful(lossy)).toBeGreaterThan(0.5);
  });
});

const shared = sharedPath('golden/features.json');

describe.runIf(shared)(`maps of real clips (${needsShared})`, () => {
  const root = new URL('../../../../shared', import.meta.url);
  const cases = shared ? goldenCases(root).filter(({ config }) => config === 'm:vmaf_v0.6.1') : [];
  it('are of clips in 8, 10, 12 and 16 bit', () => {
    const depths = cases.map(({ request: { raw } }) => raw?.bitDepth);
    expect(depths).toEqual(expect.arrayContaining([8, 10, 12, 16]));
  });
  for (const { clip, request: pair, expected } of cases) {
    it(`add up to libvmaf's features: ${clip}`, async () => {
      const [maps] = await mapsOf(pair, [0]);
      const known = Object.entries(expected.features ?? {}).filter(
        ([name]) => name in (maps?.features ?? {}),
      );
      expect(known.length).toBeGreaterThanOrEqual(5);
      for (const [name, values] of known) expect(maps?.features[name], name).toBe(values[0]);
      expect(1 - sum(maps?.vif[0]?.loss ?? new Float64Array())).toBeCloseTo(
        Number(expected.features?.integer_vif_scale0?.[0]),
        6,
      );
    });
  }
});
