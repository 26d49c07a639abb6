/**
 * @module web/frames/viewer/subject
 * The encode on show: its frames, scores and worst moments, and the files that its pictures come from.
 */
import type { Ranking } from 'anyvmaf';
import { frameRate } from 'anyvmaf/view';
import { identityOf } from '../../identity.js';
import type { EncodeResult, EncodeSource } from '../../session.js';
import type { PairSource } from '../serve.js';
import { rankingOf, worstMoments } from '../worst.js';

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
  const total = report?.frameCount ?? (frames.at(-1)?.frameNum ?? frame) + 1;
  return {
    result,
    scored: frames.length,
    source: result.source && sourceOf(result, result.source, total),
    metric: rank?.metric ?? '',
    worse: rank?.worse ?? 'low',
    moments: worstMoments(frames, rank, report),
    total,
  };
}

/** The files and pairing options for the engine. */
function sourceOf({ report }: EncodeResult, source: EncodeSource, total: number): PairSource {
  const { reference, distorted, options } = source;
  // Reuse the offset of the run instead of searching again.
  const offset = report?.pairing?.frames.offset;
  return {
    key: String(identityOf(source)),
    reference,
    distorted,
    options: offset === undefined ? options : { ...options, offset },
    total,
  };
}

/** Frames of the reference before the first pair; `undefined` where that is not known. */
function skippedOf({ report, saved, skipped }: EncodeResult): number | undefined {
  return report?.reference.skipped ?? saved?.reference?.skipped ?? skipped;
}

/** The frame of another encode that shows what a frame of the first one does: of the same reference frame, or nearest to it. */
export function sameMoment(from: EncodeResult, to: EncodeResult, frame: number): number {
  const [own, its] = [skippedOf(from), skippedOf(to)];
  const same = own === undefined || its === undefined ? frame : frame + own - its;
  // During a run, more may come than there is.
  const last = to.report ? to.report.frameCount - 1 : same;
  return Math.max(0, Math.min(last, same));
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
