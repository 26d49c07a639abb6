/**
 * @module live/alarms
 * Rules such as `vmaf.p5<80 for 3s`: a statistic of each second's frames, compared with a limit; and the score that a measurement is
 * mainly about, frame by frame.
 */
import { usageError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import type { SwapOutcome } from '../engine/contract/types.js';
import { statisticOf } from '../report/held.js';
import {
  decimalBound,
  isAggregate,
  metricIn,
  type PooledStatistic,
  parsePooledName,
} from '../report/limits.js';

/** Longest text of a rule. */
const MAX_RULE = 200;

/** Rules that are watched at the same time, unless more were given at the start. */
export const MOST_RULES = 32;

/** Seconds, or frames, that a rule may look at. */
const MOST = 86_400;

/** A rule that came true, or is over. */
export interface Alarm {
  /** The rule as it was given. */
  readonly rule: string;
  readonly metric: string;
  /** Whether it begins or ends. */
  readonly raised: boolean;
  /** The last frame that was looked at. */
  readonly frame: number;
  /** The statistic. */
  readonly value: number;
}

/** A parsed rule. */
export interface AlarmRule {
  readonly text: string;
  /** A number is a percentile. */
  readonly statistic: PooledStatistic | number;
  /** Name of a metric; absent for the first model. */
  readonly metric: string | undefined;
  readonly relation: '<' | '<=' | '>' | '>=';
  readonly limit: number;
  /** How long it must hold. */
  readonly length: number;
  readonly unit: 's' | 'f';
}

const RULE = /^(?:(.{1,120}?)\s*([<>]=?)\s*)?([-+.\d]{1,40})(?:\s+for\s+(\d+)(s|f))?$/;

/**
 * Reads a rule: a pooled value as gates name it (`vmaf.p5`, `p5`, `psnr_y.min`; any percentile from p0 to p99; `min(psnr_y)`
 * is `psnr_y.min`), a comparison, a limit, and for how many seconds it must hold (`for 3s`; 1 by default), or over how many
 * frames it is taken (`for 75f`). A number alone is the mean below it.
 * @throws {AnyvmafError} `usage` for anything else
 */
export function parseAlarm(text: string): AlarmRule {
  const found = text.length <= MAX_RULE ? RULE.exec(text.trim()) : null;
  const [, what = 'mean', relation = '<', bound = '', time, unit] = found ?? [];
  const length = Number(time ?? 1);
  const limit = decimalBound(bound);
  const name = parseName(what);
  if (!found || !name || limit === undefined || length < 1 || length > MOST) {
    throw usageError(
      `The alarm is ${quoted(text.slice(0, MAX_RULE))}, but it must be a pooled value, a comparison and a time, such as ` +
        "'p5<80 for 3s' or 'psnr_y.min<30 for 50f'",
    );
  }
  return {
    text: text.trim(),
    ...name,
    relation: relation as AlarmRule['relation'],
    limit,
    length,
    unit: unit === 'f' ? 'f' : 's',
  };
}

function parseName(text: string): Pick<AlarmRule, 'metric' | 'statistic'> | undefined {
  const [, of, metric] = /^(\w{1,20})\(([\w.:-]{1,100})\)$/.exec(text) ?? [];
  const whole = metric === undefined ? text : `${metric}.${of}`;
  const known = parsePooledName(whole);
  if (known?.statistic) return { metric: known.metric, statistic: known.statistic };
  const [, other, percent] = /^(?:(.+)[.:])?p(\d{1,2})$/.exec(whole) ?? [];
  if (percent !== undefined) return { metric: other, statistic: Number(percent) };
  return known && metric === undefined ? { metric: known.metric, statistic: 'mean' } : undefined;
}

/** Watches one rule over the frames of a measurement, in bounded memory. */
class AlarmWatch {
  readonly #rule: AlarmRule;
  readonly #block: number;
  readonly #second: number;
  readonly #needed: number;
  #values: number[] = [];
  #held = 0;
  #raised = false;

  constructor(rule: AlarmRule, framesPerSecond: number) {
    this.#rule = rule;
    this.#second = framesPerSecond;
    this.#block = rule.unit === 'f' ? rule.length : Math.max(1, Math.round(framesPerSecond));
    this.#needed = rule.unit === 'f' ? 1 : rule.length;
  }

  take(frame: number, value: number, metric: string): Alarm | undefined {
    this.#values.push(value);
    if (this.#values.length < this.#block) return undefined;
    const { limit, relation, text } = this.#rule;
    const isWorseHigh = relation.startsWith('>');
    const statistic = statisticOf(this.#values, this.#rule.statistic, this.#second, [0], isWorseHigh);
    this.#values = [];
    const holds =
      (relation.endsWith('=') && statistic === limit) ||
      (relation.startsWith('<') ? statistic < limit : statistic > limit);
    this.#held = holds ? this.#held + 1 : 0;
    const raised = this.#held >= this.#needed;
    if (raised === this.#raised) return undefined;
    this.#raised = raised;
    return { rule: text, metric, raised, frame, value: statistic };
  }
}

/** Watches all rules of a measurement. */
export class Alarms {
  readonly #rules: readonly AlarmRule[];
  #measured:
    | { readonly perSecond: number; readonly metrics: readonly string[]; readonly main?: string }
    | undefined;
  #watches: readonly { readonly rule: AlarmRule; readonly watch: AlarmWatch }[] = [];
  /** Alarms that were raised so far. */
  raised = 0;

  constructor(rules: readonly AlarmRule[]) {
    this.#rules = rules;
  }

  /**
   * @param framesPerSecond scored frames per second of video
   * @param metrics names of what is measured
   * @param main the score that rules without a metric are about
   * @throws {AnyvmafError} `usage` for a rule about something else, which could never come true
   */
  start(framesPerSecond: number, metrics: readonly string[], main: string | undefined): void {
    this.#measured = { perSecond: framesPerSecond, metrics, ...(main !== undefined && { main }) };
    for (const rule of this.#rules) this.add(rule);
  }

  /**
   * Watches one more rule from now on; one that is watched already stays as it is.
   * @throws {AnyvmafError} `usage` before the start, for as many rules as are watched, or for what is not measured
   */
  add(rule: AlarmRule): void {
    const { text, metric } = rule;
    if (!this.#measured) throw usageError('The measurement has not begun; set the alarm again once it runs.');
    const { perSecond, metrics, main } = this.#measured;
    if (metric === undefined && main === undefined)
      throw usageError(
        `The alarm ${quoted(text)} is about the score, but this run has no model; name a metric, as in psnr_y.min<30: ${metrics.join(', ')}.`,
      );
    if (metric !== undefined && metricIn({ metrics }, metric) === undefined)
      throw usageError(
        `The alarm ${quoted(text)} is about ${quoted(metric)}, ${missing(metric)} name one of ${metrics.join(', ')}.`,
      );
    if (this.#watches.some((one) => one.rule.text === text)) return;
    if (this.#watches.length >= Math.max(MOST_RULES, this.#rules.length))
      throw usageError(
        `${this.#watches.length} alarms are set, which is the most; ${quoted(text)} was not added.`,
      );
    this.#watches = [...this.#watches, { rule, watch: new AlarmWatch(rule, perSecond) }];
  }

  /**
   * Takes a frame.
   * @param main the score that rules without a metric are about
   * @returns what begins or ends with it
   */
  take(
    frame: number,
    values: Float64Array,
    names: readonly string[],
    main: string | undefined,
  ): readonly Alarm[] {
    return this.#watches.flatMap(({ rule, watch }) => {
      const metric = rule.metric === undefined ? main : metricIn({ metrics: names }, rule.metric);
      const value = metric === undefined ? undefined : values[names.indexOf(metric)];
      const alarm =
        metric === undefined || value === undefined ? undefined : watch.take(frame, value, metric);
      if (alarm?.raised) this.raised++;
      return alarm ?? [];
    });
  }
}

/** Why frames have no value of a metric. */
function missing(metric: string): string {
  return isAggregate(metric)
    ? 'which has no value before the run ends;'
    : 'which this run does not measure; ask for its feature, or';
}

/** The mean and the lowest of the scores of a second, of which there may be too many for the arguments of a call. */
export function meanAndMin(values: readonly number[]): { readonly mean: number; readonly min: number } {
  const sum = values.reduce((all, value) => all + value, 0);
  return { mean: sum / values.length, min: values.reduce((low, value) => Math.min(low, value)) };
}

export class MainScore {
  #now: string | undefined;
  /** Changes whose frame is still to come, in their order. */
  readonly #coming: SwapOutcome[] = [];

  /** @param first key of the score of the first model */
  begin(first: string | undefined): void {
    this.#now = first;
  }

  swap(swap: SwapOutcome): void {
    this.#coming.push(swap);
  }

  /** Goes on to a frame; frames come in order. @returns the key of its score */
  at(frame: number): string | undefined {
    for (let next = this.#coming[0]; next && next.frame <= frame; next = this.#coming[0]) {
      this.#coming.shift();
      if (next.from === this.#now) this.#now = next.to;
    }
    return this.#now;
  }

  /** The key of the score of the latest frame. */
  get now(): string | undefined {
    return this.#now;
  }
}
