/**
 * @module engine/backends/split
 * Splits a plan among measurers by the calls that each supports, and joins their records of a frame.
 */
import { AnyvmafError } from '../../core/errors.js';
import type { MeasurerKind } from './types.js';
import { type ExtractionPlan, type RecordLayout, recordLayout } from './types.js';

/** A measurer's part of a plan. */
export interface PlanPart {
  readonly plan: ExtractionPlan;
  /** For each double of this part's record, its place in the record of the whole plan. */
  readonly places: readonly number[];
}

/**
 * Assigns each call to the first measurer that supports it. Values of picture models belong to no part.
 * @returns a part for each measurer, possibly empty
 * @throws {AnyvmafError} `backend` for a call that no measurer supports
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

/** Writes a part's record into the whole record, which holds NaN where no part has written. */
export function joinRecord(
  whole: Float64Array,
  { excess, pictures }: RecordLayout,
  { places }: PlanPart,
  values: Float64Array,
): void {
  for (const [i, place] of places.entries()) {
    const before = whole[place] as number;
    const value = values[i] as number;
    // Each part checks the planes that it reads for samples out of range; the first such plane counts.
    const shared = excess >= 0 && place >= excess && place < pictures && before > 0;
    whole[place] = shared && !(value > 0 && value < before) ? before : value;
  }
}
