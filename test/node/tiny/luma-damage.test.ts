/**
 * @module test/node/tiny/luma-damage
 * The regressor of VMAF v1 that ships, on video in colour whose luma alone is damaged: chroma that compares as untouched
 * beside luma that does not. That
 * chroma is bit for bit the reference's gives a distortion of 0.00001 or so, and of grey pictures exactly 0.
 */
import { describe, expect, it } from 'vitest';
import { score } from '../../../src/index.js';
import { seeded } from '../../support/random.js';
import { needsShared, sharedPath } from '../../support/shared.js';

const TEACHER = 'vmaf_v1.0.16_3d0h';
const teacher = sharedPath(`models/vmaf_v1.0.16/${TEACHER}.json`);
const [WIDTH, HEIGHT, FRAMES] = [640, 360, 2];
const LUMA = WIDTH * HEIGHT;
const SIZE = (LUMA * 3) / 2;
const RAW = { width: WIDTH, height: HEIGHT, bitDepth: 8, chroma: '420' } as const;

/** A picture in colour that moves: tiles of several tones and hues under waves, with grain. */
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

/** The clip with every luma sample changed, chroma as it was. */
function damaged(clip: Uint8Array, change: (luma: Uint8Array, at: number) => number): Uint8Array {
  const result = clip.slice();
  for (let frame = 0; frame < FRAMES; frame++) {
    const luma = clip.subarray(frame * SIZE, frame * SIZE + LUMA);
    for (let at = 0; at < LUMA; at++)
      result[frame * SIZE + at] = Math.max(0, Math.min(255, Math.round(change(luma, at))));
  }
  return result;
}

function blurred(reach: number): (luma: Uint8Array, at: number) => number {
  return (luma, at) => {
    const [x, y] = [at % WIDTH, Math.floor(at / WIDTH)];
    let sum = 0;
    for (let v = y - reach; v <= y + reach; v++) {
      const row = Math.max(0, Math.min(HEIGHT - 1, v)) * WIDTH;
      for (let u = x - reach; u <= x + reach; u++)
        sum += luma[row + Math.max(0, Math.min(WIDTH - 1, u))] ?? 0;
    }
    return sum / (2 * reach + 1) ** 2;
  };
}

/** With a few chroma samples a level off. */
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

/** Without colour: the distortion of chroma is exactly 0, which the teacher takes for missing. */
function grey(clip: Uint8Array): Uint8Array {
  return clip.map((value, i) => (i % SIZE < LUMA ? value : 128));
}

const noise = seeded(22);
const reference = source();
const weak = damaged(reference, blurred(1));
const strong = damaged(reference, blurred(3));
const dull = damaged(reference, (luma, at) => 0.5 * (luma[at] ?? 0) + 60);
/** Each damage with the score that the teacher gives its frames, as libvmaf's arithmetic computes it here. */
const DAMAGES: readonly (readonly [string, Uint8Array, Uint8Array, readonly number[]])[] = [
  ['a weak blur', reference, weak, [87.35391, 87.71992]],
  ['a strong blur', reference, strong, [49.70119, 49.66388]],
  ['a blur that leaves little', reference, damaged(reference, blurred(8)), [0, 0]],
  [
    'steps of 24 levels',
    reference,
    damaged(reference, (luma, at) => 24 * Math.round((luma[at] ?? 0) / 24)),
    [94.27049, 95.51233],
  ],
  ['less contrast', reference, dull, [24.98757, 24.78073]],
  [
    'noise',
    reference,
    damaged(reference, (luma, at) => (luma[at] ?? 0) + noise.int(-30, 30)),
    [88.55346, 89.43332],
  ],
  ['a strong blur, chroma all but untouched', reference, touched(strong), [49.67265, 49.65518]],
  ['a strong blur of the clip in grey', grey(reference), grey(strong), [30.68874, 30.6438]],
  ['less contrast of the clip in grey', grey(reference), grey(dull), [3.28231, 3.07642]],
];
/** What the regressor may be off, in points. */
const TOLERANCE = 1;

describe.each(DAMAGES)('luma alone: %s', (_, clip, distorted, expected) => {
  it('scores within a point of what VMAF v1 gives', async () => {
    const report = await score(
      { reference: clip, distorted, raw: RAW },
      { models: [], threads: 0, tiny: [{ model: `fr_${TEACHER}` }] },
    );
    const scores = report.frames.map(({ metrics }) => metrics[`tiny_${TEACHER}`] ?? Number.NaN);
    expect(scores).toHaveLength(expected.length);
    for (const [frame, wanted] of expected.entries())
      expect(Math.abs((scores[frame] ?? Number.NaN) - wanted), `${scores}`).toBeLessThan(TOLERANCE);
  });

  it.skipIf(!teacher)(`is what the teacher gives now (${needsShared})`, async () => {
    const report = await score(
      { reference: clip, distorted, raw: RAW },
      { models: [`path=${teacher}:name=v1`], threads: 0 },
    );
    for (const [frame, wanted] of expected.entries())
      expect(report.frames[frame]?.metrics.v1).toBeCloseTo(wanted, 4);
  });
});
