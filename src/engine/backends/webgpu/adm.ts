/**
 * @module engine/backends/webgpu/adm
 * ADM on the GPU (wasm/src/adm_frame.c): four levels of the wavelet, then for each scale the sums of cubes by rows and of
 * those, per parameter set.
 */
import type { VideoFormat } from '../../../core/frame.js';
import type { CoreCall } from '../../../core/kernel.js';
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
import { type AdmVariant, readVariants, scaleUniform } from './adm-uniform.js';
import wavelet from './adm-wavelet.wgsl';
import waveletNarrow from './adm-wavelet-s0.wgsl';
import waveletWide from './adm-wavelet-s123.wgsl';
import { BufferUsage } from './device.js';
import type { Encode, Gpu, GpuFunction, GpuKernel, GpuPair } from './kernel.js';
import { pipelineOf } from './kernel.js';
import wide from './wide.wgsl';

/**
 * Coefficients that a workgroup handles at once (WIDE and HIGH of adm-wavelet.wgsl and adm-contrast.wgsl), and how many
 * such tiles of contrast it handles one after the other.
 */
const WAVELET_TILE = { columns: 32, rows: 2 };
const CONTRAST_TILE = { columns: 16, rows: 8 };
const TILES = 2;

/** Results of a call per parameter set, by scale: numerators, denominators, AIM numerators. */
const FIELDS = 12;
/** Bytes of a 64-bit sum. */
const SUM_BYTES = 8;

const bandBytes = ({ scale, columns, rows: { size } }: AdmScale): number =>
  (scale === 0 ? 8 : 16) * columns.size * size;

/** Pieces that rows are measured in. */
const segmentsOf = ({ columns }: AdmScale): number =>
  Math.ceil((columns.to - columns.from) / (TILES * CONTRAST_TILE.columns));

const measuredRows = ({ rows: { from, to } }: AdmScale): number => to - from;

const pieceBytes = (scale: AdmScale, variants: number): number =>
  6 * variants * segmentsOf(scale) * measuredRows(scale) * SUM_BYTES;

/** 64-bit sums that a scale leaves. */
const sumsOf = (variants: number): number => 3 + 6 * variants;

/** ADM of a pair of pictures. */
export const ADM_ON_GPU: GpuFunction = {
  run: 'adm',
  problem: () => undefined,
  largestBuffer: ({ parameters }, format) => {
    const variants = readVariants(parameters).length;
    const bytes = admScales(format).map((scale) => Math.max(bandBytes(scale), pieceBytes(scale, variants)));
    return Math.max(...bytes);
  },
  open: async (gpu, call, format) => new AdmKernel(gpu, call, format, await makePipelines(gpu)),
};

type Pipelines = Awaited<ReturnType<typeof makePipelines>>;

/** The steps; arrays have one for each scale. */
async function makePipelines(gpu: Gpu) {
  const make = (label: string, constants: Record<string, number>, ...files: readonly string[]) =>
    pipelineOf(gpu.device, gpu.module(label, scaleText, ...files), constants);
  const measured = { TILES };
  const [narrowWavelet, wideWavelet, narrowContrast, wideContrast, narrowCubes, wideCubes, sums] =
    await Promise.all([
      make('adm-wavelet-s0', {}, wavelet, waveletNarrow),
      make('adm-wavelet-s123', {}, wavelet, waveletWide),
      make(
        'adm-contrast-s0',
        measured,
        wide,
        angle,
        bandsNarrow,
        decouple,
        decoupleNarrow,
        maskNarrow,
        contrast,
      ),
      make('adm-contrast-s123', measured, wide, angle, bandsWide, decouple, decoupleWide, maskWide, contrast),
      make('adm-cubes-s0', {}, wide, bandsNarrow, cubes),
      make('adm-cubes-s123', {}, wide, bandsWide, cubes),
      make('adm-rows', {}, wide, rows),
    ]);
  return {
    wavelet: [narrowWavelet, wideWavelet, wideWavelet, wideWavelet],
    contrast: [narrowContrast, wideContrast, wideContrast, wideContrast],
    cubes: [narrowCubes, wideCubes, wideCubes, wideCubes],
    rows: sums,
  } as const;
}

/** A scale and its memory. */
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
  readonly #buffers: GPUBuffer[] = [];

  constructor(gpu: Gpu, { parameters }: CoreCall, format: VideoFormat, pipelines: Pipelines) {
    this.#device = gpu.device;
    this.#pipelines = pipelines;
    this.#variants = readVariants(parameters);
    this.#scales = admScales(format).map((scale) => this.#prepare(scale, format));
    this.words = (this.#scales.length * sumsOf(this.#variants.length) * SUM_BYTES) / 4;
  }

  #prepare(scale: AdmScale, { bitDepth }: VideoFormat): ScaleMemory {
    const count = this.#variants.length;
    const places = { segments: segmentsOf(scale), results: scale.scale * sumsOf(count) };
    const words = scaleUniform(scale, bitDepth, this.#variants, places);
    const uniform = this.#buffer('uniform', words.byteLength, BufferUsage.UNIFORM | BufferUsage.COPY_DST);
    this.#device.queue.writeBuffer(uniform, 0, words);
    const storage = (label: string, bytes: number) => this.#buffer(label, bytes, BufferUsage.STORAGE);
    return {
      scale,
      uniform,
      bands: [storage('reference', bandBytes(scale)), storage('distorted', bandBytes(scale))],
      pieces: storage('pieces', pieceBytes(scale, count)),
      denominator: storage('denominator', 3 * measuredRows(scale) * SUM_BYTES),
    };
  }

  #buffer(label: string, size: number, usage: GPUBufferUsageFlags): GPUBuffer {
    const buffer = this.#device.createBuffer({ label: `adm ${label}`, size, usage });
    this.#buffers.push(buffer);
    return buffer;
  }

  bind({ reference, distorted }: GpuPair, results: GPUBufferBinding): Encode {
    const pictures = [reference[0]?.planes[0], distorted[0]?.planes[0]];
    const steps = [
      ...pictures.flatMap((picture, side) => (picture ? this.#wavelets(picture, side) : [])),
      ...this.#scales.flatMap((memory) => this.#sums(memory, results)),
    ];
    return (pass) => {
      for (const step of steps) step(pass);
    };
  }

  /** The levels of the wavelet of one picture. */
  #wavelets(picture: GPUBuffer, side: number): Encode[] {
    let source = picture;
    return this.#scales.flatMap(({ scale, uniform, bands }, i) => {
      const [pipeline, target] = [this.#pipelines.wavelet[i], bands[side]];
      if (!pipeline || !target) return [];
      const step = this.#step(
        pipeline,
        [uniform, source, target],
        [
          Math.ceil(scale.columns.size / WAVELET_TILE.columns),
          Math.ceil(scale.rows.size / WAVELET_TILE.rows),
          1,
        ],
      );
      source = target;
      return [step];
    });
  }

  /** Sums of a scale. */
  #sums(
    { scale, uniform, bands: [o, t], pieces, denominator }: ScaleMemory,
    results: GPUBufferBinding,
  ): Encode[] {
    const count = this.#variants.length;
    if (!this.#variants.some((variant) => measures(variant, scale.scale))) return [];
    const { contrast: contrasts, cubes: powers, rows: sums } = this.#pipelines;
    const [toContrast, toCubes] = [contrasts[scale.scale], powers[scale.scale]];
    if (!toContrast || !toCubes) return [];
    const high = measuredRows(scale);
    return [
      this.#step(
        toContrast,
        [uniform, o, t, pieces],
        [segmentsOf(scale), Math.ceil(high / CONTRAST_TILE.rows), count],
      ),
      this.#step(toCubes, [uniform, o, undefined, denominator], [high, 1, 1]),
      this.#step(sums, [uniform, pieces, denominator, results], [sumsOf(count), 1, 1]),
    ];
  }

  /** A dispatch; bindings are those of the step from 0 on, as far as it has them. */
  #step(
    pipeline: GPUComputePipeline,
    bindings: readonly (GPUBuffer | GPUBufferBinding | undefined)[],
    [x, y, z]: readonly [number, number, number],
  ): Encode {
    const entries = bindings.flatMap((bound, binding) => {
      if (!bound) return [];
      return [{ binding, resource: 'buffer' in bound ? bound : { buffer: bound } }];
    });
    const group = this.#device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
    return (pass) => {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(x, y, z);
    };
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
    for (const buffer of this.#buffers) buffer.destroy();
  }
}

const measures = (variant: AdmVariant, scale: number): boolean => scale > 0 || variant.scale0;
