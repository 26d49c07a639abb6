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
import {
  type ExtractionPlan,
  type FrameExtractor,
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
type Picture = CorePicture & { serial: number };

class WasmExtractor implements FrameExtractor {
  readonly layout: RecordLayout;
  readonly #plan: ExtractionPlan;
  readonly #core: Core;
  readonly #context: CoreContext;
  readonly #bytesPerSample: number;
  /** The picture being written, then the ones before it, newest first. */
  readonly #references: Picture[];
  readonly #distorted: Picture[];
  /** Of each call of the plan: where its heatmaps go. */
  readonly #heat: readonly (number | undefined)[];
  #serial = 0;
  /** Earlier pictures that are valid. */
  #history = 0;

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

  referencePlanes(): FramePlanes {
    return this.#view(this.#references[0]);
  }

  distortedPlanes(): FramePlanes {
    return this.#view(this.#distorted[0]);
  }

  #view(picture: Picture | undefined): FramePlanes {
    const [y = new Uint8Array(), cb, cr] = picture ? this.#views(picture) : [];
    return cb && cr ? { y, cb, cr } : { y };
  }

  #views({ planes }: Picture): Uint8Array[] {
    const { buffer } = this.#core.memory;
    return planes.map(
      ({ address, width, height }) => new Uint8Array(buffer, address, width * height * this.#bytesPerSample),
    );
  }

  prime(): void {
    this.#history = Math.min(this.#history + 1, this.#references.length - 1);
    for (const pictures of [this.#references, this.#distorted]) {
      const oldest = pictures.pop();
      if (!oldest) continue;
      oldest.serial = ++this.#serial;
      pictures.unshift(oldest);
    }
  }

  reset(): void {
    this.#history = 0;
  }

  extract(into: Float64Array, offset: number, spatial: boolean): void {
    const layout = this.layout;
    const record = into.subarray(offset, offset + layout.length).fill(Number.NaN);
    const [picture] = this.#references;
    const [distortedPicture] = this.#distorted;
    if (!picture || !distortedPicture) return;
    if (layout.excess >= 0) {
      const { bitDepth } = this.#plan.format;
      const look = (each: Picture, read: boolean) => (read ? findExcess(this.#views(each), bitDepth) : 0);
      // What is not read may hold anything.
      const read = picturesRead(this.#plan, spatial);
      record[layout.excess] = look(picture, read.reference);
      record[layout.excess + 1] = look(distortedPicture, read.distorted);
    }
    this.#measure(record, spatial);
    this.prime();
  }

  /** Carries out the plan's calls on the pair just written. */
  #measure(record: Float64Array, spatial: boolean): void {
    const pictures = {
      reference: this.#references.slice(0, 1 + this.#history),
      distorted: this.#distorted.slice(0, 1 + this.#history),
    };
    this.#context.setFrames(pictures);
    this.#plan.calls.forEach((call, i) => {
      if ((!spatial && !call.everyFrame) || call.back > this.#history) return;
      const values = this.#context.run(call, this.#heat[i]);
      if (!values) throw this.#beyondMeasure(call.metric, pictures);
      record.set(values, this.layout.calls[i]);
    });
  }

  /** Why a metric has no value for a pair. */
  #beyondMeasure(metric: string, pictures: CoreFrames): AnyvmafError {
    const { bitDepth } = this.#plan.format;
    const [met = 'a video has a sample out of range'] = (['distorted', 'reference'] as const).flatMap(
      (side) => {
        const excess = readExcess(
          findExcess(
            pictures[side].slice(0, 1).flatMap((picture) => this.#views(picture)),
            bitDepth,
            true,
          ),
        );
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

/**
 * An extractor on a new instance of the core; it belongs to the calling thread.
 * @throws {AnyvmafError} 'resource' when memory is short.
 */
export function createWasmExtractor(
  module: WebAssembly.Module,
  plan: ExtractionPlan,
  implementation: Implementation,
): FrameExtractor {
  return new WasmExtractor(module, plan, implementation);
}
