/**
 * @module media/preflight/moments
 * Findings about moments: missing, doubled, displaced or frozen frames, clocks that jump, and the offset.
 */
import type { Hint } from '../../core/errors.js';
import type { BothOf } from '../../core/frame.js';
import { counted } from '../../core/printable.js';
import { BEGINNING, type Displacement, type Freeze } from '../align/slips.js';
import { intervalsOf, medianInterval } from '../evidence/rate.js';
import { type AlignReason, type AlignResult, type Slip, WIDEST_ADVISED } from '../pairing/types.js';
import {
  type Both,
  type Finding,
  type FindingCode,
  finding,
  type PairFacts,
  type Role,
  type Severity,
  type SideFacts,
} from './findings.js';

/** Most frames between an ambiguous offset and another that counts as equal. */
const NEARLY = 3;
const MOST_CERTAIN = 99;
/** Repeated frames that a still moment may cause. */
const STILL_MOMENT = 1;
const WIDER: Hint = { purpose: 'fix', option: 'window', value: WIDEST_ADVISED };

export const BY_TIME = {
  purpose: 'accept',
  option: 'frameRatePolicy',
  value: 'nearest',
} as const satisfies Hint;

/** True if every frame has a partner at its time. */
export function pairInTime(partners: Partners | undefined): boolean {
  return partners !== undefined && partners.alone.reference.length + partners.alone.distorted.length === 0;
}

/** What the times of both videos show, and what to advise. */
interface Timing {
  readonly ref: TimestampAnalysis | undefined;
  readonly dis: TimestampAnalysis | undefined;
  readonly partners: Partners | undefined;
  readonly severity: Severity;
  readonly fix: Hint | undefined;
}

export function* timestampFindings(pair: PairFacts, partners: Partners | undefined): Generator<Finding> {
  const { frameRatePolicy, alignment } = pair;
  const [ref, dis] = [pair.reference, pair.distorted].map(({ timestamps }) =>
    timestamps ? analyseTimestamps(timestamps) : undefined,
  );
  const accepted = frameRatePolicy === 'nearest';
  const severity = accepted ? 'info' : 'warning';
  const fix = accepted ? undefined : BY_TIME;
  const timing: Timing = { ref, dis, partners, severity, fix };
  // If every reference frame has a partner at its time, irregular intervals do no harm.
  const uncompared = partners?.alone.reference.length !== 0;
  if ((ref?.variable || dis?.variable) && uncompared) {
    const who =
      ref?.variable && dis?.variable ? 'both videos have' : ref?.variable ? 'reference has' : 'distorted has';
    const said = `${who} a variable frame rate; frames are paired by time, so some may be compared twice or not at all.`;
    yield finding('variable-frame-rate', severity, said, [ref?.variable ?? null, dis?.variable ?? null], fix);
  }
  yield* missingFrames(timing, uncompared);
  // Repetitions count only at a certain offset; a slip that displaces all later frames is reported instead.
  const certain = alignment && !alignment.ambiguous && !alignment.slip;
  yield* duplicateFrames(timing, certain ? alignment.repeated : { reference: 0, distorted: 0 });
}

function* missingFrames({ ref, dis, partners, severity, fix }: Timing, uncompared: boolean) {
  const gaps = { reference: ref?.gaps ?? [], distorted: dis?.gaps ?? [] };
  const missing = (side: readonly Gap[]) => side.reduce((sum, { frames }) => sum + frames, 0);
  if (gaps.reference.length + gaps.distorted.length === 0 || pairInTime(partners)) return;
  const places = (['distorted', 'reference'] as const)
    .filter((side) => gaps[side].length > 0)
    .map((side) => {
      const after = gaps[side].map((gap) => gap.after);
      return `${side} lacks ${counted(missing(gaps[side]), 'frame')} after frame ${few(after)}`;
    });
  const effect = uncompared
    ? 'at these times the nearest frame is used.'
    : 'every reference frame is still compared with the frame at its time.';
  yield finding(
    'missing-frames',
    uncompared ? severity : 'info',
    `${places.join(', and ')}; ${effect}`,
    [ref ? missing(gaps.reference) : null, dis ? missing(gaps.distorted) : null],
    uncompared ? fix : undefined,
  );
}

/** The first few, and the number of others. */
function few(shown: readonly (number | string)[]): string {
  return shown.slice(0, NAMED).join(', ') + others(shown.length);
}

function others(all: number): string {
  return all > NAMED ? ` and ${counted(all - NAMED, 'other place')}` : '';
}

/** @param seen repetitions that the alignment found in the pictures */
function* duplicateFrames({ ref, dis, partners, severity, fix }: Timing, seen: AlignResult['repeated']) {
  const repeated = (side: Role, times: TimestampAnalysis | undefined) => {
    const doubled = times && !pairInTime(partners) ? times.doubled.length : 0;
    // A frame that only one video has repeats the one before it.
    const more = seen[side] - (partners?.alone[side].length ?? 0);
    return Math.max(doubled, more > STILL_MOMENT ? more : 0);
  };
  const both = { reference: repeated('reference', ref), distorted: repeated('distorted', dis) };
  if (both.reference === 0 && both.distorted === 0) return;
  const said = (['distorted', 'reference'] as const)
    .filter((side) => both[side] > 0)
    .map((side) => `${side} repeats the previous picture in ${counted(both[side], 'frame')}`);
  const effect = 'while the other video moves on; pairs after such a frame may be off by one.';
  const values = [both.reference, both.distorted] as const;
  yield finding('duplicate-frames', severity, `${said.join(', and ')} ${effect}`, values, fix);
}

export function* setBackFindings({ reference, distorted }: Both): Generator<Finding> {
  const text = setBackText({ reference, distorted });
  if (text === undefined) return;
  const places = ({ setBacks }: SideFacts) => setBacks?.length ?? 0;
  yield finding('clock-set-back', 'warning', text, [places(reference), places(distorted)]);
}

/**
 * Clocks that jump back lose no frames, but joined recordings may be unrelated.
 * @param videos by their names in the sentence
 * @returns a sentence without its capital; `undefined` if no clock jumps back
 */
export function setBackText(
  videos: Readonly<Record<string, Pick<SideFacts, 'setBacks' | 'timestamps'>>>,
): string | undefined {
  const said = Object.entries(videos).flatMap(([who, { setBacks = [], timestamps }]) => {
    if (setBacks.length === 0 || !timestamps) return [];
    const frames = setBacks
      .slice(0, NAMED)
      .map((time) => timestamps.filter((shown) => shown < time - 1e-6).length);
    const seconds = setBacks.slice(0, NAMED).map((time) => `${time.toFixed(3)} s`);
    const text = `${who} after ${frames.join(', ')} of ${timestamps.length} frames (${seconds.join(', ')})`;
    return [text + others(setBacks.length)];
  });
  if (said.length === 0) return undefined;
  return (
    `timestamps jump back, as in joined recordings: ${said.join(', ')}; all frames are used, with continuous ` +
    'times.'
  );
}

export function* alignmentFindings(alignment: AlignResult, used: number): Generator<Finding> {
  const { offset, ambiguous, candidates, confidence, reason, explanation, slip } = alignment;
  if (slip) yield slipFinding([slip]);
  const { match = { reference: Math.max(0, offset), distorted: Math.max(0, -offset) } } = alignment;
  const lowered = explanation.charAt(0).toLowerCase() + explanation.slice(1);
  const unclear = reason === 'static' || reason === 'repetitive';
  // If several offsets fit, their neighbours may too.
  const near = ambiguous ? NEARLY : 0;
  const offsets = candidates.map((candidate) => candidate.offset);
  const fits = [offset, ...offsets].some((candidate) => Math.abs(candidate - used) <= near);
  const mismatch = `the pictures do not match at offset ${used}:`;
  if (reason === 'unrelated') {
    const said = `the videos do not match in the first seconds: ${lowered}`;
    yield finding('unrelated', 'warning', said, [null, null], WIDER);
  } else if (!fits && (!ambiguous || unclear)) {
    const better = ambiguous
      ? `offsets such as ${offsets.slice(0, NAMED).join(', ')} fit better`
      : `distorted frame ${match.distorted} shows reference frame ${match.reference}`;
    const said =
      `${mismatch} ${better} (${Math.min(MOST_CERTAIN, Math.round(100 * confidence))} % ` +
      'certain), so the compared frames show different moments.';
    const fix = { purpose: 'fix', option: 'offset', value: offset } as const;
    yield finding('offset', 'warning', said, [match.reference, match.distorted], fix);
  } else if (reason === 'edge') {
    yield finding('offset', 'warning', `${mismatch} ${lowered}`, [null, null], WIDER);
  } else if (unclear) {
    const said = `could not verify that both videos start at the same moment: ${lowered}`;
    yield finding('offset-unclear', 'info', said, [null, null]);
  }
}

/** Codes of failed searches that prove the pair wrong. */
const UNFOUND: Partial<Record<AlignReason, FindingCode>> = { unrelated: 'unrelated', edge: 'offset' };

export function doubtFinding(alignment: AlignResult, window: number = WIDEST_ADVISED): Finding {
  const code = UNFOUND[alignment.reason];
  const wider = code !== undefined && window < WIDEST_ADVISED ? WIDER : undefined;
  return finding(code ?? 'offset-unclear', 'warning', doubtText(alignment), [null, null], wider);
}

export function doubtText({ offset, confidence, candidates, reason, explanation }: AlignResult): string {
  const others = reason === 'static' || reason === 'repetitive' ? candidates : [];
  const named = others.filter((candidate) => candidate.offset !== offset).slice(0, NAMED);
  const fits =
    named.length > 0 ? ` Other candidates: ${named.map((candidate) => candidate.offset).join(', ')}.` : '';
  return (
    `The offset search found no clear answer; ${offset} is used as a guess (confidence ${confidence.toFixed(2)}). ` +
    `${explanation}${fits}`
  );
}

const NAMED = 5;
const LISTED = 50;

/**
 * @param known findings about the first frames, which are not repeated
 * @param used the offset at which frames are paired
 */
export function slipFindings(
  { slips, freezes }: Displacement,
  known: readonly Finding[],
  used = 0,
): Finding[] {
  const [first] = slips;
  const said = known.find(({ code }) => code === 'offset' || code === 'unrelated');
  const advised = said?.hint && 'value' in said.hint ? said.hint.value : undefined;
  // In a still beginning, a wrong offset shows as late as a slip.
  const apart = first && (first.frame < BEGINNING || advised === used + first.ahead) ? first : undefined;
  const later = apart ? slips.slice(1) : slips;
  return [
    ...(apart && !said ? [offsetFinding(apart)] : []),
    ...(later.length > 0 ? [slipFinding(later)] : []),
    ...(freezes.length > 0 ? [freezeFinding(freezes)] : []),
  ];
}

export function unwatchedFinding(why: string): Finding {
  const said = `not checked for lost or repeated frames after the first seconds, because ${why}.`;
  return finding('unwatched', 'info', said, [null, null]);
}

function offsetFinding({ ahead }: Slip): Finding {
  const said = `${where(ahead)} from the start, so the compared frames show different moments.`;
  const fix = { purpose: 'fix', option: 'offset', value: 'auto' } as const;
  return finding('offset', 'warning', said, [null, null], fix);
}

function slipFinding(slips: readonly Slip[]): Finding {
  const texts = slips.slice(0, NAMED).map(({ frame, ahead }) => `from frame ${frame} on, ${where(ahead)}`);
  const more = slips.length - texts.length;
  const lost = slips.reduce((sum, { by }) => sum + Math.max(0, by), 0);
  const added = slips.reduce((sum, { by }) => sum + Math.max(0, -by), 0);
  const changes = [
    ...(lost > 0 ? [`${counted(lost, 'frame')} lost from distorted`] : []),
    ...(added > 0 ? [`${counted(added, 'frame')} added to it`] : []),
  ];
  const said =
    `${texts.join(', ')}${more > 0 ? `, and ${counted(more, 'more slip')}` : ''}: ${changes.join(', ')}. The score ` +
    'compares different moments there.';
  const places = slips.slice(0, LISTED).map(({ frame, by }) => ({ frame, frames: by }));
  return { ...finding('slip', 'error', said, [null, null]), places };
}

function where(ahead: number): string {
  if (ahead === 0) return 'distorted is in step with reference again';
  const frames = counted(Math.abs(ahead), 'frame');
  return `distorted runs ${frames} ${ahead > 0 ? 'ahead of' : 'behind'} reference`;
}

function freezeFinding(freezes: readonly Freeze[]): Finding {
  const texts = freezes
    .slice(0, NAMED)
    .map(({ frame, frames }) => `from frame ${frame} on for ${counted(frames, 'frame')}`);
  const more = freezes.length - texts.length;
  const said =
    `distorted freezes while reference moves on: ${texts.join(', ')}` +
    `${more > 0 ? `, and in ${counted(more, 'other place')}` : ''}; the score includes these frames.`;
  return { ...finding('freeze', 'warning', said, [null, null]), places: freezes.slice(0, LISTED) };
}

export interface Gap {
  readonly after: number;
  readonly frames: number;
}

export interface TimestampAnalysis {
  /** Median interval in seconds. */
  readonly interval: number;
  /** True if intervals vary too much to detect gaps and doubles. */
  readonly variable: boolean;
  /** Empty for variable rate. */
  readonly gaps: readonly Gap[];
  /** Frames at about the time of the frame before; empty for variable rate. */
  readonly doubled: readonly number[];
}

/** Largest rounding error of an interval in seconds, as Matroska counts milliseconds. */
const ROUNDING = 0.0012;
/** Largest difference from the median, as a share of it. */
const JITTER = 0.2;
/** Largest share of irregular intervals at a constant rate. */
const IRREGULAR = 0.02;
/** Largest share of irregular intervals, gaps and doubles together at a constant rate. */
const FAULTY = 0.15;

/** `undefined` for fewer than three times. @param times in seconds, ascending */
export function analyseTimestamps(times: Float64Array): TimestampAnalysis | undefined {
  if (times.length < 3) return undefined;
  const intervals = intervalsOf(times);
  const interval = medianInterval(times) ?? Number.NaN;
  if (!(interval > 0)) return { interval, variable: true, gaps: [], doubled: [] };
  const slack = Math.max(ROUNDING, JITTER * interval);
  const gaps: Gap[] = [];
  const doubled: number[] = [];
  let irregular = 0;
  for (const [i, step] of intervals.entries()) {
    const frames = Math.round(step / interval);
    if (Math.abs(step - interval) <= slack) continue;
    if (frames >= 2 && Math.abs(step - frames * interval) <= slack * Math.sqrt(frames)) {
      gaps.push({ after: i, frames: frames - 1 });
    } else if (step <= slack) {
      doubled.push(i + 1);
    } else {
      irregular++;
    }
  }
  const faults = gaps.length + doubled.length;
  const variable =
    irregular > Math.max(1, IRREGULAR * intervals.length) || irregular + faults > FAULTY * intervals.length;
  return variable ? { interval, variable, gaps: [], doubled: [] } : { interval, variable, gaps, doubled };
}

export interface Partners {
  /** Frames without a partner while the other video runs, ascending. */
  readonly alone: BothOf<readonly number[]>;
  /** Number of frames after the other video's last. */
  readonly after: BothOf<number>;
}

/** Presentation times in seconds, ascending. */
interface BothTimes extends BothOf<Float64Array> {
  /** The first compared frames, which show the same moment. Default: the first of each. */
  readonly first?: BothOf<number>;
}

/** Largest difference in seconds between two clocks of milliseconds. */
const TWO_CLOCKS = 0.0021;
/** Largest difference within the same moment, as a share of the time to the nearest neighbour. */
const SAME_MOMENT = 1 / 3;

export function partnersInTime({ reference, distorted, first }: BothTimes): Partners {
  const { reference: a = 0, distorted: b = 0 } = first ?? {};
  const shift = (distorted[b] ?? 0) - (reference[a] ?? 0);
  const alone = { reference: [] as number[], distorted: [] as number[] };
  let [i, j] = [a, b];
  while (i < reference.length && j < distorted.length) {
    const later = (distorted[j] ?? Number.NaN) - shift - (reference[i] ?? Number.NaN);
    const near = Math.min(nearest(reference, i), nearest(distorted, j));
    if (Math.abs(later) <= Math.max(TWO_CLOCKS, SAME_MOMENT * near)) [i, j] = [i + 1, j + 1];
    else if (later > 0) alone.reference.push(i++);
    else alone.distorted.push(j++);
  }
  return { alone, after: { reference: reference.length - i, distorted: distorted.length - j } };
}

function nearest(times: Float64Array, i: number): number {
  const own = times[i] ?? Number.NaN;
  const [before = Number.NEGATIVE_INFINITY, after = Number.POSITIVE_INFINITY] = [times[i - 1], times[i + 1]];
  return Math.min(own - before, after - own);
}
