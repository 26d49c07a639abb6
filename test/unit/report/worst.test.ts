import { describe, expect, it } from 'vitest';
import { frameGap, ranking, worstFrames } from '../../../src/report/worst.js';
import { frames, report, vmafModel } from '../../support/report.js';

describe('worstFrames', () => {
  const low = { metric: 'vmaf', worse: 'low' } as const;

  it('lists the lowest frames and passes over neighbours of those it took', () => {
    const values = Array.from({ length: 60 }, (_, i) => 90 + i / 100);
    values[20] = 40;
    values[21] = 41;
    values[29] = 42;
    values[30] = 50;
    values[55] = 45;
    const run = report({ frames: frames('vmaf', values) });
    expect(worstFrames(run, low, 4)).toEqual([
      { frameNum: 20, value: 40 },
      { frameNum: 55, value: 45 },
      { frameNum: 30, value: 50 },
      { frameNum: 0, value: 90 },
    ]);
    expect(worstFrames(run, low, 3, 1).map((frame) => frame.frameNum)).toEqual([20, 21, 29]);
  });

  it('takes the earlier of equal frames', () => {
    const run = report({ frames: frames('vmaf', [5, 5, 5]) });
    expect(worstFrames(run, low, 2, 1).map((frame) => frame.frameNum)).toEqual([0, 1]);
  });

  it('measures distance in frame numbers, also with subsampling', () => {
    const run = report({ frames: [0, 5, 10].map((frameNum) => ({ frameNum, metrics: { vmaf: frameNum } })) });
    expect(worstFrames(run, low, 5, 10).map((frame) => frame.frameNum)).toEqual([0, 10]);
  });

  it('ranks the highest first where high is bad, and passes over missing values', () => {
    const run = report({
      frames: [
        { frameNum: 0, metrics: { cambi: 1 } },
        { frameNum: 1, metrics: {} },
        { frameNum: 2, metrics: { cambi: Number.POSITIVE_INFINITY } },
        { frameNum: 3, metrics: { cambi: Number.NaN } },
      ],
    });
    const worst = worstFrames(run, { metric: 'cambi', worse: 'high' }, 5, 1);
    expect(worst.map((frame) => frame.frameNum)).toEqual([2, 0]);
  });
});

describe('frameGap', () => {
  it('is a second, or ten frames where the rate is not known', () => {
    const at = (num: number, den: number) =>
      frameGap(report({ reference: { ...report().reference, frameRate: { num, den } } }));
    expect(frameGap(report())).toBe(10);
    expect(at(30000, 1001)).toBe(30);
    expect(at(1, 5)).toBe(1);
    expect(at(25, 0)).toBe(10);
  });
});

describe('ranking', () => {
  it('is by the first model that was predicted', () => {
    expect(ranking(report({ models: [vmafModel], metrics: ['psnr_y', 'vmaf'] }))).toEqual({
      metric: 'vmaf',
      worse: 'low',
    });
    expect(ranking(report({ models: [vmafModel], metrics: ['psnr_y'] }))?.metric).toBe('psnr_y');
  });

  it.each([
    [['mse_y', 'psnr_y'], { metric: 'mse_y', worse: 'high' }],
    [['integer_vif_num', 'integer_vif_scale0'], { metric: 'integer_vif_scale0', worse: 'low' }],
    [['integer_aim'], { metric: 'integer_aim', worse: 'high' }],
    [['float_moment_ref1st', 'float_anpsnr'], { metric: 'float_anpsnr', worse: 'low' }],
    [['ciede2000'], { metric: 'ciede2000', worse: 'low' }],
    [['psnr_hvs_cb'], { metric: 'psnr_hvs_cb', worse: 'low' }],
    [['float_ms_ssim'], { metric: 'float_ms_ssim', worse: 'low' }],
    [['motion2', 'adm2'], { metric: 'adm2', worse: 'low' }],
    [['vif_scale0_egl_1'], { metric: 'vif_scale0_egl_1', worse: 'low' }],
    [['cambi_source', 'cambi_full_reference'], { metric: 'cambi_full_reference', worse: 'high' }],
    [['cambi_hrs_1080'], { metric: 'cambi_hrs_1080', worse: 'high' }],
    [['speed_chroma_uv'], { metric: 'speed_chroma_uv', worse: 'high' }],
    [['integer_motion2', 'VMAF_integer_feature_motion_sad_score'], undefined],
  ])('of features %j is %j', (metrics, expected) => {
    expect(ranking(report({ metrics }))).toEqual(expected);
  });
});
