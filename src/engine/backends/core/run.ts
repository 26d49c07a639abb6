/**
 * @module engine/backends/core/run
 * Measures a pair with this package's own core, on workers or in the calling thread, and predicts.
 */

import type { CoreOptions } from '../../contract/options.js';
import type { Platform } from '../../contract/platform.js';
import type { ScoreOptions } from '../../contract/types.js';
import { chooseThreads } from '../../plan/chunks.js';
import { planRun, type Requested, type RunPlan, reportModel } from '../../plan/plan.js';
import { createHeatmaps, type HeatmapRun } from '../../results/heatmaps.js';
import { Scoring } from '../../results/scoring.js';
import type { TinyPlan, TinyRegressors, TinySessionFacts } from '../../results/tiny.js';
import type { WorkerSetup } from '../../workers/protocol.js';
import { measureHere, measureOnWorkers } from '../../workers/run.js';
import type { WorkerPool } from '../../workers/worker-pool.js';
import type { Measured, MeasurementWork, OpenBackend, PlannedMeasurement } from '../measurement.js';

/** A run on the core. */
interface CoreRun {
  readonly platform: Platform;
  readonly checked: CoreOptions;
  readonly module: WebAssembly.Module;
  readonly options: Pick<ScoreOptions, 'onFrame' | 'signal' | 'gate'>;
  readonly notes: readonly string[];
}

/** Tiny models of a run, and the code that runs them. */
type Tiny = typeof import('../../results/tiny.js') & { readonly plan: TinyPlan };

/**
 * The core with the models of a run.
 * @param notes reasons for choosing the core, where they are not obvious: full sentences
 */
export function openCore(
  platform: Platform,
  checked: CoreOptions,
  [requested, module]: readonly [Requested, WebAssembly.Module],
  options: CoreRun['options'],
  notes: readonly string[],
): OpenBackend {
  const run = { platform, checked, module, options, notes };
  return {
    requested,
    plan: ({ reference }) => new CoreMeasurement(run, planRun(requested, reference.info, checked.compat)),
  };
}

class CoreMeasurement implements PlannedMeasurement {
  readonly #run: CoreRun;
  readonly #plan: RunPlan;
  #tiny: Tiny | undefined;
  #pool: WorkerPool | undefined;
  #heatmaps: HeatmapRun | undefined;
  #regressors: TinyRegressors | undefined;
  /** Of picture models in the calling thread. */
  #sessions: readonly TinySessionFacts[] = [];

  constructor(run: CoreRun, plan: RunPlan) {
    this.#run = run;
    this.#plan = plan;
  }

  isAside(expected: number | null): boolean {
    return this.#threads(expected) > 0;
  }

  async measure(work: MeasurementWork): Promise<Measured> {
    const { notes, options } = this.#run;
    await this.#open();
    const scoring = this.#score(work);
    const extent = await this.#measurePairs(work, scoring);
    const finished = await scoring.finish();
    options.signal?.throwIfAborted();
    if (extent.pairs > 0) this.#heatmaps?.keep();
    const tiny = this.#tiny?.tinyWarnings(this.#tiny.plan, this.#facts()) ?? [];
    return {
      extent,
      ...finished,
      ...this.#start(),
      warnings: [...notes, ...this.#plan.warnings, ...finished.warnings, ...tiny],
    };
  }

  async close(): Promise<void> {
    await this.#pool?.terminate();
    await this.#heatmaps?.discard();
    await this.#regressors?.close();
  }

  #threads(expected: number | null): number {
    const { platform, checked } = this.#run;
    const cores = Math.min(platform.parallelism, checked.maxThreads);
    return checked.threads ?? chooseThreads(cores, this.#plan.features.extraction, expected);
  }

  async #open(): Promise<void> {
    const { platform } = this.#run;
    const { features, tiny } = this.#plan;
    this.#heatmaps = await createHeatmaps(features, platform.heatmaps);
    if (!tiny) return;
    this.#tiny = { ...(await import('../../results/tiny.js')), plan: tiny };
    if (tiny.featureMetrics.length > 0)
      this.#regressors = await this.#tiny.TinyRegressors.open(tiny, platform.tiny, features.names);
  }

  /** Finishes frames and scores as records come in. */
  #score({ onStart }: MeasurementWork): Scoring {
    const { checked, options } = this.#run;
    let begun = false;
    return new Scoring(
      this.#plan,
      checked.subsample,
      (frame) => {
        if (!begun) onStart({ ...this.#start(), metrics: this.#plan.metrics });
        begun = true;
        options.onFrame?.(frame);
      },
      this.#regressors,
    );
  }

  #measurePairs({ pair, expected, bound, meter, continuity }: MeasurementWork, scoring: Scoring) {
    const { platform, checked, options } = this.#run;
    const task = {
      platform,
      setup: { ...this.#setup(), ...(continuity && { signs: true }) },
      pair,
      expected,
      bound,
      chunkFrames: checked.chunkFrames,
      sink: {
        add: scoring.add.bind(scoring),
        measured: (pairs: number) => meter.count(pairs),
        signed: (first: number, signatures: Uint8Array) => continuity?.add(first, signatures),
      },
      signal: options.signal,
      gate: options.gate,
    };
    const threads = this.#threads(expected);
    if (threads === 0) {
      return measureHere(task, (sessions) => {
        this.#sessions = sessions;
      });
    }
    return measureOnWorkers(task, threads, (pool) => {
      this.#pool = pool;
    });
  }

  #setup(): WorkerSetup {
    const { platform, checked, module } = this.#run;
    const tiny = this.#tiny;
    return {
      module,
      plan: this.#plan.features.extraction,
      implementation: checked.implementation,
      subsample: checked.subsample,
      ...(tiny && tiny.plan.pictureMetrics.length > 0 && { pictures: tiny.pictureModels(tiny.plan) }),
      ...(this.#heatmaps && { heatmaps: this.#heatmaps.paths }),
      ...(platform.onnxruntime !== undefined && { onnxruntime: platform.onnxruntime }),
    };
  }

  /** What the report says before the first frame. */
  #start() {
    const { compat, implementation, backend } = this.#run.checked;
    const { models, chosen } = this.#plan;
    return {
      models: models.map((model) => reportModel(model, chosen)),
      ...(this.#tiny && { tiny: this.#tiny.reportTiny(this.#tiny.plan, this.#facts()) }),
      compat,
      backend_used: backend === 'wasm' ? ('wasm' as const) : ('cpu' as const),
      implementation,
      threads: this.#pool?.size ?? 0,
    };
  }

  #facts(): readonly TinySessionFacts[] {
    return [...(this.#regressors?.facts ?? []), ...this.#sessions, ...(this.#pool?.sessions ?? [])];
  }
}
