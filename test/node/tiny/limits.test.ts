/**
 * @module test/node/tiny/limits
 * Where tiny models have no answer: pictures that are too small are refused, frames that show nothing are counted, and
 * a model whose values are not to be relied upon says so.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createScorer,
  describeTinyModel,
  formatReport,
  listTinyModels,
  type Report,
  type ScoreOptions,
  score,
} from '../../../src/index.js';
import { contentOf } from '../../../src/tiny/content.js';
import { meanOf } from '../../support/onnx.js';
import { seeded } from '../../support/random.js';

const SHIPPED = 'nr_vmaf_v0.6.1';
const [WIDTH, HEIGHT] = [96, 64];
const PIXELS = WIDTH * HEIGHT;
const RAW = { width: WIDTH, height: HEIGHT, bitDepth: 8, chroma: '400' } as const;
const random = seeded(11);

const black = new Uint8Array(PIXELS).fill(16);
const nearlyFlat = Uint8Array.from({ length: PIXELS }, () => random.int(126, 129));
const noise = Uint8Array.from({ length: PIXELS }, () => random.int(0, 255));
const scene = Uint8Array.from({ length: PIXELS }, (_, i) => {
  const [x, y] = [i % WIDTH, Math.floor(i / WIDTH)];
  return Math.round(120 + 60 * Math.sin(x / 9) * Math.cos(y / 7) + random.int(-6, 6));
});
const FRAMES = [scene, black, noise, scene, nearlyFlat, scene, black];

describe('what a picture shows', () => {
  it.each([
    ['black', black, 'flat'],
    ['one tone with a little grain', nearlyFlat, 'flat'],
    ['white noise', noise, 'noise'],
    ['a scene with grain', scene, 'scene'],
  ] as const)('%s, at 8 and at 10 bit', (_, luma, expected) => {
    expect(contentOf(luma, WIDTH, HEIGHT, 8)).toBe(expected);
    const ten = Uint16Array.from(luma, (value) => 4 * value);
    expect(contentOf(ten, WIDTH, HEIGHT, 10)).toBe(expected);
  });

  it.each([12, 16])('noise is noise and a slope a scene with the largest samples of %i bit', (bits) => {
    const peak = 2 ** bits - 1;
    const loud = Uint16Array.from({ length: PIXELS }, () => peak * random.int(0, 1));
    expect(contentOf(loud, WIDTH, HEIGHT, bits)).toBe('noise');
    const slope = Uint16Array.from({ length: PIXELS }, (_, i) =>
      Math.round((peak * (i % WIDTH)) / (WIDTH - 1)),
    );
    expect(contentOf(slope, WIDTH, HEIGHT, bits)).toBe('scene');
    expect(contentOf(new Uint16Array(PIXELS).fill(peak), WIDTH, HEIGHT, bits)).toBe('flat');
  });

  it('stripes are a scene: neighbours along them are alike', () => {
    const stripes = Uint8Array.from({ length: PIXELS }, (_, i) => (i % 2 ? 200 : 40));
    expect(contentOf(stripes, WIDTH, HEIGHT, 8)).toBe('scene');
  });
});

function alone(options: ScoreOptions = {}, model = SHIPPED): Promise<Report> {
  return score(
    { distorted: Buffer.concat(FRAMES), raw: RAW },
    { noReference: true, tiny: [{ model }], ...options },
  );
}

const EXPERIMENTAL =
  /^The tiny model "nr_vmaf_v0.6.1" is experimental: good for the order of versions of one scene/;
const NO_SCENE = '4 of 7 frames are flat or noise (3 flat, 1 noise); the tiny model';

describe('the no-reference model that ships', () => {
  it.each([0, 2])('counts frames that show nothing, and says so, with %i threads', async (threads) => {
    const report = await alone({ threads, chunkFrames: 2 });
    const [experimental, nothing] = report.tiny?.[0]?.notices ?? [];
    expect(experimental).toMatchObject({
      code: 'experimental',
      message: expect.stringMatching(EXPERIMENTAL),
    });
    expect(nothing).toMatchObject({
      code: 'no-scene',
      frames: 4,
      message: expect.stringContaining(NO_SCENE),
    });
    expect(report.warnings).toEqual([experimental?.message, nothing?.message]);
  });

  it('counts the frames that it scored, not those that subsampling leaves out', async () => {
    const report = await alone({ threads: 0, subsample: 3 });
    expect(report.tiny?.[0]?.notices?.[1]?.message).toContain(
      '1 of 3 frames are flat or noise (1 flat, 0 noise)',
    );
  });

  it('counts pushed frames too', async () => {
    await using scorer = await createScorer(RAW, { models: [], threads: 0, tiny: [{ model: SHIPPED }] });
    for (const luma of FRAMES) await scorer.push({ y: luma }, { y: luma });
    const report = await scorer.finish();
    expect(report.tiny?.[0]?.notices?.[1]?.message).toContain(NO_SCENE);
  });

  it('says nothing of frames where all show something', async () => {
    const report = await score(
      { distorted: Buffer.concat([scene, scene]), raw: RAW },
      { noReference: true, threads: 0, tiny: [{ model: SHIPPED }] },
    );
    expect(report.tiny?.[0]?.notices?.map(({ code }) => code)).toEqual(['experimental']);
  });

  it.each([
    [96, 63],
    [63, 96],
    [32, 32],
  ])('refuses pictures of %ix%i', async (width, height) => {
    const distorted = new Uint8Array(width * height).map((_, i) => i % 251);
    const running = score(
      { distorted, raw: { ...RAW, width, height } },
      { noReference: true, threads: 0, tiny: [{ model: SHIPPED }] },
    );
    await expect(running).rejects.toMatchObject({
      code: 'usage',
      message:
        `The tiny model "nr_vmaf_v0.6.1" has no answer for pictures below 64x64, and these are ${width}x${height}; ` +
        'leave it out, or score the video before it was made smaller.',
    });
  });

  it('writes why its values are not to be taken at their word into JSON and XML', async () => {
    const report = await alone({ threads: 0 });
    const [json, xml] = [formatReport(report, 'json'), formatReport(report, 'xml')];
    expect(JSON.parse(json).tiny[0].notices).toEqual(report.tiny?.[0]?.notices);
    expect(xml).toContain('notices="experimental no-scene"');
  });

  it('stands in the registry as experimental, alone among those that ship', async () => {
    const experimental = (await listTinyModels()).filter((model) => model.experimental !== undefined);
    expect(experimental.map(({ id }) => id)).toEqual([SHIPPED]);
    expect((await describeTinyModel(SHIPPED)).registry?.experimental).toBe(experimental[0]?.experimental);
  });
});

describe('other models', () => {
  let folder = '';
  const at = (name: string) => join(folder, name);

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'anyvmaf-limits-'));
    const graph = meanOf(['B', 1, 'H', 'W'], { factor: 255 });
    for (const name of ['plain', 'listed', 'larger', 'wrong']) writeFileSync(at(`${name}.onnx`), graph);
    writeFileSync(at('larger.json'), JSON.stringify({ min_size: [97, 8] }));
    writeFileSync(at('wrong.json'), JSON.stringify({ min_size: [64, 0.5] }));
    const sha256 = createHash('sha256').update(graph).digest('hex');
    const row = { id: 'listed', kind: 'nr', onnx: 'listed.onnx', sha256, experimental: 'made yesterday' };
    writeFileSync(at('registry.json'), JSON.stringify({ schema_version: 1, models: [row] }));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('take any picture where their sidecar asks for none', async () => {
    const report = await alone({ threads: 0 }, at('plain.onnx'));
    expect(report.tiny?.[0]?.notices).toBeUndefined();
    expect(report.warnings).toEqual([]);
  });

  it('are experimental where their registry says so', async () => {
    const report = await alone({ threads: 0 }, at('listed.onnx'));
    expect(report.warnings).toContain('The tiny model "listed" is experimental: made yesterday.');
  });

  it('refuse what their sidecar refuses', async () => {
    await expect(alone({ threads: 0 }, at('larger.onnx'))).rejects.toThrow('below 97x8, and these are 96x64');
    await expect(alone({ threads: 0 }, at('wrong.onnx'))).rejects.toThrow('two whole numbers above 0');
  });
});
