/**
 * @module engine/inputs/few-frames
 * Opens both videos again and reads stored frames: a few for framing and matrix, the first seconds for the offset. Loaded
 * only if facts do not decide.
 */
import { AnyvmafError, type InputRole, usageError } from '../../core/errors.js';
import type { FramePlanes } from '../../core/frame.js';
import { quotientOf, USUAL_RATE } from '../../core/numbers.js';
import { shown } from '../../core/printable.js';
import { displayAspect, SAME_ASPECT } from '../../core/size.js';
import { alignThumbs, framesForWider, framesToRead } from '../../media/align/index.js';
import { type OpenedPart, RecordedThumbs } from '../../media/align/thumbs.js';
import type { TrackFacts } from '../../media/decoder.js';
import { openDecoded } from '../../media/decoders.js';
import { type Colours, matrixFitOf } from '../../media/evidence/averages.js';
import { type Framing, framingOf, type Picture } from '../../media/evidence/framing.js';
import { reopen } from '../../media/open.js';
import { factsOf, frameCountOf, nameOf, type Side, type Sides } from '../../media/pair.js';
import { framePartners, frameRatio, pairTimes } from '../../media/pairing/timeline.js';
import { type AlignResult, WIDER } from '../../media/pairing/types.js';
import type { SideMeasurements } from '../../media/preflight/findings.js';
import {
  FrameMeter,
  measuredPlanes,
  measureEncoded,
  measureLuma,
  spreadFrames,
} from '../../media/preflight/measure.js';
import { closeAll } from '../../media/sources.js';
import type { VideoInfo } from '../../media/types.js';
import type { InputContext } from '../contract/scope.js';
import { canReadAgain, whyNotAgain } from '../pair/pair.js';

/** Frames of each video to measure for borders and sharpness. */
export const MEASURED = 3;

const MOMENTS = 3;

/** A smaller difference of rows or columns may be padding of a coded size. */
const PADDED = 64;

/** Finds the part of one video that the other shows; `undefined` for equal sizes, and where scaling fits as well. */
export async function findFraming(
  context: InputContext,
  sides: Sides,
  offset: number,
): Promise<Framing | undefined> {
  const [reference, distorted] = [factsOf(sides.reference), factsOf(sides.distorted)];
  const across = Math.abs(reference.width - distorted.width);
  const down = Math.abs(reference.height - distorted.height);
  // Rotated pictures are not parts of each other.
  const turned = reference.width === distorted.height && reference.height === distorted.width;
  if (across + down === 0 || turned) return undefined;
  const oneShape = Math.abs(displayAspect(distorted) / displayAspect(reference) - 1) <= SAME_ASPECT;
  if (Math.max(across, down) >= PADDED && oneShape) return undefined;
  const picture = ({ width, height, bitDepth }: VideoInfo, { y: luma }: FramePlanes): Picture => {
    return { luma, width, height, bitDepth };
  };
  const pictures = await bothAt(context, sides, picture, offset);
  const pairs = pictures.map(([one, other]) => ({ reference: one, distorted: other }));
  return framingOf(reference, distorted, pairs);
}

/** Finds the matrix by which RGB, decoded by BT.709, matches the other video. */
export async function findMatrixOfRgb(
  context: InputContext,
  sides: Sides,
  role: InputRole,
): Promise<Required<Pick<TrackFacts, 'matrix' | 'fromRgb'>>> {
  const moments = await bothAt(context, sides, coloursOf);
  const pairs = moments.flatMap(([one, other]) => {
    if (!one || !other) return [];
    return role === 'reference' ? { reference: one, distorted: other } : { reference: other, distorted: one };
  });
  const fit = matrixFitOf(pairs);
  if (fit === 'as stored') return { matrix: 'bt709', fromRgb: 'pictures' };
  // Encoders convert by BT.601 by default.
  return { matrix: 'smpte170m', fromRgb: fit === '709 to 601' ? 'pictures' : 'assumed' };
}

/** Averages of a picture in limited range; `null` without chroma. */
function coloursOf(info: VideoInfo, planes: FramePlanes): Colours | null {
  const meter = new FrameMeter(info);
  meter.add(0, planes);
  const [y] = meter.result.squares ?? [];
  const [chroma] = meter.result.chroma ?? [];
  if (!y || !chroma) return null;
  if (info.colorRange !== 'full') return { y, ...chroma };
  const limited = (levels: Float32Array) => levels.map((level) => 128 + ((level - 128) * 224) / 255);
  return { y: y.map((level) => 16 + (level * 219) / 255), cb: limited(chroma.cb), cr: limited(chroma.cr) };
}

/**
 * Samples both videos at moments spread over the distorted one; empty if one can be read only once.
 * @param found default: the offset that was requested
 */
async function bothAt<T>(
  context: InputContext,
  { reference, distorted }: Sides,
  see: (info: VideoInfo, planes: FramePlanes) => T,
  found?: number,
): Promise<readonly (readonly [T, T])[]> {
  const { skip, pairing } = context.checked;
  const requested = pairing.offset === 'auto' ? 0 : pairing.offset;
  // Counted in frames of the reference.
  const skipped = Math.round(skip.distorted * frameRatio(reference.times, distorted.times));
  const offset = skip.reference - skipped + (found ?? requested);
  if (!canReadAgain(reference) || !canReadAgain(distorted)) return [];
  const seen: [T, T][] = [];
  try {
    for (const frame of spreadFrames(frameCountOf(distorted), MOMENTS)) {
      const partner = partnerOf(frame, reference.times, distorted.times) + offset;
      const [one, other] = await Promise.all([
        seeFrame(context, reference, partner, see),
        seeFrame(context, distorted, frame, see),
      ]);
      if (one !== undefined && other !== undefined) seen.push([one, other]);
    }
  } catch (error) {
    context.signal.throwIfAborted();
    // The run itself reports read errors.
    if (!(error instanceof AnyvmafError)) throw error;
  }
  return seen;
}

/** The reference frame that pairs with a distorted frame, counted from the first frame of each. */
function partnerOf(frame: number, reference: Float64Array | null, distorted: Float64Array | null): number {
  if (!reference || !distorted) return frame;
  const origin = { reference: 0, distorted: 0 };
  const [start, end] = [frame, frame + 1];
  return pairTimes({ reference: distorted, distorted: reference, origin, start, end }).frames[0] ?? frame;
}

/** Reads one frame, decoding from the key frame before it; `undefined` if it does not exist. */
async function seeFrame<T>(
  context: InputContext,
  side: Side,
  frame: number,
  see: (info: VideoInfo, planes: FramePlanes) => T,
): Promise<T | undefined> {
  const count = frameCountOf(side);
  if (frame < 0 || (count !== null && frame >= count)) return undefined;
  const part = await openPart(context, side, frame, frame + 1);
  if (!part) return undefined;
  const { source, start } = part;
  try {
    const planes = measuredPlanes(source.info);
    return (await source.readFrame(start, planes)) ? see(source.info, planes) : undefined;
  } finally {
    await source.close();
  }
}

/** Opens a video again to read frames [start, end); `undefined` if it can be read only once. */
export async function openPart(
  { platform, signal }: InputContext,
  side: Side,
  start: number,
  end: number,
): Promise<OpenedPart | undefined> {
  if (side.kind === 'encoded') {
    // With an end, the decoder stops even if no caller stops it.
    const source = await openDecoded(side.video, { frames: { start, end }, damage: 'accept', signal });
    return { source, start: 0 };
  }
  const { descriptor } = side.source;
  return descriptor && { source: reopen(descriptor, platform.files), start };
}

/** Measures frames spread over the first `length`; none if the video can be read only once. */
export async function measureSide(
  { platform, signal }: InputContext,
  side: Side,
  {
    count = MEASURED,
    length = frameCountOf(side),
  }: { readonly count?: number; readonly length?: number | null } = {},
): Promise<SideMeasurements> {
  if (side.kind === 'encoded') {
    const { video, times } = side;
    const rate = quotientOf(video.facts.frameRate) ?? USUAL_RATE;
    const at = spreadFrames(length, count).map((frame) => times?.[frame] ?? frame / rate);
    return measureEncoded((request) => openDecoded(video, request), video.facts, at, signal);
  }
  const { descriptor } = side.source;
  if (!descriptor) return { frames: [], sharpness: [], borders: null };
  const source = reopen(descriptor, platform.files);
  try {
    return await measureLuma(source, spreadFrames(length, Math.max(count, 5)), signal);
  } finally {
    await source.close();
  }
}

export interface AlignmentOptions {
  /** Offset to use if the result is unclear. */
  readonly assumed: number;
  /** Offsets to try in each direction. Default: that of media/align, widened while the result is unclear. */
  readonly window?: number;
}

const FEWEST_MOST = 300;

/** Most frames of each video that a search decodes. */
export function mostFrames(window = 0): number {
  return Math.max(FEWEST_MOST, 4 * window);
}

/** @throws {AnyvmafError} `usage` if a video cannot be opened again; errors of decoders */
export async function findOffset(
  context: InputContext,
  sides: Sides,
  { assumed, window }: AlignmentOptions,
): Promise<AlignResult> {
  const { checked, signal, shared } = context;
  const { skip } = checked;
  const rateRatio = frameRatio(sides.reference.times, sides.distorted.times);
  const most = mostFrames(window);
  const wider = window === undefined ? WIDER : [];
  const wanted = framesToRead(Math.max(most, ...wider.map(framesForWider)), rateRatio);
  const record = (role: InputRole, until = signal) =>
    new RecordedThumbs((first, end) =>
      openAgain({ ...context, signal: until }, sides[role], skip[role] + first, skip[role] + end),
    );
  const recorded = shared?.thumbs(checked, (until) => record('reference', until)) ?? record('reference');
  const reference = recorded.reader(wanted.reference);
  const distorted = record('distorted').reader(wanted.distorted);
  try {
    const partners = framePartners(sides.reference.times, sides.distorted.times, skip);
    const search = { rateRatio, assumed, maxFrames: most, window, signal };
    return await alignThumbs(reference, distorted, search, { partners, wider });
  } finally {
    await closeAll([reference, distorted]);
  }
}

async function openAgain(context: InputContext, side: Side, start: number, end: number): Promise<OpenedPart> {
  const part = await openPart(context, side, start, end);
  if (part) return part;
  throw usageError(
    `the offset of ${shown(nameOf(side))} cannot be found, because ${whyNotAgain(side)}; give it as a file, or set the offset.`,
  );
}
