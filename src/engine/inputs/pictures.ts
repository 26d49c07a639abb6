/**
 * @module engine/inputs/pictures
 * Prepares the pictures of both videos for metrics: filtered, in one range and matrix, or as stored. Finds their colours for
 * colour metrics, stated or guessed.
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
import { factsOf, frameCountOf, nameOf, type Side, type Sides } from '../../media/pair.js';
import type { PairingPlan } from '../../media/pairing/prepare.js';
import { readsStored } from '../contract/options.js';
import type { InputContext } from '../contract/scope.js';
import type { KnownColours } from '../pair/pair.js';

/** Returns the videos as metrics read them, and whether colour metrics need a separate pass. */
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
  const { reference, distorted } = identified;
  const changed = found.reference !== reference || found.distorted !== distorted;
  const converted = asStored && (asPng || [reference, distorted].some(isKept) || changed);
  return { sides, apart: colours === 'also' && (converted || areUnlike(identified)) };
}

/** Whether a common format, made by shifts and repetition, would distort colour metrics. */
function areUnlike({ reference, distorted }: Sides): boolean {
  const [one, other] = [reference, distorted].map(factsOf);
  const full = one?.colorRange === 'full' || other?.colorRange === 'full';
  return one?.chroma !== other?.chroma || (full && one?.bitDepth !== other?.bitDepth);
}

/** Converts pictures to limited range, the range of most videos, unless a video declares full range. */
async function oneRange({ reference, distorted }: Sides, signal: AbortSignal): Promise<Sides> {
  const isFull = (side: Side) => !isPicture(side) && factsOf(side).colorRange === 'full';
  if (isFull(reference) || isFull(distorted)) return { reference, distorted };
  return {
    reference: await limitedPicture('reference', reference, signal),
    distorted: await limitedPicture('distorted', distorted, signal),
  };
}

/** Converts a picture to limited range and the matrix of videos; returns videos unchanged. */
export async function limitedPicture(role: InputRole, side: Side, signal: AbortSignal): Promise<Side> {
  if (!isPicture(side)) return side;
  const { filtersFor, filterSide } = await import('../../media/filters/apply.js');
  return filterSide(role, side, filtersFor(role, factsOf(side), { colorRange: 'limited' }), signal);
}

/** If only one video is RGB, converts it by the matrix of the other. */
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

/** Whether a video is a still image or an image sequence. */
function isPicture(side: Side): boolean {
  if (side.kind !== 'encoded') return false;
  const { container, name } = side.video.facts;
  // Names of signed URLs end in `?...`.
  return /_pipe\b|^image2|^gif\b|^apng\b/.test(container) || /\.avifs?(?:\?\.\.\.)?$/i.test(name);
}

/** Keeps RGB and alpha, for runs of colour metrics only. */
function keepRgb({ reference, distorted }: Sides): Sides {
  const keep = (side: Side): Side => {
    if (!isKept(side)) return side;
    const { alpha: _, ...stored } = side.video.facts;
    const { pixelFormat } = stored;
    // ffmpeg also turns grey with alpha into RGB.
    const asRgb = isRgbLayout(pixelFormat) || stored.chroma === '400';
    const rgb = asRgb && ({ matrix: 'gbr', colorRange: 'full' } as const);
    const withAlpha = { ...side.video, facts: { ...stored, ...rgb, alpha: true as const } };
    const { alpha, chroma } = deliveryOf(withAlpha);
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

/** Whether a video has samples that only colour metrics read: RGB, or alpha if ffmpeg decodes. */
function isKept(side: Side): side is Side & { readonly kind: 'encoded' } {
  if (side.kind !== 'encoded') return false;
  const { decoder, facts } = side.video;
  return isRgbLayout(facts.pixelFormat) || (decoder.id !== 'mediabunny' && hasAlpha(facts.pixelFormat));
}

function isRgb(side: Side): boolean {
  return side.kind === 'encoded' && deliveryOf(side.video).fromRgb !== undefined;
}

export function deliveryOf({ facts }: EncodedVideo): Delivery {
  return delivery(facts.pixelFormat, 0, facts.name, facts);
}

/** ffmpeg filters that produce the RGB of a PNG file, for other videos than RGB. */
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
 * @param plan absent if frames are compared as stored
 * @param known colour of both; overrides their files' declarations
 * @param as the tool whose conversion to reproduce
 * @throws {AnyvmafError} `usage` if the tool does not convert these colours
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
  return { reference: following(one, other, distorted), distorted: following(other, one, reference), stills };
}

function colourFor(as: ColourAs, side: Side): KnownColour {
  const facts: StatedColour = factsOf(side);
  const found = colourAs(as, facts);
  if (found) return found;
  throw usageError(
    `is vship, but ${shown(nameOf(side))} has the primaries ${facts.primaries}, which Vship refuses or shows with a ` +
      'white point other than D65; leave it out.',
    { about: 'colourAs' },
  );
}

/** Colour properties that the samples of each chroma format depend on. */
const PARTS = {
  '400': ['transfer'],
  '420': ['transfer', 'matrix', 'siting'],
  '422': ['transfer', 'matrix', 'siting'],
  '444': ['transfer', 'matrix'],
} as const;

/** Replaces guesses with the other video's stated values: usually one was made from the other. */
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
