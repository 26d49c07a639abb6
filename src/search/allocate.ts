/**
 * @module search/allocate
 * Shares bytes among shots: curves of rate and quality between the points that are known, and the values with which all
 * shots together reach a quality with the fewest bytes. Pure.
 */
import type { Measured } from './points.js';

/** A point of a shot's curve, by its place on the grid of values. */
export interface CurvePoint extends Omit<Measured, 'value'> {
  /** 0 is the best picture. */
  readonly at: number;
}

/** Points of a shot, ascending by place, each place once; at least one. */
export type Curve = readonly CurvePoint[];

/** Values of the metrics of frames, by name. */
export type FrameValues = Readonly<Record<string, readonly number[]>>;

/** The bytes of a shot at a place: measured, or read off a line through the logarithms of two points. */
export function bytesAt(curve: Curve, at: number): number {
  const { low, high, share } = around(curve, at);
  const [a, b] = [Math.log(Math.max(1, low.bytes)), Math.log(Math.max(1, high.bytes))];
  return low === high ? low.bytes : Math.exp(a + (b - a) * share);
}

/** The values of a shot's frames at a place: measured, or read off lines through two points. */
export function valuesAt(curve: Curve, at: number): FrameValues {
  const { low, high, share } = around(curve, at);
  return Object.fromEntries(
    Object.keys(low.metrics).map((name) => {
      const from = low.metrics[name]?.flat() ?? [];
      const to = high.metrics[name]?.flat() ?? from;
      if (low === high) return [name, from];
      return [name, from.map((value, i) => value + ((to[i] as number) - value) * share)];
    }),
  );
}

/** The two points to read a place off, beyond the ends the outermost ones; one point where it is known. */
function around(curve: Curve, at: number): { low: CurvePoint; high: CurvePoint; share: number } {
  const exact = curve.find((one) => one.at === at);
  const [first] = curve;
  if (!first) throw new RangeError('a curve has no points');
  if (exact || curve.length === 1) return { low: exact ?? first, high: exact ?? first, share: 0 };
  const after = curve.findIndex((one) => one.at > at);
  const right = after < 0 ? curve.length - 1 : Math.max(1, after);
  const [low, high] = [curve[right - 1], curve[right]] as [CurvePoint, CurvePoint];
  return { low, high, share: (at - low.at) / (high.at - low.at) };
}

/** What shots may be encoded with. */
export interface Choices {
  readonly curves: readonly Curve[];
  /** Places to choose from, for each shot. */
  readonly places: readonly (readonly number[])[];
  /** What frames add to the quality that bytes are spent on. */
  gain(values: FrameValues): number;
  /** How far values of all shots' frames are above what they must be. */
  margin(values: readonly FrameValues[]): number;
}

/** Halvings of the price: as fine as choices can tell apart. */
const HALVINGS = 40;
/** Bytes for a point of one frame: from next to nothing to more than any frame takes. */
const CHEAP = 1e-6;
const DEAR = 1e9;

/**
 * The places with which all shots together reach the margin with the fewest bytes: where a byte more gains as much in
 * every shot.
 * @returns a place for each shot; the best pictures where none reach it
 */
export function allocate(choices: Choices): readonly number[] {
  const { curves, places, gain, margin } = choices;
  const offers = curves.map((curve, shot) =>
    (places[shot] as readonly number[]).map((at) => ({
      at,
      bytes: bytesAt(curve, at),
      gain: gain(valuesAt(curve, at)),
    })),
  );
  const atPrice = (price: number) =>
    offers.map(
      (all) => all.reduce((a, b) => (b.bytes - price * b.gain < a.bytes - price * a.gain ? b : a)).at,
    );
  const holds = (chosen: readonly number[]) =>
    margin(chosen.map((at, shot) => valuesAt(curves[shot] as Curve, at))) >= 0;
  let [low, high] = [CHEAP, DEAR];
  if (!holds(atPrice(high))) return offers.map((all) => Math.min(...all.map(({ at }) => at)));
  for (let i = 0; i < HALVINGS; i++) {
    const middle = Math.sqrt(low * high);
    if (holds(atPrice(middle))) high = middle;
    else low = middle;
  }
  return coarser(choices, atPrice(high));
}

/** What is left of the margin, spent shot by shot on the coarser place that saves most. */
function coarser({ curves, places, margin }: Choices, chosen: readonly number[]): readonly number[] {
  let best = [...chosen];
  const values = best.map((at, shot) => valuesAt(curves[shot] as Curve, at));
  const shots = curves.map((_, shot) => shot);
  const saved = (shot: number) => {
    const at = best[shot] as number;
    const next = (places[shot] as readonly number[]).find((one) => one > at);
    const curve = curves[shot] as Curve;
    return next === undefined ? undefined : { next, bytes: bytesAt(curve, at) - bytesAt(curve, next) };
  };
  for (const shot of shots.sort((a, b) => (saved(b)?.bytes ?? 0) - (saved(a)?.bytes ?? 0))) {
    const step = saved(shot);
    if (!step || step.bytes <= 0) continue;
    const before = values[shot] as FrameValues;
    values[shot] = valuesAt(curves[shot] as Curve, step.next);
    if (margin(values) >= 0) best = best.with(shot, step.next);
    else values[shot] = before;
  }
  return best;
}
