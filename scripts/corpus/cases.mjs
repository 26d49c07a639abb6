/**
 * @module scripts/corpus/cases
 * All cases in order, and one of each kind.
 */
import codecs from './codecs.mjs';
import colour from './colour.mjs';
import containers from './containers.mjs';
import content from './content.mjs';
import fields from './fields.mjs';
import sizes from './sizes.mjs';
import timing from './timing.mjs';
import tracks from './tracks.mjs';

const KINDS = { containers, codecs, timing, colour, fields, sizes, tracks, content };

export const CASES = Object.entries(KINDS).flatMap(([kind, cases]) =>
  cases.map((testCase) => ({ ...testCase, kind })),
);

const FEW = [
  ...['webm-vp8-hidden-frames', 'x264-blocks', 'slip-doubled', 'chroma-swapped', 'interlaced-both'],
  ...['fields-bottom-label', 'padded-repeated', 'cropped', 'cover-art', 'still'],
];

export const SOME = CASES.filter(({ name }) => FEW.includes(name));
