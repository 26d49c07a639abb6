/**
 * @module web/frames/viewer/subject
 * The encode on show: its frames, scores and worst moments, and the files that its pictures come from.
 */
import { type FrameMetrics, frameGap, type Ranking, type Report, ranking, worstFrames } from 'anyvmaf';
import { frameRate } from 'anyvmaf/view';
import { type EncodeResult, identityOf, sourceOf } from '../../session.js';
import type { PairSource } from '../serve.js';

export interface Subject {
  readonly result: EncodeResult;
  /** Number of scored frames so far. */
  readonly scored: number;
  /** `undefined` for a saved report, which has no pictures. */
  readonly source: PairSource | undefined;
  readonly metric: string;
  readonly worse: Ranking['worse'];
  /** Numbers of the worst frames, the worst first. */
  readonly moments: readonly number[];
  readonly total: number;
}

/** @param frame the frame asked for, which is there although no score of it may be yet */
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

/** Frames of an encode; while it is scored, those that are known of. */
function totalOf({ frames, report }: EncodeResult, frame: number): number {
  return report?.frameCount ?? (frames.at(-1)?.frameNum ?? frame) + 1;
}

/** The files and pairing options for the engine; `undefined` for a saved report. @param frame as of {@link subjectOf} */
export function pairSource(result: EncodeResult, frame: number): PairSource | undefined {
  const source = sourceOf(result);
  if (!result.source || !source) return undefined;
  return { ...source, key: String(identityOf(result.source)), total: totalOf(result, frame) };
}

/** Frames of the reference before the first pair; `undefined` where that is not known. */
function skippedOf({ report, saved, skipped }: EncodeResult): number | undefined {
  return report?.reference.skipped ?? saved?.reference?.skipped ?? skipped;
}

/** The frame of another encode of the same reference frame as a frame of the first one; the first is 0, the other may lack it. */
function sameFrame(
  from: EncodeResult,
  to: EncodeResult,
  frame: number,
): readonly [same: number, last: number] {
  const [own, its] = [skippedOf(from), skippedOf(to)];
  const same = own === undefined || its === undefined ? frame : frame + own - its;
  // During a run, more may come than there is.
  return [same, to.report ? to.report.frameCount - 1 : same];
}

/** The frame of another encode that shows what a frame of the first one does, or the nearest to it. */
export function sameMoment(from: EncodeResult, to: EncodeResult, frame: number): number {
  const [same, last] = sameFrame(from, to, frame);
  return Math.max(0, Math.min(last, same));
}

/** The same, where there is one. */
export function momentIn(from: EncodeResult, to: EncodeResult, frame: number): number | undefined {
  const [same, last] = sameFrame(from, to, frame);
  return same >= 0 && same <= last ? same : undefined;
}

/** The values of a frame; `undefined` for frames that were not scored. */
export function metricsOf(
  { frames }: EncodeResult,
  frame: number,
): Readonly<Record<string, number>> | undefined {
  const direct = frames[frame];
  return direct?.frameNum === frame
    ? direct.metrics
    : frames.find(({ frameNum }) => frameNum === frame)?.metrics;
}

/** Frames per second; 25 where the file does not say. */
export function rateOf(subject: Subject | undefined): number {
  const reference = subject?.result.report?.reference;
  return (reference && frameRate(reference)) ?? 25;
}

/** Minutes, seconds and milliseconds. */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds / 60);
  return `${whole}:${(seconds - 60 * whole).toFixed(3).padStart(6, '0')}`;
}

// --- worst moments: the same as in reports ---

/** Most moments. */
const MOST = 20;

/** The ranking metric of frames; during a run the first model's score. */
export function rankingOf(frames: readonly FrameMetrics[], report: Report | undefined): Ranking | undefined {
  if (report) return ranking(report);
  const metrics = Object.keys(frames[0]?.metrics ?? {});
  const score = metrics.find((name) => name.startsWith('vmaf'));
  return score === undefined ? ranking({ models: [], metrics }) : { metric: score, worse: 'low' };
}

/** Numbers of the worst frames, the worst first, one of each moment. */
export function worstMoments(
  frames: readonly FrameMetrics[],
  by: Ranking | undefined,
  report: Report | undefined,
): number[] {
  if (!by) return [];
  return worstFrames({ frames }, by, MOST, frameGap(report ?? {})).map(({ frameNum }) => frameNum);
}

/**
 * The moment before or after the current one, ordered from worst to best; the worst if none is current.
 * @param direction 1 for the next worst, -1 for the one before
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
