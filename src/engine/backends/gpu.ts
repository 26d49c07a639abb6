/**
 * @module engine/backends/gpu
 * Measures what a GPU can on it and the rest with the core, in one worker, and goes on with the core alone when the GPU
 * goes away.
 */
import { AnyvmafError } from '../../core/errors.js';
import type { VideoFormat } from '../../core/frame.js';
import type { CoreCall } from '../../core/kernel.js';
import { CompositeMeasurer, type MeasuredPart, splitPlan } from './composite.js';
import type { ExtractionPlan, InstantKind, Measurer, MeasurerKind } from './types.js';

/** A GPU as its driver describes it; what it does not say is empty. */
export interface AdapterFacts {
  readonly vendor: string;
  readonly architecture: string;
  readonly device: string;
  readonly description: string;
  /** A processor pretends to be a GPU: right, but slow. */
  readonly software: boolean;
}

/** A GPU that measures. */
export interface GpuKind extends MeasurerKind {
  readonly adapter: AdapterFacts;
  /** Resolves with a reason when the device is lost. */
  readonly lost: Promise<string>;
  /**
   * Why pictures are too large for a call that it could measure of smaller ones, as a reason that ends a sentence;
   * `undefined` where they are not. Absent: nothing is too large.
   */
  limit?(call: CoreCall, format: VideoFormat): string | undefined;
  /** Gives the device back. */
  close(): void;
}

/**
 * How a worker uses a GPU. `required`: it measures all it has a shader for, or the run ends with an error. `shared`: required at the
 * start; if it is lost, the core goes on. `tried`: used if there is one that is no software.
 */
export type GpuUse = 'required' | 'shared' | 'tried';

/** What a worker's GPU does. */
export interface GpuState {
  /** `null` where there is none to use. */
  readonly adapter: AdapterFacts | null;
  /** Calls of the plan that it measures, by number. */
  readonly calls: readonly number[];
  /** Why the core measures the other calls, by the name of the extractor. */
  readonly others: Readonly<Record<string, string>>;
  /** Pairs that it measured. */
  readonly pairs: number;
  /** Why it measures no more, as the end of a sentence. */
  readonly lost: string | null;
}

/** A GPU and the core as one measurer. */
export interface GpuMeasurer {
  /** Absent where there is no GPU to use. */
  readonly measurer?: Measurer;
  readonly state: GpuState;
  /** Frees all; what is in flight fails. Resolves when nothing of it is left. May be called twice. */
  close(): Promise<void>;
}

/**
 * Opens a GPU for a plan.
 * @param openGpu throws where there is none
 * @param onLoss called when it is lost and the core goes on
 * @throws {AnyvmafError} `backend` where a GPU that is not only `tried` cannot be had or has nothing to measure, or where
 *   the pictures are too large for one that is `required`
 */
export async function openGpuMeasurer(
  openGpu: () => Promise<GpuKind>,
  core: InstantKind,
  plan: ExtractionPlan,
  use: GpuUse,
  onLoss: () => void = () => {},
): Promise<GpuMeasurer> {
  let gpu: GpuKind;
  try {
    gpu = await openGpu();
  } catch (error) {
    if (use !== 'tried') throw error;
    return NO_GPU;
  }
  try {
    return await open(gpu, core, plan, use, onLoss);
  } catch (error) {
    gpu.close();
    if (use !== 'tried') throw error;
    return NO_GPU;
  }
}

const NO_GPU: GpuMeasurer = {
  state: { adapter: null, calls: [], others: {}, pairs: 0, lost: null },
  close: async () => {},
};

async function open(
  gpu: GpuKind,
  core: InstantKind,
  plan: ExtractionPlan,
  use: GpuUse,
  onLoss: () => void,
): Promise<GpuMeasurer> {
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
  const stop = (reason: string) => {
    lost = reason;
    onLoss();
  };
  const part: MeasuredPart = {
    part: ofGpu,
    measurer: await gpu.open(ofGpu.plan),
    lost: gpu.lost,
    rescue: use === 'required' ? undefined : { kind: core, onLoss: stop },
    onMeasured: () => {
      pairs++;
    },
  };
  const rest = ofCore.plan.calls.length > 0 ? [{ part: ofCore, measurer: core.open(ofCore.plan) }] : [];
  const measurer = new CompositeMeasurer(plan, [part, ...rest]);
  let closing: Promise<void> | undefined;
  return {
    measurer,
    get state() {
      return { adapter: gpu.adapter, calls, others, pairs, lost };
    },
    close() {
      closing ??= measurer.end().finally(() => gpu.close());
      return closing;
    },
  };
}

function problemOf(gpu: GpuKind, call: CoreCall, { format }: ExtractionPlan): string | undefined {
  return call.heatmaps ? 'only the own core writes its heatmaps' : gpu.problem(call, format);
}

/** @throws where it has a shader that its memory is too small for */
function checkSize(gpu: GpuKind, { calls, format }: ExtractionPlan): void {
  for (const call of calls) {
    const limit = call.heatmaps ? undefined : gpu.limit?.(call, format);
    if (limit === undefined) continue;
    throw new AnyvmafError('backend', `The picture is too large for the GPU: ${limit}`, {
      hints: [
        'use the backend hybrid or auto, in which the own core measures what is too large',
        'use the backend cpu',
      ],
    });
  }
}

function nothingToMeasure(others: Readonly<Record<string, string>>): AnyvmafError {
  const reasons = Object.entries(others).map(([metric, problem]) => `${metric}: ${problem}`);
  const why = reasons.length > 0 ? ` (${reasons.join('; ')})` : '';
  return new AnyvmafError('backend', `The GPU can measure nothing of what this run needs${why}`, {
    hints: ['use the backend cpu'],
  });
}
