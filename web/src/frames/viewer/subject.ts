/**
 * @module web/frames/viewer/subject
 * The encode on show: frames, scores, worst moments, and the files of its pictures.
 */
import { type FrameMetrics, frameGap, type Ranking, type Report, ranking, worstFrames } from 'anyvmaf';
import { USUAL_RATE } from 'anyvmaf/core/rational';
import { frameRate } from 'anyvmaf/view';
import { type EncodeResult, identityOf, sourceOf } from '../../session.js';
import type { PairSource } from '../serve.js';

export interface Subject {
  readonly result: EncodeResult;
  readonly scored: number;
  /** `undefined` for a saved report. */
  readonly source: PairSource | undefined;
  readonly metric: string;
  readonly worse: Ranking['worse'];
  /** Frame numbers, worst first. */
  readonly moments: readonly number[];
  readonly total: number;
}

/** @param frame exists, even if not scored yet */
export function subjectOf(result: EncodeResult, frame: number): Subject {
  const { frames, report } = result;
  const rank = rankingOf(frames, report);
  return {
    result,
    scored: frames.length,
    source: pairSource(result, frame),
    metric: rank?.metric ?? '',
    worse: rank?.worse ?? 'low',
    moments: worstMoments(frames, rank, report),
    total: totalOf(result, frame),
  };
}

/** Frames of the encode; during a run, those known so far. */
function totalOf({ frames, report }: EncodeResult, frame: number): number {
  return report?.frameCount ?? (frames.at(-1)?.frameNum ?? frame) + 1;
}

/** `undefined` for a saved report. @param frame as of {@link subjectOf} */
export function pairSource(result: EncodeResult, frame: number): PairSource | undefined {
  const source = sourceOf(result);
  if (!result.source || !source) return undefined;
  return { ...source, key: String(identityOf(result.source)), total: totalOf(result, frame) };
}

/** Frames of the reference before the first pair. */
function skippedOf({ report, saved, skipped }: EncodeResult): number | undefined {
  return report?.reference.skipped ?? saved?.reference?.skipped ?? skipped;
}

/** The frame of `to` with the same reference frame, which may be outside of it, and the last one of `to`. */
function sameFrame(
  from: EncodeResult,
  to: EncodeResult,
  frame: number,
): readonly [same: number, last: number] {
  const [own, its] = [skippedOf(from), skippedOf(to)];
  const same = own === undefined || its === undefined ? frame : frame + own - its;
  // During a run, later frames may still come.
  return [same, to.report ? to.report.frameCount - 1 : same];
}

/** The frame of `to` at the same moment, limited to its frames. */
export function sameMoment(from: EncodeResult, to: EncodeResult, frame: number): number {
  const [same, last] = sameFrame(from, to, frame);
  return Math.max(0, Math.min(last, same));
}

/** The frame of `to` at the same moment; `undefined` if it has none. */
export function momentIn(from: EncodeResult, to: EncodeResult, frame: number): number | undefined {
  const [same, last] = sameFrame(from, to, frame);
  return same >= 0 && same <= last ? same : undefined;
}

/** Values of a frame; `undefined` if it was not scored. */
export function metricsOf(
  { frames }: EncodeResult,
  frame: number,
): Readonly<Record<string, number>> | undefined {
  const direct = frames[frame];
  return direct?.frameNum === frame
    ? direct.metrics
    : frames.find(({ frameNum }) => frameNum === frame)?.metrics;
}

/** Frames per second; {@link USUAL_RATE} if unknown. */
export function rateOf(subject: Subject | undefined): number {
  const reference = subject?.result.report?.reference;
  return (reference && frameRate(reference)) ?? USUAL_RATE;
}

const MOST = 20;

/** During a run, the first model's score. */
export function rankingOf(frames: readonly FrameMetrics[], report: Report | undefined): Ranking | undefined {
  if (report) return ranking(report);
  const metrics = Object.keys(frames[0]?.metrics ?? {});
  const score = metrics.find((name) => name.startsWith('vmaf'));
  return score === undefined ? ranking({ models: [], metrics }) : { metric: score, worse: 'low' };
}

/** Worst first, one frame per moment. */
export function worstMoments(
  frames: readonly FrameMetrics[],
  by: Ranking | undefined,
  report: Report | undefined,
): number[] {
  if (!by) return [];
  return worstFrames({ frames }, by, MOST, frameGap(report ?? {})).map(({ frameNum }) => frameNum);
}

/**
 * The moment next to the current one, from worst to best; the worst if none is current. @param direction 1: next worst
 */
export function besideMoment(
  moments: readonly number[],
  frame: number,
  direction: 1 | -1,
): number | undefined {
  const at = moments.indexOf(frame);
  if (at < 0) return moments[0];
  return moments[Math.max(0, Math.min(moments.length - 1, at + direction))];
}
