/**
 * @module engine/measure/core
 * Measures and predicts with this package's core, on workers or in the calling thread, optionally with a GPU.
 */
import type { BackendChoice } from '../../core/choices.js';
import type { ScoredFormat } from '../../core/colour.js';
import { mediaError, usageError } from '../../core/errors.js';
import type { VideoFormat } from '../../core/frame.js';
import type { CoreModules } from '../../core/module.js';
import { quotientOf } from '../../core/numbers.js';
import { adapterName } from '../../report/facts.js';
import type { FrameMetrics, ReportMeasurer } from '../../report/schema.js';
import type { GpuState, GpuUse } from '../backends/composite.js';
import { createHeatmaps, type ExtractionPlan, type HeatmapRun, heatmapFiles } from '../backends/measurer.js';
import type { TinyRun, TinySessionFacts } from '../backends/tiny.js';
import { type CheckedOptions, framesToKeep } from '../contract/options.js';
import type { Platform, WorkerSetup } from '../contract/platform.js';
import type { ScoreOptions } from '../contract/types.js';
import type { RunFacts, Steering } from '../live/steering.js';
import type { Extent, lightOf } from '../pair/pair.js';
import type { Requested, RunPlan } from '../plan/plan.js';
import { chooseThreads, coreTime, planRun, reportModels } from '../plan/plan.js';
import type {
  Measured,
  MeasurementWork,
  OpenBackend,
  PlannedMeasurement,
  Recorded,
} from '../results/report-parts.js';
import { Scoring } from '../results/scoring.js';
import type { RecordSink } from '../workers/dispatch.js';
import { measureHere, measureOnWorkers, type Started } from '../workers/run.js';

/** Shortest estimated run on workers, in milliseconds, for which `auto` searches for a GPU. */
const WORTH_A_GPU = 3000;

interface CoreRun {
  readonly platform: Platform;
  readonly checked: CheckedOptions;
  readonly modules: CoreModules;
  readonly options: Pick<ScoreOptions, 'onFrame' | 'signal' | 'gate'>;
  readonly steering?: Steering;
  /** Why the core was chosen, if not obvious, as full sentences. */
  readonly notes: readonly string[];
}

type PairWork = Omit<MeasurementWork, 'onStart'>;

export function openCore(
  [requested, modules]: readonly [Requested, CoreModules],
  { light, ...request }: Omit<CoreRun, 'modules'> & { readonly light: ReturnType<typeof lightOf> },
): OpenBackend & { planFor(format: VideoFormat, keep?: number): CoreMeasurement } {
  const run = { ...request, modules };
  const { checked } = run;
  const planFor = ({ width, height, bitDepth, chroma, alpha }: VideoFormat, keep?: number) => {
    const scored = { width, height, bitDepth, chroma, ...(alpha && { alpha }), ...light };
    return new CoreMeasurement(run, planRun(requested, scored, checked.compat), keep);
  };
  return {
    requested,
    planFor,
    plan({ reference: { info } }) {
      const rate = quotientOf(info.frameRate);
      return planFor(info, framesToKeep(checked.keep, rate && rate / checked.subsample));
    },
  };
}

export class CoreMeasurement implements PlannedMeasurement {
  readonly #run: CoreRun;
  readonly plan: RunPlan;
  #tiny: TinyRun | undefined;
  readonly started: Started = {};
  #heatmaps: HeatmapRun | undefined;
  #steering: Steering | undefined;
  /** Frames to keep for the report; `undefined` for all. */
  readonly #keep: number | undefined;

  constructor(run: CoreRun, plan: RunPlan, keep: number | undefined) {
    this.#run = run;
    this.plan = plan;
    this.#keep = keep;
  }

  isAside(expected: number | null): boolean {
    return this.threads(expected) > 0;
  }

  async measure(work: MeasurementWork): Promise<Measured> {
    await this.open();
    let begun = false;
    const scoring = this.score((frame) => {
      if (!begun) work.onStart({ ...this.#start(), metrics: this.plan.metrics });
      begun = true;
      this.#run.options.onFrame?.(frame);
    });
    const extent = await this.#measurePairs(work, scoring.add.bind(scoring), scoring);
    return this.finish(scoring, extent);
  }

  async finish(scoring: Scoring, extent: Extent): Promise<Measured> {
    const { notes, options } = this.#run;
    const finished = await scoring.finish();
    options.signal?.throwIfAborted();
    if (extent.pairs === 0 && this.#steering?.stopped)
      throw mediaError('There are no frames to score: the run was stopped before its first.');
    if (extent.pairs > 0) this.#heatmaps?.keep();
    const tiny = this.#reportTiny()?.warnings ?? [];
    const steered = this.#steering?.report(finished.frameNumbers.at(-1) ?? -1);
    const start = this.#start();
    return {
      extent,
      ...finished,
      ...start,
      ...(steered &&
        steered.swaps.length > 0 && { swaps: steered.swaps, models: [...start.models, ...steered.models] }),
      ...reportGpu(this.#gpuRun(), extent.pairs),
      warnings: [...notes, ...this.#notes(), ...this.plan.warnings, ...finished.warnings, ...tiny],
    };
  }

  /**
   * Measures pairs without finishing their features or predicting; `add` takes chunks in any order.
   * @throws {AnyvmafError} `usage` if metrics write heatmaps, which belong to whole runs
   */
  async record(
    work: PairWork,
    add: (first: number, count: number, records: Float64Array) => void,
  ): Promise<Recorded> {
    if (heatmapFiles(this.plan.features.extraction).length > 0) {
      throw usageError(
        'heatmaps_path is set, but a shard writes no heatmaps; leave it out, or score the pair in one piece.',
      );
    }
    await this.#prepare();
    const extent = await this.#measurePairs(work, add);
    this.#run.options.signal?.throwIfAborted();
    const { backend_used, implementation, threads } = this.#start();
    return {
      extent,
      backend_used,
      implementation,
      threads,
      ...reportGpu(this.#gpuRun(), extent.pairs - (work.first ?? 0)),
      sessions: this.#sessions,
      warnings: [...this.#run.notes, ...this.#notes()],
    };
  }

  async close(): Promise<void> {
    this.started.here?.gpu?.close();
    await this.started.pool?.terminate();
    await this.#heatmaps?.discard();
    await this.#tiny?.close();
  }

  threads(expected: number | null): number {
    const { platform, checked } = this.#run;
    const most = Math.min(platform.parallelism, checked.maxThreads);
    // The reading thread and the GPU's worker need a core each, or the GPU waits for frames.
    const cores = checked.backend === 'hybrid' ? Math.max(1, most - 2) : most;
    const chosen = checked.threads ?? chooseThreads(cores, this.plan.features.extraction, expected);
    // A GPU is driven by a worker, not by this thread, unless requested.
    const onGpu = checked.backend === 'webgpu' || checked.backend === 'hybrid';
    return onGpu && checked.threads === undefined ? Math.max(1, chosen) : chosen;
  }

  #gpuUse(expected: number | null, threads: number): GpuUse | undefined {
    const { platform, checked } = this.#run;
    if (checked.backend === 'webgpu') return 'required';
    if (checked.backend === 'hybrid') return 'shared';
    if (checked.backend !== 'auto' || threads === 0) return undefined;
    if (!platform.gpu?.here || !platform.gpu.driver) return undefined;
    const milliseconds = coreTime(this.plan.features.extraction, expected) / threads;
    return milliseconds < WORTH_A_GPU ? undefined : 'tried';
  }

  /** Opens everything that measuring needs besides workers. */
  async open(): Promise<void> {
    const { platform } = this.#run;
    const { features } = this.plan;
    this.#heatmaps = await createHeatmaps(features.extraction, platform.heatmaps);
    await this.#prepare();
    await this.#tiny?.open(platform.tiny, features.names);
  }

  /** Fetches the requirements of workers, and prepares tiny models. */
  async #prepare(): Promise<void> {
    const { platform, checked, options } = this.#run;
    const { gpu } = platform;
    const onGpu = checked.backend === 'webgpu' || checked.backend === 'hybrid';
    if (onGpu && gpu?.driver && !gpu.here) await gpu.obtain?.(options.signal);
    const { tiny } = this.plan;
    if (!tiny) return;
    const { runtimes } = await platform.tiny();
    for (const { options: wanted } of tiny.attached)
      await runtimes.obtain?.(wanted.device ?? 'auto', options.signal);
    const { TinyRun } = await import('../backends/tiny.js');
    this.#tiny = new TinyRun(tiny);
  }

  /** Makes the assembler of measured frames. */
  score(onFrame: (frame: FrameMetrics) => void): Scoring {
    const { subsample } = this.#run.checked;
    return new Scoring(this.plan, subsample, onFrame, this.#tiny?.regressors, this.#keep);
  }

  /** @param scoring finishes frames as they are measured, so that the run can be steered */
  #measurePairs(work: PairWork, add: RecordSink['add'], scoring?: Scoring) {
    const { pair, first = 0, expected, bound, meter, continuity } = work;
    const { platform, checked, options, steering } = this.#run;
    const { reference, distorted } = pair;
    if (steering && scoring) {
      const names = { reference: reference.info.name, distorted: distorted.info.name };
      const facts = { ...names, total: expected, taken: () => meter.done };
      this.steer(steering, facts, reference.info, scoring);
    }
    const task = {
      steered: scoring && steering,
      platform,
      setup: { ...this.setup, ...(continuity && { signs: true }) },
      pair,
      first,
      expected,
      bound,
      chunkFrames: checked.chunkFrames,
      sink: {
        add,
        measured: (pairs: number) => meter.count(pairs),
        signed: (first: number, signatures: Uint8Array) => continuity?.add(first, signatures),
      },
      signal: options.signal,
      gate: options.gate,
    };
    const pairs = expected === null ? null : expected - first;
    const threads = this.threads(pairs);
    const gpu = this.#gpuUse(pairs, threads);
    return threads === 0
      ? measureHere(task, gpu, this.started)
      : measureOnWorkers(task, { threads, gpu }, this.started);
  }

  /** @param before the previous steering */
  steer(
    steering: Steering,
    facts: Pick<RunFacts, 'reference' | 'distorted' | 'total' | 'taken'>,
    format: ScoredFormat,
    scoring: Scoring,
    before?: Steering,
  ): void {
    const { checked, platform } = this.#run;
    const [backend, threads] = [this.#backendUsed(), this.threads(facts.total)];
    const all = { ...facts, backend, threads, subsample: checked.subsample };
    this.#steering = steering;
    steering.begin({ facts: all, plan: this.plan, format, scoring, platform }, before);
  }

  get setup(): WorkerSetup {
    const { platform, checked, modules } = this.#run;
    return {
      modules,
      plan: this.plan.features.extraction,
      implementation: checked.implementation,
      subsample: checked.subsample,
      ...this.#tiny?.setup,
      ...(this.#heatmaps && { heatmaps: this.#heatmaps.paths }),
      ...(platform.onnxruntime !== undefined && { onnxruntime: platform.onnxruntime }),
    };
  }

  /** The part of the report known before the first frame. */
  #start() {
    const { compat, implementation } = this.#run.checked;
    const tiny = this.#reportTiny();
    return {
      models: reportModels(this.plan),
      ...(tiny && { tiny: tiny.tiny }),
      compat,
      backend_used: this.#backendUsed(),
      implementation,
      threads: this.#threadsUsed(),
    };
  }

  #backendUsed(): string {
    const { backend } = this.#run.checked;
    if (gpuPairs(this.#gpuRun()) === 0 && backend !== 'webgpu' && backend !== 'hybrid')
      return backend === 'wasm' ? 'wasm' : 'cpu';
    return backend === 'auto' ? 'webgpu' : backend;
  }

  /** Number of workers, without those that found no GPU. */
  #threadsUsed(): number {
    const { pool } = this.started;
    const idle = [...(pool?.gpus.values() ?? [])].filter((state) => !state?.adapter);
    return (pool?.size ?? 0) - idle.length;
  }

  #gpuRun(): GpuRun {
    const { here, pool } = this.started;
    const states = here?.gpu ? [here.gpu.state] : [...(pool?.gpus.values() ?? [])];
    return { plan: this.plan.features.extraction, states: states.filter((state) => state !== null) };
  }

  #notes(): readonly string[] {
    return gpuNotes(this.#gpuRun(), this.#run.checked.backend, this.started.probe?.result);
  }

  /** Sessions of picture models. */
  get #sessions(): readonly TinySessionFacts[] {
    const { here, pool } = this.started;
    return [...(here?.pictures?.facts ?? []), ...(pool?.sessions ?? [])];
  }

  #reportTiny() {
    return this.#tiny?.report(this.#sessions);
  }
}

/** The GPUs of a run, which all measure the same calls. */
interface GpuRun {
  readonly plan: ExtractionPlan;
  readonly states: readonly GpuState[];
}

const gpuPairs = ({ states }: GpuRun): number => states.reduce((sum, { pairs }) => sum + pairs, 0);

/** Who measured what; empty if no GPU measured. @param total pairs of the run */
function reportGpu(run: GpuRun, total: number): { readonly measurers?: readonly ReportMeasurer[] } {
  const [state] = run.states.filter(({ adapter }) => adapter);
  const frames = gpuPairs(run);
  if (!state?.adapter || frames === 0) return {};
  const extractors = (measured: boolean) => {
    const calls = run.plan.calls.filter((_, number) => state.calls.includes(number) === measured);
    return [...new Set(calls.map(({ metric }) => metric))];
  };
  const [shared, rest] = [extractors(true), extractors(false)];
  return {
    measurers: [
      { backend: 'webgpu', extractors: shared, frames, adapter: state.adapter },
      ...(frames < total ? [{ backend: 'cpu', extractors: shared, frames: total - frames } as const] : []),
      ...(rest.length > 0 ? [{ backend: 'cpu', extractors: rest, frames: total } as const] : []),
    ],
  };
}

/** Notes on the GPUs as full sentences. @param rates pairs per second of GPU and core, if compared */
function gpuNotes(
  { states }: GpuRun,
  backend: BackendChoice,
  rates?: { readonly gpu: number; readonly core: number },
): readonly string[] {
  const [state] = states.filter(({ adapter }) => adapter);
  if (!state?.adapter) return [];
  const name = adapterName(state.adapter);
  const others = Object.entries(state.others).map(
    ([metric, problem]) => `The core measured ${metric} instead of the GPU: ${problem}.`,
  );
  const rate = (pairs: number) => `${pairs < 10 ? pairs.toFixed(1) : Math.round(pairs)} frames/s`;
  const compared =
    rates &&
    `The backend auto compared the GPU ${name} (${rate(rates.gpu)}) with the core's workers ` +
      `(${rate(rates.core)}) on the first frames and took ${rates.gpu > rates.core ? 'the GPU' : 'the workers'}.`;
  const lost = [...new Set(states.flatMap(({ lost: reason }) => reason ?? []))].map(
    (reason) => `The GPU stopped during the run and the core took over; the result is the same: ${reason}`,
  );
  return [
    ...(compared ? [compared] : []),
    ...(backend === 'auto' && state.pairs === 0 ? [] : others),
    ...lost.map((text) => (text.endsWith('.') ? text : `${text}.`)),
  ];
}
