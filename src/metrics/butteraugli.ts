/**
 * @module metrics/butteraugli
 * Butteraugli of libjxl since 0.8: visibility of differences on a display of known luminance.
 */
import { COLOUR_OPTIONS, colourParameters } from './colour.js';
import { callEach, eachFrame, type Metric, numberOption } from './metric.js';
import { extractor, feature, ranked, real } from './spec.js';

export const BUTTERAUGLI: Metric = {
  spec: extractor({
    name: 'butteraugli',
    beyondLibvmaf: true,
    module: 'perceptual',
    source: 'wasm/perceptual/butteraugli.c',
    description: 'Visibility of differences: 0 for none, 1 for just visible.',
    options: [
      real('intensity_target', 80, 1, 10000, {
        description:
          'Luminance of white on the display in cd/m2; PQ video states its own, HLG is shown at 1,000.',
      }),
      ...COLOUR_OPTIONS,
    ],
    features: ranked('high', [feature('butteraugli'), feature('butteraugli_3norm')]),
  }),
  measure(instance, format) {
    const intensity = numberOption(instance, 'intensity_target');
    return { options: [...colourParameters(instance, format), intensity], extent: [] };
  },
  calls: callEach('butteraugli', { fields: 2, cost: 140 }, () => true),
  finish: () =>
    eachFrame((frame, fields, emit) => {
      emit(frame, 'butteraugli', fields(0));
      emit(frame, 'butteraugli_3norm', fields(1));
    }),
};
