/**
 * @module engine/backends/core/extractor
 * Measures frame pairs with the WebAssembly core: keeps the frames in its memory and runs what the plan asks for.
 */

import { AnyvmafError } from '../../../core/errors.js';
import type { FramePlanes, VideoFormat } from '../../../core/frame.js';
import { chromaSize, type PlaneSize, sampleBytes } from '../../../core/frame.js';
import { metricSpec } from '../../../core/kernel.js';
import {
  Core,
  type CoreAdmVariant,
  type CoreContext,
  type CorePicture,
  type Implementation,
  MAX_ADM_VARIANTS,
  MAX_GAIN_LIMITS,
} from '../../../core/module.js';
import { admCsf } from '../../../metrics/adm-csf.js';
import { describeExcess, EXCESS_ADVICE, findExcess, readExcess } from '../excess.js';
import type { FrameSlot, Measurer, MeasurerKind } from '../measurer.js';
import {
  ADM_FIELDS,
  type ExtractionPlan,
  historyNeeds,
  PSNR_FIELDS,
  picturesRead,
  planesRead,
  type RecordLayout,
  recordLayout,
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

/** Bytes of a sample of a heatmap. */
const HEAT_BYTES = 2;

/** A picture whose planes are written again and again. */
interface Picture extends CorePicture {
  serial: number;
  /** Number of the pair it holds; -1 while it is written. */
  index: number;
}

/** Keeps each picture at the place that its number gives, so that those before it stay while it is written. */
class WasmMeasurer implements Measurer {
  readonly layout: RecordLayout;
  readonly slots = 1;
  readonly #plan: ExtractionPlan;
  readonly #core: Core;
  readonly #context: CoreContext;
  readonly #bytesPerSample: number;
  readonly #references: readonly Picture[];
  readonly #distorted: readonly Picture[];
  readonly #adm: readonly CoreAdmVariant[];
  readonly #firstScale: 0 | 1;
  /** Of each metric of the plan: where its heatmaps go. */
  readonly #heat: readonly (number | undefined)[];
  #serial = 0;

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
    this.#bytesPerSample = sampleBytes(format.bitDepth);
    const sizes = planeSizes(format).slice(0, planesRead(plan));
    const picture = (): Picture => ({
      serial: ++this.#serial,
      index: -1,
      planes: sizes.map(({ width, height }) => {
        const address = this.#core.alloc(this.#core.planeBytes(width, height, format.bitDepth));
        return { address, width, height };
      }),
    });
    const { frames, distorted } = historyNeeds(plan);
    this.#references = Array.from({ length: 1 + frames }, picture);
    this.#distorted = Array.from({ length: distorted ? 2 : 1 }, picture);
    this.#heat = plan.metrics.map(({ heatmaps }) => {
      if (!heatmaps) return undefined;
      return this.#core.alloc(heatmaps.reduce((bytes, { samples }) => bytes + HEAT_BYTES * samples, 0));
    });
  }

  slot(index: number): FrameSlot {
    const pair = this.#pairAt(index);
    for (const picture of pair) {
      picture.serial = ++this.#serial;
      picture.index = -1;
    }
    return { index, reference: this.#view(pair[0]), distorted: this.#view(pair[1]) };
  }

  holds(index: number): boolean {
    return index >= 0 && placeOf(this.#references, index).index === index;
  }

  keep({ index }: FrameSlot): void {
    for (const picture of this.#pairAt(index)) picture.index = index;
  }

  #pairAt(index: number): readonly [reference: Picture, distorted: Picture] {
    return [placeOf(this.#references, index), placeOf(this.#distorted, index)];
  }

  #view(picture: Picture): FramePlanes {
    const [y = new Uint8Array(), cb, cr] = this.#views(picture);
    return cb && cr ? { y, cb, cr } : { y };
  }

  #views({ planes }: Picture): Uint8Array[] {
    const { buffer } = this.#core.memory;
    return planes.map(
      ({ address, width, height }) => new Uint8Array(buffer, address, width * height * this.#bytesPerSample),
    );
  }

  measure(slot: FrameSlot, record: Float64Array, spatial: boolean): undefined {
    const { index } = slot;
    const { vif, adm, motion, psnrPlanes, metrics } = this.#plan;
    const layout = this.layout;
    record.fill(Number.NaN);
    const [picture, distortedPicture] = this.#pairAt(index);
    if (layout.excess >= 0) {
      const { bitDepth } = this.#plan.format;
      const excessOf = (each: Picture, read: boolean) => (read ? findExcess(this.#views(each), bitDepth) : 0);
      // What is not read may hold anything.
      const read = picturesRead(this.#plan, spatial);
      record[layout.excess] = excessOf(picture, read.reference);
      record[layout.excess + 1] = excessOf(distortedPicture, read.distorted);
    }
    const reference = picture.planes[0]?.address ?? 0;
    const distorted = distortedPicture.planes[0]?.address ?? 0;
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
      const before = index - variant.window;
      const [earlier] = this.holds(before) ? placeOf(this.#references, before).planes : [];
      if (earlier === undefined) return;
      record[layout.motion + i] = this.#context.motion(earlier.address, reference, variant.legacy);
    });
    for (let plane = 0; plane < Math.min(psnrPlanes, picture.planes.length); plane++) {
      const { address = 0, width = 0, height = 0 } = picture.planes[plane] ?? {};
      const sum = this.#context.sse(address, distortedPicture.planes[plane]?.address ?? 0, width * height);
      record.set(sum, layout.psnr + plane * PSNR_FIELDS);
    }
    if (metrics.length > 0) this.#measureMetrics(index, record, spatial);
    this.keep(slot);
  }

  #measureMetrics(index: number, record: Float64Array, spatial: boolean): void {
    const [reference, distorted] = this.#pairAt(index);
    const known = this.holds(index - 1);
    const earlierReference = known ? placeOf(this.#references, index - 1) : undefined;
    const earlierDistorted =
      known && this.#distorted.length > 1 ? placeOf(this.#distorted, index - 1) : undefined;
    this.#context.setFrames({ reference, distorted, earlierReference, earlierDistorted });
    this.#plan.metrics.forEach((variant, i) => {
      const { everyFrame, history } = metricSpec(variant.metric);
      if ((!spatial && !everyFrame) || (!known && history !== 'none')) return;
      const values = this.#context.metric(variant, this.#heat[i]);
      if (!values) throw this.#beyondMeasure(variant.metric, reference, distorted);
      record.set(values, this.layout.metrics[i] ?? 0);
    });
  }

  /** Why a metric has no value for a pair. */
  #beyondMeasure(metric: string, reference: Picture, distorted: Picture): AnyvmafError {
    const { bitDepth } = this.#plan.format;
    const pictures = { reference, distorted };
    const [met = 'a video has a sample out of range'] = (['distorted', 'reference'] as const).flatMap(
      (side) => {
        const excess = readExcess(findExcess(this.#views(pictures[side]), bitDepth, true));
        return excess ? `the ${side} video ${describeExcess(excess, bitDepth)}` : [];
      },
    );
    return new AnyvmafError('media', `The ${metric} extractor has no value here: ${met}; ${EXCESS_ADVICE}.`);
  }

  heatmaps(): readonly Uint8Array[] {
    return this.#plan.metrics.flatMap(({ heatmaps = [] }, i) => {
      let at = this.#heat[i] ?? 0;
      return heatmaps.map(({ samples }) => {
        const bytes = new Uint8Array(this.#core.memory.buffer, at, HEAT_BYTES * samples);
        at += bytes.length;
        return bytes;
      });
    });
  }

  close(): void {
    this.#context.close();
    for (const { planes } of [...this.#references, ...this.#distorted]) {
      for (const { address } of planes) this.#core.free(address);
    }
    for (const address of this.#heat) if (address !== undefined) this.#core.free(address);
  }
}

/** Where the picture of a number is, or would be. */
function placeOf(pictures: readonly Picture[], index: number): Picture {
  const picture = pictures[index % pictures.length];
  if (!picture) throw new RangeError(`there is no pair ${index}`);
  return picture;
}

/** Measures every metric in the calling thread; each measurer has an instance of the core of its own. */
export function wasmMeasurers(module: WebAssembly.Module, implementation: Implementation): MeasurerKind {
  return {
    supports: () => true,
    open: (plan) => new WasmMeasurer(module, plan, implementation),
  };
}
