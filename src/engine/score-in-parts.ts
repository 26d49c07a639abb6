/**
 * @module engine/score-in-parts
 * Scores a pair in several runs and joins their reports: samples, colour metrics in a separate pass, or without and with film
 * grain.
 */
import { mediaError, usageError } from '../core/errors.js';
import type { FrameRange } from '../core/frame.js';
import { quotientOf, USUAL_RATE } from '../core/numbers.js';
import { changed, pickOptions } from '../core/options.js';
import { counted, shown } from '../core/printable.js';
import { checkSamples, type Drawn, drawRuns, intervalsOf, LEVEL } from '../core/sampling.js';
import { rateOf } from '../media/evidence/rate.js';
import { readsOnce } from '../media/open.js';
import { factsOf, nameOf } from '../media/pair.js';
import { alignState } from '../media/pairing/types.js';
import type { Finding } from '../media/preflight/findings.js';
import { folderOption, isOfColour } from '../metrics/options.js';
import { buildReport, type MetricSeries } from '../report/build.js';
import { runValue, valueOfWhole, wholeValue } from '../report/quality-metrics.js';
import type { FrameMetrics, Report, ReportMeasurer, ReportSampling } from '../report/schema.js';
import { historyNeeds } from './backends/measurer.js';
import { type CheckedOptions, checkOptions } from './contract/options.js';
import type { Platform } from './contract/platform.js';
import { type InputContext, inScope, SharedInputs, SharedSources } from './contract/scope.js';
import type { Progress, ScoreOptions, ScoreRequest } from './contract/types.js';
import { identifyPair } from './inputs/open.js';
import { refuseFindings } from './inputs/preflight.js';
import { inspectPair } from './inspect.js';
import type { Steering } from './live/steering.js';
import { closePair, formatOf, lightOf, type Pair } from './pair/pair.js';
import { loadRequested, planRun } from './plan/plan.js';
import { backendOfRuns, headOf, inputsOf, sumMeasurers } from './results/report-parts.js';

/** Pairs to measure after a run, which its last values need. */
const TRAIL = 3;

/** Pairs to measure before a run, besides the history of its features. */
const LEAD = 2;

export type ScorePart = (
  request: ScoreRequest,
  options: ScoreOptions,
  known: Pick<InputContext, 'shared' | 'alignment' | 'part'>,
) => Promise<Report>;

interface Whole {
  readonly known: Pair;
  readonly checked: CheckedOptions;
  /** Number of pairs. */
  readonly total: number;
  /** Pairs per second. */
  readonly rate: number;
  readonly range: FrameRange;
  readonly offset: number;
  /** Pairs to measure before a run. */
  readonly lead: number;
}

/** @throws {AnyvmafError} as the public `score`; `usage` if runs cannot be drawn from the video */
export async function scoreSampled(
  platform: Platform,
  request: ScoreRequest,
  options: ScoreOptions,
  scorePart: ScorePart,
): Promise<Report> {
  const { samples = 'auto' } = options;
  const sizes = checkSamples(samples);
  const checked = checkOptions(options, 'score');
  refuseUnfit(request, options, checked);
  return inScope(options, async ({ samples: _, ...all }, scope) => {
    const { signal } = scope;
    const sources = scope.own(new SharedSources([request, request]));
    const videos = sources.within(request);
    const shared = new SharedInputs(['reference', 'distorted'], signal);
    const whole = await identifyWhole(videos, { platform, checked, signal, shared });
    const read = { shared, alignment: whole.known.alignment };
    const score = (own: ScoreOptions, part?: InputContext['part']) =>
      scope.join(scorePart(videos, own, { ...read, part }));
    const length = Math.max(1, Math.round(sizes.seconds * whole.rate));
    const drawn = drawRuns(whole.total, length, sizes);
    if (!drawn) {
      if (samples === 'auto') return allScored(await score(all));
      throw usageError(
        `samples are ${sizes.runs} runs of ${sizes.seconds} s, but ${shown(nameOf(whole.known.sides.reference))} has ` +
          `only ${counted(whole.total, 'pair')} (${(whole.total / whole.rate).toFixed(1)} s), and the samples would cover a ` +
          'quarter or more of it; score all of it, or take fewer or shorter samples.',
      );
    }
    const { skip, frameCount, pairing } = checked;
    const { strict, preflight } = pairing;
    const seen = { ...read, cut: { skip, frameCount } };
    const inspection = preflight
      ? await scope.join(inspectPair(platform, videos, lookOptions(all), seen))
      : undefined;
    const findings = inspection?.findings;
    if (findings) refuseFindings(findings, strict);
    return scoreDrawn({ options: all, score, whole, drawn, seed: sizes.seed, findings });
  });
}

function allScored(report: Report): Report {
  const said = 'Nothing was sampled: the video is too short, so all of it was scored.';
  return { ...report, warnings: [...report.warnings, said] };
}

/** @throws {AnyvmafError} `usage` for options that need all frames, and for streams */
function refuseUnfit(request: ScoreRequest, options: ScoreOptions, checked: CheckedOptions): void {
  const { subsample, pairing } = checked;
  const [given] = changed({ ...options, subsample }, ({ whole }) => whole);
  const folder = folderOption([...checked.features, ...(checked.models ?? [])]);
  const other = given ?? (pairing.grain === 'both' ? "grain 'both'" : folder);
  if (other) throw usageError(`samples and ${other} exclude each other; leave one of them out.`);
  for (const role of ['reference', 'distorted'] as const) {
    const video = request[role];
    if (video !== undefined && readsOnce(video))
      throw usageError(`the ${role} is a stream, which cannot seek; give it as a file to sample it.`);
  }
}

async function identifyWhole(request: ScoreRequest, context: InputContext): Promise<Whole> {
  const { platform, checked } = context;
  const { pairBy, range = { unit: 'frames', start: 0 } } = checked.pairing;
  const pairing = { ...checked.pairing, range };
  const known = await identifyPair(request, { ...context, checked: { ...checked, pairing } });
  try {
    const { plan } = known;
    const side = known.sides[pairBy];
    const name = shown(nameOf(side));
    if (!plan || plan.count === null) {
      throw usageError(
        `the number of frames of ${name} is unknown before decoding, so runs cannot be drawn; score all of it.`,
      );
    }
    const stated = factsOf(side).frameRate;
    const found = rateOf({ timestamps: side.times, ...(stated && { frameRate: stated }) });
    const rate = quotientOf(found) ?? USUAL_RATE;
    const format = formatOf(known);
    const requested = await loadRequested(checked, platform, () => format);
    const { features } = planRun(requested, { ...format, ...lightOf(known) }, checked.compat);
    const lead = historyNeeds(features.extraction).frames + LEAD;
    const { offset } = plan.options;
    return { known, checked, total: plan.count, rate, range, offset, lead };
  } finally {
    await closePair(known);
  }
}

function lookOptions(options: ScoreOptions): ScoreOptions {
  const look = pickOptions(options, ({ by }) => by.includes('look'));
  return { ...look, ...(options.noPrediction && { models: [] }) };
}

interface Sampling {
  readonly options: ScoreOptions;
  readonly score: (options: ScoreOptions, part: InputContext['part']) => Promise<Report>;
  readonly whole: Whole;
  readonly drawn: Drawn;
  readonly seed: number;
  readonly findings: readonly Finding[] | undefined;
}

async function scoreDrawn(sampling: Sampling): Promise<Report> {
  const { options, score, whole, drawn } = sampling;
  const { total, lead, range, offset } = whole;
  const { window: _, strict: __, onProgress, ...shared } = options;
  const own: ScoreOptions = { ...shared, offset, range, preflight: false };
  const reports: Report[] = [];
  const began = performance.now();
  const all = drawn.starts.length * drawn.length;
  for (const start of drawn.starts) {
    const from = Math.max(0, start - lead);
    const until = Math.min(total, start + drawn.length + TRAIL);
    const report = await score(own, { start: from, count: until - from });
    const frames = report.frames
      .map(({ frameNum, metrics }) => ({ frameNum: frameNum + from, metrics }))
      .filter(({ frameNum }) => frameNum >= start && frameNum < start + drawn.length);
    reports.push({ ...report, frames });
    const framesDone = reports.length * drawn.length;
    const fps = (1000 * framesDone) / Math.max(1, performance.now() - began);
    onProgress?.({ framesDone, framesTotal: all, fps, secondsLeft: (all - framesDone) / fps });
  }
  return join(reports, sampling, (performance.now() - began) / 1000);
}

function join(runs: readonly Report[], { whole, drawn, seed, findings }: Sampling, seconds: number): Report {
  const [report] = runs;
  if (!report) throw new Error('no runs were drawn');
  const frames = runs.flatMap((run) => run.frames);
  const series = report.metrics.map((name): MetricSeries => {
    const values = Float64Array.from(frames, ({ metrics }) => metrics[name] ?? Number.NaN);
    return { name, values };
  });
  const wholes = Object.keys(report.aggregate_metrics).flatMap((name) => {
    const whole = wholeValue(name);
    const values = series.find((metric) => metric.name === whole?.from)?.values;
    return whole && values ? { name, whole, values } : [];
  });
  const sampling: ReportSampling = {
    runs: drawn.starts.length,
    run_frames: drawn.length,
    frames: frames.length,
    total: whole.total,
    seed,
    level: LEVEL,
    starts: drawn.starts,
    intervals: [
      ...series.flatMap(({ name, values }) =>
        intervalsIn(values, drawn, seed).map((interval) => ({ metric: name, ...interval })),
      ),
      ...wholes.flatMap(({ name, whole, values }) => {
        const [mean] = intervalsIn(values.map(whole.term), drawn, seed);
        if (!mean) return [];
        const [low = 0, high = 0] = [whole.of(mean.low), whole.of(mean.high)].sort((a, b) => a - b);
        return [{ metric: name, statistic: 'mean', low, high }];
      }),
    ],
  };
  const { checked, known } = whole;
  const head = headOf(inputsOf(known), checked);
  const { frames: _, pooled_metrics: __, aggregate_metrics: ___, distribution: ____, ...rest } = report;
  const warnings = runs.flatMap((run) => run.warnings);
  return buildReport({
    ...rest,
    ...head,
    // Colours may have been measured in a pass of their own.
    ...withColoursOf(head, report),
    fps: frames.length / Math.max(1e-9, seconds),
    backend_used: backendOfRuns(runs),
    ...(report.measurers && { measurers: sumMeasurers(runs.flatMap(({ measurers = [] }) => measurers)) }),
    frameNumbers: frames.map(({ frameNum }) => frameNum),
    series,
    aggregates: Object.fromEntries(
      wholes.map(({ name, whole, values }) => [name, valueOfWhole(whole, values)]),
    ),
    ...(report.pairing && { pairing: pairingOf(report.pairing, whole, frames.length) }),
    preflight: findings,
    sampling,
    frameCount: frames.length,
    warnings: [...new Set([...sampledSentences(sampling, report), ...known.warnings, ...warnings])],
  });
}

/** Intervals of one metric over all runs; none if a frame lacks a value. */
function intervalsIn(values: Float64Array, { starts, length, share }: Drawn, seed: number) {
  if (values.some(Number.isNaN) || values.length !== starts.length * length) return [];
  const runs = starts.map((_, i) => values.subarray(i * length, (i + 1) * length));
  return intervalsOf(runs, share, seed);
}

/** Turns the first run's pairing into that of the whole pair. */
function pairingOf(
  pairing: NonNullable<Report['pairing']>,
  { checked, known: { alignment } }: Whole,
  pairs: number,
): Report['pairing'] {
  const { range: _, frames, ...rest } = pairing;
  const { range, offset } = checked.pairing;
  const found = alignment && { offsetConfidence: alignment.confidence, offsetState: alignState(alignment) };
  return {
    ...rest,
    ...(range && { range }),
    frames: { ...frames, offsetRequested: offset, ...found, pairs },
  };
}

/** The first warnings: values are estimates. */
function sampledSentences(sampling: ReportSampling, { models }: Report): string[] {
  const { runs, run_frames, frames, total, intervals, level } = sampling;
  const share = ((100 * frames) / total).toFixed(1);
  const means = models.flatMap(({ name }) => {
    const found = intervals.find(({ metric, statistic }) => metric === name && statistic === 'mean');
    return found
      ? [`the mean of ${name} of the whole lies between ${found.low.toFixed(3)} and ${found.high.toFixed(3)}`]
      : [];
  });
  const said = means.length > 0 ? ` With ${100 * level} % confidence ${means.join(', and ')}.` : '';
  return [
    `Sampled: ${runs} runs of ${run_frames} frames were scored, ${frames} of ${total} pairs (${share} %); pooled values are ` +
      `estimates of the whole.${said}`,
  ];
}

/** Runs one of two passes; the report describes the `main` pass. */
type ScorePass = (options: ScoreOptions, main: boolean) => Promise<Report>;

/** Scores without film grain, then with it, as viewers see it. */
export async function scoreBothGrains(
  options: ScoreOptions,
  offset: number | undefined,
  score: ScorePass,
): Promise<Report> {
  const { onFrame, onStart, onProgress, window, ...others } = options;
  const progress = (before: number): ScoreOptions =>
    onProgress ? { onProgress: (told) => onProgress(half(told, before)) } : {};
  const without = await score(
    { ...others, ...progress(0), ...(offset !== undefined && { offset }), grain: 'off', preflight: false },
    false,
  );
  const main = await score({ ...options, ...progress(without.frameCount), grain: 'on' }, true);
  const metrics = [...without.metrics, ...Object.keys(without.aggregate_metrics)];
  return {
    ...main,
    withoutGrain: metrics.flatMap((metric) => {
      const value = runValue(without, metric);
      return value === undefined ? [] : [{ metric, value }];
    }),
  };
}

/** Scores colour metrics, then the others; `steering` gets the values of both passes. */
export async function scoreApart(
  options: ScoreOptions,
  offset: number | undefined,
  score: ScorePass,
  steering?: Steering,
): Promise<Report> {
  const { features = [], onFrame, onStart, onProgress, aomCtc, nflxCtc, tiny, window, ...others } = options;
  const isOnGpu = options.backend === 'webgpu' || options.backend === 'hybrid';
  const ofFrame = new Map<number, FrameMetrics['metrics']>();
  const colour = await score(
    {
      ...others,
      ...(offset !== undefined && { offset }),
      // GPUs measure no colour metrics.
      ...(isOnGpu && { backend: 'wasm' }),
      features: features.filter(isOfColour),
      models: [],
      alsoModels: [],
      noPrediction: true,
      // Presets may set it.
      commonBitDepth: checkOptions(options, 'score').pairing.commonBitDepth,
      preflight: false,
      ...(steering && { gate: () => others.gate?.() ?? unlessStopped(steering) }),
      onFrame: ({ frameNum, metrics }) => ofFrame.set(frameNum, metrics),
      ...(onProgress && { onProgress: (progress) => onProgress(half(progress, 0)) }),
    },
    false,
  );
  if (steering) steering.beside = { metrics: colour.metrics, ofFrame };
  const joined = ({ frameNum, metrics }: FrameMetrics): FrameMetrics => ({
    frameNum,
    metrics: { ...metrics, ...ofFrame.get(frameNum) },
  });
  const { colourAs: _, ...rest } = options;
  const main = await score(
    {
      ...rest,
      features: features.filter((text) => !isOfColour(text)),
      ...(onFrame && { onFrame: (frame) => onFrame(joined(frame)) }),
      ...(onStart && {
        onStart: (head) =>
          onStart({ ...head, ...withColoursOf(head, colour), metrics: [...head.metrics, ...colour.metrics] }),
      }),
      ...(onProgress && { onProgress: (progress) => onProgress(half(progress, colour.frameCount)) }),
    },
    true,
  );
  return {
    ...main,
    ...withColoursOf(main, colour),
    ...(main.measurers && { measurers: [...main.measurers, measurerOf(features, colour.frameCount)] }),
    metrics: [...main.metrics, ...colour.metrics],
    frames: main.frames.map(joined),
    pooled_metrics: { ...main.pooled_metrics, ...colour.pooled_metrics },
    aggregate_metrics: { ...main.aggregate_metrics, ...colour.aggregate_metrics },
    distribution: { ...main.distribution, ...colour.distribution },
    warnings: [...new Set([...main.warnings, ...colour.warnings])],
  };
}

/** Waits while the run is paused. @throws {AnyvmafError} `media` once it is stopped: one pass makes no report */
function unlessStopped(steering: Steering): Promise<void> | undefined {
  if (!steering.stopped) return steering.gate();
  throw mediaError('There is nothing to report: the run was stopped before VMAF was measured.');
}

type Inputs = Pick<Report, 'reference' | 'distorted'>;

/** Replaces the colours of the inputs with those of the colour pass. */
function withColoursOf({ reference, distorted }: Inputs, colour: Inputs): Inputs {
  return {
    reference: { ...reference, colour: colour.reference.colour },
    distorted: { ...distorted, colour: colour.distorted.colour },
  };
}

function measurerOf(features: readonly string[], frames: number): ReportMeasurer {
  const names = features.filter(isOfColour).map((text) => text.split('=', 1)[0] ?? '');
  return { backend: 'cpu', extractors: [...new Set(names)], frames };
}

/** Combines the progress of both passes. @param before frames of the finished first pass; 0 during it */
function half({ framesDone, framesTotal, fps, secondsLeft }: Progress, before: number): Progress {
  const done = Math.floor((before + framesDone) / 2);
  const left = framesTotal === null || fps === 0 ? null : (2 * (framesTotal - done)) / fps;
  return { framesDone: done, framesTotal, fps: fps / 2, secondsLeft: before > 0 ? secondsLeft : left };
}
