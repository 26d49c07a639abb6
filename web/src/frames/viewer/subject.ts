/**
 * @module web/frames/viewer/subject
 * What the viewer shows: an encode's frames, scores, worst moments and files, its pairs with another encode; and
 * navigation between frames.
 */
import { type FrameMetrics, frameGap, type Ranking, type Report, ranking, worstFrames } from 'anyvmaf';
import { USUAL_RATE } from 'anyvmaf/core/numbers';
import { mapsOfMetric, pairCount, pairRate, skippedPairs, valueTextOf } from 'anyvmaf/view';
import type { Coded } from '../../packets/client.js';
import {
  type EncodeResult,
  identityOf,
  type RunOptions,
  type Session,
  scaledTo,
  sourceOf,
} from '../../session.js';
import type { Commands } from '../keys.js';
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
  return (report && pairCount(report)) ?? (frames.at(-1)?.frameNum ?? frame) + 1;
}

/** `undefined` for a saved report. @param frame as of {@link subjectOf} */
export function pairSource(result: EncodeResult, frame: number): PairSource | undefined {
  const source = sourceOf(result);
  if (!result.source || !source) return undefined;
  const maps = mapsOfMetric(result.report, rankingOf(result.frames, result.report)?.metric);
  return { ...source, key: String(identityOf(result.source)), total: totalOf(result, frame), maps };
}

/** Frames of the reference before the first pair. */
function skippedOf({ report, saved, skipped }: EncodeResult): number | undefined {
  return report?.reference.skipped ?? saved?.reference?.skipped ?? skipped;
}

/** The frame of `to` with the same reference frame, which may be outside of it. */
function sameNumber(from: EncodeResult, to: EncodeResult, frame: number): number {
  const [own = {}, its = {}] = [from.report ?? from.saved, to.report ?? to.saved];
  const [rate, itsRate] = [pairRate(own), pairRate(its)];
  // Scored by their own frames, encodes may have different rates.
  if (rate !== undefined && itsRate !== undefined)
    return Math.round((frame + skippedPairs(own)) * (itsRate / rate) - skippedPairs(its));
  const [skipped, itsSkipped] = [skippedOf(from), skippedOf(to)];
  return skipped === undefined || itsSkipped === undefined ? frame : frame + skipped - itsSkipped;
}

/** {@link sameNumber}, and the last frame of `to`. */
function sameFrame(from: EncodeResult, to: EncodeResult, frame: number): readonly [number, number] {
  const same = sameNumber(from, to, frame);
  // During a run, later frames may still arrive.
  return [same, to.report ? totalOf(to, same) - 1 : same];
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
export function metricsOf({ frames }: EncodeResult, frame: number): FrameMetrics['metrics'] | undefined {
  const direct = frames[frame];
  return direct?.frameNum === frame
    ? direct.metrics
    : frames.find(({ frameNum }) => frameNum === frame)?.metrics;
}

/** A frame's value as the results show it; `undefined` if there is none. */
export function frameText({ report, saved }: EncodeResult, metric: string, value: number | undefined) {
  return value === undefined ? undefined : valueTextOf(report ?? saved ?? {}, metric, value);
}

/** Frames per second; {@link USUAL_RATE} if unknown. */
export function rateOf(subject: Subject | undefined): number {
  return pairRate(subject?.result.report ?? {}) ?? USUAL_RATE;
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

/** The moment next to the current one, from worst to best; the worst if none is current. @param by 1: the next one */
export function besideMoment(moments: readonly number[], frame: number, by: 1 | -1): number | undefined {
  const at = moments.indexOf(frame);
  if (at < 0) return moments[0];
  return moments[Math.max(0, Math.min(moments.length - 1, at + by))];
}

/** Options that pair whole videos at an offset. */
function pairedAt(
  { range: _, skipReference: __, skipDistorted: ___, ...options }: RunOptions,
  offset: number,
): RunOptions {
  return { ...options, offset };
}

/** Frames of the reference before the distorted one at its time; unlike the first pair's, whatever the range. */
function offsetOf({ pairing }: Report, { skipReference = 0, skipDistorted = 0 }: RunOptions): number {
  return (pairing?.frames.offset ?? 0) + skipReference - skipDistorted;
}

/** Number of the pair of frames `reference` and `distorted` in whole videos that are paired at an offset. */
function numberOf({ pairing }: Report, reference: number, distorted: number, offset: number): number {
  return pairing?.frames.by === 'distorted'
    ? distorted - Math.max(0, -offset)
    : reference - Math.max(0, offset);
}

export interface Versus {
  readonly source: PairSource;
  /** Added to a pair's number in the first encode's run. */
  readonly shift: number;
  /** True if the other encode has a picture for a pair's number in the first encode's run. */
  has(frame: number): boolean;
}

interface Sides {
  readonly report: Report;
  readonly width: number;
  readonly height: number;
}

function sidesOf({ report }: EncodeResult): Sides | undefined {
  const { pairing, reference, distorted } = report ?? {};
  const rates = [reference, distorted].map((side) => JSON.stringify(side?.frameRate));
  const { missing, repeated, dropped } = pairing?.frames ?? {};
  const isUneven = [missing, repeated, dropped].some((list) => list && list.count > 0);
  // At different rates, or if frames are missing, frames belong together by time.
  if (!report || !pairing || isUneven || rates[0] !== rates[1]) return undefined;
  return { report, width: pairing.width, height: pairing.height };
}

/**
 * Pairs `result`, whose own pairs are `source`, with `other` as reference; `undefined` if they do not pair one to one.
 */
export function versus(result: EncodeResult, other: EncodeResult, source: PairSource): Versus | undefined {
  const [own, its] = [sidesOf(result), sidesOf(other)];
  if (!own || !its || !other.source) return undefined;
  if (own.report.reference.skipped < 0 || its.report.reference.skipped < 0) return undefined;
  const first = own.report.distorted.skipped;
  // The other encode's frame for the same reference frame.
  const { skipped } = own.report.reference;
  const same = its.report.distorted.skipped + skipped - its.report.reference.skipped;
  const { cropDistorted, trackDistorted } = other.source.options;
  const { width, height } = own;
  const scaled = [own, its].some(({ report: { pairing } }) => {
    const side = pairing?.distorted;
    return side?.width !== width || side.height !== height;
  });
  const offset = offsetOf(own.report, source.options) - offsetOf(its.report, other.source.options);
  const shift = numberOf(own.report, same, first, offset);
  // Difference between the two runs' numbers of a reference frame.
  const apart = skipped - its.report.reference.skipped;
  return {
    shift,
    has: (frame) => frame + apart >= 0 && frame + apart < totalOf(other, 0),
    source: {
      ...source,
      // Identifies the files: names may be equal.
      key: `${source.key} ${identityOf(other.source)} ${offset}`,
      reference: other.source.distorted,
      options: {
        ...pairedAt(source.options, offset),
        // The other encode takes the place of the reference.
        cropReference: cropDistorted,
        trackReference: trackDistorted,
        ...(scaled && scaledTo({ width, height }, source.options.scale)),
      },
      total: Math.max(1, source.total + shift),
    },
  };
}

/** The encode's own pairs, `source`, with the reference `by` frames later; `undefined` without a report. */
export function shifted({ report }: EncodeResult, source: PairSource, by: number): Versus | undefined {
  if (!report) return undefined;
  const offset = offsetOf(report, source.options) + by;
  const same = report.reference.skipped + by;
  const shift = numberOf(report, same, report.distorted.skipped, offset);
  return {
    shift,
    has: (frame) =>
      frame + shift >= 0 && frame + same < (report.reference.frameCount ?? Number.POSITIVE_INFINITY),
    source: {
      ...source,
      key: `${source.key} later ${by}`,
      options: pairedAt(source.options, offset),
      total: Math.max(1, source.total + shift),
    },
  };
}

export interface OnShow {
  readonly subject: Subject | undefined;
  readonly coded: Coded | undefined;
  readonly frame: number;
}

type Moves = 'leap' | 'goTo' | 'worst' | 'besideWorst' | 'key' | 'whole' | 'nextEncode';

export class Navigation implements Pick<Commands, Moves> {
  readonly #session: Session;
  readonly #now: () => OnShow;
  readonly #stays: () => void;

  /** @param stays called if the target is the frame on show */
  constructor(session: Session, now: () => OnShow, stays: () => void) {
    this.#session = session;
    this.#now = now;
    this.#stays = stays;
  }

  get ends(): readonly [number, number] {
    return this.#session.cursor.value?.span ?? [0, (this.#now().subject?.total ?? 1) - 1];
  }

  go(frame: number | undefined): void {
    const cursor = this.#session.cursor.value;
    if (!cursor || !this.#now().subject || frame === undefined || !Number.isFinite(frame)) return;
    const [first, last] = this.ends;
    const within = Math.max(first, Math.min(last, Math.round(frame)));
    if (within === cursor.frame) this.#stays();
    else this.#session.cursor.value = { ...cursor, frame: within };
  }

  leap(direction: 1 | -1): void {
    const { subject, frame } = this.#now();
    this.go(frame + direction * Math.max(1, Math.round(rateOf(subject))));
  }

  goTo(end: 'first' | 'last'): void {
    this.go(this.ends[end === 'first' ? 0 : 1]);
  }

  worst(): void {
    this.go(this.#moments[0]);
  }

  besideWorst(direction: 1 | -1): void {
    this.go(besideMoment(this.#moments, this.#now().frame, direction));
  }

  key(direction: 1 | -1): void {
    const { coded, frame } = this.#now();
    this.go(coded?.key(frame, direction));
  }

  whole(): void {
    const { cursor } = this.#session;
    if (!cursor.value?.span) return;
    const { span: _, ...rest } = cursor.value;
    cursor.value = rest;
  }

  choose(encode: number): void {
    const { cursor, results } = this.#session;
    const { value: now } = cursor;
    const [from, to] = [now && results.value[now.encode], results.value[encode]];
    if (!now || !from || !to) return;
    const same = (frame: number) => sameMoment(from, to, frame);
    const span = now.span && ([same(now.span[0]), same(now.span[1])] as const);
    cursor.value = { encode, frame: same(now.frame), ...(span && { span }) };
  }

  nextEncode(): void {
    const { cursor, results } = this.#session;
    const count = results.value.length;
    if (cursor.value && count > 1) this.choose((cursor.value.encode + 1) % count);
  }

  get #moments(): readonly number[] {
    const [first, last] = this.ends;
    const moments = this.#now().subject?.moments ?? [];
    return moments.filter((frame) => frame >= first && frame <= last);
  }
}
