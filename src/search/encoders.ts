/**
 * @module search/encoders
 * How the quality of an encoder is set: which parameter, which values it tells apart, and where to begin.
 */
import { usageError } from '../core/errors.js';
import { showValue } from '../core/printable.js';
import type { EncoderFacts } from './host.js';
import type { Grid } from './strategy.js';

/** What is searched. */
export type ParameterName = 'crf' | 'cq' | 'qp' | 'global_quality' | 'bitrate';

/** A parameter of an encoder, and how to set it. */
export interface Parameter {
  readonly name: ParameterName;
  /** Values from the best picture to the smallest file; bit rates are in bits per second. */
  readonly grid: Grid;
  /** Arguments of ffmpeg that set a value. */
  args(value: number): readonly string[];
}

/** Part of the values to search, ends included. */
export interface ValueRange {
  readonly min: number;
  readonly max: number;
  /** Distance of values, where it is not the encoder's own. */
  readonly step?: number;
}

interface Scale {
  readonly name: Exclude<ParameterName, 'bitrate'>;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly start: number;
  /** VMAF points that a value of 1 costs about. */
  readonly slope: number;
  readonly extra?: readonly string[];
}

/** Encoders whose scales are known. Steps are those of the parameter's type where ffmpeg takes fractions. */
const SCALES: Readonly<Record<string, Scale>> = {
  libx264: { name: 'crf', min: 0, max: 51, step: 0.5, start: 24, slope: 1.6 },
  libx265: { name: 'crf', min: 0, max: 51, step: 0.5, start: 25, slope: 1.6 },
  libsvtav1: { name: 'crf', min: 1, max: 63, step: 0.25, start: 36, slope: 0.8 },
  'libvpx-vp9': { name: 'crf', min: 0, max: 63, step: 1, start: 34, slope: 0.8, extra: ['-b:v', '0'] },
  'libaom-av1': { name: 'crf', min: 0, max: 63, step: 1, start: 34, slope: 0.8, extra: ['-b:v', '0'] },
  librav1e: { name: 'qp', min: 0, max: 255, step: 1, start: 100, slope: 0.2 },
};

/** Parameters of encoders that are not listed, the first that one has; whole numbers, as hardware takes them. */
const GENERAL: readonly Scale[] = [
  { name: 'crf', min: 0, max: 63, step: 1, start: 30, slope: 1 },
  { name: 'cq', min: 1, max: 51, step: 1, start: 26, slope: 1.5, extra: ['-b:v', '0'] },
  { name: 'global_quality', min: 1, max: 51, step: 1, start: 26, slope: 1.5 },
  { name: 'qp', min: 0, max: 51, step: 1, start: 26, slope: 1.5 },
];

/** Ratio of successive bit rates: about as far apart as two values of CRF. */
const RATE_STEP = 2 ** (1 / 12);
const LOWEST_RATE = 50_000;
const HIGHEST_RATE = 200_000_000;

/**
 * The parameter to search.
 * @param wanted which one; default: the encoder's own scale of constant quality
 * @throws {AnyvmafError} `usage` for a parameter that the encoder does not have, and for a range without values
 */
export function parameterOf(
  facts: EncoderFacts,
  wanted: ParameterName | undefined,
  range: ValueRange | undefined,
): Parameter {
  if (wanted === 'bitrate') return bitrate(range);
  const listed = SCALES[facts.name];
  const found = [...(listed ? [listed] : []), ...GENERAL].find(
    ({ name }) => (wanted === undefined || name === wanted) && facts.options.has(name),
  );
  if (!found) {
    if (wanted === undefined) return bitrate(range);
    throw usageError(`${facts.name} has no parameter ${wanted}; leave it out, or use bitrate.`);
  }
  // What takes whole numbers only has no finer step.
  const own = facts.options.get(found.name) === 'int' ? Math.max(1, found.step) : found.step;
  const scale = { ...found, step: own };
  const values = valuesOf(scale, range);
  const start = indexNear(values, scale.start);
  const step = Math.abs((values[1] ?? 0) - (values[0] ?? 0)) || scale.step;
  return {
    name: scale.name,
    grid: { values, start, slope: scale.slope * step },
    args: (value) => [`-${scale.name}`, String(value), ...(scale.extra ?? [])],
  };
}

function valuesOf(scale: Scale, range: ValueRange | undefined): readonly number[] {
  const { min, max } = range ?? scale;
  const step = range?.step ?? scale.step;
  const ok =
    Number.isFinite(min) && Number.isFinite(max) && min <= max && min >= scale.min && max <= scale.max;
  if (!ok || !(step > 0)) {
    throw usageError(
      `the range is ${showValue(range)}, but ${scale.name} goes from ${scale.min} to ${scale.max} in steps of ${scale.step}.`,
    );
  }
  const count = Math.floor((max - min) / step + 1e-9) + 1;
  // Without the noise of adding up steps in binary.
  return Array.from({ length: count }, (_, i) => Number((min + i * step).toFixed(6)));
}

function bitrate(range: ValueRange | undefined): Parameter {
  const { min, max } = range ?? { min: LOWEST_RATE, max: HIGHEST_RATE };
  if (!(min >= 1000 && max <= 1e10 && min <= max)) {
    throw usageError(
      `the range is ${showValue(range)}, but bit rates go from 1000 to 10000000000 bits per second.`,
    );
  }
  const values: number[] = [];
  for (let rate = max; rate >= min; rate /= RATE_STEP) values.push(Math.round(rate));
  return {
    name: 'bitrate',
    grid: { values, start: indexNear(values, 3_000_000), slope: 0.6 },
    args: (value) => ['-b:v', String(value)],
  };
}

function indexNear(values: readonly number[], wanted: number): number {
  let best = 0;
  values.forEach((value, i) => {
    if (Math.abs(value - wanted) < Math.abs((values[best] ?? Number.NaN) - wanted)) best = i;
  });
  return best;
}
