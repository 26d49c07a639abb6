/**
 * @module engine/backends/types
 * What a backend computes: raw per-frame measurements from which every feature is finished in plain arithmetic
 * (engine/results/finish). A backend knows nothing of features, models or files. And what measurers share: planes of a picture,
 * places of pairs in a ring, and the fields of a pair's record.
 */
import type { ScoredFormat } from '../../core/colour.js';
import { chromaSize, type FramePlanes, type PlaneSize, type VideoFormat } from '../../core/frame.js';
import type { CoreCall, HeatmapFile } from '../../core/kernel.js';
import { canExceed, findExcess } from './excess.js';

/** Everything to measure on each frame pair. */
export interface ExtractionPlan {
  readonly format: ScoredFormat;
  /** In the order of their fields in a record, without duplicates. */
  readonly calls: readonly CoreCall[];
  /** Models that look at the pictures themselves: values they give per pair, and whether they need chroma. */
  readonly pictures?: { readonly fields: number; readonly chroma: boolean };
}

/**
 * Layout of a frame's record, a run of doubles: the fields of each call, as its function in wasm/include/anyvmaf.h gives
 * them, NaN while an earlier picture is missing unless the call is padded; then, where samples can be above their range, 2: what was found of it in
 * the reference and in the distorted picture (engine/backends/excess); then what picture models give.
 *
 * Fields are NaN on frames for which only what works on every frame was asked.
 */
export interface RecordLayout {
  /** Offset of each call's fields. */
  readonly calls: readonly number[];
  /** -1 where no sample can be above its range. */
  readonly excess: number;
  readonly pictures: number;
  /** Doubles per frame. */
  readonly length: number;
}

const EXCESS_FIELDS = 2;

/** Offsets of each group within a frame's record. */
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

/** What to keep of earlier pairs. */
export interface HistoryNeeds {
  /** Earlier pairs. */
  readonly frames: number;
  /** Whether to keep their chroma planes too. */
  readonly chroma: boolean;
  /** Whether to keep their distorted pictures too, not only the reference. */
  readonly distorted: boolean;
}

/** What the plan's calls look back to. */
export function historyNeeds({ calls }: ExtractionPlan): HistoryNeeds {
  const looking = calls.filter(({ back }) => back > 0);
  return {
    frames: Math.max(0, ...looking.map(({ back }) => back)),
    chroma: looking.some(({ chroma, earlier }) => chroma && !earlier),
    distorted: looking.some(({ pictures, earlier }) => pictures === 'pair' && !earlier),
  };
}

/** Planes of a picture that the plan's calls read: luma alone, or all, which are four with alpha. */
export function planesRead({ calls, pictures, format }: ExtractionPlan): 1 | 3 | 4 {
  if (pictures?.chroma !== true && !calls.some(({ chroma }) => chroma)) return 1;
  return format.alpha ? 4 : 3;
}

/** Which pictures of a pair to read. */
export interface PicturesRead {
  readonly reference: boolean;
  readonly distorted: boolean;
}

/**
 * Pictures that the plan's metrics read of a pair: motion alone looks at the reference only, and where subsampling leaves
 * a pair out, often nothing is looked at.
 * @param spatial as in `Measurer.measure`
 */
export function picturesRead(plan: ExtractionPlan, spatial: boolean): PicturesRead {
  const calls = plan.calls.filter(({ everyFrame }) => everyFrame || spatial);
  const distorted =
    (spatial && plan.pictures !== undefined) || calls.some(({ pictures }) => pictures === 'pair');
  return { reference: distorted || calls.length > 0, distorted };
}

/** The files of heatmaps that the plan's calls fill, in the order of `Measurer.heatmaps`. */
export function heatmapFiles(plan: ExtractionPlan): readonly HeatmapFile[] {
  return plan.calls.flatMap(({ heatmaps }) => heatmaps ?? []);
}

/** Room for the frames of one pair. */
export interface FrameSlot {
  /** Number of the pair in the run. */
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
  /** Returns the slot for a pair. */
  slot(index: number): FrameSlot;
  /** Whether the pair `from` can look back to this one, as far as anything of it does. */
  holds(index: number, from: number): boolean;
  /** Keeps a pair (what `historyNeeds` names of it) for those after it, without measuring it. */
  keep(slot: FrameSlot): void;
  /**
   * Measures the pair written to a slot, or what `picturesRead` names of it, and keeps it for those after it.
   * @param record receives `layout.length` doubles
   * @param spatial false: leave out what does not work on every frame (subsampling skips this one); its fields become
   *   NaN
   * @returns a promise where the record is complete only later
   */
  measure(slot: FrameSlot, record: Float64Array, spatial: boolean): Promise<void> | undefined;
  /**
   * Frames of a pair that is in flight, or that one in flight looks back to: where a device may go away, so that somebody
   * else can measure them. Slots and these stay when it does.
   */
  frames?(index: number): FrameSlot | undefined;
  /** The heatmaps of a measured pair, one for each of `heatmapFiles`. Valid until its slot is given out again. */
  heatmaps(slot: FrameSlot): readonly Uint8Array[];
  /** Frees all memory. */
  close(): void;
}

/** A way to measure. */
export interface MeasurerKind {
  /** Why it cannot measure a call, as the end of a sentence; `undefined` if it can. */
  problem(call: CoreCall, format: VideoFormat): string | undefined;
  /** @throws {AnyvmafError} `feature` for unsupported settings, `resource` if memory is short */
  open(plan: ExtractionPlan): Measurer | Promise<Measurer>;
}

/** A way to measure that opens synchronously. */
export interface InstantKind extends MeasurerKind {
  open(plan: ExtractionPlan): Measurer;
}

/** Luma, unless the video is 4:0:0 two chroma planes, and alpha; odd sizes are halved downwards. */
export function planeSizes(format: VideoFormat): PlaneSize[] {
  const { width, height } = format;
  const luma = { width, height };
  if (format.chroma === '400') return [luma];
  const chroma = chromaSize(format);
  return [luma, chroma, chroma, ...(format.alpha ? [luma] : [])];
}

/** Where the picture of a number is, or would be. */
export function placeOf<T>(pictures: readonly T[], index: number): T {
  const picture = pictures[index % pictures.length];
  if (!picture) throw new RangeError(`there is no pair ${index}`);
  return picture;
}

/**
 * Starts the record of a pair: no values yet, and what was found above the range of its samples.
 * @param planes of one of its pictures
 */
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

/** Calls to carry out on a pair, with their places in the plan: the fields of all others stay NaN. */
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
