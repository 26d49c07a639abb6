/**
 * @module test/node/tiny/scores
 * Scores of tiny models: the shipped no-reference model on sharp and blurred scenes, the regressor of VMAF v1 on video with
 * damaged luma, and models given as files.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { describeTinyModel, score } from '../../../src/index.js';
import { elsewhere, linear, meanOf, model, node, port } from '../../support/onnx.js';
import { seeded } from '../../support/random.js';
import { needsShared, sharedPath, tier } from '../../support/tier.js';

/** The mean of `2 * reach + 1` pixels a side around a pixel. */
function meanAround(luma: Uint8Array, [width, height]: readonly [number, number], at: number, reach: number) {
  const [x, y] = [at % width, Math.floor(at / width)];
  let sum = 0;
  for (let v = y - reach; v <= y + reach; v++) {
    const row = Math.max(0, Math.min(height - 1, v)) * width;
    for (let u = x - reach; u <= x + reach; u++) sum += luma[row + Math.max(0, Math.min(width - 1, u))] ?? 0;
  }
  return sum / (2 * reach + 1) ** 2;
}

describe('the no-reference model that ships', () => {
  const NAME = 'nr_vmaf_v0.6.1';
  const FOLDER = new URL('../../../model/tiny/', import.meta.url);

  type Figures = Readonly<Record<'n' | 'plcc' | 'srocc' | 'rmse', number>>;
  type Sets = Readonly<
    Record<'test' | 'unseen', { pooled: Figures; sources: Readonly<Record<string, Figures>> }>
  >;
  const textOf = (name: string) => readFileSync(fileURLToPath(new URL(name, FOLDER)), 'utf8');
  const figures: { model: Sets; baseline: Sets } = JSON.parse(textOf(`${NAME}.figures.json`));

  it.each(['test', 'unseen'] as const)(
    'beats blur and blockiness statistics on %s, as on its card',
    (set) => {
      const [model, baseline] = [figures.model[set], figures.baseline[set]];
      const mean = ({ sources }: typeof model, key: keyof Figures) =>
        Object.values(sources).reduce((sum, row) => sum + row[key], 0) / Object.keys(sources).length;
      for (const [key, sign] of [
        ['plcc', 1],
        ['srocc', 1],
        ['rmse', -1],
      ] as const) {
        expect(sign * (model.pooled[key] - baseline.pooled[key])).toBeGreaterThan(0);
        expect(sign * (mean(model, key) - mean(baseline, key))).toBeGreaterThan(0);
      }
      const row = [model.pooled, baseline.pooled].flatMap(({ plcc, srocc, rmse }) => [plcc, srocc, rmse]);
      expect(textOf(`${NAME}.md`)).toContain(`| **together** | ${[model.pooled.n, ...row].join(' | ')} |`);
    },
  );

  const [WIDTH, HEIGHT] = [322, 194];

  /** Overlapping rectangles of several tones and sizes, seeded. */
  function scene(seed: number): Uint8Array {
    const random = seeded(seed);
    const luma = new Uint8Array(WIDTH * HEIGHT).fill(90);
    for (let i = 0; i < 400; i++) {
      const [x, y] = [random.int(-20, WIDTH), random.int(-20, HEIGHT)];
      const [right, bottom] = [x + random.int(4, 60), y + random.int(4, 60)];
      const tone = random.int(30, 220);
      for (let v = Math.max(0, y); v < Math.min(HEIGHT, bottom); v++)
        luma.fill(tone, v * WIDTH + Math.max(0, x), v * WIDTH + Math.max(0, Math.min(WIDTH, right)));
    }
    return luma;
  }

  it('scores a scene lower if it is blurred, at a size that is not a multiple of its cells', async () => {
    for (const seed of tier([1], [1, 2, 3, 4, 5])) {
      const sharp = scene(seed);
      const blurred = (luma: Uint8Array, reach: number) =>
        luma.map((_, at) => Math.round(meanAround(luma, [WIDTH, HEIGHT], at, reach)));
      const distorted = Buffer.concat([sharp, blurred(sharp, 2), blurred(sharp, 5)]);
      const raw = { width: WIDTH, height: HEIGHT, bitDepth: 8, chroma: '400' } as const;
      const options = { threads: 0, noReference: true, tiny: [{ model: NAME }] };
      const report = await score({ distorted, raw }, options);
      const scores = report.frames.map(({ metrics }) => metrics.tiny_nr ?? Number.NaN);
      const said = `seed ${seed}: ${scores.join(', ')}`;
      expect(scores, said).toHaveLength(3);
      expect(Math.max(...scores.slice(1)), said).toBeLessThan(scores[0] ?? Number.NaN);
      expect(Math.max(...scores), said).toBeLessThanOrEqual(100);
      expect(Math.min(...scores), said).toBeGreaterThanOrEqual(0);
    }
  });
});

describe('the regressor of VMAF v1', () => {
  const TEACHER = 'vmaf_v1.0.16_3d0h';
  const teacher = sharedPath(`models/vmaf_v1.0.16/${TEACHER}.json`);
  const [WIDTH, HEIGHT, FRAMES] = [640, 360, 2];
  const LUMA = WIDTH * HEIGHT;
  const SIZE = (LUMA * 3) / 2;
  const RAW = { width: WIDTH, height: HEIGHT, bitDepth: 8, chroma: '420' } as const;

  /** A moving colour picture: tiles of several tones and hues under waves, with grain. */
  function source(): Uint8Array {
    const random = seeded(21);
    const tiles = Array.from({ length: 60 }, () => Array.from({ length: 3 }, () => random.int(40, 210)));
    const clip = new Uint8Array(FRAMES * SIZE);
    for (let frame = 0; frame < FRAMES; frame++) {
      const plane = (offset: number, width: number, height: number, scale: number, part: number) => {
        for (let y = 0; y < height; y++) {
          for (let x = 0; x < width; x++) {
            const [u, v] = [x * scale + 3 * frame, y * scale + frame];
            const tile = tiles[(Math.floor(u / 37) + 7 * Math.floor(v / 29)) % 60] ?? [];
            const wave = 14 * Math.sin(u / 5 + part) * Math.cos(v / 4);
            const value = (tile[part] ?? 128) + wave + random.int(-4, 4);
            clip[offset + y * width + x] = Math.max(16, Math.min(235, Math.round(value)));
          }
        }
      };
      plane(frame * SIZE, WIDTH, HEIGHT, 1, 0);
      plane(frame * SIZE + LUMA, WIDTH / 2, HEIGHT / 2, 2, 1);
      plane(frame * SIZE + (LUMA * 5) / 4, WIDTH / 2, HEIGHT / 2, 2, 2);
    }
    return clip;
  }

  /** The clip with changed luma and unchanged chroma. */
  function damaged(clip: Uint8Array, change: (luma: Uint8Array, at: number) => number): Uint8Array {
    const result = clip.slice();
    for (let frame = 0; frame < FRAMES; frame++) {
      const luma = clip.subarray(frame * SIZE, frame * SIZE + LUMA);
      for (let at = 0; at < LUMA; at++)
        result[frame * SIZE + at] = Math.max(0, Math.min(255, Math.round(change(luma, at))));
    }
    return result;
  }

  const blurred = (reach: number) => (luma: Uint8Array, at: number) =>
    meanAround(luma, [WIDTH, HEIGHT], at, reach);

  /** The clip with a few chroma samples changed by one level. */
  function touched(clip: Uint8Array): Uint8Array {
    const result = clip.slice();
    for (let frame = 0; frame < FRAMES; frame++) {
      for (let at = 0; at < 3000; at++) {
        const place = frame * SIZE + LUMA + 7 * at;
        result[place] = (result[place] ?? 0) ^ 1;
      }
    }
    return result;
  }

  /** Without colour: a chroma distortion of exactly 0, which the teacher treats as missing. */
  const grey = (clip: Uint8Array): Uint8Array => clip.map((value, i) => (i % SIZE < LUMA ? value : 128));

  const reference = source();
  const strong = damaged(reference, blurred(3));
  const dull = damaged(reference, (luma, at) => 0.5 * (luma[at] ?? 0) + 60);
  /** Each damage with the teacher's scores of its frames. */
  const DAMAGES: readonly (readonly [string, Uint8Array, () => Uint8Array, readonly number[]])[] = [
    ['a weak blur', reference, () => damaged(reference, blurred(1)), [87.35391, 87.71992]],
    ['a strong blur', reference, () => strong, [49.70119, 49.66388]],
    ['a blur that leaves little', reference, () => damaged(reference, blurred(8)), [0, 0]],
    [
      'steps of 24 levels',
      reference,
      () => damaged(reference, (luma, at) => 24 * Math.round((luma[at] ?? 0) / 24)),
      [94.27049, 95.51233],
    ],
    ['less contrast', reference, () => dull, [24.98757, 24.78073]],
    [
      'noise',
      reference,
      () => {
        const noise = seeded(22);
        return damaged(reference, (luma, at) => (luma[at] ?? 0) + noise.int(-30, 30));
      },
      [88.55346, 89.43332],
    ],
    ['a strong blur, chroma all but untouched', reference, () => touched(strong), [49.67265, 49.65518]],
    ['a strong blur of the clip in grey', grey(reference), () => grey(strong), [30.68874, 30.6438]],
    ['less contrast of the clip in grey', grey(reference), () => grey(dull), [3.28231, 3.07642]],
  ];
  /** In points. */
  const TOLERANCE = 1;

  /** Strong and weak damage, in colour and grey. */
  const FEW = DAMAGES.filter(([name]) =>
    ['a strong blur', 'noise', 'less contrast of the clip in grey'].includes(name),
  );

  describe.each(tier(FEW, DAMAGES))('luma alone: %s', (_, clip, make, expected) => {
    const distorted = make();

    it('scores within a point of VMAF v1', async () => {
      const report = await score(
        { reference: clip, distorted, raw: RAW },
        { models: [], threads: 0, tiny: [{ model: `fr_${TEACHER}` }] },
      );
      const scores = report.frames.map(({ metrics }) => metrics[`tiny_${TEACHER}`] ?? Number.NaN);
      expect(scores).toHaveLength(expected.length);
      for (const [frame, wanted] of expected.entries())
        expect(Math.abs((scores[frame] ?? Number.NaN) - wanted), `${scores}`).toBeLessThan(TOLERANCE);
    });

    it.skipIf(!teacher || tier(true, false))(`equals the teacher (${needsShared})`, async () => {
      const report = await score(
        { reference: clip, distorted, raw: RAW },
        { models: [`path=${teacher}:name=v1`], threads: 0 },
      );
      for (const [frame, wanted] of expected.entries())
        expect(report.frames[frame]?.metrics.v1).toBeCloseTo(wanted, 4);
    });
  });
});

describe('models of the caller', () => {
  const RAW = { width: 32, height: 24, bitDepth: 8, chroma: '420' } as const;
  const video = seeded(5).bytes(2 * 1152);
  const json = (value: object) => new Blob([JSON.stringify(value)]);
  const blob = (bytes: Uint8Array) => new Blob([new Uint8Array(bytes)]);

  it('score with their sidecar and weights', async () => {
    const files = {
      'a.onnx': blob(meanOf(['N', 1, 'H', 'W'], { factor: 255 })),
      'a.json': json({ name: 'mean' }),
    };
    const alone = { noReference: true, threads: 0, tiny: [{ model: 'a.onnx', files }] };
    const { frames } = await score({ distorted: video, raw: RAW }, alone);
    const mean = video.subarray(0, 768).reduce((sum, value) => sum + value, 0) / 768;
    expect(frames[0]?.metrics.mean).toBeCloseTo(mean, 3);
    const split = model({
      nodes: [node('MatMul', ['x', 'w'], ['y'])],
      inputs: [port('x', ['N', 6])],
      outputs: [port('y', ['N', 1])],
      initializers: [elsewhere('w', [6, 1], 'w.data')],
    });
    const weights = blob(new Uint8Array(Float32Array.of(1, 0, 0, 0, 0, 0).buffer));
    const tiny = [{ model: 'split.onnx', files: { 'split.onnx': blob(split), 'w.data': weights } }];
    const request = { reference: video, distorted: video, raw: RAW };
    const pair = await score(request, { models: [], threads: 0, tiny });
    const [first] = pair.frames;
    expect(first?.metrics.vmaf_tiny_model).toBeCloseTo(first?.metrics.integer_adm2 ?? Number.NaN, 6);
  });

  it('give no access to other files or built-in models', async () => {
    const files = { 'a.onnx': blob(linear([1], 0)) };
    for (const name of ['package.json', 'fr_vmaf_v0.6.1', 'toString', '../a.onnx'])
      await expect(describeTinyModel(name, { files })).rejects.toThrow(
        `has no file ${name} in the given files`,
      );
  });

  it('must be files within the size limit', async () => {
    const asked = (files: unknown) =>
      score(
        { distorted: video, raw: RAW },
        // As from a caller without types.
        { noReference: true, tiny: [{ model: 'a.onnx', files: files as Record<string, Blob> }] },
      );
    await expect(asked({ 'a.onnx': 'text' })).rejects.toThrow('tiny[0].files is an object, but it must be');
    await expect(asked(null)).rejects.toThrow('tiny[0].files is null');
    const large = {
      'a.onnx': blob(linear([1, 2, 3, 4, 5, 6], 0)),
      'a.json': new Blob([new Uint8Array(2 ** 21)]),
    };
    await expect(describeTinyModel('a.onnx', { files: large })).rejects.toThrow('a.json has 2097152 bytes');
  });
});
