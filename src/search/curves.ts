/**
 * @module search/curves
 * Measures rate-quality curves on one source: of encoders, to compare them, and of picture sizes, to choose the rungs of
 * a bitrate ladder on their hull.
 */
import { AnyvmafError, usageError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import { intervalsOf } from '../core/sampling.js';
import type { PictureSize } from '../core/size.js';
import type { VideoInput } from '../media/types.js';
import { bdQuality, bdRate, unlessRefused } from '../report/bd-rate.js';
import { checkOptions } from './checks.js';
import {
  lossesOf,
  notCopied,
  SEGMENT_STARTS,
  type Setting,
  segmentArguments,
  segmentFrames,
  settingFacts,
  streamingCommand,
  wholeEncode,
} from './commands.js';
import { type Material, sampledSource } from './material.js';
import { Probe } from './probe.js';
import { type CurveTask, curveSetting, measureCurve, measureOf, rising, risingRange } from './search.js';
import { inSession, type SearchPlatform, type Session, type SourceFacts, sourceName } from './session.js';
import {
  bestAt,
  type Choice,
  type Curves,
  cheapestAt,
  convexHull,
  indexNear,
  type RisingCurve,
  rateBetween,
  rises,
  risingCurve,
  takeovers,
} from './strategy.js';
import {
  type CompleteMeasure,
  FEWEST_PARTS,
  type KnownPoint,
  type Measured,
  marginTo,
  partLength,
  poolingOf,
  qualityIn,
  type SampleValues,
  scoreName,
  targetAt,
  WATCHED,
} from './targets.js';
import type {
  ComparedCurve,
  ComparedEncoder,
  ComparedPoint,
  CompareOptions,
  ComparisonResult,
  CurveDelta,
  LadderCurve,
  LadderOptions,
  LadderPoint,
  LadderResult,
} from './types.js';

/** @throws {AnyvmafError} as the public `compareEncoders` says; the signal's reason if aborted */
export async function compareEncoders(
  platform: SearchPlatform,
  source: VideoInput,
  options: CompareOptions,
): Promise<ComparisonResult> {
  checkOptions('comparison', options);
  const names = namesOf(options.encoders);
  const measure = measureOf(options);
  return inSession(platform, source, options, async (session) => {
    const material = await sampledSource(session, options.full, [measure.statistic]);
    const contestants: Contestant[] = [];
    // Open all encoders before measuring any, so that a wrong name fails at once.
    for (const [i, choice] of options.encoders.entries()) {
      const setting = await curveSetting(session, choice, options.targets);
      const probe = await Probe.open(session, { material, setting, metrics: [poolingOf(measure).from] });
      contestants.push({ name: names[i] as string, choice, probe });
    }
    const task = { targets: options.targets, measure, perSecond: session.perSecond };
    const curves: ComparedCurve[] = [];
    for (const contestant of contestants) curves.push(await measureOne(contestant, task, options.onPoint));
    const points = curves.flatMap((curve) => curve.points);
    const pairing = {
      ...task,
      between: options.between,
      usual: measure.metric === scoreName(options.models) ? WATCHED : undefined,
      share: material.samples ? material.scoredFrames / session.facts.times.length : 0,
    };
    return {
      kind: 'comparison',
      source: sourceName(session.facts),
      ...measure,
      curves,
      ...differencesOf(curves, contestants, pairing),
      samples: material.samples,
      warnings: session.notes,
      encodes: contestants.reduce((sum, { probe }) => sum + probe.encodes, 0),
      cached: points.filter(({ cached }) => cached).length,
    };
  });
}

interface Contestant {
  readonly name: string;
  readonly choice: ComparedEncoder;
  readonly probe: Probe;
}

async function measureOne(
  { name, choice, probe }: Contestant,
  task: CurveTask,
  onPoint: CompareOptions['onPoint'],
): Promise<ComparedCurve> {
  const compared = (point: KnownPoint): ComparedPoint => ({
    name,
    ...probe.encoded(point),
    quality: qualityIn(task.measure, point.metrics, task.perSecond),
  });
  const values = await measureCurve(probe, choice, task, (point) => onPoint?.(compared(point)));
  const points = probe.onGrid().map(compared);
  const up = rising(task.measure);
  const curve = risingCurve(points.map(up));
  const speeds = points.flatMap(({ framesPerSecond, cached }) => (cached ? [] : (framesPerSecond ?? [])));
  return {
    name,
    ...settingFacts(probe.setting),
    points,
    notMonotone: rises(points.map(up)),
    atTargets: values.map((value, i) => {
      const target = task.targets?.[i] as number;
      const point = points.find((known) => known.value === value) as ComparedPoint;
      const { kbps, quality } = point;
      const { quality: place } = up({ quality: target });
      const isOn = curve && place >= curve.low.quality && place <= curve.high.quality;
      const reached = marginTo(targetAt(task.measure, target), quality) >= 0;
      return { target, value, kbps, quality, reached, kbpsAt: isOn ? curve.kbpsAt(place) : null };
    }),
    // All points encode equally many frames, so the harmonic mean is the overall speed.
    framesPerSecond:
      speeds.length > 0 ? speeds.length / speeds.reduce((sum, speed) => sum + 1 / speed, 0) : null,
  };
}

interface Pairing extends CurveTask {
  readonly between: CompareOptions['between'];
  /** Default of `between`, used if both curves overlap it. */
  readonly usual: CompareOptions['between'];
  /** Fraction of the video that was sampled; 0 if all of it was encoded. */
  readonly share: number;
}

/** Compares each curve with the first; finds the one that needs the least rate, and those that tie with it. */
function differencesOf(
  curves: readonly ComparedCurve[],
  contestants: readonly Contestant[],
  pairing: Pairing,
): Pick<ComparisonResult, 'deltas' | 'least' | 'ties'> {
  const measured = contestants.map(({ probe }) => probe.onGrid());
  const deltaOf = (anchor: number, test: number): CurveDelta => {
    const pair = [curves[anchor], curves[test]] as [ComparedCurve, ComparedCurve];
    const delta = deltaBetween(pair, pairing);
    const points = [measured[anchor], measured[test]] as [readonly Measured[], readonly Measured[]];
    const rate95 = delta.rate ? intervalOf(points, delta.rate.range, pairing) : undefined;
    return { ...delta, ...(rate95 && { rate95 }) };
  };
  const deltas = curves.slice(1).map((_, i) => deltaOf(0, i + 1));
  // One that cannot be compared may need less than all others.
  if (deltas.some(({ rate }) => !rate)) return { deltas, ties: [] };
  const rates = [0, ...deltas.map(({ rate }) => rate?.value ?? Number.POSITIVE_INFINITY)];
  const least = rates.indexOf(Math.min(...rates));
  const ties = curves.flatMap(({ name }, i) => {
    if (i === least) return [];
    const { rate95: [low, high] = [1, 1] } = (least === 0 ? deltas[i - 1] : undefined) ?? deltaOf(least, i);
    return low <= 0 && high >= 0 ? [name] : [];
  });
  return { deltas, least: curves[least]?.name as string, ties };
}

function deltaBetween(
  [anchor, test]: readonly [ComparedCurve, ComparedCurve],
  { measure, between: requested, usual }: Pairing,
): CurveDelta {
  const up = rising(measure);
  const names = { anchor: anchor.name, test: test.name };
  const shared = [anchor, test].every(({ points }) => {
    const qualities = points.map(({ quality }) => quality);
    return usual && Math.min(...qualities) < usual.max && Math.max(...qualities) > usual.min;
  });
  const range = requested ?? (shared ? usual : undefined);
  const [a, b] = [anchor.points.map(up), test.points.map(up)];
  const between = range && risingRange(measure, range);
  const rate = unlessRefused(() => bdRate(a, b, { between }));
  if (typeof rate === 'string') return { ...names, rate: null, quality: null, refused: rate };
  // Curves of equal qualities may share no rates.
  const quality = unlessRefused(() => bdQuality(a, b, { between }));
  const { min: from, max: to } = risingRange(measure, { min: rate.range.from, max: rate.range.to });
  return {
    ...names,
    rate: { ...rate, range: { from, to } },
    quality:
      typeof quality === 'string' ? null : { ...quality, value: up({ quality: quality.value }).quality },
    refused: null,
  };
}

const MOST_PARTS = 32;

/** Frames `from` up to `to` of a sample. */
interface Part {
  readonly sample: number;
  readonly from: number;
  readonly to: number;
}

/** 95 % confidence interval of the rate difference in per cent, by jackknife; `undefined` with too little data. */
function intervalOf(
  [anchor, test]: readonly [readonly Measured[], readonly Measured[]],
  { from, to }: { readonly from: number; readonly to: number },
  { measure, perSecond, share }: Pairing,
): readonly [low: number, high: number] | undefined {
  const all = [...anchor, ...test];
  const parts = partsOf(anchor[0]?.sizes ?? [], Math.round(perSecond));
  if (parts.length < FEWEST_PARTS || all.some(({ sizes }) => !sizes)) return undefined;
  const between = risingRange(measure, { min: from, max: to });
  const curveOf = (points: readonly Measured[], out?: Part) =>
    points.map((point) => {
      const sizes = without(point.sizes ?? [], out);
      const metrics = Object.fromEntries(
        Object.entries(point.metrics).map(([name, samples]) => [name, without(samples, out)]),
      );
      const bytes = sizes.flat();
      const quality = qualityIn(measure, metrics, perSecond);
      return rising(measure)({ quality, kbps: bytes.reduce((sum, size) => sum + size, 0) / bytes.length });
    });
  // In logarithms, double and half are equally far apart.
  const rate = (out?: Part) =>
    Math.log1p(bdRate(curveOf(anchor, out), curveOf(test, out), { between }).value / 100);
  try {
    const whole = rate();
    const runs = parts.map((part) => Float64Array.of(parts.length * whole - (parts.length - 1) * rate(part)));
    const mean = intervalsOf(runs, share, 1).find(({ statistic }) => statistic === 'mean');
    return mean && [Math.expm1(mean.low) * 100, Math.expm1(mean.high) * 100];
  } catch (error) {
    // Without some part, the curves share no range.
    if (!(error instanceof AnyvmafError)) throw error;
    return undefined;
  }
}

/** Samples, or pieces of about a second if there are few; an even number of them. */
function partsOf(samples: SampleValues, second: number): readonly Part[] {
  const frames = samples.reduce((sum, { length }) => sum + length, 0);
  const few = samples.length < FEWEST_PARTS;
  const length = partLength(frames, second, MOST_PARTS);
  const parts = samples.flatMap((values, sample): Part[] =>
    few
      ? Array.from({ length: Math.floor(values.length / length) }, (_, i) => {
          return { sample, from: i * length, to: (i + 1) * length };
        })
      : [{ sample, from: 0, to: values.length }],
  );
  return parts.slice(0, parts.length - (parts.length % 2));
}

function without(samples: SampleValues, out?: Part): SampleValues {
  if (!out) return samples;
  return samples
    .map((values, i) => (i === out.sample ? [...values.slice(0, out.from), ...values.slice(out.to)] : values))
    .filter(({ length }) => length > 0);
}

/** Names that tell encoders apart. @throws {AnyvmafError} `usage` for a duplicate */
function namesOf(encoders: readonly ComparedEncoder[]): readonly string[] {
  const names = encoders.map(({ name, encoder, encoderOptions = {} }) => {
    const options = Object.entries(encoderOptions).map(([option, value]) => `${option}=${value}`);
    return name ?? [encoder, ...options].join(' ');
  });
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return names;
  throw usageError(`${shown(twice)} is compared twice; give each encoder other options, or its own name.`);
}

const DEFAULT_RUNGS = 5;
/** Smallest side in pixels for which scores make sense. */
const LEAST_SIDE = 16;

/** @throws {AnyvmafError} as the public `buildLadder` says; the signal's reason if aborted */
export async function buildLadder(
  platform: SearchPlatform,
  source: VideoInput,
  options: LadderOptions,
): Promise<LadderResult> {
  checkOptions('ladder', options);
  const measure = measureOf(options);
  return inSession(platform, source, options, async (session) => {
    const sizes = sizesOf(options.sizes, session.facts);
    const segment = segmentFrames(session.perSecond);
    const material = inSegments(await sampledSource(session, options.full, [measure.statistic]), segment);
    const plain = await curveSetting(session, options, options.targets);
    // Samples begin with key frames; the whole source needs them forced, as in the delivered ladder.
    const starts = material.isSource ? SEGMENT_STARTS : [];
    const setting = { ...plain, args: [...plain.args, ...segmentArguments(session.perSecond), ...starts] };
    const metrics = [poolingOf(measure).from];
    const steps: Step[] = [];
    for (const size of sizes) {
      const own = isSourceSize(size, session.facts) ? setting : { ...setting, size };
      const probe = await Probe.open(session, { material, setting: own, segment, metrics });
      steps.push({ size, probe });
    }
    return new Ladder(session, options, measure, setting, steps).run();
  });
}

/** Makes every sample that is at least a segment after the last key frame begin with one. */
function inSegments(material: Material, segment: number): Material {
  let last = Number.NEGATIVE_INFINITY;
  const keys = (material.starts ?? []).filter((start) => {
    if (start - last < segment) return false;
    last = start;
    return true;
  });
  return { ...material, keys };
}

interface Step {
  readonly size: PictureSize;
  readonly probe: Probe;
}

class Ladder {
  constructor(
    readonly session: Session,
    readonly options: LadderOptions,
    readonly measure: CompleteMeasure,
    readonly setting: Setting,
    readonly steps: readonly Step[],
  ) {}

  async run(): Promise<LadderResult> {
    const { targets, onPoint } = this.options;
    const task = { targets, measure: this.measure, perSecond: this.session.perSecond };
    for (const step of this.steps) {
      const tell = (point: KnownPoint) => onPoint?.(this.#point(step, point));
      await measureCurve(step.probe, this.options, task, tell);
    }
    return this.#result(await this.#rungs());
  }

  #point({ size, probe }: Step, point: KnownPoint): LadderPoint {
    const quality = qualityIn(this.measure, point.metrics, this.session.perSecond);
    return { ...size, ...probe.encoded(point), quality };
  }

  /** On the encoder's grid only. */
  #points(step: Step): readonly LadderPoint[] {
    return step.probe.onGrid().map((point) => this.#point(step, point));
  }

  #curves(): Curves<Step> {
    return this.steps.flatMap((step) => {
      const curve = risingCurve(this.#points(step).map(rising(this.measure)));
      return curve ? [[step, curve] as const] : [];
    });
  }

  #hull(): readonly LadderPoint[] {
    const up = rising(this.measure);
    return convexHull(this.steps.flatMap((step) => this.#points(step)).map(up)).map(up);
  }

  /** Chooses rungs on the best curve and measures new ones; each value occurs once. */
  async #rungs(): Promise<readonly LadderPoint[]> {
    const curves = this.#curves();
    const hull = this.#hull();
    const [lowest, highest] = [hull[0], hull.at(-1)];
    if (!lowest || !highest) throw new Error('nothing was measured');
    // A single value of each size makes no curve.
    if (curves.length === 0) return hull.slice(-(this.options.rungs ?? DEFAULT_RUNGS));
    const chosen = new Map<string, LadderPoint>();
    for (const { name: step, kbps } of this.#places(curves, lowest, highest)) {
      const curve = curves.find(([name]) => name === step)?.[1] as RisingCurve;
      const { values } = step.probe.setting.parameter.grid;
      const value = values[indexNear(values, curve.valueAt(kbps))] as number;
      const tell = (found: KnownPoint) => this.options.onPoint?.(this.#point(step, found));
      const point = await step.probe.measure(value, tell);
      chosen.set(`${this.steps.indexOf(step)} ${value}`, this.#point(step, point));
    }
    return [...chosen.values()].sort((a, b) => a.kbps - b.kbps);
  }

  /** Evenly spaced places on the best curve. */
  #places(curves: Curves<Step>, lowest: LadderPoint, highest: LadderPoint): readonly Choice<Step>[] {
    const { rungs = DEFAULT_RUNGS, spacing = 'rate', between } = this.options;
    const up = rising(this.measure);
    const wanted = risingRange(this.measure, between ?? usualRange(this.measure, this.options));
    const ends = [up(lowest).quality, up(highest).quality] as const;
    let [low, high] = [Math.max(ends[0], wanted.min), Math.min(ends[1], wanted.max)];
    if (low > high) {
      if (between)
        throw usageError(
          `rungs are requested between ${between.min} and ${between.max}, but the measured quality goes from ` +
            `${lowest.quality.toFixed(2)} to ${highest.quality.toFixed(2)}; measure other values, or request other rungs.`,
        );
      [low, high] = ends;
    }
    const [first, last] = [cheapestAt(curves, low), cheapestAt(curves, high)];
    const share = (i: number) => (rungs === 1 ? 1 : i / (rungs - 1));
    const from = first?.kbps ?? lowest.kbps;
    const until = last?.kbps ?? highest.kbps;
    return Array.from({ length: rungs }, (_, i) =>
      spacing === 'quality'
        ? cheapestAt(curves, Math.min(high, low + (high - low) * share(i)))
        : bestAt(curves, rateBetween(from, until, share(i))),
    ).filter((place) => place !== undefined);
  }

  #result(rungs: readonly LadderPoint[]): LadderResult {
    const { facts, perSecond, source } = this.session;
    const up = rising(this.measure);
    const curves = this.steps.map((step): LadderCurve => {
      const points = this.#points(step);
      return { ...step.size, points, notMonotone: rises(points.map(up)) };
    });
    const all = curves.flatMap(({ points }) => points);
    const changes = takeovers(this.#curves());
    const { others = [] } = facts;
    const sound = others.find(({ kind }) => kind === 'audio');
    return {
      kind: 'ladder',
      source: sourceName(facts),
      ...settingFacts(this.setting),
      ...this.measure,
      spacing: this.options.spacing ?? 'rate',
      frameRate: perSecond,
      curves,
      hull: this.#hull(),
      takeovers: changes.map(({ name, kbps, quality }) => up({ ...name.size, kbps, quality })),
      rungs,
      samples: this.steps[0]?.probe.material.samples ?? null,
      encodes: this.steps.reduce((sum, { probe }) => sum + probe.encodes, 0),
      cached: all.filter(({ cached }) => cached).length,
      warnings: [
        ...this.session.notes,
        ...lossesOf(facts, wholeEncode(this.setting, rungs[0]?.value ?? 0)),
        ...notCopied(others.filter((track) => track !== sound)),
      ],
      command: streamingCommand(String(source), this.setting, rungs, facts),
    };
  }
}

/** Useful qualities: below 40 VMAF unwatchable, above 96 indistinguishable. */
function usualRange({ metric }: CompleteMeasure, { models }: LadderOptions) {
  if (metric === scoreName(models)) return { min: 40, max: 96 };
  return { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY };
}

function isSourceSize({ width, height }: PictureSize, { track }: SourceFacts): boolean {
  return width === track.width && height === track.height;
}

/**
 * Sizes without duplicates, largest first.
 * @throws {AnyvmafError} `usage` for sizes larger than the source, odd where chroma is subsampled, or tiny
 */
function sizesOf(sizes: LadderOptions['sizes'], { track }: Pick<SourceFacts, 'track'>) {
  const even = (side: number) => Math.max(2, 2 * Math.round(side / 2));
  const whole = sizes.map((size): PictureSize => {
    if (typeof size !== 'number') return size;
    if (size === track.height) return { width: track.width, height: track.height };
    return { width: even((track.width * size) / track.height), height: size };
  });
  const odd = track.chroma === '420' ? 2 : 1;
  for (const { width, height } of whole) {
    const same = isSourceSize({ width, height }, { track } as SourceFacts);
    const fits = width <= track.width && height <= track.height && Math.min(width, height) >= LEAST_SIDE;
    const divisible = same || (width % (track.chroma === '444' ? 1 : 2) === 0 && height % odd === 0);
    if (fits && divisible) continue;
    throw usageError(
      `the ladder has the size ${width}x${height}, but sizes go from ${LEAST_SIDE} pixels up to the source's ` +
        `${track.width}x${track.height}${divisible ? '' : ', with even sides'}; change it, or leave it out.`,
    );
  }
  const distinct = new Map(whole.map((size) => [`${size.width}x${size.height}`, size]));
  return [...distinct.values()].sort((a, b) => b.width * b.height - a.width * a.height);
}
