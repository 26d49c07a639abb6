/**
 * @module web/frames/versus
 * Pairs the frames of two encodes by the reference frames that both were scored against.
 */
import type { Report } from 'anyvmaf';
import { type EncodeResult, identityOf } from '../session.js';
import { scaledTo } from '../setup/options.js';
import type { PairSource } from './serve.js';

export interface Versus {
  readonly source: PairSource;
  /** Added to a pair's number in the first encode's run. */
  readonly shift: number;
  /** True if the other encode has a picture for a pair's number in the first encode's run. */
  has(frame: number): boolean;
}

interface Sides {
  readonly report: Report;
  readonly width: number;
  readonly height: number;
}

function sidesOf({ report }: EncodeResult): Sides | undefined {
  const { pairing, reference, distorted } = report ?? {};
  const rates = [reference, distorted].map((side) => JSON.stringify(side?.frameRate));
  // At different rates frames belong together by time.
  if (!report || !pairing || rates[0] !== rates[1]) return undefined;
  return { report, width: pairing.width, height: pairing.height };
}

/**
 * Pairs `result`, whose own pairs are `source`, with `other` as reference; `undefined` if they do not pair one to one.
 */
export function versus(result: EncodeResult, other: EncodeResult, source: PairSource): Versus | undefined {
  const [own, its] = [sidesOf(result), sidesOf(other)];
  if (!own || !its || !other.source) return undefined;
  if (own.report.reference.skipped < 0 || its.report.reference.skipped < 0) return undefined;
  const first = own.report.distorted.skipped;
  // The other encode's frame for the same reference frame.
  const { skipped } = own.report.reference;
  const same = its.report.distorted.skipped + skipped - its.report.reference.skipped;
  const { range: _, offset: __, ...options } = source.options;
  const { width, height } = own;
  const scaled = [own, its].some(({ report: { pairing } }) =>
    [pairing?.distorted].some((side) => side?.width !== width || side.height !== height),
  );
  // Difference between the two runs' numbers of a reference frame.
  const apart = skipped - its.report.reference.skipped;
  return {
    // There is no pair before the first frame that both have.
    shift: Math.min(first, same),
    has: (frame) => frame + apart >= 0 && frame + apart < its.report.frameCount,
    source: {
      ...source,
      // Identifies the files: names may be equal.
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

/** The encode's own pairs, `source`, with the reference `by` frames later; `undefined` without a report. */
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
