/**
 * @module platform/mediabunny/remote
 * The engine's mediabunny decoder: one parser thread per open video, killed if a file hangs it or exhausts its memory; and
 * the calls to it.
 */
import { onAbort } from '../../core/abort.js';
import { AnyvmafError, messageOf } from '../../core/errors.js';
import type { FramePlanes } from '../../core/frame.js';
import type { ParserTask } from '../../engine/contract/platform.js';
import type {
  DecodedSource,
  DecodeRequest,
  Decoder,
  TrackFacts,
  TrackRequest,
  TrackTimes,
} from '../../media/decoder.js';
import { decodedInfo, requireInOrder } from '../../media/decoder.js';
import { type EarlyEnd, earlyEndError, earlyEndWarning } from '../../media/errors.js';
import type { ByteReader, VideoInfo, VideoInput } from '../../media/types.js';
import { Parser } from '../../parsing/parser.js';
import type { ParserWorker } from '../../parsing/protocol.js';

/** Milliseconds to keep an idle thread. */
const KEPT = 2000;
/** Most idle threads. */
const IDLE = 4;

export interface RemoteHost {
  startWorker(): ParserWorker;
  readonly track?: TrackRequest;
  task(): ParserTask;
  /** @throws {AnyvmafError} `io` if it cannot be read, `usage` if it can be read only once */
  openInput(input: VideoInput): Promise<{ readonly name: string; readonly reader: ByteReader }>;
}

type VideoParser = Parser<VideoCalls>;

interface Idle {
  readonly parser: VideoParser;
  /** Its open video, which it reopens without reading the index. */
  readonly open: Blob | undefined;
  readonly timer: ReturnType<typeof setTimeout>;
}

interface Loan {
  readonly parser: VideoParser;
  readonly video: LentVideo;
  /** Call once. @param failed whether the thread's open video may be unusable */
  release(failed: boolean): void;
}

/** Lends videos to threads, and keeps some idle threads with the library loaded. */
class Lender {
  readonly #host: RemoteHost;
  #idle: Idle[] = [];

  constructor(host: RemoteHost) {
    this.#host = host;
  }

  /** Takes a thread with this video open, else one without an open video, else the longest idle one. */
  take(video?: Blob): Pick<Idle, 'parser' | 'open'> {
    this.#idle = this.#idle.filter(({ parser }) => !parser.ended);
    const wanted = [video, undefined].map((open) => this.#idle.findIndex((idle) => idle.open === open));
    const [found] = this.#idle.splice(wanted.find((at) => at >= 0) ?? 0, 1);
    if (found) {
      clearTimeout(found.timer);
      return found;
    }
    // Videos come in pairs: load a second thread while the first video is probed.
    this.giveBack(this.#start());
    return { parser: this.#start(), open: undefined };
  }

  #start(): VideoParser {
    return new Parser(this.#host.startWorker(), this.#host.task());
  }

  giveBack(parser: VideoParser, open?: Blob): void {
    if (parser.ended) return;
    if (this.#idle.length >= IDLE) {
      parser.close();
      return;
    }
    const timer = setTimeout(() => {
      this.#idle = this.#idle.filter((other) => other !== idle);
      parser.close();
    }, KEPT);
    const idle: Idle = { parser, open, timer };
    this.#idle.push(idle);
    // Do not keep Node running.
    if (typeof timer === 'object' && 'unref' in timer) timer.unref();
  }

  async lend(input: VideoInput): Promise<Loan> {
    const { track } = this.#host;
    const { name, reader } = await this.#host.openInput(input);
    const blob = input instanceof Blob ? input : undefined;
    const { parser, open } = this.take(blob);
    parser.lend(reader);
    return {
      parser,
      video: { name, size: reader.size, ...(blob && { isOpen: open === blob }), track },
      release: (failed) => {
        // The thread may read ahead in a video that stays open.
        if (!blob) parser.lend(undefined);
        this.giveBack(parser, failed ? undefined : blob);
        reader.close();
      },
    };
  }

  async ask<T>(input: VideoInput, use: (parser: VideoParser, video: LentVideo) => Promise<T>): Promise<T> {
    const { parser, video, release } = await this.lend(input);
    let failed = true;
    try {
      const answer = await use(parser, video);
      failed = false;
      return answer;
    } finally {
      release(failed);
    }
  }
}

async function once<T>(
  memory: WeakMap<Blob, NonNullable<T>>,
  input: VideoInput,
  signal: AbortSignal | undefined,
  find: () => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const blob = input instanceof Blob ? input : undefined;
  const before = blob && memory.get(blob);
  if (before !== undefined) return before;
  const found = await find();
  if (blob && found !== null && found !== undefined) memory.set(blob, found);
  return found;
}

export function createRemoteDecoder(host: RemoteHost): Decoder {
  const lender = new Lender(host);
  // Caches for immutable files: reading the index of an hour takes a third of a second.
  const known = { facts: new WeakMap<Blob, TrackFacts>(), packets: new WeakMap<Blob, TrackTimes>() };

  return {
    id: 'mediabunny',
    async availability() {
      const { parser } = lender.take();
      try {
        await parser.call('ready', null);
        return { id: 'mediabunny', usable: true };
      } catch (error) {
        return { id: 'mediabunny', usable: false, reason: messageOf(error) };
      } finally {
        lender.giveBack(parser);
      }
    },
    probe: (input, signal) =>
      once(known.facts, input, signal, () =>
        lender.ask(input, (parser, video) => parser.call('probe', video, { signal })),
      ),
    async timestamps(input, signal) {
      const packets = await once(known.packets, input, signal, () =>
        lender.ask(input, (parser, video) => parser.call('timestamps', video, { signal })),
      );
      // Of other inputs, the declared bit rate counts.
      return (
        packets && { times: packets.times.slice(), ...(input instanceof Blob && { bytes: packets.bytes }) }
      );
    },
    async open(input, facts, { signal, ...request }) {
      signal?.throwIfAborted();
      const loan = await lender.lend(input);
      const { parser, video } = loan;
      try {
        const engine = await parser.call('open', { video, facts, request }, { signal });
        return new RemoteSource(loan, facts, engine, { ...request, signal });
      } catch (error) {
        // Closes everything that the worker has open.
        parser.close();
        loan.release(true);
        throw error;
      }
    },
  };
}

class RemoteSource implements DecodedSource {
  readonly seekable = false;
  readonly decoder = 'mediabunny';
  readonly info: VideoInfo;
  readonly facts: TrackFacts;
  readonly decodedBy: string;
  /** Released once, when the thread is free or ended. */
  readonly #loan: Loan;
  readonly #request: DecodeRequest;
  readonly #warnings: string[] = [];
  readonly #times: number[] = [];
  damage: string | undefined;
  #closed = false;
  #failed = false;
  #forget = () => {};

  constructor(loan: Loan, facts: TrackFacts, engine: string, request: DecodeRequest) {
    const { frames, time, signal } = request;
    const whole = frames === undefined && time === undefined;
    this.info = decodedInfo(facts, whole ? facts.frameCount : null, this.#warnings);
    this.facts = facts;
    const turned = facts.rotation === 0 ? '' : `, turned by ${facts.rotation} degrees`;
    this.decodedBy = `mediabunny with ${engine} (${facts.codec}${turned})`;
    this.#loan = loan;
    this.#request = request;
    this.#forget = onAbort(signal, this.#abort);
  }

  async readFrame(index: number, into: FramePlanes): Promise<boolean> {
    const { signal, damage } = this.#request;
    signal?.throwIfAborted();
    if (this.#closed) return false;
    requireInOrder(this.info.name, index, this.#times.length);
    const { y, cb, cr } = into;
    const sizes = { y: y.length, cb: cb?.length ?? 0, cr: cr?.length ?? 0 };
    const reading = this.#loan.parser.call('read', { index, sizes }, { signal });
    const { found, planes, times } = await reading.catch((error: unknown) => {
      this.#failed = true;
      throw error;
    });
    this.#times.push(...times);
    if (typeof found === 'object') {
      this.#failed = damage !== 'accept';
      if (this.#failed) throw earlyEndError(this.facts, found);
      this.damage = earlyEndWarning(this.facts, found);
      this.#warnings.push(this.damage);
    }
    if (found !== true) return false;
    y.set(new Uint8Array(planes, 0, sizes.y));
    cb?.set(new Uint8Array(planes, sizes.y, sizes.cb));
    cr?.set(new Uint8Array(planes, sizes.y + sizes.cb, sizes.cr));
    return true;
  }

  timestamp(index: number): number | undefined {
    return this.#times[index];
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#forget();
    // Do not reuse a thread that fails to close a video.
    const { parser, release } = this.#loan;
    await parser.call('close', null).catch(() => parser.close());
    release(this.#failed);
  }

  readonly #abort = (): void => {
    this.#closed = true;
    const { parser, release } = this.#loan;
    parser.close(this.#request.signal?.reason ?? new AnyvmafError('aborted', 'Decoding was stopped.'));
    release(true);
  };
}

export interface LentVideo {
  readonly name: string;
  readonly size: number;
  /** Whether the thread has it open; absent if its bytes can change, so that it must not stay open. */
  readonly isOpen?: boolean;
  readonly track?: TrackRequest;
}

export interface PlaneSizes {
  readonly y: number;
  readonly cb: number;
  readonly cr: number;
}

interface ReadFrame {
  /** False at the end; why the video ends early. */
  readonly found: boolean | EarlyEnd;
  /** Requested planes of Y, Cb and Cr, one after another. */
  readonly planes: ArrayBuffer;
  /** Seconds from the track's first frame, of the frames since the last request. */
  readonly times: readonly number[];
}

/** A thread works on one video at a time. */
export interface VideoCalls {
  /** Answers when the library is loaded. */
  ready(nothing: null): void;
  probe(video: LentVideo): TrackFacts;
  timestamps(video: LentVideo): TrackTimes | null;
  /** Returns the decoder's name, for the report. */
  open(what: {
    readonly video: LentVideo;
    readonly facts: TrackFacts;
    readonly request: Omit<DecodeRequest, 'signal'>;
  }): string;
  read(what: { readonly index: number; readonly sizes: PlaneSizes }): ReadFrame;
  close(nothing: null): void;
}
