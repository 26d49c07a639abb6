/**
 * @module media/pairing/prepare
 * Makes two videos of any kind into two sources of one format whose n-th frames belong together, and says how.
 */
import { AnyvmafError, type InputRole, ofInput, usageError } from '../../core/errors.js';
import type { VideoFormat } from '../../core/frame.js';
import { shown } from '../../core/printable.js';
import type { AlignState } from '../align/types.js';
import type { DecodedSource, DecodeRequest, Fraction, ScaleFilter } from '../decoder.js';
import { type EncodedVideo, openDecoded } from '../decoders.js';
import type { FrameSource, VideoInfo } from '../types.js';
import { adaptSource } from './adapt.js';
import { commonFormat, describeConversion } from './convert.js';
import { type CutOff, CutOffSource, cutOffOf, refuseCutOff } from './cut-off.js';
import { MappedSource } from './mapped.js';
import {
  averageRate,
  frameRatio,
  isConstantRate,
  type PairedTimes,
  pairTimes,
  ratesDiffer,
} from './timeline.js';
import {
  type FrameList,
  type FrameRange,
  type FrameRatePolicy,
  type InputPairing,
  LISTED_FRAMES,
  type Pairing,
  type ScaleTo,
} from './types.js';

/** One video before it is opened for scoring. */
export type Side =
  | { readonly kind: 'frames'; readonly source: FrameSource; readonly times: Float64Array | null }
  | {
      readonly kind: 'encoded';
      readonly video: EncodedVideo;
      readonly times: Float64Array | null;
      /** Seconds at which the file's clock is set back, where it is; times count on as if it had not been. */
      readonly setBacks?: readonly number[];
    };

/** Both videos. */
export interface Sides {
  readonly reference: Side;
  readonly distorted: Side;
}

/** What to bring together, and how. */
export interface PairingPlanOptions {
  readonly scale: ScaleFilter | 'none';
  readonly scaleTo: ScaleTo;
  readonly frameRatePolicy: FrameRatePolicy;
  /** Distorted frame n goes with reference frame n + offset. */
  readonly offset: number;
  readonly offsetRequested: number | 'auto';
  readonly offsetConfidence?: number;
  readonly offsetState?: AlignState;
  readonly range?: FrameRange;
  readonly skipReference: number;
  readonly skipDistorted: number;
  /** Pairs at most, `Infinity` for all. */
  readonly frameCount: number;
  readonly allowDamaged: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** How frames go together, before anything is decoded. */
export interface PairingPlan {
  readonly sides: Sides;
  readonly options: PairingPlanOptions;
  /** The format in which both are scored. */
  readonly format: VideoFormat;
  /** First frame of each that is scored. */
  readonly first: { readonly reference: number; readonly distorted: number };
  /** Pairs asked for by range and limit, `Infinity` for all there are. */
  readonly asked: number;
  /** Pairs at most; `null` where only reading to the end can tell. */
  readonly count: number | null;
  /** Absent where times are not known and frames go by number. */
  readonly paired?: PairedTimes;
  /** Reference frames per distorted frame where both show the same moments; 1 where their rates do not differ. */
  readonly ratio: number;
}

/** Two sources whose n-th frames belong together. */
export interface PreparedPair {
  readonly reference: FrameSource;
  readonly distorted: FrameSource;
  /** Frames of each source to discard at its start: those of a decoder begin where they should. */
  readonly skipReference: number;
  readonly skipDistorted: number;
  /** What reads the distorted frames, where they come in an order of their own. */
  readonly mapped?: MappedSource;
  /** What was done; the number of pairs is known at the end. */
  describe(pairs: number): Pairing;
}

/** What a side declares of its frames. */
function formatOf(side: Side): VideoFormat & { readonly frameCount: number | null } {
  return side.kind === 'frames' ? side.source.info : side.video.facts;
}

/** What the user calls a side. */
export function nameOf(side: Side): string {
  return side.kind === 'frames' ? side.source.info.name : side.video.facts.name;
}

/** Frames of a side, where known. Packets are a better witness than what a header says. */
function frameCountOf(side: Side): number | null {
  return side.times?.length ?? formatOf(side).frameCount;
}

/**
 * Decides what goes with what.
 * @throws {AnyvmafError} `mismatch` when the options do not allow what it would take, `usage` for an empty range
 */
export function planPairing(sides: Sides, options: PairingPlanOptions): PairingPlan {
  const format = scoredFormat(sides, options);
  const { reference, distorted } = sides;
  const { offset, skipReference, skipDistorted } = options;
  const ratio = frameRatio(reference.times, distorted.times);
  const early = Math.max(0, -offset);
  const origin = {
    reference: skipReference + Math.max(0, offset),
    // Offsets are frames of the reference, of which there are more or fewer in the same time.
    distorted: skipDistorted + Math.round(early / ratio),
  };
  const range = frameRange(reference, options.range);
  const start = Math.max(origin.reference, range.start);
  const asked = Math.min(range.end - start, options.frameCount);
  const end = Math.min(start + asked, frameCountOf(reference) ?? Number.POSITIVE_INFINITY);
  if (reference.times && distorted.times) {
    const paired = pairTimes({
      reference: reference.times,
      distorted: distorted.times,
      origin,
      ...(early > 0 &&
        !isOneByOne(reference.times, distorted.times) && {
          shift: shiftOf(reference.times, distorted.times, options),
        }),
      start,
      end: Math.min(end, reference.times.length),
    });
    if (options.frameRatePolicy === 'strict') refuseUnequal(sides, paired);
    const first = { reference: start, distorted: paired.frames[0] ?? origin.distorted };
    return { sides, options, format, first, asked, count: paired.frames.length, paired, ratio };
  }
  const first = { reference: start, distorted: origin.distorted + start - origin.reference };
  const left = (frameCountOf(distorted) ?? Number.POSITIVE_INFINITY) - first.distorted;
  const count = Math.max(0, Math.min(end - start, left));
  return { sides, options, format, first, asked, count: Number.isFinite(count) ? count : null, ratio };
}

/** Whether each frame goes with the next, as far as both rates say. */
function isOneByOne(reference: Float64Array, distorted: Float64Array): boolean {
  const steady = isConstantRate(reference) && isConstantRate(distorted);
  return steady && frameRatio(reference, distorted) === 1;
}

/** Seconds from a time of the reference to the distorted video's at the same moment. */
function shiftOf(
  reference: Float64Array,
  distorted: Float64Array,
  { offset, skipReference, skipDistorted }: PairingPlanOptions,
): number {
  const seconds = offset / (averageRate(reference) ?? 1);
  return (distorted[skipDistorted] ?? 0) - (reference[skipReference] ?? 0) - seconds;
}

/**
 * The part of a plan that is about some of its pairs, to be opened on its own: decoders begin there.
 * @param start number of the first pair
 * @param count pairs, 1 or more; they must be there as far as the plan knows
 */
export function partOfPlan(plan: PairingPlan, start: number, count: number): PairingPlan {
  const { first, paired } = plan;
  const frames = paired?.frames.subarray(start, start + count);
  return {
    ...plan,
    first: {
      reference: first.reference + start,
      distorted: frames?.[0] ?? first.distorted + start,
    },
    asked: count,
    count,
    ...(paired && frames && { paired: { ...paired, frames } }),
  };
}

/** Stands for the end of a video whose length is not known. */
const UNKNOWN_END = 2 ** 31 - 1;

/** Opens a decoder for one of the two videos. */
export type OpenDecoder = (
  video: EncodedVideo,
  request: DecodeRequest,
  role: InputRole,
) => Promise<DecodedSource>;

/**
 * Opens both videos as planned; when anything fails, what is open is closed.
 * @throws {MediaError} where one is cut off before the frames that are asked for end, unless damage is allowed
 */
export async function openPlanned(plan: PairingPlan, open: OpenDecoder = openDecoded): Promise<PreparedPair> {
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
      skipReference: reference.skip,
      skipDistorted: distorted.skip,
      ...(distorted.mapped && { mapped: distorted.mapped }),
      describe: (pairs) => describePairing(plan, reference.done, distorted.done, pairs),
    };
  } catch (error) {
    for (const side of opening) side.then(({ source }) => source.close()).catch(() => {});
    throw error;
  }
}

/** @throws {MediaError} where a file is cut off before the frames that are asked for end, unless damage is allowed */
export function refuseCutOffs(plan: PairingPlan): void {
  if (plan.options.allowDamaged) return;
  for (const [role, cutOff] of cutOffs(plan)) refuseCutOff(cutOff, role);
}

interface OpenedSide {
  readonly source: FrameSource;
  readonly skip: number;
  readonly mapped?: MappedSource | undefined;
  readonly done: InputPairing;
}

async function openSide(plan: PairingPlan, role: InputRole, open: OpenDecoder): Promise<OpenedSide> {
  const { format, options, first, asked, paired } = plan;
  const side = plan.sides[role];
  const stored = formatOf(side);
  const resizes = stored.width !== format.width || stored.height !== format.height;
  const filter = options.scale === 'none' ? 'bicubic' : options.scale;
  const from = first[role];
  const map = role === 'distorted' && paired && !paired.consecutive ? paired.frames : undefined;

  if (side.kind === 'frames') {
    const { source } = side;
    const mapped = map && new MappedSource(source, map);
    return {
      source: adaptSource(mapped ?? source, { format, filter }),
      skip: map ? 0 : from,
      mapped,
      done: {
        decoder: 'none',
        ...describeStored(source.info),
        ...(resizes && { scaledBy: `anyvmaf ${filter}` }),
        conversions: describeConversion(source.info, format),
      },
    };
  }

  const all = frameCountOf(side) ?? Number.POSITIVE_INFINITY;
  // Where the other video ends is no limit: decoders stop when they are closed, and one may serve several pairs.
  const after = map ? (map.at(-1) ?? from) + 1 : from + asked;
  const end = Number.isFinite(asked) ? after : Number.POSITIVE_INFINITY;
  const decoded = await open(
    side.video,
    {
      ...(resizes && { size: { width: format.width, height: format.height, filter } }),
      ...((from > 0 || end < all) && { frames: { start: from, end: Math.min(end, all, UNKNOWN_END) } }),
      ...(options.allowDamaged && { allowDamaged: true }),
      ...(options.signal && { signal: options.signal }),
    },
    role,
  );
  const { info } = decoded;
  const resizesHere = info.width !== format.width || info.height !== format.height;
  const scaledBy = decoded.scaledBy ?? (resizesHere ? `anyvmaf ${filter}` : undefined);
  const relative = map?.map((frame) => frame - from);
  const cutOff = cutOffs(plan).get(role);
  const watched = cutOff
    ? new CutOffSource(decoded, cutOff, { allowed: options.allowDamaged, wanted: end - from })
    : decoded;
  const mapped = relative && new MappedSource(watched, relative);
  return {
    source: adaptSource(mapped ?? watched, { format, filter }),
    skip: 0,
    mapped,
    done: {
      ...describeDecoded(decoded),
      ...(scaledBy !== undefined && { scaledBy }),
      conversions: describeConversion(info, format),
    },
  };
}

/** The sides whose file ends too early for what is to be compared. */
function cutOffs({ sides, first, asked, paired }: PairingPlan): Map<InputRole, CutOff> {
  const found = new Map<InputRole, CutOff>();
  for (const role of ['reference', 'distorted'] as const) {
    const side = sides[role];
    const cutOff = side.kind === 'encoded' ? cutOffOf(side) : undefined;
    if (cutOff) found.set(role, cutOff);
  }
  if (!paired) return found;
  const { frames } = paired;
  const over = {
    reference: first.reference + frames.length >= (sides.reference.times?.length ?? 0),
    distorted: (frames.at(-1) ?? -1) + 1 >= (sides.distorted.times?.length ?? 0),
  };
  // One that has no frame left after the last pair decides where it is; not so beside a whole one that ends there too.
  for (const [role, other] of [
    ['reference', 'distorted'],
    ['distorted', 'reference'],
  ] as const) {
    if (frames.length >= asked || !over[role] || (over[other] && !found.has(other))) found.delete(role);
  }
  return found;
}

/** The format in which both can be scored. */
function scoredFormat({ reference, distorted }: Sides, { scale, scaleTo }: PairingPlanOptions): VideoFormat {
  const [first, second] = [formatOf(reference), formatOf(distorted)];
  const asked = scaleTo === 'ref' ? first : scaleTo === 'dis' ? second : scaleTo;
  const { width, height } = asked;
  const fits = (format: VideoFormat) => format.width === width && format.height === height;
  if (scale === 'none' && !(fits(first) && fits(second))) {
    throw new AnyvmafError(
      'mismatch',
      `distorted is ${second.width}x${second.height} but reference is ${first.width}x${first.height} ` +
        `(${shown(nameOf(distorted))} against ${shown(nameOf(reference))}), and scaling is off.`,
      { hints: [{ purpose: 'fix', option: 'scale', value: 'bicubic' }] },
    );
  }
  return { ...commonFormat(first, second), width, height };
}

/** A range in frames of the reference. */
function frameRange(reference: Side, range: FrameRange | undefined): { start: number; end: number } {
  if (!range) return { start: 0, end: Number.POSITIVE_INFINITY };
  const found = range.unit === 'frames' ? range : framesOfTime(reference, range);
  const { start, end = Number.POSITIVE_INFINITY } = found;
  const count = frameCountOf(reference);
  if (count !== null && start >= count) {
    throw usageError(
      `the range begins at ${inUnit(range, range.start)}, but the reference ${shown(nameOf(reference))} has only ` +
        `${count === 1 ? '1 frame' : `${count} frames`}.`,
    );
  }
  if (end <= start) {
    throw usageError(
      `no frame of the reference ${shown(nameOf(reference))} lies between ${inUnit(range, range.start)} and ` +
        `${inUnit(range, range.end ?? Number.POSITIVE_INFINITY)}; give a longer range.`,
    );
  }
  return { start, end };
}

function inUnit({ unit }: FrameRange, value: number): string {
  return unit === 'frames' ? `frame ${value}` : `${value} s`;
}

/** Frames shown from a time on, up to another. */
function framesOfTime(reference: Side, { start, end }: FrameRange): { start: number; end?: number } {
  const { times } = reference;
  if (times) {
    const zero = times[0] ?? 0;
    // Times are rounded; a frame that should begin just then does.
    const firstFrom = (time: number) => {
      const found = times.findIndex((shownAt) => shownAt - zero >= time - 5e-4);
      return found < 0 ? times.length : found;
    };
    return { start: firstFrom(start), ...(end !== undefined && { end: firstFrom(end) }) };
  }
  const rate = frameRateOf(reference);
  if (!rate) {
    throw usageError(
      `a range in seconds needs frame times, which the reference ${shown(nameOf(reference))} does not have; give ` +
        'it in frames.',
    );
  }
  const frame = (time: number) => Math.ceil((time * rate.num) / rate.den - 1e-3);
  return { start: frame(start), ...(end !== undefined && { end: frame(end) }) };
}

function frameRateOf(side: Side): Fraction | undefined {
  return side.kind === 'frames' ? side.source.info.frameRate : side.video.facts.frameRate;
}

/** @throws {AnyvmafError} `mismatch` when not every frame has a partner at its time */
function refuseUnequal({ reference, distorted }: Sides, paired: PairedTimes): void {
  const both = `${shown(nameOf(distorted))} against ${shown(nameOf(reference))}`;
  if (reference.times && distorted.times && ratesDiffer(reference.times, distorted.times)) {
    throw unequal(
      `distorted has ${rateText(distorted.times)} frames per second but reference has ${rateText(reference.times)} ` +
        `(${both})`,
    );
  }
  const faults = [
    named(paired.missing, 'the distorted video lacks a frame for reference'),
    named(paired.repeated, 'more than one reference frame falls on distorted'),
    named(paired.dropped, 'no reference frame falls on distorted'),
  ].filter((fault) => fault !== undefined);
  if (faults.length > 0)
    throw unequal(`frames do not go together one by one (${both}): ${faults.join('; ')}`);
}

function unequal(what: string): AnyvmafError {
  return new AnyvmafError('mismatch', what, {
    hints: [
      {
        purpose: 'fix',
        option: 'frameRatePolicy',
        value: 'nearest',
        aim: 'to compare each reference frame with the distorted frame nearest in time',
      },
    ],
  });
}

function named(frames: readonly number[], what: string): string | undefined {
  if (frames.length === 0) return undefined;
  const few = frames.slice(0, 10).join(', ');
  return `${what} frame${frames.length === 1 ? '' : 's'} ${few}${frames.length > 10 ? ` and ${frames.length - 10} more` : ''}`;
}

function rateText(times: Float64Array): string {
  return `${Number((averageRate(times) ?? 0).toFixed(3))}`;
}

function describeStored(info: VideoInfo): Omit<InputPairing, 'decoder' | 'conversions'> {
  const { width, height, bitDepth, chroma, frameRate } = info;
  return { width, height, bitDepth, chroma, ...(frameRate && { frameRate }) };
}

function describeDecoded({ facts, decoder, decodedBy }: DecodedSource): Omit<InputPairing, 'conversions'> {
  const { width, height, bitDepth, chroma, codec, pixelFormat } = facts;
  return {
    decoder,
    decodedBy,
    codec,
    pixelFormat,
    ...(facts.bitrate !== null && { bitrate: facts.bitrate }),
    ...(facts.fileSize !== null && { fileSize: facts.fileSize }),
    ...(facts.duration !== null && { duration: facts.duration }),
    width,
    height,
    bitDepth,
    chroma,
    ...(facts.frameRate && { frameRate: facts.frameRate }),
  };
}

function describePairing(
  { options, format, paired }: PairingPlan,
  reference: InputPairing,
  distorted: InputPairing,
  pairs: number,
): Pairing {
  const { range, offsetConfidence, offsetState } = options;
  const { width, height, bitDepth, chroma } = format;
  return {
    reference,
    distorted,
    width,
    height,
    bitDepth,
    chroma,
    scale: options.scale,
    ...(range && { range }),
    frames: {
      policy: paired?.policy === 'nearest' ? options.frameRatePolicy : 'number',
      offset: options.offset,
      offsetRequested: options.offsetRequested,
      ...(offsetConfidence !== undefined && { offsetConfidence }),
      ...(offsetState && { offsetState }),
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
