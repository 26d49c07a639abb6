/**
 * @module engine/score-apart
 * Scores a pair twice and joins the reports: colour metrics apart from the others, or without and with film grain.
 */
import { isOfColour } from '../metrics/options.js';
import { runValue } from '../report/quality-metrics.js';
import type { FrameMetrics, Report, ReportMeasurer } from '../report/types.js';
import type { Progress, ScoreOptions } from './contract/types.js';
import type { Steering } from './live/steering.js';

/** Runs one of the two passes; the report describes the `main` one. */
type ScorePart = (options: ScoreOptions, main: boolean) => Promise<Report>;

/** Scores without film grain, then with it, as viewers see the video. */
export async function scoreBothGrains(
  options: ScoreOptions,
  offset: number | undefined,
  score: ScorePart,
): Promise<Report> {
  const { onFrame, onStart, onProgress, window, ...others } = options;
  const progress = (before: number): ScoreOptions =>
    onProgress ? { onProgress: (told) => onProgress(half(told, before)) } : {};
  const without = await score(
    {
      ...others,
      ...progress(0),
      ...(offset !== undefined && { offset }),
      grain: 'off',
      preflight: false,
    },
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

/** Scores colour metrics, then the others; `steering` shows the values of both passes. */
export async function scoreApart(
  options: ScoreOptions,
  offset: number | undefined,
  score: ScorePart,
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
      preflight: false,
      ...(steering && { gate: () => others.gate?.() ?? steering.gate() }),
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
          onStart({ ...head, ...inputsOf(head, colour), metrics: [...head.metrics, ...colour.metrics] }),
      }),
      ...(onProgress && { onProgress: (progress) => onProgress(half(progress, colour.frameCount)) }),
    },
    true,
  );
  return {
    ...main,
    ...inputsOf(main, colour),
    ...(main.measurers && { measurers: [...main.measurers, measurerOf(features, colour.frameCount)] }),
    metrics: [...main.metrics, ...colour.metrics],
    frames: main.frames.map(joined),
    pooled_metrics: { ...main.pooled_metrics, ...colour.pooled_metrics },
    aggregate_metrics: { ...main.aggregate_metrics, ...colour.aggregate_metrics },
    distribution: { ...main.distribution, ...colour.distribution },
    warnings: [...new Set([...main.warnings, ...colour.warnings])],
  };
}

type Inputs = Pick<Report, 'reference' | 'distorted'>;

/** Replaces the colours of the inputs with those of the colour pass. */
function inputsOf({ reference, distorted }: Inputs, colour: Inputs): Inputs {
  return {
    reference: { ...reference, colour: colour.reference.colour },
    distorted: { ...distorted, colour: colour.distorted.colour },
  };
}

function measurerOf(features: readonly string[], frames: number): ReportMeasurer {
  const names = features.filter(isOfColour).map((text) => text.split('=', 1)[0] ?? '');
  return { backend: 'cpu', extractors: [...new Set(names)], frames };
}

/** Combines the progress of both passes. @param before frames that the first pass measured, 0 during it */
function half({ framesDone, framesTotal, fps, secondsLeft }: Progress, before: number): Progress {
  const done = Math.floor((before + framesDone) / 2);
  const left = framesTotal === null || fps === 0 ? null : (2 * (framesTotal - done)) / fps;
  return { framesDone: done, framesTotal, fps: fps / 2, secondsLeft: before > 0 ? secondsLeft : left };
}
