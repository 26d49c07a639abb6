/**
 * @module media/preflight/chroma
 * Findings about colour that VMAF does not see: chroma that is gone, constant, or in the other plane.
 */
import { finding, rateOf, rounded, vf } from './text.js';
import type { Finding, PreflightContext, SideFacts } from './types.js';

/** Least correlation of the pictures for their colours to be compared. */
const COMPARABLE = 0.95;

/** Least deviation of the reference's chroma from grey, in 8-bit levels: less colour tells nothing. */
const COLOURED = 4;

/** Share of the reference's colour below which what is left in the distorted video is none. */
const GONE = 0.1;

/** Least share of the reference's colour by which the distorted one's is off, where it is there. */
const OFF = 0.6;

/** Sums over the frames that were measured in both videos. */
interface Colours {
  samples: number;
  /** Squares of the reference's deviation from grey, of the distorted one's from its own mean, of their differences. */
  reference: number;
  distorted: number;
  straight: number;
  swapped: number;
  /** Of the distorted one's planes. */
  cb: number;
  cr: number;
}

/** Findings about colour, if frames of both were measured at the same places. */
export function* chromaFindings(
  reference: SideFacts,
  distorted: SideFacts,
  { alignment, offset = 0 }: PreflightContext,
): Generator<Finding> {
  if (!alignment || alignment.similarity < COMPARABLE || alignment.offset !== offset) return;
  const found = coloursOf(reference, distorted);
  if (!found || found.reference < found.samples * COLOURED ** 2) return;
  const [cb, cr] = [found.cb / found.samples, found.cr / found.samples].map((mean) => rounded(mean, 0));
  const about = (what: string, values: readonly [string, string], fix?: string) =>
    finding(
      'chroma',
      'warning',
      `${what}; VMAF measures luma only, so that the score does not show it.`,
      values,
      fix === undefined ? undefined : vf('distorted', fix),
    );
  if (found.distorted < GONE ** 2 * found.reference && found.straight > GONE * found.reference) {
    const grey = Math.abs(Number(cb) - 128) < COLOURED && Math.abs(Number(cr) - 128) < COLOURED;
    const left = grey ? 'has none' : `has one colour all over (Cb ${cb}, Cr ${cr})`;
    yield about(`Reference has colours, but distorted ${left}`, ['coloured', grey ? 'grey' : `${cb}, ${cr}`]);
  } else if (found.straight > OFF * found.reference) {
    const swapped = found.swapped < GONE * found.reference;
    yield swapped
      ? about('Distorted has the two planes of chroma swapped', ['Cb, Cr', 'Cr, Cb'], 'shuffleplanes=0:2:1')
      : about('Distorted has other colours than reference', ['as they are', 'others']);
  }
}

function coloursOf(reference: SideFacts, distorted: SideFacts): Colours | undefined {
  const sums: Colours = { samples: 0, reference: 0, distorted: 0, straight: 0, swapped: 0, cb: 0, cr: 0 };
  const others = distorted.measured?.chroma ?? [];
  for (const [k, own] of (reference.measured?.chroma ?? []).entries()) {
    const other = others[k];
    if (!own || !other || !showSameMoment(reference, distorted, k)) continue;
    const means = [mean(other.cb), mean(other.cr)] as const;
    for (let i = 0; i < own.cb.length; i++) {
      const [b, r] = [own.cb[i] ?? 128, own.cr[i] ?? 128];
      const [ob, or] = [other.cb[i] ?? 128, other.cr[i] ?? 128];
      sums.samples++;
      sums.reference += (b - 128) ** 2 + (r - 128) ** 2;
      sums.distorted += (ob - means[0]) ** 2 + (or - means[1]) ** 2;
      sums.straight += (ob - b) ** 2 + (or - r) ** 2;
      sums.swapped += (or - b) ** 2 + (ob - r) ** 2;
      sums.cb += ob;
      sums.cr += or;
    }
  }
  return sums.samples === 0 ? undefined : sums;
}

/** Whether the `k`-th measured frames are at most a frame apart: by time where both have times, else by number. */
function showSameMoment(reference: SideFacts, distorted: SideFacts, k: number): boolean {
  const [ref, dis] = [reference.measured?.frames[k], distorted.measured?.frames[k]];
  if (ref === undefined || dis === undefined) return false;
  const [refRate, disRate] = [rateOf(reference), rateOf(distorted)];
  if (!reference.timestamps || !distorted.timestamps || !refRate || !disRate) return Math.abs(ref - dis) <= 1;
  return Math.abs(ref / refRate - dis / disRate) * Math.min(refRate, disRate) <= 1;
}

const mean = (values: Float32Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;
