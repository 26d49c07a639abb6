/**
 * @module engine/backends/core/quality-maps
 * Maps frame pairs with the WebAssembly modules: sums of VIF and ADM by cell, and Butteraugli by pixel.
 */
import type { ScoredFormat } from '../../../core/colour.js';
import type { FramePlanes, VideoFormat } from '../../../core/frame.js';
import { Core, type CoreContext, type CorePlane } from '../../../core/module.js';
import { admStructs, admVariant } from '../../../metrics/adm.js';
import { type AdmCsf, admCsf } from '../../../metrics/adm-csf.js';
import { BUTTERAUGLI } from '../../../metrics/butteraugli.js';
import { doubles, type ExtractorInstance } from '../../../metrics/metric.js';
import { vifCall } from '../../../metrics/vif.js';
import type {
  AdmBandCells,
  AdmCells,
  ButteraugliMap,
  CellOptions,
  FrameCells,
  ScaleCells,
  VifCells,
} from '../../../pictures/quality-maps.js';
import { planeSizes } from '../measurer.js';
import { type AdmScale, admScales, admUnits } from '../webgpu/adm-scales.js';

const SCALES = [0, 1, 2, 3] as const;

/** Defaults of the adm extractor's options other than the gain limit; all built-in models keep them. */
const ADM_NOISE_WEIGHT = 0.03125;
const ADM_VIEWING = { normViewDist: 3, refDisplayHeight: 1080, csfMode: 0, csfScale: 1, csfDiagScale: 1 };

export class WasmMapMaker {
  readonly #format: VideoFormat;
  readonly #options: CellOptions;
  readonly #core: Core;
  readonly #context: CoreContext;
  readonly #planes: readonly [reference: number, distorted: number];
  readonly #csf: AdmCsf;
  readonly #admParameters: Uint8Array;

  /** Opens an instance of the core for the calling thread. @throws {AnyvmafError} `internal` if memory is short */
  constructor(module: WebAssembly.Module, format: VideoFormat, options: CellOptions) {
    const { width, height, bitDepth } = format;
    this.#format = format;
    this.#options = options;
    this.#core = new Core(module);
    this.#context = this.#core.open(format, 'simd128');
    const bytes = this.#core.planeBytes(width, height, bitDepth);
    this.#planes = [this.#core.alloc(bytes), this.#core.alloc(bytes)];
    const picture = (i: 0 | 1) => [{ serial: 1 + i, planes: [{ address: this.#planes[i], width, height }] }];
    this.#context.setFrames({ reference: picture(0), distorted: picture(1) });
    this.#csf = admCsf(ADM_VIEWING);
    this.#admParameters = admStructs([
      admVariant(options.enhnGainLimit, ADM_NOISE_WEIGHT, this.#csf, { aim: false, scale0: true }),
    ]);
  }

  /** Maps a pair of packed luma planes of equal size. */
  measure(reference: Uint8Array, distorted: Uint8Array): FrameCells {
    for (const [i, plane] of [reference, distorted].entries())
      new Uint8Array(this.#core.memory.buffer, this.#planes[i], plane.length).set(plane);
    return { vif: this.#vif(), adm: this.#measureAdm() };
  }

  #vif(): VifCells[] {
    const { blockSize, enhnGainLimit } = this.#options;
    const [reference, distorted] = this.#planes;
    const scales = SCALES.map((scale) => vifCellsOf(this.#format, scale, blockSize));
    const all = this.#context.vifMap(reference, distorted, enhnGainLimit, blockSize, countOf(scales));
    const totals = this.#context.run({ metric: 'vif', ...vifCall([enhnGainLimit], 0) })?.slice() ?? [];
    let next = 0;
    return scales.map((cells) => {
      const count = cells.width * cells.height;
      const column = (k: number) => columnOf(all, next, 4, k, count);
      const [numLog, denLog, flatVariance, flat] = [column(0), column(1), column(2), column(3)];
      next += 4 * count;
      return {
        ...cells,
        num: numLog.map(
          (log, i) =>
            log / 2048 + ((flat[i] ?? Number.NaN) - (flatVariance[i] ?? Number.NaN) / 16384 / 65025),
        ),
        den: denLog.map((log, i) => log / 2048 + (flat[i] ?? Number.NaN)),
        sums: { numLog, denLog, flatVariance, flat },
        total: { num: totals[cells.scale] ?? Number.NaN, den: totals[4 + cells.scale] ?? Number.NaN },
      };
    });
  }

  #measureAdm(): AdmCells[] {
    const { blockSize } = this.#options;
    const [reference, distorted] = this.#planes;
    const scales = admScales(this.#format).map((scale) => ({ scale, cells: admCellsOf(scale, blockSize) }));
    const { cells: all, scores } = this.#context.admMap(
      reference,
      distorted,
      this.#admParameters,
      blockSize,
      countOf(scales.map(({ cells }) => cells)),
    );
    let next = 0;
    return scales.map(({ scale, cells }) => {
      const count = cells.width * cells.height;
      const units = admUnits(scale);
      const band = (k: 0 | 1 | 2): AdmBandCells => {
        const factor = this.#csf.rf[cells.scale]?.[k === 2 ? 1 : 0] ?? Number.NaN;
        return {
          num: columnOf(all, next, 6, k, count).map((sum) => sum * units.num[k]),
          den: columnOf(all, next, 6, 3 + k, count).map((sum) => sum * units.den),
          denWeight: factor * factor * factor,
        };
      };
      const bands = [band(0), band(1), band(2)] as const;
      next += 6 * count;
      return {
        ...cells,
        bands,
        total: { num: scores[cells.scale] ?? Number.NaN, den: scores[4 + cells.scale] ?? Number.NaN },
      };
    });
  }
}

export class ButteraugliMapMaker {
  readonly #core: Core;
  readonly #context: CoreContext;
  readonly #format: ScoredFormat;
  readonly #planes: readonly [reference: readonly CorePlane[], distorted: readonly CorePlane[]];
  readonly #parameters: Uint8Array;
  /** Address of the differences. */
  readonly #map: number;
  #serial = 0;

  /** @throws {AnyvmafError} `feature` if Butteraugli is not defined for the format; `internal` if memory is short */
  constructor(module: WebAssembly.Module, instance: ExtractorInstance, format: ScoredFormat) {
    const { width, height, bitDepth } = format;
    this.#parameters = doubles(BUTTERAUGLI.measure(instance, format, 'libvmaf-3.2')?.options ?? []);
    this.#core = new Core(module);
    this.#context = this.#core.open(format, 'simd128');
    this.#format = format;
    const picture = () =>
      planeSizes(format).map((size) => {
        const address = this.#core.alloc(this.#core.planeBytes(size.width, size.height, bitDepth));
        return { ...size, address };
      });
    this.#planes = [picture(), picture()];
    this.#map = this.#core.alloc(Float32Array.BYTES_PER_ELEMENT * width * height);
  }

  measure(reference: FramePlanes, distorted: FramePlanes): ButteraugliMap {
    const [one, other] = [reference, distorted].map(({ y, cb, cr }, side) => {
      const planes = this.#planes[side] ?? [];
      for (const [i, samples] of [y, cb, cr].entries()) {
        const plane = planes[i];
        if (plane && samples)
          new Uint8Array(this.#core.memory.buffer, plane.address, samples.length).set(samples);
      }
      return [{ serial: ++this.#serial, planes }];
    });
    this.#context.setFrames({ reference: one ?? [], distorted: other ?? [] });
    const { width, height } = this.#format;
    const [maximum = Number.NaN, norm3 = Number.NaN] =
      this.#context.run(
        {
          metric: 'map of butteraugli',
          run: 'butteraugli_map',
          args: ['frames', 'parameters', 'heatmaps'],
          parameters: this.#parameters,
          fields: 2,
        },
        this.#map,
      ) ?? [];
    const differences = new Float32Array(this.#core.memory.buffer, this.#map, width * height).slice();
    return { width, height, differences, maximum, norm3 };
  }
}

function countOf(scales: readonly ScaleCells[]): number {
  return scales.reduce((sum, { width, height }) => sum + width * height, 0);
}

/** Element `k` of each record of `size`. */
function columnOf(all: Float64Array, start: number, size: number, k: number, count: number) {
  return Float64Array.from({ length: count }, (_, i) => all[start + size * i + k] ?? Number.NaN);
}

function cellsOf(width: number, height: number, scale: number, blockSize: number, pitch: number): ScaleCells {
  const side = Math.max(blockSize, pitch);
  const across = (pixels: number) => Math.ceil((pixels * pitch) / side);
  return { scale, width: across(width), height: across(height), blockSize: side };
}

/** Pixels of a scale of VIF lie 2^scale apart; odd sizes are halved downwards. */
function vifCellsOf({ width, height }: VideoFormat, scale: number, blockSize: number): ScaleCells {
  return cellsOf(width >> scale, height >> scale, scale, blockSize, 2 ** scale);
}

/** Coefficients of a scale of ADM lie 2^(scale + 1) apart; odd sizes are halved upwards. */
function admCellsOf({ scale, columns, rows }: AdmScale, blockSize: number): ScaleCells {
  return cellsOf(columns.size, rows.size, scale, blockSize, 2 ** (scale + 1));
}
