/**
 * @module media/preflight/timing
 * Findings about time: rate, count, duration and fields; by what the pictures show, else by what the labels say.
 */
import type { Hint, OptionHint, PrepareHint } from '../../core/errors.js';
import { fractionText } from '../../core/numbers.js';
import { counted } from '../../core/printable.js';
import { deinterlacer, deinterlacing, type FieldEvidence, judgeFields } from '../evidence/fields.js';
import { intervalsOf, isNominal, rateOf, ratesDiffer } from '../evidence/rate.js';
import { frameRatio, isConstantRate } from '../pairing/timeline.js';
import {
  type Both,
  durationOf,
  type Finding,
  type FindingValue,
  filterFiles,
  finding,
  framesOf,
  framesPerSecond,
  otherRole,
  type PairFacts,
  type Role,
  rounded,
  type SideFacts,
} from './findings.js';
import {
  alignmentFindings,
  analyseTimestamps,
  BY_TIME,
  doubtFinding,
  type Partners,
  pairInTime,
  partnersInTime,
  setBackFindings,
  timestampFindings,
} from './moments.js';

/** Largest difference of equal durations in seconds; two frames are also allowed. */
const SAME_DURATION = 0.1;
/** Most extra frames at the end of a video that a container or encoder may have added. */
const LAST = 2;
/** Share of lost frames above which the score is not representative. */
const MOST_LOST = 0.5;
/** Share of the declared length that a complete file may lack in frames. */
const MOST_UNDECODED = 0.1;
/** Seconds above which a picture stands for lost frames, and their share in a torn video. */
const LONGEST_HOLD = 0.5;
const MOST_HELD = 0.25;
const FIND_OFFSET: Hint = { purpose: 'fix', option: 'offset', value: 'auto' };
/** Scores an encode of fewer frames at its own times. */
const AT_ENCODE = { purpose: 'fix', option: 'pairBy', value: 'distorted' } as const satisfies Hint;

export function* timingFindings(pair: PairFacts): Generator<Finding> {
  const { alignment, offsetSearched, offset = 0, window } = pair;
  const timed: TimedPair = { ...pair, partners: partnersOf(pair) };
  yield* rateFindings(timed);
  yield* noRateFindings(pair);
  yield* lengthFindings(timed);
  yield* timestampFindings(pair, timed.partners);
  yield* setBackFindings(pair);
  yield* fieldFindings(pair);
  if (!alignment) return;
  if (offsetSearched && alignment.ambiguous) yield doubtFinding(alignment, window);
  else yield* alignmentFindings(alignment, offset);
}

interface TimedPair extends PairFacts {
  /** Absent without the times of both. */
  readonly partners: Partners | undefined;
}

/** ColorVideoVDP needs a frame rate, but neither video states one. */
function* noRateFindings({ reference, distorted, rated: [value] = [] }: PairFacts): Generator<Finding> {
  const sides = [reference, distorted];
  if (value === undefined || sides.some(framesPerSecond) || sides.every(({ frameCount }) => frameCount === 1))
    return;
  const said =
    'neither video states a frame rate, so ColorVideoVDP treats each frame as a still: motion hides no differences, and ' +
    'flicker does not count; set the true rate, which may not be 25.';
  const fix = { purpose: 'fix', option: 'features', value } as const;
  yield finding('no-frame-rate', 'warning', said, [null, null], fix);
}

function partnersOf({ reference, distorted, offset = 0, skipped }: PairFacts): Partners | undefined {
  if (!reference.timestamps || !distorted.timestamps) return undefined;
  const first = {
    reference: (skipped?.reference ?? 0) + Math.max(0, offset),
    distorted: (skipped?.distorted ?? 0) + Math.max(0, -offset),
  };
  return partnersInTime({ reference: reference.timestamps, distorted: distorted.timestamps, first });
}

/** True if both show the same frames one by one, but at different speeds. */
function isRetimed({ reference, distorted }: Both): boolean {
  const [ref, dis] = [framesOf(reference), framesOf(distorted)];
  if (ref === null || dis === null || Math.abs(ref - dis) > 1) return false;
  return [reference, distorted].every(({ timestamps }) => !timestamps || isConstantRate(timestamps));
}

function* rateFindings(pair: TimedPair): Generator<Finding> {
  const { reference, distorted, frameRatePolicy, pairBy } = pair;
  if (!ratesDiffer(reference, distorted) || pairInTime(pair.partners)) return;
  const text = (side: SideFacts) => {
    const rate = rateOf(side);
    return rate && isNominal(rate) ? fractionText(rate) : rounded(framesPerSecond(side) ?? 0);
  };
  const values = [text(reference), text(distorted)] as const;
  const difference = `distorted has ${values[1]} frames per second but reference has ${values[0]}`;
  if (frameRatePolicy === 'strict') {
    const refused = `${difference}, so frames do not pair one to one at equal times, as the policy strict requires.`;
    yield finding('frame-rate', 'error', refused, values, { ...BY_TIME, purpose: 'fix' });
  } else if (pairBy === 'distorted') {
    const scored = `${difference}; each distorted frame is compared with the reference frame at its time.`;
    yield finding('frame-rate', 'info', scored, values);
  } else {
    const accepted = frameRatePolicy === 'nearest';
    const effect = isRetimed(pair)
      ? 'the same frames run at another speed, and are compared by number.'
      : 'some compared frames show different moments.';
    const fix = accepted ? undefined : (pulldownFix(pair) ?? (hasFewer(pair) ? AT_ENCODE : BY_TIME));
    yield finding('frame-rate', accepted ? 'info' : 'warning', `${difference}; ${effect}`, values, fix);
  }
}

/** True if both have times, and the distorted video shows the same time in fewer frames. */
function hasFewer({ reference, distorted }: Both): boolean {
  const [ref, dis] = [reference.timestamps, distorted.timestamps];
  return !!ref && !!dis && frameRatio(ref, dis) > 1;
}

function isUneven({ timestamps }: SideFacts): boolean {
  const analysis = timestamps ? analyseTimestamps(timestamps) : undefined;
  return !!analysis && (analysis.variable || analysis.gaps.length > 0 || analysis.doubled.length > 0);
}

function* lengthFindings(pair: TimedPair): Generator<Finding> {
  const { reference, distorted, partners, offset = 0, partial = false, frameRatePolicy, alignment } = pair;
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
  const lost = lostFinding(pair, beginTogether);
  if (lost) {
    yield lost;
    return;
  }
  if (refFrames !== null && disFrames !== null && refFrames !== disFrames && !differs) {
    // One lacks frames in the middle or repeats some.
    const within = partners !== undefined && asLong && (isUneven(reference) || isUneven(distorted));
    // With an offset, unpaired frames at either end are expected.
    const accepted = shifted || (within && frameRatePolicy === 'nearest') || isWhole(partners, beginTogether);
    const pairs = Math.max(0, Math.min(refFrames - Math.max(0, offset), disFrames - Math.max(0, -offset)));
    const effect = partners
      ? 'frames are paired by time, so some have no match of their own.'
      : `${counted(pairs, 'pair')} can be compared; if frames are missing in the middle, later pairs show ` +
        'different moments.';
    yield finding(
      'frame-count',
      accepted ? 'info' : 'warning',
      `distorted has ${counted(disFrames, 'frame')} but reference has ${counted(refFrames, 'frame')}; ${effect}`,
      [refFrames, disFrames],
      accepted ? undefined : within ? BY_TIME : beginTogether ? commonFrames(pairs) : FIND_OFFSET,
    );
  }
  // The duration of a single frame does not matter.
  if (refFrames === 1 && disFrames === 1) return;
  // For the same frames at another speed, the rate explains the length.
  if (ref === undefined || dis === undefined || asLong || (differs && isRetimed(pair))) return;
  const said = `distorted lasts ${rounded(dis)} s but reference ${rounded(ref)} s; only the overlap is compared.`;
  const values = [Number(rounded(ref)), Number(rounded(dis))] as const;
  const fix = shifted ? undefined : commonPart(pair);
  yield finding('duration', shifted ? 'info' : 'warning', said, values, fix);
}

/** True if both begin together and only the last reference frames lack partners. */
function isWhole(partners: Partners | undefined, beginTogether: boolean): boolean {
  if (!partners || !beginTogether) return false;
  const { alone, after } = partners;
  return alone.reference.length === 0 && Math.max(after.reference, after.distorted) <= LAST;
}

function lostFinding(
  { reference, distorted, offset = 0, frameRatePolicy }: PairFacts,
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

/** Frame intervals that a video covers, and those of pictures held longer than {@link LONGEST_HOLD}. */
function timeShown(side: SideFacts): { readonly shown: number; readonly held: number } {
  const [frames, rate, { timestamps }] = [framesOf(side) ?? 0, framesPerSecond(side), side];
  if (!timestamps || !rate) return { shown: frames, held: 0 };
  const span = (timestamps.at(-1) ?? 0) - (timestamps[0] ?? 0);
  let held = 0;
  for (const step of intervalsOf(timestamps)) if (step > LONGEST_HOLD) held += step * rate - 1;
  return { shown: Math.max(frames, Math.round(span * rate) + 1), held };
}

/** Frames that fit the declared duration; at least those that exist. */
function roomFor(side: SideFacts): number {
  const rate = framesPerSecond(side);
  return Math.max(framesOf(side) ?? 0, side.duration && rate ? Math.round(side.duration * rate) : 0);
}

function commonFrames(pairs: number): Hint | undefined {
  return pairs > 0
    ? { purpose: 'accept', option: 'range', value: { unit: 'frames', start: 0, end: pairs } }
    : undefined;
}

function commonPart({ reference, distorted }: Both): Hint | undefined {
  const [ref, dis] = [framesOf(reference), framesOf(distorted)];
  if (ref !== null && dis !== null && !ratesDiffer(reference, distorted))
    return commonFrames(Math.min(ref, dis));
  const end = Math.floor(1000 * Math.min(durationOf(reference) ?? 0, durationOf(distorted) ?? 0)) / 1000;
  return end > 0
    ? { purpose: 'accept', option: 'range', value: { unit: 'seconds', start: 0, end } }
    : undefined;
}

interface Fields {
  readonly role: Role;
  readonly facts: SideFacts;
  /** Interlaced by its label. */
  readonly labelled: boolean;
  readonly seen: FieldEvidence | undefined;
}

function fieldsOfBoth({ reference, distorted }: Both): readonly [Fields, Fields] {
  return [fieldsOf('reference', reference, distorted), fieldsOf('distorted', distorted, reference)];
}

function fieldsOf(role: Role, facts: SideFacts, beside: SideFacts): Fields {
  const { fieldOrder } = facts;
  const labelled = fieldOrder === 'top-first' || fieldOrder === 'bottom-first';
  return { role, facts, labelled, seen: judgeFields(facts.measured?.fields ?? [], beside.measured?.fields) };
}

function* fieldFindings(pair: Both): Generator<Finding> {
  const both = fieldsOfBoth(pair);
  const [ref, dis] = [scanOf(both[0]), scanOf(both[1])];
  const values = [ref, dis] as const;
  const of = (kind: FieldEvidence['kind']) => both.filter(({ seen }) => seen?.kind === kind);
  const [pulldown, exchanged] = [of('pulldown'), of('exchanged')];
  if (pulldown.length > 0) {
    const said = `${named(pulldown)} 3:2 pulldown (film at 29.97 fps): two of every five frames mix two pictures.`;
    yield finding('interlaced', 'warning', said, values, filtered(pulldown, pulldownFilter));
  }
  if (exchanged.length > 0) {
    const said = `${named(exchanged)} swapped field lines, as after a capture or cropping error.`;
    const fix = filtered(exchanged, () => 'il=ls=1:cs=1');
    yield finding('interlaced', 'warning', said, values, fix);
  }
  const woven = both.filter(({ labelled, seen }) => seen?.kind === 'woven' || (labelled && !seen));
  const [first] = woven;
  if (first) {
    const who =
      woven.length === 2
        ? `both videos are interlaced (reference ${ref}, distorted ${dis})`
        : `${first.role} is interlaced (${scanOf(first)}) but ${otherRole(first.role)} is not`;
    const unlabelled = woven.every(({ labelled, seen }) => !labelled && seen);
    const against =
      woven.length === 2 && unlabelled
        ? ', as their pictures show, although neither is labelled'
        : woven.map(contradicted).join('');
    const effect =
      '; VMAF is not designed for interlaced frames, whose two fields it compares as one picture.';
    yield finding('interlaced', 'warning', `${who}${against}${effect}`, values, bothDeinterlaced(woven));
  }
  const whole = both.filter(({ labelled, seen }) => labelled && seen?.kind === 'progressive');
  if (whole.length > 0 && !first) {
    const who = whole.length === 2 ? 'both videos are' : `${whole[0]?.role} is`;
    const said = `${who} labelled as interlaced, but the pictures are progressive: no deinterlacing is needed.`;
    yield finding('interlaced', 'info', said, values);
  }
}

/** The filter that removes pulldown, which turns five frames into four, if only one video has it. */
function pulldownFix(pair: Both): PrepareHint | undefined {
  const found = fieldsOfBoth(pair).filter(({ seen }) => seen?.kind === 'pulldown');
  return found.length === 1 ? filtered(found, pulldownFilter) : undefined;
}

function pulldownFilter({ seen }: Fields): string {
  const order = seen?.first === undefined ? '' : `=order=${seen.first === 'top-first' ? 'tff' : 'bff'}`;
  return `fieldmatch${order},decimate`;
}

function named(sides: readonly Fields[]): string {
  return sides.length === 2 ? 'both videos have' : `${sides[0]?.role} has`;
}

function scanOf({ facts, labelled, seen }: Fields): FindingValue {
  if (seen?.kind === 'pulldown' || seen?.kind === 'exchanged') return seen.kind;
  if (seen?.kind === 'woven') return seen.first ?? (labelled ? (facts.fieldOrder ?? null) : 'unknown order');
  return facts.fieldOrder ?? null;
}

function contradicted({ role, facts, labelled, seen }: Fields): string {
  if (seen?.kind !== 'woven') return '';
  if (!labelled) return `, as the pictures of ${role} show, although it is not labelled`;
  return seen.first && seen.first !== facts.fieldOrder
    ? `, although ${role} is labelled ${facts.fieldOrder}`
    : '';
}

/** Filters both alike, since any difference would count as damage. */
function bothDeinterlaced(sides: readonly Fields[]): PrepareHint {
  const filter = ({ facts, seen }: Fields) => {
    const how = deinterlacing(facts.fieldOrder, seen) ?? 'labelled';
    return how === 'labelled' ? 'bwdif=send_frame' : deinterlacer(how);
  };
  return filtered(sides, filter, [{ purpose: 'fix', option: 'deinterlace', value: true }]);
}

function filtered(
  sides: readonly Fields[],
  filter: (side: Fields) => string,
  instead?: readonly OptionHint[],
): PrepareHint {
  const filters = sides.map((side) => [side.role, side.facts, filter(side)] as const);
  return filterFiles(filters, instead);
}
