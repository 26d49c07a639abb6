/**
 * @module test/unit/wasm/further-twins
 * The functions of CAMBI, PSNR-HVS, CIEDE2000 and SpEED in the core's table in both columns, portable C and SIMD128, on
 * random and extreme input: equal to the last bit.
 */
import { describe, it } from 'vitest';
import { type SeededRandom, seeded } from '../../support/random.js';
import {
  compare,
  halves,
  longs,
  native,
  pointers,
  put,
  SEED,
  take,
  WIDTHS,
  words,
} from '../../support/wasm.js';

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

/** Bytes of the core's CambiSight, HvsTables and CiedeTables. */
const TABLE_BYTES = { sight: 4 * (1 + 32 + 1 + 65 * 65 + 1), hvs: 4 * 128, ciede: 8 * (2 * 544 + 33 + 46) };
const table = (bytes: number): number => Number(native('anyvmaf_alloc')(bytes));

/** A row of samples: of every value, mostly extreme ones, or hardly different from each other. */
function row(random: SeededRandom, n: number, top: number): Uint8Array | Uint16Array {
  const kind = random.int(0, 2);
  const level = random.int(0, top);
  const sample = () => {
    if (kind === 0) return random.int(0, top);
    if (kind === 1) return random.int(0, 1) * top;
    return Math.min(top, level + random.int(0, 3));
  };
  return top > 255 ? Uint16Array.from({ length: n }, sample) : Uint8Array.from({ length: n }, sample);
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

  it('cambi_contrast, row after row, all windows and numbers of contrasts', () => {
    const random = seeded(SEED + 65);
    const sight = table(TABLE_BYTES.sight);
    for (const width of [...WIDTHS.filter((n) => n < 72), 131, 257]) {
      const height = random.int(1, 24);
      const window = 2 * random.int(1, 32) + 1;
      const contrasts = 2 ** random.int(0, 5);
      native('cambi_build_sight')(contrasts, 0.019, random.pick([0, 0.06, 40]), random.int(0, 1), sight);
      const image = banded(random, width * height, random.pick([1024, 300, 70]));
      const share = random.pick([1, 3, 20]);
      const mask = Uint8Array.from(image, () => Number(random.int(0, share) > 0));
      // What larger scales left to the right of a picture that is narrower than half its window.
      const reach = window >> 1;
      const end = width < reach ? random.int(width, reach) : width;
      const left = {
        image: banded(random, height * 32),
        mask: Uint8Array.from(random.bytes(height * 32), (v) => v & 1),
      };
      const about = `${width}x${height}, window ${window}, ${contrasts} contrasts, ${end - width} columns beyond`;
      compare('cambi_contrast', about, (twin) => {
        const counts = take(Number(native('cambi_counts_bytes')(width)));
        const planes = [put(image, SLACK), put(mask, SLACK)];
        const beyond = [put(left.image), put(left.mask), end];
        const field = pointers([...planes, width, height, window, ...beyond, counts]);
        const contrast = take(4 * width + SLACK);
        return Array.from({ length: height }, (_, y) => [
          Number(twin(field, sight, y, contrast)),
          ...words(contrast, width),
        ]);
      });
    }
  });

  it('hvs_sum, all sizes, depths and planes', () => {
    const random = seeded(SEED + 66);
    const tables = table(TABLE_BYTES.hvs);
    for (const width of [...WIDTHS.filter((n) => n >= 8 && n < 72), 131, 257]) {
      const height = random.int(8, 40);
      for (const depth of [8, 9, 10, 12]) {
        const top = 2 ** depth - 1;
        const plane = random.int(0, 2);
        native('hvs_build_tables')(plane, tables);
        const reference = row(random, width * height, top);
        const distorted = random.int(0, 1) === 0 ? reference : row(random, width * height, top);
        const noisy = distorted.map((v) => Math.min(top, Math.max(0, v + random.int(-4, 4))));
        compare('hvs_sum', `${width}x${height}, ${depth} bit, plane ${plane}`, (twin) =>
          twin(put(reference, SLACK), put(noisy, SLACK), width, height, depth, tables),
        );
      }
    }
  });

  it('ciede_row, all widths, depths and layouts of chroma', () => {
    const random = seeded(SEED + 67);
    const tables = table(TABLE_BYTES.ciede);
    native('ciede_build_tables')(tables);
    for (const width of WIDTHS.filter((n) => n < 260)) {
      const depth = random.pick([8, 10, 12, 16]);
      const halved = random.int(0, 1);
      const chromaWidth = halved === 1 ? (width + 1) >> 1 : width;
      const top = 2 ** depth - 1;
      const planes = () => [width, chromaWidth, chromaWidth].map((n) => row(random, n, top));
      const reference = planes();
      const distorted = random.int(0, 3) === 0 ? reference : planes();
      compare('ciede_row', `${width} samples of ${depth} bit, halved ${halved}`, (twin) => {
        const format = pointers([width, chromaWidth, depth, halved]);
        const [a, b] = [reference, distorted].map((rows) =>
          pointers(rows.map((samples) => put(samples, SLACK))),
        );
        const differences = take(4 * width + SLACK);
        twin(a ?? 0, b ?? 0, format, tables, differences);
        return words(differences, width);
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
