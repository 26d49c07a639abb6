/**
 * @module engine/backends/core/run
 * Measures a pair with this package's own core, on workers or in the calling thread, and predicts.
 */

import type { CheckedOptions } from '../../contract/options.js';
import type { Platform } from '../../contract/platform.js';
import type { ScoreOptions } from '../../contract/types.js';
import { chooseThreads } from '../../plan/chunks.js';
import { planRun, type Requested, reportModel } from '../../plan/plan.js';
import { createHeatmaps, type HeatmapRun } from '../../results/heatmaps.js';
import { Scoring } from '../../results/scoring.js';
import type { TinyRegressors, TinySessionFacts } from '../../results/tiny.js';
import { measureHere, measureOnWorkers, type Run } from '../../workers/run.js';
import type { Crew } from '../../workers/worker-pool.js';
import type { OpenBackend } from '../measurement.js';

/**
 * The core with the models of a run.
 * @param notes why it is the core that runs, where that is not plain: full sentences
 */
export function openCore(
  platform: Platform,
  checked: CheckedOptions,
  [requested, module]: readonly [Requested, WebAssembly.Module],
  { onFrame, signal, gate }: Pick<ScoreOptions, 'onFrame' | 'signal' | 'gate'>,
  notes: readonly string[],
): OpenBackend {
  const { subsample, implementation, compat, backend } = checked;
  return {
    requested,
    plan({ reference }) {
      const plan = planRun(requested, reference.info, compat);
      const { extraction } = plan.features;
      const cores = Math.min(platform.parallelism, checked.maxThreads);
      const threadsFor = (expected: number | null) =>
        checked.threads ?? chooseThreads(cores, extraction, expected);
      let crew: Crew | undefined;
      let heatmaps: HeatmapRun | undefined;
      let regressors: TinyRegressors | undefined;
      let sessions: readonly TinySessionFacts[] = [];
      return {
        isAside: (expected) => threadsFor(expected) > 0,
        async measure({ pair, expected, bound, meter, continuity, onStart }) {
          heatmaps = await createHeatmaps(plan.features, platform.heatmaps);
          const tiny = plan.tiny && { ...(await import('../../results/tiny.js')), plan: plan.tiny };
          if (tiny && tiny.plan.featureMetrics.length > 0) {
            regressors = await tiny.TinyRegressors.open(tiny.plan, platform.tiny, plan.features.names);
          }
          const facts = () => [...(regressors?.facts ?? []), ...sessions, ...(crew?.sessions ?? [])];
          const start = () => ({
            models: plan.models.map((model) => reportModel(model, plan.chosen)),
            ...(tiny && { tiny: tiny.reportTiny(tiny.plan, facts()) }),
            compat,
            // Whoever asked for a kind of processor is told which it was.
            backend_used: backend === 'wasm' ? 'wasm' : 'cpu',
            implementation,
            threads: crew?.size ?? 0,
          });
          let begun = false;
          // Finished frames and scores follow as records come in.
          const scoring = new Scoring(
            plan,
            subsample,
            (frame) => {
              if (!begun) onStart({ ...start(), metrics: plan.metrics });
              begun = true;
              onFrame?.(frame);
            },
            regressors,
          );
          const task: Run = {
            platform,
            setup: {
              module,
              plan: extraction,
              implementation,
              subsample,
              ...(tiny && tiny.plan.pictureMetrics.length > 0 && { pictures: tiny.pictureModels(tiny.plan) }),
              ...(heatmaps && { heatmaps: heatmaps.paths }),
              ...(continuity && { signs: true }),
              ...(platform.onnxruntime !== undefined && { onnxruntime: platform.onnxruntime }),
            },
            pair,
            expected,
            bound,
            chunkFrames: checked.chunkFrames,
            sink: {
              add: (first, count, records) => scoring.add(first, count, records),
              measured: (pairs) => meter.count(pairs),
              signed: (first, signatures) => continuity?.add(first, signatures),
            },
            signal,
            gate,
          };
          const threads = threadsFor(expected);
          const extent =
            threads === 0
              ? await measureHere(task, (opened) => {
                  sessions = opened;
                })
              : await measureOnWorkers(task, threads, (hired) => {
                  crew = hired;
                });
          const finished = await scoring.finish();
          signal?.throwIfAborted();
          if (extent.pairs > 0) heatmaps?.keep();
          return {
            extent,
            ...finished,
            ...start(),
            warnings: [
              ...notes,
              ...plan.warnings,
              ...finished.warnings,
              ...(tiny ? tiny.tinyWarnings(tiny.plan, facts()) : []),
            ],
          };
        },
        async close() {
          await crew?.abandon();
          await heatmaps?.discard();
          await regressors?.close();
        },
      };
    },
  };
}
