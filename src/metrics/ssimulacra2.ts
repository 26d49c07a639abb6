/**
 * @module metrics/ssimulacra2
 * SSIMULACRA 2.1, a perceptual score of colour pictures: 90 visually lossless, 70 high, 50 medium, 30 low quality.
 */
import type { ScoredColour } from '../core/colour.js';
import { isHdr } from '../core/colour.js';
import { featureError } from '../core/errors.js';
import { COLOUR_OPTIONS, colourParameters, coloursOf } from './colour.js';
import { callEach, choiceOption, type Metric } from './metric.js';
import { choice, extractor, feature, ranked } from './spec.js';

const MODES = ['fast', 'exact'] as const;

export const SSIMULACRA2: Metric = {
  spec: extractor({
    name: 'ssimulacra2',
    beyondLibvmaf: true,
    module: 'perceptual',
    source: 'wasm/perceptual/ssimulacra2.c',
    description:
      'SSIMULACRA 2.1: structure and edges of colour at six scales, 100 for equal pictures, below 0 for very bad ones.',
    options: [
      choice('mode', MODES, {
        inName: false,
        description:
          'Arithmetic. fast: within 0.03 of infinite precision. exact: digit for digit the reference program, built without ' +
          'fused multiply-add, whose rounding moves scores of flat graphics by up to 1.4.',
      }),
      ...COLOUR_OPTIONS,
    ],
    features: ranked('low', [feature('ssimulacra2')]),
  }),
  measure(instance, format) {
    const { reference, distorted } = coloursOf(instance, format);
    refuseHdr('reference', reference);
    refuseHdr('distorted', distorted);
    const exact = choiceOption(instance, 'mode') === 'exact';
    const opaqueReference = distorted.alpha === true && reference.alpha === undefined;
    const flags = [Number(exact), Number(opaqueReference)];
    return { options: [...colourParameters(instance, format), ...flags], extent: [] };
  },
  calls: callEach('ssimulacra2', { fields: 1, cost: 45 }, () => true),
  finish: () => ({ push: (frame, fields, emit) => emit(frame, 'ssimulacra2', fields(0)) }),
};

/** The reference program maps PQ's 10,000 cd/m2 to SDR white, so everything that screens show is nearly black. */
function refuseHdr(side: string, { transfer }: ScoredColour): void {
  if (!isHdr(transfer)) return;
  const name = transfer.toUpperCase();
  throw featureError(
    `The ssimulacra2 extractor is not defined for ${name}, which the ${side} video is: its weights were fitted to SDR pictures, ` +
      `whose white has no equivalent in ${name}; use cvvdp=display=standard_hdr_${transfer} or butteraugli, or convert the video ` +
      'to standard dynamic range first.',
  );
}
