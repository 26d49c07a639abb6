/**
 * @module test/unit/mcp/pages
 * Pages of a report's frames, and remedies as JSON.
 */
import { describe, expect, it } from 'vitest';
import type { Hint } from '../../../src/core/hint.js';
import type { Finding } from '../../../src/index.js';
import { framesOf, pageAddress, pageOf, readPageAddress } from '../../../src/mcp/frame-pages.js';
import { findingInParameters, type Place } from '../../../src/mcp/wording.js';

const frames = Array.from({ length: 20_000 }, (_, frameNum) => ({
  frameNum,
  metrics: { vmaf: frameNum % 100, psnr_y: 40 },
}));
const text = (query: string, of: object = { frames }) => {
  const asked = readPageAddress(`anyvmaf://results/a-1/frames${query}`);
  if (!asked) throw new Error('no page');
  const report = framesOf(JSON.stringify(of));
  if (!report) throw new Error('no frames');
  return pageOf(report, asked);
};
const read = (query: string, of?: object) => JSON.parse(text(query, of));

describe('a page of frames', () => {
  it('has the first hundred where nothing is asked for, and leads through all of them', () => {
    const page = read('');
    expect(page).toMatchObject({
      frames: 20_000,
      first: 0,
      last: 19_999,
      columns: ['frame', 'vmaf', 'psnr_y'],
    });
    expect(page.rows).toHaveLength(100);
    expect(page.rows[7]).toEqual([7, 7, 40]);
    expect(page.next).toBe('anyvmaf://results/a-1/frames?from=100');
    expect(JSON.stringify(page).length).toBeLessThan(5000);
    let [seen, next] = [0, '?metric=vmaf&from=0&to=19999&step=10'];
    while (next) {
      const { rows, next: after } = read(next);
      seen += rows.length;
      next = after?.replace('anyvmaf://results/a-1/frames', '');
    }
    expect(seen).toBe(2000);
  });

  it('has the frames and metrics that are asked for', () => {
    expect(read('?metric=psnr_y&from=5&to=9&step=2')).toMatchObject({
      columns: ['frame', 'psnr_y'],
      rows: [
        [5, 40],
        [7, 40],
        [9, 40],
      ],
      next: null,
    });
  });

  it('is CSV where that is asked for', () => {
    expect(text('?metric=vmaf&from=5&to=6&format=csv')).toBe('frame,vmaf\n5,5\n6,6\n');
    expect(text('?metric=vmaf&format=csv').split('\n').slice(-2)).toEqual([
      '# next: anyvmaf://results/a-1/frames?metric=vmaf&from=100&format=csv',
      '',
    ]);
  });

  it('has seconds of the reference, each with its mean, its least and its greatest value', () => {
    const film = { frames, reference: { frame_rate: '25/1', skipped: 10 } };
    const page = read('?metric=vmaf&format=seconds', film);
    expect(page.columns).toEqual(['second', 'frame', 'vmaf', 'vmaf_min', 'vmaf_max']);
    // The first second has 15 frames: 0 to 14.
    expect(page.rows.slice(0, 2)).toEqual([
      [0, 0, 7, 0, 14],
      [1, 15, 27, 15, 39],
    ]);
    expect(page.rows).toHaveLength(100);
    expect(read(page.next.replace('anyvmaf://results/a-1/frames', ''), film).rows[0][0]).toBe(100);
    const ntsc = { frames, reference: { frame_rate: '30000/1001' } };
    // Frame 30 is at 1.001 s.
    expect(read('?metric=vmaf&from=0&to=59&format=seconds', ntsc).rows).toEqual([
      [0, 0, 14.5, 0, 29],
      [1, 30, 44.5, 30, 59],
    ]);
  });

  it.each([
    ['?metric=nope', 'unknown metric "nope"; this report has vmaf, psnr_y'],
    ['?from=9&to=3', 'from must not come after to'],
    ['?step=0', 'step is "0", but it must be a whole number from 1'],
    ['?frames=3', 'unknown query parameter "frames"; available: metric, from, to, step, format.'],
    ['?format=xml', 'format is "xml", but it must be one of json, csv, seconds'],
    ['?format=seconds', 'the frame rate of this report is unknown; use step.'],
  ])('is refused: %s', (query, sentence) => expect(() => read(query)).toThrow(sentence));

  it('is nothing of other addresses, and addresses are read as they are written', () => {
    expect(readPageAddress('anyvmaf://results/a-1/report.json')).toBeUndefined();
    expect(readPageAddress('anyvmaf://results/../frames')).toBeUndefined();
    const asked = { id: 'a', metrics: ['x', 'y'], from: 1, to: 2, step: 3 };
    expect(readPageAddress(pageAddress(asked))).toEqual(asked);
    expect(framesOf('{"frames": 3}')).toBeUndefined();
  });
});

describe('what resolves a finding', () => {
  const crop = (side: 'Reference' | 'Distorted') =>
    ({ purpose: 'fix', option: `crop${side}`, value: '640:272:0:44' }) as const;
  const fixOf = (hint: Hint, place?: Place) => {
    const finding = { code: 'borders', severity: 'warning', message: 'x', hint } as unknown as Finding;
    return findingInParameters(finding, place).fix ?? '';
  };

  it.each<[Hint, object]>([
    [
      { purpose: 'prepare', commands: [], instead: [crop('Reference'), crop('Distorted')] },
      { filters: { crop_reference: '640:272:0:44', crop_distorted: '640:272:0:44' } },
    ],
    [{ purpose: 'fix', option: 'offset', value: 12 }, { offset: 12 }],
    [{ purpose: 'fix', option: 'features', value: 'cvvdp' }, { feature: ['cvvdp'] }],
    [{ purpose: 'fix', option: 'allowDamaged', value: true }, { allow_damaged: true }],
    [{ purpose: 'fix', option: 'scaleTo', value: { width: 640, height: 360 } }, { scale_to: '640x360' }],
    [
      { purpose: 'fix', option: 'swap', value: { reference: 'a b', distorted: 'c' } },
      { reference: 'a b', distorted: 'c' },
    ],
  ])('is JSON of arguments: %j', (hint, args) => expect(JSON.parse(fixOf(hint))).toEqual(args));

  it('says to which tool it goes, and that the user knows', () => {
    const deinterlace = { purpose: 'fix', option: 'deinterlace', value: true } as const;
    expect(fixOf(deinterlace, 'stored')).toBe('{"filters":{"deinterlace":true}} to vmaf_score_encoded');
    expect(fixOf({ purpose: 'fix', option: 'offset', value: -3 }, 'raw')).toBe('{"frame_skip_dist":3}');
    expect(fixOf({ purpose: 'fix', option: 'window', value: 200 })).toBe('{"window":200} to find_alignment');
    expect(fixOf({ purpose: 'accept', option: 'scale', value: 'bicubic' })).toBe(
      'to accept, pass {"scale":"bicubic"}',
    );
  });
});
