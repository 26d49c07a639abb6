/**
 * @module metrics/ssimulacra2
 * SSIMULACRA 2.1, a perceptual score of colour pictures: 90 visually lossless, 70 high, 50 medium, 30 low quality.
 */
import { colourNumbers } from '../core/colour.js';
import { AnyvmafError } from '../core/errors.js';
import { choiceOption, doubles, type Metric } from './metric.js';
import { choice, extractor, feature, ranked } from './spec.js';

const MODES = ['fast', 'exact'] as const;

/** The ssimulacra2 extractor. */
export const SSIMULACRA2: Metric = {
  spec: extractor({
    name: 'ssimulacra2',
    source: 'wasm/perceptual/ssimulacra2.c',
    description:
      'SSIMULACRA 2.1: structure and edges of colour at six scales, 100 for equal pictures, below 0 for very bad ones.',
    options: [
      choice('mode', MODES, {
        description:
          'fast: within 0.001 of infinite precision; exact: digit for digit the reference on a processor without fused ' +
          'multiply-add, whose rounding moves scores of flat graphics by up to 1.4.',
      }),
    ],
    features: ranked('low', [feature('ssimulacra2')]),
  }),
  measure: (instance) => ({ options: [choiceOption(instance, 'mode') === 'exact' ? 1 : 0], extent: [] }),
  calls: (variants, { colours }) => {
    if (!colours)
      throw new AnyvmafError('internal', 'ssimulacra2 measures colour but has no colours of the pair.');
    return variants.map(({ options: [exact = 0] }) => ({
      run: 'ssimulacra2',
      module: 'perceptual',
      args: ['frames', 'parameters'],
      parameters: doubles([...colourNumbers(colours), exact]),
      fields: 1,
      chroma: true,
      cost: exact ? 55 : 40,
    }));
  },
  finish: () => ({
    push: (frame, fields, emit) => emit(frame, 'ssimulacra2', fields(0)),
  }),
};
