/**
 * @module web/frames/versus
 * One encode against another: the pairing of their frames by the reference frames that both were scored against.
 */
import type { Report } from 'anyvmaf';
import { type EncodeResult, identityOf } from '../session.js';
import { scaledTo } from '../setup/options.js';
import type { PairSource } from './serve.js';

/** Frames of one encode beside those of another. */
export interface Versus {
  readonly source: PairSource;
  /** What to add to a pair's number of the first encode's run. */
  readonly shift: number;
  /** Whether the other encode has a picture for this pair's number of the first encode's run. */
  has(frame: number): boolean;
}

/** The two sides of an encode's run, as far as they decide which frame belongs to which. */
interface Sides {
  readonly report: Report;
  readonly width: number;
  readonly height: number;
}

function sidesOf({ report }: EncodeResult): Sides | undefined {
  const { pairing, reference, distorted } = report ?? {};
  const rates = [reference, distorted].map((side) => JSON.stringify(side?.frameRate));
  // With another rate, frames belong together by their times.
  if (!report || !pairing || rates[0] !== rates[1]) return undefined;
  return { report, width: pairing.width, height: pairing.height };
}

/**
 * The frames of `result` as distorted ones, with those of `other` in the place of the reference; `undefined` where frames do
 * not belong together one by one.
 * @param source of the encode's own pairs
 */
export function versus(result: EncodeResult, other: EncodeResult, source: PairSource): Versus | undefined {
  const [own, its] = [sidesOf(result), sidesOf(other)];
  if (!own || !its || !other.source) return undefined;
  if (own.report.reference.skipped < 0 || its.report.reference.skipped < 0) return undefined;
  const first = own.report.distorted.skipped;
  // The other encode's frame of the same reference frame.
  const { skipped } = own.report.reference;
  const same = its.report.distorted.skipped + skipped - its.report.reference.skipped;
  const { range: _, offset: __, ...options } = source.options;
  const { width, height } = own;
  const scaled = [own, its].some(({ report: { pairing } }) =>
    [pairing?.distorted].some((side) => side?.width !== width || side.height !== height),
  );
  // The numbers of both runs, less where they begin on the reference.
  const apart = skipped - its.report.reference.skipped;
  return {
    // Before the first frame that both have, there is no pair.
    shift: Math.min(first, same),
    has: (frame) => frame + apart >= 0 && frame + apart < its.report.frameCount,
    source: {
      ...source,
      // By its files: names may be equal.
      key: `${source.key} ${identityOf(other.source)} ${same - first}`,
      reference: other.source.distorted,
      distorted: source.distorted,
      options: {
        ...options,
        offset: same - first,
        ...(scaled && scaledTo({ width, height }, options.scale)),
      },
      total: Math.max(1, source.total + Math.min(first, same)),
    },
  };
}

/**
 * An encode's own pairs with its reference so many frames later; `undefined` before its report is there.
 * @param source of the encode's own pairs
 */
export function shifted({ report }: EncodeResult, source: PairSource, by: number): Versus | undefined {
  if (!report) return undefined;
  const first = report.distorted.skipped;
  const same = report.reference.skipped + by;
  const { range: _, offset: __, ...options } = source.options;
  return {
    shift: Math.min(first, same),
    has: (frame) =>
      frame + same >= 0 && frame + same < (report.reference.frameCount ?? Number.POSITIVE_INFINITY),
    source: {
      ...source,
      key: `${source.key} later ${by}`,
      options: { ...options, offset: same - first },
      total: Math.max(1, source.total + Math.min(first, same)),
    },
  };
}
