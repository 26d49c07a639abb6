/**
 * @module engine/backends/gpu
 * Measures on a GPU what it supports and the rest on the core, in one worker; if the GPU is lost, the core continues.
 */
import { AnyvmafError } from '../../core/errors.js';
import type { VideoFormat } from '../../core/frame.js';
import type { CoreCall } from '../../core/kernel.js';
import { CompositeMeasurer, type MeasuredPart, splitPlan } from './composite.js';
import type { ExtractionPlan, InstantKind, Measurer, MeasurerKind } from './types.js';

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
  /** Resolves with a reason when the device is lost. */
  readonly lost: Promise<string>;
  /** Why pictures are too large for a supported call, as the end of a sentence. Absent: nothing is too large. */
  limit?(call: CoreCall, format: VideoFormat): string | undefined;
  close(): void;
}

/**
 * How a worker uses a GPU. `required`: it measures all it has a shader for, or the run fails. `shared`: required at the
 * start; if it is lost, the core continues. `tried`: used if there is a hardware GPU.
 */
export type GpuUse = 'required' | 'shared' | 'tried';

export interface GpuState {
  /** `null` if there is none to use. */
  readonly adapter: AdapterFacts | null;
  /** Numbers of the plan's calls that it measures. */
  readonly calls: readonly number[];
  /** Why the core measures the other calls, by extractor name. */
  readonly others: Readonly<Record<string, string>>;
  readonly pairs: number;
  /** Why it stopped measuring, as the end of a sentence. */
  readonly lost: string | null;
}

export interface GpuMeasurer {
  /** Absent if there is no GPU to use. */
  readonly measurer?: Measurer;
  readonly state: GpuState;
  /** Frees everything; pairs in flight fail. Resolves when nothing is left. May be called twice. */
  close(): Promise<void>;
}

/**
 * @param openGpu throws if there is no GPU
 * @param onLoss called when the GPU is lost and the core continues
 * @throws {AnyvmafError} `backend` unless `tried`: there is no GPU, it can measure nothing, or, with `required`, the
 * pictures are too large
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
  return call.heatmaps ? 'only the core writes its heatmaps' : gpu.problem(call, format);
}

/** @throws {AnyvmafError} `backend` if a picture is too large for a call that the GPU supports */
function checkSize(gpu: GpuKind, { calls, format }: ExtractionPlan): void {
  for (const call of calls) {
    const limit = call.heatmaps ? undefined : gpu.limit?.(call, format);
    if (limit === undefined) continue;
    throw new AnyvmafError('backend', `The picture is too large for the GPU: ${limit}`, {
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
  return new AnyvmafError('backend', `The GPU supports none of this run's metrics${why}`, {
    hints: ['use the backend cpu'],
  });
}
