/**
 * @module engine/plan/split
 * Splits a plan among measurers by the metrics that each supports, and says where their records go in the whole one.
 */
import { AnyvmafError } from '../../core/errors.js';
import type { MeasurerKind } from '../backends/measurer.js';
import { type ExtractionPlan, recordLayout } from '../backends/types.js';

/** What one measurer does of a plan. */
export interface PlanPart {
  readonly plan: ExtractionPlan;
  /** Of each double of this part's record: its place in the record of the whole plan. */
  readonly places: readonly number[];
}

/**
 * Gives each metric to the first measurer that supports it. Values of picture models go with the first measurer.
 * @returns a part for each measurer, perhaps with nothing to do
 * @throws {AnyvmafError} `backend` for a metric that none supports
 */
export function splitPlan(
  plan: ExtractionPlan,
  measurers: readonly Pick<MeasurerKind, 'supports'>[],
): readonly PlanPart[] {
  const measurerOf = (metric: string) => {
    const found = measurers.findIndex((measurer) => measurer.supports(metric));
    if (found >= 0) return found;
    throw new AnyvmafError('backend', `No backend of this run measures ${metric}.`);
  };
  return measurers.map((_, number) => partOf(plan, (metric) => measurerOf(metric) === number, number === 0));
}

function partOf(whole: ExtractionPlan, takes: (metric: string) => boolean, first: boolean): PlanPart {
  const { calls, pictures, format } = whole;
  const plan: ExtractionPlan = {
    format,
    calls: calls.filter(({ metric }) => takes(metric)),
    ...(pictures && first && { pictures }),
  };
  const all = recordLayout(whole);
  const fields = (start: number, count: number) => Array.from({ length: count }, (_, i) => start + i);
  const places = [
    ...calls.flatMap(({ metric, fields: count }, i) =>
      takes(metric) ? fields(all.calls[i] as number, count) : [],
    ),
    ...(all.excess < 0 ? [] : fields(all.excess, all.pictures - all.excess)),
    ...(plan.pictures ? fields(all.pictures, plan.pictures.fields) : []),
  ];
  return { plan, places };
}
