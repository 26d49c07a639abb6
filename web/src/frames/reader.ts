/**
 * @module web/frames/reader
 * Reads pairs of two open files by number in any order, and caches recent ones.
 */
import { type ExtractOptions, extractFrames, type FramePair, type ScoreRequest } from 'anyvmaf';
import { unlessAborted } from 'anyvmaf/core/abort';
import { ByteCache } from './byte-cache.js';

/** Frames up to this far ahead are read and cached on the way, for stepping back. */
const READ_THROUGH = 24;
/** Bytes of cached frames. */
const KEPT = 192 * 2 ** 20;

class Asked implements AsyncIterable<number> {
  readonly #waiting: number[] = [];
  #wake: () => void = () => {};
  #over = false;

  push(index: number): void {
    this.#waiting.push(index);
    this.#wake();
  }

  end(): void {
    this.#over = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<number, void, undefined> {
    while (!this.#over) {
      const index = this.#waiting.shift();
      if (index === undefined)
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      else yield index;
    }
  }
}

interface Stream {
  readonly asked: Asked;
  readonly pairs: AsyncGenerator<FramePair, void, undefined>;
  readonly stop: AbortController;
  /** Number after the last pair read. */
  next: number;
}

export class PairReader {
  readonly #request: ScoreRequest;
  readonly #options: ExtractOptions;
  readonly #extract: typeof extractFrames;
  readonly #kept = new ByteCache<number, FramePair>(KEPT, 2);
  #stream: Stream | undefined;
  /** Reads are serialized: there is one decoder. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(request: ScoreRequest, options: ExtractOptions, extract = extractFrames) {
    this.#request = request;
    this.#options = options;
    this.#extract = extract;
  }

  /**
   * @param signal stops waiting; a read that began goes on, as the next pair is often near
   * @param passOver skip the frames before it
   */
  async get(index: number, signal: AbortSignal, passOver = false): Promise<FramePair> {
    signal.throwIfAborted();
    const kept = this.#kept.get(index);
    if (kept) return kept;
    const reading = this.#turn.then(() => {
      signal.throwIfAborted();
      return this.#kept.get(index) ?? this.#read(index, passOver);
    });
    this.#turn = reading.catch(() => {});
    return unlessAborted(signal, reading);
  }

  close(): void {
    this.#end();
    this.#kept.clear();
  }

  async #read(index: number, passOver: boolean): Promise<FramePair> {
    this.#stream ??= this.#open();
    const stream = this.#stream;
    try {
      const { next } = stream;
      let at = !passOver && index >= next && index - next <= READ_THROUGH ? next : index;
      for (;;) {
        stream.asked.push(at);
        const { value: pair } = await stream.pairs.next();
        if (!pair) throw new Error(`Frame ${index} was not decoded.`);
        stream.next = ++at;
        this.#keep(pair);
        if (pair.index === index) return pair;
      }
    } catch (error) {
      // A generator that threw has ended.
      if (this.#stream === stream) this.#end();
      throw error;
    }
  }

  #open(): Stream {
    const asked = new Asked();
    const stop = new AbortController();
    const pairs = this.#extract(this.#request, asked, { ...this.#options, signal: stop.signal });
    return { asked, pairs, stop, next: Number.POSITIVE_INFINITY };
  }

  #end(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.stop.abort(new DOMException('The reader was closed.', 'AbortError'));
    stream?.asked.end();
    stream?.pairs.return().catch(() => {});
  }

  #keep(pair: FramePair): void {
    const { width, height } = pair.reference.format;
    const planes = Object.values(pair.reference.planes).reduce((sum, plane) => sum + plane.length, 0);
    // Planes and RGB of both frames, and the latest difference.
    this.#kept.set(pair.index, pair, 2 * planes + 9 * width * height);
  }
}

/** Readers by key: those in use, and the most recently used others. */
export class Readers {
  readonly #room: number;
  /** Least recently used first. */
  readonly #open = new Map<string, { readonly reader: PairReader; users: number }>();

  /** @param room readers to keep open; more are open only while in use */
  constructor(room: number) {
    this.#room = room;
  }

  /** The reader stays open until `use` has ended. */
  async with<Result>(
    key: string,
    make: () => PairReader,
    use: (reader: PairReader) => Promise<Result>,
  ): Promise<Result> {
    const lent = this.#open.get(key) ?? { reader: make(), users: 0 };
    this.#open.delete(key);
    this.#open.set(key, lent);
    lent.users++;
    this.#evict();
    try {
      return await use(lent.reader);
    } finally {
      lent.users--;
      this.#evict();
    }
  }

  /** Also closes readers in use. */
  close(): void {
    for (const { reader } of this.#open.values()) reader.close();
    this.#open.clear();
  }

  #evict(): void {
    for (const [key, { reader, users }] of this.#open) {
      if (this.#open.size <= this.#room) return;
      if (users > 0) continue;
      this.#open.delete(key);
      reader.close();
    }
  }
}
