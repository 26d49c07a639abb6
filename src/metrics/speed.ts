/**
 * @module metrics/speed
 * SpEED of chroma and of frame differences (metrics spec D.17).
 */
import { featureError } from '../core/errors.js';
import { chromaSize, type VideoFormat } from '../core/frame.js';
import type { PictureSize } from '../core/size.js';
import { atMost, RESAMPLING, requireChroma, requirePrescale, resizingOptions } from './checks.js';
import {
  callEach,
  choiceOption,
  type ExtractorInstance,
  eachFrame,
  flagOption,
  type Metric,
  numberOption,
} from './metric.js';
import { extractor, feature, flag, integer, type OptionSpec, ranked, real } from './spec.js';

/** Five blocks of every 16th sample; smaller planes leave nothing to measure. */
const LEAST_SIDE = 80;
/** Prescales this close to 1 are skipped. */
const NO_PRESCALE = 1e-3;

const SPEED_OPTIONS: readonly OptionSpec[] = [
  ...resizingOptions('speed', 'psm'),
  real('speed_sigma_nn', 0.29, 0.1, 2, { alias: 'snn', description: 'Variance of the neural noise.' }),
  real('speed_nn_floor', 0, 0, 1, {
    alias: 'nnf',
    description: 'Blocks of less entropy than the noise raised by this share do not count.',
  }),
  real('speed_max_val', 1000, 0, 1000, { alias: 'mxv', description: 'Upper limit of the values.' }),
];

/** @throws {AnyvmafError} `feature` for planes that are too small once prescaled */
function requireBlocks(instance: ExtractorInstance, plane: string, size: PictureSize): void {
  const prescale = numberOption(instance, 'speed_prescale');
  const scaled = (side: number) =>
    Math.abs(prescale - 1) < NO_PRESCALE ? side : Math.floor(side * prescale + 0.5);
  const [width, height] = [scaled(size.width), scaled(size.height)];
  if (width >= LEAST_SIDE && height >= LEAST_SIDE) return;
  const { name } = instance.spec;
  throw featureError(
    `The ${name} extractor needs ${plane} of at least ${LEAST_SIDE}x${LEAST_SIDE} samples but here it has ` +
      `${width}x${height}; leave out ${name}, or choose a larger speed_prescale.`,
  );
}

/** Values of {@link SPEED_OPTIONS} in the core's order. */
function speedOptions(instance: ExtractorInstance, format: VideoFormat): number[] {
  const method = choiceOption(instance, 'speed_prescale_method');
  const prescale = numberOption(instance, 'speed_prescale');
  requirePrescale(instance.spec.name, format, prescale, method);
  return [
    numberOption(instance, 'speed_kernelscale'),
    prescale,
    RESAMPLING.indexOf(method),
    numberOption(instance, 'speed_sigma_nn'),
    numberOption(instance, 'speed_nn_floor'),
  ];
}

export const SPEED_CHROMA: Metric = {
  spec: extractor({
    name: 'speed_chroma',
    source: 'wasm/src/speed_frame.c',
    description: 'Differences of local entropy between the chroma planes of both videos (SpEED).',
    options: [
      ...SPEED_OPTIONS,
      integer('speed_weight_var_mode', 0, 0, 6, {
        alias: 'wvm',
        description:
          'Whose variances weigh the entropies: 0 each its own, 1 the reference, 2 the distorted, 3 to 6 mixes.',
      }),
    ],
    features: ranked(
      'high',
      ['u', 'v', 'uv'].map((plane) =>
        feature(`Speed_chroma_feature_speed_chroma_${plane}_score`, `speed_chroma_${plane}`),
      ),
    ),
  }),
  measure: (instance, format) => {
    requireChroma('speed_chroma', format);
    requireBlocks(instance, 'chroma', chromaSize(format));
    const weight = numberOption(instance, 'speed_weight_var_mode');
    return { options: [...speedOptions(instance, format), weight, 0], extent: [] };
  },
  calls: callEach('speed_chroma', { fields: 5, cost: 2 }, () => true),
  finish: (instance) => {
    const maximum = numberOption(instance, 'speed_max_val');
    return eachFrame((frame, fields, emit) => {
      ['u', 'v', 'uv'].forEach((plane, i) => {
        emit(frame, `Speed_chroma_feature_speed_chroma_${plane}_score`, atMost(fields(i), maximum));
      });
    });
  },
};

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
  finish: () =>
    eachFrame((frame, fields, emit) => {
      // The first frame has no predecessor.
      emit(frame, 'Speed_temporal_feature_speed_temporal_score', frame === 0 ? 0 : fields(0));
    }),
};
