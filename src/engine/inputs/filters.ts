/**
 * @module engine/inputs/filters
 * Applies a run's filters: chooses each video's filters and decoder, and finds the area that `crop: 'auto'` keeps. Loaded
 * only if filters are requested.
 */
import { type InputRole, usageError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import { displayAspect } from '../../core/size.js';
import { chooseDecoder } from '../../media/decoders.js';
import { deinterlacing, judgeFields } from '../../media/evidence/fields.js';
import { stepsOf } from '../../media/evidence/framing.js';
import { areaText, checkFilters, filterSide, filtersFor, isOwn } from '../../media/filters/apply.js';
import { factsOf, nameOf, type Side, type Sides } from '../../media/pair.js';
import type { CropArea, SideFilters } from '../../media/types.js';
import type { CheckedFilters } from '../contract/options.js';
import type { InputContext } from '../contract/scope.js';
import { canReadAgain, whyNotAgain } from '../pair/pair.js';
import { measureSide } from './few-frames.js';

/** Frames of each video to search for borders. */
const BORDER_FRAMES = 8;

/** Largest relative difference of equal aspect ratios. */
const SAME_SHAPE = 0.012;

/** @throws {AnyvmafError} `usage` for filters that a video or its decoder does not support */
export async function filterSides<Some extends Partial<Sides>>(
  context: InputContext,
  sides: Some,
  filters: CheckedFilters,
): Promise<Some> {
  checkFilters(filters, filters.foreign);
  const { reference, distorted } = sides;
  if (reference?.kind === 'frames' && distorted?.kind === 'frames' && reference.source === distorted.source) {
    throw usageError(
      'reference and distorted are one source of frames, which filters cannot read twice; open it twice.',
    );
  }
  const ready: { readonly role: InputRole; readonly side: Side }[] = [];
  for (const role of ['reference', 'distorted'] as const) {
    const side = sides[role];
    if (side) ready.push({ role, side: await readable(context, role, side, filters) });
  }
  const found = ready.map(({ side }) => side);
  const orders = await fieldOrders(context, filters, found);
  const areas = filters.crop ? await commonArea(context, found) : [];
  const filtered: [InputRole, Side][] = [];
  for (const [i, { role, side }] of ready.entries()) {
    const [deinterlace, crop] = [orders[i], areas[i]];
    const own = {
      ...filtersFor(role, factsOf(side), filters),
      ...(deinterlace && { deinterlace }),
      ...(crop && { crop }),
    };
    const uncropped = [...(side.applied ?? []), 'not cropped: no borders to cut off'];
    const told = filters.crop && !crop ? { ...side, applied: uncropped } : side;
    filtered.push([role, await filterSide(role, told, own, context.signal)]);
  }
  return Object.fromEntries(filtered) as Some;
}

/** Decodes a Y4M file with ffmpeg if it needs ffmpeg's filters. */
async function readable(
  { platform, checked, signal }: InputContext,
  role: InputRole,
  side: Side,
  filters: CheckedFilters,
): Promise<Side> {
  const { decoder: choice, urls } = checked.pairing;
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

/** From labels, else from pictures. @throws {AnyvmafError} `usage` if no video is interlaced */
async function fieldOrders(
  context: InputContext,
  { deinterlace }: CheckedFilters,
  sides: readonly Side[],
): Promise<readonly SideFilters['deinterlace'][]> {
  if (!deinterlace) return [];
  const labels = sides.map((side) => factsOf(side).fieldOrder ?? 'unknown');
  const measured = await Promise.all(sides.map((side) => measureSide(context, side)));
  const orders = measured.map(({ fields = [] }, i) =>
    deinterlacing(labels[i], judgeFields(fields, measured[1 - i]?.fields)),
  );
  if (orders.some((order) => order !== undefined)) return orders;
  throw usageError(
    `is set, but no video is marked as interlaced (${labels.join(', ')}), and the pictures show no fields`,
    {
      about: 'deinterlace',
      hints: (
        [
          ['vfReference', 'reference'],
          ['vfDistorted', 'distorted video'],
        ] as const
      ).map(([option, video]) => ({
        ...{ purpose: 'fix', option, value: 'bwdif=mode=send_frame' },
        aim: `if the ${video} is interlaced anyway`,
      })),
    },
  );
}

/** Borders as shares of a frame. */
type Shares = Readonly<Record<'left' | 'top' | 'right' | 'bottom', number>>;

/** Areas without borders: the union for equal shapes, else one per video; `undefined` if nothing is cut off. */
async function commonArea(context: InputContext, sides: readonly Side[]) {
  const found: Shares[] = [];
  for (const side of sides) found.push(await bordersOf(context, side));
  const [first = 1, second = first] = sides.map((side) => displayAspect(factsOf(side)));
  const alike = Math.abs(second / first - 1) <= SAME_SHAPE;
  const edges = ['left', 'top', 'right', 'bottom'] as const;
  const least = Object.fromEntries(
    edges.map((edge) => [edge, Math.min(...found.map((shares) => shares[edge]))]),
  ) as Shares;
  return sides.map((side, i) => areaWithin(side, alike ? least : (found[i] ?? least)));
}

async function bordersOf(context: InputContext, side: Side): Promise<Shares> {
  const { borders } = await measureSide(context, side, { count: BORDER_FRAMES });
  if (!borders) {
    throw usageError(
      `crop is auto, but no inspected frame of ${shown(nameOf(side))} shows its borders: ` +
        `${canReadAgain(side) ? 'they are too dark' : whyNotAgain(side)}; set cropReference and cropDistorted.`,
    );
  }
  const { left, top, right, bottom } = borders.certain;
  const { width, height } = factsOf(side);
  return { left: left / width, right: right / width, top: top / height, bottom: bottom / height };
}

/** The area without borders, rounded outwards to whole chroma samples. */
function areaWithin(side: Side, borders: Shares): CropArea | undefined {
  const { width, height, chroma } = factsOf(side);
  const steps = stepsOf(chroma);
  // 1e-6 makes the conversion from samples to shares and back exact.
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
