/**
 * @module test/unit/wasm/twins
 * The integer functions of the core's table in both columns, portable C and SIMD128, on random and extreme input: equal
 * to the last bit. The functions are called through the module's own table; see wasm/src/dsp.h for their contracts.
 */
import { describe, it } from 'vitest';
import { type SeededRandom, seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';
import {
  compare,
  DEPTHS,
  halves,
  longs,
  memory,
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

const tables = Number(native('anyvmaf_alloc')(65536 + 32768));
native('vif_build_tables')(tables);

const KINDS = ['noise', 'binary', 'smooth', 'flat', 'stripes'] as const;
type Kind = (typeof KINDS)[number];
type Samples = Uint8Array | Uint16Array;

/** A plane of samples below 2^depth. */
function plane(random: SeededRandom, kind: Kind, width: number, height: number, depth: number): Samples {
  const top = 2 ** depth - 1;
  const out = depth > 8 ? new Uint16Array(width * height) : new Uint8Array(width * height);
  const level = random.int(0, top);
  for (let i = 0; i < out.length; i++) {
    const x = i % width;
    const y = (i / width) | 0;
    if (kind === 'noise') out[i] = random.int(0, top);
    else if (kind === 'binary') out[i] = random.int(0, 1) * top;
    else if (kind === 'smooth') out[i] = Math.round((top / 2) * (1 + Math.sin(x / 7 + y / 11)));
    else if (kind === 'flat') out[i] = level;
    else out[i] = ((x >> 1) + y) & 1 ? top : 0;
  }
  return out;
}

/** The plane with small errors, as an encoder leaves it; or an unrelated one. */
function distorted(random: SeededRandom, reference: Samples, depth: number, amount: number) {
  const top = 2 ** depth - 1;
  return reference.map((v) => Math.min(top, Math.max(0, v + random.int(-amount, amount))));
}

/** A pair of planes and what it is. */
function pair(random: SeededRandom, width: number, height: number, depth: number) {
  const kind = random.pick(KINDS);
  const reference = plane(random, kind, width, height, depth);
  const related = random.int(0, 3) > 0;
  const dis = related
    ? distorted(random, reference, depth, random.pick([0, 1, 3, 2 ** (depth - 3)]))
    : plane(random, random.pick(KINDS), width, height, depth);
  return { reference, distorted: dis, about: `${width}x${height} ${depth} bit ${kind} related ${related}` };
}

type Bands = Int16Array | Int32Array;

/** Coefficients of at most `limit`, often small, sometimes extreme. */
function coefficients(random: SeededRandom, n: number, limit: number, wide: boolean): Bands {
  const out = wide ? new Int32Array(n) : new Int16Array(n);
  const scale = random.pick([3, 60, 3000, limit]);
  const usual = Math.min(scale, limit);
  for (let i = 0; i < n; i++) {
    const odd = random.int(0, 15);
    if (odd === 1) out[i] = limit * (random.int(0, 1) * 2 - 1);
    else if (odd > 1) out[i] = random.int(-usual, usual);
  }
  return out;
}

/** Distorted coefficients: near the reference, parallel to it, beyond it, or unrelated. */
function alike(random: SeededRandom, o: Bands, limit: number): Bands {
  const way = random.int(0, 4);
  const other = coefficients(random, o.length, limit, o instanceof Int32Array);
  return o.map((v, i) => {
    const gain = way === 0 ? 1 : way === 1 ? 1.25 : way === 2 ? 0.6 : 3;
    if (way === 4) return other[i] ?? 0;
    const moved = Math.trunc(v * gain) + random.int(-2, 2);
    return Math.max(-limit, Math.min(limit, moved));
  });
}

/** The columns of n that are wanted of the detail bands: all, none or some. */
function wanted(random: SeededRandom, n: number): readonly [number, number] {
  const way = random.int(0, 3);
  if (way === 0) return [0, n];
  if (way === 1) return [0, 0];
  const from = random.int(0, n - 1);
  return [from, random.int(from, n)];
}

/** What the wavelet can give at scale 0, and near what it can give above (spec 4.3). */
const LIMIT_S0 = 22930;
const LIMIT_S123 = 2_000_000_000;
/** The largest values that do not leave the shortcuts of the SIMD functions, where one such value decides for many. */
const LARGEST = {
  decoupled: { s0: 16383, s123: LIMIT_S123 },
  /** |C| of scales 1 to 3 is below 2^28. */
  masked: { s0: () => LIMIT_S0, s123: (factor: number) => Math.floor(2 ** 56 / factor) - 1 },
  /** What is above the threshold is below 2^30. */
  contrasted: { s0: 16383, s123: 2 ** 30 - 1 },
} as const;
const GAINS = [1, 1.05, 1.2, 2, 3, 99, 100];
/** Default factors, NEG's are the same, CSF mode 2, other distances, and some that leave the SIMD range. */
const FACTORS_S0 = [
  [36453, 49417],
  [24809, 36087],
  [10021, 11393],
  [3416, 3411],
  [43899, 65534],
  [46825, 65534],
  [65535, 65535],
];
const FACTORS_S123 = [
  [137373792, 61414028],
  [251775280, 154193616],
  [17199296, 5944177],
  [0xfffffff, 0xfffffff],
  [0xffffffff, 1],
];

describe(`twins of the core's functions (seed ${SEED})`, () => {
  it('vif_statistics, all scales, depths and widths', () => {
    const random = seeded(SEED);
    const gains = put(new Uint8Array(new Float64Array([100, 1, 1.1]).buffer));
    const limits = new Float64Array(memory.buffer, gains, 3).slice();
    for (const width of WIDTHS.filter((w) => w > 1)) {
      for (const scale of [0, 1, 2, 3]) {
        const depth = scale === 0 ? random.pick(DEPTHS) : 16;
        const height = random.int(2, 21);
        const video = scale === 0 ? depth : random.pick(DEPTHS);
        const p = pair(random, width, height, depth);
        const count = random.int(1, 3);
        compare('vif_statistics', `scale ${scale} ${p.about}`, (twin) => {
          const gainsAt = put(new Uint8Array(limits.buffer));
          const input = pointers([put(p.reference), put(p.distorted), width, height, video, scale]);
          const scratch = take(Number(native('vif_scratch_bytes')(width, height)));
          const sums = take(19 * 8);
          twin(input, tables, gainsAt, count, scratch, sums);
          return longs(sums, 19).filter((_, i) => i < count || i >= 16);
        });
      }
    }
  });

  overWidths('vif_decimate, all scales, depths and widths', { seed: 1, from: 2 }, (random, width) => {
    for (const scale of [1, 2, 3]) {
      const depth = scale === 1 ? random.pick(DEPTHS) : 16;
      const height = random.int(2, 21);
      const source = plane(random, random.pick(KINDS), width, height, depth);
      compare('vif_decimate', `scale ${scale} ${width}x${height} ${depth} bit`, (twin) => {
        const at = put(source);
        const scratch = take(Number(native('vif_scratch_bytes')(width, height)));
        const samples = (width >> 1) * (height >> 1);
        const out = take(samples * 2);
        twin(at, width, height, depth, scale, scratch, out);
        return halves(out, samples);
      });
    }
  });

  overWidths('adm_wavelet_s0, all depths and widths', { seed: 2, from: 2 }, (random, width) => {
    for (const depth of some(DEPTHS, width)) {
      const rows = Array.from({ length: 4 }, () => plane(random, random.pick(KINDS), width, 1, depth));
      const n = (width + 1) >> 1;
      const [from, to] = wanted(random, n);
      compare('adm_wavelet_s0', `${width} columns ${depth} bit, details ${from} to ${to}`, (twin) => {
        const bands = Array.from({ length: 4 }, () => take(n * 2));
        const rowsAt = pointers(rows.map((row) => put(row)));
        const scratch = take(Number(native('adm_scratch_bytes')(width)) + 16) + 16;
        twin(rowsAt, width, depth, from, to, scratch, pointers(bands));
        return bands.map((band, i) => (i === 0 ? halves(band, n) : halves(band, n).slice(from, to)));
      });
    }
  });

  overWidths('adm_wavelet_s1 and s23, all widths', { seed: 3, from: 2 }, (random, width) => {
    const n = (width + 1) >> 1;
    for (const scale of [1, 2, 3]) {
      const limit = scale === 1 ? LIMIT_S0 : 1_400_000_000;
      const rows = Array.from({ length: 4 }, () => coefficients(random, width, limit, scale > 1));
      const [from, to] = wanted(random, n);
      const name = scale === 1 ? 'adm_wavelet_s1' : 'adm_wavelet_s23';
      compare(name, `scale ${scale} ${width} columns, details ${from} to ${to}`, (twin) => {
        const bands = Array.from({ length: 4 }, () => take(n * 4));
        const rowsAt = pointers(rows.map((row) => put(row)));
        const scratch = take(Number(native('adm_scratch_bytes')(width)) + 16) + 16;
        twin(rowsAt, width, ...(scale === 1 ? [] : [scale]), from, to, scratch, pointers(bands));
        return bands.map((band, i) => (i === 0 ? words(band, n) : words(band, n).slice(from, to)));
      });
    }
  });

  for (const wide of [false, true]) {
    const suffix = wide ? 's123' : 's0';
    const limit = wide ? LIMIT_S123 : LIMIT_S0;
    const read = wide ? words : halves;
    const factors = wide ? FACTORS_S123 : FACTORS_S0;

    overWidths(`adm_decouple_${suffix}, all widths and gain limits`, { seed: 4, from: 1 }, (random, n) => {
      for (const gain of some(GAINS, n)) {
        const top = random.pick([limit, LARGEST.decoupled[suffix]]);
        const o = [0, 1, 2].map(() => coefficients(random, n, top, wide));
        const t = o.map((band) => alike(random, band, limit));
        // Gradients of exactly the same direction, and those of zero length, decide ties.
        if (random.int(0, 3) === 0)
          for (const [i, band] of t.entries()) band.set((o[i] ?? band).map((v) => Math.trunc(v / 2) * 2));
        compare(`adm_decouple_${suffix}`, `${n} columns gain ${gain}`, (twin) => {
          const at = [o, t].map((bands) => pointers(bands.map((band) => put(band, 64))));
          const outs = [0, 1].map(() => [0, 1, 2].map(() => take(n * 4 + 64)));
          twin(at[0] ?? 0, at[1] ?? 0, n, gain, pointers(outs[0] ?? []), pointers(outs[1] ?? []));
          return outs.flat().map((band) => read(band, n));
        });
      }
    });

    overWidths(`adm_mask_${suffix}, all widths and factors`, { seed: 5, from: 1 }, (random, n) => {
      for (const fi of some(factors, n)) {
        const top = random.pick([limit, LARGEST.masked[suffix](Math.max(...fi))]);
        const bands = [0, 1, 2].map(() => coefficients(random, n, Math.min(top, limit), wide));
        compare(`adm_mask_${suffix}`, `${n} columns fi ${fi}`, (twin) => {
          const outs = Array.from({ length: 5 }, () => take(n * 4 + 64));
          const [neighbour = 0, centre = 0, ...sizes] = outs;
          const from = pointers(bands.map((band) => put(band)));
          if (wide) twin(from, n, pointers(fi), pointers(sizes), neighbour, centre);
          else twin(from, n, pointers(fi), neighbour, centre);
          return (wide ? outs : [neighbour, centre]).map((out) => words(out, n));
        });
      }
    });

    overWidths(`adm_contrast_${suffix}, all widths and factors`, { seed: 6, from: 1 }, (random, n) => {
      for (const fi of some(factors, n)) {
        // Of scales 1 to 3 contrast takes magnitudes.
        const most = random.pick([limit, LARGEST.contrasted[suffix]]);
        const bands = [0, 1, 2].map(() =>
          coefficients(random, n, most, wide).map((v) => (wide ? Math.abs(v) : v)),
        );
        const top = random.pick(wide ? [0, 1000, 50_000_000] : [0, 40, 3000, 81_000]);
        const low = random.int(0, 3) === 0 ? -top : 0;
        const signal = (length: number) => Int32Array.from({ length }, () => random.int(low, top));
        const rows = [0, 1, 2].map(() => signal(n + 2));
        const centre = signal(n);
        const shift = wide ? [random.int(1, 10)] : [random.int(0, 8), random.int(1, 9)];
        compare(`adm_contrast_${suffix}`, `${n} columns fi ${fi} masks ${low}..${top}`, (twin) => {
          const sums = take(24);
          const rowsAt = pointers(rows.map((row) => put(row) + 4));
          const from = pointers(bands.map((band) => put(band)));
          const shiftAt = wide ? (shift[0] ?? 0) : pointers(shift);
          if (wide) twin(from, n, rowsAt, put(centre), shiftAt, sums);
          else twin(from, n, pointers(fi), rowsAt, put(centre), shiftAt, sums);
          return longs(sums, 3);
        });
      }
    });

    overWidths(`adm_cubes_${suffix}, all widths`, { seed: 7, from: 1 }, (random, n) => {
      for (const squareShift of wide ? [30, 31] : [0]) {
        const top = squareShift === 30 ? 1_400_000_000 : limit;
        const bands = [0, 1, 2].map(() => coefficients(random, n, top, wide));
        const shift = random.int(0, 10);
        compare(`adm_cubes_${suffix}`, `${n} columns`, (twin) => {
          const sums = take(24);
          const from = pointers(bands.map((band) => put(band)));
          if (wide) twin(from, n, squareShift, shift, sums);
          else twin(from, n, sums);
          return longs(sums, 3);
        });
      }
    });
  }

  for (const name of ['motion_sad', 'motion_sad_legacy'] as const) {
    overWidths(`${name}, all depths and widths`, { seed: 8, from: 3 }, (random, width) => {
      for (const depth of some(DEPTHS, width)) {
        const height = random.int(3, 19);
        const p = pair(random, width, height, depth);
        compare(name, p.about, (twin) => {
          const scratch = take(Number(native('motion_scratch_bytes')(width, height)));
          return twin(put(p.reference), put(p.distorted), width, height, depth, scratch);
        });
      }
    });
  }

  it('motion_sad, a few columns of large differences at every place', () => {
    const random = seeded(SEED + 10);
    for (const depth of [8, 10, 14]) {
      const top = 2 ** depth - 1;
      for (const width of tier([17, 71, 107], [17, 64, 71, 97, 104, 107])) {
        const height = random.int(6, 9);
        for (let x = 0; x < width; x++) {
          const quiet = plane(random, 'noise', width, height, depth).map((v) => v >> (depth - 3));
          const bar = { columns: random.int(1, 3), rows: random.int(1, height), up: random.int(0, 1) === 1 };
          const loud = quiet.map((v, i) => {
            const inside = i % width >= x && i % width < x + bar.columns && i / width < bar.rows;
            return inside ? top - v : v;
          });
          const [earlier, current] = bar.up ? [quiet, loud] : [loud, quiet];
          const about = `${width}x${height} ${depth} bit, ${JSON.stringify(bar)} at ${x}`;
          compare('motion_sad', about, (twin) => {
            const scratch = take(Number(native('motion_scratch_bytes')(width, height)));
            return twin(put(earlier), put(current), width, height, depth, scratch);
          });
        }
      }
    }
  });

  it('sse, all depths and lengths', () => {
    const random = seeded(SEED + 9);
    for (const n of [...WIDTHS, 65_535, 65_536, 70_001]) {
      for (const depth of some(DEPTHS, n)) {
        const p = pair(random, n, 1, depth);
        compare('sse', p.about, (twin) => twin(put(p.reference), put(p.distorted), n, depth));
      }
    }
  });
});
