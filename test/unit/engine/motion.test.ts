/**
 * @module test/unit/engine/motion
 * motion2 and motion3: natural clips as libvmaf 3.2.0 gave them, random sequences against the specification's definition
 * written down for whole sequences, and the motion of floating point.
 */
import { describe, expect, it } from 'vitest';
import { numberOption } from '../../../src/metrics/metric.js';
import { parseFeature } from '../../../src/metrics/options.js';
import { finish, planOf, videoFormat } from '../../support/finish.js';
import { seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

/** Records of a sequence from values of s = sad / 256 / (w * h), which is how they are known. */
const fromScores = (scores: readonly number[], samples: number) =>
  scores.map((s) => [Math.round(s * 256 * samples)]);

describe('motion of a natural clip', () => {
  const size = videoFormat(576, 324);
  const one = fromScores([Number.NaN, 4.5794420490866665, 4.2143270861464766], 576 * 324);
  const two = fromScores([Number.NaN, Number.NaN, 7.88149909292883], 576 * 324);

  it.each<[string, number[][], Record<string, number[]>]>([
    [
      'motion=debug=true',
      one,
      {
        VMAF_integer_feature_motion_sad_score: [0, 4.5794420490866665, 4.2143270861464766],
        integer_motion: [0, 4.5794420490866665, 4.2143270861464766],
        integer_motion2: [0, 4.2143270861464766, 4.2143270861464766],
        integer_motion3: [4.5794420490866665, 4.2143270861464766, 4.2143270861464766],
      },
    ],
    [
      'motion=motion_force_zero=true',
      [[], [], []],
      {
        VMAF_integer_feature_motion_sad_score_force_0: [0, 0, 0],
        integer_motion2_force_0: [0, 0, 0],
        integer_motion3_force_0: [0, 0, 0],
      },
    ],
    [
      'motion=motion_five_frame_window=true:motion_moving_average=true',
      two,
      {
        VMAF_integer_feature_motion_sad_score_mffw_mma: [0, 0, 7.88149909292883],
        integer_motion2_mffw_mma: [0, 0, 7.88149909292883],
        integer_motion3_mffw_mma: [7.88149909292883, 7.88149909292883, 7.88149909292883],
      },
    ],
    [
      'motion=motion_fps_weight=0.5:motion_blend_factor=0.5:motion_blend_offset=2:motion_max_val=3',
      one,
      {
        'VMAF_integer_feature_motion_sad_score_mbf_0.5_mbo_2_mfw_0.5_mmxv_3': [
          0, 2.2897210245433333, 2.1071635430732383,
        ],
        'integer_motion2_mbf_0.5_mbo_2_mfw_0.5_mmxv_3': [0, 2.1071635430732383, 2.1071635430732383],
        'integer_motion3_mbf_0.5_mbo_2_mfw_0.5_mmxv_3': [
          2.1448605122716664, 2.053581771536619, 2.053581771536619,
        ],
      },
    ],
  ])('%s', (feature, records, expected) => {
    const plan = planOf([feature], size);
    const finished = finish(plan, records);
    expect(Object.fromEntries(plan.names.map((name) => [name, finished.series(name)]))).toEqual(expected);
  });

  it('is 0 for a single frame', () => {
    const finished = finish(planOf(['motion'], size), [[Number.NaN]]);
    expect(finished.frames[0]?.values).toEqual(Float64Array.of(0, 0, 0));
  });

  it('of libvmaf 3.0 has no motion3 and is scaled in single precision', () => {
    // The specification's 61x47 12-bit picture; libvmaf 3.0.0 gave these values.
    const plan = planOf(['motion'], videoFormat(61, 47, { bitDepth: 12 }), 'libvmaf-3.0');
    const finished = finish(plan, [[Number.NaN], [11383250], [11218244]]);
    expect(plan.names).toEqual(['integer_motion2', 'integer_motion']);
    expect(finished.series('integer_motion2')).toEqual([0, 15.284710884094238, 15.284710884094238]);
    expect(plan.extraction.calls.map(({ run, back }) => [run, back])).toEqual([['motion_legacy', 1]]);
  });
});

/** Section 2.2 of the specification for a whole sequence at once. */
function wholeSequence(
  sads: readonly number[],
  feature: string,
  samples: number,
): { motion2: number[]; motion3: number[] } {
  const instance = parseFeature(feature);
  const option = (name: string) => numberOption(instance, name);
  const { options } = instance;
  const q = options.motion_five_frame_window === true ? 2 : 1;
  const maximum = option('motion_max_val');
  const cap = (x: number) => Math.min(x, maximum);
  const factor = option('motion_blend_factor');
  const offset = option('motion_blend_offset');
  const blend = (x: number) => x * factor + (1 - factor) * Math.min(offset, x);
  const s = sads.map((sad, n) => (n < q ? 0 : cap((sad / 256 / samples) * option('motion_fps_weight'))));
  const at = (n: number) => s[n] ?? Number.NaN;
  const n = s.length;
  const motion2 = s.map((_, i) => {
    if (i < q) return 0;
    if (i + 1 >= n) return at(i);
    return i - (q - 1) >= q ? Math.min(at(i - (q - 1)), at(i + 1)) : at(i + 1);
  });
  const stamp = n > q ? cap(blend(at(q))) : 0;
  const processed = motion2.map((m2, i) => (i < q ? stamp : cap(blend(m2))));
  const motion3 = processed.map((p, i) =>
    i >= q && options.motion_moving_average === true ? (p + (processed[i - 1] ?? 0)) / 2 : p,
  );
  return { motion2, motion3 };
}

it('motion of random sequences is what the whole sequence defines', () => {
  const seed = 22;
  const random = seeded(seed);
  const size = videoFormat(64, 48);
  for (let round = 0; round < tier(120, 400); round++) {
    const window = random.int(0, 1) === 1;
    const feature = [
      `motion=motion_five_frame_window=${window}`,
      `motion_moving_average=${random.int(0, 1) === 1}`,
      `motion_blend_factor=${random.pick([1, 0.5, 0.25])}`,
      `motion_blend_offset=${random.pick([40, 10, 3])}`,
      `motion_fps_weight=${random.pick([1, 0.5, 2])}`,
      `motion_max_val=${random.pick([10000, 18, 4])}`,
    ].join(':');
    const lead = window ? 2 : 1;
    const length = random.int(1, 9);
    const sads = Array.from({ length }, (_, i) =>
      i < lead ? Number.NaN : random.int(0, 20 * 256 * 64 * 48),
    );
    const expected = wholeSequence(sads, feature, 64 * 48);
    const plan = planOf([feature], size);
    const finished = finish(
      plan,
      sads.map((sad) => [sad]),
    );
    const [, motion2 = '', motion3 = ''] = plan.names;
    const what = `seed ${seed}, round ${round}: ${feature} of ${sads.join(' ')}`;
    expect(finished.series(motion2), what).toEqual(expected.motion2);
    expect(finished.series(motion3), what).toEqual(expected.motion3);
  }
});

const HD = videoFormat(1920, 1080);

describe('float_motion', () => {
  it('float_motion is damped by the next frame, and motion3 begins with the second frame’s', () => {
    const { series } = finish(planOf(['float_motion'], HD), [[Number.NaN], [4], [2], [6]]);
    expect(series('motion')).toEqual([0, 4, 2, 6]);
    expect(series('motion2')).toEqual([0, 2, 2, 6]);
    expect(series('motion3')).toEqual([4, 2, 2, 6]);
  });

  it('float_motion is weighted, blended and limited', () => {
    const feature =
      'float_motion=motion_fps_weight=2:motion_blend_factor=0.5:motion_blend_offset=6:motion_max_val=8';
    const { series } = finish(planOf([feature], HD), [[Number.NaN], [4], [2], [6]]);
    const suffix = '_mbf_0.5_mbo_6_mfw_2_mmxv_8';
    expect(series(`motion${suffix}`)).toEqual([0, 8, 4, 8]);
    expect(series(`motion2${suffix}`)).toEqual([0, 4, 4, 8]);
    // Of 8, 4, 4 and 12: half of it and half of at most 6.
    expect(series(`motion3${suffix}`)).toEqual([7, 4, 4, 8]);
  });

  it('a single frame has no motion', () => {
    const { series } = finish(planOf(['float_motion'], HD), [[Number.NaN]]);
    expect([series('motion'), series('motion2'), series('motion3')]).toEqual([[0], [0], [0]]);
  });
});
