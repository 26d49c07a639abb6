/**
 * @module engine/inputs/pictures
 * The pictures of both videos as metrics read them: filtered, in one range and by one matrix, or as they are stored; and what
 * the videos say of their colours, for the metrics of colour, and what had to be guessed.
 */

import type { ColourAs } from '../../core/choices.js';
import { colourAs, colourOf, type KnownColour, type StatedColour } from '../../core/colour.js';
import { type InputRole, usageError } from '../../core/errors.js';
import type { FilterOptions } from '../../core/options.js';
import { shown } from '../../core/printable.js';
import type { EncodedVideo } from '../../media/decoders.js';
import {
  convertsBy,
  type Delivery,
  delivery,
  deliveryPhrases,
  hasAlpha,
  isRgb as isRgbLayout,
} from '../../media/delivery.js';
import {
  factsOf,
  frameCountOf,
  nameOf,
  type PairingPlan,
  type Side,
  type Sides,
} from '../../media/pairing/prepare.js';
import { readsStored } from '../contract/options.js';
import type { KnownColours } from '../pair/pair.js';
import type { InputContext } from './context.js';

/** The videos with the pictures that metrics read, and whether metrics of colour need others than the rest. */
export async function asRead(
  context: InputContext,
  identified: Sides,
): Promise<{ readonly sides: Sides; readonly apart: boolean }> {
  const { colours, pairing } = context.checked;
  const asStored = colours !== 'no' && readsStored(pairing.filters);
  const asPng = pairing.colourAs === 'libjxl';
  const keeps = asStored && colours === 'only';
  const found = keeps
    ? keepRgb(identified)
    : await oneMatrix(context, await oneRange(identified, context.signal));
  const filters =
    keeps && asPng ? { foreign: false, ...pairing.filters, ...pngFilters(identified) } : pairing.filters;
  const filtered = filters && (await (await import('./filters.js')).filterSides(context, found, filters));
  const sides = filtered && keeps ? keepRgb(filtered) : (filtered ?? found);
  const converted = asStored && (asPng || anyKept(identified) || differ(found, identified));
  return { sides, apart: colours === 'also' && (converted || areUnlike(identified)) };
}

function differ(some: Sides, others: Sides): boolean {
  return some.reference !== others.reference || some.distorted !== others.distorted;
}

/** Whether a common format by shifts and repetition is not what metrics of colour need. */
function areUnlike({ reference, distorted }: Sides): boolean {
  const [one, other] = [reference, distorted].map(factsOf);
  const full = one?.colorRange === 'full' || other?.colorRange === 'full';
  return one?.chroma !== other?.chroma || (full && one?.bitDepth !== other?.bitDepth);
}

/** Pictures have the limited range of most videos; beside a video that states full range they stay as they are. */
async function oneRange({ reference, distorted }: Sides, signal: AbortSignal): Promise<Sides> {
  const isFull = (side: Side) => !isPicture(side) && factsOf(side).colorRange === 'full';
  if (isFull(reference) || isFull(distorted)) return { reference, distorted };
  return {
    reference: await limitedPicture('reference', reference, signal),
    distorted: await limitedPicture('distorted', distorted, signal),
  };
}

/** A picture in limited range, its matrix as that of videos; a video as it is. */
export async function limitedPicture(role: InputRole, side: Side, signal: AbortSignal): Promise<Side> {
  if (!isPicture(side)) return side;
  const { filtersFor, filterSide } = await import('../../media/filters/apply.js');
  return filterSide(role, side, filtersFor(role, factsOf(side), { colorRange: 'limited' }), signal);
}

/** Where one of the two is RGB, it becomes luma and chroma by the matrix of the other. */
async function oneMatrix(context: InputContext, sides: Sides): Promise<Sides> {
  const roles = (['reference', 'distorted'] as const).filter((role) => isRgb(sides[role]));
  const [role] = roles;
  if (role === undefined || roles.length > 1) return sides;
  const side = sides[role];
  const other = sides[role === 'reference' ? 'distorted' : 'reference'];
  const stated = other.kind === 'encoded' ? other.video.facts.matrix : undefined;
  if (side.kind !== 'encoded') return sides;
  const found = convertsBy(stated)
    ? ({ matrix: stated, fromRgb: 'stated' } as const)
    : await (await import('./few-frames.js')).findMatrixOfRgb(context, sides, role);
  const video = { ...side.video, facts: { ...side.video.facts, ...found } };
  const applied = deliveryPhrases(video.facts.pixelFormat, deliveryOf(video));
  return { ...sides, [role]: { ...side, video: { ...video, filters: applied.join('; ') }, applied } };
}

/** Whether a video is a picture, or several, as cameras and programs for drawing write them. */
function isPicture(side: Side): boolean {
  if (side.kind !== 'encoded') return false;
  const { container, name } = side.video.facts;
  return /_pipe\b|^image2|^gif\b|^apng\b/.test(container) || /\.avifs?$/i.test(name);
}

/** RGB stays RGB, and alpha stays, where only metrics of colour read them. */
function keepRgb({ reference, distorted }: Sides): Sides {
  const keep = (side: Side): Side => {
    if (!isKept(side)) return side;
    const { alpha: _, ...stored } = side.video.facts;
    const { pixelFormat } = stored;
    // Grey with alpha too, which ffmpeg makes RGB.
    const asRgb = isRgbLayout(pixelFormat) || stored.chroma === '400';
    const rgb = asRgb && ({ matrix: 'gbr', colorRange: 'full' } as const);
    const asked = { ...side.video, facts: { ...stored, ...rgb, alpha: true as const } };
    const { alpha, chroma } = deliveryOf(asked);
    const converted = deliveryPhrases(pixelFormat, deliveryOf(side.video));
    const facts = { ...stored, ...rgb, chroma, ...(alpha && { alpha }) };
    return {
      ...side,
      video: { ...side.video, facts },
      applied: (side.applied ?? []).filter((phrase) => !converted.includes(phrase)),
    };
  };
  return { reference: keep(reference), distorted: keep(distorted) };
}

/** Whether samples of a video that other metrics do not read are kept: R, G and B, or alpha where ffmpeg decodes. */
function isKept(side: Side): side is Side & { readonly kind: 'encoded' } {
  if (side.kind !== 'encoded') return false;
  const { decoder, facts } = side.video;
  return isRgbLayout(facts.pixelFormat) || (decoder.id !== 'mediabunny' && hasAlpha(facts.pixelFormat));
}

/** Whether a video is RGB. */
function isRgb(side: Side): boolean {
  return side.kind === 'encoded' && deliveryOf(side.video).fromRgb !== undefined;
}

/** Whether metrics of colour read other samples of one of the two than the rest. */
function anyKept({ reference, distorted }: Sides): boolean {
  return isKept(reference) || isKept(distorted);
}

/** The planes in which the samples of a video are delivered. */
export function deliveryOf({ facts }: EncodedVideo): Delivery {
  return delivery(facts.pixelFormat, 0, facts.name, facts);
}

/** Filters by which ffmpeg makes RGB of a video for a PNG file, where it is not RGB already. */
function pngFilters({ reference, distorted }: Sides): FilterOptions {
  const rgb = (side: Side) => {
    const [plain, deep] = isKept(side) ? ['rgba', 'rgba64le'] : ['rgb24', 'rgb48le'];
    return `format=${factsOf(side).bitDepth > 8 ? deep : plain}`;
  };
  return {
    ...(!isRgb(reference) && { vfReference: rgb(reference) }),
    ...(!isRgb(distorted) && { vfDistorted: rgb(distorted) }),
  };
}

/**
 * The colours of both sides.
 * @param plan absent if frames are compared as stored
 * @param known the colour of both, where files do not state that of what they were made of
 * @param as the tool whose conversion is repeated
 * @throws {AnyvmafError} `usage` if that of the tool is not known
 */
export function coloursOf(
  { reference, distorted }: Sides,
  plan?: PairingPlan,
  known?: KnownColour,
  as?: ColourAs,
): KnownColours {
  const stills = [reference, distorted].every((side) => frameCountOf(side) === 1);
  if (as !== undefined && !known)
    return { reference: colourFor(as, reference), distorted: colourFor(as, distorted), stills };
  const [one, other] = [known ?? colourOfSide(reference, plan), known ?? colourOfSide(distorted, plan)];
  return {
    reference: following(one, other, distorted),
    distorted: following(other, one, reference),
    stills,
  };
}

function colourFor(as: ColourAs, side: Side): KnownColour {
  const facts: StatedColour = factsOf(side);
  const found = colourAs(as, facts);
  if (found) return found;
  throw usageError(
    `is vship, but ${shown(nameOf(side))} has the primaries ${facts.primaries}, which Vship refuses or shows by another ` +
      'white than D65. Leave it out.',
    { about: 'colourAs' },
  );
}

/** What samples of each chroma format depend on. */
const PARTS = {
  '400': ['transfer'],
  '420': ['transfer', 'matrix', 'siting'],
  '422': ['transfer', 'matrix', 'siting'],
  '444': ['transfer', 'matrix'],
} as const;

/** A colour whose guesses are what the other video states: mostly one was made of the other. */
function following(colour: KnownColour, other: KnownColour, side: Side): KnownColour {
  const stated = PARTS[factsOf(side).chroma].filter(
    (part) => colour.guessed.includes(part) && !other.guessed.includes(part),
  );
  const told = stated.map((part) => [part, other[part]] as const);
  return { ...colour, ...Object.fromEntries(told.filter(([, value]) => value !== 'gbr')) };
}

function colourOfSide(side: Side, plan: PairingPlan | undefined): KnownColour {
  const facts: StatedColour = factsOf(side);
  const colour = colourOf(facts);
  const { chroma } = facts;
  const repeated = plan && !plan.options.light && chroma !== '400' && chroma !== plan.format.chroma;
  return repeated ? { ...colour, upsampling: 'nearest' } : colour;
}
