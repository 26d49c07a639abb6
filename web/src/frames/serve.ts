/**
 * @module web/frames/serve
 * The engine worker's functions for the frame viewer.
 */
import { type ExtractOptions, extractFrames, type RawVideoFormat, type ScoreRequest } from 'anyvmaf';
import type { ListedEncode, PageLimits, PagePictures } from 'anyvmaf/view';
import { type CallContext, Handover } from '../engine/calls.js';
import { type EncodeSource, PAIRING_SETTINGS, type RunOptions } from '../session.js';
import {
  drawDifference,
  drawPair,
  measureMap,
  type ShownDifference,
  type ShownMap,
  type ShownPair,
} from './draw.js';
import { PairReader, Readers } from './reader.js';
import { reportPictures } from './report-pictures.js';
import { type Thumb, type ThumbPair, thumb, thumbsOf } from './thumbs.js';

export interface PairSource {
  /** Equal for the same files and options. */
  readonly key: string;
  readonly reference: File;
  readonly distorted: File;
  readonly options: RunOptions;
  /** Number of pairs. */
  readonly total: number;
}

/** `from` and `to` are inclusive. */
export interface FramesCall {
  readonly source: PairSource;
  readonly from: number;
  readonly to: number;
  /** The pair to send first. */
  readonly first: number;
  /** Distance between pairs during playback; absent otherwise. */
  readonly step?: number;
}

export interface PicturedEncode extends ListedEncode {
  /** Its options have the offset that the run found. */
  readonly source: EncodeSource;
  readonly butteraugli: boolean;
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
  const make = () => new PairReader(requestOf(reference, distorted, options), pairingOf(options));
  return readers.with(key, make, use);
}

function requestOf(reference: File, distorted: File, { raw }: RunOptions): ScoreRequest {
  return { reference, distorted, ...(raw && { raw }) };
}

function pairingOf(options: RunOptions): ExtractOptions {
  const given = PAIRING_SETTINGS.filter((name) => options[name] !== undefined);
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
    { source, index, gain }: { readonly source: PairSource; readonly index: number; readonly gain?: number },
    { signal }: CallContext<never>,
  ): Promise<Handover<ShownDifference>> {
    const pair = await reading(source, (reader) => reader.get(index, signal));
    const shown = await drawDifference(pair, gain);
    return new Handover(shown, [shown.bitmap]);
  },

  async maps(
    {
      source,
      index,
      blockSize,
      butteraugli,
    }: {
      readonly source: PairSource;
      readonly index: number;
      readonly blockSize: number;
      readonly butteraugli: boolean;
    },
    { signal }: CallContext<never>,
  ): Promise<ShownMap> {
    const pair = await reading(source, (reader) => reader.get(index, signal));
    return measureMap(pair, blockSize, butteraugli);
  },

  async thumb({
    file,
    raw,
    decoder,
    side,
  }: {
    readonly file: File;
    readonly raw: RawVideoFormat | null;
    readonly decoder: 'mediabunny' | 'wasm';
    readonly side: number;
  }): Promise<Thumb | undefined> {
    const request = { reference: file, distorted: file, ...(raw && { raw }) };
    for await (const { reference } of extractFrames(request, [0], { decoder }))
      return thumb(reference, side, reference.displayAspect);
    return undefined;
  },

  async thumbs(
    {
      reference,
      distorted,
      options,
      indices,
      side,
    }: {
      readonly reference: File;
      readonly distorted: File;
      readonly options: RunOptions;
      readonly indices: readonly number[];
      readonly side: number;
    },
    { signal, emit }: CallContext<ThumbPair>,
  ): Promise<void> {
    const request = requestOf(reference, distorted, options);
    for await (const pair of extractFrames(request, indices, { ...pairingOf(options), signal })) {
      const pictures = await thumbsOf(pair, side);
      signal.throwIfAborted();
      emit(pictures);
    }
  },

  /** Emits how many moments of all are done. */
  async reportPictures(
    { encodes, limits, remedy }: ReportPicturesCall,
    { signal, emit }: CallContext<readonly [done: number, of: number]>,
  ): Promise<PagePictures> {
    const pairsOf = ({ source: { reference, distorted, options }, frames }: PicturedEncode) =>
      extractFrames(requestOf(reference, distorted, options), frames, { ...pairingOf(options), signal });
    return reportPictures(encodes, pairsOf, { limits, remedy, signal, onMoment: (...done) => emit(done) });
  },

  async closeFrames(): Promise<void> {
    readers.close();
  },
};
