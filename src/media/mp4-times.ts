/**
 * @module media/mp4-times
 * Reads frame times from the index of an MP4 or MOV file (ISO/IEC 14496-12) if it is unambiguous.
 */
import { latin1, readAt } from './readers.js';
import type { ByteReader } from './types.js';

/** In bytes. */
const MOST_INDEX = 256 << 20;
/** Per parent box. */
const MOST_BOXES = 4096;
/** More than a day at any rate. */
const MOST_FRAMES = 1 << 23;
const UNIT_RATE = 0x10000;

/** Times of all frames, in decoding order and in ticks of the file's clock. */
export interface IndexedTimes {
  /** Ticks per second. */
  readonly timescale: number;
  readonly pts: readonly number[];
  readonly dts: readonly number[];
}

/**
 * Times of the first video track; `undefined` for other files, fragmented ones, and edit lists that do more than shift.
 * @throws {AnyvmafError} `io` if reading fails
 */
export async function readIndexedTimes(reader: ByteReader): Promise<IndexedTimes | undefined> {
  for await (const box of boxesOf(reader)) {
    if (box.type === 'moof') return undefined;
    if (box.type !== 'moov') continue;
    const index = await contentOf(reader, box);
    return index && indexOf(index);
  }
  return undefined;
}

/**
 * True if fragments continue an index with frames, as in crash-safe recordings; reads the index only if needed.
 * @throws {AnyvmafError} `io` if reading fails
 */
export async function goesOnInFragments(reader: ByteReader): Promise<boolean> {
  let moov: PlacedBox | undefined;
  for await (const box of boxesOf(reader)) {
    if (box.type === 'moov') moov ??= box;
    if (box.type !== 'moof') continue;
    const index = moov && (await contentOf(reader, moov));
    return index !== undefined && tracksOf(index).some(({ table }) => timesIn(table) > 0);
  }
  return false;
}

/**
 * True if an edit list joins several parts of a video track.
 * @throws {AnyvmafError} `io` if reading fails
 */
export async function joinsParts(reader: ByteReader): Promise<boolean> {
  for await (const box of boxesOf(reader)) {
    if (box.type !== 'moov') continue;
    const index = await contentOf(reader, box);
    return index !== undefined && tracksOf(index).some(({ track }) => partsIn(track) > 1);
  }
  return false;
}

/** Edits other than pauses. */
function partsIn(track: Boxes): number {
  const list = boxesIn(track.get('edts')?.[0])?.get('elst')?.[0];
  if (!list || list.byteLength < 8) return 0;
  const long = list.getUint8(0) === 1;
  const size = long ? 20 : 12;
  let parts = 0;
  for (let i = 0, at = 8; i < list.getUint32(4) && at + size <= list.byteLength; i++, at += size) {
    const start = long ? Number(list.getBigInt64(at + 8)) : list.getInt32(at + 4);
    if (start >= 0) parts++;
  }
  return parts;
}

interface PlacedBox extends Box {
  readonly at: number;
}

/**
 * Boxes of (a part of) a file; reads only their headers. The last one may be truncated.
 * @throws {AnyvmafError} `io` if reading fails
 */
export async function* boxesOf(
  reader: ByteReader,
  from = 0,
  end = reader.size,
  most = MOST_BOXES,
): AsyncGenerator<PlacedBox, void> {
  let at = from;
  for (let count = 0; count < most && at + 8 <= end; count++) {
    const head = await readAt(reader, at, 16);
    const box = boxAt(new DataView(head.buffer, 0, head.length), 0, end - at);
    if (!box) return;
    yield { ...box, at };
    at += box.length;
  }
}

/** `undefined` for a box that is truncated or too large. */
async function contentOf(reader: ByteReader, { at, length, head }: PlacedBox): Promise<DataView | undefined> {
  if (at + length > reader.size || length > MOST_INDEX) return undefined;
  return new DataView((await readAt(reader, at, length)).buffer, head);
}

interface Box {
  readonly type: string;
  /** Bytes, including `head`. */
  readonly length: number;
  readonly head: number;
}

function boxAt(view: DataView, at: number, left: number): Box | undefined {
  if (view.byteLength < at + 8) return undefined;
  const type = latin1(new Uint8Array(view.buffer, view.byteOffset + at + 4, 4));
  const short = view.getUint32(at);
  if (short === 1 && view.byteLength < at + 16) return undefined;
  const head = short === 1 ? 16 : 8;
  const length = short === 1 ? Number(view.getBigUint64(at + 8)) : short || left;
  return length >= head ? { type, length, head } : undefined;
}

/** Contents of a box's child boxes, by type; `undefined` if they do not fit. */
function boxesIn(view: DataView | undefined): Boxes | undefined {
  if (!view) return undefined;
  const found = new Map<string, DataView[]>();
  let at = 0;
  for (let count = 0; count < MOST_BOXES && at + 8 <= view.byteLength; count++) {
    const box = boxAt(view, at, view.byteLength - at);
    if (!box || at + box.length > view.byteLength) return undefined;
    const content = new DataView(view.buffer, view.byteOffset + at + box.head, box.length - box.head);
    found.set(box.type, [...(found.get(box.type) ?? []), content]);
    at += box.length;
  }
  return found;
}

function indexOf(moov: DataView): IndexedTimes | undefined {
  const movie = boxesIn(moov);
  if (!movie || movie.has('mvex')) return undefined;
  const movieScale = scaleOf(movie.get('mvhd')?.[0]);
  const [first] = tracksOf(moov);
  if (!first) return undefined;
  const { track, media, table } = first;
  const timescale = scaleOf(media.get('mdhd')?.[0]);
  const dts = decodingTimes(table?.get('stts')?.[0]);
  if (!table || !dts || dts.length === 0 || !timescale || !movieScale) return undefined;
  const delays = delaysOf(table.get('ctts')?.[0], dts.length);
  if (!delays) return undefined;
  const pts = dts.map((time, i) => time + (delays[i] ?? 0));
  const edits = boxesIn(track.get('edts')?.[0])?.get('elst')?.[0];
  const shift = edits ? shiftOf(edits, pts, timescale / movieScale) : 0;
  if (shift === undefined) return undefined;
  return { timescale, pts: pts.map((time) => time + shift), dts: dts.map((time) => time + shift) };
}

type Boxes = Map<string, DataView[]>;

function tracksOf(moov: DataView) {
  return (boxesIn(moov)?.get('trak') ?? []).flatMap((content) => {
    const track = boxesIn(content);
    const media = boxesIn(track?.get('mdia')?.[0]);
    const handler = media?.get('hdlr')?.[0];
    if (!track || !media || !handler || handler.byteLength < 12 || handler.getUint32(8) !== 0x76696465)
      return [];
    return [{ track, media, table: boxesIn(boxesIn(media.get('minf')?.[0])?.get('stbl')?.[0]) }];
  });
}

function timesIn(table: Boxes | undefined): number {
  const box = table?.get('stts')?.[0];
  return box && box.byteLength >= 8 ? box.getUint32(4) : 0;
}

/** Ticks per second in the header of a movie or medium. */
function scaleOf(header: DataView | undefined): number | undefined {
  if (!header || header.byteLength < 24) return undefined;
  return header.getUint32(header.getUint8(0) === 1 ? 20 : 12) || undefined;
}

/** Pairs in the table of a full box; stops where it is truncated. */
function* pairs(box: DataView): Generator<readonly [number, number]> {
  const count = box.byteLength < 8 ? 0 : box.getUint32(4);
  for (let i = 0; i < count && 16 + 8 * i <= box.byteLength; i++)
    yield [box.getUint32(8 + 8 * i), box.getInt32(12 + 8 * i)];
}

function decodingTimes(box: DataView | undefined): number[] | undefined {
  if (!box) return undefined;
  const times: number[] = [];
  let time = 0;
  for (const [count, delta] of pairs(box)) {
    // Limit memory: such tables exceed any real file.
    if (delta < 0 || times.length + count > MOST_FRAMES) return undefined;
    for (let i = 0; i < count; i++) {
      times.push(time);
      time += delta;
    }
  }
  return times;
}

/** Presentation minus decoding time of each frame; `undefined` for invalid tables. */
function delaysOf(box: DataView | undefined, frames: number): number[] | undefined {
  const delays: number[] = [];
  if (!box) return delays;
  for (const [count, delay] of pairs(box)) {
    if (delay < 0 || delays.length + count > frames) return undefined;
    for (let i = 0; i < count; i++) delays.push(delay);
  }
  return delays.length === frames ? delays : undefined;
}

/**
 * Shift by an edit list: an initial pause minus the first delay; `undefined` if it drops or stretches frames.
 * @param scale ticks of the medium per tick of the movie
 */
function shiftOf(list: DataView, pts: readonly number[], scale: number): number | undefined {
  const long = list.getUint8(0) === 1;
  const size = long ? 20 : 12;
  const count = list.byteLength < 8 ? 0 : list.getUint32(4);
  if (count < 1 || count > 2 || list.byteLength < 8 + count * size) return undefined;
  const edits = Array.from({ length: count }, (_, i) => {
    const at = 8 + i * size;
    const duration = long ? Number(list.getBigUint64(at)) : list.getUint32(at);
    const start = long ? Number(list.getBigInt64(at + 8)) : list.getInt32(at + 4);
    return { duration: duration * scale, start, rate: list.getUint32(at + size - 4) };
  });
  const [first] = edits;
  const pause = count === 2 && first?.start === -1 ? first.duration : 0;
  const shown = edits.at(-1);
  if (!shown || (count === 2 && first?.start !== -1) || shown.start < 0 || shown.rate !== UNIT_RATE)
    return undefined;
  let [earliest, latest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const time of pts) {
    earliest = Math.min(earliest, time);
    latest = Math.max(latest, time);
  }
  const whole = earliest >= shown.start && latest < shown.start + shown.duration;
  return whole ? Math.round(pause) - shown.start : undefined;
}
