/**
 * @module test/node/tiny/shipped
 * The no-reference model that ships: what its figures claim, and that it runs and tells sharp from blurred.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { score } from '../../../src/index.js';
import { seeded } from '../../support/random.js';

const NAME = 'nr_vmaf_v0.6.1';
const FOLDER = new URL('../../../model/tiny', import.meta.url);

interface Figures {
  readonly n: number;
  readonly plcc: number;
  readonly srocc: number;
  readonly rmse: number;
}
type Sets = Readonly<
  Record<'test' | 'unseen', { readonly pooled: Figures; readonly sources: Readonly<Record<string, Figures>> }>
>;
const figures: { model: Sets; baseline: Sets } = JSON.parse(
  readFileSync(fileURLToPath(new URL(`${NAME}.figures.json`, FOLDER)), 'utf8'),
);

describe.each(['test', 'unseen'] as const)('on the sources of %s', (set) => {
  const [model, baseline] = [figures.model[set], figures.baseline[set]];

  it('it beats statistics of blur and blockiness, all pictures together', () => {
    expect(model.pooled.plcc).toBeGreaterThan(baseline.pooled.plcc);
    expect(model.pooled.srocc).toBeGreaterThan(baseline.pooled.srocc);
    expect(model.pooled.rmse).toBeLessThan(baseline.pooled.rmse);
  });

  it('it does in the mean of sources', () => {
    const mean = (sets: typeof model, key: 'plcc' | 'srocc' | 'rmse'): number => {
      const each = Object.values(sets.sources);
      return each.reduce((sum, row) => sum + row[key], 0) / each.length;
    };
    expect(mean(model, 'plcc')).toBeGreaterThan(mean(baseline, 'plcc'));
    expect(mean(model, 'srocc')).toBeGreaterThan(mean(baseline, 'srocc'));
    expect(mean(model, 'rmse')).toBeLessThan(mean(baseline, 'rmse'));
  });

  it('its card says so', () => {
    const card = readFileSync(fileURLToPath(new URL(`${NAME}.md`, FOLDER)), 'utf8');
    const row = [model.pooled, baseline.pooled].flatMap(({ plcc, srocc, rmse }) => [plcc, srocc, rmse]);
    expect(card).toContain(`| **together** | ${[model.pooled.n, ...row].join(' | ')} |`);
  });
});

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

/** Each pixel the mean of `2 * reach + 1` pixels a side around it. */
function blurred(luma: Uint8Array, reach: number): Uint8Array {
  return luma.map((_, i) => {
    const [cx, cy] = [i % WIDTH, Math.floor(i / WIDTH)];
    let sum = 0;
    for (let dy = -reach; dy <= reach; dy++) {
      for (let dx = -reach; dx <= reach; dx++) {
        const x = Math.min(WIDTH - 1, Math.max(0, cx + dx));
        const y = Math.min(HEIGHT - 1, Math.max(0, cy + dy));
        sum += luma[y * WIDTH + x] ?? 0;
      }
    }
    return Math.round(sum / (2 * reach + 1) ** 2);
  });
}

describe('the graph', () => {
  it('scores a scene lower when it is blurred, at a size that is no multiple of its cells', async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const sharp = scene(seed);
      const distorted = Buffer.concat([sharp, blurred(sharp, 2), blurred(sharp, 5)]);
      const raw = { width: WIDTH, height: HEIGHT, bitDepth: 8, chroma: '400' } as const;
      const report = await score(
        { distorted, raw },
        { threads: 0, noReference: true, tiny: [{ model: NAME }] },
      );
      const scores = report.frames.map(({ metrics }) => metrics.tiny_nr ?? Number.NaN);
      const said = `seed ${seed}: ${scores.join(', ')}`;
      expect(scores, said).toHaveLength(3);
      expect(Math.max(...scores.slice(1)), said).toBeLessThan(scores[0] ?? Number.NaN);
      expect(Math.max(...scores), said).toBeLessThanOrEqual(100);
      expect(Math.min(...scores), said).toBeGreaterThanOrEqual(0);
    }
  });
});
