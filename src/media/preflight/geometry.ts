/**
 * @module media/preflight/geometry
 * Findings about the pictures' shape: size, aspect, rotation, crop and black borders.
 */
import { dimensions, finding, fractionText, nearbyFraction, rounded } from './text.js';
import type { Borders, Finding, PreflightContext, SideFacts } from './types.js';

/** Relative difference of display aspect ratios that rounding of sizes explains. */
const SAME_ASPECT = 0.012;

/** Part of a side by which borders must differ to be a finding. */
const BORDER_PART = 0.01;

/** Samples by which borders must differ to be a finding. */
const BORDER_SAMPLES = 4;

/** Findings about the shape of pictures. */
export function* geometryFindings(
  reference: SideFacts,
  distorted: SideFacts,
  context: PreflightContext,
): Generator<Finding> {
  const borders = [...borderFindings(reference, distorted)];
  yield* sizeFindings(reference, distorted, context);
  yield* aspectFindings(reference, distorted, borders.find(({ severity }) => severity === 'warning')?.fix);
  yield* rotationFindings(reference, distorted);
  yield* cropFindings(reference, distorted);
  yield* borders;
}

function* sizeFindings(
  reference: SideFacts,
  distorted: SideFacts,
  { scale, comparedSize }: PreflightContext,
): Generator<Finding> {
  const [ref, dis] = [dimensions(reference), dimensions(distorted)];
  const compared = dimensions(comparedSize ?? reference);
  if (ref === dis && compared === ref) return;
  const differ = ref === dis ? `both videos are ${ref}` : `distorted is ${dis} but reference is ${ref}`;
  if (scale === 'none') {
    const refused = `${differ}, and scaling is off; frames of different sizes cannot be compared.`;
    yield finding('size', 'error', refused, [ref, dis], '--scale bicubic');
    return;
  }
  const what =
    compared === ref ? 'the distorted video is' : compared === dis ? 'the reference is' : 'both are';
  // Someone who names the filter or another size knows of it.
  const meant = scale !== undefined || compared !== ref;
  yield finding(
    'size',
    meant ? 'info' : 'warning',
    `${differ}; ${what} scaled to ${compared} (${scale ?? 'bicubic'}) before they are compared, and the score ` +
      'depends on how.',
    [ref, dis],
    meant ? undefined : '--scale bicubic',
  );
}

/** Width over height as shown. */
function displayAspect({ width, height, sampleAspect }: SideFacts): number {
  return (width * (sampleAspect ? sampleAspect.num / sampleAspect.den : 1)) / height;
}

/** @param cut cuts borders off that only one of the two has, which then explain another shape */
function* aspectFindings(
  reference: SideFacts,
  distorted: SideFacts,
  cut: string | undefined,
): Generator<Finding> {
  const [ref, dis] = [displayAspect(reference), displayAspect(distorted)];
  const sample = (side: SideFacts) => (side.sampleAspect ? fractionText(side.sampleAspect) : null);
  const differs = Math.abs(dis / ref - 1) > SAME_ASPECT;
  const sameSize = dimensions(reference) === dimensions(distorted);
  const wanted = (ref * distorted.height) / distorted.width;
  const relabel = `ffmpeg -vf setsar=${fractionText(nearbyFraction(wanted))}`;
  if (differs && sameSize) {
    const said = (side: SideFacts) => sample(side) ?? '1 (not stated)';
    yield finding(
      'sample-aspect',
      'warning',
      `distorted has the sample aspect ratio ${said(distorted)} but reference has ${said(reference)}; samples are ` +
        'compared as stored, so one of the two labels, or one of the pictures, is wrong.',
      [sample(reference), sample(distorted)],
      relabel,
    );
  } else if (differs) {
    yield finding(
      'display-aspect',
      'warning',
      `distorted is shown ${rounded(dis)}:1 but reference ${rounded(ref)}:1; unless only a label is wrong, one of ` +
        'them is cropped, padded or stretched, and scaling does not bring the same details to the same place.',
      [Number(rounded(ref)), Number(rounded(dis))],
      cut ?? relabel,
    );
  } else if (sample(reference) !== sample(distorted) && !sameSize) {
    yield finding(
      'sample-aspect',
      'info',
      `distorted has the sample aspect ratio ${sample(distorted) ?? '1 (not stated)'} and reference ` +
        `${sample(reference) ?? '1 (not stated)'}; shown, both have the same shape.`,
      [sample(reference), sample(distorted)],
    );
  }
}

function* rotationFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  const [ref, dis] = [reference.rotation ?? 0, distorted.rotation ?? 0];
  if (ref === dis) return;
  yield finding(
    'rotation',
    'info',
    `distorted is marked to be turned by ${dis} degrees and reference by ${ref}; both are compared upright, as ` +
      'players show them.',
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
    `${dis === null ? 'distorted has no crop' : `distorted is marked to be cropped (${dis})`} and ` +
      `${ref === null ? 'reference has none' : `reference is marked to be cropped (${ref})`}; both are compared ` +
      'after cropping, as players show them.',
    [ref, dis],
  );
}

const EDGES = ['left', 'top', 'right', 'bottom'] as const;

function* borderFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  const [ref, dis] = [reference.measured?.borders, distorted.measured?.borders];
  if (!ref || !dis) return;
  const sides = [
    { name: 'distorted', other: 'reference', side: distorted, mine: dis, theirs: ref, against: reference },
    { name: 'reference', other: 'distorted', side: reference, mine: ref, theirs: dis, against: distorted },
  ];
  const values = [bordersText(ref.certain), bordersText(dis.certain)] as const;
  for (const { name, other, side, mine, theirs, against } of sides) {
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
      `${name} ${dimensions(side)} has black borders (${named}) where ${other} has picture; different parts of the ` +
        'scene are compared with each other.',
      values,
      cropFilter(side, mine.certain),
    );
    return;
  }
  // A border on all pictures of both is no mistake, but it counts as perfect quality.
  const area = (side: SideFacts, { left, top, right, bottom }: Borders) =>
    1 - ((side.width - left - right) * (side.height - top - bottom)) / (side.width * side.height);
  const part = Math.min(area(reference, ref.certain), area(distorted, dis.certain));
  if (part < 2 * BORDER_PART) return;
  yield finding(
    'black-borders',
    'info',
    `both videos have black borders over ${Math.round(100 * part)} % of the picture, which raise the score: black on ` +
      'black is perfect.',
    values,
    cropFilter(reference, ref.certain),
  );
}

function lengthAcross({ width, height }: SideFacts, edge: (typeof EDGES)[number]): number {
  return edge === 'left' || edge === 'right' ? width : height;
}

function bordersText({ left, top, right, bottom }: Borders): string {
  return `left ${left}, top ${top}, right ${right}, bottom ${bottom}`;
}

/** Cuts borders off, to even places as subsampled chroma needs it. */
function cropFilter({ width, height }: SideFacts, { left, top, right, bottom }: Borders): string {
  const even = (value: number) => value + (value & 1);
  const [x, y] = [even(left), even(top)];
  return `ffmpeg -vf crop=${(width - x - right) & ~1}:${(height - y - bottom) & ~1}:${x}:${y}`;
}
