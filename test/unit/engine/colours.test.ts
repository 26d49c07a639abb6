/**
 * @module test/unit/engine/colours
 * The colours of a pair: what a video leaves open is what the other one states.
 */
import { expect, it } from 'vitest';
import { coloursOf } from '../../../src/engine/inputs/pictures.js';
import type { Side } from '../../../src/media/pairing/prepare.js';
import type { VideoInfo } from '../../../src/media/types.js';

function side(facts: Partial<VideoInfo>): Side {
  const info: VideoInfo = {
    ...{ name: 'a', container: 'frames', width: 1920, height: 1080, bitDepth: 10, chroma: '420' },
    ...{ frameCount: 2, warnings: [], ...facts },
  };
  const source = { info, seekable: true, readFrame: () => false, close: () => {} };
  return { kind: 'frames', source, times: null };
}
const pair = (reference: Partial<VideoInfo>, distorted: Partial<VideoInfo>) =>
  coloursOf({ reference: side(reference), distorted: side(distorted) });

const HDR = {
  matrix: 'bt2020nc',
  transfer: 'smpte2084',
  primaries: 'bt2020',
  chromaLocation: 'left',
} as const;

it('a guess follows what the other video states, and stays a guess', () => {
  const { reference, distorted } = pair({}, HDR);
  expect(distorted).toMatchObject({ matrix: 'bt2020', transfer: 'pq', siting: 'left', guessed: ['range'] });
  expect(reference).toEqual({ ...distorted, guessed: ['matrix', 'range', 'transfer', 'siting'] });
});

it('what a video states stays, whatever the other one says', () => {
  const { reference } = pair({ matrix: 'bt709', transfer: 'bt709', chromaLocation: 'center' }, HDR);
  expect(reference).toMatchObject({ matrix: 'bt709', transfer: 'srgb', siting: 'center' });
});

it('nothing follows what does not matter in the other format', () => {
  const grey = pair({ width: 720, height: 480 }, { chroma: '400', transfer: 'gamma28' });
  expect(grey.reference).toMatchObject({ matrix: 'bt601', transfer: 'gamma28', siting: 'left' });
  const rgb = pair({ primaries: 'bt2020' }, { chroma: '444', matrix: 'gbr', transfer: 'bt709' });
  expect(rgb.reference).toMatchObject({ matrix: 'bt2020', siting: 'topleft' });
});
