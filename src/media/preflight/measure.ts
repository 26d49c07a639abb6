/**
 * @module media/preflight/measure
 * Measures sharpness, black bars, colours and fields of a few frames spread over a video.
 */
import { AnyvmafError } from '../../core/errors.js';
import {
  allocateFrame,
  chromaSize,
  type FramePlanes,
  samplesOf,
  type VideoFormat,
} from '../../core/frame.js';
import { quotientOf, USUAL_RATE } from '../../core/numbers.js';
import type { PictureSize } from '../../core/size.js';
import { type LumaFormat, Thumbnailer } from '../align/thumbnail.js';
import type { DecodeRequest } from '../decoder.js';
import { FIELD_RUN, FieldMeter } from '../evidence/fields.js';
import { ZOOM_PICTURE } from '../evidence/framing.js';
import type { LumaReader } from '../pairing/types.js';
import type { FrameSource } from '../types.js';
import type { Borders, ChromaSquares, SideFacts, SideMeasurements } from './findings.js';

/** Boxes along each side of a square, whatever the aspect ratio. */
export const SQUARE = 16;
const MEASURED_FRAMES = 5;
/** Frames between measured ones in videos of unknown length. */
const UNKNOWN_LENGTH_STEP = 24;
/** Samples to read along each side of a box of {@link SideMeasurements.squares}. */
const SQUARE_SAMPLES = 8;
/** The same for {@link SideMeasurements.pictures}. */
const PICTURE_SAMPLES = 4;
/** Side of the smallest coding blocks. Samples whose neighbours are all in their own block show no block edges. */
const BLOCK = 4;
/** Frames with a smaller standard deviation, in 8-bit levels, have no contrast. */
const FLAT = 2;
/** Frames with a smaller RMS of the Laplacian, in 8-bit levels, have no detail beyond rounding. */
const ROUNDING = 2;

/**
 * RMS of the Laplacian of luma (a quarter per neighbour) over its standard deviation: 0 for a flat picture, less
 * after blurring, upscaling or compression. Independent of brightness, contrast and bit depth; comparable for equal
 * sizes and content. Measured inside 4x4 blocks to exclude block edges; RMS keeps ringing in flat areas from
 * outweighing real edges.
 * @param luma packed rows, one byte a sample at 8 bit, two (little endian) above
 * @returns `null` for a frame without contrast or detail, or with fewer than 3x3 samples
 */
export function sharpness(luma: Uint8Array, format: LumaFormat): number | null {
  const { width, height, bitDepth } = format;
  const samples = samplesOf(luma, bitDepth);
  const at = (place: number) => samples[place] ?? Number.NaN;
  let [count, sum, squares, detail] = [0, 0, 0, 0];
  for (let y = 1; y < height - 1; y += y % BLOCK === 1 ? 1 : BLOCK - 1) {
    for (let x = 1; x < width - 1; x += x % BLOCK === 1 ? 1 : BLOCK - 1) {
      const place = y * width + x;
      const sample = at(place);
      sum += sample;
      squares += sample * sample;
      const around = at(place - 1) + at(place + 1) + at(place - width) + at(place + width);
      detail += (4 * sample - around) ** 2;
      count++;
    }
  }
  if (count === 0) return null;
  const mean = sum / count;
  const deviation = Math.sqrt(Math.max(0, squares / count - mean * mean));
  const level = 2 ** (bitDepth - 8);
  const change = Math.sqrt(detail / count);
  return deviation < FLAT * level || change < ROUNDING * level ? null : change / (4 * deviation);
}

/** Without `chroma`, only luma is measured. */
type Measurable = Pick<SideFacts, 'width' | 'height' | 'bitDepth' | 'colorRange'> &
  Partial<Pick<SideFacts, 'chroma'>>;

export function measuredPlanes({ width, height, bitDepth, chroma }: VideoFormat): FramePlanes {
  return allocateFrame({ width, height, bitDepth, chroma });
}

export class FrameMeter {
  readonly #format: Measurable;
  readonly #frames: number[] = [];
  readonly #sharpness: (number | null)[] = [];
  readonly #squares: Float32Array[] = [];
  readonly #shrink: Thumbnailer;
  readonly #pictures: Float32Array[] = [];
  readonly #shrinkLess: Thumbnailer;
  readonly #chroma: (ChromaSquares | null)[] = [];
  #shrinkChroma: Thumbnailer | undefined;
  readonly #fields: FieldMeter;
  #borders: FoundBorders | null = null;

  /** @param format of the luma; without a colour range, limited is assumed, as in players */
  constructor(format: Measurable) {
    this.#format = format;
    this.#shrink = new Thumbnailer(format, SQUARE, SQUARE, SQUARE_SAMPLES);
    this.#shrinkLess = new Thumbnailer(format, ZOOM_PICTURE, ZOOM_PICTURE, PICTURE_SAMPLES);
    this.#fields = new FieldMeter(format);
  }

  add(frame: number, { y: luma, cb, cr }: FramePlanes): void {
    this.#frames.push(frame);
    this.#chroma.push(cb && cr ? this.#squaresOf(cb, cr) : null);
    this.#sharpness.push(sharpness(luma, this.#format));
    this.#squares.push(this.#shrink.shrink(luma));
    this.#pictures.push(this.#shrinkLess.shrink(luma));
    const found = findBorders(luma, this.#format, this.#format.colorRange ?? 'limited');
    if (!found) return;
    this.#borders = this.#borders ? commonBorders(this.#borders, found) : found;
  }

  /** Compares a frame's fields with the previous frame's, if consecutive. */
  addFields(frame: number, luma: Uint8Array): void {
    this.#fields.add(frame, luma);
  }

  #squaresOf(cb: Uint8Array, cr: Uint8Array): ChromaSquares | null {
    const { chroma = '400', bitDepth } = this.#format;
    const { width, height } = chromaSize({ ...this.#format, chroma });
    if (width === 0 || height === 0) return null;
    this.#shrinkChroma ??= new Thumbnailer({ width, height, bitDepth }, SQUARE, SQUARE, SQUARE_SAMPLES);
    return { cb: this.#shrinkChroma.shrink(cb), cr: this.#shrinkChroma.shrink(cr) };
  }

  get result(): SideMeasurements {
    return {
      frames: [...this.#frames],
      sharpness: [...this.#sharpness],
      borders: this.#borders && barsOf(this.#borders, this.#format),
      squares: [...this.#squares],
      pictures: [...this.#pictures],
      chroma: [...this.#chroma],
      fields: this.#fields.steps,
    };
  }
}

/** Converts borders to another size. Rounding never grows a certain border or shrinks a possible one. */
export function rescaleBorders(
  borders: SideMeasurements['borders'],
  from: Pick<SideFacts, 'width' | 'height'>,
  to: Pick<SideFacts, 'width' | 'height'>,
): SideMeasurements['borders'] {
  if (!borders || (from.width === to.width && from.height === to.height)) return borders;
  const scaled = (edges: Borders, round: (value: number) => number) =>
    forEdges((edge) => round(edges[edge] * (lengthAcross(to, edge) / lengthAcross(from, edge))));
  return { certain: scaled(borders.certain, Math.floor), possible: scaled(borders.possible, Math.ceil) };
}

/** Frames in the middle of `frames` equal parts of a video. */
export function spreadFrames(frameCount: number | null, frames = MEASURED_FRAMES): number[] {
  if (frameCount === null) return Array.from({ length: frames }, (_, k) => k * UNKNOWN_LENGTH_STEP);
  const parts = Math.min(frames, frameCount);
  return Array.from({ length: parts }, (_, k) => Math.floor(((k + 0.5) * frameCount) / parts));
}

/**
 * Measures frames of an open source; cheap if it is seekable.
 * @param frames ascending; those past the end are ignored. Default: spread over the video
 * @throws errors of the reader; the signal's reason
 */
export async function measureLuma(
  reader: LumaReader,
  frames: readonly number[] = spreadFrames(reader.info.frameCount),
  signal?: AbortSignal,
): Promise<SideMeasurements> {
  const meter = new FrameMeter(reader.info);
  const planes = measuredPlanes(reader.info);
  for (const [i, frame] of frames.entries()) {
    signal?.throwIfAborted();
    const end = Math.min(frames[i + 1] ?? Number.POSITIVE_INFINITY, frame + FIELD_RUN);
    if (!(await measureRun(reader, meter, planes, { from: frame, end }))) break;
  }
  return meter.result;
}

function showsNothing(error: unknown): boolean {
  return error instanceof AnyvmafError && error.code === 'usage';
}

/** Measures frame `from`, and fields up to `end`, where frame 0 is the video's frame `first`. False if it lacks `from`. */
async function measureRun(
  reader: Pick<LumaReader, 'readFrame'>,
  meter: FrameMeter,
  planes: FramePlanes,
  { from, end, first = 0 }: { readonly from: number; readonly end: number; readonly first?: number },
): Promise<boolean> {
  const { y } = planes;
  if (!(await reader.readFrame(from, planes))) return false;
  meter.add(first + from, planes);
  meter.addFields(first + from, y);
  for (let k = from + 1; k < end && (await reader.readFrame(k, { y })); k++) meter.addFields(first + k, y);
  return true;
}

/**
 * Measures frames of an encoded video, each decoded from the key frame before it.
 * @param open starts a decoder; its sources are closed
 * @param times seconds from the first frame, so that both videos can be measured at the same moments
 * @throws errors of the decoder; the signal's reason
 */
export async function measureEncoded(
  open: (request: DecodeRequest) => Promise<FrameSource>,
  facts: Pick<SideFacts, 'frameRate' | 'colorRange'>,
  times: readonly number[],
  signal?: AbortSignal,
): Promise<SideMeasurements> {
  const rate = quotientOf(facts.frameRate) ?? USUAL_RATE;
  let meter: FrameMeter | undefined;
  const measure = async (start: number, part: Pick<DecodeRequest, 'time'>) => {
    signal?.throwIfAborted();
    const source = await open({ ...part, damage: 'accept', ...(signal && { signal }) });
    try {
      meter ??= new FrameMeter({ ...source.info, ...(facts.colorRange && { colorRange: facts.colorRange }) });
      const run = { from: 0, end: FIELD_RUN, first: Math.round(start * rate) };
      await measureRun(source, meter, measuredPlanes(source.info), run);
    } finally {
      await source.close();
    }
  };
  for (const start of times) {
    try {
      await measure(start, { time: { start, end: start + FIELD_RUN / rate } });
    } catch (error) {
      // With an imprecise clock, there may be no frame in the range.
      if (!showsNothing(error) && !(error instanceof Error && showsNothing(error.cause))) throw error;
    }
  }
  if (meter === undefined || meter.result.frames.length === 0) await measure(0, {});
  return meter?.result ?? { frames: [], sharpness: [], borders: null };
}

/** Highest 8-bit levels of black by range, coding noise included. */
const BLACK = { limited: 24, full: 10 } as const;
/** Highest level above black that may still be part of a border. */
const DARK = 20;
/** Level above black that a frame must reach to be judged. */
const BRIGHT = 40;
/** Largest share of brighter samples in a border's row or column: specks, ringing, the edge of a logo. */
const SPECKS = 0.02;
/** Least share of picture in a row or column next to a bar; something small on black has less. */
const FILLED = 0.2;
/** Rows or columns next to a border, one of which must be filled. */
const BESIDE = 4;
/** Least share of the frame within bars. */
const LEFT_WITHIN = 0.2;
const COLUMN_ROWS = 200;

export interface FoundBorders {
  readonly certain: Borders;
  readonly possible: Borders;
  /** Picture samples along the edge next to each certain border, in a frame with that border. */
  readonly filled: Borders;
}

/** Finds black borders; `null` if the frame is too dark to judge. @param luma as for {@link sharpness} */
export function findBorders(
  luma: Uint8Array,
  format: LumaFormat,
  range: 'limited' | 'full',
): FoundBorders | null {
  const unit = 2 ** (format.bitDepth - 8);
  const black = BLACK[range] * unit;
  const certain = within(luma, format, black, black + BRIGHT * unit);
  const possible = within(luma, format, black + DARK * unit, black + BRIGHT * unit);
  if (!certain || !possible) return null;
  return { certain: certain.borders, possible: possible.borders, filled: certain.filled };
}

/** Borders whose samples are at most `level`; `null` if no sample reaches `bright`. */
function within(luma: Uint8Array, format: LumaFormat, level: number, bright: number) {
  const { width, height } = format;
  const samples = samplesOf(luma, format.bitDepth);
  const across = (y: number): number => {
    let brighter = 0;
    for (const sample of samples.subarray(y * width, (y + 1) * width)) if (sample > level) brighter++;
    return brighter;
  };
  const rowsDark = darkEnds(height, (y) => across(y) <= SPECKS * width);
  if (!rowsDark) return null;
  const [top, bottom] = rowsDark;

  // Columns within the remaining rows
  const active = height - top - bottom;
  const step = Math.max(1, 2 * Math.floor(active / COLUMN_ROWS / 2) + 1);
  const specks = new Int32Array(width);
  let rows = 0;
  let peak = 0;
  for (let y = top; y < height - bottom; y += step) {
    rows++;
    for (let x = 0; x < width; x++) {
      const sample = samples[y * width + x] ?? Number.NaN;
      if (sample > peak) peak = sample;
      if (sample > level) specks[x] = (specks[x] ?? Number.NaN) + 1;
    }
  }
  if (peak < bright) return null;
  const columnsDark = darkEnds(width, (x) => (specks[x] ?? Number.NaN) <= SPECKS * rows);
  if (!columnsDark) return null;
  const [left, right] = columnsDark;
  const down = (x: number) => ((specks[x] ?? 0) * active) / rows;
  const most = (length: (at: number) => number, from: number, step: 1 | -1) =>
    Math.max(...Array.from({ length: BESIDE }, (_, k) => length(from + step * k)));
  return {
    borders: { left, top, right, bottom },
    filled: {
      left: most(down, left, 1),
      top: most(across, Math.min(top, height - BESIDE), 1),
      right: most(down, width - 1 - right, -1),
      bottom: most(across, Math.max(BESIDE, height - bottom) - 1, -1),
    },
  };
}

/** How many are dark at the start and at the end; `undefined` if all are. */
function darkEnds(count: number, dark: (at: number) => boolean): readonly [number, number] | undefined {
  let [before, after] = [0, 0];
  while (before < count && dark(before)) before++;
  if (before === count) return undefined;
  while (dark(count - 1 - after)) after++;
  return [before, after];
}

export const EDGES = ['left', 'top', 'right', 'bottom'] as const;
type Edge = (typeof EDGES)[number];

export function forEdges(value: (edge: Edge) => number): Borders {
  return { left: value('left'), top: value('top'), right: value('right'), bottom: value('bottom') };
}

export function lengthAcross({ width, height }: PictureSize, edge: Edge): number {
  return edge === 'left' || edge === 'right' ? width : height;
}

function commonBorders(a: FoundBorders, b: FoundBorders): FoundBorders {
  const certain = forEdges((edge) => Math.min(a.certain[edge], b.certain[edge]));
  return {
    certain,
    possible: forEdges((edge) => Math.min(a.possible[edge], b.possible[edge])),
    filled: forEdges((edge) =>
      Math.max(
        ...[a, b].map((found) => (found.certain[edge] - certain[edge] < BESIDE ? found.filled[edge] : 0)),
      ),
    ),
  };
}

/** Keeps borders that are bars around a picture, unlike black around something small or moving. */
function barsOf({ certain, possible, filled }: FoundBorders, { width, height }: LumaFormat) {
  const [across, down] = [width - certain.left - certain.right, height - certain.top - certain.bottom];
  const beside = (edge: Edge) => (edge === 'left' || edge === 'right' ? down : across);
  const bars = forEdges((edge) => (filled[edge] >= FILLED * beside(edge) ? certain[edge] : 0));
  const left = (width - bars.left - bars.right) * (height - bars.top - bars.bottom);
  const framed = left >= LEFT_WITHIN * width * height;
  return { certain: framed ? bars : forEdges(() => 0), possible };
}
