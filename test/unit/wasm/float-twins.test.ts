/**
 * @module test/unit/wasm/float-twins
 * The floating-point functions of the core's table, and those of CAMBI, PSNR-HVS, CIEDE2000 and SpEED, in both columns,
 * portable C and SIMD128, on random and extreme input: equal to the last bit.
 */
import { describe, it } from 'vitest';
import { type SeededRandom, seeded } from '../../support/random.js';
import {
  compare,
  halves,
  longs,
  native,
  overWidths,
  pointers,
  put,
  SEED,
  some,
  take,
  WIDTHS,
  words,
} from '../../support/wasm.js';

/** Bytes behind a row that vectors may read and write. */
const SLACK = 64;

/** Noises of VIF with gain limits. */
const NOISES = [
  [2, 100],
  [2, 1],
  [0.3, 1.1],
  [5, 1.7],
] as const;

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

/** Integer samples: of every value, mostly extreme ones, or hardly different from each other. */
function levels(random: SeededRandom, n: number, top: number): Uint8Array | Uint16Array {
  const kind = random.int(0, 2);
  const level = random.int(0, top);
  const sample = () => {
    if (kind === 0) return random.int(0, top);
    if (kind === 1) return random.int(0, 1) * top;
    return Math.min(top, level + random.int(0, 3));
  };
  return top > 255 ? Uint16Array.from({ length: n }, sample) : Uint8Array.from({ length: n }, sample);
}

describe(`twins of the floating-point metrics (seed ${SEED})`, () => {
  overWidths('float_columns and float_row, all widths', { seed: 20, from: 1 }, (random, width) => {
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
  });

  overWidths('float_vif_columns, all widths', { seed: 21, from: 1 }, (random, width) => {
    const n = random.pick([3, 5, 9, 17, 65]);
    const a = Array.from({ length: n }, () => samples(random, width));
    const b = a.map((r) => alike(random, r));
    const weights = taps(random, n);
    compare('float_vif_columns', `${width} columns ${n} taps`, (twin) => {
      const outs = outputs(5, width);
      twin(rows(a), rows(b), put(weights), n, width, pointers(outs));
      return outs.map((out) => words(out, width));
    });
  });

  overWidths('float_vif_terms, all widths, limits and noises', { seed: 22, from: 1 }, (random, width) => {
    for (const [nsq, limit] of some(NOISES, width)) {
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
        const struct = Float64Array.of(nsq, limit, 0);
        new Float32Array(struct.buffer)[4] = (nsq * nsq) / 65025;
        const noise = put(new Uint8Array(struct.buffer));
        const [num = 0, den = 0] = outputs(2, width);
        twin(rows(signals), width, noise, num, den);
        return [words(num, width), words(den, width)];
      });
    }
  });

  overWidths('float_adm_wavelet, all widths', { seed: 23, from: 2 }, (random, width) => {
    const n = (width + 1) >> 1;
    const source = Array.from({ length: 4 }, () => samples(random, width));
    compare('float_adm_wavelet', `${width} columns`, (twin) => {
      const bands = outputs(4, n);
      twin(rows(source), width, take(8 * width + 256), pointers(bands));
      return bands.map((band) => words(band, n));
    });
  });

  overWidths('float_adm_decouple, all widths and gain limits', { seed: 24, from: 1 }, (random, n) => {
    for (const gain of some([1, 1.1, 1.2, 2, 100], n)) {
      const o = [0, 1, 2].map(() => samples(random, n));
      const t = o.map((band) => alike(random, band));
      compare('float_adm_decouple', `${n} columns gain ${gain}`, (twin) => {
        const outs = [outputs(3, n), outputs(3, n)];
        twin(rows(o), rows(t), n, gain, ...outs.map((list) => pointers(list)));
        return outs.flat().map((out) => words(out, n));
      });
    }
  });

  overWidths('float_adm_mask and float_adm_powers, all widths', { seed: 25, from: 1 }, (random, n) => {
    const band = samples(random, n);
    const factor = random.int(1, 5000) / 3000;
    compare('float_adm_mask', `${n} columns factor ${factor}`, (twin) => {
      const [centre = 0, neighbour = 0] = outputs(2, n);
      twin(row(band), n, factor, centre, neighbour);
      return [words(centre, n), words(neighbour, n)];
    });
    for (const p of [3, 2, 4.5])
      compare('float_adm_powers', `${n} columns factor ${factor} p ${p}`, (twin) => {
        const [out = 0] = outputs(1, n);
        twin(row(band), n, factor, p, out);
        return words(out, n);
      });
  });

  overWidths('float_adm_contrast, all widths, with and without masks', { seed: 26, from: 1 }, (random, n) => {
    const signal = [0, 1, 2].map(() => samples(random, n));
    const size = random.pick([0, 0.001, 0.05, 3]);
    const mask = (length: number) => Float32Array.from({ length }, () => (size * random.int(0, 999)) / 999);
    const masks = [0, 1, 2].map(() => [mask(n + 2), mask(n + 2), mask(n + 2), mask(n)]);
    const factors = new Float32Array([random.int(1, 999) / 999, random.int(1, 999) / 999]);
    for (const p of [3, 2.5])
      for (const masked of [true, false])
        compare('float_adm_contrast', `${n} columns p ${p} masks ${masked} up to ${size}`, (twin) => {
          const at = masks.flatMap((band) => band.map((r, i) => row(r) + (i < 3 ? 4 : 0)));
          const outs = outputs(3, n);
          twin(rows(signal), n, put(factors), masked ? pointers(at) : 0, p, pointers(outs));
          return outs.map((out) => words(out, n));
        });
  });

  overWidths('ssim_rows and ssim_terms, all widths', { seed: 27, from: 1 }, (random, n) => {
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
  });

  overWidths('ssim_halve, all widths', { seed: 28, from: 1 }, (random, n) => {
    const window = Array.from({ length: 9 }, () => samples(random, 2 * n + 8));
    compare('ssim_halve', `${n} columns`, (twin) => {
      const [out = 0] = outputs(1, n);
      twin(rows(window), n, out);
      return words(out, n);
    });
  });
});

describe(`twins of CAMBI, PSNR-HVS, CIEDE2000 and SpEED (seed ${SEED})`, () => {
  overWidths('cambi_load, all depths and lengths', { seed: 61, from: 1 }, (random, n) => {
    for (const depth of some([8, 9, 10, 12, 14, 16], n)) {
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
  });

  overWidths('cambi_blur, with and without a row below', { seed: 62, from: 1 }, (random, n) => {
    for (const last of [false, true]) {
      const [row, below] = [banded(random, n), banded(random, n)];
      compare('cambi_blur', `${n} samples, last ${last}`, (twin) => {
        const at = put(row, SLACK);
        twin(at, last ? 0 : put(below, SLACK), n);
        return halves(at, n);
      });
    }
  });

  overWidths('cambi_mask and cambi_mode, all widths', { seed: 63, from: 1 }, (random, width) => {
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
      // Levels of the picture, because others make no contrast with it.
      const levels = Uint16Array.from(
        { length: height * 32 },
        () => image[random.int(0, image.length - 1)] ?? 0,
      );
      const left = { image: levels, mask: random.bytes(height * 32).map((v) => v & 1) };
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
      for (const depth of some([8, 9, 10, 12], width)) {
        const top = 2 ** depth - 1;
        const plane = random.int(0, 2);
        native('hvs_build_tables')(plane, tables);
        const reference = levels(random, width * height, top);
        const distorted = random.int(0, 1) === 0 ? reference : levels(random, width * height, top);
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
      // Half of them are nearly grey: hues of colours that hardly have one.
      const grey = random.int(0, 1) === 1;
      const nearly = (n: number) => levels(random, n, top).map(() => Math.floor(top / 2) + random.int(0, 2));
      const planes = () =>
        [width, chromaWidth, chromaWidth].map((n, i) => (i > 0 && grey ? nearly(n) : levels(random, n, top)));
      const reference = planes();
      const distorted = random.int(0, 3) === 0 ? reference : planes();
      compare('ciede_row', `${width} samples of ${depth} bit, halved ${halved}`, (twin) => {
        const format = pointers([width, chromaWidth, depth, halved]);
        const at = (rows: typeof reference) => pointers(rows.map((samples) => put(samples, SLACK)));
        const [a, b] = [at(reference), at(distorted)] as const;
        const differences = take(4 * width + SLACK);
        twin(a, b, format, tables, differences);
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
