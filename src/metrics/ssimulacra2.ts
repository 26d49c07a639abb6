/**
 * @module metrics/ssimulacra2
 * SSIMULACRA 2.1, a perceptual score of colour pictures: 90 visually lossless, 70 high, 50 medium, 30 low quality.
 */
import { COLOUR_OPTIONS, colourParameters, refuseTransfers } from './colour.js';
import { callEach, choiceOption, type Metric } from './metric.js';
import { choice, extractor, feature, ranked } from './spec.js';

const MODES = ['fast', 'exact'] as const;

/** The ssimulacra2 extractor. */
export const SSIMULACRA2: Metric = {
  spec: extractor({
    name: 'ssimulacra2',
    module: 'perceptual',
    source: 'wasm/perceptual/ssimulacra2.c',
    description:
      'SSIMULACRA 2.1: structure and edges of colour at six scales, 100 for equal pictures, below 0 for very bad ones.',
    options: [
      choice('mode', MODES, {
        inName: false,
        description:
          'Arithmetic. fast: within 0.001 of infinite precision. exact: digit for digit the reference program, built without ' +
          'fused multiply-add, whose rounding moves scores of flat graphics by up to 1.4.',
      }),
      ...COLOUR_OPTIONS,
    ],
    features: ranked('low', [feature('ssimulacra2')]),
  }),
  measure(instance, format) {
    refuseTransfers(instance, format, ['pq', 'hlg']);
    const exact = choiceOption(instance, 'mode') === 'exact';
    return { options: [...colourParameters(instance, format), exact ? 1 : 0], extent: [] };
  },
  calls: callEach('ssimulacra2', { fields: 1, cost: 45 }, () => true),
  finish: () => ({
    push: (frame, fields, emit) => emit(frame, 'ssimulacra2', fields(0)),
  }),
};
