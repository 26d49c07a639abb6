/**
 * @module media/preflight/timing
 * Findings about time: rate, count, duration, missing and doubled frames, fields, and the offset.
 */
import { counted } from '../../core/printable.js';
import { fractionText } from '../../core/rational.js';
import type { AlignReason, AlignResult } from '../align/types.js';
import { WIDEST_ADVISED } from '../align/types.js';
import { intervalsOf, isNominal, rateOf, ratesDiffer } from '../evidence/rate.js';
import { frameRatio, isConstantRate } from '../pairing/timeline.js';
import { fieldFindings, pulldownFix } from './fields.js';
import { slipFinding } from './slips.js';
import { durationOf, finding, framesOf, framesPerSecond, rounded } from './text.js';
import {
  analyseTimestamps,
  type Gap,
  type Partners,
  partnersInTime,
  type TimestampAnalysis,
} from './timestamps.js';
import type { Finding, FindingCode, Hint, PreflightContext, SideFacts } from './types.js';

/** Largest difference of equal durations in seconds; two frames are also allowed. */
const SAME_DURATION = 0.1;

/** Most extra frames at the end of a video that a container or encoder may have added. */
const LAST = 2;

/** Share of lost frames above which the score is not representative. */
const MOST_LOST = 0.5;

/** Share of the declared length that a complete file may lack in frames. */
const MOST_UNDECODED = 0.1;

/** Seconds above which a picture stands for lost frames, and the share of these above which a video is torn. */
const LONGEST_HOLD = 0.5;
const MOST_HELD = 0.25;

/** Most frames between an ambiguous offset and one that counts as equal. */
const NEARLY = 3;

const MOST_CERTAIN = 99;

/** Repetitions that a still moment may cause. */
const STILL_MOMENT = 1;

const NAMED = 5;

const WIDER: Hint = { purpose: 'fix', option: 'window', value: WIDEST_ADVISED };

const FIND_OFFSET: Hint = { purpose: 'fix', option: 'offset', value: 'auto' };

const BY_TIME = { purpose: 'accept', option: 'frameRatePolicy', value: 'nearest' } as const satisfies Hint;

/** Scores an encode of fewer frames at its own times. */
const AT_ENCODE = { purpose: 'fix', option: 'pairBy', value: 'distorted' } as const satisfies Hint;

export function* timingFindings(
  reference: SideFacts,
  distorted: SideFacts,
  context: PreflightContext,
): Generator<Finding> {
  const partners = partnersOf(reference, distorted, context);
  yield* rateFindings(reference, distorted, context, partners);
  yield* noRateFindings(reference, distorted, context);
  yield* lengthFindings(reference, distorted, context, partners);
  yield* timestampFindings(reference, distorted, context, partners);
  yield* setBackFindings(reference, distorted);
  yield* fieldFindings(reference, distorted);
  if (!context.alignment) return;
  if (context.offsetSearched && context.alignment.ambiguous) yield doubtFinding(context.alignment, context);
  else yield* alignmentFindings(context.alignment, context.offset ?? 0);
}

/** ColorVideoVDP needs a frame rate, and neither video states one. */
function* noRateFindings(
  reference: SideFacts,
  distorted: SideFacts,
  { rated = [] }: PreflightContext,
): Generator<Finding> {
  const sides = [reference, distorted];
  const [value] = rated;
  if (value === undefined || sides.some(framesPerSecond) || sides.every(({ frameCount }) => frameCount === 1))
    return;
  yield finding(
    'no-frame-rate',
    'warning',
    'neither video states a frame rate, so ColorVideoVDP treats each frame as a still: motion hides no differences, and ' +
      'flicker does not count; set the true rate, which may not be 25.',
    [null, null],
    { purpose: 'fix', option: 'features', value },
  );
}

function partnersOf(
  { timestamps: reference }: SideFacts,
  { timestamps: distorted }: SideFacts,
  { offset = 0, skipped = { reference: 0, distorted: 0 } }: PreflightContext,
): Partners | undefined {
  if (!reference || !distorted) return undefined;
  const first = {
    reference: skipped.reference + Math.max(0, offset),
    distorted: skipped.distorted + Math.max(0, -offset),
  };
  return partnersInTime({ reference, distorted, first });
}

/** True if every frame has a partner at its time. */
function pairInTime(partners: Partners | undefined): boolean {
  return partners !== undefined && partners.alone.reference.length + partners.alone.distorted.length === 0;
}

/** True if both show the same frames, one by one, at different speeds. */
function isRetimed(reference: SideFacts, distorted: SideFacts): boolean {
  const [ref, dis] = [framesOf(reference), framesOf(distorted)];
  if (ref === null || dis === null || Math.abs(ref - dis) > 1) return false;
  return [reference, distorted].every(({ timestamps }) => !timestamps || isConstantRate(timestamps));
}

function* rateFindings(
  reference: SideFacts,
  distorted: SideFacts,
  { frameRatePolicy, pairBy }: PreflightContext,
  partners: Partners | undefined,
): Generator<Finding> {
  if (!ratesDiffer(reference, distorted) || pairInTime(partners)) return;
  const text = (side: SideFacts) => {
    const rate = rateOf(side);
    return rate && isNominal(rate) ? fractionText(rate) : rounded(framesPerSecond(side) ?? 0);
  };
  const values = [text(reference), text(distorted)] as const;
  const what = `distorted has ${values[1]} frames per second but reference has ${values[0]}`;
  if (frameRatePolicy === 'strict') {
    const refused = `${what}, so frames do not pair one to one at equal times, as the policy strict requires.`;
    yield finding('frame-rate', 'error', refused, values, { ...BY_TIME, purpose: 'fix' });
    return;
  }
  if (pairBy === 'distorted') {
    const scored = `${what}; each distorted frame is compared with the reference frame at its time.`;
    yield finding('frame-rate', 'info', scored, values);
    return;
  }
  const accepted = frameRatePolicy === 'nearest';
  yield finding(
    'frame-rate',
    accepted ? 'info' : 'warning',
    isRetimed(reference, distorted)
      ? `${what}; the same frames run at another speed, and are compared by number.`
      : `${what}; some compared frames show different moments.`,
    values,
    accepted
      ? undefined
      : (pulldownFix(reference, distorted) ?? (hasFewer(reference, distorted) ? AT_ENCODE : BY_TIME)),
  );
}

/** True if the distorted video shows the same time in fewer frames, with times for all. */
function hasFewer(reference: SideFacts, distorted: SideFacts): boolean {
  const [ref, dis] = [reference.timestamps, distorted.timestamps];
  return !!ref && !!dis && frameRatio(ref, dis) > 1;
}

function isUneven({ timestamps }: SideFacts): boolean {
  const analysis = timestamps ? analyseTimestamps(timestamps) : undefined;
  return !!analysis && (analysis.variable || analysis.gaps.length > 0 || analysis.doubled.length > 0);
}

function* lengthFindings(
  reference: SideFacts,
  distorted: SideFacts,
  context: PreflightContext,
  partners: Partners | undefined,
): Generator<Finding> {
  const { offset = 0, partial = false, frameRatePolicy, alignment } = context;
  if (partial) return;
  const beginTogether = alignment?.reason === 'clear' && alignment.offset === offset;
  // An offset or a slip explains different lengths, and is a finding of its own.
  const found = alignment?.reason === 'clear' && (alignment.offset !== 0 || alignment.slip !== undefined);
  const shifted = offset !== 0 || found;
  const [refFrames, disFrames] = [framesOf(reference), framesOf(distorted)];
  const differs = ratesDiffer(reference, distorted);
  const [ref, dis] = [durationOf(reference), durationOf(distorted)];
  const twoFrames = 2 / Math.min(framesPerSecond(reference) ?? 25, framesPerSecond(distorted) ?? 25);
  const asLong =
    ref !== undefined && dis !== undefined && Math.abs(ref - dis) <= Math.max(SAME_DURATION, twoFrames);
  const lost = lostFinding(reference, distorted, context, beginTogether);
  if (lost) {
    yield lost;
    return;
  }
  if (refFrames !== null && disFrames !== null && refFrames !== disFrames && !differs) {
    const byTime = partners !== undefined;
    // One lacks frames in the middle, or repeats some.
    const within = byTime && asLong && (isUneven(reference) || isUneven(distorted));
    const accepted = shifted || (within && frameRatePolicy === 'nearest') || isWhole(partners, beginTogether);
    const pairs = Math.max(0, Math.min(refFrames - Math.max(0, offset), disFrames - Math.max(0, -offset)));
    yield finding(
      'frame-count',
      // With an offset, unpaired frames at either end are expected.
      accepted ? 'info' : 'warning',
      `distorted has ${counted(disFrames, 'frame')} but reference has ${counted(refFrames, 'frame')}; ` +
        (byTime
          ? 'frames are paired by time, so some have no match of their own.'
          : `${counted(pairs, 'pair')} can be compared; if frames are missing in the middle, later pairs show ` +
            'different moments.'),
      [refFrames, disFrames],
      accepted ? undefined : within ? BY_TIME : beginTogether ? commonFrames(pairs) : FIND_OFFSET,
    );
  }
  // The duration of a single frame does not matter.
  if (refFrames === 1 && disFrames === 1) return;
  // The rate explains the length of the same frames at another speed.
  if (ref === undefined || dis === undefined || asLong || (differs && isRetimed(reference, distorted)))
    return;
  yield finding(
    'duration',
    shifted ? 'info' : 'warning',
    `distorted lasts ${rounded(dis)} s but reference ${rounded(ref)} s; only the overlap is compared.`,
    [Number(rounded(ref)), Number(rounded(dis))],
    shifted ? undefined : commonPart(reference, distorted),
  );
}

/** True if both begin together and only the last reference frames lack partners. */
function isWhole(partners: Partners | undefined, beginTogether: boolean): boolean {
  if (!partners || !beginTogether) return false;
  const { alone, after } = partners;
  return alone.reference.length === 0 && Math.max(after.reference, after.distorted) <= LAST;
}

function lostFinding(
  reference: SideFacts,
  distorted: SideFacts,
  { offset = 0, frameRatePolicy }: PreflightContext,
  beginTogether: boolean,
): Finding | undefined {
  const [ref, dis] = [framesOf(reference), framesOf(distorted)];
  if (ref === null || dis === null || ref === dis || ratesDiffer(reference, distorted)) return undefined;
  const short = ref < dis ? reference : distorted;
  const expected = Math.max(ref, dis) - Math.abs(offset);
  const { shown, held } = timeShown(short);
  const room = Math.min(expected, roomFor(short));
  const undecoded = shown < room * (1 - MOST_UNDECODED);
  const torn = frameRatePolicy !== 'nearest' && held > expected * MOST_HELD;
  if (!undecoded && !torn && shown >= expected * (1 - MOST_LOST)) return undefined;
  const [who, other] = ref < dis ? ['reference', 'distorted'] : ['distorted', 'reference'];
  const why = undecoded
    ? `its duration of ${rounded(short.duration ?? 0)} s implies about ${room}, so it is damaged or incomplete: download or ` +
      'encode it again.'
    : torn
      ? 'where frames are missing, one frame is compared with many, as after damage.'
      : `a score of ${((100 * shown) / expected).toFixed(0)} % of the frames says nothing about the others.`;
  const common = beginTogether || offset !== 0 ? commonFrames(shown) : FIND_OFFSET;
  const values = [ref, dis] as const;
  const said = `${who} has ${counted(Math.min(ref, dis), 'frame')} but ${other} has ${Math.max(ref, dis)}; ${why}`;
  return finding('lost-frames', 'warning', said, values, undecoded ? undefined : torn ? BY_TIME : common);
}

/** Frame intervals that a video covers, and those of pictures held for more than {@link LONGEST_HOLD}. */
function timeShown(side: SideFacts): { readonly shown: number; readonly held: number } {
  const [frames, rate, { timestamps }] = [framesOf(side) ?? 0, framesPerSecond(side), side];
  if (!timestamps || !rate) return { shown: frames, held: 0 };
  const span = (timestamps.at(-1) ?? 0) - (timestamps[0] ?? 0);
  const held = intervalsOf(timestamps).reduce(
    (sum, step) => sum + (step > LONGEST_HOLD ? step * rate - 1 : 0),
    0,
  );
  return { shown: Math.max(frames, Math.round(span * rate) + 1), held };
}

/** Frames that fit the declared duration, at least those that exist. */
function roomFor(side: SideFacts): number {
  const rate = framesPerSecond(side);
  return Math.max(framesOf(side) ?? 0, side.duration && rate ? Math.round(side.duration * rate) : 0);
}

function commonFrames(pairs: number): Hint | undefined {
  return pairs > 0
    ? { purpose: 'accept', option: 'range', value: { unit: 'frames', start: 0, end: pairs } }
    : undefined;
}

function commonPart(reference: SideFacts, distorted: SideFacts): Hint | undefined {
  const [ref, dis] = [framesOf(reference), framesOf(distorted)];
  if (ref !== null && dis !== null && !ratesDiffer(reference, distorted)) {
    return commonFrames(Math.min(ref, dis));
  }
  const end = Math.floor(1000 * Math.min(durationOf(reference) ?? 0, durationOf(distorted) ?? 0)) / 1000;
  return end > 0
    ? { purpose: 'accept', option: 'range', value: { unit: 'seconds', start: 0, end } }
    : undefined;
}

function* timestampFindings(
  reference: SideFacts,
  distorted: SideFacts,
  { frameRatePolicy, alignment }: PreflightContext,
  partners: Partners | undefined,
): Generator<Finding> {
  const [ref, dis] = [reference, distorted].map(({ timestamps }) =>
    timestamps ? analyseTimestamps(timestamps) : undefined,
  );
  const accepted = frameRatePolicy === 'nearest';
  const severity = accepted ? 'info' : 'warning';
  const advice: Advice = { severity, fix: accepted ? undefined : BY_TIME };
  // If every reference frame has a partner at its time, irregular intervals do no harm.
  const uncompared = partners?.alone.reference.length !== 0;
  if ((ref?.variable || dis?.variable) && uncompared) {
    const who =
      ref?.variable && dis?.variable ? 'both videos have' : ref?.variable ? 'reference has' : 'distorted has';
    yield finding(
      'variable-frame-rate',
      severity,
      `${who} a variable frame rate; frames are paired by time, so some may be compared twice or not at all.`,
      [ref?.variable ?? null, dis?.variable ?? null],
      advice.fix,
    );
  }
  yield* missingFrames({ ref, dis }, partners, uncompared, advice);
  // Repetitions count only at a certain offset; a slip is reported instead if it displaces all later frames.
  const certain = alignment && !alignment.ambiguous && !alignment.slip;
  yield* duplicateFrames(
    { ref, dis },
    partners,
    certain ? alignment.repeated : { reference: 0, distorted: 0 },
    advice,
  );
}

interface Advice {
  readonly severity: Finding['severity'];
  readonly fix: Hint | undefined;
}

interface Times {
  readonly ref: TimestampAnalysis | undefined;
  readonly dis: TimestampAnalysis | undefined;
}

function* missingFrames(
  { ref, dis }: Times,
  partners: Partners | undefined,
  uncompared: boolean,
  { severity, fix }: Advice,
): Generator<Finding> {
  const gaps = { reference: ref?.gaps ?? [], distorted: dis?.gaps ?? [] };
  const missing = (side: readonly Gap[]) => side.reduce((sum, { frames }) => sum + frames, 0);
  if (gaps.reference.length + gaps.distorted.length === 0 || pairInTime(partners)) return;
  const places = (['distorted', 'reference'] as const).flatMap((side) => {
    const after = gaps[side].map((gap) => gap.after);
    return placesOf(side, after, missing(gaps[side]), 'after');
  });
  yield finding(
    'missing-frames',
    uncompared ? severity : 'info',
    uncompared
      ? `${places.join(', and ')}; at these times the nearest frame is used.`
      : `${places.join(', and ')}; every reference frame is still compared with the frame at its time.`,
    [ref ? missing(gaps.reference) : null, dis ? missing(gaps.distorted) : null],
    uncompared ? fix : undefined,
  );
}

/** @param seen repetitions that the alignment found in the pictures */
function* duplicateFrames(
  { ref, dis }: Times,
  partners: Partners | undefined,
  seen: AlignResult['repeated'],
  { severity, fix }: Advice,
): Generator<Finding> {
  // A frame that only one video has fills the time of the one before it.
  const more = (side: 'reference' | 'distorted') => {
    const count = seen[side] - (partners?.alone[side].length ?? 0);
    return count > STILL_MOMENT ? count : 0;
  };
  const doubled = (side: TimestampAnalysis | undefined) =>
    side && !pairInTime(partners) ? side.doubled.length : 0;
  const repeated = {
    reference: Math.max(doubled(ref), more('reference')),
    distorted: Math.max(doubled(dis), more('distorted')),
  };
  if (repeated.reference === 0 && repeated.distorted === 0) return;
  const said = (['distorted', 'reference'] as const)
    .filter((side) => repeated[side] > 0)
    .map((side) => `${side} repeats the previous picture in ${counted(repeated[side], 'frame')}`);
  yield finding(
    'duplicate-frames',
    severity,
    `${said.join(', and ')} while the other video moves on; pairs after such a frame may be off by one.`,
    [repeated.reference, repeated.distorted],
    fix,
  );
}

function* setBackFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  const text = setBackText({ reference, distorted });
  if (text === undefined) return;
  const places = ({ setBacks }: SideFacts) => setBacks?.length ?? 0;
  yield finding('clock-set-back', 'warning', text, [places(reference), places(distorted)]);
}

/**
 * Clocks that jump back lose no frames, but joined recordings may be unrelated.
 * @param videos by their names in the sentence
 * @returns a sentence that begins in lower case; `undefined` if no clock jumps back
 */
export function setBackText(
  videos: Readonly<Record<string, Pick<SideFacts, 'setBacks' | 'timestamps'>>>,
): string | undefined {
  const said = Object.entries(videos).flatMap(([who, { setBacks = [], timestamps }]) => {
    if (setBacks.length === 0 || !timestamps) return [];
    const named = setBacks.slice(0, NAMED);
    const frames = named.map((time) => timestamps.filter((shown) => shown < time - 1e-6).length);
    const seconds = named.map((time) => `${time.toFixed(3)} s`);
    const more = setBacks.length > NAMED ? ` and ${counted(setBacks.length - NAMED, 'other place')}` : '';
    return [
      `${who} after ${frames.join(', ')} of ${timestamps.length} frames (${seconds.join(', ')})${more}`,
    ];
  });
  if (said.length === 0) return undefined;
  return (
    `timestamps jump back, as in joined recordings: ${said.join(', ')}; all frames are used, with continuous ` +
    'times.'
  );
}

function placesOf(side: string, frames: readonly number[], count: number, where: string): string[] {
  if (frames.length === 0) return [];
  const named = frames.slice(0, NAMED).join(', ');
  const more = frames.length > NAMED ? ` and ${counted(frames.length - NAMED, 'other place')}` : '';
  return [`${side} lacks ${counted(count, 'frame')} ${where} frame ${named}${more}`];
}

function* alignmentFindings(alignment: AlignResult, used: number): Generator<Finding> {
  const { offset, ambiguous, candidates, confidence, reason, explanation, slip } = alignment;
  if (slip) yield slipFinding([slip]);
  const { match = { reference: Math.max(0, offset), distorted: Math.max(0, -offset) } } = alignment;
  // If several offsets fit, their neighbours may too.
  const near = ambiguous ? NEARLY : 0;
  const fits = [offset, ...candidates.map((candidate) => candidate.offset)].some(
    (candidate) => Math.abs(candidate - used) <= near,
  );
  if (reason === 'unrelated') {
    yield finding(
      'unrelated',
      'warning',
      `the videos do not match in the first seconds: ${lowered(explanation)}`,
      [null, null],
      WIDER,
    );
  } else if (!fits && (!ambiguous || reason === 'static' || reason === 'repetitive')) {
    const better = ambiguous
      ? `offsets such as ${candidates
          .slice(0, NAMED)
          .map((candidate) => candidate.offset)
          .join(', ')} fit better`
      : `distorted frame ${match.distorted} shows reference frame ${match.reference}`;
    yield finding(
      'offset',
      'warning',
      `the pictures do not match at offset ${used}: ${better} (${Math.min(MOST_CERTAIN, Math.round(100 * confidence))} % ` +
        'certain), so the compared frames show different moments.',
      [match.reference, match.distorted],
      { purpose: 'fix', option: 'offset', value: offset },
    );
  } else if (reason === 'edge') {
    yield finding(
      'offset',
      'warning',
      `the pictures do not match at offset ${used}: ${lowered(explanation)}`,
      [null, null],
      WIDER,
    );
  } else if (reason === 'static' || reason === 'repetitive') {
    yield finding(
      'offset-unclear',
      'info',
      `could not verify that both videos start at the same moment: ${lowered(explanation)}`,
      [null, null],
    );
  }
}

/** Codes of failed searches that prove the pair wrong. */
const UNFOUND: Partial<Record<AlignReason, FindingCode>> = { unrelated: 'unrelated', edge: 'offset' };

function doubtFinding(alignment: AlignResult, { window = WIDEST_ADVISED }: PreflightContext): Finding {
  const code = UNFOUND[alignment.reason];
  const wider = code !== undefined && window < WIDEST_ADVISED ? WIDER : undefined;
  return finding(code ?? 'offset-unclear', 'warning', doubtText(alignment), [null, null], wider);
}

export function doubtText({ offset, confidence, candidates, reason, explanation }: AlignResult): string {
  const others = reason === 'static' || reason === 'repetitive' ? candidates : [];
  const named = others.filter((candidate) => candidate.offset !== offset).slice(0, NAMED);
  const fits = named.length > 0 ? ` Other candidates: ${named.map((one) => one.offset).join(', ')}.` : '';
  return (
    `The offset search found no clear answer; ${offset} is used as a guess (confidence ${confidence.toFixed(2)}). ` +
    `${explanation}${fits}`
  );
}

function lowered(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
