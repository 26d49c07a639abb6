/**
 * @module web/frames/serve
 * The engine worker's functions for the frame viewer. Pairs of two open files are read by number in any order, and
 * recent ones cached.
 */
import {
  type ExtractOptions,
  extractFrames,
  type FramePair,
  type MapOptions,
  type RawVideoFormat,
  type ScoreRequest,
} from 'anyvmaf';
import { unlessAborted } from 'anyvmaf/core/abort';
import type { ListedEncode, MapsOfMetric, PageLimits, PagePictures } from 'anyvmaf/view';
import { type CallContext, Handover } from '../engine/calls.js';
import { type EncodeSource, PAIRING_SETTINGS, type RunOptions } from '../session.js';
import { ByteCache } from './byte-cache.js';
import {
  drawDifference,
  drawPair,
  measureMap,
  reportPictures,
  type ShownDifference,
  type ShownMap,
  type ShownPair,
  type Thumb,
  type ThumbPair,
  thumb,
  thumbsOf,
} from './draw.js';

/** For jumps of up to this many frames, also reads and caches the frames in between, for stepping back. */
const READ_THROUGH = 24;
/** Bytes of cached frames. */
const KEPT = 192 * 2 ** 20;

class FrameQueue implements AsyncIterable<number> {
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
  readonly queue: FrameQueue;
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
        stream.queue.push(at);
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
    const queue = new FrameQueue();
    const stop = new AbortController();
    const pairs = this.#extract(this.#request, queue, { ...this.#options, signal: stop.signal });
    return { queue, pairs, stop, next: Number.POSITIVE_INFINITY };
  }

  #end(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.stop.abort(new DOMException('The reader was closed.', 'AbortError'));
    stream?.queue.end();
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

export interface PairSource {
  /** Equal for the same files and options. */
  readonly key: string;
  readonly reference: File;
  readonly distorted: File;
  readonly options: RunOptions;
  /** Number of pairs. */
  readonly total: number;
  readonly maps: MapsOfMetric;
}

/** `from` and `to` are inclusive. */
export interface FramesCall {
  readonly source: PairSource;
  readonly from: number;
  readonly to: number;
  readonly first: number;
  /** Distance between pairs during playback; absent otherwise. */
  readonly step?: number;
}

interface PairCall {
  readonly source: PairSource;
  readonly index: number;
}

export interface ThumbCall {
  readonly file: File;
  readonly raw: RawVideoFormat | null;
  readonly decoder: 'mediabunny' | 'wasm';
  /** Longest side in pixels. */
  readonly side: number;
}

interface ThumbsCall extends Pick<PairSource, 'reference' | 'distorted' | 'options' | 'maps'> {
  readonly indices: readonly number[];
  readonly side: number;
}

export interface PicturedEncode extends ListedEncode {
  /** Its options have the offset that the run found. */
  readonly source: EncodeSource;
  readonly maps: MapsOfMetric;
}

export interface ReportPicturesCall {
  readonly encodes: readonly PicturedEncode[];
  readonly limits: PageLimits;
  /** Tells users how to allow more. */
  readonly remedy: string;
}

/** As many as encodes on show; thumbnails are read separately. */
const readers = new Readers(4);

function reading<Result>(
  { key, reference, distorted, options }: PairSource,
  use: (reader: PairReader) => Promise<Result>,
): Promise<Result> {
  const make = () => new PairReader(requestOf(reference, distorted, options), pairingOptionsOf(options));
  return readers.with(key, make, use);
}

function requestOf(reference: File, distorted: File, { raw }: RunOptions): ScoreRequest {
  return { reference, distorted, ...(raw && { raw }) };
}

const PAIRING = [...PAIRING_SETTINGS, 'skipReference', 'skipDistorted'] as const;

/** The options of a run that decide which frames are paired, and how. */
export function pairingOptionsOf(options: RunOptions): ExtractOptions {
  const given = PAIRING.filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name]]));
}

export const frameFunctions = {
  /** Emits `first`, then the pairs before it, then those after it. */
  async frames(
    { source, from, to, first, step }: FramesCall,
    { signal, emit }: CallContext<ShownPair>,
  ): Promise<void> {
    const plays = step !== undefined;
    await reading(source, async (reader) => {
      const send = async (index: number) => {
        const shown = await drawPair(await reader.get(index, signal, plays), plays);
        if (signal.aborted) for (const bitmap of [shown.reference, shown.distorted]) bitmap.close();
        signal.throwIfAborted();
        emit(shown, [shown.reference, shown.distorted]);
      };
      // Decoders go forward: read earlier pairs first, draw them later.
      for (let index = from; index < first; index++) await reader.get(index, signal);
      await send(first);
      for (let index = from; index < first; index++) await send(index);
      const apart = step ?? 1;
      for (let index = first + apart; index <= to; index += apart) await send(index);
    });
  },

  async difference(
    { source, index, gain }: PairCall & { readonly gain?: number },
    { signal }: CallContext<never>,
  ): Promise<Handover<ShownDifference>> {
    const pair = await reading(source, (reader) => reader.get(index, signal));
    const shown = await drawDifference(pair, gain);
    return new Handover(shown, [shown.bitmap]);
  },

  async maps(
    { source, index, options }: PairCall & { readonly options: MapOptions },
    { signal }: CallContext<never>,
  ): Promise<ShownMap> {
    const pair = await reading(source, (reader) => reader.get(index, signal));
    return measureMap(pair, options);
  },

  async thumb({ file, raw, decoder, side }: ThumbCall): Promise<Thumb | undefined> {
    const request = { reference: file, distorted: file, ...(raw && { raw }) };
    for await (const { reference } of extractFrames(request, [0], { decoder }))
      return thumb(reference, side, reference.displayAspect);
    return undefined;
  },

  async thumbs(
    { reference, distorted, options, maps, indices, side }: ThumbsCall,
    { signal, emit }: CallContext<ThumbPair>,
  ): Promise<void> {
    const request = requestOf(reference, distorted, options);
    for await (const pair of extractFrames(request, indices, { ...pairingOptionsOf(options), signal })) {
      const pictures = await thumbsOf(pair, side, maps);
      signal.throwIfAborted();
      emit(pictures);
    }
  },

  async reportPictures(
    { encodes, limits, remedy }: ReportPicturesCall,
    { signal, emit }: CallContext<readonly [done: number, of: number]>,
  ): Promise<PagePictures> {
    const pairsOf = ({ source: { reference, distorted, options }, frames }: PicturedEncode) =>
      extractFrames(requestOf(reference, distorted, options), frames, {
        ...pairingOptionsOf(options),
        signal,
      });
    return reportPictures(encodes, pairsOf, { limits, remedy, signal, onMoment: (...done) => emit(done) });
  },

  async closeFrames(): Promise<void> {
    readers.close();
  },
};
