/**
 * @module engine/pair/known
 * Two inputs of a run: facts known before they are open for scoring, and the report's description of each.
 */
import type { KnownColour, ScoredFormat } from '../../core/colour.js';
import type { VideoFormat } from '../../core/frame.js';
import { quotientOf } from '../../core/rational.js';
import type { AlignResult } from '../../media/align/types.js';
import type { Framing } from '../../media/evidence/framing.js';
import { factsOf, type PairingPlan, type Side, type Sides } from '../../media/pairing/prepare.js';
import type { Pairing } from '../../media/pairing/types.js';
import type { Finding } from '../../media/preflight/types.js';
import type { ReportInput } from '../../report/types.js';
import type { OpenPair } from './pair.js';

/** Colours of both videos. */
export interface KnownColours {
  readonly reference: KnownColour;
  readonly distorted: KnownColour;
  /** Both are a single picture, which has no place in time. */
  readonly stills: boolean;
}

/** Two identified inputs, not yet open for scoring. */
export interface KnownInputs {
  readonly sides: Sides;
  /** From opening what is not encoded. */
  readonly warnings: readonly string[];
  /** Absent if frames are compared as stored, by number. */
  readonly plan?: PairingPlan;
  /** Findings from the bytes of both: equal files, and wrong geometry of raw video. */
  readonly ofBytes?: readonly Finding[];
  /** What pixels say of videos whose sizes differ: that one shows a part of the other. */
  readonly framing?: Framing;
  /** Where metrics of colour are measured. */
  readonly colours?: KnownColours;
  /** Set if samples were converted that metrics of colour read as they are. */
  readonly apart?: true;
  /** Result of the offset search, if requested. */
  readonly alignment?: AlignResult;
}

/** A pair ready to be measured. */
export interface ReadyInputs extends OpenPair {
  /** Most pairs, `Infinity` for all. */
  readonly limit: number;
  /** Conversions of the frames, if any. */
  describe?(pairs: number): Pairing;
}

/** The format in which the pair is measured. */
export function formatOf({ plan, sides: { reference } }: KnownInputs): VideoFormat {
  if (plan) return plan.format;
  if (reference.kind !== 'frames') throw new Error('a plan is needed to decode');
  return reference.source.info;
}

/** What metrics of colour and time take into account. Two single pictures have no rate. */
export function lightOf({ plan, sides, colours }: KnownInputs): Pick<ScoredFormat, 'frameRate' | 'colours'> {
  const first = sides[plan?.options.asked.pairBy ?? 'reference'];
  // Raw video states none.
  const frameRate = [first, sides.reference, sides.distorted]
    .map((side) => factsOf(side).frameRate)
    .find((rate) => quotientOf(rate) !== undefined);
  return {
    ...(frameRate && !colours?.stills && { frameRate }),
    ...(colours && { colours: { reference: colours.reference, distorted: colours.distorted } }),
  };
}

/** Closes inputs that `identifyInputs` left open. */
export async function closeKnown({ sides }: KnownInputs): Promise<void> {
  for (const side of [sides.reference, sides.distorted]) {
    if (side.kind === 'frames') await side.source.close();
  }
}

/**
 * The report's description of one input.
 * @param skipped frames before the first that is scored
 * @param colour as metrics of colour take it, if there are any
 */
export function reportInput(side: Side, skipped: number, colour?: KnownColour): ReportInput {
  const info = factsOf(side);
  const { name, container, width, height, bitDepth, chroma, frameRate } = info;
  const fileSize = side.kind === 'frames' ? side.source.info.fileSize : null;
  const frameCount = side.times?.length ?? info.frameCount;
  return {
    name,
    container,
    width,
    height,
    bitDepth,
    chroma,
    frameCount,
    skipped,
    ...(frameRate && { frameRate }),
    ...(typeof fileSize === 'number' && { fileSize }),
    ...(colour && { colour }),
  };
}

/** Whether the first frames of a side can be read without disturbing its other readers. */
export function canReadAgain(side: Side): boolean {
  return side.kind === 'encoded' || side.source.descriptor !== undefined;
}
