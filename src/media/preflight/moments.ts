/**
 * @module media/preflight/moments
 * Findings about moments: missing, doubled, displaced or frozen frames, clocks that jump, and the offset.
 */
import type { Hint } from '../../core/errors.js';
import type { BothOf } from '../../core/frame.js';
import { counted } from '../../core/printable.js';
import { BEGINNING, type Displacement } from '../align/slips.js';
import { intervalsOf, medianInterval } from '../evidence/rate.js';
import { type AlignReason, type AlignResult, type Slip, WIDEST_ADVISED } from '../pairing/types.js';
import type { Both, Finding, FindingCode, PairFacts, Role, SideFacts } from './findings.js';
import { FIND_OFFSET, finding, NEITHER, ofBoth, ROLES, subject, warningUnless } from './make.js';

/** Accepts that frames are paired by time. */
export const BY_TIME = { purpose: 'accept', option: 'frameRatePolicy', value: 'nearest' } as const;

/** Most frames between an ambiguous offset and another that counts as equal. */
const NEARLY = 3;
const MOST_CERTAIN = 99;
/** Repeated frames that a still moment may cause. */
const STILL_MOMENT = 1;
const WIDER: Hint = { purpose: 'fix', option: 'window', value: WIDEST_ADVISED };

/** Both videos, and what the times of their frames show. */
export interface TimedPair extends PairFacts {
  readonly times: BothOf<TimestampAnalysis | undefined>;
  /** Absent without the times of both. */
  readonly partners: Partners | undefined;
  /** True if the user accepted the nearest frame in time. */
  readonly accepted: boolean;
}

export function timed(pair: PairFacts): TimedPair {
  const { offset = 0, skipped } = pair;
  const [reference, distorted] = ofBoth(pair, ({ timestamps }) => timestamps ?? undefined);
  const first = {
    reference: (skipped?.reference ?? 0) + Math.max(0, offset),
    distorted: (skipped?.distorted ?? 0) + Math.max(0, -offset),
  };
  return {
    ...pair,
    times: {
      reference: reference && analyseTimestamps(reference),
      distorted: distorted && analyseTimestamps(distorted),
    },
    partners: reference && distorted && partnersInTime({ reference, distorted, first }),
    accepted: pair.frameRatePolicy === 'nearest',
  };
}

/** True if every frame has a partner at its time. */
export function pairInTime({ partners }: TimedPair): boolean {
  return partners !== undefined && partners.alone.reference.length + partners.alone.distorted.length === 0;
}

export function* timestampFindings(pair: TimedPair): Generator<Finding> {
  const { times, partners, accepted, alignment } = pair;
  // If every reference frame has a partner at its time, irregular intervals do no harm.
  const uncompared = partners?.alone.reference.length !== 0;
  const variable = ROLES.filter((role) => times[role]?.variable);
  if (variable.length > 0 && uncompared) {
    const values = [times.reference?.variable ?? null, times.distorted?.variable ?? null] as const;
    yield warningUnless(accepted, 'variable-frame-rate', values, BY_TIME)`
      ${subject(variable, 'has')} a variable frame rate; frames are paired by time, so some may be compared twice or
      not at all.`;
  }
  yield* missingFrames(pair, uncompared);
  // Repetitions count only at a certain offset; a slip that displaces all later frames is reported instead.
  const certain = alignment && !alignment.ambiguous && !alignment.slip;
  yield* duplicateFrames(pair, certain ? alignment.repeated : { reference: 0, distorted: 0 });
}

function* missingFrames(pair: TimedPair, uncompared: boolean): Generator<Finding> {
  const gaps = (role: Role) => pair.times[role]?.gaps ?? [];
  const missing = (role: Role) => gaps(role).reduce((sum, { frames }) => sum + frames, 0);
  const places = affected(missing, (role) => {
    const after = gaps(role).map((gap) => gap.after);
    return `${role} lacks ${counted(missing(role), 'frame')} after frame ${few(after)}`;
  });
  if (places === '' || pairInTime(pair)) return;
  const { reference, distorted } = pair.times;
  const values = [reference ? missing('reference') : null, distorted ? missing('distorted') : null] as const;
  const effect = uncompared
    ? 'at these times the nearest frame is used.'
    : 'every reference frame is still compared with the frame at its time.';
  yield warningUnless(pair.accepted || !uncompared, 'missing-frames', values, BY_TIME)`${places}; ${effect}`;
}

/** A clause about each video whose count is not 0; empty if there is none. */
function affected(count: (role: Role) => number, says: (role: Role) => string): string {
  return (['distorted', 'reference'] as const)
    .filter((role) => count(role) > 0)
    .map(says)
    .join(', and ');
}

/** The first few, and how many others there are. */
function few(shown: readonly (number | string)[], and = ' and', what = 'other place'): string {
  return shown.slice(0, NAMED).join(', ') + others(shown.length, and, what);
}

function others(all: number, and = ' and', what = 'other place'): string {
  return all > NAMED ? `${and} ${counted(all - NAMED, what)}` : '';
}

/** @param seen repetitions that the alignment found in the pictures */
function* duplicateFrames(pair: TimedPair, seen: AlignResult['repeated']): Generator<Finding> {
  const repeated = (role: Role) => {
    const doubled = pairInTime(pair) ? 0 : (pair.times[role]?.doubled.length ?? 0);
    // A frame that only one video has repeats the one before it.
    const more = seen[role] - (pair.partners?.alone[role].length ?? 0);
    return Math.max(doubled, more > STILL_MOMENT ? more : 0);
  };
  const frames = (role: Role) =>
    `${role} repeats the previous picture in ${counted(repeated(role), 'frame')}`;
  const said = affected(repeated, frames);
  if (said === '') return;
  const values = [repeated('reference'), repeated('distorted')] as const;
  yield warningUnless(pair.accepted, 'duplicate-frames', values, BY_TIME)`
    ${said} while the other video moves on; pairs after such a frame may be off by one.`;
}

export function* setBackFindings({ reference, distorted }: Both): Generator<Finding> {
  const text = setBackText({ reference, distorted });
  const places = ofBoth({ reference, distorted }, ({ setBacks }) => setBacks?.length ?? 0);
  if (text !== undefined) yield finding('clock-set-back', 'warning', places)`${text}`;
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
    const named = setBacks.slice(0, NAMED);
    const frames = named.map((time) => timestamps.filter((shown) => shown < time - 1e-6).length);
    const seconds = named.map((time) => `${time.toFixed(3)} s`);
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
    yield finding('unrelated', 'warning', NEITHER, WIDER)`
      the videos do not match in the first seconds: ${lowered}`;
  } else if (!fits && (!ambiguous || unclear)) {
    const better = ambiguous
      ? `offsets such as ${offsets.slice(0, NAMED).join(', ')} fit better`
      : `distorted frame ${match.distorted} shows reference frame ${match.reference}`;
    const values = [match.reference, match.distorted] as const;
    yield finding('offset', 'warning', values, { purpose: 'fix', option: 'offset', value: offset })`
      ${mismatch} ${better} (${Math.min(MOST_CERTAIN, Math.round(100 * confidence))} % certain), so the compared frames
      show different moments.`;
  } else if (reason === 'edge') {
    yield finding('offset', 'warning', NEITHER, WIDER)`${mismatch} ${lowered}`;
  } else if (unclear) {
    yield finding('offset-unclear', 'info', NEITHER)`
      could not verify that both videos start at the same moment: ${lowered}`;
  }
}

/** Codes of failed searches that prove the pair wrong. */
const UNFOUND: Partial<Record<AlignReason, FindingCode>> = { unrelated: 'unrelated', edge: 'offset' };

export function doubtFinding(alignment: AlignResult, window: number = WIDEST_ADVISED): Finding {
  const code = UNFOUND[alignment.reason];
  const wider = code !== undefined && window < WIDEST_ADVISED ? WIDER : undefined;
  return finding(code ?? 'offset-unclear', 'warning', NEITHER, wider)`${doubtText(alignment)}`;
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
  return finding('unwatched', 'info', NEITHER)`
    not checked for lost or repeated frames after the first seconds, because ${why}.`;
}

function offsetFinding({ ahead }: Slip): Finding {
  return finding('offset', 'warning', NEITHER, FIND_OFFSET)`
    ${where(ahead)} from the start, so the compared frames show different moments.`;
}

function slipFinding(slips: readonly Slip[]): Finding {
  const texts = slips.map(({ frame, ahead }) => `from frame ${frame} on, ${where(ahead)}`);
  const lost = slips.reduce((sum, { by }) => sum + Math.max(0, by), 0);
  const added = slips.reduce((sum, { by }) => sum + Math.max(0, -by), 0);
  const changes = [
    ...(lost > 0 ? [`${counted(lost, 'frame')} lost from distorted`] : []),
    ...(added > 0 ? [`${counted(added, 'frame')} added to it`] : []),
  ];
  const said = finding('slip', 'error', NEITHER)`
    ${few(texts, ', and', 'more slip')}: ${changes.join(', ')}. The score compares different moments there.`;
  return { ...said, places: slips.slice(0, LISTED).map(({ frame, by }) => ({ frame, frames: by })) };
}

function where(ahead: number): string {
  if (ahead === 0) return 'distorted is in step with reference again';
  const frames = counted(Math.abs(ahead), 'frame');
  return `distorted runs ${frames} ${ahead > 0 ? 'ahead of' : 'behind'} reference`;
}

function freezeFinding(freezes: Displacement['freezes']): Finding {
  const texts = freezes.map(({ frame, frames }) => `from frame ${frame} on for ${counted(frames, 'frame')}`);
  const said = finding('freeze', 'warning', NEITHER)`
    distorted freezes while reference moves on: ${few(texts, ', and in')}; the score includes these frames.`;
  return { ...said, places: freezes.slice(0, LISTED) };
}

export interface TimestampAnalysis {
  /** True if intervals vary too much to detect gaps and doubles. */
  readonly variable: boolean;
  /** Frames missing after a frame; empty for variable rate. */
  readonly gaps: readonly { readonly after: number; readonly frames: number }[];
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
  if (!(interval > 0)) return { variable: true, gaps: [], doubled: [] };
  const slack = Math.max(ROUNDING, JITTER * interval);
  const gaps: TimestampAnalysis['gaps'][number][] = [];
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
  return variable ? { variable, gaps: [], doubled: [] } : { variable, gaps, doubled };
}

interface Partners {
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
