/**
 * @module metrics/finishers/float-motion
 * Motion in floating point from the differences of blurred pictures (metrics spec D.13). A frame is final when the
 * frame after it is known.
 */
import { type ExtractorInstance, flagOption, numberOption } from '../options.js';
import { requireChroma } from './checks.js';
import type { Emit, ExtractorFinisher, FurtherExtractor } from './types.js';

/** The float_motion extractor. */
export const floatMotion: FurtherExtractor = {
  measure: (instance, format) => {
    const chroma = flagOption(instance, 'motion_add_uv');
    if (chroma) requireChroma('float_motion', format, 'motion_add_uv');
    if (flagOption(instance, 'motion_force_zero')) return null;
    const size = numberOption(instance, 'motion_filter_size');
    const options = [
      size === 3 || size === 1 ? size : 5,
      Number(flagOption(instance, 'motion_add_scale1')),
      Number(chroma),
    ];
    return { metric: 'float_motion', options, chroma };
  },
  finish: (instance) => new FloatMotionSequence(instance),
};

class FloatMotionSequence implements ExtractorFinisher {
  readonly #forceZero: boolean;
  readonly #weight: number;
  readonly #blendFactor: number;
  readonly #blendOffset: number;
  readonly #maximum: number;
  #frames = 0;
  /** Difference of the latest frame to the one before. */
  #latest = 0;

  constructor(instance: ExtractorInstance) {
    this.#forceZero = flagOption(instance, 'motion_force_zero');
    this.#weight = numberOption(instance, 'motion_fps_weight');
    this.#blendFactor = numberOption(instance, 'motion_blend_factor');
    this.#blendOffset = numberOption(instance, 'motion_blend_offset');
    this.#maximum = numberOption(instance, 'motion_max_val');
  }

  push(frame: number, record: Float64Array, emit: Emit): void {
    const score = this.#forceZero || frame === 0 ? 0 : (record[0] ?? Number.NaN);
    emit(frame, 'VMAF_feature_motion_score', Math.min(score * this.#weight, this.#maximum));
    if (frame > 0) this.#settle(frame - 1, score, emit);
    this.#latest = score;
    this.#frames = frame + 1;
  }

  flush(emit: Emit): void {
    if (this.#frames > 0) this.#settle(this.#frames - 1, undefined, emit);
  }

  /** Makes a frame final, given the difference of the next one to it; none after the last. */
  #settle(frame: number, next: number | undefined, emit: Emit): void {
    const first = frame === 0;
    const damped = (next === undefined ? this.#latest : Math.min(this.#latest, next)) * this.#weight;
    // The first frame has no difference of its own: motion3 takes the next one's.
    const blended = this.#blend(first ? (next ?? 0) * this.#weight : damped);
    emit(frame, 'VMAF_feature_motion2_score', first ? 0 : Math.min(damped, this.#maximum));
    emit(frame, 'VMAF_feature_motion3_score', Math.min(blended, this.#maximum));
  }

  #blend(x: number): number {
    return x * this.#blendFactor + (1 - this.#blendFactor) * Math.min(this.#blendOffset, x);
  }
}
