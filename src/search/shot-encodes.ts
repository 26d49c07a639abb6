/**
 * @module search/shot-encodes
 * Encodes single shots: measures them, distributes bytes among them, and joins them.
 */
import { mediaError } from '../core/errors.js';
import { counted, shown } from '../core/printable.js';
import { isWorseHigh } from '../report/limits.js';
import { isHevc, type Setting } from './commands.js';
import { cutMaterial, type Material } from './material.js';
import { measuredOf, Probe, scoreEncode, total } from './probe.js';
import type { Session } from './session.js';
import { type Grid, indexNear } from './strategy.js';
import {
  type CompleteTarget,
  inUnitOf,
  type Measured,
  marginOf,
  marginTo,
  pooledOf,
  poolingOf,
  type SampleValues,
} from './targets.js';
import type { JoinedEncode, Shot } from './types.js';

export interface ShotTask {
  readonly setting: Setting;
  readonly targets: readonly CompleteTarget[];
  readonly metrics: readonly string[];
  /** Keep encodes in the folder, to be joined. */
  readonly keep: boolean;
}

export interface ShotProbe {
  readonly shot: Shot;
  /** From 1. */
  readonly number: number;
  readonly probe: Probe;
}

export async function openShot(
  session: Session,
  { setting, metrics, keep }: ShotTask,
  shot: Shot,
  number: number,
): Promise<ShotProbe> {
  const name = `shot-${number}`;
  const material = shotMaterial(session, shot, `${name}.y4m`);
  const probe = await Probe.open(session, { material, setting, metrics, ...(keep && { keep: name }) });
  return { shot, number, probe };
}

/** A shot's frames and one on either side, in a lossless file. */
function shotMaterial(session: Session, { first, count }: Shot, name: string): Material {
  const from = Math.max(0, first - 1);
  const until = Math.min(session.facts.times.length, first + count + 1);
  const sample = { scored: { first, count }, encoded: { first: from, count: until - from } };
  return {
    ...cutMaterial(session, [sample], name),
    frames: count,
    encoded: { first: first - from, count },
  };
}

function curveOf({ probe }: ShotProbe): Curve {
  const { values } = probe.setting.parameter.grid;
  return probe.onGrid().map(({ value, bytes, metrics }) => ({ at: values.indexOf(value), bytes, metrics }));
}

/** Frames at either end of a shot whose motion is measured across the cut. */
const EDGE = 5;
/** Difference inside a shot that motion across the cut cannot explain. */
const WRONG = 1;

/**
 * @param expected values measured on the shots
 * @throws {AnyvmafError} `media` if the joined file has other frames than the source or other pictures than the shots
 */
export async function joinShots(
  session: Session,
  task: ShotTask,
  shots: readonly ShotProbe[],
  values: readonly number[],
  expected: readonly FrameValues[],
  output: string,
) {
  const { folder, facts, source, perSecond, signal } = session;
  const segments: { readonly name: string; readonly frames: ShotProbe['shot'] }[] = [];
  for (const [i, shot] of shots.entries()) {
    const value = values[i] as number;
    segments.push({ name: await shot.probe.file(value), frames: shot.shot });
    await shot.probe.removeFiles(value);
    await shot.probe.material.release();
  }
  const { args } = task.setting;
  const hevc = isHevc(task.setting.encoder.name) && /\.(?:mp4|m4v|mov)$/i.test(output) ? 'hvc1' : undefined;
  const tag = args.includes('-tag:v') ? args[args.indexOf('-tag:v') + 1] : hevc;
  let frames: readonly FrameValues[] = [];
  const { sizes } = await folder.join({
    segments,
    source,
    facts,
    tag,
    output,
    signal,
    async check(path) {
      frames = await scoreJoined(session, task, shots, path, output);
      const { within } = differenceOf(expected, frames, task);
      if (within <= WRONG) return;
      throw mediaError(
        `The joined file differs from the shots by up to ${within.toFixed(2)} within a shot, so shots of ` +
          `${task.setting.encoder.name} cannot be joined in this container; the file was removed. Use another container.`,
      );
    },
  });
  const bytes = total(sizes);
  const kbps = (bytes * 8 * perSecond) / facts.times.length / 1000;
  const difference = differenceOf(expected, frames, task);
  return { final: { file: output, bytes, kbps, pooled: pooledShots(frames), difference }, frames };
}

/** Pooled values of all shots' frames together. */
export function pooledShots(shots: readonly FrameValues[]): ReturnType<typeof pooledOf> {
  const names = Object.keys(shots[0] ?? {});
  return pooledOf(Object.fromEntries(names.map((name) => [name, shots.map((shot) => shot[name] ?? [])])));
}

async function scoreJoined(
  session: Session,
  { metrics }: ShotTask,
  shots: readonly ShotProbe[],
  path: string,
  output: string,
): Promise<readonly FrameValues[]> {
  const { facts, source, signal } = session;
  const report = await scoreEncode(session, source, path);
  signal.throwIfAborted();
  if (report.frames.length !== facts.times.length)
    throw mediaError(
      `${counted(report.frames.length, 'frame')} of ${shown(output)} could be compared with the source's ${facts.times.length}; ` +
        'the file was removed.',
    );
  const runs = shots.map(({ shot }) => ({ from: shot.first, count: shot.count }));
  const measured = measuredOf(session, report, runs, metrics);
  return shots.map((_, i) =>
    Object.fromEntries(Object.entries(measured).map(([name, samples]) => [name, samples[i] ?? []])),
  );
}

function differenceOf(
  expected: readonly FrameValues[],
  found: readonly FrameValues[],
  { targets: [target] }: ShotTask,
): JoinedEncode['difference'] {
  let [within, edges] = [0, 0];
  if (!target) return { within, edges };
  const { from, by } = poolingOf(target);
  for (const [shot, values] of expected.entries()) {
    const [wanted = [], got = []] = inUnitOf(by, [values[from] ?? [], found[shot]?.[from] ?? []]);
    wanted.forEach((value, i) => {
      const off = Math.abs(value - (got[i] ?? Number.NaN));
      if (i < EDGE || i >= wanted.length - EDGE) edges = Math.max(edges, off);
      else within = Math.max(within, off);
    });
  }
  return { within, edges };
}

/** A point of a shot's curve, by its index in the grid. */
export interface CurvePoint extends Omit<Measured, 'value'> {
  /** 0 is the best picture. */
  readonly at: number;
}

/** Ascending by place, each place once; not empty. */
export type Curve = readonly CurvePoint[];

/** Frame values by metric. */
export type FrameValues = Readonly<Record<string, readonly number[]>>;

/** Bytes of a shot at a place: measured, or interpolated in log bytes between two points. */
export function bytesAt(curve: Curve, at: number): number {
  const { low, high, share } = around(curve, at);
  const [a, b] = [Math.log(Math.max(1, low.bytes)), Math.log(Math.max(1, high.bytes))];
  return low === high ? low.bytes : Math.exp(a + (b - a) * share);
}

/** Frame values of a shot at a place: measured, or interpolated between two points. */
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

/** The points between which to interpolate, the outermost two beyond the ends; one point twice if it is measured. */
function around(curve: Curve, at: number): { low: CurvePoint; high: CurvePoint; share: number } {
  const exact = curve.find((point) => point.at === at);
  const [first] = curve;
  if (!first) throw new RangeError('a curve has no points');
  if (exact || curve.length === 1) return { low: exact ?? first, high: exact ?? first, share: 0 };
  const after = curve.findIndex((point) => point.at > at);
  const right = after < 0 ? curve.length - 1 : Math.max(1, after);
  const [low, high] = [curve[right - 1], curve[right]] as [CurvePoint, CurvePoint];
  return { low, high, share: (at - low.at) / (high.at - low.at) };
}

export interface Choices {
  readonly curves: readonly Curve[];
  /** Allowed places of each shot. */
  readonly places: readonly (readonly number[])[];
  /** Quality of frame values, to weigh against their bytes. */
  gain(values: FrameValues): number;
  /** Distance of the frame values of all shots above the goal. */
  margin(values: readonly FrameValues[]): number;
}

/** Halvings of the price, fine enough to tell any choices apart. */
const HALVINGS = 40;
/** Range of prices, in bytes per point of a frame: from nearly nothing to more than any frame takes. */
const CHEAP = 1e-6;
const DEAR = 1e9;

/** Places that reach the goal with the fewest bytes, else the best pictures: each byte gains the same in every shot. */
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

/** Spends the rest of the margin on coarser places, the largest saving first. */
function coarser({ curves, places, margin }: Choices, chosen: readonly number[]): readonly number[] {
  const best = [...chosen];
  let values = best.map((at, shot) => valuesAt(curves[shot] as Curve, at));
  const steps = curves.flatMap((curve, shot) => {
    const at = best[shot] as number;
    const next = (places[shot] as readonly number[]).find((place) => place > at) ?? at;
    const saved = bytesAt(curve, at) - bytesAt(curve, next);
    return saved > 0 ? [{ shot, curve, next, saved }] : [];
  });
  for (const { shot, curve, next } of steps.sort((a, b) => b.saved - a.saved)) {
    const coarse = values.with(shot, valuesAt(curve, next));
    if (!(margin(coarse) >= 0)) continue;
    values = coarse;
    best[shot] = next;
  }
  return best;
}

/** Quality points between the first measured values. */
const APART = 4;
/** Rounds of choosing and measuring, after which only measured places count. */
const ROUNDS = 4;

interface WholeGoal {
  readonly targets: readonly CompleteTarget[];
  readonly perSecond: number;
}

/** Margin of all shots' frames together to the hardest target. */
export function wholeMargin(
  { targets, perSecond }: WholeGoal,
  shots: readonly FrameValues[],
  to = marginTo,
): number {
  const joined = targets.map((target): [string, SampleValues] => {
    const { from } = poolingOf(target);
    return [from, [shots.flatMap((shot) => shot[from] ?? [])]];
  });
  return marginOf(targets, Object.fromEntries(joined), perSecond, to);
}

/**
 * @param measure measures places of a shot and adds them to its curve
 * @returns a grid index per shot
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
    const known = measured(curveOf(shot));
    const start = known[indexNear(known, grid.start)] ?? grid.start;
    await measure(shot, [start, within(start - apart), within(start + apart)]);
  }
  const [first] = goal.targets;
  const gain = first ? gainOf(first) : () => 0;
  const margin = (values: readonly FrameValues[]) => wholeMargin(goal, values);
  const choose = (reach: number | undefined) => {
    const curves = shots.map(curveOf);
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
      // All chosen places are measured, so choose only among measured ones from now on.
      round = ROUNDS - 1;
      continue;
    }
    const values = curves.map((curve, i) => valuesAt(curve, chosen[i] as number));
    const finer = curves.map((curve) => within((curve[0]?.at ?? 0) - apart));
    const stuck = finer.every((at, i) => isMeasured(curves[i] as Curve, at));
    if (margin(values) >= 0 || stuck) return chosen;
    for (const [i, at] of finer.entries()) await measure(shots[i] as ShotProbe, [at]);
  }
}

function gainOf(target: CompleteTarget): (values: FrameValues) => number {
  const { from, by } = poolingOf(target);
  const each = typeof by === 'string' ? (value: number) => value : (value: number) => -by.term(value);
  const sign = typeof by === 'string' && isWorseHigh({}, from) ? -1 : 1;
  return (values) => sign * (values[from] ?? []).reduce((sum, value) => sum + each(value), 0);
}

function isMeasured(curve: Curve, at: number): boolean {
  return curve.some((point) => point.at === at);
}

function measured(curve: Curve): readonly number[] {
  return curve.map(({ at }) => at);
}

/** Places in the measured range, and up to `reach` beyond. */
function reachable(curve: Curve, reach: number, most: number): readonly number[] {
  const first = Math.max(0, (curve[0]?.at ?? 0) - reach);
  const last = Math.min(most, (curve.at(-1)?.at ?? 0) + reach);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}
