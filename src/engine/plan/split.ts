/**
 * @module engine/plan/split
 * Splits a plan among measurers by the metrics that each supports, and says where their records go in the whole one.
 */
import { AnyvmafError } from '../../core/errors.js';
import type { MeasurerKind } from '../backends/measurer.js';
import { ADM_FIELDS, type ExtractionPlan, PSNR_FIELDS, recordLayout, VIF_FIELDS } from '../backends/types.js';

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
  const { vif, adm, motion, psnrPlanes, metrics, pictures, format } = whole;
  const taken = <T>(name: string, variants: readonly T[]) =>
    variants.length > 0 && takes(name) ? variants : [];
  const plan: ExtractionPlan = {
    format,
    vif: taken('vif', vif),
    adm: taken('adm', adm),
    motion: taken('motion', motion),
    psnrPlanes: psnrPlanes > 0 && takes('psnr') ? psnrPlanes : 0,
    metrics: metrics.filter(({ metric }) => takes(metric)),
    ...(pictures && first && { pictures }),
  };
  const all = recordLayout(whole);
  const fields = (start: number, count: number) => Array.from({ length: count }, (_, i) => start + i);
  const end = all.excess < 0 ? all.pictures : all.excess;
  const places = [
    ...fields(all.vif, plan.vif.length * VIF_FIELDS),
    ...fields(all.adm, plan.adm.length * ADM_FIELDS),
    ...fields(all.motion, plan.motion.length),
    ...fields(all.psnr, plan.psnrPlanes * PSNR_FIELDS),
    ...all.metrics.flatMap((start, i) =>
      plan.metrics.some((metric) => metric === metrics[i])
        ? fields(start, (all.metrics[i + 1] ?? end) - start)
        : [],
    ),
    ...fields(end, all.pictures - end),
    ...(plan.pictures ? fields(all.pictures, plan.pictures.fields) : []),
  ];
  return { plan, places };
}
