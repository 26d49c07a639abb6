/**
 * @module engine/backends/webgpu/transfer
 * The buffers through which one pair goes to the GPU and its results come back. They are made once: `writeBuffer` makes a
 * buffer for each large write, whose pages the system has to clear, which takes longer than the kernels do.
 */
import { BufferUsage, MapMode } from './device.js';

/** A copy that the next submission makes. */
interface Copy {
  readonly offset: number;
  readonly to: GPUBuffer;
}

/** Carries one pair at a time. */
export class Transfer {
  readonly #queue: GPUQueue;
  readonly #staging: GPUBuffer;
  readonly #readback: GPUBuffer;
  /** Memory of the staging buffer, until its contents are submitted. */
  #mapped: Uint8Array;
  #copies: Copy[] = [];
  #used = 0;

  /**
   * @param uploaded bytes of a pair's planes
   * @param results bytes of its results
   */
  constructor(device: GPUDevice, uploaded: number, results: number) {
    const { MAP_READ, MAP_WRITE, COPY_SRC, COPY_DST } = BufferUsage;
    this.#queue = device.queue;
    this.#staging = device.createBuffer({
      ...{ label: 'staging', size: uploaded, usage: MAP_WRITE | COPY_SRC, mappedAtCreation: true },
    });
    this.#readback = device.createBuffer({ label: 'read-back', size: results, usage: MAP_READ | COPY_DST });
    this.#mapped = new Uint8Array(this.#staging.getMappedRange());
  }

  /** Uploads whole words to a buffer before the next submission's kernels run. */
  upload(from: Uint8Array<ArrayBuffer>, to: GPUBuffer): void {
    const offset = this.#used;
    // The first pair of a chunk uploads those that it looks back to as well.
    if (offset + from.length > this.#mapped.length) {
      this.#queue.writeBuffer(to, 0, from);
      return;
    }
    this.#mapped.set(from, offset);
    this.#copies.push({ offset, to });
    this.#used += from.length;
  }

  /** Encodes the copies to the GPU. */
  copy(encoder: GPUCommandEncoder): void {
    if (this.#used > 0) this.#staging.unmap();
    for (const { offset, to } of this.#copies)
      encoder.copyBufferToBuffer(this.#staging, offset, to, 0, to.size);
  }

  /** Encodes the copy of the results, and submits all that was encoded. */
  submit(encoder: GPUCommandEncoder, results: GPUBuffer): void {
    encoder.copyBufferToBuffer(results, 0, this.#readback, 0, this.#readback.size);
    this.#queue.submit([encoder.finish()]);
  }

  /**
   * Waits until the GPU is done, and reads the results. The next pair may follow.
   * @throws what the device gives when it is lost or closed
   */
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
