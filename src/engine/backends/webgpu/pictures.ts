/**
 * @module engine/backends/webgpu/pictures
 * The pictures of one video: as they were written, in plain memory, and on the GPU. Those in memory last as long as a pair is
 * in flight, so that somebody else can measure it when the GPU goes away.
 */

import { type FramePlanes, sampleBytes } from '../../../core/frame.js';
import type { PictureSize } from '../../../core/size.js';
import { placeOf, planeSizes } from '../pairs.js';
import { type ExtractionPlan, planesRead } from '../types.js';
import { BufferUsage } from './device.js';
import type { GpuPicture } from './kernel.js';
import type { Transfer } from './transfer.js';

/** A picture in plain memory. */
interface Written {
  /** With the zeros that make whole words of them. */
  readonly planes: readonly Uint8Array<ArrayBuffer>[];
  /** The same without these. */
  readonly samples: readonly Uint8Array<ArrayBuffer>[];
  /** Another one each time that it is written. */
  version: number;
  /** Number of the pair it holds; -1 while it is written. */
  index: number;
}

/** A plane on the GPU, and the version of which picture it holds. */
interface Uploaded {
  readonly buffer: GPUBuffer;
  version: number;
}

/** How many pictures are kept at a time. */
export interface RingSizes {
  /** In plain memory. */
  readonly written: number;
  /** On the GPU. */
  readonly uploaded: number;
}

/** Bytes of planes as buffers have them. */
export function paddedBytes({ width, height }: PictureSize, bitDepth: number): number {
  return Math.ceil((width * height * sampleBytes(bitDepth)) / 4) * 4;
}

/** Keeps each picture at the place that its number gives. */
export class Pictures {
  /** Bytes of a picture's planes on the GPU. */
  readonly bytes: number;
  readonly #written: readonly Written[];
  readonly #uploaded: readonly (readonly Uploaded[])[];
  #version = 0;

  /** @param planes of a picture, luma first, that the GPU reads */
  constructor(device: GPUDevice, plan: ExtractionPlan, planes: number, { written, uploaded }: RingSizes) {
    const { format } = plan;
    const sizes = planeSizes(format).slice(0, planesRead(plan));
    const bytes = sizes.map((size) => paddedBytes(size, format.bitDepth));
    this.bytes = bytes.slice(0, planes).reduce((sum, size) => sum + size, 0);
    this.#written = Array.from({ length: written }, () => {
      const memory = bytes.map((length) => new Uint8Array(length));
      const samples = sizes.map(({ width, height }, i) =>
        (memory[i] as Uint8Array<ArrayBuffer>).subarray(0, width * height * sampleBytes(format.bitDepth)),
      );
      return { planes: memory, samples, version: 0, index: -1 };
    });
    this.#uploaded = Array.from({ length: uploaded }, () =>
      bytes.slice(0, planes).map((size) => {
        const usage = BufferUsage.STORAGE | BufferUsage.COPY_DST;
        return { buffer: device.createBuffer({ label: 'plane', size, usage }), version: 0 };
      }),
    );
  }

  /** Where to write the picture of a pair. */
  write(index: number): FramePlanes {
    const picture = placeOf(this.#written, index);
    picture.version = ++this.#version;
    picture.index = -1;
    return this.#frame(picture);
  }

  /** Keeps what was written. */
  keep(index: number): void {
    placeOf(this.#written, index).index = index;
  }

  /** The picture of a pair, if it is kept. */
  frame(index: number): FramePlanes | undefined {
    const picture = index >= 0 ? placeOf(this.#written, index) : undefined;
    return picture?.index === index ? this.#frame(picture) : undefined;
  }

  /** Samples of the planes of a kept picture. */
  samples(index: number): readonly Uint8Array[] {
    return placeOf(this.#written, index).samples;
  }

  /** Brings a plane of a kept picture to the GPU, unless it is there. */
  upload(index: number, plane: number, transfer: Transfer): void {
    const { planes, version } = placeOf(this.#written, index);
    const [from, to] = [planes[plane], placeOf(this.#uploaded, index)[plane]];
    if (!from || !to || to.version === version) return;
    transfer.upload(from, to.buffer);
    to.version = version;
  }

  /** The places on the GPU of a picture and of those before it, newest first. */
  newestFirst(index: number): GpuPicture[] {
    const count = this.#uploaded.length;
    return this.#uploaded.map((_, back) => ({
      planes: placeOf(this.#uploaded, index + count - back).map(({ buffer }) => buffer),
    }));
  }

  close(): void {
    for (const { buffer } of this.#uploaded.flat()) buffer.destroy();
  }

  #frame({ samples: [y = new Uint8Array(), cb, cr] }: Written): FramePlanes {
    return cb && cr ? { y, cb, cr } : { y };
  }
}
