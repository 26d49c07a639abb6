/**
 * @module media/preflight/geometry
 * Findings about the shape of pictures: size, aspect, rotation, crop and black borders. Small squares of both videos tell
 * which way one is rotated, and whether bars hide or frame the picture.
 */
import type { Hint } from '../../core/errors.js';
import { fractionText, mean, quotientOf } from '../../core/numbers.js';
import { displayAspect, formatSize, SAME_ASPECT } from '../../core/size.js';
import { correlation } from '../evidence/averages.js';
import { type Framing, zoomOf } from '../evidence/framing.js';
import {
  type Borders,
  type Both,
  type Finding,
  filterFiles,
  finding,
  nearbyFraction,
  otherRole,
  type PairFacts,
  type Role,
  rounded,
  type SideFacts,
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
const BICUBIC = { purpose: 'accept', option: 'scale', value: 'bicubic' } as const satisfies Hint;

export function* geometryFindings(pair: PairFacts): Generator<Finding> {
  const { framing, scale, alignment } = pair;
  const borders = [...borderFindings(pair)];
  const cut = borders.find(isWarning)?.hint;
  if (framing && !cut && scale !== 'none') yield framingFinding(pair, framing);
  else {
    yield* sizeFindings(pair);
    yield* aspectFindings(pair, { cut, alike: alignment && alignment.similarity >= SAME_PLACES });
  }
  yield* rotationFindings(pair);
  yield* cropFindings(pair);
  yield* borders;
}

function isWarning({ severity }: Finding): boolean {
  return severity === 'warning';
}

/** The area of one video that the other shows enlarged; `undefined` if the whole or another moment fits as well. */
export function zoomedPart(pair: PairFacts): Framing | undefined {
  const { reference, distorted, alignment, offset = 0 } = pair;
  // At an edge, a moment outside the window may fit better; after a slip, pairs show different moments.
  if (!alignment || offset !== 0 || alignment.reason === 'edge' || alignment.slip) return undefined;
  if ([...borderFindings(pair)].some(isWarning)) return undefined;
  const others = distorted.measured?.pictures ?? [];
  const pairs = (reference.measured?.pictures ?? []).flatMap((picture, k) => {
    const other = others[k];
    return other && showSameMoment(pair, k) ? { reference: picture, distorted: other } : [];
  });
  const found = zoomOf(pairs);
  if (!found || found.similarity <= alignment.similarity) return undefined;
  const { whole, part } = found;
  const { width, height } = pair[whole];
  const even = (share: number, length: number) => 2 * Math.round((share * length) / 2);
  const [x, y] = [even(part.left, width), even(part.top, height)];
  const area = { width: even(part.right, width) - x, height: even(part.bottom, height) - y, x, y };
  return { whole, area, padding: false, rough: Math.max(width, height) > EXACT_UP_TO };
}

function framingFinding(
  pair: PairFacts,
  { whole, area: { width, height, x, y }, padding, rough = false }: Framing,
): Finding {
  const [ref, dis] = [formatSize(pair.reference), formatSize(pair.distorted)];
  const said =
    `distorted is ${dis} and reference ${ref}, and pixels show that ${otherRole(whole)} is only the area of ` +
    `${rough ? 'about ' : ''}${width}x${height} at ${x},${y} in ${whole}` +
    `${padding ? ', outside of which is only padding' : ''}; scaled to one size, different parts are compared, and the ` +
    'score is meaningless.';
  const fix = cropFiles([whole, pair[whole], `${width}:${height}:${x}:${y}`]);
  return finding('framing', 'warning', said, [ref, dis], fix);
}

function* sizeFindings({ reference, distorted, scale, comparedSize }: PairFacts): Generator<Finding> {
  const [ref, dis] = [formatSize(reference), formatSize(distorted)];
  const compared = formatSize(comparedSize ?? reference);
  if (ref === dis && compared === ref) return;
  const differ = ref === dis ? `both videos are ${ref}` : `distorted is ${dis} but reference is ${ref}`;
  if (scale === 'none') {
    const refused = `${differ}, and scaling is off; frames of different sizes cannot be compared.`;
    yield finding('size', 'error', refused, [ref, dis], { ...BICUBIC, purpose: 'fix' });
    return;
  }
  const resized =
    compared === ref ? 'the distorted video is' : compared === dis ? 'the reference is' : 'both are';
  // A filter or target size set by the user shows that sizes are expected to differ.
  const meant = scale !== undefined || compared !== ref;
  const said =
    `${differ}; ${resized} scaled to ${compared} (${scale ?? 'bicubic'}) before the comparison, and the score depends on ` +
    'the filter.';
  yield finding('size', meant ? 'info' : 'warning', said, [ref, dis], meant ? undefined : BICUBIC);
}

interface ShapeClues {
  /** Crops borders that only one video has, which then explain the difference. */
  readonly cut: Hint | undefined;
  /** True if details match once both have one size; `undefined` if not measured. */
  readonly alike: boolean | undefined;
}

function* aspectFindings({ reference, distorted }: Both, clues: ShapeClues): Generator<Finding> {
  const [ref, dis] = [displayAspect(reference), displayAspect(distorted)];
  const sample = (side: SideFacts) => (side.sampleAspect ? fractionText(side.sampleAspect) : null);
  const said = (side: SideFacts) => sample(side) ?? '1 (not stated)';
  const samples = [sample(reference), sample(distorted)] as const;
  const differs = Math.abs(dis / ref - 1) > SAME_ASPECT;
  const sameSize = formatSize(reference) === formatSize(distorted);
  if (differs && sameSize) {
    const wrong =
      `distorted has the sample aspect ratio ${said(distorted)} but reference has ${said(reference)}; samples are ` +
      'compared as stored, so one of the labels or pictures is wrong.';
    yield finding('sample-aspect', 'warning', wrong, samples, relabel({ reference, distorted }));
  } else if (differs) {
    const { why, hint } = otherShape({ reference, distorted }, clues);
    const [was, is] = [rounded(ref), rounded(dis)];
    const shapes = `distorted has the display aspect ratio ${is}:1 but reference has ${was}:1; ${why}.`;
    yield finding('display-aspect', 'warning', shapes, [Number(was), Number(is)], hint);
  } else if (samples[0] !== samples[1] && !sameSize) {
    const equal =
      `distorted has the sample aspect ratio ${said(distorted)} and reference ${said(reference)}; the display ` +
      'aspect ratios are equal.';
    yield finding('sample-aspect', 'info', equal, samples);
  }
}

/** Sets the sample aspect ratio that gives the distorted video the reference's shape. */
function relabel({ reference, distorted }: Both): Hint {
  const { width, height } = distorted;
  const same = formatSize(reference) === formatSize(distorted);
  const exact = same ? (reference.sampleAspect ?? { num: 1, den: 1 }) : undefined;
  const ratio = fractionText(exact ?? nearbyFraction((displayAspect(reference) * height) / width));
  return filterFiles([['distorted', distorted, `setsar=${ratio}`]]);
}

type Explained = { readonly why: string; readonly hint?: Hint };

function otherShape(pair: Both, { cut, alike }: ShapeClues): Explained {
  if (cut) return { why: 'only one has black borders', hint: cut };
  if (isTurned(pair)) {
    const way = turnOf(pair);
    const doubt = way ? '' : ', and if the result is upside down, use transpose=cclock';
    const hint = filterFiles([['distorted', pair.distorted, `transpose=${way ?? 'clock'}`]]);
    return { why: `one is rotated by 90 degrees; rotate it back${doubt}`, hint };
  }
  if (alike)
    return { why: 'the pictures match in detail, so one of the labels is wrong', hint: relabel(pair) };
  return croppedPart(pair) ?? { why: 'one is cropped, padded or stretched, and scaling does not align them' };
}

/** True if width and height are swapped, apart from scaling. */
function isTurned({ reference, distorted }: Both): boolean {
  const stored = ({ width, height }: SideFacts) => width / height;
  const ways = [displayAspect(reference) * displayAspect(distorted), stored(reference) * stored(distorted)];
  const wide = displayAspect(reference) > 1;
  const areInverse = ways.some((product) => Math.abs(product - 1) <= SAME_ASPECT);
  return wide !== displayAspect(distorted) > 1 && areInverse;
}

/** If sample aspects are equal but shapes differ, one picture is a crop, usually centred. */
function croppedPart(pair: Both): Explained | undefined {
  const { reference, distorted } = pair;
  const shape = ({ sampleAspect }: SideFacts) => quotientOf(sampleAspect) ?? 1;
  if (Math.abs(shape(reference) / shape(distorted) - 1) > SAME_ASPECT) return undefined;
  // The distorted video is the crop unless it is at least as large in both directions.
  const larger = distorted.width >= reference.width && distorted.height >= reference.height;
  const whole = larger ? 'distorted' : 'reference';
  const [from, part] = [pair[whole], pair[otherRole(whole)]];
  const factor = Math.min(from.width / part.width, from.height / part.height);
  const even = (value: number) => 2 * Math.round((value * factor) / 2);
  return {
    why: `${otherRole(whole)} is cropped, probably to the middle of the picture, or stretched`,
    hint: cropFiles([whole, from, `${even(part.width)}:${even(part.height)}`]),
  };
}

function* rotationFindings({ reference, distorted }: Both): Generator<Finding> {
  const [ref, dis] = [reference.rotation ?? 0, distorted.rotation ?? 0];
  if (ref === dis) return;
  const said =
    `distorted has a rotation of ${dis} degrees and reference of ${ref}; both are compared upright, as players ` +
    'show them.';
  yield finding('rotation', 'info', said, [ref, dis]);
}

function* cropFindings({ reference, distorted }: Both): Generator<Finding> {
  const [ref, dis] = [reference, distorted].map(({ crop }) => (crop ? edgesText(crop) : null));
  if (ref === dis) return;
  const said =
    `distorted has ${dis ? `a crop (${dis})` : 'no crop'} and reference has ` +
    `${ref ? `${dis ? 'a crop' : 'one'} (${ref})` : 'none'}; both are compared after cropping, as players show them.`;
  yield finding('crop', 'info', said, [ref ?? null, dis ?? null]);
}

function* borderFindings(pair: Both): Generator<Finding> {
  const { reference, distorted } = pair;
  const [ref, dis] = [reference.measured?.borders, distorted.measured?.borders];
  if (!ref || !dis) return;
  const values = [edgesText(ref.certain), edgesText(dis.certain)] as const;
  for (const name of ['distorted', 'reference'] as const) {
    const [side, against] = [pair[name], pair[otherRole(name)]];
    const [mine, theirs] = name === 'distorted' ? [dis, ref] : [ref, dis];
    const more = EDGES.filter((edge) => {
      const [length, otherLength] = [lengthAcross(side, edge), lengthAcross(against, edge)];
      const extra = mine.certain[edge] / length - theirs.possible[edge] / otherLength;
      return extra > Math.max(BORDER_PART, BORDER_SAMPLES / length);
    });
    if (more.length === 0) continue;
    const named = more.map((edge) => `${edge} ${mine.certain[edge]}`).join(', ');
    const said =
      `${name} ${formatSize(side)} has black borders (${named}) where ${otherRole(name)} has picture; the score compares ` +
      'different parts of the scene.';
    yield finding('black-borders', 'warning', said, values, cutHint(name, side, mine.certain, against));
    return;
  }
  // Borders in both are no mistake, but they count as perfect quality.
  const area = (side: SideFacts, { left, top, right, bottom }: Borders) =>
    1 - ((side.width - left - right) * (side.height - top - bottom)) / (side.width * side.height);
  const part = Math.min(area(reference, ref.certain), area(distorted, dis.certain));
  if (part < 2 * BORDER_PART) return;
  const said =
    `both videos have black borders over ${Math.round(100 * part)} % of the picture, which raise the score, since ` +
    'black areas match perfectly.';
  yield finding('black-borders', 'info', said, values);
}

function edgesText({ left, top, right, bottom }: Borders): string {
  return `left ${left}, top ${top}, right ${right}, bottom ${bottom}`;
}

/** Crops the borders, and the part of the other video that they hide. */
function cutHint(name: Role, side: SideFacts, borders: Borders, against: SideFacts): Hint {
  const shares = forEdges((edge) => borders[edge] / lengthAcross(side, edge));
  const sameShape = Math.abs(displayAspect(side) / displayAspect(against) - 1) <= SAME_ASPECT;
  const own = [name, side, areaWithin(side, borders)] as const;
  if (!sameShape || !hidesPart(squarePairs(side, against), shares)) return cropFiles(own);
  const hidden = forEdges((edge) => Math.round(shares[edge] * lengthAcross(against, edge)));
  return cropFiles(own, [otherRole(name), against, areaWithin(against, hidden)]);
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

/** Source of the sample at column x and row y, by ffmpeg's names of the directions. */
const WAYS = {
  clock: (x: number, y: number) => (SQUARE - 1 - x) * SQUARE + y,
  cclock: (x: number, y: number) => x * SQUARE + SQUARE - 1 - y,
} as const;

type SquarePair = readonly [one: Float32Array, other: Float32Array];

function squarePairs(one: SideFacts, other: SideFacts): SquarePair[] {
  const others = other.measured?.squares ?? [];
  return (one.measured?.squares ?? []).flatMap((square, i) => (others[i] ? [[square, others[i]]] : []));
}

/** The rotation that turns the distorted video upright; `undefined` if the pictures do not decide. */
function turnOf({ reference, distorted }: Both): keyof typeof WAYS | undefined {
  const pairs = squarePairs(reference, distorted);
  if (pairs.length === 0) return undefined;
  const turned = (square: Float32Array, way: keyof typeof WAYS) =>
    square.map((_, at) => square[WAYS[way](at % SQUARE, Math.floor(at / SQUARE))] ?? Number.NaN);
  const likeness = (way: keyof typeof WAYS) => mean(pairs.map(([a, b]) => correlation(a, turned(b, way))));
  const [clock, cclock] = [likeness('clock'), likeness('cclock')];
  if (!(Math.max(clock, cclock) >= ALIKE && Math.abs(clock - cclock) >= CLEARLY_TURNED)) return undefined;
  return clock > cclock ? 'clock' : 'cclock';
}

/** True if the picture within bars (shares of the sides) is a part of the other one rather than a smaller copy. */
function hidesPart(pairs: readonly SquarePair[], { left, top, right, bottom }: Borders): boolean {
  const inside = Array.from({ length: SQUARE * SQUARE }, (_, at) => at).filter((at) => {
    const [x, y] = [at % SQUARE, Math.floor(at / SQUARE)];
    const across = x >= left * SQUARE && x + 1 <= (1 - right) * SQUARE;
    return across && y >= top * SQUARE && y + 1 <= (1 - bottom) * SQUARE;
  });
  if (pairs.length === 0 || inside.length === 0) return false;
  const same = (at: number) => at;
  const between = (position: number, before: number, after: number) =>
    Math.floor((((position + 0.5) / SQUARE - before) / (1 - before - after)) * SQUARE);
  const copied = (at: number) =>
    between(Math.floor(at / SQUARE), top, bottom) * SQUARE + between(at % SQUARE, left, right);
  const sampled = (square: Float32Array, from: (at: number) => number) =>
    Float32Array.from(inside, (at) => square[from(at)] ?? Number.NaN);
  const likeness = (from: (at: number) => number) =>
    mean(pairs.map(([square, other]) => correlation(sampled(square, same), sampled(other, from))));
  const [part, copy] = [likeness(same), likeness(copied)];
  return part >= ALIKE && part - copy >= CLEARLY_A_PART;
}
