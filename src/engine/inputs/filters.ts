/**
 * @module engine/inputs/filters
 * Filters of both videos as a run asks for them: which of them each needs, what decodes for them, and where the picture
 * lies that `crop: 'auto'` keeps. Loaded when filters are asked for.
 */

import { usageError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import { displayAspect } from '../../core/size.js';
import { chooseDecoder } from '../../media/decoders.js';
import { deinterlacing, judgeFields } from '../../media/evidence/fields.js';
import { areaText, checkFilters, filterSide, filtersFor, isOwn, stepsOf } from '../../media/filters/apply.js';
import { factsOf, nameOf, type Side, type Sides } from '../../media/pairing/prepare.js';
import type { CropArea, SideFilters } from '../../media/types.js';
import type { CheckedFilters, CheckedPairing } from '../contract/options.js';
import type { Platform } from '../contract/platform.js';
import { measure } from './preflight.js';

/** Frames of each video in which borders are looked for. */
const LOOKED_AT = 8;

/** Largest relative difference of frames of one shape. */
const SAME_SHAPE = 0.012;

type Role = 'reference' | 'distorted';

/**
 * Both sides with their filters.
 * @throws {AnyvmafError} `usage` for filters that a video or what decodes it cannot have
 */
export async function filterSides(
  platform: Platform,
  sides: Sides,
  pairing: CheckedPairing,
  signal: AbortSignal,
): Promise<Sides> {
  const filters = required(pairing);
  const { reference: a, distorted: b } = sides;
  if (a.kind === 'frames' && b.kind === 'frames' && a.source === b.source) {
    throw usageError(
      'reference and distorted are one source of frames, which filters cannot read twice; open it twice.',
    );
  }
  const reference = await prepared(platform, 'reference', sides.reference, pairing, signal);
  const distorted = await prepared(platform, 'distorted', sides.distorted, pairing, signal);
  const orders = await fieldOrders(platform, filters, [reference, distorted], signal);
  const areas = filters.crop ? await commonArea(platform, [reference, distorted], signal) : [];
  const filtered = async (role: Role, side: Side, area: CropArea | undefined) =>
    filterSide(
      {
        role,
        side: said(side, filters, area),
        filters: filtersWith(role, side, filters, area, orders[role === 'reference' ? 0 : 1]),
      },
      signal,
    );
  return {
    reference: await filtered('reference', reference, areas[0]),
    distorted: await filtered('distorted', distorted, areas[1]),
  };
}

/** As {@link filterSides}, of a video without a reference. */
export async function filterAlone(
  platform: Platform,
  side: Side,
  pairing: CheckedPairing,
  signal: AbortSignal,
): Promise<Side> {
  const filters = required(pairing);
  const ready = await prepared(platform, 'distorted', side, pairing, signal);
  const [order] = await fieldOrders(platform, filters, [ready], signal);
  const area = filters.crop ? (await commonArea(platform, [ready], signal))[0] : undefined;
  return filterSide(
    {
      role: 'distorted',
      side: said(ready, filters, area),
      filters: filtersWith('distorted', ready, filters, area, order),
    },
    signal,
  );
}

/** A picture, or several, in limited range. Their matrix stays, as that of videos does. */
export function filterPicture(role: Role, side: Side, signal: AbortSignal): Promise<Side> {
  if (side.kind !== 'encoded') return Promise.resolve(side);
  const filters = filtersFor(role, side.video.facts, { colorRange: 'limited' });
  return filterSide({ role, side, filters }, signal);
}

function required({ filters }: CheckedPairing): CheckedFilters {
  if (!filters) throw new Error('no filters are asked for');
  checkFilters(filters, filters.foreign);
  return filters;
}

function filtersWith(
  role: Role,
  side: Side,
  filters: CheckedFilters,
  area: CropArea | undefined,
  deinterlace: SideFilters['deinterlace'],
): SideFilters {
  const named = filtersFor(role, factsOf(side), filters);
  return { ...named, ...(deinterlace && { deinterlace }), ...(area && { crop: area }) };
}

/** Says where `crop: 'auto'` found nothing to cut off. */
function said(side: Side, { crop }: CheckedFilters, area: CropArea | undefined): Side {
  return crop && !area ? { ...side, applied: ['not cropped: no borders to cut off'] } : side;
}

/** A Y4M file that needs filters of ffmpeg is read by ffmpeg. */
async function prepared(
  platform: Platform,
  role: Role,
  side: Side,
  { filters = { foreign: true }, decoder: choice, urls }: CheckedPairing,
  signal: AbortSignal,
): Promise<Side> {
  if (side.kind !== 'frames') return side;
  const { info, descriptor } = side.source;
  const needed = filters.deinterlace === true || !isOwn(info, filtersFor(role, info, filters));
  if (!needed || info.container !== 'y4m' || descriptor?.kind !== 'file') return side;
  if (choice !== 'auto' && choice !== 'ffmpeg') return side;
  const decoders = (await platform.decoders({ urls: urls === true })).filter(
    ({ withFilters }) => withFilters,
  );
  if (decoders.length === 0) return side;
  const input = { kind: 'encoded', name: info.name, input: descriptor.path, looksLike: 'Y4M' } as const;
  const video = await chooseDecoder(input, { choice, decoders, signal });
  await side.source.close();
  return { kind: 'encoded', video: { ...video, others: [] }, times: side.times };
}

/**
 * How to deinterlace each video: by its label, or by its pictures where they show what it does not say.
 * @throws {AnyvmafError} `usage` if no video is interlaced
 */
async function fieldOrders(
  platform: Platform,
  { deinterlace }: CheckedFilters,
  sides: readonly Side[],
  signal: AbortSignal,
): Promise<readonly SideFilters['deinterlace'][]> {
  if (!deinterlace) return [];
  const labels = sides.map((side) => factsOf(side).fieldOrder ?? 'unknown');
  const measured = await Promise.all(sides.map((side) => measure(platform, side, signal)));
  const orders = measured.map(({ fields = [] }, i) =>
    deinterlacing(labels[i], judgeFields(fields, measured[1 - i]?.fields)),
  );
  if (orders.some((order) => order !== undefined)) return orders;
  throw usageError(
    `is asked for, but no video is marked as interlaced (${labels.join(', ')}), and the pictures show no fields; if one is even so`,
    {
      about: 'deinterlace',
      hints: (['vfReference', 'vfDistorted'] as const).map((option) => ({
        ...{ purpose: 'fix', option, value: 'bwdif=mode=send_frame' },
      })),
    },
  );
}

/** Borders as shares of a frame. */
type Shares = Readonly<Record<'left' | 'top' | 'right' | 'bottom', number>>;

/**
 * Where the pictures of videos lie: of frames of one shape, what any of them shows; otherwise each its own.
 * @returns `undefined` for a video of which nothing is cut off
 */
async function commonArea(
  platform: Platform,
  sides: readonly Side[],
  signal: AbortSignal,
): Promise<readonly (CropArea | undefined)[]> {
  const found: Shares[] = [];
  for (const side of sides) found.push(await bordersOf(platform, side, signal));
  const shapes = sides.map((side) => shapeOf(side));
  const [first = 1, second = first] = shapes;
  const alike = Math.abs(second / first - 1) <= SAME_SHAPE;
  const edges = ['left', 'top', 'right', 'bottom'] as const;
  const least = Object.fromEntries(
    edges.map((edge) => [edge, Math.min(...found.map((shares) => shares[edge]))]),
  ) as Shares;
  return sides.map((side, i) => areaWithin(side, alike ? least : (found[i] ?? least)));
}

/** Width over height, as shown. */
function shapeOf(side: Side): number {
  return displayAspect(factsOf(side));
}

async function bordersOf(platform: Platform, side: Side, signal: AbortSignal): Promise<Shares> {
  const { borders } = await measure(platform, side, signal, { count: LOOKED_AT });
  if (!borders) {
    throw usageError(
      `crop is auto, but no frame of ${shown(nameOf(side))} that was looked at shows where its picture ends: they are too ` +
        'dark, or it can be read only once; give cropReference and cropDistorted.',
    );
  }
  const { left, top, right, bottom } = borders.certain;
  const { width, height } = factsOf(side);
  return { left: left / width, right: right / width, top: top / height, bottom: bottom / height };
}

/** The area without borders; their ends are rounded so that all of the picture stays, or chroma's samples are not cut. */
function areaWithin(side: Side, borders: Shares): CropArea | undefined {
  const { width, height, chroma } = factsOf(side);
  const steps = stepsOf(chroma);
  // Shares come back as the very samples they were made of.
  const samples = (share: number, all: number) => Math.floor(share * all + 1e-6);
  const start = (border: number, step: number) => Math.floor(border / step) * step;
  const x = start(samples(borders.left, width), steps.x);
  const y = start(samples(borders.top, height), steps.y);
  const across = width - x - samples(borders.right, width);
  const down = height - y - samples(borders.bottom, height);
  const area = {
    width: Math.min(width - x, Math.ceil(across / steps.x) * steps.x),
    height: Math.min(height - y, Math.ceil(down / steps.y) * steps.y),
    x,
    y,
  };
  return areaText(area) === areaText({ width, height, x: 0, y: 0 }) ? undefined : area;
}
