/**
 * @module engine/backends/webgpu/adm-uniform
 * What the shaders of ADM know: parameter sets of a call, read from the core's structs (`AnyvmafAdmVariant`), and the
 * uniform buffer of a scale (adm-scale.wgsl).
 */
import type { AdmScale } from './adm-scales.js';

/** A parameter set of ADM. */
export interface AdmVariant {
  /** 1..100. */
  readonly gainLimit: number;
  readonly noiseWeight: number;
  /** Contrast sensitivity by scale, of bands h and v and of band d: binary32 values, and in fixed point. */
  readonly factors: readonly (readonly [number, number])[];
  readonly fixed: readonly (readonly [number, number])[];
  /** Whether AIM and scale 0 are measured. */
  readonly aim: boolean;
  readonly scale0: boolean;
}

const STRUCT_BYTES = 88;

/** The parameter sets of a call. */
export function readVariants(parameters: Uint8Array = new Uint8Array()): readonly AdmVariant[] {
  const { buffer, byteOffset, length } = parameters;
  return Array.from({ length: Math.floor(length / STRUCT_BYTES) }, (_, i) => {
    const view = new DataView(buffer, byteOffset + i * STRUCT_BYTES, STRUCT_BYTES);
    const word = (at: number) => view.getUint32(at, true);
    const float = (at: number) => view.getFloat32(at, true);
    const pairs = (from: number, read: (at: number) => number) =>
      [0, 8, 16, 24].map((at) => [read(from + at), read(from + at + 4)] as const);
    return {
      gainLimit: view.getFloat64(0, true),
      noiseWeight: view.getFloat64(8, true),
      factors: pairs(16, float),
      fixed: pairs(48, word),
      aim: word(80) === 0,
      scale0: word(84) === 0,
    };
  });
}

/** Wavelet taps (wasm/src/filters.h). */
export const ADM_LOW = [15826, 27411, 7345, -4240] as const;
export const ADM_HIGH = [-4240, -7345, 27411, -15826] as const;

/** By how much the wavelet's sums are shifted, those of columns and those of rows; scale 0 has its own way. */
const WAVELET_SHIFTS = [
  [0, 0],
  [0, 15],
  [16, 16],
  [16, 15],
];

/** Most parameter sets, and 32-bit words of one and of what stands before them. */
const MOST = 64;
const VARIANT_WORDS = 8;
const SCALE_WORDS = 28;

/** The uniform buffer of a scale. */
export function scaleUniform(
  { scale, columns, rows, shifts, cubes }: AdmScale,
  bitDepth: number,
  variants: readonly AdmVariant[],
  places: { readonly segments: number; readonly results: number },
): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(SCALE_WORDS + MOST * VARIANT_WORDS);
  words.set([
    ...[...ADM_LOW, ...ADM_HIGH],
    ...[columns.source, rows.source, columns.size, rows.size],
    ...[columns.from, rows.from, columns.to - columns.from, rows.to - rows.from],
    ...[scale === 1 ? 2 : 4, ...(WAVELET_SHIFTS[scale] ?? []), bitDepth],
    ...[cubes.square, cubes.cube, cubes.row],
    ...[shifts.cube, shifts.row, places.segments, places.results],
  ]);
  variants.forEach(({ gainLimit, fixed, aim, scale0 }, i) => {
    const [wide = 0, diagonal = 0] = fixed[scale] ?? [];
    const whole = Number.isInteger(gainLimit) ? gainLimit : 0;
    const measured = scale > 0 || scale0;
    const limit = mantissaOf(gainLimit);
    words.set(
      [wide, diagonal, whole, limit.shift, limit.low, limit.high, Number(measured), Number(aim)],
      SCALE_WORDS + i * VARIANT_WORDS,
    );
  });
  return words;
}

/** A number of 1..100 as 53 bits that, shifted right, are it. */
function mantissaOf(value: number): { readonly low: number; readonly high: number; readonly shift: number } {
  let shift = 52;
  while (value * 2 ** shift >= 2 ** 53) shift--;
  const mantissa = BigInt(value * 2 ** shift);
  return { low: Number(mantissa & 0xffffffffn), high: Number(mantissa >> 32n), shift };
}
