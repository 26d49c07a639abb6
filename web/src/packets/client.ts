/**
 * @module web/packets/client
 * The coded frames of a video, read once: times, bytes, types, and the bit rate around each.
 */
import { frameRate, searchFrame, sizeText } from 'anyvmaf/view';
import { Remote } from '../engine/calls.js';
import type { EncodeResult } from '../session.js';
import { text } from '../text.js';
import type { CodedFrames, PacketFunctions, Quantizer } from './functions.js';
import { KINDS, type Kind } from './headers.js';

const reader = new Remote<PacketFunctions>(
  () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'anyvmaf packets' }),
  text.coded.died,
);

/** Milliseconds without an event after which reading is aborted. */
const SILENCE = 20_000;

export interface CodedFrame {
  readonly kind: Kind;
  readonly bytes: number;
  readonly isKey: boolean;
  /** Absent if unknown. */
  readonly quantizer: { readonly of: Quantizer; readonly value: number } | undefined;
}

export function codedText({ kind, bytes, quantizer }: CodedFrame, name = '', rate = ''): string {
  const words = text.results.lanes;
  const coarse = quantizer ? words.quantizer[quantizer.of](quantizer.value) : '';
  return words.now(name, kind, sizeText(bytes) ?? '', coarse, rate);
}

/** The coded frames of an encode's distorted video. */
export class Coded {
  readonly frames: CodedFrames;
  /** Number of the pair that shows each frame, on the encode's axis; ascending. */
  readonly pairs: Float64Array;
  /** Cumulative bytes: before each frame, and of all. */
  readonly #sums: Float64Array;

  constructor(frames: CodedFrames, result: EncodeResult) {
    this.frames = frames;
    this.pairs = pairsOf(frames.times, result);
    this.#sums = new Float64Array(frames.bytes.length + 1);
    frames.bytes.forEach((bytes, i) => {
      this.#sums[i + 1] = (this.#sums[i] ?? 0) + bytes;
    });
  }

  get length(): number {
    return this.pairs.length;
  }

  nearest(pair: number): number {
    const after = Math.min(this.length - 1, searchFrame(this.pairs, pair));
    const before = Math.max(0, after - 1);
    const away = (i: number) => Math.abs((this.pairs[i] ?? 0) - pair);
    return away(before) < away(after) ? before : after;
  }

  /** @param i number in the encode's own video */
  at(i: number): CodedFrame | undefined {
    const { kinds, quantizer: of, quantizers } = this.frames;
    const [kind, bytes, value = Number.NaN] = [KINDS[kinds[i] ?? -1], this.frames.bytes[i], quantizers[i]];
    if (kind === undefined || bytes === undefined) return undefined;
    const quantizer = of === undefined || Number.isNaN(value) ? undefined : { of, value };
    return { kind, bytes, isKey: kind === 'key', quantizer };
  }

  /** The next key frame's pair before or after a pair. */
  key(pair: number, direction: 1 | -1): number | undefined {
    const keys = this.pairs.filter((_, i) => this.frames.kinds[i] === 0);
    return direction > 0 ? keys.find((key) => key > pair) : keys.findLast((key) => key < pair);
  }

  /** Bits per second from one index to another, inclusive; NaN if times are unusable. */
  rate(from: number, to: number): number {
    const { times } = this.frames;
    const bytes = (this.#sums[to + 1] ?? 0) - (this.#sums[from] ?? 0);
    // The last frame gets the mean duration.
    const period = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / (this.length - 1);
    const seconds = (times[to + 1] ?? (times[to] ?? 0) + period) - (times[from] ?? 0);
    return (8 * bytes) / seconds;
  }

  /** Bits per second over the second around each frame. */
  rates(): Float64Array {
    const { times } = this.frames;
    const rates = new Float64Array(this.length);
    for (let i = 0, from = 0, to = 0; i < this.length; i++) {
      const now = times[i] ?? 0;
      while ((times[from] ?? now) < now - 0.5) from++;
      while (to + 1 < this.length && (times[to + 1] ?? now) <= now + 0.5) to++;
      rates[i] = this.rate(from, to);
    }
    return rates;
  }
}

function pairsOf(times: Float64Array, { report }: EncodeResult): Float64Array {
  const skipped = report?.distorted.skipped ?? 0;
  const { frames: pairing } = report?.pairing ?? {};
  const rate = report && frameRate(report.reference);
  const lists = pairing ? [pairing.missing, pairing.repeated, pairing.dropped] : [];
  const oneByOne =
    pairing?.policy === 'number' || pairing?.by === 'distorted' || lists.every(({ count }) => count === 0);
  if (oneByOne || !rate) return times.map((_, i) => i - skipped);
  // Pairs number frames of the reference, and the first pair shows both first frames.
  const start = times[skipped] ?? times[0] ?? 0;
  return times.map((time) => (time - start) * rate);
}

/** By track, which a report states if there are several. */
const known = new WeakMap<File, Map<number | undefined, Promise<CodedFrames | null>>>();
/** Reads are serialized. */
let last: Promise<unknown> = Promise.resolve();

function readFrames(file: File, track: number | undefined): Promise<CodedFrames | null> {
  const reading = last.then(async () => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => reader.close(), SILENCE);
    };
    wait();
    try {
      const call = { file, ...(track !== undefined && { track }) };
      return await reader.call('codedFrames', call, { onEvent: wait });
    } finally {
      clearTimeout(timer);
    }
  });
  last = reading.catch(() => {});
  return reading;
}

/** `undefined` if there are none, as in raw video. @throws {EngineError} if the file cannot be read */
export async function codedOf(result: EncodeResult): Promise<Coded | undefined> {
  const file = result.source?.distorted;
  if (!file) return undefined;
  const { track } = (result.report ?? result.saved)?.pairing?.distorted ?? {};
  const tracks = known.get(file) ?? new Map<number | undefined, Promise<CodedFrames | null>>();
  known.set(file, tracks);
  const reading = tracks.get(track) ?? readFrames(file, track);
  tracks.set(track, reading);
  // After a failure, a later call tries again.
  reading.catch(() => tracks.delete(track));
  const frames = await reading;
  return frames && frames.times.length > 0 ? new Coded(frames, result) : undefined;
}
