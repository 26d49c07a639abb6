/**
 * @module engine/backends/webgpu/adm-scales
 * Sizes, measured regions and shifts of ADM's scales (wasm/src/adm_frame.c), and scores from their sums. Scores need x^(1/3)
 * in single precision with the exact bits of powf() in the C libraries of the core and of libvmaf (Arm optimized routines);
 * a rounded double differs. Hence 2^(log2(x) / 3), both steps with a table and a polynomial in doubles.
 */
import type { VideoFormat } from '../../../core/frame.js';

/** A side of the bands of a scale, in coefficients. */
interface Side {
  /** Size of the picture, or of the low band of the scale before. */
  readonly source: number;
  readonly size: number;
  /** Measured range, half open. */
  readonly from: number;
  readonly to: number;
}

export interface AdmScale {
  /** 0..3. */
  readonly scale: number;
  readonly columns: Side;
  readonly rows: Side;
  /** Shifts of a numerator's cubes (less by 4 and 3 at scale 0) and of the sum of a row. */
  readonly shifts: { readonly cube: number; readonly row: number };
  /** Shifts of the denominator's squares, cubes and sum of a row. */
  readonly cubes: { readonly square: number; readonly cube: number; readonly row: number };
}

/** Sums of the bands h, v, d: integers of 64 bits. */
export type AdmSums = readonly [h: bigint, v: bigint, d: bigint];

/** ceil(log2(n)) for an integer n >= 1. */
const ceilLog2 = (n: number): number => 32 - Math.clz32(n - 1);

export function admScales({ width, height }: Pick<VideoFormat, 'width' | 'height'>): readonly AdmScale[] {
  let [columns, rows] = [sideOf(width), sideOf(height)];
  return [0, 1, 2, 3].map((scale) => {
    if (scale > 0) [columns, rows] = [sideOf(columns.size), sideOf(rows.size)];
    const shifts = { cube: ceilLog2(columns.size), row: ceilLog2(rows.size) };
    return { scale, columns, rows, shifts, cubes: cubeShifts(scale, columns, rows) };
  });
}

/** A tenth of a side is not measured at either end. */
function sideOf(source: number): Side {
  const size = (source + 1) >> 1;
  const from = size < 5 ? 0 : Math.floor((size - 5) / 10);
  return { source, size, from, to: size - from };
}

const SQUARE_SHIFTS = [0, 31, 30, 31];

function cubeShifts(scale: number, columns: Side, rows: Side): AdmScale['cubes'] {
  const [wide, high] = [columns.to - columns.from, rows.to - rows.from];
  if (scale === 0) return { square: 0, cube: 0, row: Math.max(0, ceilLog2(wide * high) - 20) };
  return { square: SQUARE_SHIFTS[scale] ?? 0, cube: ceilLog2(wide), row: ceilLog2(high) };
}

const f32 = Math.fround;

/** Fraction bits of the sums by scale; at scale 0 those of bands h and v. */
const NUMERATOR_BITS = [56, 45, 39, 36];
const DENOMINATOR_BITS = [18, 32, 27, 23];

/** Cubes per 1 in the sums of a scale: numerator by band, and denominator; powers of two (spec 4.8, 4.9). */
export function admUnits({ scale, shifts, cubes }: AdmScale): {
  readonly num: readonly [h: number, v: number, d: number];
  readonly den: number;
} {
  const unit = 2 ** (shifts.cube + shifts.row - (NUMERATOR_BITS[scale] ?? 0));
  // At scale 0, cubes of band d are shifted by one more and have 4 bits less.
  const diagonal = scale === 0 ? unit / 16 : unit;
  const den = 2 ** (cubes.cube + cubes.row - (DENOMINATOR_BITS[scale] ?? 0));
  return { num: [unit, unit, diagonal], den };
}

/** Numerator of a scale, also that of AIM: a binary32 value. */
export function admNumerator(scale: AdmScale, sums: AdmSums, noiseWeight: number): number {
  const { num } = admUnits(scale);
  const exact = scale.scale === 0;
  const value = (sum: bigint) => (exact ? Number(sum) : toFloat32(sum));
  return sumOfRoots(scale, noiseWeight, (band) => value(sums[band]) * num[band]);
}

/** Denominator of a scale: a binary32 value. @param factors contrast sensitivity of bands h and v, and of d */
export function admDenominator(
  scale: AdmScale,
  sums: AdmSums,
  factors: readonly [number, number],
  noiseWeight: number,
): number {
  const { den } = admUnits(scale);
  return sumOfRoots(scale, noiseWeight, (band) => {
    const r = factors[band === 2 ? 1 : 0];
    return Number(sums[band]) * den * (r * r * r);
  });
}

/** Adds the cube roots of the three bands in single precision, each plus the root of its area's noise. */
function sumOfRoots({ rows, columns }: AdmScale, noiseWeight: number, cubesOf: (band: 0 | 1 | 2) => number) {
  const area = (rows.to - rows.from) * (columns.to - columns.from);
  const noise = powerOfThird(f32(area * noiseWeight));
  const root = (band: 0 | 1 | 2) => f32(powerOfThird(f32(cubesOf(band))) + noise);
  return f32(f32(root(0) + root(1)) + root(2));
}

/** Rounds an integer to single precision once: above 2^53, a sticky bit stands for the bits that a double loses. */
function toFloat32(value: bigint): number {
  if (BigInt.asIntN(53, value) === value) return f32(Number(value));
  return f32(Number((value >> 11n) | (value & 2047n ? 1n : 0n)) * 2 ** 11);
}

const THIRD = f32(1 / 3);

/** Mantissas from 0.7 to 1.4 in 16 parts: 1 / c and log2(c) for a point c near the middle of each. */
const RECIPROCALS = [
  1.398907162146528, 1.3403141896637998, 1.286432210124115, 1.2367150214269895, 1.1906977166711752,
  1.1479821020556429, 1.1082251448272158, 1.0711297413057381, 1.036437278977283, 1, 0.9492859795739057,
  0.8951049428609004, 0.8476821620351103, 0.8050314851692001, 0.7664671008843108, 0.731428603316328,
];
const LOGARITHMS = [
  -0.48430022186289673, -0.42257122959194704, -0.3633754347673556, -0.30651309567405577, -0.25180720160537634,
  -0.19910014943794563, -0.14825100623281615, -0.09913323807318392, -0.051632812977629436, 0,
  0.07508531937943004, 0.15987125980713107, 0.2384046664317681, 0.31288288605863257, 0.38370422656453185,
  0.451211048935815,
];
/** Bits of 0.7 in single precision, where the first part begins. */
const FIRST = 0x3f330000;

/** log2(1 + r), highest power first. */
const LOG_TERMS = [
  0.288457581109214, -0.36092606229713164, 0.480898481472577, -0.7213474675006291, 1.4426950408774342,
] as const;

/** 2^(i / 32). */
const POWERS = [
  1, 1.0218971486541166, 1.0442737824274138, 1.0671404006768237, 1.0905077326652577, 1.1143867425958924,
  1.1387886347566916, 1.1637248587775775, 1.189207115002721, 1.215247359980469, 1.241857812073484,
  1.2690509571917332, 1.2968395546510096, 1.3252366431597413, 1.3542555469368927, 1.383909881963832,
  // biome-ignore lint/suspicious/noApproximativeNumericConstant: one of a table
  1.4142135623730951, 1.4451808069770467, 1.4768261459394993, 1.5091644275934228, 1.5422108254079407,
  1.5759808451078865, 1.6104903319492543, 1.645755478153965, 1.681792830507429, 1.718619298122478,
  1.7562521603732995, 1.7947090750031072, 1.8340080864093424, 1.8741676341103, 1.9152065613971474,
  1.9571441241754002,
];
/** 2^r - 1, highest power first. */
const POWER_TERMS = [0.05550361559341535, 0.2402284522445722, 0.6931471806916203] as const;
/** Adding and subtracting it rounds a double to a multiple of 1/32. */
const TO_PARTS = 1.5 * 2 ** 47;

const bits = new DataView(new ArrayBuffer(4));

/** powf(x, 1.0f / 3.0f) of a binary32 value. */
export function powerOfThird(x: number): number {
  if (x === 0 || x === Infinity) return Math.abs(x);
  if (!(x > 0)) return Number.NaN;
  const exponent = THIRD * log2(x);
  const whole = exponent + TO_PARTS - TO_PARTS;
  const r = exponent - whole;
  const part = whole * 32;
  const i = part & 31;
  const [t3, t2, t1] = POWER_TERMS;
  const scale = (POWERS[i] ?? Number.NaN) * 2 ** ((part - i) / 32);
  return f32(((t3 * r + t2) * (r * r) + (t1 * r + 1)) * scale);
}

function log2(x: number): number {
  // Scale subnormal values up by 2^23 first.
  const normal = x >= 2 ** -126;
  bits.setFloat32(0, normal ? x : x * 2 ** 23);
  const all = bits.getInt32(0);
  const fromFirst = (all - FIRST) | 0;
  const part = (fromFirst >> 19) & 15;
  const [reciprocal = Number.NaN, logarithm = Number.NaN] = [RECIPROCALS[part], LOGARITHMS[part]];
  const exponent = fromFirst >> 23;
  bits.setInt32(0, all - (exponent << 23));
  const r = bits.getFloat32(0) * reciprocal - 1;
  const [t5, t4, t3, t2, t1] = LOG_TERMS;
  const square = r * r;
  const low = (t3 * r + t2) * square + (t1 * r + (logarithm + exponent - (normal ? 0 : 23)));
  return (t5 * r + t4) * (square * square) + low;
}
