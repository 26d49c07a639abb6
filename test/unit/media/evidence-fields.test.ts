/**
 * @module test/unit/media/evidence-fields
 * What luma says of fields (src/media/evidence/fields), without any label.
 */
import { describe, expect, it } from 'vitest';
import {
  deinterlacer,
  deinterlacing,
  type FieldEvidence,
  FieldMeter,
  judgeFields,
} from '../../../src/media/evidence/fields.js';

const [WIDTH, HEIGHT] = [160, 98];

/** A sample of a scene at a time, in frames. */
type Scene = (x: number, y: number, time: number) => number;
/** When the two fields of frame n were taken. */
type Scan = (n: number) => readonly [top: number, bottom: number];

const progressive: Scan = (n) => [n, n];
const topFirst: Scan = (n) => [n, n + 0.5];
const bottomFirst: Scan = (n) => [n + 0.5, n];
/** Film: of each four pictures, the second and the fourth give three fields. */
const pulldown: Scan = (n) => {
  const [top, bottom] = [[0, 1, 1, 2, 3] as const, [0, 1, 2, 3, 3] as const];
  return [4 * Math.floor(n / 5) + (top[n % 5] ?? 0), 4 * Math.floor(n / 5) + (bottom[n % 5] ?? 0)];
};

const wave = (place: number, period: number) => Math.sin((2 * Math.PI * place) / period);
/** Squares and waves that move to the right by some samples a frame. */
const moving =
  (speed: number): Scene =>
  (x, y, time) => {
    const at = x - speed * time;
    return 120 + 50 * wave(at, 23) + 30 * Math.sign(wave(at, 37) * wave(y, 41)) + 15 * wave(y, 19);
  };
/** The same value for the same place. */
const random = (x: number, y: number, time: number) => {
  const sine = Math.sin(x * 12.9898 + y * 78.233 + time * 37.719) * 43758.5453;
  return 255 * (sine - Math.floor(sine));
};
/** Small waves that move upwards. */
const upwards: Scene = (x, y, time) => 120 + 50 * wave(x + y + 2 * time, 9) + 40 * wave(x, 5);
const rising: Scene = (x, y, time) => moving(3)(y + 0.3 * x, x, time);

function seen(scene: Scene, scan: Scan = progressive, bitDepth = 8, swap = false): FieldEvidence | undefined {
  const meter = new FieldMeter({ width: WIDTH, height: HEIGHT, bitDepth });
  const bytes = bitDepth > 8 ? 2 : 1;
  for (let n = 0; n < 16; n++) {
    const luma = new Uint8Array(WIDTH * HEIGHT * bytes);
    const view = new DataView(luma.buffer);
    for (let y = 0; y < HEIGHT; y++) {
      const row = swap ? y ^ 1 : y;
      const time = scan(n)[row % 2] ?? 0;
      for (let x = 0; x < WIDTH; x++) {
        const value = Math.round(scene(x, row, time)) * 2 ** (bitDepth - 8);
        if (bytes === 2) view.setUint16(2 * (y * WIDTH + x), value, true);
        else luma[y * WIDTH + x] = value;
      }
    }
    meter.add(n, luma);
  }
  return judgeFields(meter.steps);
}

describe('fields of pictures', () => {
  it.each<[string, Scene, Scan, FieldEvidence | undefined]>([
    ['progressive motion', moving(4), progressive, { kind: 'progressive' }],
    ['motion upwards', rising, progressive, { kind: 'progressive' }],
    ['noise that changes', random, progressive, { kind: 'progressive' }],
    [
      'thin lines that do not move, beside motion',
      (x, y, t) => (x < 80 ? 255 * (y % 2) : moving(4)(x, y, t)),
      progressive,
      { kind: 'progressive' },
    ],
    [
      'lines of one sample that brighten',
      (x, y, t) => (y % 2) * (60 + 10 * t + (x % 7)),
      progressive,
      { kind: 'progressive' },
    ],
    [
      'stripes of two samples that move upwards',
      (x, y, t) => 128 + 100 * Math.sign(wave(y + t, 4)) + (x % 3),
      progressive,
      undefined,
    ],
    ['a still picture', (x, y) => moving(0)(x, y, 0), topFirst, undefined],
    ['still thin lines', (_, y) => 255 * (y % 2), topFirst, undefined],
    ['top first', moving(6), topFirst, { kind: 'woven', first: 'top-first' }],
    ['bottom first', moving(6), bottomFirst, { kind: 'woven', first: 'bottom-first' }],
    ['bottom first, slower', moving(3), bottomFirst, { kind: 'woven', first: 'bottom-first' }],
    ['as much motion upwards as from field to field', upwards, topFirst, undefined],
    ['the same of whole pictures', upwards, progressive, { kind: 'progressive' }],
    ['film with pulldown', moving(4), pulldown, { kind: 'pulldown', first: 'top-first' }],
  ])('are judged without a label: %s', (_, scene, scan, expected) => {
    expect(seen(scene, scan)).toEqual(expected);
    expect(seen(scene, scan, 10)).toEqual(expected);
  });

  it('are not judged from an order without combs, as patterns of whole pictures have it', () => {
    const step = { moves: true, combed: 0, order: 0.37, exchanged: 1.1 };
    const steps = Array.from({ length: 10 }, (_, frame) => ({ frame, ...step }));
    expect(judgeFields(steps)).toBeUndefined();
    expect(judgeFields(steps.map((one) => ({ ...one, combed: 0.02 })))?.kind).toBe('woven');
  });

  it.each<[string, readonly [combed: number, orders: readonly number[]], FieldEvidence | undefined]>([
    ['without any', [0, [0.03, -0.03]], { kind: 'woven', first: 'top-first' }],
    ['with nearly as many', [0.08, [0.03, -0.03]], undefined],
    ['that moves so that its pictures tell the same order', [0, [0.3, 0.28]], undefined],
  ])('are told from some combs beside the same content %s', (_, [combed, orders], expected) => {
    const steps = (combs: number, [even = 0, odd = 0]: readonly number[]) =>
      Array.from({ length: 10 }, (__, frame) => {
        return { frame, moves: true, combed: combs, order: frame % 2 === 0 ? even : odd, exchanged: 1.1 };
      });
    for (const combs of [0.01, 0.15]) {
      const mine = steps(combs, [0.32, 0.24]);
      expect(judgeFields(mine)).toBeUndefined();
      expect(judgeFields(mine, steps((combed * combs) / 0.15, orders))).toEqual(expected);
    }
    expect(judgeFields(steps(0.15, [0.9, -0.3]).slice(0, 4), steps(combed, orders))?.first).toBeUndefined();
  });

  it("are seen in each other's place", () => {
    const fine: Scene = (x, y, t) => moving(4)(x, y, t) + 25 * wave(y, 7);
    expect(seen(fine)).toEqual({ kind: 'progressive' });
    expect(seen(fine, progressive, 8, true)).toEqual({ kind: 'exchanged' });
  });

  it('are not judged from pictures of a few lines', () => {
    const meter = new FieldMeter({ width: 64, height: 12, bitDepth: 8 });
    for (let n = 0; n < 8; n++) meter.add(n, new Uint8Array(64 * 12).fill(20 * n));
    expect(judgeFields(meter.steps)).toBeUndefined();
  });

  it.each([
    ['top-first', { kind: 'woven', first: 'top-first' }, 'bwdif=mode=send_frame'],
    ['top-first', undefined, 'bwdif=mode=send_frame'],
    ['top-first', { kind: 'progressive' }, 'bwdif=mode=send_frame'],
    ['top-first', { kind: 'woven', first: 'bottom-first' }, 'bwdif=mode=send_frame:parity=bff'],
    ['unknown', { kind: 'woven', first: 'top-first' }, 'bwdif=mode=send_frame:parity=tff'],
    ['progressive', { kind: 'woven' }, 'bwdif=mode=send_frame'],
    ['progressive', { kind: 'progressive' }, undefined],
    [undefined, undefined, undefined],
  ] as const)(
    'labelled %s are made whole by the pictures where these tell otherwise',
    (label, evidence, filter) => {
      const how = deinterlacing(label, evidence);
      expect(how && deinterlacer(how)).toBe(filter);
    },
  );
});
