/**
 * @module live/alarms
 * Alarm rules such as `vmaf.p5<80 for 3s`, and the key of a measurement's main score, frame by frame.
 */
import { usageError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import type { SwapOutcome } from '../engine/live/steering.js';
import {
  decimalBound,
  isAggregate,
  metricIn,
  type NamedModel,
  type PooledStatistic,
  parsePooledName,
} from '../report/limits.js';
import { isSigned } from '../report/pool.js';
import { statisticOf } from '../report/verdict.js';

const MAX_RULE = 200;

/** Most rules of a measurement, unless it started with more. */
export const MOST_RULES = 32;

/** Most seconds, or frames, of a rule. */
const MOST = 86_400;

/** The beginning or end of an alarm. */
export interface Alarm {
  /** The rule as given. */
  readonly rule: string;
  readonly metric: string;
  /** True when the alarm begins, false when it ends. */
  readonly raised: boolean;
  /** Last frame of the block that decided it. */
  readonly frame: number;
  /** Value of the rule's statistic over that block. */
  readonly value: number;
}

export interface AlarmRule {
  readonly text: string;
  /** A number is a percentile. */
  readonly statistic: PooledStatistic | number;
  /** Absent for the main score. */
  readonly metric: string | undefined;
  readonly relation: '<' | '<=' | '>' | '>=';
  readonly limit: number;
  readonly length: number;
  readonly unit: 's' | 'f';
}

const RULE = /^(?:(.{1,120}?)\s*([<>]=?)\s*)?([-+.\d]{1,40})(?:\s+for\s+(\d+)(s|f))?$/;

/**
 * Parses a rule: a pooled value as in gates (`vmaf.p5`, `p5`, `min(psnr_y)`; percentiles p0 to p99), a comparison,
 * a limit, and how long it must hold (`for 3s`; default 1) or the frames to pool (`for 75f`). A number alone is a
 * limit below which the mean raises the alarm.
 * @throws {AnyvmafError} `usage` for anything else
 */
export function parseAlarm(text: string): AlarmRule {
  const found = text.length <= MAX_RULE ? RULE.exec(text.trim()) : null;
  const [, what = 'mean', relation = '<', bound = '', time, unit] = found ?? [];
  const length = Number(time ?? 1);
  const limit = decimalBound(bound);
  const name = parseName(what);
  if (name?.statistic === 'harmonic_mean' && isSigned(name.metric ?? ''))
    throw usageError(
      `The alarm ${quoted(text.slice(0, MAX_RULE))} is about a harmonic mean, but ${name.metric} has values below 0 and so ` +
        'none; use its mean.',
    );
  if (!found || !name || limit === undefined || length < 1 || length > MOST)
    throw usageError(
      `The alarm is ${quoted(text.slice(0, MAX_RULE))}, but it must be a pooled value, a comparison and a time in ` +
        "whole seconds or frames, such as 'p5<80 for 3s' or 'psnr_y.min<30 for 50f'",
    );
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

/** Divides scored frames into seconds of video; each ends at the nearest frame. */
class Clock {
  readonly #perSecond: number;
  #frames = 0;
  #seconds = 0;

  constructor(framesPerSecond: number) {
    this.#perSecond = framesPerSecond;
  }

  /** Counts a frame. @returns the number of seconds that end with it: more than 1 if frames last longer */
  tick(): number {
    this.#frames++;
    const half = Math.min(0.5, this.#perSecond / 2);
    const now = Math.floor((this.#frames + half) / this.#perSecond);
    const ended = now - this.#seconds;
    this.#seconds = now;
    return ended;
  }
}

class AlarmWatch {
  readonly #rule: AlarmRule;
  readonly #clock: Clock;
  readonly #second: number;
  readonly #needed: number;
  #values: number[] = [];
  #held = 0;
  #raised = false;

  constructor(rule: AlarmRule, framesPerSecond: number) {
    this.#rule = rule;
    this.#second = framesPerSecond;
    this.#clock = new Clock(framesPerSecond);
    this.#needed = rule.unit === 'f' ? 1 : rule.length;
  }

  take(frame: number, value: number, metric: string): Alarm | undefined {
    this.#values.push(value);
    const { limit, relation, text, unit, length } = this.#rule;
    const ended = unit === 's' ? this.#clock.tick() : Number(this.#values.length === length);
    if (ended === 0) return undefined;
    const isWorseHigh = relation.startsWith('>');
    const statistic = statisticOf(this.#values, this.#rule.statistic, this.#second, [0], isWorseHigh);
    this.#values = [];
    const holds =
      (relation.endsWith('=') && statistic === limit) ||
      (relation.startsWith('<') ? statistic < limit : statistic > limit);
    this.#held = holds ? this.#held + ended : 0;
    const raised = this.#held >= this.#needed;
    if (raised === this.#raised) return undefined;
    this.#raised = raised;
    return { rule: text, metric, raised, frame, value: statistic };
  }
}

export class Alarms {
  readonly #rules: readonly AlarmRule[];
  #measured:
    | {
        readonly perSecond: number;
        readonly metrics: readonly string[];
        readonly models: readonly NamedModel[];
        readonly main?: string;
      }
    | undefined;
  /** `metric`: absent for the main score. */
  #watches: readonly {
    readonly rule: AlarmRule;
    readonly metric: string | undefined;
    readonly watch: AlarmWatch;
  }[] = [];
  raised = 0;

  constructor(rules: readonly AlarmRule[]) {
    this.#rules = rules;
  }

  /**
   * @param framesPerSecond scored frames per second of video
   * @param main score for rules without a metric
   * @throws {AnyvmafError} `usage` for a rule about an unmeasured metric
   */
  start(
    framesPerSecond: number,
    metrics: readonly string[],
    main: string | undefined,
    models: readonly NamedModel[] = [],
  ): void {
    this.#measured = { perSecond: framesPerSecond, metrics, models, ...(main !== undefined && { main }) };
    for (const rule of this.#rules) this.add(rule);
  }

  /**
   * Adds a rule, unless it is watched already.
   * @throws {AnyvmafError} `usage` before the start, at the limit of rules, or for an unmeasured metric
   */
  add(rule: AlarmRule): void {
    const { text, metric } = rule;
    if (!this.#measured) throw usageError('The measurement has not begun; set the alarm again once it runs.');
    const { perSecond, metrics, models, main } = this.#measured;
    if (metric === undefined && main === undefined)
      throw usageError(
        `The alarm ${quoted(text)} is about the score, but this run has no model; name a metric, as in psnr_y.min<30; available: ${metrics.join(', ')}.`,
      );
    const found = metric === undefined ? undefined : metricIn({ metrics, models }, metric);
    if (metric !== undefined && found === undefined)
      throw usageError(
        `The alarm ${quoted(text)} is about ${quoted(metric)}, ${missing(metric)} name one of ${metrics.join(', ')}.`,
      );
    if (this.#watches.some((watched) => watched.rule.text === text)) return;
    if (this.#watches.length >= Math.max(MOST_RULES, this.#rules.length))
      throw usageError(`${this.#watches.length} alarms are set, the maximum; ${quoted(text)} was not added.`);
    this.#watches = [...this.#watches, { rule, metric: found, watch: new AlarmWatch(rule, perSecond) }];
  }

  /**
   * @param main score for rules without a metric
   * @returns alarms that begin or end with this frame
   */
  take(
    frame: number,
    values: Float64Array,
    names: readonly string[],
    main: string | undefined,
  ): readonly Alarm[] {
    return this.#watches.flatMap(({ metric = main, watch }) => {
      const value = metric === undefined ? undefined : values[names.indexOf(metric)];
      const alarm =
        metric === undefined || value === undefined ? undefined : watch.take(frame, value, metric);
      if (alarm?.raised) this.raised++;
      return alarm ?? [];
    });
  }
}

function missing(metric: string): string {
  return isAggregate(metric)
    ? 'which has no value before the run ends;'
    : 'which this run does not measure; ask for its feature, or';
}

/** Divides scores into seconds of video. */
export class Seconds {
  #clock: Clock | undefined;
  #count = 0;
  #frames = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;

  /**
   * @param value score of the next frame
   * @param framesPerSecond scored frames per second of video
   * @returns the second that ends with this frame, numbered from 1
   */
  take(value: number, framesPerSecond: number): { second: number; mean: number; min: number } | undefined {
    this.#sum += value;
    this.#min = Math.min(this.#min, value);
    this.#frames++;
    this.#clock ??= new Clock(framesPerSecond);
    const ended = this.#clock.tick();
    if (ended === 0) return undefined;
    this.#count += ended;
    const second = { second: this.#count, mean: this.#sum / this.#frames, min: this.#min };
    this.#frames = this.#sum = 0;
    this.#min = Number.POSITIVE_INFINITY;
    return second;
  }
}

export class MainScore {
  #now: string | undefined;
  /** Model swaps that take effect at a later frame, in order. */
  readonly #coming: SwapOutcome[] = [];

  /** @param first key of the first model's score */
  begin(first: string | undefined): void {
    this.#now = first;
  }

  swap(swap: SwapOutcome): void {
    this.#coming.push(swap);
  }

  /** Advances to a frame, in order. @returns the key of its score */
  at(frame: number): string | undefined {
    for (let next = this.#coming[0]; next && next.frame <= frame; next = this.#coming[0]) {
      this.#coming.shift();
      if (next.from === this.#now) this.#now = next.to;
    }
    return this.#now;
  }

  /** Key of the latest frame's score. */
  get now(): string | undefined {
    return this.#now;
  }
}
