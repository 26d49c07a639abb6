/**
 * @module search/search
 * Finds the encoder setting that reaches a quality: encodes samples, scores them, and chooses the next value. Measures
 * points of rate-quality curves likewise.
 */
import { requireText } from '../core/arguments.js';
import { fileWord } from '../core/names.js';
import type { VideoInput } from '../media/types.js';
import { isWorseHigh } from '../report/limits.js';
import { checkOptions } from './checks.js';
import {
  lossesOf,
  lostTracks,
  openingOf,
  type Setting,
  settingFacts,
  settingOf,
  wholeArguments,
  wholeEncode,
} from './commands.js';
import { parameterOf } from './encoders.js';
import { sampledSource } from './material.js';
import { Probe, total } from './probe.js';
import { inSession, type SearchPlatform, type Session, sourceName } from './session.js';
import { byGrid, type Grid, indexNear, nextStep, rises } from './strategy.js';
import {
  type CompleteMeasure,
  type CompleteTarget,
  ceilingOf,
  completeTargets,
  type Estimate,
  estimate,
  heightTo,
  type KnownPoint,
  type Measured,
  marginOf,
  marginTo,
  poolingOf,
  qualityIn,
  scoreName,
  targetAt,
} from './targets.js';
import type {
  CurveOptions,
  EncoderChoice,
  FinalEncode,
  SearchOptions,
  SearchPoint,
  SearchResult,
  SearchShortfall,
} from './types.js';

/** Output name in the result's command, if none is given. */
const ENCODE = 'encode.mkv';

/** @throws {AnyvmafError} as the public `searchQuality` says; the signal's reason if aborted */
export async function searchQuality(
  platform: SearchPlatform,
  source: VideoInput,
  options: SearchOptions,
): Promise<SearchResult> {
  checkOptions('search', options);
  const targets = completeTargets(options.targets, options.models);
  const { signal, finish } = options;
  const bounded = finish
    ? { ...options, signal: AbortSignal.any(signal ? [signal, finish] : [finish]) }
    : options;
  return inSession(platform, source, bounded, async (session) => {
    const setting = await settingOf(session, options);
    await checkOutput(session, setting, options.output);
    const statistics = targets.map(({ statistic }) => statistic);
    const material = await sampledSource(session, options.full, statistics);
    const probe = await Probe.open(session, { material, setting, metrics: metricsOf(targets) });
    return new Search(session, options, probe, targets).run();
  });
}

export async function forgetSearches(platform: SearchPlatform, folder?: string): Promise<number> {
  if (folder !== undefined) requireText('folder', folder, 'a folder');
  const host = await platform.encoding?.();
  return host ? host.points(folder).clear() : 0;
}

/** Fails now rather than after encoding if a file cannot be written. @throws {AnyvmafError} `usage`, `io` */
export async function checkOutput(
  session: Session,
  setting: Setting,
  output: string | undefined,
): Promise<void> {
  if (output === undefined) return;
  const { values, start } = setting.parameter.grid;
  await session.folder.checkOutput(session.source, output, wholeEncode(setting, values[start] as number));
}

export function metricsOf(targets: readonly CompleteTarget[]): readonly string[] {
  return [...new Set(targets.map((target) => poolingOf(target).from))];
}

/**
 * @param marginOf in the unit of {@link heightTo}
 * @param ceiling largest possible margin, on a scale that ends
 * @returns the last value that reaches the targets, else the closest one
 */
export async function findValue(
  probe: Probe,
  marginOf: (point: Measured) => number,
  onPoint?: (point: KnownPoint) => void,
  ceiling?: number,
): Promise<number> {
  const grid = { ...probe.setting.parameter.grid, ...(ceiling !== undefined && { ceiling }) };
  for (let encodes = 0; ; encodes++) {
    const curve = probe.points().map((point) => ({ value: point.value, margin: marginOf(point) }));
    const next = nextStep(curve, grid, encodes);
    if (next.kind !== 'try') return next.value;
    await probe.measure(next.value, onPoint);
  }
}

class Search {
  #done = false;

  constructor(
    readonly session: Session,
    readonly options: SearchOptions,
    readonly probe: Probe,
    readonly targets: readonly CompleteTarget[],
  ) {}

  async run(): Promise<SearchResult> {
    try {
      return await this.#search();
    } catch (error) {
      const { finish, signal } = this.options;
      const best = finish?.aborted && !signal?.aborted ? this.#best() : undefined;
      if (!best) throw error;
      return this.#result(best, this.#shortfall(best), null);
    }
  }

  /** The smallest file that reaches the targets so far, else the closest point. */
  #best(): KnownPoint | undefined {
    const points = this.probe.onGrid();
    return (
      points.findLast((point) => this.#margin(point) >= 0) ??
      points.toSorted((a, b) => this.#margin(b) - this.#margin(a))[0]
    );
  }

  #open(): { readonly min: number; readonly max: number } {
    const { values } = this.probe.setting.parameter.grid;
    const points = this.probe.onGrid();
    const holds = points.findLast((point) => this.#margin(point) >= 0)?.value ?? (values[0] as number);
    const fails =
      points.find(({ value }) => values.indexOf(value) > values.indexOf(holds))?.value ??
      (values.at(-1) as number);
    return { min: Math.min(holds, fails), max: Math.max(holds, fails) };
  }

  async #search(): Promise<SearchResult> {
    const { onPoint, all, output, verify, keepMissed } = this.options;
    const { name } = this.probe.setting.parameter;
    const tell = (point: KnownPoint) => onPoint?.(this.#point(point), name);
    for (const known of this.probe.points()) tell(known);
    if (all)
      for (const value of this.probe.setting.parameter.grid.values) await this.probe.measure(value, tell);
    const height = (point: Measured) => this.#margin(point, heightTo);
    const found =
      (all && this.#best()) ||
      (await this.probe.measure(await findValue(this.probe, height, tell, ceilingOf(this.targets))));
    const shortfall = this.#shortfall(found);
    const writes = output !== undefined && (keepMissed === true || shortfall === null);
    const final = writes || verify ? await this.#encodeWhole(found.value, writes ? output : undefined) : null;
    this.#done = true;
    return this.#result(found, shortfall, final);
  }

  #margin(point: Measured, to = marginTo): number {
    return marginOf(this.targets, point.metrics, this.session.perSecond, to);
  }

  #point(point: KnownPoint): SearchPoint {
    const first = this.targets[0] as CompleteTarget;
    const quality = qualityIn(first, point.metrics, this.session.perSecond);
    return { ...this.probe.encoded(point), quality, margin: this.#margin(point) };
  }

  async #encodeWhole(value: number, output: string | undefined): Promise<FinalEncode> {
    const { perSecond } = this.session;
    const keeps = (metrics: Measured['metrics'], bytes: number) => this.#missed(metrics, bytes) === null;
    const isWanted = this.options.keepMissed ? () => true : keeps;
    const { final, metrics } = await this.probe.encodeWhole(value, output, isWanted);
    const qualities = this.targets.map((target) => qualityIn(target, metrics, perSecond));
    return { ...final, qualities, reached: keeps(metrics, final.bytes) };
  }

  #result(found: KnownPoint, shortfall: SearchShortfall | null, final: FinalEncode | null): SearchResult {
    const { facts, perSecond, source } = this.session;
    const { setting, material, encodes } = this.probe;
    const { grid } = setting.parameter;
    const { values } = grid;
    const rising = (values[0] as number) <= (values.at(-1) as number) ? 1 : -1;
    const points = this.probe
      .points()
      .map((point) => this.#point(point))
      .sort((a, b) => rising * (a.value - b.value));
    const predictions = this.targets.map((target) => {
      const { from, by } = poolingOf(target);
      return estimate(found.metrics[from] ?? [], by, perSecond, {
        frames: facts.times.length,
        shots: material.shots,
        isWorseHigh: isWorseHigh({}, target.metric),
      });
    });
    const { output } = this.options;
    const whole = wholeEncode(setting, found.value);
    return {
      kind: 'search',
      source: sourceName(facts),
      ...settingFacts(setting),
      value: found.value,
      targets: this.targets,
      shortfall,
      points,
      predicted: predictions[0] as Estimate,
      predictions,
      predictedBytes: this.#wholeBytes(found),
      unfinished: this.#done ? null : this.#open(),
      notMonotone: rises(byGrid(points, grid).map(({ value, margin }) => ({ value, quality: margin }))),
      samples: material.samples,
      encodes,
      cached: points.filter(({ cached }) => cached).length,
      final,
      unwritten: output !== undefined && !final?.file ? output : null,
      warnings: [
        ...this.session.notes,
        ...lossesOf(facts, whole),
        ...lostTracks(facts, output),
        ...this.probe.warnings,
      ],
      command: [
        ...['ffmpeg', ...openingOf(source, facts), ...wholeArguments(whole, output ?? ENCODE)],
        fileWord(output ?? ENCODE),
      ],
    };
  }

  #wholeBytes({ bytes }: KnownPoint): number {
    return (bytes / this.probe.material.scoredFrames) * this.session.facts.times.length;
  }

  #shortfall(found: KnownPoint): SearchShortfall | null {
    return this.#missed(found.metrics, this.#wholeBytes(found));
  }

  /** @param bytes of the whole video track */
  #missed(metrics: Measured['metrics'], bytes: number): SearchShortfall | null {
    const { maxSize, atMost } = this.options;
    const { facts, perSecond } = this.session;
    const margin = marginOf(this.targets, metrics, perSecond);
    if (margin < 0) return { reason: 'target', by: -margin };
    const value = qualityIn(this.targets[0] as CompleteTarget, metrics, perSecond);
    const share = bytes / total(facts.sizes);
    if (maxSize !== undefined && share > maxSize) return { reason: 'size', share };
    if (atMost !== undefined && value > atMost) return { reason: 'above', by: value - atMost };
    return null;
  }
}

const POINTS = 7;
/** Approximate distance between points, in VMAF points. */
const APART = 6;

/** @throws {AnyvmafError} `usage` as {@link poolingOf} */
export function measureOf({ metric, statistic = 'mean', models }: CurveOptions): CompleteMeasure {
  const measure = { metric: metric ?? scoreName(models), statistic };
  poolingOf(measure);
  return measure;
}

/** Negates metrics whose low values are better, so that higher is better. It is its own inverse. */
export function rising({
  metric,
}: CompleteMeasure): <Point extends { readonly quality: number }>(point: Point) => Point {
  return (point) => (isWorseHigh({}, metric) ? { ...point, quality: -point.quality } : point);
}

export function risingRange({ metric }: CompleteMeasure, { min, max }: Range): Range {
  return isWorseHigh({}, metric) ? { min: -max, max: -min } : { min, max };
}

interface Range {
  readonly min: number;
  readonly max: number;
}

export interface CurveTask {
  /** Qualities to search for; without any, values of the parameter are measured. */
  readonly targets?: readonly number[];
  readonly measure: CompleteMeasure;
  /** Frames of the source per second. */
  readonly perSecond: number;
}

/** Measures a curve. Calls `onPoint` with known and new points; returns the value for each target. */
export async function measureCurve(
  probe: Probe,
  choice: EncoderChoice,
  { targets = [], measure, perSecond }: CurveTask,
  onPoint: (point: KnownPoint) => void,
): Promise<readonly number[]> {
  for (const known of probe.points()) onPoint(known);
  if (targets.length === 0) {
    for (const value of curveValues(probe, choice)) await probe.measure(value, onPoint);
    return [];
  }
  const findTarget = (quality: number) => {
    const target = targetAt(measure, quality);
    const margin = (point: Measured) => heightTo(target, qualityIn(measure, point.metrics, perSecond));
    return findValue(probe, margin, onPoint, ceilingOf([target]));
  };
  const values: number[] = [];
  for (const target of targets) values.push(await findTarget(target));
  return values;
}

/** Values at which to measure a curve: every step of a range with a step, else seven evenly spaced ones. */
function curveValues({ setting }: Probe, { range, parameter }: EncoderChoice): readonly number[] {
  if (range?.step !== undefined) return parameterOf(setting.encoder, parameter, range).grid.values;
  const { values } = setting.parameter.grid;
  const places = range ? evenly(0, values.length - 1, POINTS) : around(setting.parameter.grid);
  return [...new Set(places)].flatMap((place) => values[place] ?? []);
}

/** Grid indices from two steps above the usual value to four below it. */
function around({ start, slope, values }: Grid): readonly number[] {
  const step = Math.max(1, Math.round(APART / slope));
  const last = values.length - 1;
  const from = Math.max(0, start - 2 * step);
  const until = Math.min(last, from + (POINTS - 1) * step);
  return evenly(from, until, POINTS);
}

function evenly(from: number, until: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => Math.round(from + ((until - from) * i) / (count - 1)));
}

/**
 * A setting with the encoder's own steps, which searches need; without targets, also with the values of a range with a
 * step, which may lie between those.
 */
export async function curveSetting(
  session: Session,
  choice: EncoderChoice,
  targets: readonly number[] = [],
): Promise<Setting> {
  const setting = await settingOf(session, fineChoice(choice));
  if (choice.range?.step === undefined || targets.length > 0) return setting;
  const { encoder, parameter } = setting;
  const { grid } = parameter;
  const stepped = parameterOf(encoder, choice.parameter, choice.range).grid.values;
  const sign = parameter.name === 'bitrate' ? -1 : 1;
  const values = [...new Set([...grid.values, ...stepped])].sort((a, b) => sign * (a - b));
  const start = indexNear(values, grid.values[grid.start] ?? 0);
  return { ...setting, parameter: { ...parameter, grid: { ...grid, values, start } } };
}

/** Drops the step of a range, so that searches use the encoder's own. */
function fineChoice(choice: EncoderChoice): EncoderChoice {
  const { range } = choice;
  return range ? { ...choice, range: { min: range.min, max: range.max } } : choice;
}
