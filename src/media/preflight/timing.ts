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
import type { Both, Finding, FindingValue, PairFacts, Role, SideFacts } from './findings.js';
import {
  durationOf,
  FIND_OFFSET,
  filterFiles,
  finding,
  framesOf,
  framesPerSecond,
  NEITHER,
  ofBoth,
  otherRole,
  ROLES,
  rounded,
  subject,
  warningUnless,
} from './make.js';
import {
  alignmentFindings,
  BY_TIME,
  doubtFinding,
  pairInTime,
  setBackFindings,
  type TimedPair,
  type TimestampAnalysis,
  timed,
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
/** Scores an encode of fewer frames at its own times. */
const AT_ENCODE = { purpose: 'fix', option: 'pairBy', value: 'distorted' } as const satisfies Hint;

export function* timingFindings(facts: PairFacts): Generator<Finding> {
  const pair = timed(facts);
  const { alignment, offsetSearched, offset = 0, window } = pair;
  yield* rateFindings(pair);
  yield* noRateFindings(pair);
  yield* lengthFindings(pair);
  yield* timestampFindings(pair);
  yield* setBackFindings(pair);
  yield* fieldFindings(pair);
  if (!alignment) return;
  if (offsetSearched && alignment.ambiguous) yield doubtFinding(alignment, window);
  else yield* alignmentFindings(alignment, offset);
}

/** ColorVideoVDP needs a frame rate, but neither video states one. */
function* noRateFindings({ reference, distorted, rated: [value] = [] }: PairFacts): Generator<Finding> {
  const sides = [reference, distorted];
  if (value === undefined || sides.some(framesPerSecond) || sides.every(({ frameCount }) => frameCount === 1))
    return;
  yield finding('no-frame-rate', 'warning', NEITHER, { purpose: 'fix', option: 'features', value })`
    neither video states a frame rate, so ColorVideoVDP treats each frame as a still: motion hides no differences, and
    flicker does not count; set the true rate, which may not be 25.`;
}

/** True if both show the same frames one by one, but at different speeds. */
function isRetimed(pair: TimedPair): boolean {
  const [ref, dis] = ofBoth(pair, framesOf);
  if (ref === null || dis === null) return false;
  const { offset = 0, skipped } = pair;
  const left = ref - dis - offset - (skipped?.reference ?? 0) + (skipped?.distorted ?? 0);
  if (Math.min(Math.abs(ref - dis), Math.abs(left)) > 1) return false;
  return ofBoth(pair, ({ timestamps }) => !timestamps || isConstantRate(timestamps)).every(Boolean);
}

function* rateFindings(pair: TimedPair): Generator<Finding> {
  const { reference, distorted, frameRatePolicy, pairBy, accepted } = pair;
  if (!ratesDiffer(reference, distorted) || pairInTime(pair)) return;
  const values = ofBoth(pair, (side) => {
    const rate = rateOf(side);
    return rate && isNominal(rate) ? fractionText(rate) : rounded(framesPerSecond(side) ?? 0);
  });
  const difference = `distorted has ${values[1]} frames per second but reference has ${values[0]}`;
  if (frameRatePolicy === 'strict') {
    yield finding('frame-rate', 'error', values, { ...BY_TIME, purpose: 'fix' })`
      ${difference}, so frames do not pair one to one at equal times, as the policy strict requires.`;
  } else if (pairBy === 'distorted') {
    yield finding('frame-rate', 'info', values)`
      ${difference}; each distorted frame is compared with the reference frame at its time.`;
  } else {
    const effect = isRetimed(pair)
      ? 'the same frames run at another speed, and are compared by number.'
      : 'some compared frames show different moments.';
    const fix = pulldownFix(pair) ?? (hasFewer(pair) ? AT_ENCODE : BY_TIME);
    yield warningUnless(accepted, 'frame-rate', values, fix)`${difference}; ${effect}`;
  }
}

/** True if both have times, and the distorted video shows the same time in fewer frames. */
function hasFewer({ reference, distorted }: Both): boolean {
  const [ref, dis] = [reference.timestamps, distorted.timestamps];
  return !!ref && !!dis && frameRatio(ref, dis) > 1;
}

function isUneven(times: TimestampAnalysis | undefined): boolean {
  return times !== undefined && (times.variable || times.gaps.length > 0 || times.doubled.length > 0);
}

function* lengthFindings(pair: TimedPair): Generator<Finding> {
  const { reference, distorted, partners, offset = 0, partial = false, accepted, alignment } = pair;
  if (partial) return;
  const beginTogether = alignment?.reason === 'clear' && alignment.offset === offset;
  // An offset or a slip explains different lengths, and is a finding of its own.
  const found = alignment?.reason === 'clear' && (alignment.offset !== 0 || alignment.slip !== undefined);
  const shifted = offset !== 0 || found;
  const [refFrames, disFrames] = ofBoth(pair, framesOf);
  const differs = ratesDiffer(reference, distorted);
  const [ref, dis] = ofBoth(pair, durationOf);
  const twoFrames = 2 / Math.min(...ofBoth(pair, (side) => framesPerSecond(side) ?? 25));
  const asLong =
    ref !== undefined && dis !== undefined && Math.abs(ref - dis) <= Math.max(SAME_DURATION, twoFrames);
  const lost = lostFinding(pair, beginTogether);
  if (lost) {
    yield lost;
    return;
  }
  if (refFrames !== null && disFrames !== null && refFrames !== disFrames && !differs) {
    // One lacks frames in the middle or repeats some.
    const within = partners !== undefined && asLong && Object.values(pair.times).some(isUneven);
    // With an offset, unpaired frames at either end are expected.
    const expected = shifted || (within && accepted) || (beginTogether && isWhole(pair));
    const pairs = Math.max(0, Math.min(refFrames - Math.max(0, offset), disFrames - Math.max(0, -offset)));
    const effect = partners
      ? 'frames are paired by time, so some have no match of their own.'
      : `${counted(pairs, 'pair')} can be compared; if frames are missing in the middle, later pairs show different moments.`;
    const fix = within ? BY_TIME : beginTogether ? rangeTo('frames', pairs) : FIND_OFFSET;
    yield warningUnless(expected, 'frame-count', [refFrames, disFrames], fix)`
      distorted has ${counted(disFrames, 'frame')} but reference has ${counted(refFrames, 'frame')}; ${effect}`;
  }
  // The duration of a single frame does not matter.
  if (refFrames === 1 && disFrames === 1) return;
  // For the same frames at another speed, the rate explains the length.
  if (ref === undefined || dis === undefined || asLong || (differs && isRetimed(pair))) return;
  yield warningUnless(shifted, 'duration', [Number(rounded(ref)), Number(rounded(dis))], commonPart(pair))`
    distorted lasts ${rounded(dis)} s but reference ${rounded(ref)} s; only the overlap is compared.`;
}

/** True if only the last frames of the reference lack partners in a video that begins with it. */
function isWhole({ partners }: TimedPair): boolean {
  if (!partners) return false;
  const { alone, after } = partners;
  return alone.reference.length === 0 && Math.max(after.reference, after.distorted) <= LAST;
}

function lostFinding(pair: TimedPair, beginTogether: boolean): Finding | undefined {
  const { reference, distorted, offset = 0, accepted } = pair;
  const values = ofBoth(pair, framesOf);
  const [ref, dis] = values;
  if (ref === null || dis === null || ref === dis || ratesDiffer(reference, distorted)) return undefined;
  const who = ref < dis ? 'reference' : 'distorted';
  const short = pair[who];
  const expected = Math.max(ref, dis) - Math.abs(offset);
  const { shown, held } = timeShown(short);
  const room = Math.min(expected, roomFor(short));
  const undecoded = shown < room * (1 - MOST_UNDECODED);
  const torn = !accepted && held > expected * MOST_HELD;
  if (!undecoded && !torn && shown >= expected * (1 - MOST_LOST)) return undefined;
  const why = undecoded
    ? `its duration of ${rounded(short.duration ?? 0)} s implies about ${room}, so it is damaged or incomplete: download or ` +
      'encode it again.'
    : torn
      ? 'where frames are missing, one frame is compared with many, as after damage.'
      : `a score of ${((100 * shown) / expected).toFixed(0)} % of the frames says nothing about the others.`;
  const common = beginTogether || offset !== 0 ? rangeTo('frames', shown) : FIND_OFFSET;
  return finding('lost-frames', 'warning', values, undecoded ? undefined : torn ? BY_TIME : common)`
    ${who} has ${counted(Math.min(ref, dis), 'frame')} but ${otherRole(who)} has ${Math.max(ref, dis)}; ${why}`;
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

function commonPart(pair: Both): Hint | undefined {
  const [ref, dis] = ofBoth(pair, framesOf);
  if (ref !== null && dis !== null && !ratesDiffer(pair.reference, pair.distorted))
    return rangeTo('frames', Math.min(ref, dis));
  const seconds = Math.min(...ofBoth(pair, (side) => durationOf(side) ?? 0));
  return rangeTo('seconds', Math.floor(1000 * seconds) / 1000);
}

function rangeTo(unit: 'frames' | 'seconds', end: number): Hint | undefined {
  return end > 0 ? { purpose: 'accept', option: 'range', value: { unit, start: 0, end } } : undefined;
}

/** What a label and the pictures of one video say about fields. */
interface Fields {
  readonly role: Role;
  readonly label: SideFacts['fieldOrder'];
  /** Interlaced by its label. */
  readonly labelled: boolean;
  readonly seen: FieldEvidence | undefined;
}

function fieldsOfBoth(pair: Both): readonly Fields[] {
  return ROLES.map((role) => {
    const { fieldOrder: label, measured } = pair[role];
    const labelled = label === 'top-first' || label === 'bottom-first';
    const seen = judgeFields(measured?.fields ?? [], pair[otherRole(role)].measured?.fields);
    return { role, label, labelled, seen };
  });
}

/** Damage that pictures show, and the filter that undoes it. */
const DAMAGE = [
  [
    'pulldown',
    '3:2 pulldown (film at 29.97 fps): two of every five frames mix two pictures.',
    pulldownFilter,
  ],
  ['exchanged', 'swapped field lines, as after a capture or cropping error.', () => 'il=ls=1:cs=1'],
] as const;

function* fieldFindings(pair: Both): Generator<Finding> {
  const both = fieldsOfBoth(pair);
  const [ref = null, dis = null] = both.map(scanOf);
  const values = [ref, dis] as const;
  for (const [kind, damage, filter] of DAMAGE) {
    const sides = both.filter(({ seen }) => seen?.kind === kind);
    if (sides.length > 0)
      yield finding('interlaced', 'warning', values, filtered(pair, sides, filter))`
        ${subject(rolesOf(sides), 'has')} ${damage}`;
  }
  const woven = both.filter(({ labelled, seen }) => seen?.kind === 'woven' || (labelled && !seen));
  const [first] = woven;
  if (first) {
    const who =
      woven.length === 2
        ? `both videos are interlaced (reference ${ref}, distorted ${dis})`
        : `${first.role} is interlaced (${scanOf(first)}) but ${otherRole(first.role)} is not`;
    const unlabelled = woven.length === 2 && woven.every(({ labelled }) => !labelled);
    const against = unlabelled
      ? ', as their pictures show, although neither is labelled'
      : woven.map(contradicted).join('');
    yield finding('interlaced', 'warning', values, bothDeinterlaced(pair, woven))`
      ${who}${against}; VMAF is not designed for interlaced frames, whose two fields it compares as one picture.`;
  }
  const whole = both.filter(({ labelled, seen }) => labelled && seen?.kind === 'progressive');
  if (whole.length > 0 && !first)
    yield finding('interlaced', 'info', values)`
      ${subject(rolesOf(whole), 'is')} labelled as interlaced, but the pictures are progressive: no deinterlacing is
      needed.`;
}

function rolesOf(sides: readonly Fields[]): Role[] {
  return sides.map(({ role }) => role);
}

/** The filter that removes pulldown, which turns five frames into four, if only one video has it. */
function pulldownFix(pair: Both): PrepareHint | undefined {
  const found = fieldsOfBoth(pair).filter(({ seen }) => seen?.kind === 'pulldown');
  return found.length === 1 ? filtered(pair, found, pulldownFilter) : undefined;
}

function pulldownFilter({ seen }: Fields): string {
  const order = seen?.first === undefined ? '' : `=order=${seen.first === 'top-first' ? 'tff' : 'bff'}`;
  return `fieldmatch${order},decimate`;
}

function scanOf({ label, labelled, seen }: Fields): FindingValue {
  if (seen?.kind === 'pulldown' || seen?.kind === 'exchanged') return seen.kind;
  if (seen?.kind === 'woven') return seen.first ?? (labelled && label ? label : 'unknown order');
  return label ?? null;
}

function contradicted({ role, label, labelled, seen }: Fields): string {
  if (seen?.kind !== 'woven') return '';
  if (!labelled) return `, as the pictures of ${role} show, although it is not labelled`;
  return seen.first && seen.first !== label ? `, although ${role} is labelled ${label}` : '';
}

/** Filters both alike, since any difference would count as damage. */
function bothDeinterlaced(pair: Both, sides: readonly Fields[]): PrepareHint {
  const filter = ({ label, seen }: Fields) => {
    const how = deinterlacing(label, seen) ?? 'labelled';
    return how === 'labelled' ? 'bwdif=send_frame' : deinterlacer(how);
  };
  return filtered(pair, sides, filter, [{ purpose: 'fix', option: 'deinterlace', value: true }]);
}

function filtered(
  pair: Both,
  sides: readonly Fields[],
  filter: (side: Fields) => string,
  instead?: readonly OptionHint[],
): PrepareHint {
  return filterFiles(pair, Object.fromEntries(sides.map((side) => [side.role, filter(side)])), instead);
}
