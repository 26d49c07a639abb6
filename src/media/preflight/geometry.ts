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
import type { Borders, Both, Finding, PairFacts, Role, SideFacts } from './findings.js';
import {
  cropFiles,
  filterFiles,
  finding,
  nearbyFraction,
  ofBoth,
  otherRole,
  rounded,
  showSameMoment,
  warningUnless,
} from './make.js';
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
  const even = (share: number, length: number) => evenUpTo(length, share * length);
  const [x, y] = [even(part.left, width), even(part.top, height)];
  const area = { width: even(part.right, width) - x, height: even(part.bottom, height) - y, x, y };
  return { whole, area, padding: false, rough: Math.max(width, height) > EXACT_UP_TO };
}

function framingFinding(pair: PairFacts, { whole, area, padding, rough = false }: Framing): Finding {
  const { width, height, x, y } = area;
  const [ref, dis] = ofBoth(pair, formatSize);
  const fix = cropFiles(pair, { [whole]: `${width}:${height}:${x}:${y}` });
  const outside = padding ? ', outside of which is only padding' : '';
  return finding('framing', 'warning', [ref, dis], fix)`
    distorted is ${dis} and reference ${ref}, and pixels show that ${otherRole(whole)} is only the area of
    ${rough ? 'about ' : ''}${width}x${height} at ${x},${y} in ${whole}${outside}; scaled to one size, different parts are
    compared, and the score is meaningless.`;
}

function* sizeFindings(pair: PairFacts): Generator<Finding> {
  const { reference, scale, comparedSize = reference } = pair;
  const values = ofBoth(pair, formatSize);
  const [ref, dis] = values;
  const compared = formatSize(comparedSize);
  if (ref === dis && compared === ref) return;
  const differ = ref === dis ? `both videos are ${ref}` : `distorted is ${dis} but reference is ${ref}`;
  if (scale === 'none') {
    yield finding('size', 'error', values, { ...BICUBIC, purpose: 'fix' })`
      ${differ}, and scaling is off; frames of different sizes cannot be compared.`;
    return;
  }
  const resized =
    compared === ref ? 'the distorted video is' : compared === dis ? 'the reference is' : 'both are';
  // A filter or target size set by the user shows that sizes are expected to differ.
  yield warningUnless(scale !== undefined || compared !== ref, 'size', values, BICUBIC)`
    ${differ}; ${resized} scaled to ${compared} (${scale ?? 'bicubic'}) before the comparison, and the score depends on the
    filter.`;
}

interface ShapeClues {
  /** Crops borders that only one video has, which then explain the difference. */
  readonly cut: Hint | undefined;
  /** True if details match once both have one size; `undefined` if not measured. */
  readonly alike: boolean | undefined;
}

function* aspectFindings(pair: Both, clues: ShapeClues): Generator<Finding> {
  const [ref, dis] = ofBoth(pair, displayAspect);
  const samples = ofBoth(pair, ({ sampleAspect }) => (sampleAspect ? fractionText(sampleAspect) : null));
  const [was, is] = samples.map((ratio) => ratio ?? '1 (not stated)');
  const differs = Math.abs(dis / ref - 1) > SAME_ASPECT;
  const sameSize = formatSize(pair.reference) === formatSize(pair.distorted);
  if (differs && sameSize) {
    yield finding('sample-aspect', 'warning', samples, relabel(pair))`
      distorted has the sample aspect ratio ${is} but reference has ${was}; samples are compared as stored, so one of the
      labels or pictures is wrong.`;
  } else if (differs) {
    const { why, hint } = otherShape(pair, clues);
    yield finding('display-aspect', 'warning', [Number(rounded(ref)), Number(rounded(dis))], hint)`
      distorted has the display aspect ratio ${rounded(dis)}:1 but reference has ${rounded(ref)}:1; ${why}.`;
  } else if (samples[0] !== samples[1] && !sameSize) {
    yield finding('sample-aspect', 'info', samples)`
      distorted has the sample aspect ratio ${is} and reference ${was}; the display aspect ratios are equal.`;
  }
}

/** Sets the sample aspect ratio that gives the distorted video the reference's shape. */
function relabel({ reference, distorted }: Both): Hint {
  const { width, height } = distorted;
  const same = formatSize(reference) === formatSize(distorted);
  const exact = same ? (reference.sampleAspect ?? { num: 1, den: 1 }) : undefined;
  const ratio = fractionText(exact ?? nearbyFraction((displayAspect(reference) * height) / width));
  return filterFiles({ reference, distorted }, { distorted: `setsar=${ratio}` });
}

type Explained = { readonly why: string; readonly hint?: Hint };

function otherShape(pair: Both, { cut, alike }: ShapeClues): Explained {
  if (cut) return { why: 'only one has black borders', hint: cut };
  if (isTurned(pair)) {
    const way = turnOf(pair);
    const doubt = way ? '' : ', and if the result is upside down, use transpose=cclock';
    const hint = filterFiles(pair, { distorted: `transpose=${way ?? 'clock'}` });
    return { why: `one is rotated by 90 degrees; rotate it back${doubt}`, hint };
  }
  if (alike)
    return { why: 'the pictures match in detail, so one of the labels is wrong', hint: relabel(pair) };
  return croppedPart(pair) ?? { why: 'one is cropped, padded or stretched, and scaling does not align them' };
}

/** True if width and height are swapped, apart from scaling. */
function isTurned(pair: Both): boolean {
  const shown = ofBoth(pair, displayAspect);
  const stored = ofBoth(pair, ({ width, height }) => width / height);
  const areInverse = [shown, stored].some(([ref, dis]) => Math.abs(ref * dis - 1) <= SAME_ASPECT);
  return shown[0] > 1 !== shown[1] > 1 && areInverse;
}

/** If sample aspects are equal but shapes differ, one picture is a crop, usually centred. */
function croppedPart(pair: Both): Explained | undefined {
  const { reference, distorted } = pair;
  const [ref, dis] = ofBoth(pair, ({ sampleAspect }) => quotientOf(sampleAspect) ?? 1);
  if (Math.abs(ref / dis - 1) > SAME_ASPECT) return undefined;
  // The distorted video is the crop unless it is at least as large in both directions.
  const larger = distorted.width >= reference.width && distorted.height >= reference.height;
  const whole = larger ? 'distorted' : 'reference';
  const [from, part] = [pair[whole], pair[otherRole(whole)]];
  const factor = Math.min(from.width / part.width, from.height / part.height);
  const [across, down] = [
    evenUpTo(from.width, part.width * factor),
    evenUpTo(from.height, part.height * factor),
  ];
  return {
    why: `${otherRole(whole)} is cropped, probably to the middle of the picture, or stretched`,
    hint: cropFiles(pair, { [whole]: `${across}:${down}` }),
  };
}

/** The nearest even number within a length, which may be odd. */
function evenUpTo(length: number, value: number): number {
  return Math.min(length & ~1, 2 * Math.round(value / 2));
}

function* rotationFindings(pair: Both): Generator<Finding> {
  const [ref, dis] = ofBoth(pair, ({ rotation = 0 }) => rotation);
  if (ref !== dis)
    yield finding('rotation', 'info', [ref, dis])`
      distorted has a rotation of ${dis} degrees and reference of ${ref}; both are compared upright, as players show them.`;
}

function* cropFindings(pair: Both): Generator<Finding> {
  const [ref, dis] = ofBoth(pair, ({ crop }) => (crop ? edgesText(crop) : null));
  const other = ref ? `${dis ? 'a crop' : 'one'} (${ref})` : 'none';
  if (ref !== dis)
    yield finding('crop', 'info', [ref, dis])`
      distorted has ${dis ? `a crop (${dis})` : 'no crop'} and reference has ${other}; both are compared after cropping, as
      players show them.`;
}

function* borderFindings(pair: Both): Generator<Finding> {
  const [ref, dis] = ofBoth(pair, ({ measured }) => measured?.borders);
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
    yield finding('black-borders', 'warning', values, cutHint(pair, name, mine.certain, theirs.certain))`
      ${name} ${formatSize(side)} has black borders (${named}) where ${otherRole(name)} has picture; the score compares
      different parts of the scene.`;
    return;
  }
  // Borders in both are no mistake, but they count as perfect quality.
  const area = (side: SideFacts, { left, top, right, bottom }: Borders) =>
    1 - ((side.width - left - right) * (side.height - top - bottom)) / (side.width * side.height);
  const part = Math.min(area(pair.reference, ref.certain), area(pair.distorted, dis.certain));
  if (part >= 2 * BORDER_PART)
    yield finding('black-borders', 'info', values)`
      both videos have black borders over ${Math.round(100 * part)} % of the picture, which raise the score, since black
      areas match perfectly.`;
}

function edgesText({ left, top, right, bottom }: Borders): string {
  return `left ${left}, top ${top}, right ${right}, bottom ${bottom}`;
}

/** Crops the borders, and from the other video the part that they hide, else its own borders. */
function cutHint(pair: Both, name: Role, borders: Borders, others: Borders): Hint {
  const [side, other] = [pair[name], otherRole(name)];
  const against = pair[other];
  const shares = forEdges((edge) => borders[edge] / lengthAcross(side, edge));
  const sameShape = Math.abs(displayAspect(side) / displayAspect(against) - 1) <= SAME_ASPECT;
  const hides = sameShape && hidesPart(squarePairs(side, against), shares);
  const cut = forEdges((edge) =>
    hides ? Math.round(shares[edge] * lengthAcross(against, edge)) : others[edge],
  );
  const isCut = EDGES.some((edge) => cut[edge] >= BORDER_SAMPLES);
  return cropFiles(pair, {
    [name]: areaWithin(side, borders),
    ...(isCut && { [other]: areaWithin(against, cut) }),
  });
}

/** Even positions, for subsampled chroma. */
function areaWithin({ width, height }: SideFacts, { left, top, right, bottom }: Borders): string {
  const even = (value: number) => value + (value & 1);
  const [x, y] = [even(left), even(top)];
  return `${(width - x - right) & ~1}:${(height - y - bottom) & ~1}:${x}:${y}`;
}

/** Least correlation of a match, and its least lead over the other rotation or explanation. */
const ALIKE = 0.5;
const CLEARLY_TURNED = 0.15;
const CLEARLY_A_PART = 0.02;

const EVERYWHERE = Array.from({ length: SQUARE * SQUARE }, (_, at) => at);
const IN_PLACE = (at: number) => at;
/** Source of the sample at a place, by ffmpeg's names of the directions. */
const WAYS = {
  clock: (at: number) => (SQUARE - 1 - (at % SQUARE)) * SQUARE + Math.floor(at / SQUARE),
  cclock: (at: number) => (at % SQUARE) * SQUARE + SQUARE - 1 - Math.floor(at / SQUARE),
} as const;

type SquarePair = readonly [one: Float32Array, other: Float32Array];

function squarePairs(one: SideFacts, other: SideFacts): SquarePair[] {
  const others = other.measured?.squares ?? [];
  return (one.measured?.squares ?? []).flatMap((square, i) => (others[i] ? [[square, others[i]]] : []));
}

/** Mean correlation of the first squares with the second, whose samples come `from` other places. */
function likeness(pairs: readonly SquarePair[], from: (at: number) => number, places = EVERYWHERE): number {
  const sampled = (square: Float32Array, source: (at: number) => number) =>
    Float32Array.from(places, (at) => square[source(at)] ?? Number.NaN);
  return mean(pairs.map(([one, other]) => correlation(sampled(one, IN_PLACE), sampled(other, from))));
}

/** The rotation that turns the distorted video upright; `undefined` if the pictures do not decide. */
function turnOf({ reference, distorted }: Both): keyof typeof WAYS | undefined {
  const pairs = squarePairs(reference, distorted);
  const [clock, cclock] = [likeness(pairs, WAYS.clock), likeness(pairs, WAYS.cclock)];
  if (!(Math.max(clock, cclock) >= ALIKE && Math.abs(clock - cclock) >= CLEARLY_TURNED)) return undefined;
  return clock > cclock ? 'clock' : 'cclock';
}

/** True if the picture within bars (shares of the sides) is a part of the other one rather than a smaller copy. */
function hidesPart(pairs: readonly SquarePair[], { left, top, right, bottom }: Borders): boolean {
  const inside = EVERYWHERE.filter((at) => {
    const [x, y] = [at % SQUARE, Math.floor(at / SQUARE)];
    const across = x >= left * SQUARE && x + 1 <= (1 - right) * SQUARE;
    return across && y >= top * SQUARE && y + 1 <= (1 - bottom) * SQUARE;
  });
  if (pairs.length === 0 || inside.length === 0) return false;
  const between = (position: number, before: number, after: number) =>
    Math.floor((((position + 0.5) / SQUARE - before) / (1 - before - after)) * SQUARE);
  const copied = (at: number) =>
    between(Math.floor(at / SQUARE), top, bottom) * SQUARE + between(at % SQUARE, left, right);
  const [part, copy] = [likeness(pairs, IN_PLACE, inside), likeness(pairs, copied, inside)];
  return part >= ALIKE && part - copy >= CLEARLY_A_PART;
}
