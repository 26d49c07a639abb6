/**
 * @module test/support/linear-light
 * Linear light of pictures from perceptual.wasm, in either implementation.
 */
import type { VideoFormat } from '../../src/core/frame.js';
import { Core, type Implementation } from '../../src/core/module.js';
import { type Picture, putPicture } from './metric.js';
import { type ColourNumbers, perceptual } from './perceptual.js';

/** Planes R, G and B, row after row. */
export type Light = readonly [Float32Array, Float32Array, Float32Array];

/** A picture and its colour. */
export interface Coloured {
  readonly picture: Picture;
  readonly colour: ColourNumbers;
}

/** Converts pairs with one context; an absent serial is a new one. */
export class LinearLight {
  readonly #core = new Core(perceptual);
  readonly #format: VideoFormat;
  readonly #context: number;
  #serial = 1000;

  constructor(implementation: Implementation, format: VideoFormat) {
    const { width, height, bitDepth } = format;
    this.#format = format;
    const open = this.#core.call('anyvmaf_open');
    this.#context = open(width, height, bitDepth, implementation === 'simd128' ? 1 : 0);
  }

  /**
   * Light of the reference and of the distorted picture, or the number that the function returns when it fails.
   * @param shown by the primaries of BT.709, HLG by a display
   */
  pair(
    sides: readonly [Coloured, Coloured],
    serials?: readonly [number, number],
    shown = false,
  ): readonly Light[] | number {
    const core = this.#core;
    const { width, height } = this.#format;
    const [frames, options, out] = [core.alloc(208), core.alloc(104), core.alloc(24 * width * height)];
    const held = sides.map(({ picture }, i) =>
      putPicture(core, this.#format, picture, serials?.[i] ?? ++this.#serial),
    );
    const words = new Uint32Array(core.memory.buffer, frames, 52);
    held.forEach(({ serial, planes }, side) => {
      words.set(
        [serial, ...planes.flatMap(({ address, width, height }) => [address, width, height])],
        13 * side,
      );
    });
    const numbers = [...sides.flatMap(({ colour }) => colour), shown ? 1 : 0];
    new Float64Array(core.memory.buffer, options, 13).set(numbers);
    const status = core.call('anyvmaf_linear')(this.#context, frames, options, out);
    const n = width * height;
    const plane = (i: number) => new Float32Array(core.memory.buffer, out + 4 * n * i, n).slice();
    const light = [0, 3].map((i): Light => [plane(i), plane(i + 1), plane(i + 2)]);
    const planes = held.flatMap((one) => one.planes.map(({ address }) => address));
    for (const address of [frames, options, out, ...planes]) core.free(address);
    return status === 0 ? light : status;
  }

  close(): void {
    this.#core.call('anyvmaf_close')(this.#context);
  }
}

/** Light of one picture. @param shown by the primaries of BT.709, HLG by a display */
export function linearLight(
  implementation: Implementation,
  format: VideoFormat,
  side: Coloured,
  shown = false,
): Light {
  const context = new LinearLight(implementation, format);
  const light = context.pair([side, side], undefined, shown);
  context.close();
  if (typeof light === 'number' || !light[0]) throw new Error(`anyvmaf_linear returned ${light}`);
  return light[0];
}
