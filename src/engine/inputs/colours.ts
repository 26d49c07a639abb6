/**
 * @module engine/inputs/colours
 * What the two videos say of their colours, for the metrics of colour, and what had to be guessed.
 */
import { colourOf, type KnownColour, type StatedColour } from '../../core/colour.js';
import type { EncodedVideo } from '../../media/decoders.js';
import { type Delivery, delivery } from '../../media/delivery.js';
import type { FilterOptions } from '../../media/filter-types.js';
import type { PairingPlan, Side, Sides } from '../../media/pairing/prepare.js';

/** Colours of both videos. */
export interface KnownColours {
  readonly reference: KnownColour;
  readonly distorted: KnownColour;
  /** Both are a single picture, which has no place in time. */
  readonly stills: boolean;
}

/**
 * The colours of both sides.
 * @param plan absent if frames are compared as stored
 * @param known the colour of both, where files do not state that of what they were made of
 */
export function coloursOf(
  { reference, distorted }: Sides,
  plan?: PairingPlan,
  known?: KnownColour,
): KnownColours {
  return {
    reference: known ?? colourOfSide(reference, plan),
    distorted: known ?? colourOfSide(distorted, plan),
    stills: [reference, distorted].every((side) => frameCountOf(side) === 1),
  };
}

function frameCountOf(side: Side): number | null {
  return side.times?.length ?? (side.kind === 'frames' ? side.source.info : side.video.facts).frameCount;
}

function colourOfSide(side: Side, plan: PairingPlan | undefined): KnownColour {
  const facts: StatedColour = side.kind === 'frames' ? side.source.info : side.video.facts;
  const colour = colourOf(facts);
  const { chroma } = facts;
  const repeated = plan && !plan.options.light && chroma !== '400' && chroma !== plan.format.chroma;
  return repeated ? { ...colour, upsampling: 'nearest' } : colour;
}

/**
 * Whether metrics of colour read samples as they are stored: not where the caller asks for others.
 * @param filters asked for
 */
export function readsStored(filters: FilterOptions = {}): boolean {
  const { vfReference, vfDistorted, colorRange, matrix, pixelFormat } = filters;
  return (vfReference ?? vfDistorted ?? colorRange ?? matrix ?? pixelFormat) === undefined;
}

/** RGB stays RGB where only metrics of colour read it. */
export function keepRgb({ reference, distorted }: Sides): Sides {
  const keep = (side: Side): Side => {
    if (side.kind !== 'encoded' || !isRgb(side)) return side;
    const { facts } = side.video;
    return {
      ...side,
      video: { ...side.video, facts: { ...facts, matrix: 'gbr', colorRange: 'full' } },
      applied: [],
    };
  };
  return { reference: keep(reference), distorted: keep(distorted) };
}

/** Whether a video is RGB. */
export function isRgb(side: Side): boolean {
  return side.kind === 'encoded' && deliveryOf(side.video).fromRgb !== undefined;
}

/** Whether one of the two is RGB. */
export function anyRgb({ reference, distorted }: Sides): boolean {
  return isRgb(reference) || isRgb(distorted);
}

/** The planes in which the samples of a video are delivered. */
export function deliveryOf({ facts: { pixelFormat, name, matrix } }: EncodedVideo): Delivery {
  return delivery(pixelFormat, 0, name, true, matrix);
}
