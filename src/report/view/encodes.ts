/**
 * @module report/view/encodes
 * Encodes of one reference as charts and tables see them: finished reports, saved files that say less, or running jobs.
 */
import type { SideFacts } from '../../media/preflight/findings.js';
import {
  averageBitrate,
  axisOrigin,
  baseName,
  bitrateOf,
  type Facts,
  fileSizeOf,
  isMember,
  isScoreOf,
  keptOf,
  pairRate,
  rangeOf,
  SCORE,
  scoreText,
  shortText,
} from '../facts.js';
import { isWorseHigh } from '../limits.js';
import { pooledMetric } from '../pool.js';
import { askedOf } from '../quality-metrics.js';
import { type Ranking, ranking } from '../ranking.js';
import type { PERCENTS, PooledMetric } from '../schema.js';

export type { Facts };

export type VideoFacts = Pick<SideFacts, 'codec' | 'encoderSettings' | 'width' | 'height' | 'bitDepth'>;

export interface Encode {
  readonly index: number;
  /** As much of its name as distinguishes it. */
  readonly name: string;
  readonly facts: Facts;
  /** Frames scored. */
  readonly count: number;
  /** In the order of the log. */
  readonly metrics: readonly string[];
  /** Reference frames before the first pair, in pairs of the same duration; `undefined` while unknown. */
  readonly skipped: number | undefined;
  /** Bytes of the distorted file, if the facts do not say. */
  readonly fileSize: number | undefined;
  /** Facts of the distorted video from its inspection. */
  readonly looked?: SideFacts;
  /** True if its run was stopped: the values cover only its first frames. */
  readonly partial?: boolean;
  /** True while its frames are still read. */
  readonly growing?: boolean;
  /** Curve that the user put it into; default: by facts of the video. */
  readonly series?: string | undefined;
  /** True if the user excluded it from tables, curves and comparisons. */
  readonly left?: boolean;
}

export type Percent = (typeof PERCENTS)[number];

export interface Pooled extends PooledMetric {
  readonly stddev: number | undefined;
  readonly percentile: (percent: Percent) => number | undefined;
}

export function statedPooled({ pooled_metrics, distribution }: Facts, metric: string): Pooled | undefined {
  const pooled = pooled_metrics && pooledMetric({ pooled_metrics }, metric);
  const spread = distribution?.[metric];
  if (!pooled) return undefined;
  return { ...pooled, stddev: spread?.stddev, percentile: (percent) => spread?.percentiles[`p${percent}`] };
}

/** Why numbers of encodes are not comparable. */
export type Difference = 'partial' | 'references' | 'models' | 'sizes' | 'counts' | 'frames';

/** Facts that comparable encodes share, the gravest first. */
const COMMON: readonly (readonly [Difference, (encode: Encode) => unknown])[] = [
  ['references', ({ facts }) => facts.reference?.name],
  ['models', ({ facts }) => facts.models?.map(({ name, source, options }) => [name, source, options])],
  [
    'sizes',
    ({ facts: { pairing, reference } }) => [(pairing ?? reference)?.width, (pairing ?? reference)?.height],
  ],
  ['counts', ({ count }) => count],
  ['frames', ({ skipped = 0 }) => skipped],
];

/**
 * Finds encodes whose numbers are comparable: the largest group with the same reference, models, size and frames, or
 * the first of equally large ones.
 * @returns at least two `alike`, or none, and the others with the reason
 */
export function comparable<E extends Encode>(list: readonly E[]) {
  const keyOf = (encode: E) => JSON.stringify(COMMON.map(([, key]) => key(encode)));
  const taken = list.filter(({ left }) => !left);
  const whole = taken.filter(({ partial }) => !partial);
  const groups = whole.map((encode) => whole.filter((other) => keyOf(other) === keyOf(encode)));
  const [most = []] = groups.toSorted((a, b) => b.length - a.length);
  const alike = most.length > 1 ? most : [];
  // If nothing is comparable, compare with the first.
  const [model = taken[0]] = most;
  const differs = (encode: E) =>
    COMMON.find(([, key]) => model && JSON.stringify(key(encode)) !== JSON.stringify(key(model)))?.[0];
  const others = taken.flatMap((encode) => {
    const why = encode.partial ? 'partial' : differs(encode);
    return why === undefined ? [] : [{ encode, why }];
  });
  return { alike, others };
}

export abstract class EncodeList<E extends Encode = Encode> {
  abstract readonly list: readonly E[];

  /** Those that the user did not exclude. */
  get taken(): readonly E[] {
    return this.list.filter(({ left }) => !left);
  }

  /** `undefined` if a frame has no value. */
  abstract pooled(encode: E, metric: string | undefined): Pooled | undefined;

  /** The view's main metric. */
  get ranking(): Ranking | undefined {
    for (const { facts, metrics } of this.list) {
      const score = facts.models ? undefined : metrics.find((name) => SCORE.test(name));
      const found =
        score === undefined
          ? ranking({ ...facts, metrics: [...metrics] })
          : ({ metric: score, worse: 'low' } as const);
      if (found) return found;
    }
    return undefined;
  }

  /** All metrics in the order of the log, without single members of bootstrap collections. */
  get metrics(): string[] {
    const models = this.list.flatMap(({ facts }) => facts.models?.filter((model) => model.collection) ?? []);
    const names = models.length > 0 ? models.map(({ name }) => name) : ['vmaf'];
    const all = new Set(this.list.flatMap(({ metrics }) => metrics));
    return [...all].filter((metric) => !isMember(names, metric));
  }

  /** `metrics`, the main one first. */
  get ordered(): string[] {
    const main = this.ranking?.metric;
    return this.metrics.sort((a, b) => Number(b === main) - Number(a === main));
  }

  /** Scores, and metrics that measure quality by themselves, such as PSNR; the main one first. */
  get asked(): string[] {
    const facts = this.list.map((encode) => encode.facts);
    return askedOf(this.ordered, facts);
  }

  /** Metrics that the frames will have besides the main one, as far as they are known before the first frame. */
  get expected(): readonly string[] {
    return [];
  }

  get inner(): string[] {
    const { asked } = this;
    return this.metrics.filter((name) => !asked.includes(name));
  }

  /** True if encodes begin on different reference frames; the axis then counts reference frames to align content. */
  get apart(): boolean {
    return new Set(this.#starts).size > 1;
  }

  /** Reference frame at 0 of the frame axis. */
  get origin(): number {
    return axisOrigin(this.#starts);
  }

  get #starts() {
    return this.list.flatMap(({ skipped }) => skipped ?? []);
  }

  /** Pairs per second; `undefined` if unknown, or if encodes differ in it, so that no time holds for all. */
  get rate(): number | undefined {
    const rates = this.list.flatMap(({ facts }) => pairRate(facts) ?? []);
    // Files state a rate more or less exactly.
    return Math.max(...rates) < 1.001 * Math.min(...rates) ? rates[0] : undefined;
  }

  /** Seconds from the reference's start to a frame of the axis; `undefined` without a frame rate. */
  timeOf(frame: number): number | undefined {
    const { rate } = this;
    return rate === undefined ? undefined : (frame + this.origin) / rate;
  }

  /** Range that scores are clipped to, 0 to 100 by default; `undefined` if a model does not clip. */
  rangeOf(metric: string | undefined): readonly [least: number, greatest: number] | undefined {
    const models = this.list.flatMap(({ facts }) => facts.models ?? []);
    const ranges = models.filter(({ name }) => name === metric).map(rangeOf);
    const known = ranges.filter((range) => range !== undefined);
    if (known.length < ranges.length) return undefined;
    if (known.length === 0) return [0, 100];
    return [Math.min(...known.map(([least]) => least)), Math.max(...known.map(([, most]) => most))];
  }

  isScore(metric: string | undefined): boolean {
    return this.list.some(({ facts }) => isScoreOf(facts, metric));
  }

  isWorseHigh(metric: string): boolean {
    return this.list.some(({ facts }) => isWorseHigh(facts, metric));
  }

  valueText(metric: string | undefined, value: number | undefined): string {
    return this.isScore(metric) ? scoreText(value) : shortText(value);
  }
}

/** Bytes of the distorted file. */
export function sizeOf({ facts, fileSize }: Encode): number | undefined {
  return fileSizeOf(facts) ?? fileSize;
}

/** As {@link keptOf}, once all frames are read. */
export function windowOf({ facts, count, growing }: Encode): number | undefined {
  return growing ? undefined : keptOf(facts, count);
}

/** The distorted video as its report or its inspection describes it. */
export function videoOf({ facts, looked }: Encode): VideoFacts | undefined {
  return facts.pairing?.distorted ?? looked;
}

export function codecOf(encode: Encode): string | undefined {
  return videoOf(encode)?.codec;
}

/** Bits per second of the distorted video. */
export function rateOf(encode: Encode): number | undefined {
  const { facts, looked } = encode;
  const bytes = sizeOf(encode);
  return bitrateOf(facts, bytes) ?? looked?.bitrate ?? (looked && averageBitrate(looked, bytes));
}

/** Base names if they differ, else whole names, else numbered base names. */
export function distinctNames(names: readonly string[]): string[] {
  const short = names.map(baseName);
  if (new Set(short).size === names.length) return short;
  if (new Set(names).size === names.length) return [...names];
  return short.map((name, i) => `${i + 1}: ${name}`);
}
