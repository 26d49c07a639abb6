/**
 * @module engine/measure/gpu-report
 * What the report says of GPUs: which metrics they measured, of how many pairs, and why the core measured the rest.
 */
import { adapterName } from '../../report/facts.js';
import type { ReportMeasurer } from '../../report/types.js';
import type { GpuState } from '../backends/gpu.js';
import type { BackendChoice } from '../backends/native/types.js';
import type { ExtractionPlan } from '../backends/types.js';

/** The GPUs of a run: one, or several that do the same. */
export interface GpuRun {
  readonly plan: ExtractionPlan;
  readonly states: readonly GpuState[];
}

/** Pairs that were measured on a GPU. */
export function gpuPairs({ states }: GpuRun): number {
  return states.reduce((sum, { pairs }) => sum + pairs, 0);
}

/**
 * Who measured what.
 * @param total pairs of the run
 * @returns nothing where no GPU measured
 */
export function reportGpu(run: GpuRun, total: number): { readonly measurers?: readonly ReportMeasurer[] } {
  const used = run.states.filter(({ adapter }) => adapter);
  const [state] = used;
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

/**
 * What a reader should know, full sentences.
 * @param rates pairs per second of GPU and core, where these were compared
 */
export function gpuNotes(
  { states }: GpuRun,
  backend: BackendChoice,
  rates?: { readonly gpu: number; readonly core: number },
): readonly string[] {
  const [state] = states.filter(({ adapter }) => adapter);
  if (!state?.adapter) return [];
  const name = adapterName(state.adapter);
  const others = Object.entries(state.others).map(
    ([metric, problem]) => `The own core measured ${metric}, not the GPU: ${problem}.`,
  );
  const rate = (pairs: number) => `${pairs < 10 ? pairs.toFixed(1) : Math.round(pairs)} frames/s`;
  const compared =
    rates &&
    `The backend auto compared the GPU ${name} (${rate(rates.gpu)}) with the own core's workers ` +
      `(${rate(rates.core)}) on the first frames and took ${rates.gpu > rates.core ? 'the GPU' : 'the workers'}.`;
  const lost = [...new Set(states.flatMap(({ lost: reason }) => reason ?? []))].map(
    (reason) =>
      `The GPU stopped in the middle of the run, so the own core went on; the result is the same: ${reason}`,
  );
  return [
    ...(compared ? [compared] : []),
    ...(backend === 'auto' && state.pairs === 0 ? [] : others),
    ...lost.map((text) => (text.endsWith('.') ? text : `${text}.`)),
  ];
}
