/**
 * @module media/preflight/chroma
 * Findings about colour, which VMAF ignores: chroma that is lost, constant, different or swapped.
 */

import { correlation } from '../evidence/statistics.js';
import { finding, rounded, showSameMoment, vf } from './text.js';
import type { Finding, PreflightContext, SideFacts } from './types.js';

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
