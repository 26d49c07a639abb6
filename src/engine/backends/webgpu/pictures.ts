/**
 * @module engine/backends/webgpu/pictures
 * The pictures of one video in plain memory and on the GPU, and the buffers that carry pairs there and results back.
 * Pictures stay in memory while a pair is in flight, so that another measurer can take over if the GPU is lost.
 */

import { type FramePlanes, sampleBytes } from '../../../core/frame.js';
import type { PictureSize } from '../../../core/size.js';
import { type ExtractionPlan, placeOf, planeSizes, planesRead } from '../types.js';
import { BufferUsage, MapMode } from './device.js';
import type { GpuPicture } from './kernel.js';

interface Written {
  /** Padded with zeros to whole words. */
  readonly planes: readonly Uint8Array<ArrayBuffer>[];
  /** The same without padding. */
  readonly samples: readonly Uint8Array<ArrayBuffer>[];
  /** Changes each time it is written. */
  version: number;
  /** Number of the pair it holds; -1 while it is written. */
  index: number;
}

/** A plane on the GPU, and the version of the picture it holds. */
interface Uploaded {
  readonly buffer: GPUBuffer;
  version: number;
}

export interface RingSizes {
  /** In plain memory. */
  readonly written: number;
  /** On the GPU. */
  readonly uploaded: number;
}

/** Bytes of a plane's buffer, in whole words. */
export function paddedBytes({ width, height }: PictureSize, bitDepth: number): number {
  return Math.ceil((width * height * sampleBytes(bitDepth)) / 4) * 4;
}

/** Keeps each picture at the place given by its number. */
export class Pictures {
  readonly bytes: number;
  readonly #written: readonly Written[];
  readonly #uploaded: readonly (readonly Uploaded[])[];
  #version = 0;

  /** @param planes that the GPU reads of a picture, luma first */
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

  write(index: number): FramePlanes {
    const picture = placeOf(this.#written, index);
    picture.version = ++this.#version;
    picture.index = -1;
    return this.#frame(picture);
  }

  keep(index: number): void {
    placeOf(this.#written, index).index = index;
  }

  frame(index: number): FramePlanes | undefined {
    const picture = index >= 0 ? placeOf(this.#written, index) : undefined;
    return picture?.index === index ? this.#frame(picture) : undefined;
  }

  samples(index: number): readonly Uint8Array[] {
    return placeOf(this.#written, index).samples;
  }

  /** Uploads a plane of a kept picture, unless the GPU has it. */
  upload(index: number, plane: number, transfer: Transfer): void {
    const { planes, version } = placeOf(this.#written, index);
    const [from, to] = [planes[plane], placeOf(this.#uploaded, index)[plane]];
    if (!from || !to || to.version === version) return;
    transfer.upload(from, to.buffer);
    to.version = version;
  }

  /** Places on the GPU of a picture and of those before it, newest first. */
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

interface Copy {
  readonly offset: number;
  readonly to: GPUBuffer;
}

/** Carries one pair at a time. Reuses its buffers: `writeBuffer` makes one per large write, slower than the kernels. */
export class Transfer {
  readonly #queue: GPUQueue;
  readonly #staging: GPUBuffer;
  readonly #readback: GPUBuffer;
  /** Memory of the staging buffer, until its contents are submitted. */
  #mapped: Uint8Array;
  #copies: Copy[] = [];
  #used = 0;

  /** @param uploaded bytes of a pair's planes @param results bytes of its results */
  constructor(device: GPUDevice, uploaded: number, results: number) {
    const { MAP_READ, MAP_WRITE, COPY_SRC, COPY_DST } = BufferUsage;
    this.#queue = device.queue;
    this.#staging = device.createBuffer({
      ...{ label: 'staging', size: uploaded, usage: MAP_WRITE | COPY_SRC, mappedAtCreation: true },
    });
    this.#readback = device.createBuffer({ label: 'read-back', size: results, usage: MAP_READ | COPY_DST });
    this.#mapped = new Uint8Array(this.#staging.getMappedRange());
  }

  /** Uploads whole words to a buffer before the kernels of the next submission run. */
  upload(from: Uint8Array<ArrayBuffer>, to: GPUBuffer): void {
    const offset = this.#used;
    // The first pair of a chunk also uploads those that it looks back to.
    if (offset + from.length > this.#mapped.length) {
      this.#queue.writeBuffer(to, 0, from);
      return;
    }
    this.#mapped.set(from, offset);
    this.#copies.push({ offset, to });
    this.#used += from.length;
  }

  copy(encoder: GPUCommandEncoder): void {
    if (this.#used > 0) this.#staging.unmap();
    for (const { offset, to } of this.#copies)
      encoder.copyBufferToBuffer(this.#staging, offset, to, 0, to.size);
  }

  /** Encodes the copy of the results, and submits everything encoded. */
  submit(encoder: GPUCommandEncoder, results: GPUBuffer): void {
    encoder.copyBufferToBuffer(results, 0, this.#readback, 0, this.#readback.size);
    this.#queue.submit([encoder.finish()]);
  }

  /** Awaits and reads the results; the next pair may follow. @throws the device's error if it is lost or closed */
  async take(read: (results: ArrayBuffer) => void): Promise<void> {
    const staged = this.#used > 0 ? this.#staging.mapAsync(MapMode.WRITE) : undefined;
    await Promise.all([this.#readback.mapAsync(MapMode.READ), staged]);
    read(this.#readback.getMappedRange());
    this.#readback.unmap();
    if (staged) this.#mapped = new Uint8Array(this.#staging.getMappedRange());
    this.#copies = [];
    this.#used = 0;
  }

  close(): void {
    this.#staging.destroy();
    this.#readback.destroy();
  }
}
