/**
 * @module scripts/corpus/cases
 * All cases, in order, and a tenth of them of every kind.
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

/** Every case with its kind. */
export const CASES = Object.entries(KINDS).flatMap(([kind, cases]) => cases.map((one) => ({ ...one, kind })));

const FEW = [
  'mp4-first-fragment-in-moov',
  'webm-vp8-hidden-frames',
  'mkv-without-first-times',
  'x264-blocks',
  'offset-late',
  'rate-60-to-30',
  'slip-doubled',
  'pq-tone-mapped',
  'rgb-master-601',
  'chroma-swapped',
  'interlaced-both',
  'padded-repeated',
  'cover-art',
  'still',
  'on-paper',
];

/** One or two cases of each kind. */
export const SOME = CASES.filter(({ name }) => FEW.includes(name));
