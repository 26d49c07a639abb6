/**
 * @module metrics/butteraugli
 * Butteraugli of libjxl since 0.8: how visible differences are to a viewer of a display of known luminance.
 */
import { colourNumbers, type ScoredFormat } from '../core/colour.js';
import { AnyvmafError } from '../core/errors.js';
import { requireChroma } from './checks.js';
import { doubles, type Metric, numberOption } from './metric.js';
import { extractor, feature, ranked, real } from './spec.js';

/** The butteraugli extractor. */
export const BUTTERAUGLI: Metric = {
  spec: extractor({
    name: 'butteraugli',
    source: 'wasm/perceptual/butteraugli.c',
    description: 'Visibility of differences: 0 for none, 1 where they begin to be visible.',
    options: [
      real('intensity_target', 80, 1, 10000, {
        description: 'Luminance of white on the display in cd/m2; PQ video states its own.',
      }),
    ],
    features: ranked('high', [feature('butteraugli'), feature('butteraugli_3norm')]),
  }),
  measure: (instance, format) => {
    requireChroma('butteraugli', format);
    return { options: [numberOption(instance, 'intensity_target')], extent: [] };
  },
  calls: (variants, format) =>
    variants.map(({ options }) => ({
      run: 'butteraugli',
      module: 'perceptual',
      args: ['frames', 'parameters'],
      parameters: doubles([...colourNumbers(coloursOf(format)), ...options]),
      fields: 2,
      chroma: true,
      cost: 140,
    })),
  finish: () => ({
    push: (frame, fields, emit) => {
      emit(frame, 'butteraugli', fields(0));
      emit(frame, 'butteraugli_3norm', fields(1));
    },
  }),
};

function coloursOf({ colours }: ScoredFormat): NonNullable<ScoredFormat['colours']> {
  if (colours) return colours;
  throw new AnyvmafError('internal', 'The format that butteraugli measures has no colours.');
}
