/**
 * @module metrics/float-motion
 * Floating-point motion (metrics spec D.13). A frame is final once the next one is measured.
 */
import { requireChroma } from './checks.js';
import {
  callEach,
  type Emit,
  type ExtractorInstance,
  type Fields,
  type Finisher,
  flagOption,
  type Metric,
  numberOption,
} from './metric.js';
import { MOTION_OPTIONS, motionScaling } from './motion.js';
import { DEBUG, extractor, flag, floatFeature, integer } from './spec.js';

export const FLOAT_MOTION: Metric = {
  spec: extractor({
    name: 'float_motion',
    source: 'wasm/src/float_motion.c',
    description:
      'Mean absolute difference between successive blurred reference pictures, in floating point, damped over neighbours.',
    options: [
      flag('debug', true, { description: 'Also emit the undamped difference as motion.' }),
      MOTION_OPTIONS.forceZero,
      MOTION_OPTIONS.fpsWeight,
      MOTION_OPTIONS.blendFactor,
      MOTION_OPTIONS.blendOffset,
      flag('motion_add_scale1', false, {
        alias: 'mdc',
        inName: true,
        description: 'Add the difference of the pictures at half size.',
      }),
      integer('motion_filter_size', 5, 0, 9, {
        alias: 'mfs',
        description: 'Taps of the blur: 3, 1 for no blur; anything else is 5.',
      }),
      flag('motion_add_uv', false, {
        alias: 'mau',
        inName: true,
        description: 'Add the differences of the chroma planes.',
      }),
      MOTION_OPTIONS.maximum,
    ],
    features: [
      // The first frame's value is 0 at once.
      floatFeature('motion2'),
      floatFeature('motion3', { emitted: 'next', atOnceWith: 'motion_force_zero' }),
      floatFeature('motion', DEBUG),
    ],
    temporal: true,
  }),
  measure: (instance, format) => {
    const chroma = flagOption(instance, 'motion_add_uv');
    if (chroma) requireChroma('float_motion', format, 'motion_add_uv');
    if (flagOption(instance, 'motion_force_zero')) return null;
    const size = numberOption(instance, 'motion_filter_size');
    const addScale1 = Number(flagOption(instance, 'motion_add_scale1'));
    return { options: [size === 3 || size === 1 ? size : 5, addScale1, Number(chroma)], extent: [] };
  },
  calls: callEach(
    'float_motion',
    { fields: 1, cost: 6, back: 1, pictures: 'reference' },
    ({ options: [, , chroma] }) => chroma === 1,
  ),
  finish: (instance) => new FloatMotionSequence(instance),
};

class FloatMotionSequence implements Finisher {
  readonly #scaling: ReturnType<typeof motionScaling>;
  #frames = 0;
  #latest = 0;

  constructor(instance: ExtractorInstance) {
    this.#scaling = motionScaling(instance);
  }

  push(frame: number, fields: Fields, emit: Emit): void {
    const { forceZero, weight, cap } = this.#scaling;
    const score = forceZero || frame === 0 ? 0 : fields(0);
    emit(frame, 'VMAF_feature_motion_score', cap(score * weight));
    if (frame > 0) this.#settle(frame - 1, score, emit);
    this.#latest = score;
    this.#frames = frame + 1;
  }

  flush(emit: Emit): void {
    if (this.#frames > 0) this.#settle(this.#frames - 1, undefined, emit);
  }

  /** Makes a frame final; `next` is the next frame's difference, `undefined` at the end. */
  #settle(frame: number, next: number | undefined, emit: Emit): void {
    const { weight, cap, blend } = this.#scaling;
    const first = frame === 0;
    const damped = (next === undefined ? this.#latest : Math.min(this.#latest, next)) * weight;
    // The first frame has no difference, so its motion3 uses the next one's.
    const blended = blend(first ? (next ?? 0) * weight : damped);
    emit(frame, 'VMAF_feature_motion2_score', first ? 0 : cap(damped));
    emit(frame, 'VMAF_feature_motion3_score', cap(blended));
  }
}
