/**
 * @module test/support/perceptual
 * Runs one function of perceptual.wasm on pictures made in a test or read from PNG files, in either implementation.
 */
import { readFileSync } from 'node:fs';
import { decode } from 'fast-png';
import type { VideoFormat } from '../../src/core/frame.js';
import type { CallArgument } from '../../src/core/kernel.js';
import { Core, type CorePicture, type Implementation } from '../../src/core/module.js';
import { doubles } from '../../src/metrics/metric.js';
import { type Picture, putPicture } from './metric.js';

/** The module, compiled. */
export const perceptual = new WebAssembly.Module(
  readFileSync(new URL('../../wasm/perceptual.wasm', import.meta.url)),
);

/** A colour by the numbers of wasm/include/perceptual.h: matrix, full range, transfer, siting, upsampling, primaries. */
export type ColourNumbers = readonly [number, number, number, number, number, number];

/** RGB of the full range by sRGB's curve. */
export const SRGB: ColourNumbers = [0, 1, 0, 0, 0, 0];

/** Pictures of a pair; each list begins with the pair to measure, then come the pairs before it. */
export interface PictureLists {
  readonly reference: readonly Picture[];
  readonly distorted: readonly Picture[];
}

/** A metric of perceptual.wasm for pictures of one format, which keeps its context from pair to pair. */
export class PerceptualContext {
  readonly #core: Core;
  readonly #format: VideoFormat;
  readonly #context;
  #serial = 0;

  constructor(implementation: Implementation, format: VideoFormat, core = new Core(perceptual)) {
    this.#core = core;
    this.#format = format;
    this.#context = this.#core.open(format, implementation);
  }

  #put(planes: Picture): CorePicture {
    return putPicture(this.#core, this.#format, planes, ++this.#serial);
  }

  /**
   * What `anyvmaf_<name>` gives of a pair.
   * @param args what it takes, `history` with the pairs before it
   * @param heat where its map goes, if `args` has one
   */
  run(
    name: string,
    pictures: PictureLists,
    options: readonly number[],
    fields: number,
    args: readonly CallArgument[] = ['frames', 'parameters'],
    heat?: number,
  ): number[] {
    const held = {
      reference: pictures.reference.map((one) => this.#put(one)),
      distorted: pictures.distorted.map((one) => this.#put(one)),
    };
    this.#context.setFrames(held);
    const call = {
      ...{
        metric: name,
        run: name,
        fields,
        back: 0,
        pictures: 'pair',
        chroma: true,
        everyFrame: false,
        cost: 1,
      },
      args,
      parameters: doubles(options),
    } as const;
    const values = this.#context.run(call, heat);
    if (!values) throw new Error(`perceptual.wasm has no ${name} for these pictures and options`);
    const copy = [...values];
    for (const { planes } of [...held.reference, ...held.distorted])
      for (const { address } of planes) this.#core.free(address);
    return copy;
  }

  close(): void {
    this.#context.close();
  }
}

/** What `anyvmaf_<name>` gives of one pair of a size and depth in 4:4:4. */
export function runPerceptual(
  implementation: Implementation,
  format: VideoFormat,
  [reference, distorted]: readonly [Picture, Picture],
  name: string,
  options: readonly number[],
  fields: number,
  args?: readonly CallArgument[],
): number[] {
  const context = new PerceptualContext(implementation, format);
  const values = context.run(name, { reference: [reference], distorted: [distorted] }, options, fields, args);
  context.close();
  return values;
}

/** The planes G, B and R of a PNG file, without its alpha. */
export function readPng(path: string): { readonly format: VideoFormat; readonly planes: Picture } {
  const { width, height, channels, data, depth } = decode(readFileSync(path));
  const make = (n: number) => (depth > 8 ? new Uint16Array(n) : new Uint8Array(n));
  const planes = [1, 2, 0].map((c) => {
    const at = channels < 3 ? 0 : c;
    return make(width * height).map((_, i) => data[i * channels + at] ?? 0);
  });
  return { format: { width, height, bitDepth: depth, chroma: '444' }, planes };
}
