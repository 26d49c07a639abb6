/**
 * @module core/log10
 * The decimal logarithm that libvmaf's decibels were computed with, to the last bit.
 *
 * Math.log10 differs between engines, and from the C library for one argument in a hundred. glibc computes it from its
 * natural logarithm (Arm optimized routines): log(z) = log(c) + log1p(z / c - 1), with a table for c near z and a
 * polynomial for the rest; this is its form for processors with fused multiply-add.
 */
import { fma } from './numbers.js';

/** log10(2) in two parts: the first has so few bits that its product with an exponent is exact. */
const LOG10_2_HI = 0.30102999566361177;
const LOG10_2_LO = 3.694239077158931e-13;
/** ln(2) in two parts, for the same reason. */
const LN2_HI = 0.6931471805598903;
const LN2_LO = 5.497923018708371e-14;

/** log(1 + r) = r + A0 r^2 + A1 r^3 + ... for |r| < 1/256. */
const [A0, A1, A2, A3, A4] = [
  -0.5000000000000001, 0.33333333331825593, -0.2499999999622955, 0.20000304511814496, -0.16667054827627667,
] as const;

/** The same next to 1, where no table is used. */
const [B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, B10] = [
  -0.5, 0.3333333333333352, -0.24999999999998432, 0.19999999999320328, -0.16666666669929706,
  0.14285715076560868, -0.12499997863982555, 0.11110712032936046, -0.10000486757818193, 0.09181994006195467,
  -0.08328363062289341,
] as const;

/**
 * The table's points: units in the last place between 1/c and the reciprocal of its interval's middle. They were chosen
 * so that log(c) is almost a multiple of 2^-43, which makes the table's log(c) nearly exact.
 */
const OFFSETS = [
  -23142382, -57643754, -234334839, -124664804, 19045012, -123323398, -501163255, 342479926, -234593306,
  57421184, 513617488, -240891478, 85169741, 28659150, 284053799, 342563057, -68420459, -346144712, -90113766,
  -464022980, 285342708, -489548825, 376054848, 47397812, -423637851, -260988534, 336107021, 448241578,
  154177355, 447893384, 241227555, -420636714, -218426730, -96876684, -205835218, -368178198, -345128710,
  -510284502, 481763731, 209336112, 429336310, 15489329, 442353177, -417834330, 73183371, 515232680,
  507984536, 83787275, 330409952, 151596684, 377744204, 198302857, 214798271, -345957716, 356163107,
  215510022, -229897960, -131709726, 215213618, -464519207, -332821996, 385780520, -400344786, 256208139,
  478356527, 345720337, 128466877, 217515751, -162048343, 295127580, -235892775, -69369347, 93666841,
  -272860130, 91915174, 29018059, 258893229, 386009280, -241633007, 68399381, 386341370, 408940642, 65060217,
  -120872168, 189498853, -32395328, -49955913, 154042178, -346113480, 148348366, -396488327, -427431396,
  107119491, -500798201, 212184347, 305888811, -330297730, -91422864, 6707636, 273897542, -512931067,
  -500150233, 485589437, -280752730, 106848032, 30953893, -291342514, -408884927, 149302919, -107851081,
  225432558, 460497078, -452391632, -490679353, 508304210, 493208081, 336502878, 526975298, -457361038,
  -312310462, -365194252, -421357131, 362015322, 310793228, -441535439, -69145545, -528727990, 433364383,
] as const;

/** Intervals of 1/256 from 0.6875 to 1, and of 1/128 from there to 1.375. */
const BELOW_ONE = 80;

interface Table {
  readonly reciprocal: Float64Array;
  readonly log: Float64Array;
}

let table: Table | undefined;

function makeTable(): Table {
  const reciprocal = Float64Array.from(OFFSETS, (offset, i) => {
    const middle = i < BELOW_ONE ? 0.6875 + (i + 0.5) / 256 : 1 + (i - BELOW_ONE + 0.5) / 128;
    return 1 / middle + offset * (i < BELOW_ONE ? 2 ** -52 : 2 ** -53);
  });
  // Rounding to 2^-43 removes errors of a few units in Math.log.
  const log = reciprocal.map((r) => Math.round(-Math.log(r) * 2 ** 43) / 2 ** 43);
  return { reciprocal, log };
}

/** log10 of `x`, equal to glibc's. */
export function log10(x: number): number {
  if (!(x > 0 && x < Number.POSITIVE_INFINITY)) return Math.log10(x);
  // x = mantissa * 2^exponent, with the mantissa in 1..2, or in 0.5..1 if x is below 1.
  let exponent = Math.floor(Math.log2(x));
  let mantissa = scaleDown(x, exponent);
  while (mantissa >= 2) {
    exponent++;
    mantissa /= 2;
  }
  while (mantissa < 1) {
    exponent--;
    mantissa *= 2;
  }
  if (exponent < 0) {
    exponent++;
    mantissa /= 2;
  }
  return exponent * LOG10_2_LO + Math.LOG10E * log(mantissa) + exponent * LOG10_2_HI;
}

/** x / 2^exponent, even if 2^exponent is not a double. */
function scaleDown(x: number, exponent: number): number {
  const half = exponent >> 1;
  return x / 2 ** half / 2 ** (exponent - half);
}

/** Natural logarithm for 0.5 to 2. */
function log(x: number): number {
  if (x >= 1 - 1 / 16 && x < 1 + 265 / 4096) return logNearOne(x);
  table ??= makeTable();
  const k = x >= 1.375 ? 1 : x < 0.6875 ? -1 : 0;
  const z = x / 2 ** k;
  const i = Math.floor(z < 1 ? (z - 0.6875) * 256 : BELOW_ONE + (z - 1) * 128);
  const r = fma(z, table.reciprocal[i] ?? Number.NaN, -1);
  const high = k * LN2_HI + (table.log[i] ?? Number.NaN);
  const sum = high + r;
  const low = fma(k, LN2_LO, high - sum + r);
  const square = r * r;
  const rest = fma(square, fma(r, A4, A3), fma(r, A2, A1));
  return fma(r * square, rest, fma(square, A0, low)) + sum;
}

function logNearOne(x: number): number {
  const r = x - 1;
  const square = r * r;
  const cube = r * square;
  const outer = fma(cube, B10, fma(square, B9, fma(r, B8, B7)));
  const middle = fma(cube, outer, fma(square, B6, fma(r, B5, B4)));
  const inner = fma(cube, middle, fma(square, B3, fma(r, B2, B1)));
  // r + B0 r^2 in two parts.
  const scaled = r * 2 ** 27;
  const rHigh = r + scaled - scaled;
  const rLow = r - rHigh;
  const term = rHigh * rHigh * B0;
  const sum = r + term;
  const low = fma(B0 * rLow, rHigh + r, r - sum + term);
  return fma(cube, inner, low) + sum;
}
