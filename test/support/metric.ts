/**
 * @module test/support/metric
 * Runs one metric of the WebAssembly core on pictures made in a test, in either implementation, and finishes records made by hand.
 */
import { readFileSync } from 'node:fs';
import type { Compat } from '../../src/core/choices.js';
import type { ChromaFormat, VideoFormat } from '../../src/core/frame.js';
import { Core, type CoreCall, type CorePicture, type Implementation } from '../../src/core/module.js';
import { type FeaturePlan, planFeatures } from '../../src/engine/backends/features.js';
import { FeatureFinisher, type FinishedFrame } from '../../src/engine/results/scoring.js';
import { METRICS } from '../../src/metrics/index.js';
import { coreCalls } from '../../src/metrics/metric.js';
import { parseFeature } from '../../src/metrics/options.js';
import type { SeededRandom } from './random.js';

export const wasm = new WebAssembly.Module(readFileSync(new URL('../../wasm/anyvmaf.wasm', import.meta.url)));

/** Samples of the planes of a picture, luma first. */
export type Picture = readonly (Uint8Array | Uint16Array)[];

/** A pair of pictures, the pair before it, and the reference before that. */
interface Pictures {
  readonly reference: Picture;
  readonly distorted: Picture;
  readonly earlierReference?: Picture;
  readonly earlierDistorted?: Picture;
  readonly secondEarlierReference?: Picture;
}

/** Columns and rows of the planes of a format. */
function planeSizes({ width, height, chroma }: VideoFormat): readonly (readonly [number, number])[] {
  const sub = [chroma === '444' ? width : width >> 1, chroma === '420' ? height >> 1 : height] as const;
  return chroma === '400' ? [[width, height]] : [[width, height], sub, sub];
}

export function format(width: number, height: number, bitDepth = 8, chroma: ChromaFormat = '420') {
  return { width, height, bitDepth, chroma } satisfies VideoFormat;
}

/** A picture whose samples `sample` computes. */
export function picture(video: VideoFormat, sample: (x: number, y: number, plane: number) => number) {
  return planeSizes(video).map(([width, height], plane) => {
    const out = video.bitDepth > 8 ? new Uint16Array(width * height) : new Uint8Array(width * height);
    return out.map((_, i) => sample(i % width, Math.floor(i / width), plane));
  });
}

/** A picture whose samples differ by up to `amount` from another's, within the depth. */
export function disturbed(random: SeededRandom, from: Picture, bitDepth: number, amount: number): Picture {
  const top = 2 ** bitDepth - 1;
  return from.map((plane) => plane.map((v) => Math.min(top, Math.max(0, v + random.int(-amount, amount)))));
}

/** Copies a picture into the memory of a module; its fourth plane is alpha. */
export function putPicture(core: Core, video: VideoFormat, planes: Picture, serial: number): CorePicture {
  const [luma = [0, 0], chroma = luma] = planeSizes(video);
  return {
    serial,
    planes: planes.map((samples, i) => {
      const [width, height] = i % 3 === 0 ? luma : chroma;
      const address = core.alloc(core.planeBytes(width, height, video.bitDepth));
      const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
      new Uint8Array(core.memory.buffer, address, bytes.length).set(bytes);
      return { address, width, height };
    }),
  };
}

/** The call that measures one variant of a metric. */
export function callOf(name: string, video: VideoFormat, options: readonly number[]): CoreCall {
  const metric = METRICS.find(({ spec }) => spec.name === name);
  const [call] = metric ? coreCalls(metric, [{ options, extent: [] }], video) : [];
  if (!call) throw new Error(`nothing measures ${name}`);
  return call;
}

/** The values of the core's `anyvmaf_<metric>`. @param options in the order of wasm/include/anyvmaf.h */
export function runMetric(
  implementation: Implementation,
  video: VideoFormat,
  pictures: Pictures,
  metric: string,
  options: readonly number[] = [],
): number[] {
  const core = new Core(wasm);
  const context = core.open(video, implementation);
  let serial = 0;
  const put = (planes: Picture) => putPicture(core, video, planes, ++serial);
  const { reference, distorted, earlierReference, earlierDistorted, secondEarlierReference } = pictures;
  const held = (...each: readonly (Picture | undefined)[]) => each.flatMap((one) => (one ? [put(one)] : []));
  context.setFrames({
    reference: held(reference, earlierReference, secondEarlierReference),
    distorted: held(distorted, earlierDistorted),
  });
  const values = context.run(callOf(metric, video, options));
  if (!values) throw new Error(`the core has no ${metric} for these pictures and options`);
  return [...values];
}

/** The values of both implementations, portable first; a test expects them to be equal. */
export function runTwins(
  ...args: Parameters<typeof runMetric> extends [unknown, ...infer Rest] ? Rest : never
) {
  return [runMetric('portable', ...args), runMetric('simd128', ...args)] as const;
}

/** A format of 4:2:0, 8 bit unless overridden. */
export function videoFormat(width: number, height: number, more: Partial<VideoFormat> = {}): VideoFormat {
  return { width, height, bitDepth: 8, chroma: '420', ...more };
}

/** The plan of feature strings. */
export function planOf(features: readonly string[], format: VideoFormat, compat: Compat = 'libvmaf-3.2') {
  return planFeatures(features.map(parseFeature), format, compat);
}

/** The output of a sequence. */
export interface Finished {
  readonly frames: readonly FinishedFrame[];
  /** The record after which each frame came out; past the last for `flush`. */
  readonly after: readonly number[];
  readonly aggregates: Readonly<Record<string, number>>;
  /** A feature's values over the frames listed. */
  series(name: string): number[];
}

/** Finishes a sequence given as one record per frame. */
export function finish(
  plan: FeaturePlan,
  records: readonly (readonly number[])[],
  subsample?: number,
): Finished {
  const finisher = new FeatureFinisher(plan, subsample);
  const frames: FinishedFrame[] = [];
  const after: number[] = [];
  const take = (finished: readonly FinishedFrame[], moment: number): void => {
    frames.push(...finished);
    after.push(...finished.map(() => moment));
  };
  records.forEach((record, i) => {
    // At an offset, as within a chunk of records.
    take(finisher.push(Float64Array.of(-1, -1, ...record), 2), i);
  });
  take(finisher.flush(), records.length);
  return {
    frames,
    after,
    aggregates: finisher.aggregates(),
    series(name) {
      const slot = plan.names.indexOf(name);
      if (slot < 0) throw new Error(`no ${name} among ${plan.names.join(', ')}`);
      return frames.map(({ values }) => values[slot] ?? Number.NaN);
    },
  };
}
