/**
 * @module live/alarms
 * Rules such as `p5<80 for 3s`: a statistic of each second's frames, compared with a limit.
 */
import { usageError } from '../core/errors.js';
import { percentile } from '../core/percentile.js';
import { quoted } from '../core/printable.js';

/** Frames of a second where the videos do not say. */
export const ASSUMED_RATE = 25;

/** Longest text of a rule. */
const MAX_RULE = 200;

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
  readonly statistic: 'min' | 'max' | 'mean' | number;
  /** Name of a metric; absent for the first model. */
  readonly metric: string | undefined;
  readonly below: boolean;
  readonly limit: number;
  /** How long it must hold. */
  readonly length: number;
  readonly unit: 's' | 'f';
}

const RULE =
  /^(min|max|mean|p(\d{1,2}))(?:\(([\w.:-]{1,100})\))?\s*([<>])\s*(-?\d+(?:\.\d+)?)(?:\s+for\s+(\d+)(s|f))?$/;

/**
 * Reads a rule: `min`, `max`, `mean` or a percentile as `p5`, perhaps a metric in brackets, `<` or `>`, a limit, and for how
 * many seconds it must hold (`for 3s`; 1 by default), or over how many frames it is taken (`for 75f`).
 * @throws {AnyvmafError} `usage` for anything else
 */
export function parseAlarm(text: string): AlarmRule {
  const found = text.length <= MAX_RULE ? RULE.exec(text.trim()) : null;
  const length = Number(found?.[6] ?? 1);
  if (!found || length < 1 || length > MOST) {
    throw usageError(
      `The alarm is ${quoted(text.slice(0, MAX_RULE))}, but it must be a statistic, a comparison and a time, such as ` +
        "'p5<80 for 3s' or 'min(psnr_y)<30 for 50f'",
    );
  }
  const [, statistic, percent, metric, sign, limit, , unit] = found;
  return {
    text: text.trim(),
    statistic: percent === undefined ? (statistic as 'min' | 'max' | 'mean') : Number(percent),
    metric,
    below: sign === '<',
    limit: Number(limit),
    length,
    unit: unit === 'f' ? 'f' : 's',
  };
}

/** Watches one rule over the frames of a measurement, in bounded memory. */
class AlarmWatch {
  readonly #rule: AlarmRule;
  readonly #block: number;
  readonly #needed: number;
  #values: number[] = [];
  #held = 0;
  #raised = false;

  constructor(rule: AlarmRule, framesPerSecond: number) {
    this.#rule = rule;
    this.#block = rule.unit === 'f' ? rule.length : Math.max(1, Math.round(framesPerSecond));
    this.#needed = rule.unit === 'f' ? 1 : rule.length;
  }

  take(frame: number, value: number, metric: string): Alarm | undefined {
    this.#values.push(value);
    if (this.#values.length < this.#block) return undefined;
    const statistic = statisticOf(this.#values, this.#rule.statistic);
    this.#values = [];
    const { limit, below, text } = this.#rule;
    const holds = below ? statistic < limit : statistic > limit;
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
    for (const { text, metric } of this.#rules) {
      if (metric === undefined && main === undefined)
        throw usageError(
          `The alarm ${quoted(text)} is about the score, but this run has no model; name a metric in brackets: ${metrics.join(', ')}.`,
        );
      if (metric !== undefined && !metrics.includes(metric))
        throw usageError(
          `The alarm ${quoted(text)} is about ${quoted(metric)}, which this run does not measure; ask for its feature, or ` +
            `name one of ${metrics.join(', ')}.`,
        );
    }
    this.#watches = this.#rules.map((rule) => ({ rule, watch: new AlarmWatch(rule, framesPerSecond) }));
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
      const metric = rule.metric ?? main;
      const value = metric === undefined ? undefined : values[names.indexOf(metric)];
      const alarm =
        metric === undefined || value === undefined ? undefined : watch.take(frame, value, metric);
      if (alarm?.raised) this.raised++;
      return alarm ?? [];
    });
  }
}

/** The mean and the lowest of the scores of a second, of which there may be too many for the arguments of a call. */
export function meanAndMin(values: readonly number[]): { readonly mean: number; readonly min: number } {
  const sum = values.reduce((all, value) => all + value, 0);
  return { mean: sum / values.length, min: values.reduce((low, value) => Math.min(low, value)) };
}

function statisticOf(values: readonly number[], statistic: AlarmRule['statistic']): number {
  if (statistic === 'mean') return meanAndMin(values).mean;
  const sorted = Float64Array.from(values).sort();
  if (statistic === 'min') return sorted[0] ?? Number.NaN;
  if (statistic === 'max') return sorted.at(-1) ?? Number.NaN;
  return percentile(sorted, statistic);
}
