/**
 * @module test/wasm/further-twins
 * The functions of CAMBI and SpEED in the core's table in both columns, portable C and SIMD128, on random and extreme
 * input: equal to the last bit. What takes whole structures (contrast, CIEDE2000, PSNR-HVS) is compared metric by metric.
 */
import { describe, it } from 'vitest';
import { type SeededRandom, seeded } from '../support/random.js';
import { compare, halves, longs, put, SEED, take, WIDTHS, words } from './harness.js';

const SLACK = 64;

/** Samples of ten bits with runs of equal ones, as banding has them. */
function banded(random: SeededRandom, n: number, top = 1023): Uint16Array {
  const steps = random.pick([1, 2, 5, 40]);
  let level = random.int(0, top);
  return Uint16Array.from({ length: n }, () => {
    if (random.int(0, steps) === 0) level = Math.min(top, Math.max(0, level + random.int(-3, 3)));
    return random.int(0, 60) === 0 ? random.int(0, top) : level;
  });
}

describe(`twins of the core's further functions (seed ${SEED})`, () => {
  it('cambi_load, all depths and lengths', () => {
    const random = seeded(SEED + 61);
    for (const n of WIDTHS) {
      for (const depth of [8, 9, 10, 12, 14, 16]) {
        const top = 2 ** depth - 1;
        const samples = banded(random, n, top);
        // A sample beyond the depth is found wherever it is.
        if (depth > 8 && depth < 16 && random.int(0, 2) === 0) samples[random.int(0, n - 1)] = top + 1;
        const source = depth > 8 ? samples : Uint8Array.from(samples);
        compare('cambi_load', `${n} samples of ${depth} bit`, (twin) => {
          const to = take(2 * n + SLACK);
          const outside = Number(twin(put(source, SLACK), n, depth, to)) !== 0;
          return outside ? outside : halves(to, n);
        });
      }
    }
  });

  it('cambi_blur, with and without a row below', () => {
    const random = seeded(SEED + 62);
    for (const n of WIDTHS) {
      for (const last of [false, true]) {
        const [row, below] = [banded(random, n), banded(random, n)];
        compare('cambi_blur', `${n} samples, last ${last}`, (twin) => {
          const at = put(row, SLACK);
          twin(at, last ? 0 : put(below, SLACK), n);
          return halves(at, n);
        });
      }
    }
  });

  it('cambi_mask and cambi_mode, all widths', () => {
    const random = seeded(SEED + 63);
    for (const width of WIDTHS) {
      const height = random.int(1, 20);
      const image = banded(random, width * height);
      const threshold = random.int(0, 48);
      compare('cambi_mask', `${width}x${height}, threshold ${threshold}`, (twin) => {
        const mask = take(width * height + SLACK);
        twin(put(image, SLACK), width, height, threshold, take(64 * (width + 64)), mask);
        return words(mask, (width * height) >> 2);
      });
      compare('cambi_mode', `${width}x${height}`, (twin) => {
        const at = put(image, SLACK);
        twin(at, width, height, take(8 * (width + 64)));
        return halves(at, width * height);
      });
    }
  });

  it('speed_products, any number of rows', () => {
    const random = seeded(SEED + 64);
    for (const count of [1, 2, 3, 16, 17, 100, 1456]) {
      const rows = new Float64Array(28 * count);
      for (let i = 0; i < rows.length; i++)
        if (i % 28 < 25) rows[i] = random.int(-(2 ** 30), 2 ** 30) / 2 ** random.int(10, 40);
      compare('speed_products', `${count} rows`, (twin) => {
        const products = take(25 * 28 * 8);
        twin(put(new Float32Array(rows.buffer), SLACK), count, products);
        const all = longs(products, 25 * 28);
        // What lies below the diagonal, and behind the 25, is nobody's.
        return Array.from({ length: 25 }, (_, i) => all.slice(28 * i + i, 28 * i + 25));
      });
    }
  });
});
