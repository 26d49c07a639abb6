/**
 * @module media/preflight/colour
 * Findings about colour: lost, constant, different or swapped chroma, which VMAF ignores; high dynamic range, mixed
 * dynamic ranges, and Dolby Vision profile 5.
 */
import type { Hint, PrepareHint } from '../../core/errors.js';
import type { BothOf } from '../../core/frame.js';
import { mean } from '../../core/numbers.js';
import { correlation } from '../evidence/averages.js';
import type { Both, ChromaSquares, Finding, PairFacts, SideFacts } from './findings.js';
import {
  filterFiles,
  finding,
  ofBoth,
  otherRole,
  ROLES,
  rounded,
  showSameMoment,
  subject,
  vf,
} from './make.js';

/** Least correlation of the pictures to compare their colours. */
const COMPARABLE = 0.95;
/** Least deviation of the reference's chroma from grey, in 8-bit levels. */
const COLOURED = 4;
/** Distorted chroma below this share of the reference's deviation is constant. */
const GONE = 0.1;
/** Least squared difference, relative to the reference's squared deviation. */
const OFF = 0.6;

export function* chromaFindings(pair: PairFacts): Generator<Finding> {
  const { alignment, offset = 0 } = pair;
  if (!alignment || alignment.similarity < COMPARABLE || alignment.offset !== offset) return;
  const frames = comparedChroma(pair);
  const [cb, cr] = [planeOf(frames, 'cb', 'cr'), planeOf(frames, 'cr', 'cb')];
  const sumOf = (part: 'reference' | 'distorted' | 'difference' | 'swapped') => cb[part] + cr[part];
  const coloured = sumOf('reference');
  if (cb.samples === 0 || coloured < cb.samples * COLOURED ** 2) return;
  const left = { Cb: rounded(cb.sum / cb.samples, 0), Cr: rounded(cr.sum / cr.samples, 0) };
  const about = (text: string, values: readonly [string, string], fix?: Hint) =>
    finding(
      'chroma',
      'warning',
      values,
      fix,
    )`${text}; VMAF measures luma only, so the score does not show it.`;
  const gone = [...(isGone(cb) ? (['Cb'] as const) : []), ...(isGone(cr) ? (['Cr'] as const) : [])];
  const [only] = gone;
  if (sumOf('distorted') < GONE ** 2 * coloured && sumOf('difference') > GONE * coloured) {
    const grey = [left.Cb, left.Cr].every((mean) => Math.abs(Number(mean) - 128) < COLOURED);
    const look = grey ? 'is grey' : `has constant chroma (Cb ${left.Cb}, Cr ${left.Cr})`;
    const value = grey ? 'grey' : `${left.Cb}, ${left.Cr}`;
    yield about(`Distorted ${look} but reference has colour`, ['coloured', value]);
  } else if (only && gone.length === 1) {
    yield about(`${only} of distorted is constant (${left[only]})`, ['coloured', `${only} ${left[only]}`]);
  } else if (sumOf('difference') > OFF * coloured) {
    const fix = vf('distorted', 'shuffleplanes=0:2:1');
    yield sumOf('swapped') < GONE * coloured
      ? about('Distorted has Cb and Cr swapped', ['Cb, Cr', 'Cr, Cb'], fix)
      : about('Distorted differs from reference in colour', ['original', 'different']);
  }
}

/** True if a plane with colour in the reference has none in the distorted video. */
function isGone({ samples, reference, distorted, difference }: ReturnType<typeof planeOf>): boolean {
  const coloured = reference >= samples * COLOURED ** 2;
  return coloured && distorted < GONE ** 2 * reference && difference > GONE * reference;
}

function comparedChroma(pair: Both): BothOf<ChromaSquares>[] {
  const [reference, distorted] = [pair.reference.measured, pair.distorted.measured];
  return (reference?.chroma ?? []).flatMap((own, k) => {
    const other = distorted?.chroma?.[k];
    if (!own || !other || !showSameMoment(pair, k)) return [];
    // Small objects of strong colour may still have moved.
    const [luma, otherLuma] = [reference?.squares?.[k], distorted?.squares?.[k]];
    const moved = luma && otherLuma && correlation(luma, otherLuma) < COMPARABLE;
    return moved ? [] : [{ reference: own, distorted: other }];
  });
}

/** Sums over one plane of several frames, of squares except for `sum`. */
function planeOf(frames: readonly BothOf<ChromaSquares>[], part: 'cb' | 'cr', other: 'cb' | 'cr') {
  const sum = (of: (reference: Float32Array, distorted: Float32Array, swapped: Float32Array) => number) =>
    frames.reduce(
      (total, { reference, distorted }) => total + of(reference[part], distorted[part], distorted[other]),
      0,
    );
  return {
    samples: sum(({ length }) => length),
    sum: sum((_, distorted) => distorted.reduce((total, value) => total + value, 0)),
    /** Deviations of the reference from grey and of the distorted video from its mean, and their difference. */
    reference: sum((reference) => deviation(reference, 128)),
    distorted: sum((_, distorted) => deviation(distorted, mean(distorted))),
    difference: sum(difference),
    swapped: sum((reference, _, swapped) => difference(reference, swapped)),
  };
}

function deviation(plane: Float32Array, middle: number): number {
  return plane.reduce((total, value) => total + (value - middle) ** 2, 0);
}

function difference(one: Float32Array, other: Float32Array): number {
  return one.reduce((total, value, i) => total + (value - (other[i] ?? 128)) ** 2, 0);
}

/** HDR transfer functions by ffmpeg's names. */
const HDR = new Map(Object.entries({ smpte2084: 'PQ', 'arib-std-b67': 'HLG' }));

export function isHdr({ transfer }: SideFacts): boolean {
  return transfer !== undefined && HDR.has(transfer);
}

/** zscale's input options; untagged video, which zscale cannot convert, gets defaults. */
function fromHdr({ transfer = 'smpte2084', primaries = 'bt2020', matrix = 'bt2020nc' }: SideFacts) {
  return { from: `zscale=tin=${transfer}:pin=${primaries}:min=${matrix}`, primaries, matrix };
}

export function dynamicRangeFinding(pair: Both): Finding {
  const values = ofBoth(pair, ({ transfer }) => transfer ?? null);
  const [ref, dis] = values.map(
    (transfer) =>
      HDR.get(transfer ?? '') ?? `standard dynamic range (${transfer ?? 'unlabelled, by its levels'})`,
  );
  const fix = ofBoth(pair, isHdr).every(Boolean) ? convertTransfer(pair) : toneMapped(pair);
  return finding('dynamic-range', 'warning', values, fix)`
    reference is ${ref} but distorted is ${dis}; equal sample values mean different light, so the score is meaningless,
    however high it is.`;
}

function convertTransfer(pair: Both): PrepareHint {
  const { from, primaries, matrix } = fromHdr(pair.distorted);
  const filter = `${from}:t=${pair.reference.transfer}:p=${primaries}:m=${matrix}`;
  return filterFiles(pair, { distorted: filter });
}

/** ColorVideoVDP's display for both videos, which must share one transfer function. */
function displayFor({ reference, distorted }: Both): string | undefined {
  if (reference.transfer !== distorted.transfer) return undefined;
  return reference.transfer === 'smpte2084' ? 'standard_hdr_pq' : 'standard_hdr_hlg';
}

/** VMAF models were not trained on HDR. */
export function* hdrFindings(pair: PairFacts): Generator<Finding> {
  const { models = [{ name: 'vmaf_v0.6.1' }], extractors = [] } = pair;
  const hdr = ROLES.filter((role) => isHdr(pair[role]));
  if (models.length === 0 || hdr.length === 0) return;
  const named = ({ transfer }: SideFacts) =>
    transfer === undefined ? null : (HDR.get(transfer) ?? transfer);
  const kinds = [...new Set(hdr.map((role) => named(pair[role])))].join(' and ');
  const display = extractors.includes('cvvdp') ? undefined : displayFor(pair);
  const fix = display
    ? ({ purpose: 'fix', option: 'features', value: `cvvdp=display=${display}` } as const)
    : toneMapped(pair);
  yield finding('hdr', 'warning', ofBoth(pair, named), fix)`
    ${subject(hdr, 'is')} high dynamic range (${kinds}), but ${models.map(({ name }) => name).join(', ')} was trained on
    standard dynamic range only, and there is no public VMAF model for HDR; compare such scores only with each other${
      display ? `, or use ColorVideoVDP, which supports ${kinds}` : ''
    }.`;
}

function toneMapped(pair: Both): PrepareHint {
  const filters = ROLES.filter((role) => isHdr(pair[role])).map((role) => {
    const { from, primaries } = fromHdr(pair[role]);
    const mapped = `${from}:t=linear:p=${primaries}:m=gbr:npl=100,format=gbrpf32le,tonemap=hable`;
    return [role, `${mapped},zscale=p=bt709:t=bt709:m=bt709:r=limited,format=yuv420p`];
  });
  return filterFiles(pair, Object.fromEntries(filters));
}

const SAMPLES =
  'samples are IPT in PQ, which decoders output without the reshaping that the metadata describes';

/** Replaces all other findings about transfer and colours if either video is profile 5. */
export function dolbyVisionFinding(pair: Both): Finding {
  const [ref, dis] = ofBoth(pair, isProfile5);
  const values = ofBoth(pair, ({ dolbyVision }) =>
    dolbyVision === undefined ? null : `profile ${dolbyVision}`,
  );
  if (ref && dis)
    return finding('hdr', 'warning', values)`
      both videos are Dolby Vision profile 5: ${SAMPLES}, so VMAF, trained on standard dynamic range, measures PQ
      intensity before reshaping; compare such scores only with each other.`;
  const who = ref ? 'reference' : 'distorted';
  return finding('dolby-vision', 'warning', values)`
    ${who} is Dolby Vision profile 5 but ${otherRole(who)} is not: ${SAMPLES}; equal sample values mean different light
    and colours, so the score is meaningless, however high it is. Compare the sources of both, or two videos of
    profile 5.`;
}

/** Profile 5 has no base layer that other displays could show. */
export function isProfile5({ dolbyVision }: SideFacts): boolean {
  return dolbyVision === 5;
}
