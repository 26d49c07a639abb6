/**
 * @module web/results/encodes
 * The encodes on show: what the session has of them, in columns that follow while they grow, and what is common to all.
 */
import { type Ranking, type Report, ranking } from 'anyvmaf';
import type { EncodeResult, Session } from '../session.js';
import { text } from '../text.js';
import { Columns, type Statistics } from './columns.js';
import { baseName, timeText } from './format.js';

/** What is known of an encode beside its frames: a whole report, what a saved file says, or nothing yet. */
export type Facts = Partial<Omit<Report, 'frames'>>;

/** One encode. */
export interface Encode {
  readonly index: number;
  /** As much of its name as tells it apart from the others. */
  readonly name: string;
  readonly columns: Columns;
  result: EncodeResult;
  facts: Facts;
  /** Still growing. */
  growing: boolean;
}

/** Pooled values and percentiles, and where they come from. */
export interface Pooled {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly harmonic_mean: number;
  readonly stddev: number | undefined;
  readonly percentile: (percent: Percent) => number | undefined;
  /** `so far`: the run goes on. `computed`: a saved file lacks them. */
  readonly origin: 'report' | 'so far' | 'computed';
}

export type Percent = 1 | 5 | 10 | 25 | 50 | 75 | 90 | 95 | 99;
export const PERCENTS: readonly Percent[] = [1, 5, 10, 25, 50, 75, 90, 95, 99];

/** Milliseconds of taking frames over before others have their turn. */
const SLICE = 6;

export class Encodes {
  list: readonly Encode[] = [];
  /** Told when there are other encodes than before. */
  onReplaced: () => void = () => {};
  /** Told when there are more frames, or a report came. */
  onGrown: () => void = () => {};
  readonly #statistics = new Map<string, Statistics | undefined>();
  readonly #session: Session;
  #waiting = false;

  constructor(session: Session) {
    this.#session = session;
    session.results.watch((results) => this.#follow(results));
    session.run.watch(() => this.onGrown());
    session.reading.watch(() => this.onGrown());
  }

  /** Whether more frames are to come. */
  get running(): boolean {
    const { phase } = this.#session.run.value;
    return phase === 'running' || phase === 'paused' || this.#session.reading.value;
  }

  /** Whether frames come at this time: none do while a run is held up. */
  get coming(): boolean {
    return this.#session.run.value.phase === 'running' || this.#session.reading.value;
  }

  /** Whether all frames that will ever be are here. */
  get settled(): boolean {
    return !this.running && this.list.every(({ columns, result }) => columns.length === result.frames.length);
  }

  /** The metric that the page is mainly about. */
  get ranking(): Ranking | undefined {
    for (const { facts, columns } of this.list) {
      const metrics = facts.metrics ?? columns.metrics;
      // A log without models: libvmaf's scores are called vmaf and something.
      const score = facts.models
        ? undefined
        : metrics.find((name) => /^vmaf(_(?!bagging|stddev|ci_)|$)/.test(name));
      if (score !== undefined) return { metric: score, worse: 'low' };
      const found = ranking({ models: facts.models ?? [], metrics });
      if (found) return found;
      if (metrics[0] !== undefined && columns.length > 0) return { metric: metrics[0], worse: 'low' };
    }
    return undefined;
  }

  /** All metrics, in the order of the log; not the single members of a bootstrap collection. */
  get metrics(): string[] {
    const all = this.list.flatMap(({ facts, columns }) => facts.metrics ?? columns.metrics);
    return [...new Set(all)].filter((name) => !/_\d{4}$/.test(name));
  }

  /**
   * Whether encodes begin on different frames of the reference. The frame axis then counts frames of the reference, so that
   * what stands above each other shows the same content; else it counts pairs, as reports do.
   */
  get apart(): boolean {
    return new Set(this.list.flatMap((encode) => skippedOf(encode) ?? [])).size > 1;
  }

  /** The reference frame that is 0 on the frame axis. */
  get origin(): number {
    if (this.apart) return 0;
    const skips = this.list.map(skippedOf);
    return skips.find((skipped) => skipped !== undefined) ?? 0;
  }

  /** First and last frame number of all. */
  get span(): readonly [first: number, last: number] {
    const filled = this.list.filter(({ columns }) => columns.length > 0);
    if (filled.length === 0) return [0, 1];
    const first = Math.min(...filled.map(({ columns }) => columns.first));
    const run = this.#session.run.value;
    const expected =
      run.phase === 'running' || run.phase === 'paused'
        ? run.progress.map(
            (progress, i) => (progress?.framesTotal ?? 0) - 1 + (this.list[i]?.columns.shift ?? 0),
          )
        : [];
    return [first, Math.max(first + 1, ...filled.map(({ columns }) => columns.last), ...expected)];
  }

  /** Frames per second of the reference, where known. */
  get rate(): number | undefined {
    for (const { facts } of this.list) {
      const rate = facts.reference?.frameRate;
      if (rate && rate.num > 0 && rate.den > 0) return rate.num / rate.den;
    }
    return this.#lookedRate();
  }

  /** While the first report is not there: what the look at the pair found. */
  #lookedRate(): number | undefined {
    for (const look of this.#session.looks.value.values()) {
      const rate = look.phase === 'found' ? look.inspection.reference.frameRate : undefined;
      if (rate && rate.num > 0 && rate.den > 0) return rate.num / rate.den;
    }
    return undefined;
  }

  /** Seconds from the reference's start to a frame of the axis; `undefined` without a frame rate. */
  timeOf(frame: number): number | undefined {
    const { rate } = this;
    return rate === undefined ? undefined : (frame + this.origin) / rate;
  }

  /** A frame of the axis in words, with its time where that is known. */
  said(frame: number): string {
    const words = text.results.chart;
    const name = (this.apart ? words.referenceFrame : words.frame)(frame);
    const time = this.timeOf(frame);
    return time === undefined ? name : words.at(name, timeText(time));
  }

  /** What a model's scores are clipped to, 0 to 100 unless it says otherwise; `undefined` where they are not. */
  rangeOf(metric: string | undefined): readonly [least: number, greatest: number] | undefined {
    const models = this.list.flatMap(
      ({ facts }) => facts.models?.filter(({ name }) => name === metric) ?? [],
    );
    if (models.some(({ options }) => options.disableClip)) return undefined;
    const ranges = models.map(({ scoreRange }) => scoreRange ?? ([0, 100] as const));
    if (ranges.length === 0) return [0, 100];
    return [Math.min(...ranges.map(([least]) => least)), Math.max(...ranges.map(([, most]) => most))];
  }

  /** Whether a metric is a model's score. */
  isScore(metric: string | undefined): boolean {
    return this.list.some(({ facts }) =>
      facts.models ? facts.models.some(({ name }) => name === metric) : /^vmaf(_|$)/.test(metric ?? ''),
    );
  }

  /** Pooled values of a metric: the report's own, or made of the frames there are. */
  pooled({ index, facts, columns, growing }: Encode, metric: string | undefined): Pooled | undefined {
    if (metric === undefined) return undefined;
    const pooled = facts.pooled_metrics?.[metric];
    if (pooled && 'mean' in pooled && typeof pooled.mean === 'number') {
      const spread = facts.distribution?.[metric];
      const computed = this.list[index]?.result.saved?.computed.includes('pooled_metrics');
      return {
        min: pooled.min,
        max: pooled.max,
        mean: pooled.mean,
        harmonic_mean: pooled.harmonic_mean,
        stddev: spread?.stddev,
        percentile: (percent) => spread?.percentiles[`p${percent}`],
        origin: computed ? 'computed' : 'report',
      };
    }
    if (pooled) return undefined;
    const key = `${index} ${columns.length} ${metric}`;
    if (!this.#statistics.has(key)) {
      if (this.#statistics.size > 400) this.#statistics.clear();
      this.#statistics.set(key, columns.statistics(metric));
    }
    const made = this.#statistics.get(key);
    return made && { ...made, origin: growing ? 'so far' : 'computed' };
  }

  #follow(results: readonly EncodeResult[]): void {
    const same =
      results.length === this.list.length &&
      results.every((result, i) => result.frames === this.list[i]?.result.frames);
    if (!same) {
      this.#statistics.clear();
      const names = distinctNames(results.map(({ name }) => name));
      this.list = results.map((result, index) => ({
        index,
        name: names[index] ?? result.name,
        columns: new Columns(),
        result,
        facts: factsOf(result),
        growing: true,
      }));
      this.onReplaced();
    }
    results.forEach((result, i) => {
      const encode = this.list[i];
      if (!encode) return;
      encode.result = result;
      encode.facts = factsOf(result);
    });
    const { origin } = this;
    for (const encode of this.list) encode.columns.shift = (skippedOf(encode) ?? origin) - origin;
    this.#take();
  }

  /** Takes new frames over, a slice at a time. */
  #take(): void {
    if (this.#waiting) return;
    const end = performance.now() + SLICE;
    let more = false;
    for (const encode of this.list) {
      const { frames, report, saved } = encode.result;
      let i = encode.columns.length;
      for (let n = 0; i < frames.length; i++, n++) {
        if (n % 32 === 31 && performance.now() > end) break;
        const frame = frames[i];
        if (frame) encode.columns.add(frame);
      }
      if (i < frames.length) more = true;
      encode.growing = i < frames.length || !(report || saved);
    }
    this.onGrown();
    if (!more) return;
    this.#waiting = true;
    setTimeout(() => {
      this.#waiting = false;
      this.#take();
    });
  }
}

/** Frames of the reference before the first pair; `undefined` before that is known. */
function skippedOf({ facts, result }: Encode): number | undefined {
  return facts.reference?.skipped ?? result.skipped;
}

function factsOf({ report, saved }: EncodeResult): Facts {
  return report ?? saved ?? {};
}

/** Base names where they differ, else whole names, else numbered ones. */
function distinctNames(names: readonly string[]): string[] {
  const short = names.map(baseName);
  if (new Set(short).size === names.length) return short;
  if (new Set(names).size === names.length) return [...names];
  return short.map((name, i) => `${i + 1}: ${name}`);
}

/** Bits per second of the distorted video: what its container says, or its size over its duration. */
export function bitrateOf(encode: Encode): number | undefined {
  const { pairing, distorted } = encode.facts;
  const said = pairing?.distorted.bitrate;
  const [bytes, rate] = [fileSizeOf(encode), distorted?.frameRate];
  if (said !== undefined || bytes === undefined || !rate || !distorted?.frameCount) return said;
  return Math.round((8 * bytes * rate.num) / rate.den / distorted.frameCount);
}

/** Bytes of the distorted file. */
export function fileSizeOf({ facts, result }: Encode): number | undefined {
  return facts.pairing?.distorted.fileSize ?? facts.distorted?.fileSize ?? result.source?.distorted.size;
}
