/**
 * @module web/results/encodes
 * The encodes on show: what the session has of them, in columns that follow while they grow, and what is common to all.
 */
import type { Ranking } from 'anyvmaf';
import {
  distinctNames,
  EncodeList,
  type Facts,
  frameRate,
  framesText,
  type Encode as Shown,
  type Pooled as StatedPooled,
  statedPooled,
  timeText,
} from 'anyvmaf/view';
import type { EncodeResult, Session } from '../session.js';
import { text } from '../text.js';
import { Columns, type Statistics } from './columns.js';

/** One encode. */
export interface Encode extends Shown {
  readonly columns: Columns;
  result: EncodeResult;
  facts: Facts;
  /** Still growing. */
  growing: boolean;
  left: boolean;
}

/** Pooled values, and where they come from. `so far`: the run goes on. `computed`: a saved file lacks them. */
export interface Pooled extends StatedPooled {
  readonly origin: 'report' | 'so far' | 'computed';
}

/** Milliseconds of taking frames over before others have their turn. */
const SLICE = 6;

export class Encodes extends EncodeList<Encode> {
  list: readonly Encode[] = [];
  /** Told when there are other encodes than before. */
  onReplaced: () => void = () => {};
  /** Told when there are more frames, or a report came. */
  onGrown: () => void = () => {};
  readonly #statistics = new Map<string, Statistics | undefined>();
  readonly #session: Session;
  #waiting = false;

  constructor(session: Session) {
    super();
    this.#session = session;
    session.results.watch((results) => this.#follow(results));
    session.run.watch(() => this.onGrown());
    session.reading.watch(() => this.onGrown());
    session.series.watch(() => this.onGrown());
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

  /** Without a metric that says anything about quality, the first one there is. */
  override get ranking(): Ranking | undefined {
    const metric = this.list.find(({ count }) => count > 0)?.metrics[0];
    return super.ranking ?? (metric === undefined ? undefined : { metric, worse: 'low' });
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

  /** While the first report is not there: what the look at the pair found. */
  override get rate(): number | undefined {
    const known = super.rate;
    if (known !== undefined) return known;
    for (const look of this.#session.inspections.value.values()) {
      const rate = look.phase === 'found' ? frameRate(look.inspection.reference) : undefined;
      if (rate !== undefined) return rate;
    }
    return undefined;
  }

  /** A frame of the axis in words, with its time where that is known. */
  said(frame: number): string {
    const words = text.results.chart;
    const name = (this.apart ? words.referenceFrame : words.frame)(frame);
    const time = this.timeOf(frame);
    return time === undefined ? name : words.at(name, timeText(time));
  }

  meanOf(index: number, metric: string): number | undefined {
    const encode = this.list[index];
    return encode && this.pooled(encode, metric)?.mean;
  }

  /** Pooled values of a metric: the report's own, or made of the frames there are. */
  pooled({ index, facts, columns, growing }: Encode, metric: string | undefined): Pooled | undefined {
    if (metric === undefined) return undefined;
    const stated = statedPooled(facts, metric);
    if (stated) {
      const computed = this.list[index]?.result.saved?.computed.includes('pooled_metrics');
      return { ...stated, origin: computed ? 'computed' : 'report' };
    }
    if (facts.pooled_metrics?.[metric]) return undefined;
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
      results.every(({ frames, source }, i) => {
        const known = this.list[i]?.result;
        return frames === known?.frames && (source === undefined) === (known.source === undefined);
      });
    if (!same) {
      this.#statistics.clear();
      const names = distinctNames(results.map(({ name }) => name));
      // Frames that were taken over are not taken again because others come.
      const taken = new Map(this.list.map(({ result, columns }) => [result.frames, columns]));
      this.list = results.map((result, index) =>
        encodeOf(
          result,
          index,
          names[index] ?? result.name,
          taken.get(result.frames) ?? new Columns(),
          this.#session,
          () => !this.running,
        ),
      );
      this.onReplaced();
    }
    results.forEach((result, i) => {
      const encode = this.list[i];
      if (!encode) return;
      encode.result = result;
      encode.facts = factsOf(result);
    });
    const { origin } = this;
    for (const { columns, skipped = origin } of this.list) columns.shift = skipped - origin;
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

/** How many frames of how many a run reached. */
export function reachedText(count: number, { total = 0 }: EncodeResult): string {
  return total > count ? text.run.frames(count, total) : framesText(count);
}

function factsOf({ report, saved, found }: EncodeResult): Facts {
  return report ?? saved ?? (found ? { preflight: found.findings } : {});
}

/** @param over whether nothing more is to come */
function encodeOf(
  result: EncodeResult,
  index: number,
  name: string,
  columns: Columns,
  { series }: Session,
  over: () => boolean,
): Encode {
  return {
    index,
    name,
    columns,
    result,
    facts: factsOf(result),
    growing: true,
    left: false,
    get series() {
      return series.value.get(this.result.frames);
    },
    get count() {
      return columns.length;
    },
    get metrics() {
      return this.facts.metrics ?? columns.metrics;
    },
    get skipped() {
      return this.facts.reference?.skipped ?? this.result.skipped;
    },
    get fileSize() {
      return this.result.source?.distorted.size;
    },
    get looked() {
      return this.result.found?.distorted;
    },
    get partial() {
      return over() && !this.result.report && !this.result.saved;
    },
  };
}
