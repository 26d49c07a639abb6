/**
 * @module engine/backends/types
 * What a backend computes: raw per-frame measurements from which every feature is finished in plain arithmetic
 * (engine/results/finish). A backend knows nothing of features, models or files.
 */

import type { ScoredFormat } from '../../core/colour.js';
import type { CoreCall, HeatmapFile } from '../../core/kernel.js';
import { canExceed } from './excess.js';

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
