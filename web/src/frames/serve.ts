/**
 * @module web/frames/serve
 * The engine worker's functions for the frame viewer: pictures, differences and maps of pairs.
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

/** The two videos of an encode and their pairing. */
export interface PairSource {
  /** Identical for the same files and options. */
  readonly key: string;
  readonly reference: File;
  readonly distorted: File;
  readonly options: RunOptions;
  /** Number of pairs. */
  readonly total: number;
}

/** A request for pairs `from` to `to`, inclusive. */
export interface FramesCall {
  readonly source: PairSource;
  readonly from: number;
  readonly to: number;
  /** The pair to send first. */
  readonly first: number;
  /** Distance of the pairs to send while a film plays; absent: pairs are looked at. */
  readonly step?: number;
}

/** An encode of an HTML report. */
export interface PicturedEncode extends ListedEncode {
  /** Its options have the offset that the run found. */
  readonly source: EncodeSource;
  /** Whether the loss is that of Butteraugli. */
  readonly butteraugli: boolean;
}

/** A request for the pictures of an HTML report. */
export interface ReportPicturesCall {
  readonly encodes: readonly PicturedEncode[];
  readonly limits: PageLimits;
  /** What allows more. */
  readonly remedy: string;
}

/** As many as the viewer shows encodes at once. Small pictures are made of others meanwhile. */
const readers = new Readers(4);

/** Reads pairs of a source, whose files stay open until `use` has ended. */
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

/** Options that determine the pairing. */
function pairingOf(options: RunOptions): ExtractOptions {
  const given = PAIRING_SETTINGS.filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name]]));
}

/** The engine's functions for frames. */
export const frameFunctions = {
  /** Emits pictures of pairs: `first`, then those before it, then those after it. */
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
      // Decoding goes forward, so read earlier pairs first but draw them later.
      for (let index = from; index < first; index++) await reader.get(index, signal);
      await send(first);
      for (let index = from; index < first; index++) await send(index);
      const apart = step ?? 1;
      for (let index = first + apart; index <= to; index += apart) await send(index);
    });
  },

  /** Draws the difference of a pair. */
  async difference(
    { source, index, gain }: { readonly source: PairSource; readonly index: number; readonly gain?: number },
    { signal }: CallContext<never>,
  ): Promise<Handover<ShownDifference>> {
    const pair = await reading(source, (reader) => reader.get(index, signal));
    const shown = await drawDifference(pair, gain);
    return new Handover(shown, [shown.bitmap]);
  },

  /** Measures where a pair loses quality. */
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

  /** The first frame of a file, small; `undefined` if it has none. */
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

  /** Emits small pictures of pairs with their loss maps. */
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

  /** Makes the pictures of an HTML report; emits how many moments are done, of all. */
  async reportPictures(
    { encodes, limits, remedy }: ReportPicturesCall,
    { signal, emit }: CallContext<readonly [done: number, of: number]>,
  ): Promise<PagePictures> {
    const pairsOf = ({ source: { reference, distorted, options }, frames }: PicturedEncode) =>
      extractFrames(requestOf(reference, distorted, options), frames, { ...pairingOf(options), signal });
    return reportPictures(encodes, pairsOf, { limits, remedy, signal, onMoment: (...done) => emit(done) });
  },

  /** Closes all readers. */
  async closeFrames(): Promise<void> {
    readers.close();
  },
};
