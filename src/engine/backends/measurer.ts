/**
 * @module engine/backends/measurer
 * The interface of frame-pair measurers: WebAssembly in this thread, a GPU, or anything else with slots for frames.
 */
import type { FramePlanes, VideoFormat } from '../../core/frame.js';
import type { CoreCall } from '../../core/kernel.js';
import type { ExtractionPlan, RecordLayout } from './types.js';

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
