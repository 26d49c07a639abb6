/**
 * @module web/frames/reader
 * Reads pairs of frames by number in any order. Caches recent pairs and keeps a decoder open near the last one.
 */
import { type ExtractOptions, extractFrames, type FramePair, type ScoreRequest } from 'anyvmaf';
import { unlessAborted } from 'anyvmaf/abort';
import { ByteCache } from './byte-cache.js';

/** Decode up to this many frames ahead instead of seeking. */
const READ_THROUGH = 24;
/** Frames per decoder; bounds the list of requested frame numbers. */
const LENGTH = 4096;
/** Bytes of cached frames, for differences and maps. */
const KEPT = 192 * 2 ** 20;

interface Stream {
  readonly pairs: AsyncGenerator<FramePair, void, undefined>;
  readonly stop: AbortController;
  /** Number of the next pair. */
  next: number;
  /** Number after the last. */
  readonly end: number;
}

/** Reads the pairs of two videos. */
export class PairReader {
  readonly #request: ScoreRequest;
  readonly #options: ExtractOptions;
  readonly #kept = new ByteCache<number, FramePair>(KEPT, 2);
  #stream: Stream | undefined;
  /** The last read; reads are serialized because there is one decoder. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(request: ScoreRequest, options: ExtractOptions) {
    this.#request = request;
    this.#options = options;
  }

  /**
   * Reads a pair.
   * @param total number of pairs
   * @param signal stops waiting; the decoder continues, as the next pair is often near
   */
  async get(index: number, total: number, signal: AbortSignal): Promise<FramePair> {
    signal.throwIfAborted();
    const kept = this.#kept.get(index);
    if (kept) return kept;
    if (this.#stream && !leadsTo(this.#stream, index)) this.#stream.stop.abort(elsewhere());
    const reading = this.#turn.then(() => {
      signal.throwIfAborted();
      return this.#kept.get(index) ?? this.#read(index, total);
    });
    this.#turn = reading.catch(() => {});
    return unlessAborted(signal, reading);
  }

  /** Stops decoding and clears the cache. */
  close(): void {
    this.#end();
    this.#kept.clear();
  }

  async #read(index: number, total: number): Promise<FramePair> {
    for (;;) {
      let stream = this.#stream;
      if (!stream || !leadsTo(stream, index)) {
        this.#end();
        stream = this.#open(index, Math.max(total, index + 1));
        this.#stream = stream;
      }
      try {
        for (;;) {
          const { value: pair, done } = await stream.pairs.next();
          if (done) throw new Error(`Frame ${index} did not come.`);
          stream.next = pair.index + 1;
          this.#keep(pair);
          if (pair.index === index) return pair;
        }
      } catch (error) {
        const elsewhere = stream.stop.signal.aborted;
        const closed = this.#stream !== stream;
        if (!closed) this.#end();
        // Retry if the stream was aborted for another frame.
        if (closed || !elsewhere) throw error;
      }
    }
  }

  #open(start: number, total: number): Stream {
    const end = Math.min(total, start + LENGTH);
    const stop = new AbortController();
    const numbers = Array.from({ length: end - start }, (_, i) => start + i);
    const pairs = extractFrames(this.#request, numbers, { ...this.#options, signal: stop.signal });
    return { pairs, stop, next: start, end };
  }

  #end(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.stop.abort(elsewhere());
    stream?.pairs.return().catch(() => {});
  }

  #keep(pair: FramePair): void {
    const { width, height } = pair.reference.format;
    const planes = Object.values(pair.reference.planes).reduce((sum, plane) => sum + plane.length, 0);
    // Both frames' planes and RGB, and the latest difference.
    this.#kept.set(pair.index, pair, 2 * planes + 9 * width * height);
  }
}

/** True if decoding forward reaches the pair soon. */
function leadsTo({ next, end, stop }: Stream, index: number): boolean {
  return !stop.signal.aborted && index >= next && index - next <= READ_THROUGH && index < end;
}

function elsewhere(): DOMException {
  return new DOMException('Other frames are wanted.', 'AbortError');
}
