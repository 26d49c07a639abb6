/**
 * @module test/support/linear-light
 * Linear light of pictures from perceptual.wasm, in either implementation.
 */
import { readFileSync } from 'node:fs';
import { chromaSize, type VideoFormat } from '../../src/core/frame.js';
import { Core, type Implementation } from '../../src/core/module.js';
import type { Picture } from './metric.js';
import type { ColourNumbers } from './perceptual.js';

const wasm = new WebAssembly.Module(readFileSync(new URL('../../wasm/perceptual.wasm', import.meta.url)));

/** Planes R, G and B, row after row. */
export type Light = readonly [Float32Array, Float32Array, Float32Array];

/** Transfer curves as their standards have them, of values from 0, by their numbers in wasm/include/perceptual.h. */
export const CURVES: readonly ((x: number) => number)[] = [
  (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4),
  (x) => x ** 2.4,
  (x) => x ** 2.2,
  (x) => x ** 2.8,
  (x) => x,
  (x) => (x < 4.5 * 0.018053968510807 ? x / 4.5 : ((x + 0.09929682680944) / 1.09929682680944) ** (1 / 0.45)),
  (x) => {
    const power = Math.min(1, x) ** (32 / 2523);
    return (Math.max(0, power - 3424 / 4096) / (2413 / 128 - (2392 / 128) * power)) ** (16384 / 2610);
  },
  (x) => (x <= 0.5 ? x ** 2 / 3 : (Math.exp((x - 0.55991073) / 0.17883277) + 0.28466892) / 12),
];

/** A picture and its colour. */
export interface Coloured {
  readonly picture: Picture;
  readonly colour: ColourNumbers;
}

/** Converts pairs with one context; an absent serial is a new one. */
export class LinearLight {
  readonly #core = new Core(wasm);
  readonly #format: VideoFormat;
  readonly #context: number;
  #serial = 1000;

  constructor(implementation: Implementation, format: VideoFormat) {
    const { width, height, bitDepth } = format;
    this.#format = format;
    const open = this.#core.call('anyvmaf_open');
    this.#context = open(width, height, bitDepth, implementation === 'simd128' ? 1 : 0);
  }

  /** Light of the reference and of the distorted picture, or the number that the function returns when it fails. */
  pair(sides: readonly [Coloured, Coloured], serials?: readonly [number, number]): readonly Light[] | number {
    const core = this.#core;
    const { width, height, bitDepth } = this.#format;
    const [frames, options, out] = [core.alloc(208), core.alloc(96), core.alloc(24 * width * height)];
    const chroma = chromaSize(this.#format);
    const held = sides.map(({ picture }) =>
      picture.map((samples, plane) => {
        const { width: w, height: h } = plane % 3 === 0 ? this.#format : chroma;
        const address = core.alloc(core.planeBytes(w, h, bitDepth));
        const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
        new Uint8Array(core.memory.buffer, address, bytes.length).set(bytes);
        return [address, w, h];
      }),
    );
    const words = new Uint32Array(core.memory.buffer, frames, 52);
    held.forEach((planes, side) => {
      words.set([serials?.[side] ?? ++this.#serial, ...planes.flat()], 13 * side);
    });
    new Float64Array(core.memory.buffer, options, 12).set(sides.flatMap(({ colour }) => colour));
    const status = core.call('anyvmaf_linear')(this.#context, frames, options, out);
    const n = width * height;
    const plane = (i: number) => new Float32Array(core.memory.buffer, out + 4 * n * i, n).slice();
    const light = [0, 3].map((i): Light => [plane(i), plane(i + 1), plane(i + 2)]);
    for (const address of [frames, options, out, ...held.flat().map(([at = 0]) => at)]) core.free(address);
    return status === 0 ? light : status;
  }

  close(): void {
    this.#core.call('anyvmaf_close')(this.#context);
  }
}

/** Light of one picture. */
export function linearLight(implementation: Implementation, format: VideoFormat, side: Coloured): Light {
  const context = new LinearLight(implementation, format);
  const light = context.pair([side, side]);
  context.close();
  if (typeof light === 'number' || !light[0]) throw new Error(`anyvmaf_linear returned ${light}`);
  return light[0];
}
