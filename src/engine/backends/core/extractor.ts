/**
 * @module engine/backends/core/extractor
 * Measures frame pairs with the WebAssembly core: keeps the frames in its memory and runs what the plan asks for.
 */

import { AnyvmafError } from '../../../core/errors.js';
import type { FramePlanes, VideoFormat } from '../../../core/frame.js';
import { chromaSize, type PlaneSize, sampleBytes } from '../../../core/frame.js';
import {
  Core,
  type CoreContext,
  type CoreFrames,
  type CorePicture,
  type Implementation,
} from '../../../core/module.js';
import { describeExcess, EXCESS_ADVICE, findExcess, readExcess } from '../excess.js';
import type { FrameSlot, Measurer, MeasurerKind } from '../measurer.js';
import {
  type ExtractionPlan,
  historyNeeds,
  picturesRead,
  planesRead,
  type RecordLayout,
  recordLayout,
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
  /** Of each call of the plan: where its heatmaps go. */
  readonly #heat: readonly (number | undefined)[];
  #serial = 0;

  constructor(module: WebAssembly.Module, plan: ExtractionPlan, implementation: Implementation) {
    const { format } = plan;
    this.layout = recordLayout(plan);
    this.#plan = plan;
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
    this.#heat = plan.calls.map(({ heatmaps }) => {
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

  #views({ planes }: CorePicture): Uint8Array[] {
    const { buffer } = this.#core.memory;
    return planes.map(
      ({ address, width, height }) => new Uint8Array(buffer, address, width * height * this.#bytesPerSample),
    );
  }

  measure(slot: FrameSlot, record: Float64Array, spatial: boolean): undefined {
    const { index } = slot;
    const layout = this.layout;
    record.fill(Number.NaN);
    const [reference, distorted] = this.#pairAt(index);
    if (layout.excess >= 0) {
      const { bitDepth } = this.#plan.format;
      const excessOf = (each: Picture, read: boolean) => (read ? findExcess(this.#views(each), bitDepth) : 0);
      // What is not read may hold anything.
      const read = picturesRead(this.#plan, spatial);
      record[layout.excess] = excessOf(reference, read.reference);
      record[layout.excess + 1] = excessOf(distorted, read.distorted);
    }
    const pictures = {
      reference: newestFirst(this.#references, index),
      distorted: newestFirst(this.#distorted, index),
    };
    this.#context.setFrames(pictures);
    this.#plan.calls.forEach((call, i) => {
      if ((!spatial && !call.everyFrame) || (call.back > 0 && !this.holds(index - call.back))) return;
      const values = this.#context.run(call, this.#heat[i]);
      if (!values) throw this.#beyondMeasure(call.metric, pictures);
      record.set(values, layout.calls[i]);
    });
    this.keep(slot);
  }

  /** Why a metric has no value for a pair. */
  #beyondMeasure(metric: string, pictures: CoreFrames): AnyvmafError {
    const { bitDepth } = this.#plan.format;
    const [met = 'a video has a sample out of range'] = (['distorted', 'reference'] as const).flatMap(
      (side) => {
        const views = pictures[side].slice(0, 1).flatMap((picture) => this.#views(picture));
        const excess = readExcess(findExcess(views, bitDepth, true));
        return excess ? `the ${side} video ${describeExcess(excess, bitDepth)}` : [];
      },
    );
    return new AnyvmafError('media', `The ${metric} extractor has no value here: ${met}; ${EXCESS_ADVICE}.`);
  }

  heatmaps(): readonly Uint8Array[] {
    return this.#plan.calls.flatMap(({ heatmaps = [] }, i) => {
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

/** The places of a pair and of those before it, whether they hold these or not. */
function newestFirst(pictures: readonly Picture[], index: number): Picture[] {
  return Array.from({ length: Math.min(pictures.length, index + 1) }, (_, back) =>
    placeOf(pictures, index - back),
  );
}

/** Measures every metric in the calling thread; each measurer has an instance of the core of its own. */
export function wasmMeasurers(module: WebAssembly.Module, implementation: Implementation): MeasurerKind {
  return {
    supports: () => true,
    open: (plan) => new WasmMeasurer(module, plan, implementation),
  };
}
