/**
 * @module test/unit/wasm/float-twins
 * The floating-point functions of the core's table in both columns, portable C and SIMD128, on random and extreme input:
 * equal to the last bit.
 */
import { describe, it } from 'vitest';
import { type SeededRandom, seeded } from '../../support/random.js';
import { compare, longs, pointers, put, SEED, take, WIDTHS, words } from '../../support/wasm.js';

/** Bytes behind a row that vectors may read and write. */
const SLACK = 64;

const KINDS = ['levels', 'fractions', 'flat', 'binary', 'tiny'] as const;

/** A row of samples as the metrics see them, offset by -128 or not. */
function samples(random: SeededRandom, n: number, kind = random.pick(KINDS)): Float32Array {
  const level = random.int(-128, 255);
  return Float32Array.from({ length: n }, () => {
    if (kind === 'levels') return random.int(-128, 255);
    if (kind === 'fractions') return random.int(-32768, 65280) / 256;
    if (kind === 'binary') return random.int(0, 1) * 255;
    if (kind === 'tiny') return random.int(-8, 8) * 2 ** -random.int(10, 60);
    return level;
  });
}

/** A row near another one, the same, or unrelated. */
function alike(random: SeededRandom, row: Float32Array): Float32Array {
  const way = random.int(0, 4);
  if (way === 0) return row.slice();
  if (way === 1) return samples(random, row.length);
  return row.map((v) => v * (way === 2 ? 1 : 1.25) + random.int(-3, 3));
}

/** Copies a row into the module, with room before and behind it. */
const row = (values: Float32Array): number => put(values, SLACK);
const rows = (list: readonly Float32Array[]): number => pointers(list.map(row));
/** Room for n results each. */
const outputs = (count: number, n: number): number[] =>
  Array.from({ length: count }, () => take(4 * n + 2 * SLACK));
const taps = (random: SeededRandom, n: number): Float32Array =>
  Float32Array.from({ length: n }, () => random.int(1, 1000) / (500 * n));
const doubles = (values: readonly number[]): number => put(new Uint8Array(new Float64Array(values).buffer));

describe(`twins of the core's floating-point functions (seed ${SEED})`, () => {
  it('float_columns and float_row, all widths', () => {
    const random = seeded(SEED + 20);
    for (const width of WIDTHS) {
      const n = random.pick([1, 3, 5, 9, 17, 33, 65]);
      const window = Array.from({ length: n }, () => samples(random, width));
      const long = samples(random, width + n - 1);
      const weights = taps(random, n);
      compare('float_columns', `${width} columns ${n} taps`, (twin) => {
        const [out = 0] = outputs(1, width);
        twin(rows(window), put(weights), n, width, out);
        return words(out, width);
      });
      compare('float_row', `${width} columns ${n} taps`, (twin) => {
        const [out = 0] = outputs(1, width);
        twin(row(long), put(weights), n, width, out);
        return words(out, width);
      });
    }
  });

  it('float_vif_columns, all widths', () => {
    const random = seeded(SEED + 21);
    for (const width of WIDTHS) {
      const n = random.pick([3, 5, 9, 17, 65]);
      const a = Array.from({ length: n }, () => samples(random, width));
      const b = a.map((r) => alike(random, r));
      const weights = taps(random, n);
      compare('float_vif_columns', `${width} columns ${n} taps`, (twin) => {
        const outs = outputs(5, width);
        twin(rows(a), rows(b), put(weights), n, width, pointers(outs));
        return outs.map((out) => words(out, width));
      });
    }
  });

  it('float_vif_terms, all widths, gain limits and noises', () => {
    const random = seeded(SEED + 22);
    for (const width of WIDTHS) {
      for (const [nsq, limit] of [
        [2, 100],
        [2, 1],
        [0.3, 1.1],
        [5, 1.7],
      ] as const) {
        const a = samples(random, width);
        const b = alike(random, a);
        // Signals as filters give them: second moments near or above the squares of the means.
        const spread = () => random.pick([0, 0, 1e-11, 0.5, 3, 900]);
        const signals = [
          a,
          b,
          a.map((v) => v * v + spread()),
          b.map((v) => v * v + spread()),
          a.map((v, i) => v * (b[i] ?? 0) + spread() * random.pick([-1, 1, 1])),
        ];
        compare('float_vif_terms', `${width} columns nsq ${nsq} limit ${limit}`, (twin) => {
          // The struct: two doubles and a float.
          const noise = put(
            new Uint8Array([
              ...new Uint8Array(new Float64Array([nsq, limit]).buffer),
              ...new Uint8Array(new Float32Array([(nsq * nsq) / 65025, 0]).buffer),
            ]),
          );
          const [num = 0, den = 0] = outputs(2, width);
          twin(rows(signals), width, noise, num, den);
          return [words(num, width), words(den, width)];
        });
      }
    }
  });

  it('float_adm_wavelet, all widths', () => {
    const random = seeded(SEED + 23);
    for (const width of WIDTHS.filter((w) => w > 1)) {
      const n = (width + 1) >> 1;
      const source = Array.from({ length: 4 }, () => samples(random, width));
      compare('float_adm_wavelet', `${width} columns`, (twin) => {
        const bands = outputs(4, n);
        twin(rows(source), width, take(8 * width + 256), pointers(bands));
        return bands.map((band) => words(band, n));
      });
    }
  });

  it('float_adm_decouple, all widths and gain limits', () => {
    const random = seeded(SEED + 24);
    for (const n of WIDTHS) {
      for (const gain of [1, 1.1, 1.2, 2, 100]) {
        const o = [0, 1, 2].map(() => samples(random, n));
        const t = o.map((band) => alike(random, band));
        compare('float_adm_decouple', `${n} columns gain ${gain}`, (twin) => {
          const outs = [outputs(3, n), outputs(3, n)];
          twin(rows(o), rows(t), n, gain, ...outs.map((list) => pointers(list)));
          return outs.flat().map((out) => words(out, n));
        });
      }
    }
  });

  it('float_adm_mask and float_adm_powers, all widths and exponents', () => {
    const random = seeded(SEED + 25);
    for (const n of WIDTHS) {
      const band = samples(random, n);
      const factor = random.int(1, 5000) / 3000;
      compare('float_adm_mask', `${n} columns factor ${factor}`, (twin) => {
        const [centre = 0, neighbour = 0] = outputs(2, n);
        twin(row(band), n, factor, centre, neighbour);
        return [words(centre, n), words(neighbour, n)];
      });
      for (const p of [3, 2, 4.5]) {
        compare('float_adm_powers', `${n} columns factor ${factor} p ${p}`, (twin) => {
          const [out = 0] = outputs(1, n);
          twin(row(band), n, factor, p, out);
          return words(out, n);
        });
      }
    }
  });

  it('float_adm_contrast, all widths, with and without masks', () => {
    const random = seeded(SEED + 26);
    for (const n of WIDTHS) {
      const signal = [0, 1, 2].map(() => samples(random, n));
      const size = random.pick([0, 0.001, 0.05, 3]);
      const mask = (length: number) => Float32Array.from({ length }, () => (size * random.int(0, 999)) / 999);
      const masks = [0, 1, 2].map(() => [mask(n + 2), mask(n + 2), mask(n + 2), mask(n)]);
      const factors = new Float32Array([random.int(1, 999) / 999, random.int(1, 999) / 999]);
      for (const p of [3, 2.5]) {
        for (const masked of [true, false]) {
          compare('float_adm_contrast', `${n} columns p ${p} masks ${masked} up to ${size}`, (twin) => {
            const at = masks.flatMap((band) => band.map((r, i) => row(r) + (i < 3 ? 4 : 0)));
            const outs = outputs(3, n);
            twin(rows(signal), n, put(factors), masked ? pointers(at) : 0, p, pointers(outs));
            return outs.map((out) => words(out, n));
          });
        }
      }
    }
  });

  it('ssim_rows and ssim_terms, all widths', () => {
    const random = seeded(SEED + 27);
    for (const n of WIDTHS) {
      const a = samples(random, n + 10);
      const b = alike(random, a);
      compare('ssim_rows', `${n} columns`, (twin) => {
        const outs = outputs(5, n);
        twin(row(a), row(b), n, pointers(outs));
        return outs.map((out) => words(out, n));
      });
      const lines = Array.from({ length: 11 }, () => samples(random, n));
      const others = lines.map((line) => alike(random, line));
      const product = (x: readonly Float32Array[], y: readonly Float32Array[]) =>
        x.map((line, k) => line.map((v, i) => v * (y[k]?.[i] ?? 0)));
      const signals = [lines, others, product(lines, lines), product(others, others), product(lines, others)];
      compare('ssim_terms', `${n} columns`, (twin) => {
        const sums = doubles([1, 2, 3, 4]);
        twin(pointers(signals.map(rows)), n, sums);
        return longs(sums, 4);
      });
    }
  });

  it('ssim_halve, all widths', () => {
    const random = seeded(SEED + 28);
    for (const n of WIDTHS) {
      const window = Array.from({ length: 9 }, () => samples(random, 2 * n + 8));
      compare('ssim_halve', `${n} columns`, (twin) => {
        const [out = 0] = outputs(1, n);
        twin(rows(window), n, out);
        return words(out, n);
      });
    }
  });
});
