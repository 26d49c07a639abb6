/**
 * @module report/whole-value
 * Values of a whole run that follow from values of its frames, so that samples and shots tell of them too.
 */
import { reportedFeature } from '../metrics/extractors.js';
import { jodOf, power } from '../metrics/jod.js';

/** How a value of the whole follows from frames: by a mean. */
export interface WholeValue {
  /** What frames have, as reports call it. */
  readonly from: string;
  /** What is averaged, of the value of a frame. */
  term(value: number): number;
  /** The value of the whole, of the mean. */
  of(mean: number): number;
}

const WHOLE: Readonly<Record<string, WholeValue>> = {
  cvvdp: {
    from: 'cvvdp_q',
    term: (q) => power(q, 2),
    of: (mean) => jodOf(power(Math.max(0, mean), 0.5)),
  },
};

/** A metric's name without options; empty for one of no extractor. */
export function plainName(metric: string): string {
  return reportedFeature(metric)?.alias ?? '';
}

/**
 * How a metric of the whole follows from frames.
 * @param metric may end in options
 * @returns `undefined` if it does not
 */
export function wholeValue(metric: string): WholeValue | undefined {
  const alias = plainName(metric);
  const found = Object.hasOwn(WHOLE, alias) ? WHOLE[alias] : undefined;
  return found && { ...found, from: found.from + metric.slice(alias.length) };
}

/** The value of the whole. @param values of frames */
export function valueOfWhole({ term, of }: WholeValue, values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += term(values[i] ?? Number.NaN);
  return of(sum / values.length);
}
