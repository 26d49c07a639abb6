/**
 * @module engine/score-apart
 * RGB is read twice where metrics of colour and others are measured of it: as it is, and as luma and chroma.
 */
import { isOfColour } from '../metrics/options.js';
import type { FrameMetrics, Report } from '../report/types.js';
import type { ScoreOptions } from './contract/types.js';

/** @param score runs one of the two */
export async function scoreApart(
  options: ScoreOptions,
  score: (options: ScoreOptions, main: boolean) => Promise<Report>,
): Promise<Report> {
  const { features = [], onFrame, onStart, onProgress, aomCtc, nflxCtc, tiny, ...others } = options;
  const colour = await score(
    {
      ...others,
      features: features.filter(isOfColour),
      models: [],
      alsoModels: [],
      noPrediction: true,
      preflight: false,
    },
    false,
  );
  const ofFrame = new Map(colour.frames.map(({ frameNum, metrics }) => [frameNum, metrics]));
  const joined = ({ frameNum, metrics }: FrameMetrics): FrameMetrics => ({
    frameNum,
    metrics: { ...metrics, ...ofFrame.get(frameNum) },
  });
  const main = await score(
    {
      ...options,
      features: features.filter((text) => !isOfColour(text)),
      ...(onFrame && { onFrame: (frame) => onFrame(joined(frame)) }),
      ...(onStart && {
        onStart: (head) => onStart({ ...head, metrics: [...head.metrics, ...colour.metrics] }),
      }),
    },
    true,
  );
  return {
    ...main,
    reference: { ...main.reference, colour: colour.reference.colour },
    distorted: { ...main.distorted, colour: colour.distorted.colour },
    metrics: [...main.metrics, ...colour.metrics],
    frames: main.frames.map(joined),
    pooled_metrics: { ...main.pooled_metrics, ...colour.pooled_metrics },
    aggregate_metrics: { ...main.aggregate_metrics, ...colour.aggregate_metrics },
    distribution: { ...main.distribution, ...colour.distribution },
    warnings: [...new Set([...main.warnings, ...colour.warnings])],
  };
}
