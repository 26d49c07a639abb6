/**
 * @module test/support/gpu-engine
 * A fake GPU: the core behind promises, with several pairs in flight, whose device can be lost; and a platform whose workers run
 * in this thread and have it.
 */
import { copyPlanes } from '../../src/core/frame.js';
import type { CoreCall } from '../../src/core/module.js';
import type { AdapterFacts, GpuKind } from '../../src/engine/backends/composite.js';
import { wasmMeasurers } from '../../src/engine/backends/core/extractor.js';
import {
  allocateFrame,
  type ExtractionPlan,
  type FrameSlot,
  type Measurer,
  viewPlanes,
} from '../../src/engine/backends/measurer.js';
import type { FromWorker, Platform, WorkerHandle } from '../../src/engine/contract/platform.js';
import { createWorkerBody } from '../../src/engine/workers/worker-body.js';
import { reopen } from '../../src/media/open.js';
import { nodeFiles } from '../../src/platform/node/files.js';
import { nodePlatform } from '../../src/platform/node/platform.js';
import type { Report } from '../../src/report/schema.js';

export const CARD: AdapterFacts = {
  vendor: 'acme',
  architecture: 'anvil-3',
  device: '',
  description: 'Acme Anvil',
  software: false,
};

export interface FakeGpuOptions {
  readonly adapter?: AdapterFacts;
  /** No adapter. */
  readonly missing?: boolean;
  readonly metrics?: readonly string[];
  /** Extractors that the pictures are too large for. */
  readonly tooLarge?: readonly string[];
  /** Pairs after which the device is lost. */
  readonly lostAfter?: number;
  /** Milliseconds per pair. */
  readonly delay?: number;
  /** Whether it keeps the frames of pairs in flight. */
  readonly frames?: boolean;
}

export interface FakeGpuState {
  opened: number;
  closed: number;
  measured: number;
  most: number;
}

/** Opens fake GPUs and counts their work. */
export class FakeGpus {
  readonly state: FakeGpuState = { opened: 0, closed: 0, measured: 0, most: 0 };
  readonly options: FakeGpuOptions;

  constructor(options: FakeGpuOptions = {}) {
    this.options = options;
  }

  readonly open = async (): Promise<GpuKind> => {
    const { adapter = CARD, metrics = ['vif', 'adm', 'motion'], tooLarge = [] } = this.options;
    const module = await nodePlatform.loadCore();
    const { state, options } = this;
    if (options.missing) throw new Error('there is none');
    state.opened++;
    const limit = ({ metric }: CoreCall) =>
      tooLarge.includes(metric) ? `${metric} needs more memory` : undefined;
    return {
      adapter,
      limit,
      problem: (call) => (metrics.includes(call.metric) ? limit(call) : 'there is no shader for it'),
      open: async (plan) => new FakeMeasurer(module, plan, options, state),
      close() {
        state.closed++;
      },
    };
  };
}

class FakeMeasurer implements Measurer {
  readonly #inner: Measurer;
  readonly #plan: ExtractionPlan;
  readonly #options: FakeGpuOptions;
  readonly #state: FakeGpuState;
  readonly #kept: FrameSlot[] = [];
  readonly slots = 3;
  #inFlight = 0;
  #dead = false;
  readonly #rejecting = new Set<(error: Error) => void>();
  frames?: (index: number) => FrameSlot | undefined;

  constructor(
    module: WebAssembly.Module,
    plan: ExtractionPlan,
    options: FakeGpuOptions,
    state: FakeGpuState,
  ) {
    this.#inner = wasmMeasurers(module, 'simd128').open(plan);
    this.#plan = plan;
    this.#options = options;
    this.#state = state;
    if (options.frames) this.frames = (index) => this.#kept.findLast((slot) => slot.index === index);
  }

  get layout() {
    return this.#inner.layout;
  }

  slot(index: number): FrameSlot {
    const room = () => viewPlanes(allocateFrame(this.#plan), this.#plan);
    return { index, reference: room(), distorted: room() };
  }

  holds(index: number, from: number): boolean {
    return this.#inner.holds(index, from);
  }

  keep(slot: FrameSlot): void {
    this.#inner.keep(this.#copy(slot));
    this.#kept.push(slot);
    if (this.#kept.length > 7) this.#kept.shift();
  }

  #copy(slot: FrameSlot): FrameSlot {
    const own = this.#inner.slot(slot.index);
    copyPlanes(slot.reference, own.reference);
    copyPlanes(slot.distorted, own.distorted);
    return own;
  }

  heatmaps = () => [];
  close = () => this.#inner.close();

  measure(slot: FrameSlot, record: Float64Array, spatial: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#rejecting.add(reject);
      this.#measure(slot, record, spatial).then(resolve, reject);
    });
  }

  /** Rejects all pairs in flight at once. */
  #die(): void {
    this.#dead = true;
    for (const reject of this.#rejecting) reject(new Error('the device is gone'));
  }

  async #measure(slot: FrameSlot, record: Float64Array, spatial: boolean): Promise<void> {
    const { lostAfter = Number.POSITIVE_INFINITY, delay = 1 } = this.#options;
    this.#kept.push(slot);
    this.#state.most = Math.max(this.#state.most, ++this.#inFlight);
    const values = new Float64Array(record.length);
    if (!this.#dead) this.#inner.measure(this.#copy(slot), values, spatial);
    await new Promise((resolve) => setTimeout(resolve, delay + (slot.index % 3 === 0 ? 5 : 0)));
    if (this.#state.measured >= lostAfter) this.#die();
    if (this.#dead) throw new Error('the device is gone');
    record.set(values);
    this.#state.measured++;
    this.#inFlight--;
  }
}

function localWorker(openGpu: () => Promise<GpuKind>): WorkerHandle {
  let listener: (message: FromWorker) => void = () => {};
  let ended = false;
  const take = createWorkerBody({
    post: (message) => setImmediate(() => ended || listener(message)),
    reopen: (descriptor) => reopen(descriptor, nodeFiles),
    runtimes: async () => (await nodePlatform.tiny()).runtimes,
    openGpu,
  });
  return {
    post(message, transfer) {
      const sent = message.kind === 'start' ? message : structuredClone(message, transfer && { transfer });
      setImmediate(() => take(sent));
    },
    listen: (onMessage) => {
      listener = onMessage;
    },
    terminate: async () => {
      ended = true;
    },
  };
}

export function platformWith(gpus: Pick<FakeGpus, 'open'>, parallelism = 2): Platform {
  return {
    ...nodePlatform,
    parallelism,
    gpu: { here: true, driver: true, advice: 'plug one in', open: gpus.open },
    startWorker: () => localWorker(gpus.open),
  };
}

/** What a report says of the videos, not of the machine that measured them. */
export const values = ({ frames, pooled_metrics, aggregate_metrics, frameCount }: Report) => {
  return { frames, pooled_metrics, aggregate_metrics, frameCount };
};
