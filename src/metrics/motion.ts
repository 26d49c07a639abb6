/**
 * @module metrics/motion
 * Motion, damped over neighbours to motion2 and motion3 (spec 2.1, 2.2). A frame is final once the next one is measured.
 */
import type { Compat } from '../core/choices.js';
import { internalError } from '../core/errors.js';
import type { VideoFormat } from '../core/frame.js';
import {
  type Emit,
  type ExtractorInstance,
  type Fields,
  type Finisher,
  flagOption,
  type Metric,
  numberOption,
  referenceLuma,
} from './metric.js';
import { DEBUG, extractor, feature, flag, integerFeature, real } from './spec.js';

/** Distance in frames between the compared reference pictures. */
function windowOf(instance: ExtractorInstance): 1 | 2 {
  return flagOption(instance, 'motion_five_frame_window') ? 2 : 1;
}

export const MOTION_OPTIONS = {
  forceZero: flag('motion_force_zero', false, {
    alias: 'force_0',
    inName: true,
    description: 'Make motion 0 throughout.',
  }),
  fpsWeight: real('motion_fps_weight', 1, 0, 5, {
    alias: 'mfw',
    description: 'Factor that corrects for the frame rate.',
  }),
  blendFactor: real('motion_blend_factor', 1, 0, 1, {
    alias: 'mbf',
    description: 'How much of motion3 above motion_blend_offset is kept.',
  }),
  blendOffset: real('motion_blend_offset', 40, 0, 1000, {
    alias: 'mbo',
    description: 'Value of motion3 above which motion_blend_factor applies.',
  }),
  maximum: real('motion_max_val', 10000, 0, 10000, {
    alias: 'mmxv',
    description: 'Largest value of motion.',
  }),
};

export const MOTION: Metric = {
  spec: extractor({
    name: 'motion',
    source: 'wasm/src/motion.c',
    description:
      'Mean absolute difference between successive blurred reference pictures, damped over neighbouring frames.',
    options: [
      flag('debug', false, { description: 'Also emit the undamped difference as integer_motion.' }),
      MOTION_OPTIONS.forceZero,
      MOTION_OPTIONS.blendFactor,
      MOTION_OPTIONS.blendOffset,
      MOTION_OPTIONS.fpsWeight,
      MOTION_OPTIONS.maximum,
      flag('motion_five_frame_window', false, {
        alias: 'mffw',
        inName: true,
        description: 'Compare with the reference picture two frames back.',
      }),
      flag('motion_moving_average', false, {
        alias: 'mma',
        inName: true,
        description: 'Average motion3 with that of the frame before.',
      }),
    ],
    features: [
      // libvmaf has no alias for it, so reports use the raw name.
      feature('VMAF_integer_feature_motion_sad_score'),
      integerFeature('motion', DEBUG),
      integerFeature('motion2', { emitted: 'flush' }),
      integerFeature('motion3', { emitted: 'flush' }),
    ],
    featuresUpTo30: [integerFeature('motion2'), integerFeature('motion', DEBUG)],
    onUpTo30: ['debug'],
    previousReference: true,
  }),
  measure: (instance, _, compat) => {
    if (flagOption(instance, 'motion_force_zero')) return null;
    // libvmaf up to 3.0 blurred each frame; later versions blur the difference.
    return { options: [windowOf(instance), Number(compat === 'libvmaf-3.0')], extent: [] };
  },
  calls: (variants) =>
    variants.map(({ options: [window, legacy] }) => {
      const back = window === 2 ? 2 : 1;
      const run = legacy === 1 ? 'motion_legacy' : 'motion';
      const args = [referenceLuma(back), referenceLuma()];
      return { run, args, fields: 1, back, pictures: 'reference', cost: 1.5 };
    }),
  finish: (instance, format, compat) => new MotionSequence(instance, format, compat),
};

/** How {@link MOTION_OPTIONS} change values. */
export function motionScaling(instance: ExtractorInstance) {
  const factor = numberOption(instance, 'motion_blend_factor');
  const offset = numberOption(instance, 'motion_blend_offset');
  const maximum = numberOption(instance, 'motion_max_val');
  return {
    forceZero: flagOption(instance, 'motion_force_zero'),
    weight: numberOption(instance, 'motion_fps_weight'),
    cap: (value: number) => Math.min(value, maximum),
    blend: (value: number) => value * factor + (1 - factor) * Math.min(value, offset),
  };
}

class MotionSequence implements Finisher {
  readonly #samples: number;
  readonly #single: boolean;
  readonly #scaling: ReturnType<typeof motionScaling>;
  readonly #average: boolean;
  /** Number of first frames without an earlier picture. */
  readonly #lead: number;
  /** Values from frame `#first` that later frames still need. */
  readonly #values: number[] = [];
  #first = 0;
  #next = 0;
  /** motion3 of the previous frame, not averaged. */
  #previous = 0;

  constructor(instance: ExtractorInstance, format: VideoFormat, compat: Compat) {
    this.#single = compat === 'libvmaf-3.0';
    this.#samples = format.width * format.height;
    this.#scaling = motionScaling(instance);
    this.#average = flagOption(instance, 'motion_moving_average');
    this.#lead = windowOf(instance);
  }

  push(frame: number, fields: Fields, emit: Emit): void {
    const value = this.#scaling.forceZero || frame < this.#lead ? 0 : this.#scale(fields(0));
    this.#values.push(value);
    emit(frame, 'VMAF_integer_feature_motion_sad_score', value);
    emit(frame, 'VMAF_integer_feature_motion_score', value);
    // Frames without an earlier picture take motion3 from the first frame that has one.
    while (this.#next < frame && frame >= this.#lead) this.#settle(frame + 1, emit);
  }

  flush(emit: Emit): void {
    const count = this.#first + this.#values.length;
    while (this.#next < count) this.#settle(count, emit);
  }

  #scale(sad: number): number {
    const { fround } = Math;
    const mean = this.#single ? fround(fround(sad / 256) / fround(this.#samples)) : sad / 256 / this.#samples;
    return this.#scaling.cap(mean * this.#scaling.weight);
  }

  #value(frame: number): number {
    const value = this.#values[frame - this.#first];
    if (value === undefined) throw internalError(`motion of frame ${frame} is not kept.`);
    return value;
  }

  /** Makes the next frame final, with `known` frames measured so far. */
  #settle(known: number, emit: Emit): void {
    const frame = this.#next++;
    const { cap, blend } = this.#scaling;
    let motion2 = 0;
    let motion3: number;
    if (frame < this.#lead) {
      motion3 = known > this.#lead ? cap(blend(this.#value(this.#lead))) : 0;
      this.#previous = motion3;
    } else {
      motion2 = this.#damped(frame, known);
      const blended = cap(blend(motion2));
      motion3 = this.#average ? (blended + this.#previous) / 2 : blended;
      this.#previous = blended;
    }
    emit(frame, 'VMAF_integer_feature_motion2_score', motion2);
    emit(frame, 'VMAF_integer_feature_motion3_score', motion3);
    this.#forget(frame);
  }

  #damped(frame: number, known: number): number {
    if (frame + 1 >= known) return this.#value(frame);
    const earlier = frame - (this.#lead - 1);
    const later = this.#value(frame + 1);
    return earlier >= this.#lead ? Math.min(this.#value(earlier), later) : later;
  }

  #forget(frame: number): void {
    const keep = Math.max(0, frame + 1 - (this.#lead - 1));
    this.#values.splice(0, Math.max(0, keep - this.#first));
    this.#first = Math.max(this.#first, keep);
  }
}
