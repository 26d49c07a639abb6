/**
 * @module search/compare
 * Encoders beside each other on one source: the curve of each, what each needs for a quality, and BD-rates.
 */
import { AnyvmafError, usageError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import type { VideoInput } from '../media/types.js';
import { bdQuality, bdRate } from '../report/bd-rate.js';
import {
  byGrid,
  type CurveTask,
  fineChoice,
  measureCurve,
  measureOf,
  qualityOf,
  rises,
  rising,
  risingCurve,
  risingRange,
} from './curves.js';
import type { SearchPlatform } from './host.js';
import { sampledSource } from './material.js';
import { checkCompareOptions } from './options.js';
import { Probe } from './probe.js';
import { inSession, settingOf, sourceName } from './session.js';
import {
  type CompleteMeasure,
  type KnownPoint,
  marginTo,
  poolingOf,
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

/**
 * Compares encoders.
 * @throws {AnyvmafError} as the public `compareEncoders` says; the signal's reason when it asks to stop
 */
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
    // All are opened before any is measured, so that a wrong name costs no time.
    for (const [i, choice] of options.encoders.entries()) {
      const setting = await settingOf(session, fineChoice(choice));
      const probe = await Probe.open(session, { material, setting, metrics: [poolingOf(measure).from] });
      contestants.push({ name: names[i] as string, choice, probe });
    }
    const task = { targets: options.targets, measure, perSecond: session.perSecond };
    const curves: ComparedCurve[] = [];
    for (const contestant of contestants) curves.push(await measureOne(contestant, task, options.onPoint));
    const points = curves.flatMap((curve) => curve.points);
    return {
      kind: 'comparison',
      source: sourceName(session.facts),
      ...measure,
      curves,
      deltas: deltasOf(
        curves,
        measure,
        options.between,
        measure.metric === scoreName(options.models) ? WATCHED : undefined,
      ),
      samples: material.samples,
      warnings: session.notes,
      encodes: contestants.reduce((sum, { probe }) => sum + probe.encodes, 0),
      cached: points.filter(({ cached }) => cached).length,
    };
  });
}

/** An encoder, and what measures it. */
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
    // Each point encodes as many frames, so that the mean of the times counts.
    framesPerSecond: speeds.length > 0 ? speeds.length / speeds.reduce((sum, one) => sum + 1 / one, 0) : null,
  };
}

/**
 * Each curve against the first.
 * @param between qualities to go over
 * @param usual the same where none were asked for, and curves have some of them
 */
function deltasOf(
  [anchor, ...others]: readonly ComparedCurve[],
  measure: CompleteMeasure,
  between: CompareOptions['between'],
  usual: CompareOptions['between'],
): readonly CurveDelta[] {
  if (!anchor) return [];
  const up = rising(measure);
  const deltas = (test: ComparedCurve, range: CompareOptions['between']) => {
    const [a, b] = [anchor.points.map(up), test.points.map(up)];
    const between = range && risingRange(measure, range);
    const rate = bdRate(a, b, { between });
    const quality = bdQuality(a, b, { between });
    const { min: from, max: to } = risingRange(measure, { min: rate.range.from, max: rate.range.to });
    return {
      rate: { ...rate, range: { from, to } },
      quality: { ...quality, value: up({ quality: quality.value }).quality },
    };
  };
  return others.map((test) => {
    const names = { anchor: anchor.name, test: test.name };
    const shared = [anchor, test].every(({ points }) => {
      const qualities = points.map(({ quality }) => quality);
      return usual && Math.min(...qualities) < usual.max && Math.max(...qualities) > usual.min;
    });
    try {
      return { ...names, ...deltas(test, between ?? (shared ? usual : undefined)), refused: null };
    } catch (error) {
      if (!(error instanceof AnyvmafError)) throw error;
      return { ...names, rate: null, quality: null, refused: error.message };
    }
  });
}

/**
 * Names that tell the encoders apart.
 * @throws {AnyvmafError} `usage` for one that is there twice
 */
function namesOf(encoders: readonly ComparedEncoder[]): readonly string[] {
  const names = encoders.map(({ name, encoder, encoderOptions = {} }) => {
    const options = Object.entries(encoderOptions).map(([option, value]) => `${option}=${value}`);
    return name ?? [encoder, ...options].join(' ');
  });
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return names;
  throw usageError(
    `${shown(twice)} is compared twice; give each encoder other options, or a name of its own.`,
  );
}
