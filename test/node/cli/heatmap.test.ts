/**
 * @module test/node/cli/heatmap
 * `anyvmaf heatmap`: what it draws, where it writes it, and that a failure leaves nothing behind.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { decode } from 'fast-png';
import { expect, it } from 'vitest';
import { heatmapSettings } from '../../../src/cli/commands/heatmap.js';
import { anyvmaf, videos } from '../../support/cli.js';

it('draws the frames asked for into a folder that it makes', async () => {
  using files = videos();
  const [reference, distorted] = files.pair(['r.y4m', 'd.y4m'], 4);
  const { code, stdout } = await anyvmaf([
    'heatmap',
    reference,
    distorted,
    '--frame',
    '3,1',
    '-o',
    files.at('maps'),
  ]);
  expect(code).toBe(0);
  expect(readdirSync(files.at('maps')).sort()).toEqual(['heatmap_000001.png', 'heatmap_000003.png']);
  expect(stdout).toMatch(/^frame 1: adm2 0\.\d{4}, vif 0\.\d{4} .*heatmap_000001\.png\nframe 3: /);
  const picture = decode(readFileSync(files.at('maps/heatmap_000003.png')));
  expect([picture.width, picture.height]).toEqual([64, 48 + 15]);
});

it('finds the worst frame by scoring and draws it into the file named', async () => {
  using files = videos();
  const [reference, distorted] = files.pair(['r.y4m', 'd.y4m'], 4);
  const json = await anyvmaf([reference, distorted, '--json', '-q', '-o', files.at('report.json')]);
  expect(json.code).toBe(0);
  const report: { frames: { frameNum: number; metrics: { vmaf: number } }[] } = JSON.parse(
    readFileSync(files.at('report.json'), 'utf8'),
  );
  const worst = report.frames.reduce((a, b) => (b.metrics.vmaf < a.metrics.vmaf ? b : a));
  const { code, stdout } = await anyvmaf(['heatmap', reference, distorted, '-o', files.at('lost.png')]);
  expect(code).toBe(0);
  expect(stdout).toMatch(`frame ${worst.frameNum}: vmaf ${worst.metrics.vmaf.toFixed(2)}, adm2 `);
  expect(decode(readFileSync(files.at('lost.png'))).width).toBe(64);
});

it('writes nothing when a frame is not there', async () => {
  using files = videos();
  const [reference, distorted] = files.pair(['r.y4m', 'd.y4m'], 2);
  const { code, stderr } = await anyvmaf([
    'heatmap',
    reference,
    distorted,
    '--frame',
    '0,7',
    '-o',
    files.at('maps'),
  ]);
  expect(code).toBe(1);
  expect(stderr).toContain('frame 7 was asked for, but');
  expect(existsSync(files.at('maps'))).toBe(false);
});

it('refuses to write into a file that is no folder, and over the videos', async () => {
  using files = videos();
  const [reference, distorted] = files.pair(['r.y4m', 'd.y4m'], 1);
  const taken = files.put('taken', 'mine');
  const first = await anyvmaf(['heatmap', reference, distorted, '--frame', '0', '-o', taken]);
  expect([first.code, first.stderr]).toEqual([
    2,
    expect.stringContaining('it is no folder; name a folder or a .png file'),
  ]);
  expect(readFileSync(taken, 'utf8')).toBe('mine');
  const second = await anyvmaf([
    'heatmap',
    reference,
    distorted,
    '--frame',
    '0',
    '-o',
    files.at('none/lost.png'),
  ]);
  expect([second.code, second.stderr]).toEqual([2, expect.stringContaining('its folder does not exist')]);
});

it('reads its options', () => {
  const settings = (...args: string[]) => heatmapSettings(['r.mp4', 'd.mp4', ...args]);
  expect(
    settings('--frame', '9,0x2', '--frame=2', '--scale-of', 'vif', '--block', '8', '--neg'),
  ).toMatchObject({
    frames: [2, 9],
    of: 'vif',
    options: { blockSize: 8, enhnGainLimit: 1 },
  });
  expect(settings()).toMatchObject({ frames: 1, of: 'both', output: '.' });
  expect(settings('--worst', '5', '--offset', '-3')).toMatchObject({ frames: 5, options: { offset: -3 } });
  expect(settings('--help')).toBe('help');
});

it('refuses options that it cannot follow', () => {
  const refused = (...args: string[]) => expect(() => heatmapSettings(['r.mp4', 'd.mp4', ...args]));
  refused('--frame', 'x').toThrow('--frame is "x", but it must be the number of a frame such as 12');
  refused('--frame', '-1').toThrow('--frame is "-1", but it must be');
  refused('--worst', '0').toThrow('--worst is "0", but it must be from 1 to 100 frames');
  refused('--frame', '1', '--worst', '2').toThrow('leave one of them out');
  refused('--scale-of', 'psnr').toThrow('--scale-of is "psnr", but it must be both, vif or adm');
  refused('--block', '12').toThrow('--block is "12", but it must be 4, 8');
  refused('--frame', '1,2', '-o', 'x.png').toThrow('2 frames do not go into the one file "x.png"');
});
