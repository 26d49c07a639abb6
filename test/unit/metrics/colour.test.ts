/**
 * @module test/unit/metrics/colour
 * Options of the colour metrics replace what the videos say of their colours, each its own part, for both videos.
 */
import { describe, expect, it } from 'vitest';
import type { Colour, ScoredFormat } from '../../../src/core/colour.js';
import { colourParameters, coloursOf } from '../../../src/metrics/colour.js';
import { parseFeature } from '../../../src/metrics/options.js';
import { format } from '../../support/metric.js';

const reference: Colour = {
  ...{ matrix: 'bt709', range: 'limited', transfer: 'srgb', siting: 'left', upsampling: 'bicubic' },
} as const;
const distorted: Colour = { ...reference, matrix: 'bt601', range: 'full' };
const video: ScoredFormat = { ...format(64, 64), colours: { reference, distorted } };

describe('colours of a metric', () => {
  it('are those of the videos without options', () => {
    for (const feature of ['ssimulacra2', 'butteraugli=matrix=auto', 'cvvdp=transfer=auto:range=auto'])
      expect(coloursOf(parseFeature(feature), video)).toEqual({ reference, distorted });
  });

  // The numbers of wasm/include/perceptual.h: matrix, range, transfer, siting, upsampling, primaries.
  it.each([
    ['matrix=bt2020', { matrix: 'bt2020' }, [3, 0, 0, 0, 0, 1, 3, 1, 0, 0, 0, 1]],
    ['range=full', { range: 'full' }, [1, 1, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0]],
    ['transfer=bt1886', { transfer: 'bt1886' }, [1, 0, 1, 0, 0, 0, 2, 1, 1, 0, 0, 0]],
    ['siting=topleft', { siting: 'topleft' }, [1, 0, 0, 2, 0, 0, 2, 1, 0, 2, 0, 0]],
    ['upsampling=nearest', { upsampling: 'nearest' }, [1, 0, 0, 0, 2, 0, 2, 1, 0, 0, 2, 0]],
    ['primaries=p3', { primaries: 'p3' }, [1, 0, 0, 0, 0, 2, 2, 1, 0, 0, 0, 2]],
  ])('%s replaces that of both', (option, replaced, numbers) => {
    const instance = parseFeature(`ssimulacra2=${option}`);
    const expected = { reference: { ...reference, ...replaced }, distorted: { ...distorted, ...replaced } };
    expect(coloursOf(instance, video)).toEqual(expected);
    expect(colourParameters(instance, video)).toEqual(numbers);
  });

  it('are refused where a video codes its own by no matrix of RGB, unless an option names one', () => {
    const coded = { ...video, colours: { reference, distorted: { ...distorted, unsupported: 'ictcp' } } };
    expect(() => coloursOf(parseFeature('cvvdp'), coded)).toThrow(
      'The cvvdp extractor cannot make RGB of the distorted video, whose colours are coded by ictcp, which is no matrix of ' +
        'RGB; convert it first, for example with ffmpeg -vf zscale=matrix=2020_ncl, or name the matrix of its samples if ' +
        'the file states a wrong one: cvvdp=matrix=bt2020.',
    );
    const named = coloursOf(parseFeature('cvvdp=matrix=bt2020'), coded);
    expect(named.distorted).toEqual({ ...distorted, matrix: 'bt2020' });
  });

  it('are asked for where frames do not tell them', () => {
    expect(() => coloursOf(parseFeature('butteraugli=matrix=bt709'), format(64, 64))).toThrow(
      'The butteraugli extractor needs the colours of both videos, which frames without a container do not tell; name ' +
        'them in format.colours.',
    );
  });
});
