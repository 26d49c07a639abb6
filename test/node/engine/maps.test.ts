/**
 * @module test/node/engine/maps
 * Where quality is lost in a picture: CAMBI's heatmaps, checked byte by byte, and maps whose losses
 * add up to the features.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import type { FramePlanes, VideoFormat } from '../../../src/core/frame.js';
import { ButteraugliMapMaker } from '../../../src/engine/backends/core/quality-maps.js';
import { makeDataset } from '../../../src/engine/dataset.js';
import { scorePair } from '../../../src/engine/score.js';
import {
  createScorer,
  extractFrames,
  mapQuality,
  type QualityMaps,
  qualityMaps,
  score,
  scoreMany,
} from '../../../src/index.js';
import { parseFeature } from '../../../src/metrics/options.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import type { FrameMetrics } from '../../../src/report/schema.js';
import { y4mFile } from '../../../src/sample/files.js';
import { makeSample, type SampleDistortion } from '../../../src/sample/generator.js';
import { file, streamOf } from '../../support/clips.js';
import { hasFfmpeg } from '../../support/encode.js';
import { testFolder } from '../../support/folders.js';
import { smallModel } from '../../support/models.js';
import { readPng } from '../../support/perceptual.js';
import { seeded } from '../../support/random.js';
import { refusalOf } from '../../support/refusals.js';
import { needsShared, sharedPath, tier } from '../../support/tier.js';

const SIDE = 216;
const format: VideoFormat = { width: SIDE, height: SIDE, bitDepth: 10, chroma: '400' };
const FRAMES = 5;
const BANDED = [0, 2, 3];

/** Two flat halves four levels apart. The other frames are flat throughout. */
function bands(): Uint8Array<ArrayBuffer> {
  const samples = new Uint16Array(FRAMES * SIDE * SIDE).fill(512);
  for (const frame of BANDED)
    for (let at = frame * SIDE * SIDE; at < (frame + 1) * SIDE * SIDE; at++)
      if (at % SIDE >= SIDE / 2) samples[at] = 516;
  return new Uint8Array(samples.buffer);
}

/**
 * A banded frame at a scale: `first` of its `side` columns have the lower level. The window is 5x5: 65 * 432 / 375 / 16
 * is 4, made odd. Its rows hold `a` samples of the level in the middle and `b` of the other, four levels away, where the
 * contrast of n rows is 4 * na * nb / (na + nb); 4 * 25 / 4 is full scale.
 */
function heatmap(side: number, first: number): Uint16Array<ArrayBuffer> {
  const pixels = new Uint16Array(side * side);
  for (let y = 0; y < side; y++) {
    const rows = Math.min(y + 2, side - 1) - Math.max(y - 2, 0) + 1;
    for (const [x, a, b] of [
      [first - 2, 4, 1],
      [first - 1, 3, 2],
      [first, 3, 2],
      [first + 1, 4, 1],
    ] as const)
      pixels[y * side + x] = Math.floor((65_535 / 25) * ((4 * rows * a * rows * b) / (rows * (a + b))));
  }
  return pixels;
}

/** Side of each scale, and its columns of the left half: every other one, from the first on. */
const SCALES = [216, 108, 54, 27, 14].map((side) => [side, Math.ceil(side / 2)] as const);

const name = (scale: number, side: number) => `cambi_heatmap_scale_${scale}_${side}x${side}_16b.gray`;

/** @param frames those of `count` that are not zero throughout */
function expected(side: number, first: number, frames: readonly number[], count: number): Buffer {
  const all = new Uint16Array(count * side * side);
  for (const frame of frames) all.set(heatmap(side, first), frame * side * side);
  return Buffer.from(all.buffer);
}

const folder = testFolder();
const video = file(folder, 'bands.yuv', bands());
const request = { reference: video, distorted: video, raw: format };
function expectAll(into: string): void {
  for (const [scale, [side, first]] of SCALES.entries()) {
    const written = readFileSync(join(into, name(scale, side)));
    expect(written.equals(expected(side, first, BANDED, FRAMES)), `scale ${scale}`).toBe(true);
  }
}
const featureOf = (into: string, more = '') => `cambi=heatmaps_path=${into}${more}`;
const only = (feature: string) => ({ features: [feature], noPrediction: true });

describe('every byte', () => {
  const plain = score(request, only('cambi'));

  it.each([
    ['in the calling thread', { threads: 0 }],
    ['by workers that read the file', { threads: 3, chunkFrames: 1 }],
    ['in the portable twin', { threads: 0, implementation: 'portable' }],
  ] as const)('%s', async (how, options) => {
    const into = join(folder, how, 'made', 'for it');
    const report = await score(request, { ...only(featureOf(into)), ...options });
    expect(readdirSync(into).sort()).toEqual(SCALES.map(([side], scale) => name(scale, side)));
    expectAll(into);
    expect(report.frames).toEqual((await plain).frames);
  });

  it('of frames that the calling thread sends to workers', async () => {
    const into = join(folder, 'handed');
    const pair = { reference: streamOf(bands()), distorted: streamOf(bands()), raw: format };
    await score(pair, { ...only(featureOf(into)), threads: 2 });
    expectAll(into);
  });

  it('with zeros for frames that subsampling leaves out, up to the last one measured', async () => {
    const into = join(folder, 'third');
    await score(request, { ...only(featureOf(into)), threads: 0, subsample: 3 });
    const written = readFileSync(join(into, name(0, SIDE)));
    expect(written.equals(expected(SIDE, SIDE / 2, [0, 3], 4))).toBe(true);
  });

  it('instead of those of an earlier run, and next to other files', async () => {
    const into = join(folder, 'again');
    mkdirSync(into);
    writeFileSync(join(into, 'mine'), 'kept');
    writeFileSync(join(into, name(0, SIDE)), new Uint8Array(9 * SIDE * SIDE * 2));
    await score(request, { ...only(featureOf(into)), threads: 0, frameCount: 1 });
    expect(readFileSync(join(into, name(0, SIDE))).equals(expected(SIDE, SIDE / 2, [0], 1))).toBe(true);
    expect(readdirSync(into)).toHaveLength(SCALES.length + 1);
    expect(readFileSync(join(into, 'mine'), 'utf8')).toBe('kept');
  });
});

it('names files by the size of the encode, and halves their pictures again with the speed-up', async () => {
  const large: VideoFormat = { width: 1921, height: 1081, bitDepth: 8, chroma: '400' };
  const flat = file(folder, 'large.yuv', new Uint8Array(1921 * 1081));
  const into = join(folder, 'speed-up');
  const pair = { reference: flat, distorted: flat, raw: large };
  await score(pair, { ...only(featureOf(into, ':cambi_high_res_speedup=1080')), threads: 0 });
  const sizes = readdirSync(into).map((entry) => [entry, readFileSync(join(into, entry)).length]);
  expect(Object.fromEntries(sizes)).toEqual({
    'cambi_heatmap_scale_0_1921x1081_16b.gray': 961 * 541 * 2,
    'cambi_heatmap_scale_1_961x541_16b.gray': 481 * 271 * 2,
    'cambi_heatmap_scale_2_481x271_16b.gray': 241 * 136 * 2,
    'cambi_heatmap_scale_3_241x136_16b.gray': 121 * 68 * 2,
    'cambi_heatmap_scale_4_121x68_16b.gray': 61 * 34 * 2,
  });
});

it('gives each variant of the extractor its own folder, and refuses to share one', async () => {
  const [one, other] = [join(folder, 'one'), join(folder, 'other')];
  const features = [featureOf(one), featureOf(other, ':enc_width=200:enc_height=216')];
  await score(request, { features, noPrediction: true, threads: 0, frameCount: 1 });
  expect(readdirSync(one)).toContain('cambi_heatmap_scale_0_216x216_16b.gray');
  expect(readdirSync(other)).toContain('cambi_heatmap_scale_0_200x216_16b.gray');
  const shared = join(folder, 'shared');
  const twice = [featureOf(shared), featureOf(`${shared}/../shared`, ':topk=0.3')];
  expect(await refusalOf('feature', () => score(request, { features: twice, noPrediction: true }))).toMatch(
    /^Two variants of the cambi extractor would write .*shared.*scale_0.*; give each a heatmaps_path of its own/,
  );
  expect(existsSync(shared)).toBe(false);
});

describe('leaves nothing behind', () => {
  it('if the folder cannot be made', async () => {
    const taken = file(folder, 'taken', new Uint8Array(3));
    const run = () => score(request, only(featureOf(join(taken, 'maps'))));
    expect(await refusalOf('io', run)).toMatch(
      /^Heatmaps cannot be written into .*taken.maps: a part of its path is a file, not a folder; name another/,
    );
    expect(readFileSync(taken)).toHaveLength(3);
  });

  it('if something else has the name of a heatmap', async () => {
    const into = join(folder, 'occupied');
    mkdirSync(join(into, name(2, 54)), { recursive: true });
    const run = () => score(request, only(featureOf(into)));
    const sentence = await refusalOf('io', run);
    expect(sentence).toMatch(/^Heatmaps cannot be written into .*occupied: something else has/);
    expect(readdirSync(into)).toEqual([name(2, 54)]);
  });

  it.each([0, 2])('of an aborted run, with %i workers', async (threads) => {
    const into = join(folder, `aborted ${threads}`, 'deep');
    mkdirSync(join(into, '..'));
    const stop = new AbortController();
    const gate = () => {
      if (existsSync(into)) stop.abort(new Error('enough'));
      return undefined;
    };
    const options = { ...only(featureOf(into)), threads, chunkFrames: 1 };
    const run = score(request, { ...options, gate, signal: stop.signal });
    await expect(run).rejects.toThrow('enough');
    expect(readdirSync(join(into, '..'))).toEqual([]);
  });
});

describe('is refused', () => {
  const feature = featureOf('maps');

  it('without a file system, as in a browser', async () => {
    const { heatmaps: _, ...elsewhere } = nodePlatform;
    const run = () => scorePair(elsewhere, request, { ...only(feature), threads: 0 });
    const said = await refusalOf('feature', run);
    expect(said).toMatch(/^cambi cannot write heatmaps to "maps" here; leave out heatmaps_path/);
  });

  it('for pairs that are pushed, several videos, tables and installed programs', async () => {
    const sentence = await refusalOf('feature', () => createScorer(format, only(feature)));
    expect(sentence).toMatch(/cannot write heatmaps to .* here/);
    expect(
      await refusalOf('usage', () => scoreMany(video, [video, video], { ...only(feature), raw: format })),
    ).toMatch(/^heatmaps_path names one folder, but there are 2 distorted videos/);
    const table = makeDataset(nodePlatform, [request], { features: [feature] });
    expect(await refusalOf('usage', () => table.next())).toMatch(/^heatmaps_path is for scoring a single/);
    const native = () => score(request, { ...only(feature), backend: 'native-cpu' });
    expect(await refusalOf('usage', native)).toMatch(/^the backend native-cpu does not support heatmaps/);
    expect(existsSync('maps')).toBe(false);
  });

  it('in a model file, which must not write files, but not in a model string', async () => {
    const into = join(folder, 'by model');
    const feature_names = ['Cambi_feature_cambi_score', 'VMAF_integer_feature_motion2_score'];
    const own = smallModel({ feature_names });
    const model = (dictionary: Record<string, unknown>, at: string) => {
      const text = JSON.stringify({ ...own, model_dict: { ...own.model_dict, ...dictionary } });
      return file(folder, at, Buffer.from(text));
    };
    const sly = model({ feature_opts_dicts: [{ heatmaps_path: into }, {}] }, 'sly.json');
    const message = /^The model ".*sly\.json" sets heatmaps_path, but a model file must not write files/;
    expect(await refusalOf('model', () => score(request, { models: [`path=${sly}`] }))).toMatch(message);
    expect(existsSync(into)).toBe(false);
    const plain = model({}, 'plain.json');
    await score(request, { models: [`path=${plain}:cambi.heatmaps_path=${into}`], threads: 0 });
    expect(readdirSync(into)).toHaveLength(SCALES.length);
  });
});

const SIZES = [
  { width: 96, height: 64, bitDepth: 8 },
  { width: 97, height: 61, bitDepth: 10 },
  { width: 33, height: 130, bitDepth: 12 },
  { width: 40, height: 32, bitDepth: 16 },
] as const;

function pairOf(format: (typeof SIZES)[number], distortion?: SampleDistortion) {
  const clip = makeSample({ ...format, chroma: '420' }, { seed: 5, ...(distortion && { distortion }) });
  return { reference: y4mFile(clip, 'reference', 3), distorted: y4mFile(clip, 'distorted', 3) };
}

const PAIR = pairOf(SIZES[0]);

async function mapsOf(...[pair, frames, options]: Parameters<typeof qualityMaps>): Promise<QualityMaps[]> {
  const all: QualityMaps[] = [];
  for await (const maps of qualityMaps(pair, frames, options)) all.push(maps);
  return all;
}

const sum = (values: Float64Array) => values.reduce((a, b) => a + b, 0);

/** The features of a map must equal those of scoring, and its losses must add up to them. */
function check(maps: QualityMaps, metrics: FrameMetrics['metrics'] | undefined): void {
  for (const [name, value] of Object.entries(maps.features)) expect(value, name).toBe(metrics?.[name]);
  for (const name of ['vif', 'adm'] as const)
    for (const { scale, loss } of maps[name]) {
      const total = 1 - Number(metrics?.[`integer_${name}_scale${scale}`]);
      expect(sum(loss), `${name} ${scale}`).toBeCloseTo(total, 6);
    }
}

describe('qualityMaps', () => {
  for (const [i, format] of SIZES.entries()) {
    const blockSizes = [4, 16, 128];
    for (const blockSize of tier(blockSizes.slice(i % 3, (i % 3) + 1), blockSizes)) {
      it(`adds up to the features: ${format.width}x${format.height} ${format.bitDepth} bit by ${blockSize}`, async () => {
        const pair = pairOf(format);
        const report = await score(pair, { features: ['vif', 'adm'], noPrediction: true, threads: 0 });
        const [first, last] = await mapsOf(pair, [2, 0], { blockSize });
        expect([first?.index, last?.index]).toEqual([0, 2]);
        for (const maps of [first, last]) if (maps) check(maps, report.frames[maps.index]?.metrics);
      });
    }
  }

  it('weights the losses as vmaf_v0.6.1 weights its features', async () => {
    const [maps] = await mapsOf(pairOf(SIZES[1]), [1]);
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

  it('loses nothing if both videos are the same', async () => {
    const { reference } = PAIR;
    const [maps] = await mapsOf({ reference, distorted: reference }, [0]);
    for (const { loss } of maps?.vif ?? []) expect(Math.max(...loss)).toBeLessThan(1e-6);
    // ADM's rounding gives identical frames a small loss.
    expect(Math.abs(maps?.lost().total ?? 1)).toBeLessThan(1e-3);
  });

  it('counts enhancement as quality, unless the gain limit is 1', async () => {
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

  it('is the same for a pair from extractFrames', async () => {
    const [maps] = await mapsOf(PAIR, [1], { blockSize: 8 });
    for await (const frames of extractFrames(PAIR, [1])) {
      const same = await mapQuality(frames, { blockSize: 8 });
      expect(same.lost().values).toEqual(maps?.lost().values);
    }
  });

  it('refuses invalid options', async () => {
    const run = mapsOf(PAIR, [0], { blockSize: 12 });
    await expect(run).rejects.toThrow('blockSize is 12, but it must be 4, 8');
    await expect(mapsOf(PAIR, [0], { enhnGainLimit: 0 })).rejects.toThrow('enhnGainLimit is 0, but');
    await expect(mapsOf(PAIR, [3])).rejects.toThrow('only 3 frames in common');
    const [maps] = await mapsOf(PAIR, [0]);
    const message = 'scale is 1, but it must be 0, 1, 2 or 3, and goes with of';
    expect(() => maps?.render({ scale: 1 })).toThrow(message);
    expect(() => maps?.render({ full: 0 })).toThrow('full is 0, but it must be');
  });
});

const prototype = hasFfmpeg ? sharedPath('spec/perceptual/butteraugli.mjs') : undefined;

describe('the map of butteraugli', () => {
  it('has the scores as its maximum and norm, and its own planes for each pair', async () => {
    for (const [i, blur] of [0, 3].entries()) {
      const pair = pairOf(SIZES[i] ?? SIZES[0], { blur });
      const feature = i === 0 ? 'butteraugli' : 'butteraugli=intensity_target=203';
      const report = await score(pair, { features: [feature], models: [], threads: 0 });
      const maps = await mapsOf(pair, [0, 2], { butteraugli: i === 0 ? true : feature });
      expect(maps.length).toBe(2);
      for (const { index, butteraugli } of maps) {
        const { width = 0, height = 0, differences = [], maximum, norm3 } = butteraugli ?? {};
        expect(differences.length).toBe(width * height);
        expect(Math.max(...differences)).toBe(maximum);
        expect([maximum, norm3]).toEqual(Object.values(report.frames[index]?.metrics ?? {}));
      }
    }
  });

  it.skipIf(!prototype)(`equals a prototype's, pixel by pixel (${needsShared})`, async () => {
    const files = ['ref', 'dis'].map((side) => sharedPath(`golden/perceptual/small_${side}.png`) ?? '');
    const script = `${readFileSync(prototype ?? '', 'utf8')}\nconsole.log(JSON.stringify([...d]));`;
    const args = ['--input-type=module', '-e', script, '--', 'prototype', ...files];
    const env = { ...process.env, PREC: 'f64' };
    const printed = execFileSync(process.execPath, args, { encoding: 'utf8', env });
    const expected: readonly number[] = JSON.parse(printed.trim().split('\n').at(-1) ?? '[]');
    const [reference, distorted] = files.map((path) => readPng(path));
    if (!reference || !distorted) throw new Error('there are two pictures');
    const chroma = { siting: 'left', upsampling: 'bicubic' } as const;
    const rgb = { matrix: 'gbr', range: 'full', transfer: 'srgb', ...chroma } as const;
    const format = { ...reference.format, colours: { reference: rgb, distorted: rgb } };
    const core = await nodePlatform.loadCore('perceptual');
    const maker = new ButteraugliMapMaker(core, parseFeature('butteraugli'), format);
    const planes = ({ planes: [y = new Uint8Array(), cb, cr] }: ReturnType<typeof readPng>) =>
      ({ y, cb, cr }) as FramePlanes;
    const { differences } = maker.measure(planes(reference), planes(distorted));
    expect(differences.length).toBe(expected.length);
    const off = expected.map((value, i) => Math.abs((differences[i] ?? Number.NaN) - value) / value);
    expect(Math.max(...off)).toBeLessThan(3e-5);
  });

  it('is that of colours converted as another tool does', async () => {
    const colourAs = 'vszip';
    const options = { features: ['butteraugli'], models: [], threads: 0, colourAs } as const;
    const report = await score(PAIR, options);
    const [maps] = await mapsOf(PAIR, [1], { butteraugli: true, colourAs });
    expect(maps?.features.butteraugli).toBe(report.frames[1]?.metrics.butteraugli);
  });

  it('is drawn pixel by pixel, if it was requested', async () => {
    const [maps, without] = [await mapsOf(PAIR, [0], { butteraugli: true }), await mapsOf(PAIR, [0])];
    const { image, full } = maps[0]?.render({ of: 'butteraugli', full: 1 }) ?? {};
    expect([image?.width, image?.height, full]).toEqual([96, 64 + 15, 1]);
    const message = 'made without it; pass butteraugli: true';
    expect(() => without[0]?.render({ of: 'butteraugli' })).toThrow(message);
    expect(() => maps[0]?.render({ of: 'butteraugli', scale: 1 })).toThrow('goes with of vif or adm');
    await expect(mapsOf(PAIR, [0], { butteraugli: 'ssimulacra2' })).rejects.toThrow(
      'butteraugli is "ssimulacra2", but it must be true, false, or the extractor with its options',
    );
  });
});

describe('render', () => {
  it('draws a frame in its size with a legend below, or without, or smaller', async () => {
    const [maps] = await mapsOf(PAIR, [0]);
    const file = decode((await maps?.render().png()) ?? new Uint8Array());
    expect([file.width, file.height, file.channels]).toEqual([96, 64 + 15, 3]);
    const bare = maps?.render({ legend: false }).image;
    expect([bare?.width, bare?.height, bare?.data.length]).toEqual([96, 64, 3 * 96 * 64]);
    const small = maps?.render({ legend: false, maxSide: 48, of: 'adm', scale: 3 }).image;
    expect([small?.width, small?.height]).toEqual([48, 32]);
  });
});
