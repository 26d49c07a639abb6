/**
 * @module web/frames/store
 * Caches pictures of frames and prefetches neighbours, with at most one request, cancelled when no longer useful.
 */
import { ByteCache } from './byte-cache.js';
import type { ShownPair } from './draw.js';
import type { FramesCall, PairSource } from './serve.js';

export type LoadFrames = (
  call: FramesCall,
  options: { readonly signal: AbortSignal; readonly onEvent: (pair: ShownPair) => void },
) => Promise<void>;

export interface StoreListener {
  ready(pair: ShownPair): void;
  failed(error: unknown): void;
}

interface Want {
  readonly source: PairSource;
  readonly index: number;
  readonly direction: 1 | -1;
  /** Do not wait for earlier frames: after a jump, and when playback stops. */
  readonly far: boolean;
  /** Distance between frames during playback. */
  readonly step: number | undefined;
}

interface Loading {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  readonly step: number | undefined;
  readonly stop: AbortController;
}

/** Frames to prefetch in the direction of stepping. */
const AHEAD = 10;
const BEHIND = 2;
/** Frames to fetch together with a frame after a jump. */
const SOON = 3;
/** During playback: pictures per request, and pictures ahead of the current one. */
const [FETCHED, WAITING] = [4, 3];

export class FrameStore {
  readonly #load: LoadFrames;
  readonly #listener: StoreListener;
  readonly #budget: number;
  readonly #pairs: ByteCache<string, ShownPair>;
  #want: Want | undefined;
  #loading: Loading | undefined;
  /** 0 while unknown. */
  #pairBytes = 0;
  /** Last frame requested during playback. */
  #reached = -1;

  /** @param budget in bytes */
  constructor(load: LoadFrames, listener: StoreListener, budget: number) {
    this.#load = load;
    this.#listener = listener;
    this.#budget = budget;
    this.#pairs = new ByteCache(budget, 2, ({ reference, distorted }) => {
      reference.close();
      distorted.close();
    });
  }

  get bytes(): number {
    return this.#pairs.bytes;
  }

  /**
   * Notifies the listener at once if the pair is cached, else on arrival.
   * @param step distance between frames during playback, where rough pictures suffice; absent: exact ones
   */
  want(source: PairSource, index: number, step?: number): void {
    const before = this.#want;
    const same = before?.source.key === source.key;
    const far = same && (Math.abs(before.index - index) > AHEAD || before.step !== undefined);
    const direction = same && !far && index < before.index ? -1 : 1;
    this.#want = { source, index, direction, far, step };
    if (step === undefined || !same) this.#reached = -1;
    const pair = this.#find(this.#want);
    if (pair) this.#listener.ready(pair);
    const loading = this.#loading;
    if (loading) {
      // Keep a request that includes the wanted frame.
      const alike = loading.key === source.key && (loading.step === undefined) === (step === undefined);
      if (alike && (pair || (index >= loading.from && index <= loading.to))) return;
      this.#cancel();
    }
    this.#next();
  }

  /** The first frame from `index` on that is cached or loading during playback; `index` if none is. */
  upcoming(source: PairSource, index: number): number {
    const { key, from = 0, to = -1, step } = this.#loading ?? {};
    const loads = key === source.key && step !== undefined;
    const coming = loads ? from + step * Math.max(0, Math.ceil((index - from) / step)) : to + 1;
    const end = coming <= to ? coming : index + AHEAD;
    for (let at = index; at < end; at++) if (this.#find({ source, index: at, step: 1 })) return at;
    return coming <= to ? coming : index;
  }

  /** No picture arrives until the next {@link want}. */
  rest(): void {
    this.#want = undefined;
    this.#cancel();
  }

  close(): void {
    this.rest();
    this.#pairs.clear();
  }

  #cancel(): void {
    this.#loading?.stop.abort(new DOMException('Other frames are wanted.', 'AbortError'));
    this.#loading = undefined;
  }

  #next(): void {
    const want = this.#want;
    const span = want && this.#span(want);
    if (!want || !span) return;
    const { source } = want;
    const { from, to, step } = span;
    const loading: Loading = { key: source.key, from, to, step, stop: new AbortController() };
    this.#loading = loading;
    const onEvent = (pair: ShownPair) => this.#take(source, pair, loading);
    this.#load({ source, ...span }, { signal: loading.stop.signal, onEvent }).then(
      () => this.#ended(loading),
      (error: unknown) => this.#ended(loading, { error }),
    );
  }

  #span(want: Want): Omit<FramesCall, 'source'> | undefined {
    const { source, index, direction, far, step } = want;
    if (step !== undefined) return this.#film(want, step);
    const has = (at: number) => this.#pairs.has(keyOf(source, at));
    const last = source.total - 1;
    // Half the cache is for prefetching, half for viewed frames.
    const room = this.#pairBytes > 0 ? Math.max(2, Math.floor(this.#budget / this.#pairBytes)) : 2 * AHEAD;
    const ahead = Math.min(AHEAD, Math.floor(room / 2));
    const behind = Math.min(BEHIND, room - 1 - ahead);
    if (!has(index)) {
      const [before, after] = direction > 0 ? [far ? 0 : behind, Math.min(SOON, ahead)] : [ahead, behind];
      return { from: Math.max(0, index - before), to: Math.min(last, index + after), first: index };
    }
    for (const way of [direction, -direction]) {
      const reach = way === direction ? ahead : behind;
      let at = index + way;
      while (at >= 0 && at <= last && Math.abs(at - index) <= reach && has(at)) at += way;
      const distance = Math.abs(at - index);
      const missing = at >= 0 && at <= last && distance <= reach;
      // Large steps, so that decoders are seldom reopened.
      if (!missing || (distance > 1 && distance > Math.ceil(reach / 2))) continue;
      const end = Math.max(0, Math.min(last, index + way * reach));
      return way > 0 ? { from: at, to: end, first: at } : { from: end, to: at, first: at };
    }
    return undefined;
  }

  /** Requests the next pictures during playback; never goes back, as decoders go forward only. */
  #film(want: Want, step: number): Omit<FramesCall, 'source'> | undefined {
    const { source, index } = want;
    const last = source.total - 1;
    const from = this.#find(want) ? Math.max(index, this.#reached) + step : index;
    if (from > last || from - index > WAITING * step) return undefined;
    const to = from + step * Math.min(FETCHED - 1, Math.floor((last - from) / step));
    this.#reached = to;
    return { from, to, first: from, step };
  }

  /** Rough pictures suffice during playback. */
  #find({ source, index, step }: Pick<Want, 'source' | 'index' | 'step'>): ShownPair | undefined {
    const exact = this.#pairs.get(keyOf(source, index));
    return exact ?? (step === undefined ? undefined : this.#pairs.get(keyOf(source, index, true)));
  }

  #take(source: PairSource, pair: ShownPair, loading: Loading): void {
    if (loading.stop.signal.aborted) {
      pair.reference.close();
      pair.distorted.close();
      return;
    }
    this.#pairBytes = 2 * 4 * pair.width * pair.height;
    this.#pairs.set(keyOf(source, pair.index, pair.rough), pair, this.#pairBytes);
    const want = this.#want;
    if (want?.source.key !== source.key) return;
    if (want.index === pair.index) this.#listener.ready(pair);
    // Counts as a use, so that the current pair is not evicted.
    else this.#find(want);
  }

  #ended(loading: Loading, failure?: { readonly error: unknown }): void {
    if (this.#loading !== loading) return;
    this.#loading = undefined;
    const want = this.#want;
    if (!want) return;
    if (!failure) this.#next();
    // Ignore failed prefetches.
    else if (!this.#find(want)) this.#listener.failed(failure.error);
  }
}

function keyOf({ key }: PairSource, index: number, rough = false): string {
  return `${key}/${index}${rough ? '/rough' : ''}`;
}
