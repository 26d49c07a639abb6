/**
 * @module media/preflight/geometry
 * Findings about the shape of pictures: size, aspect, rotation, crop and black borders. Small squares of both videos tell which
 * way one is rotated, and whether bars hide or frame the picture.
 */

import type { Hint } from '../../core/errors.js';
import { fractionText, quotientOf } from '../../core/numbers.js';
import { displayAspect, formatSize, SAME_ASPECT } from '../../core/size.js';
import { correlation, mean } from '../evidence/averages.js';
import { type Framing, zoomOf } from '../evidence/framing.js';
import {
  type Borders,
  type Finding,
  filterFiles,
  finding,
  nearbyFraction,
  otherRole,
  type PreflightContext,
  type Role,
  rounded,
  type SideFacts,
  type SideMeasurements,
  showSameMoment,
} from './findings.js';
import { EDGES, forEdges, lengthAcross, SQUARE } from './measure.js';

/** Least difference of borders, as a share of the side. */
const BORDER_PART = 0.01;

/** Least difference of borders, in samples. */
const BORDER_SAMPLES = 4;

/** Least correlation of pictures with the same details in the same places. */
const SAME_PLACES = 0.98;

/** Longest side, in samples, for which the small pictures give exact areas. */
const EXACT_UP_TO = 500;

export function* geometryFindings(
  reference: SideFacts,
  distorted: SideFacts,
  context: PreflightContext,
): Generator<Finding> {
  const borders = [...borderFindings(reference, distorted)];
  const cut = borders.find(({ severity }) => severity === 'warning')?.hint;
  if (context.framing && !cut && context.scale !== 'none') {
    yield framingFinding(reference, distorted, context.framing);
  } else {
    yield* sizeFindings(reference, distorted, context);
    yield* aspectFindings(reference, distorted, { cut, alike: looksAlike(context) });
  }
  yield* rotationFindings(reference, distorted);
  yield* cropFindings(reference, distorted);
  yield* borders;
}

/** Area of one video that the other shows enlarged; `undefined` if all of it or another moment fits as well. */
export function zoomedPart(
  reference: SideFacts,
  distorted: SideFacts,
  { alignment, offset = 0 }: PreflightContext,
): Framing | undefined {
  // At an edge, an untried moment may fit better; after a slip, pairs show different moments.
  if (!alignment || offset !== 0 || alignment.reason === 'edge' || alignment.slip) return undefined;
  if (isBarred(reference, distorted)) return undefined;
  const others = distorted.measured?.pictures ?? [];
  const pairs = (reference.measured?.pictures ?? []).flatMap((picture, k) => {
    const other = others[k];
    return other && showSameMoment(reference, distorted, k) ? { reference: picture, distorted: other } : [];
  });
  const found = zoomOf(pairs);
  if (!found || found.similarity <= alignment.similarity) return undefined;
  const { whole, part } = found;
  const { width, height } = whole === 'reference' ? reference : distorted;
  const even = (share: number, length: number) => 2 * Math.round((share * length) / 2);
  const [x, y] = [even(part.left, width), even(part.top, height)];
  const area = { width: even(part.right, width) - x, height: even(part.bottom, height) - y, x, y };
  return { whole, area, padding: false, rough: Math.max(width, height) > EXACT_UP_TO };
}

function framingFinding(
  reference: SideFacts,
  distorted: SideFacts,
  { whole, area, padding, rough = false }: Framing,
): Finding {
  const side = whole === 'reference' ? reference : distorted;
  const { width, height, x, y } = area;
  return finding(
    'framing',
    'warning',
    `distorted is ${formatSize(distorted)} and reference ${formatSize(reference)}, and pixels show that ${otherRole(whole)} is ` +
      `only the area of ${rough ? 'about ' : ''}${formatSize(area)} at ${x},${y} in ${whole}` +
      `${padding ? ', outside of which is only padding' : ''}; scaled to one size, different parts are compared, and the ` +
      'score is meaningless.',
    [formatSize(reference), formatSize(distorted)],
    cropFiles([whole, side, `${width}:${height}:${x}:${y}`]),
  );
}

function* sizeFindings(
  reference: SideFacts,
  distorted: SideFacts,
  { scale, comparedSize }: PreflightContext,
): Generator<Finding> {
  const [ref, dis] = [formatSize(reference), formatSize(distorted)];
  const compared = formatSize(comparedSize ?? reference);
  if (ref === dis && compared === ref) return;
  const differ = ref === dis ? `both videos are ${ref}` : `distorted is ${dis} but reference is ${ref}`;
  if (scale === 'none') {
    const refused = `${differ}, and scaling is off; frames of different sizes cannot be compared.`;
    yield finding('size', 'error', refused, [ref, dis], {
      purpose: 'fix',
      option: 'scale',
      value: 'bicubic',
    });
    return;
  }
  const what =
    compared === ref ? 'the distorted video is' : compared === dis ? 'the reference is' : 'both are';
  // An explicit filter or target size shows that the user expects different sizes.
  const meant = scale !== undefined || compared !== ref;
  yield finding(
    'size',
    meant ? 'info' : 'warning',
    `${differ}; ${what} scaled to ${compared} (${scale ?? 'bicubic'}) before the comparison, and the score depends on ` +
      'the filter.',
    [ref, dis],
    meant ? undefined : { purpose: 'accept', option: 'scale', value: 'bicubic' },
  );
}

interface ShapeClues {
  /** Crops borders that only one video has, which then explain the difference. */
  readonly cut: Hint | undefined;
  /** True if details match once both have one size; `undefined` if not measured. */
  readonly alike: boolean | undefined;
}

function looksAlike({ alignment }: PreflightContext): boolean | undefined {
  return alignment && alignment.similarity >= SAME_PLACES;
}

function* aspectFindings(reference: SideFacts, distorted: SideFacts, clues: ShapeClues): Generator<Finding> {
  const [ref, dis] = [displayAspect(reference), displayAspect(distorted)];
  const sample = (side: SideFacts) => (side.sampleAspect ? fractionText(side.sampleAspect) : null);
  const said = (side: SideFacts) => sample(side) ?? '1 (not stated)';
  const differs = Math.abs(dis / ref - 1) > SAME_ASPECT;
  const sameSize = formatSize(reference) === formatSize(distorted);
  if (differs && sameSize) {
    yield finding(
      'sample-aspect',
      'warning',
      `distorted has the sample aspect ratio ${said(distorted)} but reference has ${said(reference)}; samples are ` +
        'compared as stored, so one of the labels or pictures is wrong.',
      [sample(reference), sample(distorted)],
      relabel(reference, distorted, ref),
    );
  } else if (differs) {
    const { why, hint } = otherShape(reference, distorted, clues);
    yield finding(
      'display-aspect',
      'warning',
      `distorted has the display aspect ratio ${rounded(dis)}:1 but reference has ${rounded(ref)}:1; ${why}.`,
      [Number(rounded(ref)), Number(rounded(dis))],
      hint,
    );
  } else if (sample(reference) !== sample(distorted) && !sameSize) {
    yield finding(
      'sample-aspect',
      'info',
      `distorted has the sample aspect ratio ${said(distorted)} and reference ${said(reference)}; the display ` +
        'aspect ratios are equal.',
      [sample(reference), sample(distorted)],
    );
  }
}

/** Sets the sample aspect ratio that gives the distorted video the reference's shape. */
function relabel(reference: SideFacts, distorted: SideFacts, aspect: number): Hint {
  const { width, height } = distorted;
  const same = formatSize(reference) === formatSize(distorted);
  const exact = same ? (reference.sampleAspect ?? { num: 1, den: 1 }) : undefined;
  const ratio = fractionText(exact ?? nearbyFraction((aspect * height) / width));
  return filterFiles([['distorted', distorted, `setsar=${ratio}`]]);
}

function otherShape(
  reference: SideFacts,
  distorted: SideFacts,
  { cut, alike }: ShapeClues,
): { readonly why: string; readonly hint?: Hint } {
  if (cut) return { why: 'only one has black borders', hint: cut };
  if (isTurned(reference, distorted)) {
    const way = turnOf(reference.measured, distorted.measured);
    return {
      why:
        'one is rotated by 90 degrees; rotate it back' +
        (way ? '' : ', and if the result is upside down, use transpose=cclock'),
      hint: filterFiles([['distorted', distorted, `transpose=${way ?? 'clock'}`]]),
    };
  }
  if (alike) {
    return {
      why: 'the pictures match in detail, so one of the labels is wrong',
      hint: relabel(reference, distorted, displayAspect(reference)),
    };
  }
  return (
    croppedPart(reference, distorted) ?? {
      why: 'one is cropped, padded or stretched, and scaling does not align them',
    }
  );
}

/** True if width and height are swapped, apart from scaling. */
function isTurned(reference: SideFacts, distorted: SideFacts): boolean {
  const stored = ({ width, height }: SideFacts) => width / height;
  const ways = [displayAspect(reference) * displayAspect(distorted), stored(reference) * stored(distorted)];
  const wide = displayAspect(reference) > 1;
  return (
    wide !== displayAspect(distorted) > 1 && ways.some((product) => Math.abs(product - 1) <= SAME_ASPECT)
  );
}

/** With equal sample aspects but different shapes, one picture is a crop, usually centred. */
function croppedPart(
  reference: SideFacts,
  distorted: SideFacts,
): { readonly why: string; readonly hint: Hint } | undefined {
  const shape = ({ sampleAspect }: SideFacts) => quotientOf(sampleAspect) ?? 1;
  if (Math.abs(shape(reference) / shape(distorted) - 1) > SAME_ASPECT) return undefined;
  // The distorted video is the crop, unless it is at least as large in both directions.
  const whole =
    distorted.width >= reference.width && distorted.height >= reference.height
      ? ('distorted' as const)
      : ('reference' as const);
  const [from, part] = whole === 'reference' ? [reference, distorted] : [distorted, reference];
  const factor = Math.min(from.width / part.width, from.height / part.height);
  const even = (value: number) => 2 * Math.round((value * factor) / 2);
  return {
    why: `${otherRole(whole)} is cropped, probably to the middle of the picture, or stretched`,
    hint: cropFiles([whole, from, `${even(part.width)}:${even(part.height)}`]),
  };
}

function* rotationFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  const [ref, dis] = [reference.rotation ?? 0, distorted.rotation ?? 0];
  if (ref === dis) return;
  yield finding(
    'rotation',
    'info',
    `distorted has a rotation of ${dis} degrees and reference of ${ref}; both are compared upright, as players ` +
      'show them.',
    [ref, dis],
  );
}

function* cropFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  const text = ({ crop }: SideFacts) =>
    crop ? `left ${crop.left}, top ${crop.top}, right ${crop.right}, bottom ${crop.bottom}` : null;
  const [ref, dis] = [text(reference), text(distorted)];
  if (ref === dis) return;
  yield finding(
    'crop',
    'info',
    `distorted has ${dis === null ? 'no crop' : `a crop (${dis})`} and reference has ` +
      `${ref === null ? 'none' : `${dis === null ? 'one' : 'a crop'} (${ref})`}; both are compared after cropping, as players ` +
      'show them.',
    [ref, dis],
  );
}

function isBarred(reference: SideFacts, distorted: SideFacts): boolean {
  return [...borderFindings(reference, distorted)].some(({ severity }) => severity === 'warning');
}

function* borderFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  const [ref, dis] = [reference.measured?.borders, distorted.measured?.borders];
  if (!ref || !dis) return;
  const sides = [
    { name: 'distorted', side: distorted, mine: dis, theirs: ref, against: reference },
    { name: 'reference', side: reference, mine: ref, theirs: dis, against: distorted },
  ] as const;
  const values = [bordersText(ref.certain), bordersText(dis.certain)] as const;
  for (const { name, side, mine, theirs, against } of sides) {
    const more = EDGES.filter((edge) => {
      const [length, otherLength] = [lengthAcross(side, edge), lengthAcross(against, edge)];
      const extra = mine.certain[edge] / length - theirs.possible[edge] / otherLength;
      return extra > Math.max(BORDER_PART, BORDER_SAMPLES / length);
    });
    if (more.length === 0) continue;
    const named = more.map((edge) => `${edge} ${mine.certain[edge]}`).join(', ');
    yield finding(
      'black-borders',
      'warning',
      `${name} ${formatSize(side)} has black borders (${named}) where ${otherRole(name)} has picture; the score compares ` +
        'different parts of the scene.',
      values,
      cutHint(name, side, mine.certain, against),
    );
    return;
  }
  // Borders in both are no mistake, but count as perfect quality.
  const area = (side: SideFacts, { left, top, right, bottom }: Borders) =>
    1 - ((side.width - left - right) * (side.height - top - bottom)) / (side.width * side.height);
  const part = Math.min(area(reference, ref.certain), area(distorted, dis.certain));
  if (part < 2 * BORDER_PART) return;
  yield finding(
    'black-borders',
    'info',
    `both videos have black borders over ${Math.round(100 * part)} % of the picture, which raise the score, since ` +
      'black areas match perfectly.',
    values,
  );
}

function bordersText({ left, top, right, bottom }: Borders): string {
  return `left ${left}, top ${top}, right ${right}, bottom ${bottom}`;
}

/** Crops the borders, and also the part of the other video that they hide. */
function cutHint(name: Role, side: SideFacts, borders: Borders, against: SideFacts): Hint {
  const shares = forEdges((edge) => borders[edge] / lengthAcross(side, edge));
  const sameShape = Math.abs(displayAspect(side) / displayAspect(against) - 1) <= SAME_ASPECT;
  if (!sameShape || !hidesPart(side.measured, against.measured, shares))
    return cropFiles([name, side, areaWithin(side, borders)]);
  const hidden = forEdges((edge) => Math.round(shares[edge] * lengthAcross(against, edge)));
  return cropFiles(
    [name, side, areaWithin(side, borders)],
    [otherRole(name), against, areaWithin(against, hidden)],
  );
}

/** Even positions, for subsampled chroma. */
function areaWithin({ width, height }: SideFacts, { left, top, right, bottom }: Borders): string {
  const even = (value: number) => value + (value & 1);
  const [x, y] = [even(left), even(top)];
  return `${(width - x - right) & ~1}:${(height - y - bottom) & ~1}:${x}:${y}`;
}

/** Areas are `WIDTH:HEIGHT` or `WIDTH:HEIGHT:X:Y`. */
function cropFiles(...areas: readonly (readonly [side: Role, facts: SideFacts, area: string])[]): Hint {
  return filterFiles(
    areas.map(([side, facts, area]) => [side, facts, `crop=${area}`] as const),
    areas.map(([side, , value]) => ({
      purpose: 'fix',
      option: side === 'reference' ? 'cropReference' : 'cropDistorted',
      value,
    })),
  );
}

/** Least correlation of a match, and its least lead over the other rotation or explanation. */
const ALIKE = 0.5;
const CLEARLY_TURNED = 0.15;
const CLEARLY_A_PART = 0.02;

/** Source position of the sample in row y and column x, by ffmpeg's names of the directions. */
const WAYS = {
  clock: (x: number, y: number) => (SQUARE - 1 - x) * SQUARE + y,
  cclock: (x: number, y: number) => x * SQUARE + SQUARE - 1 - y,
} as const;

/** The rotation that turns the distorted video upright; `undefined` if the pictures do not decide. */
function turnOf(
  reference: SideMeasurements | undefined,
  distorted: SideMeasurements | undefined,
): keyof typeof WAYS | undefined {
  const upright = reference?.squares ?? [];
  const pairs = (distorted?.squares ?? []).flatMap((square, i) => {
    const other = upright[i];
    return other ? [[other, square] as const] : [];
  });
  if (pairs.length === 0) return undefined;
  const likeness = (way: keyof typeof WAYS) =>
    mean(pairs.map(([a, b]) => correlation(a, turned(b, WAYS[way]))));
  const [clock, cclock] = [likeness('clock'), likeness('cclock')];
  if (!(Math.max(clock, cclock) >= ALIKE && Math.abs(clock - cclock) >= CLEARLY_TURNED)) return undefined;
  return clock > cclock ? 'clock' : 'cclock';
}

function turned(square: Float32Array, from: (x: number, y: number) => number): Float32Array {
  return square.map((_, at) => square[from(at % SQUARE, Math.floor(at / SQUARE))] ?? Number.NaN);
}

/** True if the picture within bars (shares of the sides) is a part of the other one, rather than a smaller copy. */
function hidesPart(
  barred: SideMeasurements | undefined,
  whole: SideMeasurements | undefined,
  { left, top, right, bottom }: Borders,
): boolean {
  const inside = Array.from({ length: SQUARE * SQUARE }, (_, at) => at).filter((at) => {
    const [x, y] = [at % SQUARE, Math.floor(at / SQUARE)];
    return (
      x >= left * SQUARE &&
      x + 1 <= (1 - right) * SQUARE &&
      y >= top * SQUARE &&
      y + 1 <= (1 - bottom) * SQUARE
    );
  });
  const between = (position: number, before: number, after: number) =>
    Math.floor((((position + 0.5) / SQUARE - before) / (1 - before - after)) * SQUARE);
  const copied = (at: number) =>
    between(Math.floor(at / SQUARE), top, bottom) * SQUARE + between(at % SQUARE, left, right);
  const pairs = (barred?.squares ?? []).flatMap((square, i) => {
    const other = whole?.squares?.[i];
    return other ? [[square, other] as const] : [];
  });
  if (pairs.length === 0 || inside.length === 0) return false;
  const sampled = (square: Float32Array, from: (at: number) => number) =>
    Float32Array.from(inside, (at) => square[from(at)] ?? Number.NaN);
  const likeness = (from: (at: number) => number) =>
    mean(
      pairs.map(([square, other]) =>
        correlation(
          sampled(square, (at) => at),
          sampled(other, from),
        ),
      ),
    );
  const [part, copy] = [likeness((at) => at), likeness(copied)];
  return part >= ALIKE && part - copy >= CLEARLY_A_PART;
}
