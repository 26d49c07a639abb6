/**
 * @module engine/backends/composite
 * Combines several measurers: splits a plan by the calls that each supports, runs the parts on the same frames and joins
 * their records. If a part's device is lost, another measurer takes over with identical records. This lets a worker measure
 * on a GPU what the GPU supports, and the rest on the core.
 */
import { AnyvmafError, backendError, messageOf } from '../../core/errors.js';
import { copyPlanes, type VideoFormat } from '../../core/frame.js';
import type { CoreCall } from '../../core/module.js';
import type {
  ExtractionPlan,
  FrameSlot,
  InstantKind,
  Measurer,
  MeasurerKind,
  RecordLayout,
} from './measurer.js';
import { allocateFrame, heatmapFiles, historyNeeds, recordLayout, viewPlanes } from './measurer.js';

export interface MeasuredPart {
  readonly part: PlanPart;
  readonly measurer: Measurer;
  /** Set for a device, whose failures count as its loss. */
  readonly device?: {
    /** Takes over when the device is lost, after one call of `onLoss` with the reason. Absent: the run ends instead. */
    readonly rescue?: InstantKind | undefined;
    onLoss(reason: string): void;
    /** Called for each pair that the device has measured. */
    onMeasured(): void;
  };
}

/** The first measurer may have several pairs in flight, others finish at once. Stores frames in flight and history. */
export class CompositeMeasurer implements Measurer {
  readonly layout: RecordLayout;
  readonly slots: number;
  readonly #parts: readonly Part[];
  readonly #frames: FrameStore;

  constructor(plan: ExtractionPlan, parts: readonly MeasuredPart[]) {
    this.layout = recordLayout(plan);
    // A heatmap is valid only until the next pair is measured.
    this.slots = heatmapFiles(plan).length > 0 ? 1 : (parts[0]?.measurer.slots ?? 1);
    const own = plan.pictures ? undefined : framesOf(parts);
    this.#frames = own ?? new Frames(plan, this.slots + historyNeeds(plan).frames);
    this.#parts = parts.map((part) => new Part(part, this.#frames, own !== undefined));
  }

  slot(index: number): FrameSlot {
    return this.#frames.slot(index);
  }

  holds(index: number, from: number): boolean {
    return index >= 0 && this.#parts.every((part) => part.holds(index, from));
  }

  keep(slot: FrameSlot): void {
    this.#frames.complete(slot);
    for (const part of this.#parts) part.keep(slot);
  }

  measure(slot: FrameSlot, record: Float64Array, spatial: boolean): Promise<void> | undefined {
    record.fill(Number.NaN);
    this.#frames.complete(slot);
    const working = this.#parts.flatMap((part) => {
      const join = (values: Float64Array) => joinRecord(record, part.part, values);
      const measuring = part.measure(slot, spatial, join);
      // If another part fails first, this one is not awaited.
      measuring?.catch(() => {});
      return measuring ?? [];
    });
    return working.length > 1 ? Promise.all(working).then(() => {}) : working[0];
  }

  heatmaps(slot: FrameSlot): readonly Uint8Array[] {
    return this.#parts.flatMap((part) => part.heatmaps(slot));
  }

  close(): void {
    for (const part of this.#parts) part.close();
  }
}

interface FrameStore {
  slot(index: number): FrameSlot;
  complete(slot: FrameSlot): void;
  find(index: number): FrameSlot | undefined;
}

/** The slots of a single measurer, unless something else needs copies of its frames. */
function framesOf([only, ...others]: readonly MeasuredPart[]): FrameStore | undefined {
  if (!only || others.length > 0) return undefined;
  const { measurer, device } = only;
  if (device?.rescue && !measurer.frames) return undefined;
  return {
    slot: (index) => measurer.slot(index),
    complete: (slot) => measurer.keep(slot),
    find: (index) => measurer.frames?.(index),
  };
}

class Frames implements FrameStore {
  readonly #pairs: { slot: FrameSlot; complete: boolean }[];
  #next = 0;

  constructor(plan: ExtractionPlan, size: number) {
    const planes = () => viewPlanes(allocateFrame(plan), plan);
    this.#pairs = Array.from({ length: size }, () => ({
      slot: { index: -1, reference: planes(), distorted: planes() },
      complete: false,
    }));
  }

  /** Reuses the memory of the oldest pair. */
  slot(index: number): FrameSlot {
    const pair = this.#pairs[this.#next++ % this.#pairs.length];
    if (!pair) throw new Error('there is room for no pair');
    pair.complete = false;
    pair.slot = { ...pair.slot, index };
    return pair.slot;
  }

  complete(slot: FrameSlot): void {
    for (const pair of this.#pairs) pair.complete ||= pair.slot === slot;
  }

  find(index: number): FrameSlot | undefined {
    return this.#pairs.find(({ slot, complete }) => complete && slot.index === index)?.slot;
  }
}

type JoinValues = (values: Float64Array) => void;

class Part {
  readonly part: PlanPart;
  readonly #options: MeasuredPart;
  readonly #frames: FrameStore;
  readonly #own: boolean;
  readonly #back: number;
  #measurer: Measurer;
  #lost: string | undefined;
  #closed = false;

  /** @param own whether frames are in this measurer's slots */
  constructor(options: MeasuredPart, frames: FrameStore, own: boolean) {
    this.part = options.part;
    this.#options = options;
    this.#frames = frames;
    this.#own = own;
    this.#back = historyNeeds(options.part.plan).frames;
    this.#measurer = options.measurer;
  }

  holds(index: number, from: number): boolean {
    // Other parts may look back further.
    if (index < from - this.#back) return true;
    return this.#lost === undefined
      ? this.#measurer.holds(index, from)
      : this.#frames.find(index) !== undefined;
  }

  keep(slot: FrameSlot): void {
    // A rescue gets earlier frames on demand.
    if (this.#own || this.#back === 0 || this.#lost !== undefined) return;
    try {
      this.#measurer.keep(this.#take(slot));
    } catch (error) {
      this.#replace(error);
    }
  }

  measure(slot: FrameSlot, spatial: boolean, join: JoinValues): Promise<void> | undefined {
    if (this.#lost !== undefined) return this.#measureAgain(slot, spatial, join);
    const values = new Float64Array(this.#measurer.layout.length);
    const done = () => {
      join(values);
      this.#options.device?.onMeasured();
    };
    const stopped = (error: unknown) => {
      this.#replace(error);
      this.#measureAgain(slot, spatial, join);
    };
    let measuring: Promise<void> | undefined;
    try {
      measuring = this.#measurer.measure(this.#take(slot), values, spatial);
    } catch (error) {
      stopped(error);
      return undefined;
    }
    if (!measuring) {
      done();
      return undefined;
    }
    return measuring.then(done, stopped);
  }

  heatmaps(slot: FrameSlot): readonly Uint8Array[] {
    return heatmapFiles(this.part.plan).length > 0 ? this.#measurer.heatmaps(slot) : [];
  }

  close(): void {
    this.#closed = true;
    this.#options.measurer.close();
    if (this.#lost !== undefined) this.#measurer.close();
  }

  /** Copies a pair into a slot of this measurer, unless it is already in one. */
  #take(slot: FrameSlot): FrameSlot {
    if (this.#own && this.#lost === undefined) return slot;
    const own = this.#measurer.slot(slot.index);
    copyPlanes(slot.reference, own.reference);
    copyPlanes(slot.distorted, own.distorted);
    return own;
  }

  /** Switches to the rescue. @throws the failure if there is no rescue or the measurer is not at fault */
  #replace(error: unknown): void {
    const { device, part } = this.#options;
    const ofVideo = error instanceof AnyvmafError && ['aborted', 'feature', 'media'].includes(error.code);
    if (!device || ofVideo || this.#closed) throw error;
    const reason = messageOf(error);
    if (!device.rescue) throw stoppedError(error, reason);
    if (this.#lost !== undefined) return;
    this.#lost = reason;
    this.#measurer = device.rescue.open(part.plan);
    device.onLoss(reason);
  }

  /** Measures a pair with the rescue, after the earlier pairs that it looks back to. */
  #measureAgain(slot: FrameSlot, spatial: boolean, join: JoinValues): undefined {
    for (let index = Math.max(0, slot.index - this.#back); index < slot.index; index++) {
      const earlier = this.#measurer.holds(index, slot.index) ? undefined : this.#frames.find(index);
      if (earlier) this.#measurer.keep(this.#take(earlier));
    }
    const values = new Float64Array(this.#measurer.layout.length);
    void this.#measurer.measure(this.#take(slot), values, spatial);
    join(values);
  }
}

function stoppedError(cause: unknown, reason: string): AnyvmafError {
  const known = cause instanceof AnyvmafError;
  if (known && cause.code !== 'backend') return cause;
  return backendError((known ? reason : `The GPU stopped measuring: ${reason}`).replace(/\.$/, ''), {
    cause,
    hints: [
      'use the backend auto or hybrid, which continue with the core',
      'use the backend cpu, which is the core alone',
    ],
  });
}

const isPerceptual = ({ module }: CoreCall): boolean => module === 'perceptual';

export function withPerceptual(core: InstantKind, perceptual: InstantKind): InstantKind {
  const kinds = [
    { ...core, problem: (call: CoreCall) => (isPerceptual(call) ? 'the core lacks it' : undefined) },
    { ...perceptual, problem: () => undefined },
  ];
  return {
    problem: () => undefined,
    open(plan) {
      if (plan.calls.every(isPerceptual)) return perceptual.open(plan);
      if (!plan.calls.some(isPerceptual)) return core.open(plan);
      const parts = splitPlan(plan, kinds);
      return new CompositeMeasurer(
        plan,
        kinds.flatMap((kind, i) => {
          const part = parts[i];
          return part ? [{ part, measurer: kind.open(part.plan) }] : [];
        }),
      );
    },
  };
}

export interface PlanPart {
  readonly plan: ExtractionPlan;
  /** Index in the whole record, for each field of this part's calls. */
  readonly places: readonly number[];
}

/** Assigns calls to the first measurer that supports each. @throws {AnyvmafError} `backend` for unsupported calls */
export function splitPlan(
  plan: ExtractionPlan,
  kinds: readonly Pick<MeasurerKind, 'problem'>[],
): readonly PlanPart[] {
  const takers = plan.calls.map((call) => {
    const found = kinds.findIndex((kind) => kind.problem(call, plan.format) === undefined);
    if (found >= 0) return found;
    throw backendError(`No backend of this run measures ${call.metric}.`);
  });
  return kinds.map((_, number) => partOf(plan, (call) => takers[call] === number));
}

function partOf(whole: ExtractionPlan, takes: (call: number) => boolean): PlanPart {
  const { calls, format } = whole;
  const all = recordLayout(whole);
  const fields = (start: number, count: number) => Array.from({ length: count }, (_, i) => start + i);
  const places = calls.flatMap(({ fields: count }, i) =>
    takes(i) ? fields(all.calls[i] as number, count) : [],
  );
  return { plan: { format, calls: calls.filter((_, i) => takes(i)) }, places };
}

/** Writes a part's fields into the whole record, which holds NaN where no part has written. */
function joinRecord(whole: Float64Array, { places }: PlanPart, values: Float64Array): void {
  for (const [i, place] of places.entries()) whole[place] = values[i] as number;
}

/** A GPU as its driver describes it; empty where the driver does not say. */
export interface AdapterFacts {
  readonly vendor: string;
  readonly architecture: string;
  readonly device: string;
  readonly description: string;
  /** Whether a processor emulates the GPU: correct, but slow. */
  readonly software: boolean;
}

export interface GpuKind extends MeasurerKind {
  readonly adapter: AdapterFacts;
  /** Why pictures are too large for a supported call, as the end of a sentence. Absent: no size limit. */
  limit?(call: CoreCall, format: VideoFormat): string | undefined;
  close(): void;
}

/**
 * How a worker uses a GPU. `required`: it measures every call with a shader, or the run fails. `shared`: required at the
 * start; the core continues if it is lost. `tried`: used if there is a hardware GPU.
 */
export type GpuUse = 'required' | 'shared' | 'tried';

export interface GpuState {
  /** `null` if there is none to use. */
  readonly adapter: AdapterFacts | null;
  /** Indices of the plan's calls that it measures. */
  readonly calls: readonly number[];
  /** Why the core measures the other calls, by extractor name. */
  readonly others: Readonly<Record<string, string>>;
  readonly pairs: number;
  /** Why it stopped measuring, as the end of a sentence. */
  readonly lost: string | null;
}

export interface GpuMeasurer {
  readonly measurer?: Measurer;
  readonly state: GpuState;
  /** Frees everything; pairs in flight fail. Idempotent. */
  close(): void;
}

/**
 * @param openGpu throws if there is no GPU
 * @param onLoss called when the GPU is lost and the core continues
 * @throws {AnyvmafError} `backend` unless `tried`: no GPU, no supported call, or, with `required`, too large pictures
 */
export async function openGpuMeasurer(
  openGpu: () => Promise<GpuKind>,
  core: InstantKind,
  plan: ExtractionPlan,
  use: GpuUse,
  onLoss: () => void = () => {},
): Promise<GpuMeasurer> {
  let gpu: GpuKind | undefined;
  try {
    gpu = await openGpu();
    return await open(gpu, core, plan, use, onLoss);
  } catch (error) {
    gpu?.close();
    if (use !== 'tried') throw error;
    return NO_GPU;
  }
}

const NO_GPU: GpuMeasurer = {
  state: { adapter: null, calls: [], others: {}, pairs: 0, lost: null },
  close() {},
};

async function open(gpu: GpuKind, core: InstantKind, plan: ExtractionPlan, use: GpuUse, onLoss: () => void) {
  if (use === 'required') checkSize(gpu, plan);
  const problems = plan.calls.map((call) => problemOf(gpu, call, plan));
  const calls = problems.flatMap((problem, number) => (problem === undefined ? number : []));
  const others = Object.fromEntries(plan.calls.map(({ metric }, i) => [metric, problems[i] ?? '']));
  for (const name of Object.keys(others)) if (others[name] === '') delete others[name];
  if (calls.length === 0) throw nothingToMeasure(others);
  if (use === 'tried' && gpu.adapter.software) throw new Error('a software adapter is not taken by itself');
  const kind = { problem: (call: CoreCall) => problems[plan.calls.indexOf(call)] };
  const [ofGpu, ofCore] = splitPlan(plan, [kind, core]);
  if (!ofGpu || !ofCore) throw new Error('a plan was not split in two');
  let pairs = 0;
  let lost: string | null = null;
  const device = {
    rescue: use === 'required' ? undefined : core,
    onLoss(reason: string) {
      lost = reason;
      onLoss();
    },
    onMeasured() {
      pairs++;
    },
  };
  const part: MeasuredPart = { part: ofGpu, measurer: await gpu.open(ofGpu.plan), device };
  const rest = ofCore.plan.calls.length > 0 ? [{ part: ofCore, measurer: core.open(ofCore.plan) }] : [];
  const measurer = new CompositeMeasurer(plan, [part, ...rest]);
  let closed = false;
  return {
    measurer,
    get state() {
      return { adapter: gpu.adapter, calls, others, pairs, lost };
    },
    close() {
      if (closed) return;
      closed = true;
      measurer.close();
      gpu.close();
    },
  };
}

function problemOf(gpu: GpuKind, call: CoreCall, { format }: ExtractionPlan): string | undefined {
  return call.heatmaps ? 'only the core writes its heatmaps' : gpu.problem(call, format);
}

/** @throws {AnyvmafError} `backend` if a picture is too large for a call that the GPU supports */
function checkSize(gpu: GpuKind, { calls, format }: ExtractionPlan): void {
  for (const call of calls) {
    const limit = call.heatmaps ? undefined : gpu.limit?.(call, format);
    if (limit === undefined) continue;
    throw backendError(`The picture is too large for the GPU: ${limit}`, {
      hints: [
        'use the backend hybrid or auto, in which the core measures what is too large',
        'use the backend cpu',
      ],
    });
  }
}

function nothingToMeasure(others: Readonly<Record<string, string>>): AnyvmafError {
  const reasons = Object.entries(others).map(([metric, problem]) => `${metric}: ${problem}`);
  const why = reasons.length > 0 ? ` (${reasons.join('; ')})` : '';
  return backendError(`The GPU supports none of this run's metrics${why}`, {
    hints: ['use the backend cpu'],
  });
}
