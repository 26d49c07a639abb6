/**
 * @module media/pairing/prepare
 * Turns two videos into two sources of one format whose n-th frames pair, and describes the conversions.
 */
import type { ScaleFilter } from '../../core/choices.js';
import { type AnyvmafError, type InputRole, mismatchError, ofInput, usageError } from '../../core/errors.js';
import type { BothOf, VideoFormat } from '../../core/frame.js';
import { quotientOf } from '../../core/numbers.js';
import type { OptionsOf } from '../../core/options.js';
import { shown } from '../../core/printable.js';
import type { DecodedSource, DecodeRequest } from '../decoder.js';
import { type EncodedVideo, openDecoded } from '../decoders.js';
import { type RateFacts, rateOf, rateOfTimes, ratesDiffer } from '../evidence/rate.js';
import { factsOf, frameCountOf, nameOf, type Side, type Sides } from '../pair.js';
import type { FrameSource, VideoInfo } from '../types.js';
import { adaptSource, commonFormat, describeConversion, type LightOfSamples } from './convert.js';
import {
  type CutOff,
  cutOffOf,
  cutOffSource,
  type MappedSource,
  mappedSource,
  refuseCutOff,
} from './sources.js';
import {
  distortedRange,
  frameRatio,
  isConstantRate,
  type PairedTimes,
  pairTimes,
  type TimesToPair,
} from './timeline.js';
import {
  type AlignResult,
  alignState,
  type FrameList,
  type FrameRange,
  type InputPairing,
  LISTED_FRAMES,
  type Pairing,
} from './types.js';

interface PairingPlanOptions {
  readonly pairing: OptionsOf<'pair'> & {
    /** Score a damaged video up to its damage, or fail. */
    readonly damage: 'accept' | 'refuse';
  };
  readonly skip: FrameNumbers;
  /** `Infinity` for all pairs. */
  readonly frameCount: number;
  /** Distorted frame n pairs with reference frame n + offset. */
  readonly offset: number;
  readonly alignment?: AlignResult;
  /** Colours of both if only colour metrics read them; conversions then preserve light. */
  readonly light?: BothOf<LightOfSamples>;
  readonly signal?: AbortSignal;
}

type FrameNumbers = BothOf<number>;

export interface PairingPlan {
  readonly sides: Sides;
  readonly options: PairingPlanOptions;
  readonly format: VideoFormat;
  readonly first: FrameNumbers;
  /** Pairs requested by range and limit, `Infinity` for all. */
  readonly asked: number;
  /** Most pairs; `null` if unknown until read to the end. */
  readonly count: number | null;
  /** Frames of the video that does not set the pairs; absent if frames pair by number for lack of times. */
  readonly paired?: PairedTimes;
  /** Reference frames per distorted frame at the same moments. */
  readonly ratio: number;
  /** The plan that this shard belongs to. */
  readonly whole?: PairingPlan;
  /** Set for parts that are read separately: decoders seek to the first frame's time. */
  readonly seeks?: true;
}

/** Two open videos, and how many frames to skip before pair 0; 0 for decoders, which already start there. */
export interface PairSources extends BothOf<FrameSource> {
  readonly skip: FrameNumbers;
}

export interface OpenPair extends PairSources {
  /** Most pairs, `Infinity` for all. */
  readonly limit: number;
  readonly mapped?: { readonly role: InputRole; readonly source: MappedSource };
  /** Absent if frames are compared as stored. */
  describe?(pairs: number): Pairing;
}

/** @throws {AnyvmafError} `mismatch` if the options forbid a required conversion, `usage` for an empty range */
export function planPairing(sides: Sides, options: PairingPlanOptions): PairingPlan {
  const format = scoredFormat(sides, options);
  const { reference, distorted } = sides;
  const { pairing, offset, skip } = options;
  const ratio = frameRatio(reference.times, distorted.times);
  const early = Math.max(0, -offset);
  const origin = {
    reference: skip.reference + Math.max(0, offset),
    // Offsets count reference frames; the same time may hold more or fewer distorted ones.
    distorted: skip.distorted + Math.round(early / ratio),
  };
  const range = frameRange(reference, pairing.range);
  const start = Math.max(origin.reference, range.start);
  const asked = Math.min(range.end - start, options.frameCount);
  const end = Math.min(start + asked, frameCountOf(reference) ?? Number.POSITIVE_INFINITY);
  if (reference.times && distorted.times) {
    const times = {
      reference: reference.times,
      distorted: distorted.times,
      origin,
      ...(early > 0 &&
        !(ratio === 1 && isConstantRate(reference.times) && isConstantRate(distorted.times)) && {
          shift: shiftOf(reference.times, distorted.times, options),
        }),
      start,
      end: Math.min(range.end, reference.times.length),
    };
    if (pairing.pairBy === 'distorted') return planByDistorted(sides, options, { format, times, ratio });
    const paired = pairTimes({ ...times, end: Math.min(end, reference.times.length) });
    if (pairing.frameRatePolicy === 'strict') refuseUnequal(sides, paired);
    const first = { reference: start, distorted: paired.frames[0] ?? origin.distorted };
    return { sides, options, format, first, asked, count: paired.frames.length, paired, ratio };
  }
  if (pairing.pairBy === 'distorted') throw withoutTimes(sides);
  const first = { reference: start, distorted: origin.distorted + start - origin.reference };
  const left = (frameCountOf(distorted) ?? Number.POSITIVE_INFINITY) - first.distorted;
  const count = Math.max(0, Math.min(end - start, left));
  return { sides, options, format, first, asked, count: Number.isFinite(count) ? count : null, ratio };
}

function planByDistorted(
  sides: Sides,
  options: PairingPlanOptions,
  { format, times, ratio }: Pick<PairingPlan, 'format' | 'ratio'> & { readonly times: TimesToPair },
): PairingPlan {
  const { start, end } = distortedRange(times);
  const inRange = end === times.distorted.length ? Number.POSITIVE_INFINITY : end - start;
  const asked = Math.min(inRange, options.frameCount);
  const { reference, distorted, origin, shift } = times;
  const paired = pairTimes({
    reference: distorted,
    distorted: reference,
    origin: { reference: origin.distorted, distorted: origin.reference },
    shift: shift === undefined ? undefined : -shift,
    start,
    end: Math.min(end, start + asked),
  });
  const first = { reference: paired.frames[0] ?? times.start, distorted: start };
  return { sides, options, format, first, asked, count: paired.frames.length, paired, ratio };
}

function withoutTimes({ reference, distorted }: Sides): AnyvmafError {
  const side = reference.times ? distorted : reference;
  return usageError(
    `is distorted, but ${shown(nameOf(side))} has no frame times, so frames pair by number; leave it out.`,
    { about: 'pairBy' },
  );
}

export function framesOfPair({ first, paired, options }: PairingPlan, index: number): FrameNumbers {
  const other = paired?.frames[index];
  const byDistorted = options.pairing.pairBy === 'distorted';
  return {
    reference: (byDistorted ? other : undefined) ?? first.reference + index,
    distorted: (byDistorted ? undefined : other) ?? first.distorted + index,
  };
}

/** Seconds from a reference time to the distorted time of the same moment. */
function shiftOf(reference: Float64Array, distorted: Float64Array, { offset, skip }: PairingPlanOptions) {
  const seconds = offset / (rateOfTimes(reference) ?? 1);
  return (distorted[skip.distorted] ?? 0) - (reference[skip.reference] ?? 0) - seconds;
}

/** Plans at least one pair, of those that exist as far as known, to open separately. */
export function partOfPlan(plan: PairingPlan, start: number, count: number): PairingPlan {
  const { paired } = plan;
  const frames = paired?.frames.subarray(start, start + count);
  const part = paired && frames && { paired: { ...paired, frames } };
  return { ...plan, first: framesOfPair(plan, start), asked: count, count, seeks: true, ...part };
}

/** Plans pairs [start, end), or all from `start` if `null`; treats truncated files as the whole plan does. */
export function shardOfPlan(plan: PairingPlan, start: number, end: number | null): PairingPlan {
  const part = partOfPlan(plan, start, (end ?? plan.count ?? plan.asked) - start);
  return { ...part, ...(end === null && { asked: plan.asked - start }), whole: plan };
}

/** Least seconds between frames for their times to be distinct. */
const DISTINCT = 1e-4;

/** Seconds from the video's first frame, unless the previous frame has about the same time. */
function timeOf({ times }: Side, frame: number): { readonly at: number } | undefined {
  const [first, before, own] = [times?.[0], times?.[frame - 1], times?.[frame]];
  if (first === undefined || before === undefined || own === undefined) return undefined;
  return own - before >= DISTINCT ? { at: own - first } : undefined;
}

const UNKNOWN_END = 2 ** 31 - 1;

export type OpenDecoder = (
  video: EncodedVideo,
  request: DecodeRequest,
  role: InputRole,
) => Promise<DecodedSource>;

/**
 * Opens both videos as planned; if one fails, closes the other.
 * @throws {MediaError} if a file is truncated before the last requested frame, unless damage is accepted
 */
export async function openPlanned(plan: PairingPlan, open: OpenDecoder = openDecoded): Promise<OpenPair> {
  refuseCutOffs(plan);
  const opening = [
    ofInput('reference', () => openSide(plan, 'reference', open)),
    ofInput('distorted', () => openSide(plan, 'distorted', open)),
  ] as const;
  try {
    const [reference, distorted] = await Promise.all(opening);
    return {
      reference: reference.source,
      distorted: distorted.source,
      skip: { reference: reference.skip, distorted: distorted.skip },
      limit: plan.count ?? plan.options.frameCount,
      ...(reference.mapped && { mapped: { role: 'reference', source: reference.mapped } }),
      ...(distorted.mapped && { mapped: { role: 'distorted', source: distorted.mapped } }),
      describe: (pairs) => describePairing(plan, reference.done, distorted.done, pairs),
    };
  } catch (error) {
    for (const side of opening) side.then(({ source }) => source.close()).catch(() => {});
    throw error;
  }
}

/** @throws {MediaError} if a file is truncated before the last requested frame, unless damage is accepted */
export function refuseCutOffs(plan: PairingPlan): void {
  if (plan.options.pairing.damage === 'accept') return;
  for (const [role, cutOff] of cutOffs(plan)) refuseCutOff(cutOff, role);
}

interface ReadSide {
  readonly source: FrameSource;
  /** Its first frame's number in the video. */
  readonly from: number;
  readonly scaledBy?: string;
  readonly described: Described;
}

async function openSide(plan: PairingPlan, role: InputRole, open: OpenDecoder) {
  const { format, options, paired, first } = plan;
  const side = plan.sides[role];
  const { scale = 'bicubic', pairBy = 'reference' } = options.pairing;
  const filter = scale === 'none' ? 'bicubic' : scale;
  // Set unless the frames of this side are consecutive.
  const map = role !== pairBy && paired && !paired.consecutive ? paired.frames : undefined;
  const read: ReadSide =
    side.kind === 'frames'
      ? { source: side.source, from: 0, described: describeStored(side.source.info) }
      : await openEncoded(plan, side, role, open, { filter, map });
  const { source, from, described } = read;
  const { info } = source;
  const resizesHere = info.width !== format.width || info.height !== format.height;
  const scaledBy = read.scaledBy ?? (resizesHere ? `anyvmaf ${filter}` : undefined);
  const { frameRate } = factsOf(plan.sides[pairBy]);
  const mapped = map && mappedSource(source, from === 0 ? map : map.map((frame) => frame - from), frameRate);
  const light = options.light?.[role];
  return {
    source: adaptSource(mapped ?? source, { format, filter, ...(light && { light }) }),
    skip: side.kind === 'frames' && !map ? first[role] : 0,
    mapped,
    done: {
      ...described,
      ...(scaledBy !== undefined && { scaledBy }),
      conversions: [...(side.applied ?? []), ...describeConversion(info, format, light !== undefined)],
    },
  };
}

async function openEncoded(
  plan: PairingPlan,
  side: Side & { kind: 'encoded' },
  role: InputRole,
  open: OpenDecoder,
  { filter, map }: { readonly filter: ScaleFilter; readonly map: Int32Array | undefined },
): Promise<ReadSide> {
  const { options, asked, format } = plan;
  const from = plan.first[role];
  const all = frameCountOf(side) ?? Number.POSITIVE_INFINITY;
  // Do not stop where the other video ends: that would stop decoders that serve several pairs.
  const after = map ? (map.at(-1) ?? from) + 1 : from + asked;
  const end = Number.isFinite(asked) ? after : Number.POSITIVE_INFINITY;
  const stored = factsOf(side);
  const resizes = stored.width !== format.width || stored.height !== format.height;
  const decoded = await open(
    side.video,
    {
      ...(resizes && { size: { width: format.width, height: format.height, filter } }),
      ...((from > 0 || end < all) && {
        frames: { start: from, end: Math.min(end, all, UNKNOWN_END), ...(plan.seeks && timeOf(side, from)) },
      }),
      damage: options.pairing.damage,
      ...(options.signal && { signal: options.signal }),
    },
    role,
  );
  const cutOff = cutOffs(plan).get(role);
  const source = cutOff
    ? cutOffSource(decoded, cutOff, {
        allowed: options.pairing.damage === 'accept',
        wanted: end - from,
        before: plan.whole ? from - plan.whole.first[role] : 0,
      })
    : decoded;
  const { scaledBy } = decoded;
  return { source, from, scaledBy, described: describeDecoded(decoded, side.video) };
}

/** Truncated videos that lack requested frames. */
function cutOffs(plan: PairingPlan): Map<InputRole, CutOff> {
  const whole = plan.whole ?? plan;
  const { sides, asked, paired } = whole;
  const found = new Map<InputRole, CutOff>();
  for (const role of ['reference', 'distorted'] as const) {
    const side = sides[role];
    const cutOff = side.kind === 'encoded' ? cutOffOf(side.video, side.times) : undefined;
    if (cutOff) found.set(role, cutOff);
  }
  if (!paired) return found;
  const { frames } = paired;
  const last = framesOfPair(whole, frames.length - 1);
  const over = {
    reference: last.reference + 1 >= (sides.reference.times?.length ?? 0),
    distorted: last.distorted + 1 >= (sides.distorted.times?.length ?? 0),
  };
  // A truncated video that ends with the last pair matters, unless a complete one ends there too.
  for (const role of ['reference', 'distorted'] as const) {
    const other = role === 'reference' ? 'distorted' : 'reference';
    if (frames.length >= asked || !over[role] || (over[other] && !found.has(other))) found.delete(role);
  }
  return found;
}

function scoredFormat(
  { reference, distorted }: Sides,
  { pairing: { scale, scaleTo = 'ref' }, light }: PairingPlanOptions,
): VideoFormat {
  const [first, second] = [factsOf(reference), factsOf(distorted)];
  const { width, height } = scaleTo === 'ref' ? first : scaleTo === 'dis' ? second : scaleTo;
  const fits = (format: VideoFormat) => format.width === width && format.height === height;
  if (scale === 'none' && !(fits(first) && fits(second)))
    throw mismatchError(
      `distorted is ${second.width}x${second.height} but reference is ${first.width}x${first.height} ` +
        `(${shown(nameOf(distorted))} against ${shown(nameOf(reference))}), and scaling is off.`,
      { hints: [{ purpose: 'fix', option: 'scale', value: 'bicubic' }] },
    );
  const common = commonFormat(first, second);
  // Deep enough that rounding interpolated chroma does not change scores.
  const halved = first.chroma !== second.chroma && [first, second].some(({ chroma }) => /2/.test(chroma));
  const bitDepth = light && halved ? 16 : common.bitDepth;
  return { ...common, bitDepth, width, height };
}

function frameRange(reference: Side, range: FrameRange | undefined): { start: number; end: number } {
  if (!range) return { start: 0, end: Number.POSITIVE_INFINITY };
  const found = range.unit === 'frames' ? range : framesOfTime(reference, range);
  const { start, end = Number.POSITIVE_INFINITY } = found;
  const count = frameCountOf(reference);
  if (count !== null && start >= count)
    throw usageError(
      `the range starts at ${inUnit(range, range.start)}, but the reference ${shown(nameOf(reference))} has only ` +
        `${count === 1 ? '1 frame' : `${count} frames`}.`,
    );
  if (end <= start)
    throw usageError(
      `no frame of the reference ${shown(nameOf(reference))} lies between ${inUnit(range, range.start)} and ` +
        `${inUnit(range, range.end ?? Number.POSITIVE_INFINITY)}; give a longer range.`,
    );
  return { start, end };
}

function inUnit({ unit }: FrameRange, value: number): string {
  return unit === 'frames' ? `frame ${value}` : `${value} s`;
}

function framesOfTime(reference: Side, { start, end }: FrameRange): { start: number; end?: number } {
  const { times } = reference;
  if (times) {
    const zero = times[0] ?? 0;
    // Times are rounded: allow half a millisecond.
    const firstFrom = (time: number) => {
      const found = times.findIndex((shownAt) => shownAt - zero >= time - 5e-4);
      return found < 0 ? times.length : found;
    };
    return { start: firstFrom(start), ...(end !== undefined && { end: firstFrom(end) }) };
  }
  const rate = factsOf(reference).frameRate;
  if (!rate)
    throw usageError(
      `a range in seconds needs frame times, which the reference ${shown(nameOf(reference))} does not have; give ` +
        'it in frames.',
    );
  const frame = (time: number) => Math.ceil((time * rate.num) / rate.den - 1e-3);
  return { start: frame(start), ...(end !== undefined && { end: frame(end) }) };
}

/** @throws {AnyvmafError} `mismatch` if a frame has no partner at its time */
function refuseUnequal({ reference, distorted }: Sides, paired: PairedTimes): void {
  const both = `${shown(nameOf(distorted))} against ${shown(nameOf(reference))}`;
  const [ref, dis] = [{ timestamps: reference.times }, { timestamps: distorted.times }];
  if (ratesDiffer(ref, dis))
    throw unequal(
      `distorted has ${rateText(dis)} frames per second but reference has ${rateText(ref)} (${both})`,
    );
  const faults = [
    ...named(paired.missing, 'no distorted frame for reference'),
    ...named(paired.repeated, 'several reference frames for distorted'),
    ...named(paired.dropped, 'no reference frame for distorted'),
  ];
  if (faults.length > 0) throw unequal(`frames do not pair one to one (${both}): ${faults.join('; ')}`);
}

function unequal(problem: string): AnyvmafError {
  const aim = 'to compare each reference frame with the distorted frame nearest in time';
  const hint = { purpose: 'fix', option: 'frameRatePolicy', value: 'nearest', aim } as const;
  return mismatchError(problem, { hints: [hint] });
}

function named(frames: readonly number[], what: string): string[] {
  if (frames.length === 0) return [];
  const few = frames.slice(0, 10).join(', ');
  const more = frames.length > 10 ? ` and ${frames.length - 10} more` : '';
  return [`${what} frame${frames.length === 1 ? '' : 's'} ${few}${more}`];
}

function rateText(facts: RateFacts): string {
  return `${Number((quotientOf(rateOf(facts)) ?? 0).toFixed(3))}`;
}

type Described = Omit<InputPairing, 'conversions'>;

function describeStored({ width, height, bitDepth, chroma, frameRate }: VideoInfo): Described {
  return { decoder: 'none', width, height, bitDepth, chroma, ...(frameRate && { frameRate }) };
}

function describeDecoded({ facts, decoder, decodedBy }: DecodedSource, video: EncodedVideo): Described {
  const { width, height, bitDepth, chroma, codec, pixelFormat, bitrate, fileSize, duration } = facts;
  const { encoderSettings } = video;
  return {
    ...{ decoder, decodedBy, codec },
    ...(facts.track && { track: facts.track.index, tracks: facts.track.tracks.length }),
    ...(encoderSettings && { encoderSettings }),
    pixelFormat,
    ...(bitrate !== null && { bitrate }),
    ...(fileSize !== null && { fileSize }),
    ...(duration !== null && { duration }),
    ...{ width, height, bitDepth, chroma },
    ...(facts.frameRate && { frameRate: facts.frameRate }),
  };
}

function describePairing(
  { options, format, paired }: PairingPlan,
  reference: InputPairing,
  distorted: InputPairing,
  pairs: number,
): Pairing {
  const { scale = 'bicubic', frameRatePolicy = 'nearest', pairBy, offset = 0, range } = options.pairing;
  const { alignment } = options;
  const { width, height, bitDepth, chroma } = format;
  return {
    ...{ reference, distorted, width, height, bitDepth, chroma, scale },
    ...(range && { range }),
    frames: {
      policy: paired?.policy === 'nearest' ? frameRatePolicy : 'number',
      ...(pairBy === 'distorted' && { by: pairBy }),
      offset: options.offset,
      offsetRequested: offset,
      ...(alignment && { offsetConfidence: alignment.confidence, offsetState: alignState(alignment) }),
      pairs,
      missing: frameList(paired?.missing),
      repeated: frameList(paired?.repeated),
      dropped: frameList(paired?.dropped),
    },
  };
}

function frameList(frames: readonly number[] = []): FrameList {
  return { count: frames.length, frames: frames.slice(0, LISTED_FRAMES) };
}
