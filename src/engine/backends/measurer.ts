/**
 * @module engine/backends/measurer
 * The interface of measurers, and their shared parts: plans of raw measurements per frame (engine/results/scoring derives
 * features from these), records, rings of pairs, frames packed into buffers, samples out of range, and heatmap files.
 */
import type { ScoredFormat } from '../../core/colour.js';
import { featureError, type InputRole } from '../../core/errors.js';
import { chromaSize, type FramePlanes, lumaBytes, sampleBytes, type VideoFormat } from '../../core/frame.js';
import type { CoreCall, HeatmapFile } from '../../core/module.js';
import { quoted } from '../../core/printable.js';
import type { PictureSize } from '../../core/size.js';

export interface ExtractionPlan {
  readonly format: ScoredFormat;
  /** In the order of their fields in a record, without duplicates. */
  readonly calls: readonly CoreCall[];
  /** Models that read the pictures themselves: values per pair, and whether they need chroma. */
  readonly pictures?: { readonly fields: number; readonly chroma: boolean };
}

/**
 * Layout of a frame's record, an array of doubles: the fields of each call, as returned by its function in
 * wasm/include/anyvmaf.h (NaN if an earlier picture is missing, unless the call is padded); if samples can exceed their
 * range, the results of {@link findExcess} for the reference and distorted pictures; then the values of picture models.
 * `ChunkMeasurer` (engine/workers/measure) adds these two parts. On frames that subsampling skips, only calls that need every
 * frame have values; others are NaN.
 */
export interface RecordLayout {
  /** Offset of each call's fields. */
  readonly calls: readonly number[];
  /** -1 if no sample can exceed its range. */
  readonly excess: number;
  readonly pictures: number;
  /** Doubles per frame. */
  readonly length: number;
}

const EXCESS_FIELDS = 2;

export function recordLayout(plan: ExtractionPlan): RecordLayout {
  let length = 0;
  const calls = plan.calls.map(({ fields }) => {
    const at = length;
    length += fields;
    return at;
  });
  const watched = canExceed(plan.format.bitDepth);
  const excess = watched ? length : -1;
  if (watched) length += EXCESS_FIELDS;
  const pictures = length;
  length += plan.pictures?.fields ?? 0;
  return { calls, excess, pictures, length };
}

export interface HistoryNeeds {
  /** Earlier pairs to keep. */
  readonly frames: number;
  readonly chroma: boolean;
  /** Whether to keep their distorted pictures too. */
  readonly distorted: boolean;
}

export function historyNeeds({ calls }: ExtractionPlan): HistoryNeeds {
  const looking = calls.filter(({ back }) => back > 0);
  return {
    frames: Math.max(0, ...looking.map(({ back }) => back)),
    chroma: looking.some(({ chroma, earlier }) => chroma && !earlier),
    distorted: looking.some(({ pictures, earlier }) => pictures === 'pair' && !earlier),
  };
}

/** Planes that the plan's calls read: luma only, or all (four with alpha). */
export function planesRead({ calls, pictures, format }: ExtractionPlan): 1 | 3 | 4 {
  if (pictures?.chroma !== true && !calls.some(({ chroma }) => chroma)) return 1;
  return format.alpha ? 4 : 3;
}

export type PicturesRead = Readonly<Record<InputRole, boolean>>;

/** Pictures that the plan's metrics read: motion alone reads only the reference; without `spatial`, often none. */
export function picturesRead(plan: ExtractionPlan, spatial: boolean): PicturesRead {
  const calls = plan.calls.filter(({ everyFrame }) => everyFrame || spatial);
  const distorted =
    (spatial && plan.pictures !== undefined) || calls.some(({ pictures }) => pictures === 'pair');
  return { reference: distorted || calls.length > 0, distorted };
}

/** Heatmap files that the plan's calls fill, in the order of `Measurer.heatmaps`. */
export function heatmapFiles(plan: ExtractionPlan): readonly HeatmapFile[] {
  return plan.calls.flatMap(({ heatmaps }) => heatmaps ?? []);
}

export interface FrameSlot {
  readonly index: number;
  /** Where to write the frames. Valid until the pair is measured or kept. */
  readonly reference: FramePlanes;
  readonly distorted: FramePlanes;
}

/** Measures frame pairs. A metric looks back to pairs by their numbers, whatever the order of calls. */
export interface Measurer {
  readonly layout: RecordLayout;
  /** Most pairs in flight. Request the next slot only when there are fewer. */
  readonly slots: number;
  slot(index: number): FrameSlot;
  /** Whether pair `from` can look back to this pair as far as it needs to. */
  holds(index: number, from: number): boolean;
  /** Keeps the parts of a pair that `historyNeeds` names for later pairs, without measuring it. */
  keep(slot: FrameSlot): void;
  /**
   * Measures the pair written to a slot, at least the pictures that `picturesRead` names, and keeps it for later pairs.
   * @param record receives `layout.length` doubles: the fields of calls, and NaN elsewhere
   * @param spatial false if subsampling skips the pair: calls that need every frame run, other fields are NaN
   * @returns a promise if the record is complete only later; rejected at once if the device is lost or closed
   */
  measure(slot: FrameSlot, record: Float64Array, spatial: boolean): Promise<void> | undefined;
  /** Frames in flight and their history, for another measurer to take over if the device is lost. They outlive it. */
  frames?(index: number): FrameSlot | undefined;
  /** Heatmaps of a measured pair, one per file of `heatmapFiles`. Valid until its slot is reused. */
  heatmaps(slot: FrameSlot): readonly Uint8Array[];
  close(): void;
}

export interface MeasurerKind {
  /** Why it cannot measure a call, as the end of a sentence; `undefined` if it can. */
  problem(call: CoreCall, format: VideoFormat): string | undefined;
  /** @throws {AnyvmafError} `feature` for unsupported settings, `resource` if memory is short */
  open(plan: ExtractionPlan): Measurer | Promise<Measurer>;
}

export interface InstantKind extends MeasurerKind {
  open(plan: ExtractionPlan): Measurer;
}

/** Luma, two chroma planes unless 4:0:0, and alpha if present; odd sizes are halved downwards. */
export function planeSizes(format: VideoFormat): PictureSize[] {
  const { width, height } = format;
  const luma = { width, height };
  if (format.chroma === '400') return [luma];
  const chroma = chromaSize(format);
  return [luma, chroma, chroma, ...(format.alpha ? [luma] : [])];
}

/** The place of a picture in a ring, even if it holds another one. */
export function placeOf<T>(pictures: readonly T[], index: number): T {
  const picture = pictures[index % pictures.length];
  if (!picture) throw new RangeError(`there is no pair ${index}`);
  return picture;
}

/** Calls to run on a pair, with their indices in the plan; the fields of all others stay NaN. */
export function callsOf(
  { calls }: ExtractionPlan,
  index: number,
  spatial: boolean,
  holds: (index: number) => boolean,
): (readonly [place: number, call: CoreCall])[] {
  const hasHistory = ({ back, padded }: CoreCall) =>
    back === 0 || holds(index - back) || (padded === true && index < back);
  return [...calls.entries()].filter(([, call]) => (spatial || call.everyFrame) && hasHistory(call));
}

/** Places to read in a plane, and pairs of samples at each: together all of a plane of 16384 samples. */
const PLACES = 16;
const PAIRS = 512;

const PLANES = ['luma', 'Cb', 'Cr'] as const;

/** A sample above its range. */
export interface Excess {
  /** 0 luma, 1 Cb, 2 Cr. */
  readonly plane: number;
  readonly value: number;
}

/** Whether samples of a bit depth, stored in whole bytes, can exceed it. */
export function canExceed(bitDepth: number): boolean {
  return bitDepth < 8 * sampleBytes(bitDepth);
}

/**
 * Finds the largest sample above the range in the first plane that has one, for {@link readExcess}; 0 if none.
 * @param planes packed samples of 9 to 15 bits, two bytes each, at multiples of four bytes
 * @param everywhere read large planes completely
 */
export function findExcess(planes: readonly Uint8Array[], bitDepth: number, everywhere = false): number {
  for (const [plane, { buffer, byteOffset, length }] of planes.entries()) {
    const samples = new Uint16Array(buffer, byteOffset, length >> 1);
    const value = largestBeyond(samples, bitDepth, everywhere ? samples.length : PLACES);
    if (value > 0) return plane * 2 ** 16 + value;
  }
  return 0;
}

export function readExcess(found: number): Excess | undefined {
  return found > 0 ? { plane: Math.floor(found / 2 ** 16), value: found % 2 ** 16 } : undefined;
}

/** Describes a sample above its range, as the end of a sentence that names its video. */
export function describeExcess({ plane, value }: Excess, bitDepth: number): string {
  return `has a ${PLANES[plane]} sample of ${value}, but ${bitDepth} bits hold 0 to ${2 ** bitDepth - 1}`;
}

export const EXCESS_ADVICE =
  'check the bit depth given for raw video or in the Y4M header, and that samples are in the low bits, lower byte first';

function largestBeyond(samples: Uint16Array, bitDepth: number, places: number): number {
  const pairs = new Uint32Array(samples.buffer, samples.byteOffset, samples.length >> 1);
  const step = Math.max(PAIRS, Math.ceil(pairs.length / places));
  const last = samples.at(-1) ?? 0;
  let bits = last | (last << 16);
  for (let start = 0; start < pairs.length; start += step) {
    const end = Math.min(start + PAIRS, pairs.length);
    for (let i = start; i < end; i++) bits |= pairs[i] ?? 0;
  }
  // Two samples side by side; the upper may reach the sign bit.
  if (((bits | (bits >>> 16)) & 0xffff) >> bitDepth === 0) return 0;
  let largest = last;
  for (let start = 0; start < pairs.length; start += step) {
    const place = samples.subarray(2 * start, 2 * (start + PAIRS));
    largest = place.reduce((most, sample) => Math.max(most, sample), largest);
  }
  return largest;
}

/** Collects the out-of-range samples of one run, in frame order. */
export class ExcessNotes {
  readonly #bitDepth: number;
  /** The first such frame of each video. */
  readonly #met = new Map<'reference' | 'distorted', Excess & { readonly frame: number }>();

  constructor(bitDepth: number) {
    this.#bitDepth = bitDepth;
  }

  take(frame: number, reference: number, distorted: number): void {
    for (const [side, found] of [
      ['reference', reference],
      ['distorted', distorted],
    ] as const) {
      const excess = this.#met.has(side) ? undefined : readExcess(found);
      if (excess) this.#met.set(side, { ...excess, frame });
    }
  }

  /** Full sentences. */
  warnings(): string[] {
    return [...this.#met].map(
      ([side, { frame, ...excess }]) =>
        `Frame ${frame} of the ${side} video ${describeExcess(excess, this.#bitDepth)}, so its values are undefined; ${EXCESS_ADVICE}.`,
    );
  }
}

export type PlaneName = 'y' | 'cb' | 'cr' | 'alpha';

/** Bytes of each plane that a plan reads; 0 for others. */
export function planeBytes(plan: ExtractionPlan): Readonly<Record<PlaneName, number>> {
  const { width, height } = chromaSize(plan.format);
  const planes = planesRead(plan);
  const chroma = planes > 1 ? width * height * sampleBytes(plan.format.bitDepth) : 0;
  const y = lumaBytes(plan.format);
  return { y, cb: chroma, cr: chroma, alpha: planes === 4 ? y : 0 };
}

export function allocateFrame(plan: ExtractionPlan): ArrayBuffer {
  return new ArrayBuffer(Object.values(planeBytes(plan)).reduce((sum, bytes) => sum + aligned(bytes), 0));
}

/** Planes begin at whole words, as {@link findExcess} reads them. */
const aligned = (bytes: number): number => Math.ceil(bytes / 4) * 4;

export function viewPlanes(buffer: ArrayBuffer, plan: ExtractionPlan): FramePlanes {
  const bytes = planeBytes(plan);
  let at = 0;
  const next = (length: number) => {
    const plane = new Uint8Array(buffer, at, length);
    at += aligned(length);
    return plane;
  };
  const y = next(bytes.y);
  if (bytes.cb === 0) return { y };
  return { y, cb: next(bytes.cb), cr: next(bytes.cr), ...(bytes.alpha > 0 && { alpha: next(bytes.alpha) }) };
}

export interface HeatmapWriter {
  /** Writes at a position in bytes; gaps stay zero. @throws {AnyvmafError} `io` */
  write(file: number, position: number, bytes: Uint8Array): void;
  close(): void;
}

/** The heatmap files of one run, which get their names when complete. */
export interface HeatmapRun {
  /** Paths to open in the writing threads, in the order of the requested files. */
  readonly paths: readonly string[];
  /** Gives all files their names, replacing existing files. @throws {AnyvmafError} `io` */
  keep(): void;
  /** Removes the files unless {@link keep} was called. Idempotent. */
  discard(): Promise<void>;
}

export interface HeatmapStore {
  /** Creates the files and their folders. @throws {AnyvmafError} `io`; `feature` if two of them are the same file */
  create(files: readonly HeatmapFile[]): Promise<HeatmapRun>;
  open(paths: readonly string[]): HeatmapWriter;
}

/** Creates the files of a run, if it writes any. @throws {AnyvmafError} `feature` without a store; `io` */
export async function createHeatmaps(
  plan: ExtractionPlan,
  store: (() => Promise<HeatmapStore>) | undefined,
): Promise<HeatmapRun | undefined> {
  const files = heatmapFiles(plan);
  const [first] = files;
  if (!first) return undefined;
  if (store) return (await store()).create(files);
  throw featureError(
    `cambi cannot write heatmaps to ${quoted(first.folder)} here; leave out heatmaps_path, or score a whole video with ` +
      'the command line or score() in Node.',
  );
}
