/**
 * @module search/compare
 * Compares encoders on one source: their curves, what each needs for a quality, and BD-rates.
 */
import { AnyvmafError, usageError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import { intervalsOf } from '../core/sampling.js';
import type { VideoInput } from '../media/types.js';
import { bdQuality, bdRate } from '../report/bd-rate.js';
import {
  type CurveTask,
  fineChoice,
  measureCurve,
  measureOf,
  qualityOf,
  rising,
  risingCurve,
  risingRange,
} from './curves.js';
import type { SearchPlatform } from './host.js';
import { sampledSource } from './material.js';
import { checkCompareOptions } from './options.js';
import { Probe } from './probe.js';
import { inSession, settingOf, sourceName } from './session.js';
import { byGrid, rises } from './strategy.js';
import {
  FEWEST_PARTS,
  type KnownPoint,
  type Measured,
  marginTo,
  partLength,
  poolingOf,
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
} from './types.js';

/** @throws {AnyvmafError} as the public `compareEncoders` says; the signal's reason if aborted */
export async function compareEncoders(
  platform: SearchPlatform,
  source: VideoInput,
  options: CompareOptions,
): Promise<ComparisonResult> {
  checkCompareOptions(options);
  const names = namesOf(options.encoders);
  const measure = measureOf(options);
  return inSession(platform, source, options, async (session) => {
    const material = await sampledSource(session, options.full, [measure.statistic]);
    const contestants: Contestant[] = [];
    // Open all encoders before measuring any, so that a wrong name costs no time.
    for (const [i, choice] of options.encoders.entries()) {
      const setting = await settingOf(session, fineChoice(choice));
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
    quality: qualityOf(point, task.measure, task.perSecond),
  });
  const values = await measureCurve(probe, choice, task, (point) => onPoint?.(compared(point)));
  const { encoder, parameter } = probe.setting;
  const points = byGrid(probe.points().map(compared), parameter.grid);
  const up = rising(task.measure);
  const curve = risingCurve(points.map(up));
  const speeds = points.flatMap(({ framesPerSecond, cached }) => (cached ? [] : (framesPerSecond ?? [])));
  return {
    name,
    encoder: encoder.name,
    version: encoder.version,
    parameter: parameter.name,
    points,
    notMonotone: rises(points.map(up)),
    atTargets: values.map((value, i) => {
      const target = task.targets?.[i] as number;
      const point = points.find((one) => one.value === value) as ComparedPoint;
      const { kbps, quality } = point;
      const { quality: place } = up({ quality: target });
      const on = curve && place >= curve.low.quality && place <= curve.high.quality;
      return {
        target,
        value,
        kbps,
        quality,
        reached: marginTo(targetAt(task.measure, target), quality) >= 0,
        kbpsAt: on ? curve.kbpsAt(place) : null,
      };
    }),
    // All points encode the same number of frames, so the harmonic mean is the overall speed.
    framesPerSecond: speeds.length > 0 ? speeds.length / speeds.reduce((sum, one) => sum + 1 / one, 0) : null,
  };
}

interface Pairing extends CurveTask {
  readonly between: CompareOptions['between'];
  /** Default of `between`, used if both curves overlap it. */
  readonly usual: CompareOptions['between'];
  /** Fraction of the video that was sampled; 0 if the whole was encoded. */
  readonly share: number;
}

/** Compares each curve with the first; finds the one that needs least rate and those that tie with it. */
function differencesOf(
  curves: readonly ComparedCurve[],
  contestants: readonly Contestant[],
  pairing: Pairing,
): Pick<ComparisonResult, 'deltas' | 'least' | 'ties'> {
  const measured = contestants.map(({ probe }) => byGrid(probe.points(), probe.setting.parameter.grid));
  const deltaOf = (anchor: number, test: number): CurveDelta => {
    const pair = [curves[anchor], curves[test]] as [ComparedCurve, ComparedCurve];
    const delta = deltaBetween(pair, pairing);
    const points = [measured[anchor], measured[test]] as [readonly Measured[], readonly Measured[]];
    const rate95 = delta.rate ? intervalOf(points, delta.rate.range, pairing) : undefined;
    return { ...delta, ...(rate95 && { rate95 }) };
  };
  const deltas = curves.slice(1).map((_, i) => deltaOf(0, i + 1));
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
  { measure, between: asked, usual }: Pairing,
): CurveDelta {
  const up = rising(measure);
  const names = { anchor: anchor.name, test: test.name };
  const shared = [anchor, test].every(({ points }) => {
    const qualities = points.map(({ quality }) => quality);
    return usual && Math.min(...qualities) < usual.max && Math.max(...qualities) > usual.min;
  });
  const range = asked ?? (shared ? usual : undefined);
  const [a, b] = [anchor.points.map(up), test.points.map(up)];
  try {
    const between = range && risingRange(measure, range);
    const rate = bdRate(a, b, { between });
    const quality = bdQuality(a, b, { between });
    const { min: from, max: to } = risingRange(measure, { min: rate.range.from, max: rate.range.to });
    return {
      ...names,
      rate: { ...rate, range: { from, to } },
      quality: { ...quality, value: up({ quality: quality.value }).quality },
      refused: null,
    };
  } catch (error) {
    if (!(error instanceof AnyvmafError)) throw error;
    return { ...names, rate: null, quality: null, refused: error.message };
  }
}

const MOST_PARTS = 32;

/** Frames `from` up to `to` of a sample. */
interface Part {
  readonly sample: number;
  readonly from: number;
  readonly to: number;
}

/** 95 % confidence interval of the rate difference in per cent (jackknife); `undefined` if too little was measured. */
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
      const quality = qualityOf({ ...point, metrics }, measure, perSecond);
      return rising(measure)({ quality, kbps: bytes.reduce((sum, one) => sum + one, 0) / bytes.length });
    });
  // In logarithms, where double and half are equally far apart.
  const rate = (out?: Part) =>
    Math.log1p(bdRate(curveOf(anchor, out), curveOf(test, out), { between }).value / 100);
  try {
    const whole = rate();
    const runs = parts.map((part) => Float64Array.of(parts.length * whole - (parts.length - 1) * rate(part)));
    const mean = intervalsOf(runs, share, 1).find(({ statistic }) => statistic === 'mean');
    return mean && [Math.expm1(mean.low) * 100, Math.expm1(mean.high) * 100];
  } catch (error) {
    // Without this part the curves share no range.
    if (!(error instanceof AnyvmafError)) throw error;
    return undefined;
  }
}

/** Samples, or if there are few, pieces of about a second; an even number. */
function partsOf(samples: SampleValues, second: number): readonly Part[] {
  const frames = samples.reduce((sum, { length }) => sum + length, 0);
  const few = samples.length < FEWEST_PARTS;
  const length = partLength(frames, second, MOST_PARTS);
  const parts = samples.flatMap((values, sample): Part[] =>
    few
      ? Array.from({ length: Math.floor(values.length / length) }, (_, i) => ({
          ...{ sample, from: i * length, to: (i + 1) * length },
        }))
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

/** Names that tell the encoders apart. @throws {AnyvmafError} `usage` for a duplicate */
function namesOf(encoders: readonly ComparedEncoder[]): readonly string[] {
  const names = encoders.map(({ name, encoder, encoderOptions = {} }) => {
    const options = Object.entries(encoderOptions).map(([option, value]) => `${option}=${value}`);
    return name ?? [encoder, ...options].join(' ');
  });
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return names;
  throw usageError(`${shown(twice)} is compared twice; give each encoder other options, or its own name.`);
}
