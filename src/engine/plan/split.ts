/**
 * @module engine/plan/split
 * Splits a plan among measurers by the calls that each can carry out, and joins the records that they make of one frame.
 */
import { AnyvmafError } from '../../core/errors.js';
import type { MeasurerKind } from '../backends/measurer.js';
import { type ExtractionPlan, type RecordLayout, recordLayout } from '../backends/types.js';

/** What one measurer does of a plan. */
export interface PlanPart {
  readonly plan: ExtractionPlan;
  /** Of each double of this part's record: its place in the record of the whole plan. */
  readonly places: readonly number[];
}

/**
 * Gives each call to the first measurer that can carry it out. Values of picture models belong to no part.
 * @returns a part for each measurer, perhaps with nothing to do
 * @throws {AnyvmafError} `backend` for a call that none can carry out
 */
export function splitPlan(
  plan: ExtractionPlan,
  kinds: readonly Pick<MeasurerKind, 'problem'>[],
): readonly PlanPart[] {
  const takers = plan.calls.map((call) => {
    const found = kinds.findIndex((kind) => kind.problem(call, plan.format) === undefined);
    if (found >= 0) return found;
    throw new AnyvmafError('backend', `No backend of this run measures ${call.metric}.`);
  });
  return kinds.map((_, number) => partOf(plan, (call) => takers[call] === number));
}

/** The part of a plan with the calls of these numbers. */
function partOf(whole: ExtractionPlan, takes: (call: number) => boolean): PlanPart {
  const { calls, format } = whole;
  const all = recordLayout(whole);
  const fields = (start: number, count: number) => Array.from({ length: count }, (_, i) => start + i);
  const places = [
    ...calls.flatMap(({ fields: count }, i) => (takes(i) ? fields(all.calls[i] as number, count) : [])),
    ...(all.excess < 0 ? [] : fields(all.excess, all.pictures - all.excess)),
  ];
  return { plan: { format, calls: calls.filter((_, i) => takes(i)) }, places };
}

/** Writes the record of a part into the whole one, which has NaN where no part wrote yet. */
export function joinRecord(
  whole: Float64Array,
  { excess, pictures }: RecordLayout,
  { places }: PlanPart,
  values: Float64Array,
): void {
  for (const [i, place] of places.entries()) {
    const before = whole[place] as number;
    const value = values[i] as number;
    // Every part looks for samples out of range in the planes that it reads; the first plane with one counts.
    const shared = excess >= 0 && place >= excess && place < pictures && before > 0;
    whole[place] = shared && !(value > 0 && value < before) ? before : value;
  }
}
