/**
 * @module test/unit/core/colour
 * Colours as videos state them, as guessed or taken from the other video, and in words.
 */
import { describe, expect, it } from 'vitest';
import { type Colour, colourAs, colourNumbers, colourOf } from '../../../src/core/colour.js';
import { coloursOf } from '../../../src/engine/inputs/pictures.js';
import type { Side } from '../../../src/media/pair.js';
import type { VideoInfo } from '../../../src/media/types.js';
import { describeColour } from '../../../src/report/facts.js';

const HD = { width: 1920, height: 1080, chroma: '420' } as const;
const SD = { width: 720, height: 576, chroma: '420' } as const;
const LEFT = { siting: 'left', upsampling: 'bicubic' } as const;
const REC709: Colour = { matrix: 'bt709', range: 'limited', transfer: 'srgb', ...LEFT };

describe('the colour of a video', () => {
  it('is as stated, without a guess', () => {
    const limited = { colorRange: 'limited', chromaLocation: 'left' } as const;
    const stated = { matrix: 'bt709', transfer: 'bt709', ...limited };
    expect(colourOf({ ...HD, ...stated })).toEqual({ ...REC709, guessed: [] });
    const full = { colorRange: 'full', chromaLocation: 'center' } as const;
    expect(colourOf({ ...SD, matrix: 'bt470bg', transfer: 'gamma28', ...full })).toEqual({
      ...{ matrix: 'bt601', range: 'full', transfer: 'gamma28' },
      ...{ siting: 'center', upsampling: 'bicubic', guessed: [] },
    });
    const topLeft = { colorRange: 'limited', chromaLocation: 'topleft' } as const;
    const hdr = colourOf({ ...HD, matrix: 'bt2020nc', transfer: 'smpte2084', ...topLeft });
    expect(hdr).toMatchObject({ matrix: 'bt2020', transfer: 'pq', siting: 'topleft' });
  });

  it.each([
    ['bt709', 'srgb'],
    ['smpte170m', 'srgb'],
    ['iec61966-2-1', 'srgb'],
    ['bt2020-10', 'srgb'],
    ['gamma22', 'gamma22'],
    ['linear', 'linear'],
    ['arib-std-b67', 'hlg'],
  ])('linearises the transfer %s by %s', (transfer, expected) => {
    const { guessed, ...colour } = colourOf({ ...HD, transfer });
    expect(colour.transfer).toBe(expected);
    expect(guessed).not.toContain('transfer');
  });

  it.each([
    [{ matrix: 'smpte240m' }, { matrix: 'smpte240m' }],
    [{ matrix: 'fcc' }, { matrix: 'fcc' }],
    [{ matrix: 'ycgco' }, { matrix: 'ycgco' }],
    [
      { matrix: 'bt2020c', transfer: 'bt2020-10' },
      { matrix: 'bt2020c', transfer: 'srgb', siting: 'topleft' },
    ],
    [
      { matrix: 'ictcp', transfer: 'smpte2084' },
      { matrix: 'ictcp', transfer: 'pq', siting: 'topleft' },
    ],
    [{ matrix: 'chroma-derived-nc', primaries: 'bt2020' }, { matrix: 'bt2020' }],
    [
      { matrix: 'smpte170m', primaries: 'smpte170m' },
      { matrix: 'bt601', primaries: 'smpte170m' },
    ],
    [
      { matrix: 'bt470bg', primaries: 'bt470bg' },
      { matrix: 'bt601', primaries: 'bt470bg' },
    ],
    [
      { matrix: 'bt709', primaries: 'smpte431' },
      { matrix: 'bt709', primaries: 'dci-p3' },
    ],
    [
      { matrix: 'bt709', primaries: 'smpte432' },
      { matrix: 'bt709', primaries: 'p3' },
    ],
    [
      { matrix: 'bt709', primaries: 'bt2020' },
      { matrix: 'bt709', primaries: 'bt2020' },
    ],
    [
      { matrix: 'bt2020nc', primaries: 'bt709' },
      { matrix: 'bt2020', primaries: 'bt709' },
    ],
  ])('of %j is %j', (stated, expected) => {
    const { guessed, ...colour } = colourOf({ ...HD, ...stated });
    expect(colour).toMatchObject(expected);
    expect(guessed).not.toContain('matrix');
    expect(guessed).not.toContain('primaries');
  });

  it('names no primaries that go with its matrix, and matrices that are not supported', () => {
    for (const stated of [
      { matrix: 'bt2020nc', primaries: 'bt2020' },
      { matrix: 'bt709', primaries: 'bt709' },
      { matrix: 'bt2020c', primaries: 'bt2020' },
    ])
      expect(colourOf({ ...SD, ...stated })).not.toHaveProperty('primaries');
    expect(colourOf({ ...SD, primaries: 'film' }).guessed).toContain('primaries');
    for (const matrix of ['ipt-c2', 'chroma-derived-c', 'chroma-derived-nc', 'ycgco-re']) {
      expect(colourOf({ ...HD, matrix })).toMatchObject({ unsupported: matrix });
      expect(colourOf({ ...HD, chroma: '400', matrix })).not.toHaveProperty('unsupported');
    }
  });

  it('is guessed by the size where nothing is stated', () => {
    const all = ['matrix', 'range', 'transfer', 'siting'];
    expect(colourOf(HD)).toEqual({ ...REC709, guessed: all });
    expect(colourOf(SD)).toEqual({ ...REC709, matrix: 'bt601', guessed: all });
    expect(colourOf({ ...SD, height: 577 }).matrix).toBe('bt709');
    const unknown = { ...SD, width: 1280, matrix: 'unknown', transfer: 'unknown' } as const;
    expect(colourOf(unknown)).toEqual({ ...REC709, guessed: all });
    expect(colourOf({ ...SD, primaries: 'bt2020' })).toMatchObject({ matrix: 'bt2020', siting: 'topleft' });
  });

  it('is not guessed where it does not matter, and is not RGB where chroma is subsampled', () => {
    expect(colourOf({ ...HD, chroma: '400' }).guessed).toEqual(['range', 'transfer']);
    expect(colourOf({ ...HD, chroma: '444', matrix: 'bt709' }).guessed).toEqual(['range', 'transfer']);
    const rgb = { ...REC709, matrix: 'gbr', range: 'full', guessed: ['range', 'transfer'] };
    expect(colourOf({ ...HD, chroma: '444', matrix: 'gbr' })).toEqual(rgb);
    const { guessed, ...colour } = colourOf({ ...HD, matrix: 'gbr' });
    expect(colour.matrix).toBe('bt709');
    expect(guessed).toContain('matrix');
  });

  describe('as another tool reads it', () => {
    const tagged = { ...HD, matrix: 'bt2020nc', transfer: 'smpte2084', primaries: 'bt2020' } as const;

    it('depends on the height for vszip, with sRGB', () => {
      const expected = { ...REC709, guessed: [], as: 'vszip' };
      expect(colourAs('vszip', tagged)).toEqual(expected);
      expect(colourAs('vszip', { ...HD, height: 651, matrix: 'smpte170m' })).toEqual(expected);
      expect(colourAs('vszip', { ...HD, height: 650 })).toEqual({ ...expected, matrix: 'bt601' });
    });

    it('is as stated for vship, otherwise BT.709 with gamma 2.4', () => {
      const expected = { ...REC709, transfer: 'bt1886', guessed: [], as: 'vship' };
      expect(colourAs('vship', HD)).toEqual(expected);
      for (const transfer of ['bt709', 'bt2020-10'])
        expect(colourAs('vship', { ...HD, transfer })).toEqual(expected);
      expect(colourAs('vship', { ...HD, transfer: 'iec61966-2-1' })).toMatchObject({ transfer: 'srgb' });
      expect(colourAs('vship', tagged)).toEqual({ ...expected, matrix: 'bt2020', transfer: 'pq' });
      expect(colourAs('vship', { ...SD, matrix: 'smpte170m' })).toEqual({ ...expected, matrix: 'bt601' });
      const sd = { ...expected, primaries: 'smpte170m' };
      expect(colourAs('vship', { ...HD, primaries: 'smpte240m' })).toEqual(sd);
      const pal = { ...expected, matrix: 'bt601', transfer: 'gamma28', primaries: 'bt470bg' };
      for (const stated of [SD, { ...SD, matrix: 'bt470bg' }]) expect(colourAs('vship', stated)).toEqual(pal);
      for (const primaries of ['smpte431', 'smpte432', 'bt470m'])
        expect(colourAs('vship', { ...HD, primaries })).toBeUndefined();
    });

    it('is that of an untagged PNG file for libjxl; RGB stays RGB', () => {
      const stated = { ...SD, matrix: 'bt470bg', transfer: 'gamma28', primaries: 'bt470bg' } as const;
      expect(colourAs('libjxl', stated)).toEqual({ ...REC709, matrix: 'bt601', guessed: [], as: 'libjxl' });
      expect(colourAs('libjxl', tagged)).toMatchObject({ transfer: 'pq' });
      const rgb = { ...HD, chroma: '444', matrix: 'gbr' } as const;
      for (const as of ['vship', 'vszip'] as const)
        expect(colourAs(as, rgb)).toMatchObject({ matrix: 'gbr', range: 'full', transfer: 'srgb', as });
    });
  });

  it('is described in words', () => {
    expect(describeColour(REC709)).toBe('BT.709, limited range, sRGB transfer, left chroma by bicubic');
    const wide = { matrix: 'bt2020', range: 'full', transfer: 'pq' } as const;
    const sited = { siting: 'topleft', upsampling: 'bilinear' } as const;
    expect(describeColour({ ...wide, ...sited })).toBe(
      'BT.2020, full range, PQ transfer, top-left chroma by bilinear',
    );
    expect(describeColour({ ...REC709, matrix: 'ycgco', primaries: 'p3' })).toBe(
      'YCgCo, limited range, sRGB transfer, left chroma by bicubic, P3 primaries',
    );
    expect(describeColour({ ...REC709, matrix: 'gbr', range: 'full', transfer: 'gamma22' })).toBe(
      'RGB, full range, gamma 2.2',
    );
  });

  it('maps to the numbers of the header', () => {
    const sited = { siting: 'topleft', upsampling: 'nearest' } as const;
    const distorted: Colour = { matrix: 'bt2020', range: 'full', transfer: 'hlg', ...sited };
    expect(colourNumbers({ reference: REC709, distorted })).toEqual([1, 0, 0, 0, 0, 0, 3, 1, 7, 2, 2, 1]);
    const p3: Colour = { ...REC709, matrix: 'ycgco', primaries: 'p3' };
    expect(colourNumbers({ reference: p3, distorted: p3 }).slice(6)).toEqual([6, 0, 0, 0, 0, 2]);
  });
});

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

const PQ = { matrix: 'bt2020nc', transfer: 'smpte2084', primaries: 'bt2020' } as const;
const HDR = { ...PQ, chromaLocation: 'left' } as const;

it('a guess follows what the other video states, but stays a guess; what a video states stays', () => {
  const { reference, distorted } = pair({}, HDR);
  expect(distorted).toMatchObject({ matrix: 'bt2020', transfer: 'pq', siting: 'left', guessed: ['range'] });
  expect(reference).toEqual({ ...distorted, guessed: ['matrix', 'range', 'transfer', 'siting'] });
  const stated = pair({ matrix: 'bt709', transfer: 'bt709', chromaLocation: 'center' }, HDR);
  expect(stated.reference).toMatchObject({ matrix: 'bt709', transfer: 'srgb', siting: 'center' });
});

it('a guess does not follow what has no meaning in the other format', () => {
  const grey = pair({ width: 720, height: 480 }, { chroma: '400', transfer: 'gamma28' });
  expect(grey.reference).toMatchObject({ matrix: 'bt601', transfer: 'gamma28', siting: 'left' });
  const rgb = pair({ primaries: 'bt2020' }, { chroma: '444', matrix: 'gbr', transfer: 'bt709' });
  expect(rgb.reference).toMatchObject({ matrix: 'bt2020', siting: 'topleft' });
});
