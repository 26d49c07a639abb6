/**
 * @module search/tune-whole
 * Values with which all shots together reach the targets with the fewest bytes: every shot's curve in a few points, equal
 * slopes on them, then what was chosen is measured and chosen again.
 */
import { isWorseHigh } from '../report/limits.js';
import { allocate, type Curve, type FrameValues } from './allocate.js';
import { marginOf } from './estimate.js';
import type { ShotProbe } from './shot-probe.js';
import type { Grid } from './strategy.js';
import { type CompleteTarget, marginTo, poolingOf } from './targets.js';

/** Points of quality between the first values that are measured. */
const APART = 4;
/** Rounds of choosing and measuring before only what is measured counts. */
const ROUNDS = 4;

/** What the shots are to reach together. */
export interface WholeGoal {
  readonly targets: readonly CompleteTarget[];
  readonly perSecond: number;
}

/** How far values of all shots' frames are above the hardest target. */
export function wholeMargin(
  { targets, perSecond }: WholeGoal,
  shots: readonly FrameValues[],
  to = marginTo,
): number {
  const values = (metric: string) => [shots.flatMap((one) => [...(one[metric] ?? [])])];
  return marginOf(targets, values, perSecond, to);
}

/**
 * Chooses a value for each shot.
 * @param measure measures places of a shot; the shot's curve then has them
 * @returns a place of the grid for each
 */
export async function tuneWhole(
  shots: readonly ShotProbe[],
  grid: Grid,
  goal: WholeGoal,
  measure: (shot: ShotProbe, places: readonly number[]) => Promise<void>,
): Promise<readonly number[]> {
  const apart = Math.max(1, Math.round(APART / grid.slope));
  const most = grid.values.length - 1;
  const within = (at: number) => Math.max(0, Math.min(most, at));
  for (const shot of shots) {
    const start = shot.curve().length > 0 ? nearestTo(shot.curve(), grid.start) : grid.start;
    await measure(shot, [start, within(start - apart), within(start + apart)]);
  }
  const [first] = goal.targets;
  const gain = first ? gainOf(first) : () => 0;
  const margin = (values: readonly FrameValues[]) => wholeMargin(goal, values);
  const choose = (reach: number | undefined) => {
    const curves = shots.map((shot) => shot.curve());
    const places = curves.map((curve) =>
      reach === undefined ? measured(curve) : reachable(curve, reach, most),
    );
    return { chosen: allocate({ curves, places, gain, margin }), curves };
  };
  for (let round = 0; ; round++) {
    const open = round < ROUNDS;
    const { chosen, curves } = choose(open ? apart : undefined);
    const missing = chosen.flatMap((at, i) => (isMeasured(curves[i] as Curve, at) ? [] : [{ at, i }]));
    for (const { at, i } of missing) await measure(shots[i] as ShotProbe, [at]);
    if (missing.length > 0) continue;
    if (open) {
      // All that was chosen is measured: now what is measured tells the rest.
      round = ROUNDS - 1;
      continue;
    }
    const values = curves.map((curve, i) => valuesOf(curve, chosen[i] as number));
    const finer = curves.map((curve) => within((curve[0]?.at ?? 0) - apart));
    const stuck = finer.every((at, i) => isMeasured(curves[i] as Curve, at));
    if (margin(values) >= 0 || stuck) return chosen;
    for (const [i, at] of finer.entries()) await measure(shots[i] as ShotProbe, [at]);
  }
}

/** What frames add to the quality that bytes are spent on. */
function gainOf(target: CompleteTarget): (values: FrameValues) => number {
  const { from, by } = poolingOf(target);
  const each = typeof by === 'string' ? (value: number) => value : (value: number) => -by.term(value);
  const sign = typeof by === 'string' && isWorseHigh({}, from) ? -1 : 1;
  return (values) => sign * (values[from] ?? []).reduce((sum, value) => sum + each(value), 0);
}

function valuesOf(curve: Curve, at: number): FrameValues {
  const point = curve.find((one) => one.at === at);
  return Object.fromEntries(
    Object.entries(point?.metrics ?? {}).map(([name, samples]) => [name, samples.flat()]),
  );
}

function isMeasured(curve: Curve, at: number): boolean {
  return curve.some((one) => one.at === at);
}

function measured(curve: Curve): readonly number[] {
  return curve.map(({ at }) => at);
}

/** Places within what is measured, and a little beyond. */
function reachable(curve: Curve, reach: number, most: number): readonly number[] {
  const first = Math.max(0, (curve[0]?.at ?? 0) - reach);
  const last = Math.min(most, (curve.at(-1)?.at ?? 0) + reach);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

function nearestTo(curve: Curve, place: number): number {
  return curve.reduce((a, b) => (Math.abs(b.at - place) < Math.abs(a.at - place) ? b : a)).at;
}
