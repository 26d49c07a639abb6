/**
 * @module engine/backends/types
 * What a backend computes: raw measurements per frame, from which engine/results/finish derives features. Also what
 * measurers share: planes of a picture, places of pairs in a ring, and the fields of a pair's record.
 */
import type { ScoredFormat } from '../../core/colour.js';
import { chromaSize, type FramePlanes, type PlaneSize, type VideoFormat } from '../../core/frame.js';
import type { CoreCall, HeatmapFile } from '../../core/kernel.js';
import { canExceed, findExcess } from './excess.js';

export interface ExtractionPlan {
  readonly format: ScoredFormat;
  /** In the order of their fields in a record, without duplicates. */
  readonly calls: readonly CoreCall[];
  /** Models that read the pictures themselves: values per pair, and whether they need chroma. */
  readonly pictures?: { readonly fields: number; readonly chroma: boolean };
}

/**
 * Layout of a frame's record, a run of doubles: the fields of each call, as its function in wasm/include/anyvmaf.h
 * returns them (NaN if an earlier picture is missing, unless the call is padded); if samples can exceed their range,
 * what engine/backends/excess found in the reference and in the distorted picture; then the values of picture models.
 * On frames that subsampling skips, only calls that work on every frame have values; others are NaN.
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
  /** Number of earlier pairs to keep. */
  readonly frames: number;
  /** Whether to keep their chroma planes too. */
  readonly chroma: boolean;
  /** Whether to keep their distorted pictures too, not only the reference. */
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

/** Planes that the plan's calls read: luma alone, or all, four with alpha. */
export function planesRead({ calls, pictures, format }: ExtractionPlan): 1 | 3 | 4 {
  if (pictures?.chroma !== true && !calls.some(({ chroma }) => chroma)) return 1;
  return format.alpha ? 4 : 3;
}

export interface PicturesRead {
  readonly reference: boolean;
  readonly distorted: boolean;
}

/** Pictures that the plan's metrics read: motion alone reads the reference only; without `spatial`, often none is. */
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

/** Room for the frames of one pair. */
export interface FrameSlot {
  readonly index: number;
  /** Where to write the frames. Valid until the pair is measured or kept. */
  readonly reference: FramePlanes;
  readonly distorted: FramePlanes;
}

/** Measures frame pairs. A metric looks back to pairs by their numbers, whatever the order of calls. */
export interface Measurer {
  readonly layout: RecordLayout;
  /** Most pairs in flight. Request the next slot only when fewer are. */
  readonly slots: number;
  slot(index: number): FrameSlot;
  /** Whether pair `from` can look back to this one, as far as it needs to. */
  holds(index: number, from: number): boolean;
  /** Keeps a pair (what `historyNeeds` names of it) for later ones, without measuring it. */
  keep(slot: FrameSlot): void;
  /**
   * Measures the pair written to a slot (what `picturesRead` names of it), and keeps it for later ones.
   * @param record receives `layout.length` doubles
   * @param spatial false if subsampling skips the pair: calls that need every frame run, other fields are NaN
   * @returns a promise if the record is complete only later
   */
  measure(slot: FrameSlot, record: Float64Array, spatial: boolean): Promise<void> | undefined;
  /** Frames in flight and their history, if the device may be lost: another measurer can take over. They outlive it. */
  frames?(index: number): FrameSlot | undefined;
  /** Heatmaps of a measured pair, one for each of `heatmapFiles`. Valid until its slot is reused. */
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
export function planeSizes(format: VideoFormat): PlaneSize[] {
  const { width, height } = format;
  const luma = { width, height };
  if (format.chroma === '400') return [luma];
  const chroma = chromaSize(format);
  return [luma, chroma, chroma, ...(format.alpha ? [luma] : [])];
}

/** The place of a picture in a ring, whether or not it holds that picture. */
export function placeOf<T>(pictures: readonly T[], index: number): T {
  const picture = pictures[index % pictures.length];
  if (!picture) throw new RangeError(`there is no pair ${index}`);
  return picture;
}

/** Starts a pair's record: NaN for all values, and the excess found in the planes that are read. */
export function startRecord(
  plan: ExtractionPlan,
  { excess }: RecordLayout,
  record: Float64Array,
  spatial: boolean,
  planes: (side: 'reference' | 'distorted') => readonly Uint8Array[],
): void {
  record.fill(Number.NaN);
  if (excess < 0) return;
  // Planes that are not read may hold anything.
  const read = picturesRead(plan, spatial);
  const { bitDepth } = plan.format;
  record[excess] = read.reference ? findExcess(planes('reference'), bitDepth) : 0;
  record[excess + 1] = read.distorted ? findExcess(planes('distorted'), bitDepth) : 0;
}

/** Calls to run on a pair, with their places in the plan; the fields of all others stay NaN. */
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
