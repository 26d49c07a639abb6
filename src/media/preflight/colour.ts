/**
 * @module media/preflight/colour
 * Findings about colour: lost, constant, different or swapped chroma, which VMAF ignores; high dynamic range, mixed
 * dynamic ranges, and Dolby Vision profile 5.
 */
import type { Hint, PrepareHint } from '../../core/errors.js';
import { correlation } from '../evidence/averages.js';
import {
  type Both,
  type Finding,
  filterFiles,
  finding,
  otherRole,
  type PairFacts,
  rounded,
  type SideFacts,
  showSameMoment,
  vf,
} from './findings.js';

/** Least correlation of the pictures to compare their colours. */
const COMPARABLE = 0.95;
/** Least deviation of the reference's chroma from grey, in 8-bit levels. */
const COLOURED = 4;
/** Distorted chroma below this share of the reference's deviation is constant. */
const GONE = 0.1;
/** Least squared difference, relative to the reference's squared deviation. */
const OFF = 0.6;

/** Sums of squares over one plane, of frames measured in both videos. */
interface Plane {
  /** Deviations of the reference from grey and of the distorted video from its mean, and their difference. */
  reference: number;
  distorted: number;
  difference: number;
  sum: number;
}

interface Colours {
  samples: number;
  readonly cb: Plane;
  readonly cr: Plane;
  /** Squared differences with the distorted planes swapped. */
  swapped: number;
}

export function* chromaFindings(pair: PairFacts): Generator<Finding> {
  const { alignment, offset = 0 } = pair;
  if (!alignment || alignment.similarity < COMPARABLE || alignment.offset !== offset) return;
  const found = comparedChroma(pair);
  if (!found) return;
  const { samples, cb, cr, swapped } = found;
  const all = { reference: cb.reference + cr.reference, difference: cb.difference + cr.difference };
  if (all.reference < samples * COLOURED ** 2) return;
  const left = { Cb: rounded(cb.sum / samples, 0), Cr: rounded(cr.sum / samples, 0) };
  const about = (text: string, values: readonly [string, string], fix?: Hint) => {
    const said = `${text}; VMAF measures luma only, so the score does not show it.`;
    return finding('chroma', 'warning', said, values, fix);
  };
  const none = cb.distorted + cr.distorted < GONE ** 2 * all.reference;
  const [gone, ...more] = [
    ...(isGone(cb, samples) ? (['Cb'] as const) : []),
    ...(isGone(cr, samples) ? (['Cr'] as const) : []),
  ];
  if (none && all.difference > GONE * all.reference) {
    const grey = [left.Cb, left.Cr].every((mean) => Math.abs(Number(mean) - 128) < COLOURED);
    const look = grey ? 'is grey' : `has constant chroma (Cb ${left.Cb}, Cr ${left.Cr})`;
    const value = grey ? 'grey' : `${left.Cb}, ${left.Cr}`;
    yield about(`Distorted ${look} but reference has colour`, ['coloured', value]);
  } else if (gone && more.length === 0) {
    const value = `${gone} ${left[gone]}`;
    yield about(`${gone} of distorted is constant (${left[gone]})`, ['coloured', value]);
  } else if (all.difference > OFF * all.reference) {
    const fix = vf('distorted', 'shuffleplanes=0:2:1');
    yield swapped < GONE * all.reference
      ? about('Distorted has Cb and Cr swapped', ['Cb, Cr', 'Cr, Cb'], fix)
      : about('Distorted differs from reference in colour', ['original', 'different']);
  }
}

/** True if a plane with colour in the reference has none in the distorted video. */
function isGone({ reference, distorted, difference }: Plane, samples: number): boolean {
  const coloured = reference >= samples * COLOURED ** 2;
  return coloured && distorted < GONE ** 2 * reference && difference > GONE * reference;
}

function comparedChroma(pair: Both): Colours | undefined {
  const [reference, distorted] = [pair.reference.measured, pair.distorted.measured];
  const plane = (): Plane => ({ reference: 0, distorted: 0, difference: 0, sum: 0 });
  const found: Colours = { samples: 0, cb: plane(), cr: plane(), swapped: 0 };
  for (const [k, own] of (reference?.chroma ?? []).entries()) {
    const other = distorted?.chroma?.[k];
    if (!own || !other || !showSameMoment(pair, k)) continue;
    // Small objects of strong colour may still have moved.
    const [luma, otherLuma] = [reference?.squares?.[k], distorted?.squares?.[k]];
    if (luma && otherLuma && correlation(luma, otherLuma) < COMPARABLE) continue;
    found.samples += own.cb.length;
    addPlane(found.cb, own.cb, other.cb);
    addPlane(found.cr, own.cr, other.cr);
    found.swapped += difference(own.cb, other.cr) + difference(own.cr, other.cb);
  }
  return found.samples === 0 ? undefined : found;
}

function addPlane(plane: Plane, own: Float32Array, other: Float32Array): void {
  const sum = other.reduce((total, value) => total + value, 0);
  const mean = sum / other.length;
  plane.sum += sum;
  plane.reference += own.reduce((total, value) => total + (value - 128) ** 2, 0);
  plane.distorted += other.reduce((total, value) => total + (value - mean) ** 2, 0);
  plane.difference += difference(own, other);
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

function toneMapping(side: SideFacts): string {
  const { from, primaries } = fromHdr(side);
  return (
    `${from}:t=linear:p=${primaries}:m=gbr:npl=100,format=gbrpf32le,tonemap=hable,` +
    'zscale=p=bt709:t=bt709:m=bt709:r=limited,format=yuv420p'
  );
}

export function dynamicRangeFinding(pair: Both): Finding {
  const { reference, distorted } = pair;
  const named = ({ transfer }: SideFacts) =>
    HDR.get(transfer ?? '') ?? `standard dynamic range (${transfer ?? 'unlabelled, by its levels'})`;
  const said =
    `reference is ${named(reference)} but distorted is ${named(distorted)}; equal sample values mean different light, so ` +
    'the score is meaningless, however high it is.';
  const values = [reference.transfer ?? null, distorted.transfer ?? null] as const;
  const fix = isHdr(reference) && isHdr(distorted) ? convertTransfer(pair) : toneMapped(pair);
  return finding('dynamic-range', 'warning', said, values, fix);
}

function convertTransfer({ reference, distorted }: Both): PrepareHint {
  const { from, primaries, matrix } = fromHdr(distorted);
  const filter = `${from}:t=${reference.transfer}:p=${primaries}:m=${matrix}`;
  return filterFiles([['distorted', distorted, filter]]);
}

/** ColorVideoVDP's display for both videos, which must share one transfer function. */
function displayFor({ reference, distorted }: Both): string | undefined {
  if (reference.transfer !== distorted.transfer) return undefined;
  return reference.transfer === 'smpte2084' ? 'standard_hdr_pq' : 'standard_hdr_hlg';
}

/** VMAF models were not trained on HDR. */
export function* hdrFindings(pair: PairFacts): Generator<Finding> {
  const { models = [{ name: 'vmaf_v0.6.1' }], extractors = [] } = pair;
  const hdr = (['reference', 'distorted'] as const).filter((side) => isHdr(pair[side]));
  if (models.length === 0 || hdr.length === 0) return;
  const named = ({ transfer }: SideFacts) =>
    transfer === undefined ? null : (HDR.get(transfer) ?? transfer);
  const who = hdr.length === 2 ? 'both videos are' : `${hdr[0]} is`;
  const kinds = [...new Set(hdr.map((side) => named(pair[side])))].join(' and ');
  const display = extractors.includes('cvvdp') ? undefined : displayFor(pair);
  const said =
    `${who} high dynamic range (${kinds}), but ${models.map(({ name }) => name).join(', ')} was trained on standard ` +
    'dynamic range only, and there is no public VMAF model for HDR; compare such scores only with each other' +
    `${display ? `, or use ColorVideoVDP, which supports ${kinds}` : ''}.`;
  const fix = display
    ? ({ purpose: 'fix', option: 'features', value: `cvvdp=display=${display}` } as const)
    : toneMapped(pair);
  yield finding('hdr', 'warning', said, [named(pair.reference), named(pair.distorted)], fix);
}

function toneMapped(pair: Both): PrepareHint {
  const sides = (['reference', 'distorted'] as const).filter((side) => isHdr(pair[side]));
  return filterFiles(sides.map((side) => [side, pair[side], toneMapping(pair[side])] as const));
}

/** Profile 5 has no base layer that other displays could show. */
const UNSHOWABLE = 5;

const SAMPLES =
  'samples are IPT in PQ, which decoders output without the reshaping that the metadata describes';

/** Replaces all other findings about transfer and colours if either video is profile 5. */
export function* dolbyVisionFindings({ reference, distorted }: Both): Generator<Finding> {
  const [ref, dis] = [isProfile5(reference), isProfile5(distorted)];
  if (!ref && !dis) return;
  const named = ({ dolbyVision }: SideFacts) => (dolbyVision === undefined ? null : `profile ${dolbyVision}`);
  const values = [named(reference), named(distorted)] as const;
  if (ref && dis) {
    const said =
      `both videos are Dolby Vision profile 5: ${SAMPLES}, so VMAF, trained on standard dynamic range, measures PQ intensity ` +
      'before reshaping; compare such scores only with each other.';
    yield finding('hdr', 'warning', said, values);
    return;
  }
  const who = ref ? 'reference' : 'distorted';
  const said =
    `${who} is Dolby Vision profile 5 but ${otherRole(who)} is not: ${SAMPLES}; equal sample values mean different light and colours, so ` +
    'the score is meaningless, however high it is. Compare the sources of both, or two videos of profile 5.';
  yield finding('dolby-vision', 'warning', said, values);
}

export function isProfile5({ dolbyVision }: SideFacts): boolean {
  return dolbyVision === UNSHOWABLE;
}
