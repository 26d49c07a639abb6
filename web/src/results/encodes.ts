/**
 * @module web/results/encodes
 * The encodes on show: the session's results as growing columns, and what they have in common.
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

export interface Encode extends Shown {
  readonly columns: Columns;
  result: EncodeResult;
  facts: Facts;
  growing: boolean;
  left: boolean;
}

/** `so far`: during a run. `computed`: the saved file lacks them. */
export interface Pooled extends StatedPooled {
  readonly origin: 'report' | 'so far' | 'computed';
}

/** Milliseconds of copying frames before yielding. */
const SLICE = 6;

export class Encodes extends EncodeList<Encode> {
  list: readonly Encode[] = [];
  /** Called when there are other encodes. */
  onReplaced: () => void = () => {};
  /** Called on new frames and reports. */
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

  /** More frames are expected. */
  get running(): boolean {
    const { phase } = this.#session.run.value;
    return phase === 'running' || phase === 'paused' || this.#session.reading.value;
  }

  /** Frames are arriving: not while a run is paused. */
  get coming(): boolean {
    return this.#session.run.value.phase === 'running' || this.#session.reading.value;
  }

  /** No frames are missing or expected. */
  get settled(): boolean {
    return !this.running && this.list.every(({ columns, result }) => columns.length === result.frames.length);
  }

  /** Falls back to the first metric if none ranks quality. */
  override get ranking(): Ranking | undefined {
    const metric = this.list.find(({ count }) => count > 0)?.metrics[0];
    return super.ranking ?? (metric === undefined ? undefined : { metric, worse: 'low' });
  }

  /** First and last frame number over all encodes. */
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

  /** Until the first report, from the inspection. */
  override get rate(): number | undefined {
    const known = super.rate;
    if (known !== undefined) return known;
    for (const look of this.#session.inspections.value.values()) {
      const rate = look.phase === 'found' ? frameRate(look.inspection.reference) : undefined;
      if (rate !== undefined) return rate;
    }
    return undefined;
  }

  /** A frame number with its time, if known. */
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

  /** The report's own, or computed from the frames so far. */
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
      // Keep the columns of encodes that stay.
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

  /** Copies new frames in slices. */
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

export function reachedText(count: number, { total = 0 }: EncodeResult): string {
  return total > count ? text.run.frames(count, total) : framesText(count);
}

function factsOf({ report, saved, found }: EncodeResult): Facts {
  return report ?? saved ?? (found ? { preflight: found.findings } : {});
}

/** @param over whether no more frames are expected */
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
