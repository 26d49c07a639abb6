/**
 * @module engine/inputs/few-frames
 * Looks at a few moments of both videos as they are stored, before anything is scaled or paired, and asks what they tell.
 * Loaded where facts alone do not decide.
 */

import { AnyvmafError } from '../../core/errors.js';
import type { FramePlanes } from '../../core/frame.js';
import { displayAspect, SAME_ASPECT } from '../../core/size.js';
import type { TrackFacts } from '../../media/decoder.js';
import { openDecoded } from '../../media/decoders.js';
import { type Framing, framingOf, type Picture } from '../../media/evidence/framing.js';
import { type Colours, matrixFitOf } from '../../media/evidence/matrix.js';
import { reopen } from '../../media/open.js';
import { factsOf, type Side, type Sides } from '../../media/pairing/prepare.js';
import { pairTimes } from '../../media/pairing/timeline.js';
import { FrameMeter, measuredPlanes, spreadFrames } from '../../media/preflight/measure.js';
import type { FrameSource, VideoInfo } from '../../media/types.js';
import type { Platform } from '../contract/platform.js';
import { canReadAgain } from '../pair/pair.js';

/** Moments to look at. */
const MOMENTS = 3;

/** Difference of rows or columns below which a coded size may be padded. */
const PADDED = 64;

/** Which pair to look at. */
export interface Look {
  readonly platform: Platform;
  readonly sides: Sides;
  /** Distorted frame n pairs with reference frame n + offset. */
  readonly offset: number;
  readonly signal: AbortSignal;
}

/** The part that one video shows of the other; `undefined` for pictures of one size, and where scaling fits as well. */
export async function findFraming(look: Look): Promise<Framing | undefined> {
  const { sides } = look;
  const [reference, distorted] = [factsOf(sides.reference), factsOf(sides.distorted)];
  const [across, down] = [
    Math.abs(reference.width - distorted.width),
    Math.abs(reference.height - distorted.height),
  ];
  // Pictures on their side are no part of each other.
  const turned = reference.width === distorted.height && reference.height === distorted.width;
  if (across + down === 0 || turned) return undefined;
  const oneShape = Math.abs(displayAspect(distorted) / displayAspect(reference) - 1) <= SAME_ASPECT;
  if (Math.max(across, down) >= PADDED && oneShape) return undefined;
  const pictures = await bothAt(look, ({ width, height, bitDepth }, { y: luma }): Picture => {
    return { luma, width, height, bitDepth };
  });
  const pairs = pictures.map(([one, other]) => ({ reference: one, distorted: other }));
  return framingOf(reference, distorted, pairs);
}

/** By which matrix RGB, which is decoded by BT.709, becomes what the other video shows. */
export async function findMatrixOfRgb(
  look: Look,
  role: 'reference' | 'distorted',
): Promise<Required<Pick<TrackFacts, 'matrix' | 'fromRgb'>>> {
  const moments = await bothAt(look, coloursOf);
  const pairs = moments.flatMap(([one, other]) => {
    if (!one || !other) return [];
    return role === 'reference' ? { reference: one, distorted: other } : { reference: other, distorted: one };
  });
  const fit = matrixFitOf(pairs);
  if (fit === 'as stored') return { matrix: 'bt709', fromRgb: 'pictures' };
  // Encoders that are not told otherwise convert by BT.601.
  return { matrix: 'smpte170m', fromRgb: fit === '709 to 601' ? 'pictures' : 'assumed' };
}

/** Averages of a picture, in limited range; `null` without chroma. */
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

/** What is seen in both videos at moments spread over the distorted one; nothing of those that cannot be read again. */
async function bothAt<T>(
  { platform, sides: { reference, distorted }, offset, signal }: Look,
  see: (info: VideoInfo, planes: FramePlanes) => T,
): Promise<readonly (readonly [T, T])[]> {
  if (!canReadAgain(reference) || !canReadAgain(distorted)) return [];
  const count = distorted.times?.length ?? factsOf(distorted).frameCount;
  const seen: [T, T][] = [];
  try {
    for (const frame of spreadFrames(count, MOMENTS)) {
      const partner = partnerOf(frame, reference.times, distorted.times) + offset;
      const [one, other] = await Promise.all([
        seeFrame(platform, reference, partner, see, signal),
        seeFrame(platform, distorted, frame, see, signal),
      ]);
      if (one !== undefined && other !== undefined) seen.push([one, other]);
    }
  } catch (error) {
    signal.throwIfAborted();
    // The run itself reports what cannot be read.
    if (!(error instanceof AnyvmafError)) throw error;
  }
  return seen;
}

/** The frame of the reference with which a frame of the distorted video pairs, both from their first frames on. */
function partnerOf(frame: number, reference: Float64Array | null, distorted: Float64Array | null): number {
  if (!reference || !distorted) return frame;
  const origin = { reference: 0, distorted: 0 };
  const [start, end] = [frame, frame + 1];
  return pairTimes({ reference: distorted, distorted: reference, origin, start, end }).frames[0] ?? frame;
}

/** One frame, from the key frame before it; `undefined` where there is none. */
async function seeFrame<T>(
  platform: Platform,
  side: Side,
  frame: number,
  see: (info: VideoInfo, planes: FramePlanes) => T,
  signal: AbortSignal,
): Promise<T | undefined> {
  const count = side.times?.length ?? factsOf(side).frameCount;
  if (frame < 0 || (count !== null && frame >= count)) return undefined;
  const source = await openAt(platform, side, frame, signal);
  if (!source) return undefined;
  try {
    const planes = measuredPlanes(source.info);
    const index = side.kind === 'encoded' ? 0 : frame;
    return (await source.readFrame(index, planes)) ? see(source.info, planes) : undefined;
  } finally {
    await source.close();
  }
}

async function openAt(
  platform: Platform,
  side: Side,
  frame: number,
  signal: AbortSignal,
): Promise<FrameSource | undefined> {
  if (side.kind === 'encoded') {
    return openDecoded(side.video, { frames: { start: frame, end: frame + 1 }, damage: 'accept', signal });
  }
  const { descriptor } = side.source;
  return descriptor && reopen(descriptor, platform.files);
}
