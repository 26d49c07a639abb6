/**
 * @module metrics/speed-temporal
 * SpEED of frame differences (metrics spec D.17).
 */
import { callEach, flagOption, type Metric } from './metric.js';
import { extractor, feature, flag, ranked } from './spec.js';
import { requireBlocks, SPEED_OPTIONS, speedOptions } from './speed-chroma.js';

/** The speed_temporal extractor. */
export const SPEED_TEMPORAL: Metric = {
  spec: extractor({
    name: 'speed_temporal',
    source: 'wasm/src/speed_frame.c',
    description:
      'Differences of local entropy between the frame differences of both videos (temporal SpEED).',
    options: [
      ...SPEED_OPTIONS,
      flag('speed_use_ref_diff', false, {
        alias: 'urd',
        inName: true,
        description: 'Take the distorted frame differences to the reference.',
      }),
    ],
    features: ranked('high', [feature('Speed_temporal_feature_speed_temporal_score', 'speed_temporal')]),
    temporal: true,
  }),
  measure: (instance, format) => {
    requireBlocks(instance, 'luma', format);
    const toReference = Number(flagOption(instance, 'speed_use_ref_diff'));
    return { options: [...speedOptions(instance, format), 0, toReference], extent: [] };
  },
  calls: callEach('speed_temporal', { fields: 2, cost: 2, back: 1 }),
  finish: () => ({
    push: (frame, fields, emit) => {
      // The first frame has none to differ from.
      emit(frame, 'Speed_temporal_feature_speed_temporal_score', frame === 0 ? 0 : fields(0));
    },
  }),
};
