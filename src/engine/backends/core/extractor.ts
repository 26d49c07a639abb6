/**
 * @module engine/backends/core/extractor
 * Measures frame pairs with the WebAssembly core: keeps frames in its memory and runs the plan's calls.
 */
import { type AnyvmafError, mediaError } from '../../../core/errors.js';
import { type FramePlanes, sampleBytes } from '../../../core/frame.js';
import {
  Core,
  type CoreContext,
  type CoreFrames,
  type CoreModules,
  type CorePicture,
  type Implementation,
} from '../../../core/module.js';
import type { ExtractionPlan, FrameSlot, InstantKind, Measurer, RecordLayout } from '../measurer.js';
import {
  callsOf,
  describeExcess,
  EXCESS_ADVICE,
  findExcess,
  historyNeeds,
  placeOf,
  planeSizes,
  planesRead,
  readExcess,
  recordLayout,
} from '../measurer.js';

/** Bytes of a heatmap sample. */
const HEAT_BYTES = 2;

interface Picture extends CorePicture {
  serial: number;
  /** Index of the pair that it holds; -1 while it is written. */
  index: number;
}

/** Keeps pictures in rings indexed by pair, so that a new picture does not overwrite its history. */
class WasmMeasurer implements Measurer {
  readonly layout: RecordLayout;
  readonly slots = 1;
  readonly #plan: ExtractionPlan;
  readonly #core: Core;
  readonly #context: CoreContext;
  readonly #bytesPerSample: number;
  readonly #references: readonly Picture[];
  readonly #distorted: readonly Picture[];
  /** Address of the heatmaps of each call. */
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
    this.#distorted = Array.from({ length: distorted ? 1 + frames : 1 }, picture);
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
    const [y = new Uint8Array(), cb, cr, alpha] = this.#views(picture);
    return cb && cr ? { y, cb, cr, ...(alpha && { alpha }) } : { y };
  }

  #views({ planes }: CorePicture): Uint8Array[] {
    const { buffer } = this.#core.memory;
    return planes.map(
      ({ address, width, height }) => new Uint8Array(buffer, address, width * height * this.#bytesPerSample),
    );
  }

  measure(slot: FrameSlot, record: Float64Array, spatial: boolean): undefined {
    const { index } = slot;
    record.fill(Number.NaN);
    const pictures = {
      reference: newestFirst(this.#references, index),
      distorted: newestFirst(this.#distorted, index),
    };
    this.#context.setFrames(pictures);
    for (const [i, call] of callsOf(this.#plan, index, spatial, (earlier) => this.holds(earlier))) {
      const values = this.#context.run(call, this.#heat[i]);
      if (!values) throw this.#beyondMeasure(call.metric, pictures);
      record.set(values, this.layout.calls[i]);
    }
    this.keep(slot);
  }

  #beyondMeasure(metric: string, pictures: CoreFrames): AnyvmafError {
    const { bitDepth } = this.#plan.format;
    const [met = 'a video has a sample out of range'] = (['distorted', 'reference'] as const).flatMap(
      (side) => {
        const views = pictures[side].slice(0, 1).flatMap((picture) => this.#views(picture));
        const excess = readExcess(findExcess(views, bitDepth, true));
        return excess ? `the ${side} video ${describeExcess(excess, bitDepth)}` : [];
      },
    );
    return mediaError(`The ${metric} extractor has no value here: ${met}; ${EXCESS_ADVICE}.`);
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

/** The places of a pair and its predecessors, whether or not they hold them. */
function newestFirst(pictures: readonly Picture[], index: number): Picture[] {
  return Array.from({ length: Math.min(pictures.length, index + 1) }, (_, back) =>
    placeOf(pictures, index - back),
  );
}

/** Measures with one module in the calling thread; each measurer has its own instance. */
export function wasmMeasurers(module: WebAssembly.Module, implementation: Implementation): InstantKind {
  return { problem: () => undefined, open: (plan) => new WasmMeasurer(module, plan, implementation) };
}

/** Measures every metric in the calling thread. */
export async function coreMeasurers(
  { core, perceptual }: CoreModules,
  implementation: Implementation,
): Promise<InstantKind> {
  const kind = wasmMeasurers(core, implementation);
  if (!perceptual) return kind;
  const { withPerceptual } = await import('../composite.js');
  return withPerceptual(kind, wasmMeasurers(perceptual, implementation));
}
