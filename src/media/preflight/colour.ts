/**
 * @module media/preflight/colour
 * Findings about colour: chroma that is lost, constant, different or swapped, which VMAF ignores; high dynamic range,
 * pairs that mix dynamic ranges, and Dolby Vision profile 5.
 */

import type { PrepareHint } from '../../core/errors.js';
import { correlation } from '../evidence/averages.js';
import {
  type Finding,
  filterFiles,
  finding,
  otherRole,
  type PreflightContext,
  rounded,
  type SideFacts,
  showSameMoment,
  vf,
} from './findings.js';

/** Least correlation of the pictures to compare their colours. */
const COMPARABLE = 0.95;

/** Least deviation of the reference's chroma from grey, in 8-bit levels. */
const COLOURED = 4;

/** Below this share of the reference's deviation, distorted chroma counts as constant. */
const GONE = 0.1;

/** Least squared difference relative to the reference's squared deviation. */
const OFF = 0.6;

/** Sums of squares over one plane, for frames measured in both videos. */
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

export function* chromaFindings(
  reference: SideFacts,
  distorted: SideFacts,
  { alignment, offset = 0 }: PreflightContext,
): Generator<Finding> {
  if (!alignment || alignment.similarity < COMPARABLE || alignment.offset !== offset) return;
  const found = comparedChroma(reference, distorted);
  if (!found) return;
  const { samples, cb, cr, swapped } = found;
  const all = { reference: cb.reference + cr.reference, difference: cb.difference + cr.difference };
  if (all.reference < samples * COLOURED ** 2) return;
  const left = { Cb: rounded(cb.sum / samples, 0), Cr: rounded(cr.sum / samples, 0) };
  const about = (what: string, values: readonly [string, string], fix?: string) =>
    finding(
      'chroma',
      'warning',
      `${what}; VMAF measures luma only, so the score does not show it.`,
      values,
      fix === undefined ? undefined : vf('distorted', fix),
    );
  const none = cb.distorted + cr.distorted < GONE ** 2 * all.reference;
  const gone = [
    ...(isGone(cb, samples) ? (['Cb'] as const) : []),
    ...(isGone(cr, samples) ? (['Cr'] as const) : []),
  ];
  if (none && all.difference > GONE * all.reference) {
    const grey = [left.Cb, left.Cr].every((mean) => Math.abs(Number(mean) - 128) < COLOURED);
    const what = grey ? 'is grey' : `has constant chroma (Cb ${left.Cb}, Cr ${left.Cr})`;
    const value = grey ? 'grey' : `${left.Cb}, ${left.Cr}`;
    yield about(`Distorted ${what} but reference has colour`, ['coloured', value]);
  } else if (gone[0] && gone.length === 1) {
    const [plane] = gone;
    yield about(`${plane} of distorted is constant (${left[plane]})`, [
      'coloured',
      `${plane} ${left[plane]}`,
    ]);
  } else if (all.difference > OFF * all.reference) {
    yield swapped < GONE * all.reference
      ? about('Distorted has Cb and Cr swapped', ['Cb, Cr', 'Cr, Cb'], 'shuffleplanes=0:2:1')
      : about('Distorted differs from reference in colour', ['original', 'different']);
  }
}

/** True if a plane with colour in the reference is constant in the distorted video. */
function isGone({ reference, distorted, difference }: Plane, samples: number): boolean {
  const coloured = reference >= samples * COLOURED ** 2;
  return coloured && distorted < GONE ** 2 * reference && difference > GONE * reference;
}

function comparedChroma(reference: SideFacts, distorted: SideFacts): Colours | undefined {
  const plane = (): Plane => ({ reference: 0, distorted: 0, difference: 0, sum: 0 });
  const found: Colours = { samples: 0, cb: plane(), cr: plane(), swapped: 0 };
  const others = distorted.measured?.chroma ?? [];
  for (const [k, own] of (reference.measured?.chroma ?? []).entries()) {
    const other = others[k];
    if (!own || !other || !showSameMoment(reference, distorted, k)) continue;
    if (!showSamePicture(reference, distorted, k)) continue;
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

/** True if luma of the `k`-th measured frames matches; small objects of strong colour may still have moved. */
function showSamePicture(reference: SideFacts, distorted: SideFacts, k: number): boolean {
  const [own, other] = [reference.measured?.squares?.[k], distorted.measured?.squares?.[k]];
  return !own || !other || correlation(own, other) >= COMPARABLE;
}

/** HDR transfer functions by ffmpeg's names. */
const HDR = new Map([
  ['smpte2084', 'PQ'],
  ['arib-std-b67', 'HLG'],
]);

export function isHdr({ transfer }: SideFacts): boolean {
  return transfer !== undefined && HDR.has(transfer);
}

/** zscale's input options, with defaults for untagged video, which zscale cannot convert. */
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

export function dynamicRangeFinding(reference: SideFacts, distorted: SideFacts): Finding {
  const named = ({ transfer }: SideFacts) =>
    HDR.get(transfer ?? '') ?? `standard dynamic range (${transfer ?? 'unlabelled, by its levels'})`;
  return finding(
    'dynamic-range',
    'warning',
    `reference is ${named(reference)} but distorted is ${named(distorted)}; equal sample values mean different light, so ` +
      'the score is meaningless, however high it is.',
    [reference.transfer ?? null, distorted.transfer ?? null],
    isHdr(reference) && isHdr(distorted)
      ? convertTransfer(reference, distorted)
      : toneMapped(reference, distorted),
  );
}

function convertTransfer(reference: SideFacts, distorted: SideFacts): PrepareHint {
  const { from, primaries, matrix } = fromHdr(distorted);
  const filter = `${from}:t=${reference.transfer}:p=${primaries}:m=${matrix}`;
  return filterFiles([['distorted', distorted, filter]]);
}

/** ColorVideoVDP's display for both videos, which must share one transfer function. */
function displayFor(reference: SideFacts, distorted: SideFacts): string | undefined {
  if (reference.transfer !== distorted.transfer) return undefined;
  return reference.transfer === 'smpte2084' ? 'standard_hdr_pq' : 'standard_hdr_hlg';
}

/** VMAF models were not trained on HDR. */
export function* hdrFindings(
  reference: SideFacts,
  distorted: SideFacts,
  { models = [{ name: 'vmaf_v0.6.1' }], extractors = [] }: PreflightContext,
): Generator<Finding> {
  if (models.length === 0 || (!isHdr(reference) && !isHdr(distorted))) return;
  const named = ({ transfer }: SideFacts) =>
    transfer === undefined ? null : (HDR.get(transfer) ?? transfer);
  const [ref, dis] = [named(reference), named(distorted)];
  const who =
    isHdr(reference) && isHdr(distorted)
      ? 'both videos are'
      : isHdr(reference)
        ? 'reference is'
        : 'distorted is';
  const kinds = [...new Set([reference, distorted].filter(isHdr).map(named))].join(' and ');
  const display = extractors.includes('cvvdp') ? undefined : displayFor(reference, distorted);
  yield finding(
    'hdr',
    'warning',
    `${who} high dynamic range (${kinds}), but ${models.map(({ name }) => name).join(', ')} was trained on standard ` +
      'dynamic range only, and there is no public VMAF model for HDR; compare such scores only with each other' +
      `${display ? `, or use ColorVideoVDP, which supports ${kinds}` : ''}.`,
    [ref, dis],
    display
      ? { purpose: 'fix', option: 'features', value: `cvvdp=display=${display}` }
      : toneMapped(reference, distorted),
  );
}

function toneMapped(reference: SideFacts, distorted: SideFacts): PrepareHint {
  const both = [
    ['reference', reference],
    ['distorted', distorted],
  ] as const;
  const sides = both.filter(([, side]) => isHdr(side));
  return filterFiles(sides.map(([side, facts]) => [side, facts, toneMapping(facts)] as const));
}

/** Profile 5 has no base layer that other displays can show. */
const UNSHOWABLE = 5;

const SAMPLES =
  'samples are IPT in PQ, which decoders output without the reshaping that the metadata describes';

/** The only finding about transfer and colours if either video is profile 5. */
export function* dolbyVisionFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  const [ref, dis] = [reference, distorted].map(isProfile5);
  if (!ref && !dis) return;
  const named = ({ dolbyVision }: SideFacts) => (dolbyVision === undefined ? null : `profile ${dolbyVision}`);
  const values = [named(reference), named(distorted)] as const;
  if (ref && dis) {
    yield finding(
      'hdr',
      'warning',
      `both videos are Dolby Vision profile 5: ${SAMPLES}, so VMAF, trained on standard dynamic range, measures PQ intensity ` +
        'before reshaping; compare such scores only with each other.',
      values,
    );
    return;
  }
  const who = ref ? 'reference' : 'distorted';
  yield finding(
    'dolby-vision',
    'warning',
    `${who} is Dolby Vision profile 5 but ${otherRole(who)} is not: ${SAMPLES}; equal sample values mean different light and colours, so ` +
      'the score is meaningless, however high it is. Compare the sources of both, or two videos of profile 5.',
    values,
  );
}

export function isProfile5({ dolbyVision }: SideFacts): boolean {
  return dolbyVision === UNSHOWABLE;
}
