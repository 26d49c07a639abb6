/**
 * @module backend/wasm/extractor
 * Measures frame pairs with the WebAssembly core: keeps the frames in its memory and runs what the plan asks for.
 */
import { admCsf } from '../../core/adm-csf.js';
import { chromaSize, type PlaneSize, sampleBytes } from '../../core/geometry.js';
import {
  Core,
  type CoreAdmVariant,
  type CoreContext,
  type Implementation,
  MAX_ADM_VARIANTS,
  MAX_GAIN_LIMITS,
} from '../../core/module.js';
import type { FramePlanes, VideoFormat } from '../../media/types.js';
import {
  ADM_FIELDS,
  type ExtractionPlan,
  type FrameExtractor,
  PSNR_FIELDS,
  type RecordLayout,
  recordLayout,
  referenceHistory,
  VIF_FIELDS,
} from '../types.js';

/** Luma and, unless the video is 4:0:0, two chroma planes; odd sizes are halved downwards. */
function planeSizes(format: VideoFormat): PlaneSize[] {
  const { width, height } = format;
  const luma = { width, height };
  if (format.chroma === '400') return [luma];
  const chroma = chromaSize(format);
  return [luma, chroma, chroma];
}

/** Addresses of a picture's planes in the core's memory. */
type Picture = readonly number[];

class WasmExtractor implements FrameExtractor {
  readonly layout: RecordLayout;
  readonly #plan: ExtractionPlan;
  readonly #core: Core;
  readonly #context: CoreContext;
  readonly #sizes: readonly PlaneSize[];
  readonly #bytesPerSample: number;
  /** The reference being written, then the ones before it, newest first. */
  readonly #references: Picture[];
  readonly #distorted: Picture;
  readonly #adm: readonly CoreAdmVariant[];
  readonly #firstScale: 0 | 1;
  /** Earlier reference pictures that are valid. */
  #history = 0;

  constructor(module: WebAssembly.Module, plan: ExtractionPlan, implementation: Implementation) {
    const { format } = plan;
    this.layout = recordLayout(plan);
    this.#plan = plan;
    this.#adm = plan.adm.map((variant) => ({
      ...admCsf(variant),
      gainLimit: variant.enhnGainLimit,
      noiseWeight: variant.noiseWeight,
      skipAim: variant.skipAim,
      skipScale0: variant.skipScale0,
    }));
    this.#firstScale = plan.vif.every((variant) => variant.skipScale0) ? 1 : 0;
    this.#core = new Core(module);
    this.#context = this.#core.open(format, implementation);
    this.#sizes = planeSizes(format).slice(0, plan.psnrPlanes === 3 ? 3 : 1);
    this.#bytesPerSample = sampleBytes(format.bitDepth);
    const picture = (sizes: readonly PlaneSize[]): Picture =>
      sizes.map(({ width, height }) =>
        this.#core.alloc(this.#core.planeBytes(width, height, format.bitDepth)),
      );
    this.#references = Array.from({ length: 1 + referenceHistory(plan) }, () => picture(this.#sizes));
    this.#distorted = picture(this.#sizes);
  }

  referencePlanes(): FramePlanes {
    return this.#view(this.#references[0] ?? []);
  }

  distortedPlanes(): FramePlanes {
    return this.#view(this.#distorted);
  }

  #view(picture: Picture): FramePlanes {
    const [y = new Uint8Array(), cb, cr] = picture.map((address, i) => {
      const size = this.#sizes[i] ?? { width: 0, height: 0 };
      return new Uint8Array(
        this.#core.memory.buffer,
        address,
        size.width * size.height * this.#bytesPerSample,
      );
    });
    return cb && cr ? { y, cb, cr } : { y };
  }

  prime(): void {
    this.#history = Math.min(this.#history + 1, this.#references.length - 1);
    const oldest = this.#references.pop();
    if (oldest) this.#references.unshift(oldest);
  }

  reset(): void {
    this.#history = 0;
  }

  extract(into: Float64Array, offset: number, spatial: boolean): void {
    const { vif, adm, motion, psnrPlanes } = this.#plan;
    const layout = this.layout;
    const record = into.subarray(offset, offset + layout.length).fill(Number.NaN);
    const reference = this.#references[0]?.[0] ?? 0;
    const distorted = this.#distorted[0] ?? 0;
    if (spatial && vif.length > 0) {
      const limits = vif.map((variant) => variant.enhnGainLimit);
      for (let i = 0; i < limits.length; i += MAX_GAIN_LIMITS) {
        const group = limits.slice(i, i + MAX_GAIN_LIMITS);
        const values = this.#context.vif(reference, distorted, group, this.#firstScale);
        record.set(values, layout.vif + i * VIF_FIELDS);
      }
      vif.forEach((variant, i) => {
        // Scale 0 of a variant that skips it may have been measured for another one.
        if (!variant.skipScale0) return;
        record[layout.vif + i * VIF_FIELDS] = 0;
        record[layout.vif + i * VIF_FIELDS + 4] = -1;
      });
    }
    if (spatial && adm.length > 0) {
      for (let i = 0; i < adm.length; i += MAX_ADM_VARIANTS) {
        const group = this.#adm.slice(i, i + MAX_ADM_VARIANTS);
        record.set(this.#context.adm(reference, distorted, group), layout.adm + i * ADM_FIELDS);
      }
    }
    motion.forEach((variant, i) => {
      const earlier = this.#references[variant.window]?.[0];
      if (earlier === undefined || this.#history < variant.window) return;
      record[layout.motion + i] = this.#context.motion(earlier, reference, variant.legacy);
    });
    for (let plane = 0; plane < Math.min(psnrPlanes, this.#sizes.length); plane++) {
      const size = this.#sizes[plane] ?? { width: 0, height: 0 };
      const sum = this.#context.sse(
        this.#references[0]?.[plane] ?? 0,
        this.#distorted[plane] ?? 0,
        size.width * size.height,
      );
      record.set(sum, layout.psnr + plane * PSNR_FIELDS);
    }
    this.prime();
  }

  close(): void {
    this.#context.close();
    for (const picture of [...this.#references, this.#distorted]) {
      for (const address of picture) this.#core.free(address);
    }
  }
}

/**
 * An extractor on a new instance of the core; it belongs to the calling thread.
 * @throws {AnyvmafError} 'feature' for ADM settings without CSF factors, 'internal' when memory is short.
 */
export function createWasmExtractor(
  module: WebAssembly.Module,
  plan: ExtractionPlan,
  implementation: Implementation,
): FrameExtractor {
  return new WasmExtractor(module, plan, implementation);
}
