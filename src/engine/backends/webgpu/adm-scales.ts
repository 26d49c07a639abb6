/**
 * @module engine/backends/webgpu/adm-scales
 * The scales of ADM: sizes, measured regions and shifts (wasm/src/adm_frame.c), and scores from their sums.
 */
import type { VideoFormat } from '../../../core/frame.js';
import { powerOfThird } from './adm-power.js';

/** A side of the bands of a scale, in coefficients. */
interface Side {
  /** Of the picture or of the low band of the scale before. */
  readonly source: number;
  readonly size: number;
  /** What is measured: from..to, half open. */
  readonly from: number;
  readonly to: number;
}

/** A scale of ADM. */
export interface AdmScale {
  /** 0..3. */
  readonly scale: number;
  readonly columns: Side;
  readonly rows: Side;
  /** Shift of a numerator's cubes, less by 4 and 3 at scale 0, and of the sum of a row. */
  readonly shifts: { readonly cube: number; readonly row: number };
  /** Of the denominator: shifts of squares, of cubes and of the sum of a row. */
  readonly cubes: { readonly square: number; readonly cube: number; readonly row: number };
}

/** Sums of the bands h, v, d: integers of 64 bits. */
export type AdmSums = readonly [h: bigint, v: bigint, d: bigint];

/** ceil(log2(n)) for an integer n >= 1. */
const ceilLog2 = (n: number): number => 32 - Math.clz32(n - 1);

/** The scales of a picture. */
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

/** Coefficients of a band that are measured. */
const areaOf = ({ columns, rows }: AdmScale): number => (rows.to - rows.from) * (columns.to - columns.from);

/** Bits of the fractions that the sums are in, by scale; at scale 0 those of bands h and v. */
const NUMERATOR_BITS = [56, 45, 39, 36];
const DENOMINATOR_BITS = [18, 32, 27, 23];

/** Numerator of a scale, also that of AIM: a binary32 value. */
export function admNumerator(scale: AdmScale, sums: AdmSums, noiseWeight: number): number {
  const noise = powerOfThird(f32(areaOf(scale) * noiseWeight));
  const shift = scale.shifts.cube + scale.shifts.row - (NUMERATOR_BITS[scale.scale] ?? 0);
  const [h, v, d] = sums.map((sum, band) => {
    // Cubes of band d are shifted by one more at scale 0, and have 4 bits less than that.
    const value =
      scale.scale === 0 ? Number(sum) * 2 ** (shift - (band === 2 ? 4 : 0)) : toFloat32(sum) * 2 ** shift;
    return f32(powerOfThird(f32(value)) + noise);
  }) as [number, number, number];
  return f32(f32(h + v) + d);
}

/**
 * Denominator of a scale: a binary32 value.
 * @param factors contrast sensitivity of the bands h and v, and of d
 */
export function admDenominator(
  scale: AdmScale,
  sums: AdmSums,
  factors: readonly [number, number],
  noiseWeight: number,
): number {
  const noise = powerOfThird(f32(areaOf(scale) * noiseWeight));
  const { cube, row } = scale.cubes;
  const shift = cube + row - (DENOMINATOR_BITS[scale.scale] ?? 0);
  const [h, v, d] = sums.map((sum, band) => {
    const r = factors[band === 2 ? 1 : 0];
    return f32(powerOfThird(f32(Number(sum) * 2 ** shift * (r * r * r))) + noise);
  }) as [number, number, number];
  return f32(f32(h + v) + d);
}

/** An integer rounded once to single precision: above 2^53 what a double cannot hold is kept as a lowest bit that says "more". */
function toFloat32(value: bigint): number {
  if (BigInt.asIntN(53, value) === value) return f32(Number(value));
  return f32(Number((value >> 11n) | (value & 2047n ? 1n : 0n)) * 2 ** 11);
}
