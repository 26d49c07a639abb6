/**
 * @module engine/backends/webgpu/adm
 * ADM on the GPU (wasm/src/adm_frame.c): four levels of the wavelet, then per scale and parameter set the sums of cubes by
 * row and in total. A uniform buffer per scale (adm-scale.wgsl) holds the parameter sets of a call, read from the core's
 * structs (`AnyvmafAdmVariant`).
 */
import type { VideoFormat } from '../../../core/frame.js';
import type { CoreCall } from '../../../core/module.js';
import angle from './adm-angle.wgsl';
import bandsNarrow from './adm-bands-s0.wgsl';
import bandsWide from './adm-bands-s123.wgsl';
import contrast from './adm-contrast.wgsl';
import cubes from './adm-cubes.wgsl';
import decouple from './adm-decouple.wgsl';
import decoupleNarrow from './adm-decouple-s0.wgsl';
import decoupleWide from './adm-decouple-s123.wgsl';
import maskNarrow from './adm-mask-s0.wgsl';
import maskWide from './adm-mask-s123.wgsl';
import rows from './adm-rows.wgsl';
import scaleText from './adm-scale.wgsl';
import { type AdmScale, type AdmSums, admDenominator, admNumerator, admScales } from './adm-scales.js';
import wavelet from './adm-wavelet.wgsl';
import waveletNarrow from './adm-wavelet-s0.wgsl';
import waveletWide from './adm-wavelet-s123.wgsl';
import type { Encode, GpuFunction, GpuKernel, GpuPair, OpenDevice } from './device.js';
import { Buffers, dispatchOf, pipelineOf } from './device.js';
import wide from './wide.wgsl';

/** Coefficients per workgroup (WIDE, HIGH of adm-wavelet.wgsl, adm-contrast.wgsl), and contrast tiles per workgroup. */
const WAVELET_TILE = { columns: 32, rows: 2 };
const CONTRAST_TILE = { columns: 16, rows: 8 };
const TILES = 2;

/** Results of a call per parameter set, by scale: numerators, denominators, AIM numerators. */
const FIELDS = 12;
const SUM_BYTES = 8;

const bandBytes = ({ scale, columns, rows: { size } }: AdmScale): number =>
  (scale === 0 ? 8 : 16) * columns.size * size;

/** Segments of a measured row. */
const segmentsOf = ({ columns }: AdmScale): number =>
  Math.ceil((columns.to - columns.from) / (TILES * CONTRAST_TILE.columns));

const measuredRows = ({ rows: { from, to } }: AdmScale): number => to - from;

const pieceBytes = (scale: AdmScale, variants: number): number =>
  6 * variants * segmentsOf(scale) * measuredRows(scale) * SUM_BYTES;

/** 64-bit sums per scale. */
const sumsOf = (variants: number): number => 3 + 6 * variants;

export const ADM_ON_GPU: GpuFunction = {
  run: 'adm',
  largestBuffer: ({ parameters }, format) => {
    const variants = readVariants(parameters).length;
    const bytes = admScales(format).map((scale) => Math.max(bandBytes(scale), pieceBytes(scale, variants)));
    return Math.max(...bytes);
  },
  open: async (gpu, call, format) => new AdmKernel(gpu, call, format, await makePipelines(gpu)),
};

type Pipelines = Awaited<ReturnType<typeof makePipelines>>;

/** Pipelines; arrays have one per scale. */
async function makePipelines(gpu: OpenDevice) {
  const make = (label: string, constants: Record<string, number>, ...files: readonly string[]) =>
    pipelineOf(gpu.device, gpu.module(label, scaleText, ...files), constants);
  const tiles = { TILES };
  const pipelines = await Promise.all([
    make('adm-wavelet-s0', {}, wavelet, waveletNarrow),
    make('adm-wavelet-s123', {}, wavelet, waveletWide),
    make('adm-contrast-s0', tiles, wide, angle, bandsNarrow, decouple, decoupleNarrow, maskNarrow, contrast),
    make('adm-contrast-s123', tiles, wide, angle, bandsWide, decouple, decoupleWide, maskWide, contrast),
    make('adm-cubes-s0', {}, wide, bandsNarrow, cubes),
    make('adm-cubes-s123', {}, wide, bandsWide, cubes),
    make('adm-rows', {}, wide, rows),
  ]);
  const [narrowWavelet, wideWavelet, narrowContrast, wideContrast, narrowCubes, wideCubes, sums] = pipelines;
  return {
    wavelet: [narrowWavelet, wideWavelet, wideWavelet, wideWavelet],
    contrast: [narrowContrast, wideContrast, wideContrast, wideContrast],
    cubes: [narrowCubes, wideCubes, wideCubes, wideCubes],
    rows: sums,
  } as const;
}

interface ScaleMemory {
  readonly scale: AdmScale;
  readonly uniform: GPUBuffer;
  readonly bands: readonly [reference: GPUBuffer, distorted: GPUBuffer];
  readonly pieces: GPUBuffer;
  readonly denominator: GPUBuffer;
}

class AdmKernel implements GpuKernel {
  readonly words: number;
  readonly #device: GPUDevice;
  readonly #pipelines: Pipelines;
  readonly #variants: readonly AdmVariant[];
  readonly #scales: readonly ScaleMemory[];
  readonly #buffers: Buffers;

  constructor(gpu: OpenDevice, { parameters }: CoreCall, format: VideoFormat, pipelines: Pipelines) {
    this.#device = gpu.device;
    this.#buffers = new Buffers(gpu.device);
    this.#pipelines = pipelines;
    this.#variants = readVariants(parameters);
    this.#scales = admScales(format).map((scale) => this.#prepare(scale, format));
    this.words = (this.#scales.length * sumsOf(this.#variants.length) * SUM_BYTES) / 4;
  }

  #prepare(scale: AdmScale, { bitDepth }: VideoFormat): ScaleMemory {
    const count = this.#variants.length;
    const places = { segments: segmentsOf(scale), results: scale.scale * sumsOf(count) };
    const uniform = this.#buffers.uniform(scaleUniform(scale, bitDepth, this.#variants, places));
    const storage = (label: string, bytes: number) => this.#buffers.scratch(`adm ${label}`, bytes);
    return {
      scale,
      uniform,
      bands: [storage('reference', bandBytes(scale)), storage('distorted', bandBytes(scale))],
      pieces: storage('pieces', pieceBytes(scale, count)),
      denominator: storage('denominator', 3 * measuredRows(scale) * SUM_BYTES),
    };
  }

  bind({ reference, distorted }: GpuPair, results: GPUBufferBinding): readonly Encode[] {
    const pictures = [reference[0]?.[0], distorted[0]?.[0]];
    return [
      ...pictures.flatMap((picture, side) => (picture ? this.#wavelets(picture, side) : [])),
      ...this.#scales.flatMap((memory) => this.#sums(memory, results)),
    ];
  }

  #wavelets(picture: GPUBuffer, side: number): Encode[] {
    let source = picture;
    return this.#scales.flatMap(({ scale, uniform, bands }, i) => {
      const [pipeline, target] = [this.#pipelines.wavelet[i], bands[side]];
      if (!pipeline || !target) return [];
      const across = Math.ceil(scale.columns.size / WAVELET_TILE.columns);
      const down = Math.ceil(scale.rows.size / WAVELET_TILE.rows);
      const step = dispatchOf(this.#device, pipeline, [uniform, source, target], [across, down]);
      source = target;
      return [step];
    });
  }

  #sums({ scale, uniform, bands: [o, t], pieces, denominator }: ScaleMemory, results: GPUBufferBinding) {
    const count = this.#variants.length;
    if (!this.#variants.some((variant) => measures(variant, scale.scale))) return [];
    const { contrast: contrasts, cubes: powers, rows: sums } = this.#pipelines;
    const [toContrast, toCubes] = [contrasts[scale.scale], powers[scale.scale]];
    if (!toContrast || !toCubes) return [];
    const high = measuredRows(scale);
    const tiles = [segmentsOf(scale), Math.ceil(high / CONTRAST_TILE.rows), count] as const;
    return [
      dispatchOf(this.#device, toContrast, [uniform, o, t, pieces], tiles),
      dispatchOf(this.#device, toCubes, [uniform, o, undefined, denominator], [high]),
      dispatchOf(this.#device, sums, [uniform, pieces, denominator, results], [sumsOf(count)]),
    ];
  }

  read(words: Uint32Array, fields: Float64Array): void {
    const sums = sumsOf(this.#variants.length);
    const sumAt = (at: number) =>
      BigInt.asIntN(64, (BigInt(words[2 * at + 1] ?? 0) << 32n) | BigInt(words[2 * at] ?? 0));
    const bandsAt = (at: number): AdmSums => [sumAt(at), sumAt(at + 1), sumAt(at + 2)];
    this.#variants.forEach((variant, k) => {
      for (const { scale } of this.#scales) {
        const from = scale.scale * sums;
        const of = (part: number) => from + 3 + 6 * k + 3 * part;
        const measured = measures(variant, scale.scale);
        const at = FIELDS * k + scale.scale;
        const { noiseWeight, factors } = variant;
        fields[at] = measured ? admNumerator(scale, bandsAt(of(0)), noiseWeight) : 0;
        fields[at + 4] = measured
          ? admDenominator(scale, bandsAt(from), factors[scale.scale] ?? [0, 0], noiseWeight)
          : Math.fround(1e-10);
        fields[at + 8] = measured && variant.aim ? admNumerator(scale, bandsAt(of(1)), 0) : 0;
      }
    });
  }

  close(): void {
    this.#buffers.close();
  }
}

const measures = (variant: AdmVariant, scale: number): boolean => scale > 0 || variant.scale0;

export interface AdmVariant {
  /** 1..100. */
  readonly gainLimit: number;
  readonly noiseWeight: number;
  /** Contrast sensitivity by scale, of bands h and v and of band d: binary32, then fixed point. */
  readonly factors: readonly (readonly [number, number])[];
  readonly fixed: readonly (readonly [number, number])[];
  /** Whether AIM and scale 0 are measured. */
  readonly aim: boolean;
  readonly scale0: boolean;
}

const STRUCT_BYTES = 88;

function readVariants(parameters: Uint8Array = new Uint8Array()): readonly AdmVariant[] {
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

/** Shifts of the wavelet's sums by column and by row; scale 0 has its own. */
const WAVELET_SHIFTS = [
  [0, 0],
  [0, 15],
  [16, 16],
  [16, 15],
];

/** Most parameter sets; 32-bit words of a set, and of the head before them. */
const MOST = 64;
const VARIANT_WORDS = 8;
const SCALE_WORDS = 28;

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

/** A number of 1..100 as 53 bits to shift right. */
function mantissaOf(value: number): { readonly low: number; readonly high: number; readonly shift: number } {
  let shift = 52;
  while (value * 2 ** shift >= 2 ** 53) shift--;
  const mantissa = BigInt(value * 2 ** shift);
  return { low: Number(mantissa & 0xffffffffn), high: Number(mantissa >> 32n), shift };
}
