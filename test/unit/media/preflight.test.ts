/**
 * @module test/unit/media/preflight
 * Every finding of preflight: its cause, severity, values, and the option that fixes it.
 */
import { describe, expect, it } from 'vitest';
import { findingsInFlags } from '../../../src/cli/exit.js';
import { type Hint, hintText } from '../../../src/core/errors.js';
import { filtersFor } from '../../../src/media/filters/apply.js';
import { checkChain } from '../../../src/media/filters/chain.js';
import {
  FINDING_CODES,
  type FindingCode,
  type PreflightContext,
  type SideFacts,
  type SideMeasurements,
} from '../../../src/media/preflight/findings.js';
import { preflight } from '../../../src/media/preflight/index.js';
import type { VideoInfo } from '../../../src/media/types.js';
import { ALIGNED, cfr, coloursBy, DISTORTED, REFERENCE, rounded, without } from '../../support/align.js';

type Facts = Partial<SideFacts>;

/** Findings of a pair that differs from a good one by these facts. */
const findings = (reference: Facts, distorted: Facts, context: PreflightContext = {}) =>
  findingsInFlags(preflight({ ...REFERENCE, ...reference }, { ...DISTORTED, ...distorted }, context));

/** The one finding expected, except that another shape means another size, too. */
function only(
  code: FindingCode,
  reference: Facts,
  distorted: Facts,
  context: PreflightContext,
  besides: FindingCode = 'size',
) {
  const found = findings(reference, distorted, context);
  expect(found.filter((other) => ![code, 'size', besides].includes(other.code))).toEqual([]);
  return found.find((wanted) => wanted.code === code);
}

/** Frame times in milliseconds at a constant rate, without some frames. */
const times = (frames: number, rate: number, left: readonly number[] = []) =>
  rounded(without(cfr(frames, rate), ...left));

/** Times of a variable rate. */
const UNEVEN = Float64Array.from({ length: 250 }, (_, k) => 0.04 * k + 0.0141 * Math.sin(k) + 0.3 * (k >> 6));

/** A picture of 16 by 16 boxes with a different pattern in each row. */
const RAMP = Float32Array.from(
  { length: 256 },
  (_, at) => 40 + ((Math.floor(at / 16) * 37 + (at % 16) * 5) % 160),
);
const BAR_ROWS = (16 * 140) / 1080;
const isBar = (at: number) => at / 16 < BAR_ROWS || Math.floor(at / 16) + 1 > 16 - BAR_ROWS;
const hiddenBehindBars = (level: number, at: number) => (isBar(at) ? 16 : level);
const squeezedBetweenBars = (_: number, at: number) => {
  const row = Math.floor((16 * (Math.floor(at / 16) + 0.5 - BAR_ROWS)) / (16 - 2 * BAR_ROWS));
  return isBar(at) ? 16 : (RAMP[row * 16 + (at % 16)] ?? 16);
};

const NO_BORDERS = { left: 0, top: 0, right: 0, bottom: 0 };
const measured = (sharpness: readonly (number | null)[], top = 0, bottom = 0) => {
  const borders = { ...NO_BORDERS, top, bottom };
  return { frames: sharpness.map((_, k) => k), sharpness, borders: { certain: borders, possible: borders } };
};

/** Ten moving frames with or without fields; interlaced pictures start with the top field. */
const withFields = (shown: 'whole' | 'woven' | 'unordered' | 'pulldown' | 'exchanged'): SideMeasurements => ({
  ...measured([0.1, 0.1]),
  fields: Array.from({ length: 10 }, (_, frame) => {
    const woven = shown === 'woven' || shown === 'unordered' || (shown === 'pulldown' && frame % 5 >= 3);
    const exchanged = shown === 'exchanged' ? 0.7 : 1.1;
    const order = shown === 'unordered' && frame % 2 > 0 ? -0.8 : 0.8;
    return { frame, moves: true, combed: woven ? 0.5 : 0, order: woven ? order : 0, exchanged };
  }),
});

const TRACK = { width: 1920, height: 1080, isDefault: true };

describe('preflight', () => {
  it.each([
    [{ cropDistorted: '1920:1080:8:4' }, '--crop-dis 1920:800:8:144', 'crop=1920:1080:8:4,'],
    [{ cropDistorted: '1920:1080' }, '--vf-dis crop=1920:800:0:140', 'crop=1920:1080,'],
    [{ vfDistorted: 'hqdn3d' }, '--vf-dis hqdn3d,crop=1920:800:0:140', 'hqdn3d,'],
    [
      { cropDistorted: '1920:1080:8:4', vfDistorted: 'hqdn3d' },
      '--vf-dis hqdn3d,crop=1920:800:0:140',
      'crop=1920:1080:8:4,hqdn3d,',
    ],
    [{ cropReference: '1920:1080:8:4', vfReference: 'hqdn3d' }, '--crop-dis 1920:800:0:140', ''],
  ] as const)('advises a crop beside %j', (context, fix, before) => {
    const distorted = { ...DISTORTED, measured: measured([0.1], 140, 139) };
    const found = preflight({ ...REFERENCE, measured: measured([0.1]) }, distorted, context);
    const [borders] = found.filter(({ code }) => code === 'black-borders');
    expect(borders?.fix).toContain(` -vf ${before}crop=1920:800:0:140 `);
    expect(findingsInFlags(found).find(({ code }) => code === 'black-borders')?.fix).toBe(fix);
  });

  it('advises against pairing by time if pulldown makes the rates differ', () => {
    const fix = '--vf-dis fieldmatch=order=tff,decimate';
    const film = { frameRate: { num: 24, den: 1 }, frameCount: 240 };
    const video = { frameRate: { num: 30, den: 1 }, frameCount: 300, measured: withFields('pulldown') };
    const found = findings(film, video).map((one) => [one.code, one.fix]);
    expect(found).toEqual([
      ['interlaced', fix],
      ['frame-rate', undefined],
    ]);
  });

  it('finds no problems in a good pair', () => {
    const facts = { measured: measured([0.1, 0.1]), timestamps: times(250, 25) };
    const good = { ...facts, measured: measured([0.08, 0.09]) };
    expect(findings(facts, good, { alignment: ALIGNED })).toEqual([]);
  });

  it('does not judge the contrast of nearly flat pictures', () => {
    const facts = (spread: number) => {
      const square = Float32Array.from({ length: 256 }, (_, at) => 235 - (at % 2) * spread);
      return { measured: { ...measured([0.1]), squares: [square] } };
    };
    const alignment = { ...ALIGNED, similarity: 0.99, levels: { gain: 1.86, bias: -200 } };
    expect(findings(facts(2), facts(4), { alignment })).toEqual([]);
    expect(findings(facts(60), facts(60), { alignment }).map(({ code }) => code)).toEqual(['levels']);
  });

  describe('beside a video without a matrix', () => {
    const coloured = (matrix: 601 | 709) => {
      const { y, ...chroma } = coloursBy(matrix, 0.2);
      return { ...measured([0.1]), squares: [y], chroma: [chroma] };
    };
    const [by709, by601] = [coloured(709), coloured(601)];
    const small = { width: 720, height: 480 };
    const seen = (reference: Facts, distorted: Facts) => {
      const context = { alignment: ALIGNED };
      const found = findings({ ...small, ...reference }, { ...small, ...distorted }, context);
      return found.filter(({ code }) => /^(matrix|chroma)$/.test(code));
    };

    it('accepts equal colours, whatever is usual', () => {
      expect(seen({ measured: by709 }, { measured: by709, matrix: 'bt709' })).toEqual([]);
      expect(seen({ measured: by709, matrix: 'bt709' }, { measured: by709 })).toEqual([]);
      expect(seen({ measured: by601 }, { measured: by601 })).toEqual([]);
    });

    it.each([
      ['reference', { measured: by709 }, { measured: by601, matrix: 'smpte170m' }, 'bt601', 'bt709'],
      ['distorted', { measured: by709, matrix: 'bt709' }, { measured: by601 }, 'bt601', 'bt709'],
      ['reference and distorted', { measured: by601 }, { measured: by709 }, 'bt709', 'bt601'],
    ])('finds a conversion of colours that %s does not state', (_, reference, distorted, is, was) => {
      const found = seen(reference, distorted);
      expect(found).toMatchObject([{ code: 'matrix', severity: 'warning' }]);
      expect(found[0]?.fix).toContain(`--vf-dis scale=in_color_matrix=${is}:out_color_matrix=${was}:`);
    });

    it('does not warn of a conversion from RGB', () => {
      const rgb = { measured: by601, matrix: 'smpte170m', fromRgb: 'pictures' } as const;
      const message = expect.stringContaining('which fits the colours of untagged distorted');
      expect(seen(rgb, { ...small, measured: by601 })).toMatchObject([{ severity: 'info', message }]);
    });
  });

  it('accepts Y4M like tracks', () => {
    const info: VideoInfo = {
      ...{ name: 'a.y4m', container: 'y4m', width: 1920, height: 1080, bitDepth: 8, chroma: '420' },
      ...{ frameCount: null, warnings: [] },
    };
    expect(preflight(info, { ...info, name: 'b.y4m' })).toEqual([]);
  });

  it('compares the colours of frames with the same picture, which frames of one moment may not have', () => {
    const square = (from: number) =>
      Float32Array.from({ length: 256 }, (_, i) => (i >= from && i < from + 40 ? 200 : 16));
    const side = (from: number, colour: number) => ({
      measured: { ...coloured(() => [colour, 128]), squares: Array(3).fill(square(from)) },
    });
    const codes = (from: number) =>
      findings(side(0, 90), side(from, 170), { alignment: ALIGNED }).map(({ code }) => code);
    expect(codes(0)).toContain('chroma');
    expect(codes(20)).not.toContain('chroma');
  });

  it('lists the most severe first', () => {
    const found = findings({}, { ...NO_SIZE, bitDepth: 10, rotation: 90 }, { scale: 'none' });
    expect(found.map(({ severity }) => severity)).toEqual(['error', 'info', 'info']);
  });

  it('writes whole sentences on one line, with a fix for each warning', () => {
    const bad = findings(
      { sampleAspect: { num: 1, den: 1 }, transfer: 'smpte2084', fieldOrder: 'top-first' },
      { width: 640, height: 480, frameRate: { num: 30, den: 1 }, frameCount: 300, colorRange: 'full' },
    );
    expect(bad.length).toBeGreaterThan(5);
    for (const { message, severity, fix } of bad) {
      expect(message).toMatch(/^(?:[A-Z0-9]|vmaf_)[^\n]*[^.]\.$/);
      if (severity === 'warning') expect(fix).toBeDefined();
    }
  });
});

interface Case {
  readonly what: string;
  readonly code: FindingCode;
  readonly severity: 'error' | 'warning' | 'info';
  readonly reference?: Facts;
  readonly distorted?: Facts;
  /** Facts of both videos. */
  readonly both?: Facts;
  readonly context?: PreflightContext;
  readonly says?: string;
  readonly values?: readonly unknown[];
  readonly fix?: string;
  /** The command that prepares a file instead. */
  readonly command?: string;
  /** Another expected finding. */
  readonly besides?: FindingCode;
}

/** Options that a hint advises, possibly instead of commands. */
const optionsIn = (hint: Hint) =>
  hint.purpose === 'prepare' ? (hint.instead ?? []) : hint.value === undefined ? [] : [hint];

const cases =
  (severity: Case['severity']) =>
  (what: string, code: FindingCode, more: Omit<Case, 'what' | 'code' | 'severity'>): Case => ({
    ...{ what, code, severity, ...more },
  });
const [error, warning, info] = [cases('error'), cases('warning'), cases('info')];

const SWAP = '--vf-dis shuffleplanes=0:2:1';

/** Chroma of three frames, by the index in a square of 256. */
type Chroma = (i: number) => readonly [cb: number, cr: number];
const coloured = (at: Chroma) => {
  const plane = (k: 0 | 1) => Float32Array.from({ length: 256 }, (_, i) => at(i)[k]);
  return { ...measured([0.1, 0.1, 0.1]), chroma: Array(3).fill({ cb: plane(0), cr: plane(1) }) };
};

type Recoloured = readonly [string, Chroma, values: readonly string[], says: string, fix?: string];
const CHROMA: readonly Recoloured[] = [
  ['no colours', () => [128, 128], ['coloured', 'grey'], 'Distorted is grey but reference has colour'],
  ['a green picture', () => [0, 0], ['coloured', '0, 0'], 'Distorted has constant chroma (Cb 0, Cr 0)'],
  ['one plane only', (i) => [128, 170 - i / 3], ['coloured', 'Cb 128'], 'Cb of distorted is constant (128)'],
  ['swapped planes', (i) => [170 - i / 3, 90 + i / 4], ['Cb, Cr', 'Cr, Cb'], 'swapped', SWAP],
  [
    'other colours',
    (i) => [170 - i / 4, 90 + i / 3],
    ['original', 'different'],
    'differs from reference in colour',
  ],
];

const TONE_MAPPED =
  'zscale=tin=smpte2084:pin=bt2020:min=bt2020nc:t=linear:p=bt2020:m=gbr:npl=100,format=gbrpf32le,tonemap=hable,' +
  'zscale=p=bt709:t=bt709:m=bt709:r=limited,format=yuv420p';

const OTHER = { ...ALIGNED, ambiguous: true, reason: 'unrelated', confidence: 0, similarity: 0.2 } as const;
const MATCHED = { alignment: ALIGNED };
/** An alignment that measured these levels, repetitions of the distorted video, or another offset. */
const levels = (gain: number, bias: number) => ({ alignment: { ...ALIGNED, levels: { gain, bias } } });
const repeated = (distorted: number) => ({
  alignment: { ...ALIGNED, repeated: { reference: 0, distorted } },
});
const shifted = (offset: number) => ({
  alignment: { ...ALIGNED, offset, candidates: [{ offset, similarity: 0.99 }] },
});

const AT_30 = { frameRate: { num: 30, den: 1 }, frameCount: 300 };
const HALVED = {
  reference: { frameRate: { num: 50, den: 1 }, timestamps: times(500, 50), frameCount: 500 },
  distorted: { timestamps: times(250, 25) },
};
const EVEN = { timestamps: times(250, 25) };
const GAPS = { timestamps: times(250, 25, [30, 90, 91]) };
/** 249 even frames, and one at another time. */
const withOneAt = (time: number) => ({ timestamps: Float64Array.from([...times(249, 25), time]).sort() });
const ORIGINAL = { measured: coloured((i) => [90 + i / 4, 170 - i / 3]) };
const FOUR_K = { name: 'vmaf_4k_v0.6.1' };
const NO_SIZE = { width: 1280, height: 720 };
const UHD = { width: 3840, height: 2160 };

const CASES: readonly Case[] = [
  warning('another size without an option', 'size', {
    distorted: NO_SIZE,
    values: ['1920x1080', '1280x720'],
    fix: 'to accept, pass --scale bicubic',
    says: 'Distorted is 1280x720 but reference is 1920x1080; the distorted video is scaled to 1920x1080 (bicubic)',
  }),
  info('another size with a chosen filter', 'size', {
    distorted: NO_SIZE,
    context: { scale: 'lanczos' },
    says: '(lanczos)',
  }),
  error('another size that must not be scaled', 'size', {
    distorted: NO_SIZE,
    context: { scale: 'none' },
    fix: '--scale bicubic',
  }),
  info('a scaled reference', 'size', {
    distorted: NO_SIZE,
    context: { comparedSize: NO_SIZE },
    says: 'the reference is scaled to 1280x720',
  }),
  warning('contradicting labels of sample aspect', 'sample-aspect', {
    reference: { sampleAspect: { num: 1, den: 1 } },
    distorted: { sampleAspect: { num: 4, den: 3 } },
    values: ['1', '4/3'],
    fix: '--vf-dis setsar=1',
    command: 'ffmpeg -i encode.mp4 -vf setsar=1 -an -c:v ffv1 encode-prepared.mkv',
  }),
  info('anamorphic video of the same shape', 'sample-aspect', {
    distorted: { width: 1440, sampleAspect: { num: 4, den: 3 } },
    context: { scale: 'bicubic' },
    values: [null, '4/3'],
  }),
  warning('a picture of another shape', 'display-aspect', {
    reference: { width: 720, height: 480 },
    distorted: { width: 384, height: 288 },
    context: { scale: 'bicubic', models: [], alignment: ALIGNED },
    values: [1.5, 1.333],
    fix: '--vf-dis setsar=9/8',
    command: 'ffmpeg -i encode.mp4 -vf setsar=9/8 -an -c:v ffv1 encode-prepared.mkv',
  }),
  warning('a crop of a picture with an odd width', 'display-aspect', {
    reference: { width: 853, height: 480 },
    distorted: { width: 426, height: 200 },
    context: { scale: 'bicubic', models: [] },
    fix: '--crop-ref 852:400',
  }),
  info('a rotated picture', 'rotation', { distorted: { rotation: 90 }, values: [0, 90] }),
  info('a cropped picture', 'crop', {
    reference: { crop: { left: 0, top: 4, right: 0, bottom: 4 } },
    values: ['left 0, top 4, right 0, bottom 4', null],
  }),
  warning('rows stored beyond the picture', 'framing', {
    distorted: { height: 1088 },
    context: {
      framing: { whole: 'distorted', area: { width: 1920, height: 1080, x: 0, y: 0 }, padding: true },
      // Wrongly scaled pictures.
      alignment: { ...ALIGNED, offset: 1, similarity: 0.97, levels: { gain: 0.8, bias: 0 } },
    },
    values: ['1920x1080', '1920x1088'],
    fix: '--crop-dis 1920:1080:0:0',
    command: 'ffmpeg -i encode.mp4 -vf crop=1920:1080:0:0 -an -c:v ffv1 encode-prepared.mkv',
    says: 'reference is only the area of 1920x1080 at 0,0 in distorted, outside of which is only padding',
  }),
  warning('a part of the picture', 'framing', {
    distorted: { height: 800 },
    context: {
      framing: { whole: 'reference', area: { width: 1920, height: 800, x: 0, y: 100 }, padding: false },
    },
    values: ['1920x1080', '1920x800'],
    fix: '--crop-ref 1920:800:0:100',
    command: 'ffmpeg -i master.mov -vf crop=1920:800:0:100 -an -c:v ffv1 master-prepared.mkv',
    says: 'distorted is only the area of 1920x800 at 0,100 in reference; scaled',
  }),
  warning('bars in a video of full range', 'black-borders', {
    reference: { colorRange: 'full', measured: measured([0.1]) },
    distorted: { colorRange: 'full', measured: measured([0.1], 140, 139) },
    fix: '--crop-dis 1920:800:0:140',
    command:
      'ffmpeg -i encode.mp4 -vf crop=1920:800:0:140,scale=in_range=full:out_range=full -color_range pc -an -c:v ffv1 encode-prepared.mkv',
  }),
  warning('bars in the distorted video only', 'black-borders', {
    reference: { measured: measured([0.1]) },
    distorted: { measured: measured([0.1], 140, 139) },
    fix: '--crop-dis 1920:800:0:140',
    command: 'ffmpeg -i encode.mp4 -vf crop=1920:800:0:140 -an -c:v ffv1 encode-prepared.mkv',
    says: 'Distorted 1920x1080 has black borders (top 140, bottom 139) where reference has picture',
  }),
  warning('bars in the reference only', 'black-borders', {
    reference: { measured: measured([0.1], 140, 140) },
    distorted: { measured: measured([0.1]) },
    fix: '--crop-ref 1920:800:0:140',
    command: 'ffmpeg -i master.mov -vf crop=1920:800:0:140 -an -c:v ffv1 master-prepared.mkv',
    says: 'Reference 1920x1080 has black borders',
  }),
  warning('bars that hide a part of the picture', 'black-borders', {
    reference: { measured: { ...measured([0.1]), squares: [RAMP] } },
    distorted: { measured: { ...measured([0.1], 140, 139), squares: [RAMP.map(hiddenBehindBars)] } },
    fix: '--crop-dis 1920:800:0:140 --crop-ref 1920:800:0:140',
    command:
      'ffmpeg -i encode.mp4 -vf crop=1920:800:0:140 -an -c:v ffv1 encode-distorted-prepared.mkv && ' +
      'ffmpeg -i master.mov -vf crop=1920:800:0:140 -an -c:v ffv1 master-reference-prepared.mkv',
  }),
  warning('bars around a smaller copy of the picture', 'black-borders', {
    reference: { measured: { ...measured([0.1]), squares: [RAMP] } },
    distorted: { measured: { ...measured([0.1], 140, 139), squares: [RAMP.map(squeezedBetweenBars)] } },
    fix: '--crop-dis 1920:800:0:140',
  }),
  warning('bars in both, larger around a smaller copy of the picture', 'black-borders', {
    reference: { measured: { ...measured([0.1], 140, 140), squares: [RAMP.map(hiddenBehindBars)] } },
    distorted: { width: 1440, measured: measured([0.1], 240, 240) },
    context: { scale: 'bicubic' },
    fix: '--crop-dis 1440:600:0:240 --crop-ref 1920:800:0:140',
    besides: 'display-aspect',
  }),
  info('the same bars in both', 'black-borders', {
    both: { measured: measured([0.1], 140, 140) },
    says: 'over 26 % of the picture',
  }),
  warning('a clock that is set back in both', 'clock-set-back', {
    reference: { frameCount: 4, timestamps: Float64Array.of(0, 0.04, 0.08, 0.12), setBacks: [0.08] },
    distorted: { frameCount: 4, timestamps: Float64Array.of(0, 0.04, 0.08, 0.12), setBacks: [0.04, 0.12] },
    values: [1, 2],
    says: 'reference after 2 of 4 frames (0.080 s), distorted after 1, 3 of 4 frames (0.040 s, 0.120 s); all',
  }),
  warning('no rate beside a metric of time', 'no-frame-rate', {
    both: { frameRate: undefined },
    context: { rated: ['cvvdp=display=standard_fhd:fps=25'] },
    says: 'treats each frame as a still',
    fix: '--feature cvvdp=display=standard_fhd:fps=25',
  }),
  warning('another rate', 'frame-rate', {
    distorted: AT_30,
    values: ['25', '30'],
    fix: 'to accept, pass --frame-rate-policy nearest',
  }),
  warning('an encode with half the frames', 'frame-rate', {
    ...HALVED,
    values: ['50', '25'],
    fix: '--pair-by distorted',
  }),
  info('an encode with half the frames, paired by these', 'frame-rate', {
    ...HALVED,
    context: { pairBy: 'distorted' },
    says: 'each distorted frame is compared with the reference frame at its time',
  }),
  error('another rate with the strict policy', 'frame-rate', {
    distorted: AT_30,
    context: { frameRatePolicy: 'strict' },
    fix: '--frame-rate-policy nearest',
  }),
  info('another rate with the nearest policy', 'frame-rate', {
    distorted: AT_30,
    context: { frameRatePolicy: 'nearest' },
  }),
  warning('fewer frames', 'frame-count', {
    distorted: { frameCount: 248, duration: 9.92 },
    values: [250, 248],
    fix: '--offset auto',
    says: '248 pairs can be compared',
  }),
  warning('a loss of most frames', 'lost-frames', {
    distorted: { frameCount: 100, duration: 4 },
    values: [250, 100],
    fix: '--offset auto',
    says: 'a score of 40 % of the frames says nothing about the others',
  }),
  warning('fewer frames than the duration implies', 'lost-frames', {
    distorted: { timestamps: times(200, 25), duration: 10 },
    values: [250, 200],
    says: 'its duration of 10 s implies about 250, so it is damaged or incomplete',
  }),
  warning('an average rate as a number', 'frame-rate', {
    distorted: { frameRate: { num: 136, den: 5 }, frameCount: 272 },
    says: '27.2 frames per second',
  }),
  info('fewer frames, explained by an offset', 'frame-count', {
    distorted: { frameCount: 248, duration: 9.92 },
    context: { offset: 2 },
    says: '248 pairs',
  }),
  info('fewer frames, explained by a detected offset', 'frame-count', {
    distorted: { frameCount: 248, duration: 9.92 },
    context: { alignment: { ...ALIGNED, offset: 2 } },
    fix: undefined,
  }),
  info('another duration, explained by a detected offset', 'duration', {
    distorted: { frameCount: null, duration: 9 },
    context: { alignment: { ...ALIGNED, offset: 25 } },
    fix: undefined,
  }),
  warning('another duration without frame counts', 'duration', {
    distorted: { frameCount: null, duration: 8 },
    values: [10, 8],
    fix: 'to accept, pass --range 0s-8s',
  }),
  warning('a variable rate', 'variable-frame-rate', {
    reference: { timestamps: times(250, 25) },
    distorted: { timestamps: Float64Array.from({ length: 250 }, (_, k) => 0.04 * k + 0.014 * Math.sin(k)) },
    values: [false, true],
    fix: 'to accept, pass --frame-rate-policy nearest',
  }),
  warning('missing frames', 'missing-frames', {
    reference: { timestamps: times(250, 25) },
    distorted: { timestamps: times(250, 25, [100, 101, 200]), frameCount: 247 },
    context: { partial: true },
    values: [0, 3],
    says: 'Distorted lacks 3 frames after frame 99, 197',
  }),
  warning('repeated pictures', 'duplicate-frames', {
    context: repeated(12),
    values: [0, 12],
    says: 'Distorted repeats the previous picture in 12 frames',
  }),
  warning('equal times', 'duplicate-frames', {
    reference: { timestamps: times(250, 25) },
    distorted: withOneAt(3.0004),
    values: [0, 1],
  }),
  warning('interlaced video', 'interlaced', {
    reference: { fieldOrder: 'top-first' },
    values: ['top-first', 'progressive'],
    fix: '--deinterlace',
    command: 'ffmpeg -i master.mov -vf bwdif=send_frame -an -c:v ffv1 master-prepared.mkv',
  }),
  info('whole pictures labelled as interlaced', 'interlaced', {
    reference: { fieldOrder: 'top-first', measured: withFields('whole') },
    fix: undefined,
    says: 'the pictures are progressive',
  }),
  warning('combed pictures without a label', 'interlaced', {
    distorted: { fieldOrder: 'progressive', measured: withFields('woven') },
    values: ['progressive', 'top-first'],
    fix: '--deinterlace',
    says: 'as the pictures of distorted show, although it is not labelled',
    command: 'ffmpeg -i encode.mp4 -vf bwdif=mode=send_frame:parity=tff -an -c:v ffv1 encode-prepared.mkv',
  }),
  warning('combed pictures of both without labels', 'interlaced', {
    both: { fieldOrder: 'progressive', measured: withFields('woven') },
    values: ['top-first', 'top-first'],
    fix: '--deinterlace',
    says: 'distorted top-first), as their pictures show, although neither is labelled; VMAF',
  }),
  warning('combed pictures of unknown field order', 'interlaced', {
    distorted: { fieldOrder: 'unknown', measured: withFields('unordered') },
    values: ['progressive', 'unknown order'],
    says: 'Distorted is interlaced (unknown order) but reference is not, as the pictures of distorted show',
  }),
  warning('another field order than labelled', 'interlaced', {
    distorted: { fieldOrder: 'bottom-first', measured: withFields('woven') },
    values: ['progressive', 'top-first'],
    fix: '--deinterlace',
    says: 'although distorted is labelled bottom-first',
  }),
  warning('film with pulldown', 'interlaced', {
    distorted: { measured: withFields('pulldown') },
    values: ['progressive', 'pulldown'],
    fix: '--vf-dis fieldmatch=order=tff,decimate',
  }),
  warning('exchanged lines', 'interlaced', {
    reference: { measured: withFields('exchanged') },
    values: ['exchanged', 'progressive'],
    fix: '--vf-ref il=ls=1:cs=1',
  }),
  warning('a better offset', 'offset', {
    context: shifted(3),
    values: [3, 0],
    fix: '--offset 3',
    says: 'distorted frame 0 shows reference frame 3',
  }),
  warning('an offset outside of the search', 'offset', {
    context: { alignment: { ...ALIGNED, offset: 50, candidates: [], ambiguous: true, reason: 'edge' } },
    fix: '--offset auto --window 500',
  }),
  info('content without a clear offset', 'offset-unclear', {
    context: { alignment: { ...ALIGNED, ambiguous: true, reason: 'static', confidence: 0.01 } },
  }),
  warning('videos of different things', 'unrelated', { context: { alignment: OTHER } }),
  warning('videos of different things after a full offset search', 'unrelated', {
    context: { offsetSearched: true, alignment: OTHER },
    fix: undefined,
    says: 'The offset search found no clear answer',
  }),
  warning('videos of different things after a small offset search', 'unrelated', {
    context: { offsetSearched: true, window: 25, alignment: OTHER },
    fix: '--offset auto --window 500',
  }),
  info('another bit depth', 'bit-depth', { reference: { bitDepth: 10 }, values: [10, 8] }),
  info('another chroma format', 'chroma-format', {
    reference: { chroma: '422' },
    values: ['4:2:2', '4:2:0'],
  }),
  warning('another range', 'color-range', {
    reference: { colorRange: 'limited' },
    distorted: { colorRange: 'full' },
    values: ['limited', 'full'],
    fix: '--color-range limited',
    command:
      'ffmpeg -i encode.mp4 -vf scale=in_range=full:out_range=limited -color_range tv -an -c:v ffv1 encode-prepared.mkv',
  }),
  warning('limited range expanded to full, and labelled', 'color-range', {
    distorted: { colorRange: 'full' },
    context: levels(1.1644, -18.63),
    says: 'the score is too high',
  }),
  warning('full range reduced to limited, and labelled', 'color-range', {
    reference: { colorRange: 'full' },
    context: levels(0.8588, 16),
    says: 'the score is too low',
  }),
  warning('another label of the same samples', 'color-range', {
    reference: { colorRange: 'limited' },
    distorted: { colorRange: 'full' },
    context: MATCHED,
    says: 'so only a label differs: the score is right',
    fix: 'ffmpeg -i encode.mp4 -c copy -bsf:v h264_metadata=video_full_range_flag=0 encode-prepared.mp4',
  }),
  info('a label of the same samples that the other video lacks', 'color-range', {
    distorted: { colorRange: 'full' },
    context: MATCHED,
    says: 'so only a label differs: the score is right',
    fix: 'ffmpeg -i encode.mp4 -c copy -bsf:v h264_metadata=video_full_range_flag=0 encode-prepared.mp4',
  }),
  // 16..235 to 0..255: gain 255/219 = 1.1644, bias -16 * 1.1644 = -18.63.
  warning('limited range expanded to full, unlabelled', 'levels', {
    context: levels(1.1644, -18.63),
    fix: '--vf-dis scale=in_range=full:out_range=limited',
    command:
      'ffmpeg -i encode.mp4 -vf scale=in_range=full:out_range=limited -color_range tv -an -c:v ffv1 encode-prepared.mkv',
    says: 'limited range was expanded to full',
  }),
  warning('full range reduced to limited, unlabelled', 'levels', {
    context: levels(0.8588, 16),
    fix: '--vf-dis scale=in_range=limited:out_range=full',
    command:
      'ffmpeg -i encode.mp4 -vf scale=in_range=limited:out_range=full -color_range pc -an -c:v ffv1 encode-prepared.mkv',
    says: 'full range was reduced to limited',
  }),
  warning('a brighter picture', 'levels', { context: levels(1, 9), says: '9 levels brighter' }),
  warning('other primaries', 'primaries', {
    reference: { primaries: 'bt2020' },
    distorted: { primaries: 'bt709' },
    values: ['bt2020', 'bt709'],
    // zscale converts primaries only if it knows transfer function and matrix, too.
    fix: '--vf-dis zscale=tin=bt709:t=bt709:min=bt709:m=bt709:p=bt2020',
    command:
      'ffmpeg -i encode.mp4 -vf zscale=tin=bt709:t=bt709:min=bt709:m=bt709:p=bt2020 -an -c:v ffv1 encode-prepared.mkv',
  }),
  warning('other primaries of fully labelled video', 'primaries', {
    reference: { primaries: 'bt2020' },
    distorted: { primaries: 'bt709', transfer: 'bt709', matrix: 'bt709' },
    fix: '--vf-dis zscale=p=bt2020',
  }),
  warning('another matrix', 'matrix', {
    reference: { matrix: 'bt709' },
    distorted: { matrix: 'smpte170m' },
    values: ['bt709', 'smpte170m'],
  }),
  info('a matrix beside a codec that has no label for it', 'matrix', {
    reference: { matrix: 'bt709' },
    distorted: { codec: 'vp8', matrix: 'bt470bg' },
    says: 'BT.601 by definition',
    values: ['bt709', null],
  }),
  warning('a matrix beside an untagged picture of standard definition', 'matrix', {
    reference: { width: 720, height: 480 },
    distorted: { width: 720, height: 480, matrix: 'bt709' },
    context: { models: [] },
    values: [null, 'bt709'],
    says: 'videos of its size usually have smpte170m',
    fix: '--matrix bt601',
    command: 'ffmpeg -i encode.mp4 -vf zscale=m=smpte170m -an -c:v ffv1 encode-prepared.mkv',
  }),
  warning('another transfer function', 'transfer', {
    reference: { transfer: 'bt709' },
    distorted: { transfer: 'linear' },
    values: ['bt709', 'linear'],
  }),
  ...CHROMA.map(([what, distorted, values, says, fix]) =>
    warning(what, 'chroma', {
      reference: ORIGINAL,
      distorted: { measured: coloured(distorted) },
      context: MATCHED,
      ...{ values, says, fix },
    }),
  ),
  warning('a tone-mapped encode of PQ', 'dynamic-range', {
    reference: { transfer: 'smpte2084', primaries: 'bt2020' },
    distorted: { transfer: 'bt709', primaries: 'bt2020' },
    values: ['smpte2084', 'bt709'],
    says: 'the score is meaningless, however high it is',
    fix: `--vf-ref ${TONE_MAPPED}`,
  }),
  warning('PQ against HLG', 'dynamic-range', {
    reference: { transfer: 'smpte2084' },
    distorted: { transfer: 'arib-std-b67' },
    values: ['smpte2084', 'arib-std-b67'],
    fix: '--vf-dis zscale=tin=arib-std-b67:pin=bt2020:min=bt2020nc:t=smpte2084:p=bt2020:m=bt2020nc',
  }),
  warning('other levels beside PQ, without a label', 'dynamic-range', {
    reference: { transfer: 'smpte2084' },
    context: levels(1.4, -20),
    values: ['smpte2084', null],
  }),
  warning('a label that an encoder of PQ omitted', 'transfer', {
    reference: { transfer: 'smpte2084' },
    context: { alignment: ALIGNED, models: [] },
    fix: '--vf-dis setparams=color_trc=smpte2084',
  }),
  warning('Dolby Vision without a base layer', 'dolby-vision', {
    reference: { dolbyVision: 5 },
    distorted: { transfer: 'smpte2084' },
    values: ['profile 5', null],
    says: 'the score is meaningless, however high it is',
  }),
  warning('the same beside standard dynamic range', 'dolby-vision', {
    reference: { transfer: 'bt709' },
    distorted: { dolbyVision: 5 },
  }),
  warning('the same beside a profile with a base layer', 'dolby-vision', {
    reference: { dolbyVision: 5 },
    distorted: { transfer: 'smpte2084', dolbyVision: 8 },
  }),
  warning('Dolby Vision beside its base layer', 'hdr', {
    reference: { transfer: 'smpte2084', dolbyVision: 8 },
    distorted: { transfer: 'smpte2084' },
  }),
  warning('two of them', 'hdr', {
    both: { dolbyVision: 5 },
    values: ['profile 5', 'profile 5'],
    says: 'measures PQ intensity before reshaping',
  }),
  info('grain that a decoder adds', 'film-grain', {
    distorted: { codec: 'av1', filmGrain: 'added' },
    values: [null, true],
    says: 'which VMAF counts as a loss',
  }),
  warning('two tracks of one size', 'tracks', {
    distorted: { track: { index: 0, tracks: [TRACK, TRACK], asked: false } },
    values: [null, '0 of 2'],
    says: 'track 0 (1920x1080, default) is used, not track 1 (1920x1080, default)',
    fix: 'to accept, pass --track-dis 0',
  }),
  info('two tracks, of which the one with the right pictures is used', 'tracks', {
    distorted: { track: { index: 0, tracks: [TRACK, TRACK], asked: false } },
    context: { alignment: { ...ALIGNED, similarity: 0.97 } },
    values: [null, '0 of 2'],
    says: 'Distorted has 2 video tracks; track 0 (1920x1080, default) is used, not track 1 (1920x1080, default).',
  }),
  warning('a small default track beside one of the reference’s size', 'tracks', {
    distorted: {
      ...{ width: 480, height: 270 },
      track: { index: 0, tracks: [{ width: 480, height: 270, isDefault: true }, TRACK], asked: false },
    },
    context: { scale: 'bicubic' },
    values: [null, '0 of 2'],
    says: 'track 1 (1920x1080, default) has the size of the other video',
    fix: '--track-dis 1',
  }),
  warning('high dynamic range', 'hdr', {
    both: { transfer: 'smpte2084' },
    values: ['PQ', 'PQ'],
    says: 'vmaf_v0.6.1 was trained on standard dynamic range only',
    fix: '--feature cvvdp=display=standard_hdr_pq',
  }),
  warning('high dynamic range as broadcast', 'hdr', {
    both: { transfer: 'arib-std-b67' },
    values: ['HLG', 'HLG'],
    says: 'or use ColorVideoVDP, which supports HLG.',
    fix: '--feature cvvdp=display=standard_hdr_hlg',
  }),
  warning('high dynamic range beside ColorVideoVDP', 'hdr', {
    both: { transfer: 'smpte2084', primaries: 'bt2020' },
    context: { extractors: ['vif', 'cvvdp'] },
    values: ['PQ', 'PQ'],
    says: 'compare such scores only with each other.',
    fix: `--vf-ref ${TONE_MAPPED} --vf-dis ${TONE_MAPPED}`,
  }),
  warning('a reference of lower rate and sharpness', 'swapped', {
    reference: { bitrate: 1_000_000, measured: measured([0.08, 0.08]) },
    distorted: { bitrate: 9_000_000, measured: measured([0.1, 0.1]) },
    values: ['master.mov', 'encode.mp4'],
    says: 'reference has only 1000 kbit/s but distorted 9000 kbit/s, reference has 0.8 times the sharpness',
  }),
  warning('a slightly softer reference beside lossless video', 'swapped', {
    reference: { measured: measured([0.0992]) },
    distorted: { codec: 'ffv1', measured: measured([0.1]) },
    says: 'reference is h264 but distorted ffv1',
  }),
  warning('a delivery codec as the reference of a master', 'swapped', {
    reference: { bitrate: 5_000_000, measured: measured([0.09]) },
    distorted: { bitrate: 90_000_000, codec: 'prores', measured: measured([0.1]) },
    says: 'reference is h264 but distorted prores',
  }),
  warning('an HD model on 2160p', 'model-size', {
    both: UHD,
    fix: '--model auto',
    says: 'vmaf_v0.6.1 is for 1080p',
  }),
  warning('an HD model without enhancement gain on 2160p', 'model-size', {
    both: UHD,
    context: { models: [{ name: 'vmaf_v0.6.1neg' }] },
    fix: '--model version=vmaf_4k_v0.6.1neg',
  }),
  warning('a 4k model of VMAF v1 on small video', 'model-size', {
    context: { models: [{ name: 'vmaf_v1.0.16_1d5h_2160' }] },
    fix: '--model version=vmaf_v1.0.16_3d0h',
  }),
  warning('a model for phones on 2160p', 'model-size', {
    both: UHD,
    context: { models: [{ name: 'vmaf_v1.0.16_5d0h' }] },
    fix: '--model version=vmaf_v1.0.16_1d5h_2160',
    says: 'from five screen heights, its viewing distance',
  }),
  warning('a 4k model on small video', 'model-size', {
    context: { models: [FOUR_K] },
    fix: '--model auto',
    says: 'only 1920x1080 is compared',
  }),
  info('small video that would fill a screen', 'viewing-distance', {
    both: { width: 640, height: 360 },
    fix: '--scale-to 1920x1080',
  }),
  info('the same of a size that rounds its shape', 'viewing-distance', {
    both: { width: 854, height: 480 },
    fix: '--scale-to 1920x1080',
  }),
  info('the same upright, of an unusual shape', 'viewing-distance', {
    both: { width: 272, height: 640 },
    fix: '--scale-to 1080x2542',
  }),
];

describe('preflight finds', () => {
  it.each(CASES)('$what: $code', ({ both, reference = both, distorted = both, context = {}, ...wanted }) => {
    const found = only(wanted.code, reference ?? {}, distorted ?? {}, context, wanted.besides);
    expect(found).toMatchObject({ code: wanted.code, severity: wanted.severity });
    if (wanted.says !== undefined) expect(found?.message).toContain(wanted.says);
    if (wanted.values) expect([found?.reference, found?.distorted]).toEqual(wanted.values);
    if ('fix' in wanted) expect(found?.fix).toBe(wanted.fix);
    for (const { option, value } of found?.hint ? optionsIn(found.hint) : []) {
      if (option === 'vfReference' || option === 'vfDistorted') checkChain(option, value, true);
      if (option === 'cropReference')
        filtersFor('reference', { ...REFERENCE, ...reference }, { [option]: value });
      if (option === 'cropDistorted')
        filtersFor('distorted', { ...DISTORTED, ...distorted }, { [option]: value });
    }
    if (wanted.command !== undefined && found?.hint) expect(hintText(found.hint)).toBe(wanted.command);
    else expect(wanted.command).toBeUndefined();
  });

  it('frames missing inside, with a fix that differs from one for frames missing at the end', () => {
    const even = cfr(250, 25);
    const gappy = without(even, 70, 90);
    const gaps = { frameCount: 248, timestamps: gappy };
    const found = (context?: PreflightContext) =>
      findings({ timestamps: even }, gaps, context).filter(({ code }) =>
        /^(missing-frames|frame-count)$/.test(code),
      );
    const message = expect.stringContaining('frames are paired by time');
    expect(found()).toMatchObject([
      { severity: 'warning', fix: 'to accept, pass --frame-rate-policy nearest' },
      { severity: 'info', message, follows: 'missing-frames' },
    ]);
    const nearest = { frameRatePolicy: 'nearest' } as const;
    expect(found(nearest).map(({ severity }) => severity)).toEqual(['info', 'info']);
    const torn = { timestamps: even.filter((time) => time < 1 || time > 5) };
    expect(findings({ timestamps: even }, torn).find(({ code }) => code === 'lost-frames')).toMatchObject({
      message: expect.stringContaining('one frame is compared with many'),
      fix: 'to accept, pass --frame-rate-policy nearest',
    });
    const known = findings({ timestamps: even }, torn, nearest);
    expect(known.map(({ code }) => code)).not.toContain('lost-frames');
    const late = findings({ timestamps: even }, { frameCount: 248, timestamps: even.subarray(0, 248) });
    expect(late.find(({ code }) => code === 'frame-count')?.fix).toBe('--offset auto');
  });

  it('frames lost or repeated within the first seconds, without an offset', () => {
    const slip = { frame: 30, by: -4, ahead: -4 };
    const alignment = { ...ALIGNED, slip, repeated: { reference: 0, distorted: 4 } };
    expect(findings({}, {}, { alignment })).toMatchObject([
      { code: 'slip', severity: 'error', places: [{ frame: 30, frames: -4 }] },
    ]);
    const moved = { ...alignment, offset: 2, candidates: [{ offset: 2, similarity: 0.99 }] };
    const told = findings({}, {}, { alignment: moved });
    expect(told.map(({ code, fix }) => [code, fix])).toEqual([
      ['slip', undefined],
      ['offset', '--offset 2'],
    ]);
    expect(told[1]?.message).toContain('(99 % certain)');
  });

  it.each<[FindingCode, string, (n: number) => boolean]>([
    ['lost-frames', 'the first two fifths', (n) => n < 100],
    ['frame-rate', 'every tenth', (n) => n % 10 === 0],
    ['variable-frame-rate', 'a fifth here and there', (n) => (n * n) % 11 < 2],
  ])('%s if %s of the frames are left at their times', (code, _, isLeft) => {
    const reference = times(250, 25);
    const left = reference.filter((_, n) => isLeft(n));
    const found = findings({ timestamps: reference }, { timestamps: left }, MATCHED);
    expect(found.find((one) => one.code === code)?.severity).toBe('warning');
  });

  it('one finding for frames at another speed, and every code in one of these cases', () => {
    const film = { timestamps: times(240, 24), frameRate: { num: 24, den: 1 } };
    const told = findings(film, { timestamps: times(240, 25) });
    expect(told.map(({ code }) => code)).toEqual(['frame-rate']);
    expect(told[0]?.message).toContain('the same frames run at another speed, and are compared by number');
    // Findings of the scoring itself and of the bytes of raw video are tested elsewhere.
    const elsewhere = ['slip', 'freeze', 'unwatched', 'unchecked', 'raw-geometry', 'identical'];
    const codes = FINDING_CODES.filter((code) => !elsewhere.includes(code));
    expect([...new Set(CASES.map(({ code }) => code))].sort()).toEqual(codes.sort());
  });
});

describe('preflight finds no problem in', () => {
  const SD = { width: 720, height: 576 };
  const darkAbove = { certain: NO_BORDERS, possible: { ...NO_BORDERS, top: 90 } };
  const DARK_EDGES = { ...measured([0.1]), borders: darkAbove };
  const oneFrame = (duration: number) => ({ frameCount: 1, duration, timestamps: Float64Array.of(0) });
  const tinted = (cr: number) => ({ measured: coloured(() => [118, cr]) });
  const undated = (frames: number) => ({ timestamps: times(frames, 25), duration: null });

  it.each<[string, Facts, Facts, PreflightContext?]>([
    ['an average rate that is a little off', {}, { frameRate: { num: 250, den: 9.99 }, frameCount: 250 }],
    ['a variable rate with the same times', { timestamps: UNEVEN }, { timestamps: rounded(UNEVEN) }],
    [
      'an average rate of the same irregular times in one container',
      { timestamps: UNEVEN, frameRate: { num: 25, den: 1 } },
      { timestamps: rounded(UNEVEN), frameRate: { num: 1625, den: 119 } },
    ],
    ['missing frames at the same times', GAPS, GAPS],
    ['frames at nearly the same time in both', withOneAt(3.0004), withOneAt(3.001)],
    [
      'single pictures, with a rate in one container',
      { timestamps: times(1, 1), frameRate: { num: 1, den: 1 }, frameCount: 1, duration: 1 },
      { timestamps: null, frameCount: 1, duration: null },
    ],
    ['a range that one does not state', { colorRange: 'limited' }, {}],
    ['a reference with added grain', { codec: 'av1', filmGrain: 'added' }, { codec: 'av1' }],
    ['the matrix that VP8 has without a label', {}, { codec: 'vp8', matrix: 'bt470bg' }],
    ['names of the same matrix', { matrix: 'smpte170m' }, { matrix: 'bt470bg' }],
    ['the usual matrix that one does not state', { matrix: 'bt709' }, {}],
    ['the usual matrix of standard definition, not stated', { ...SD, matrix: 'bt470bg' }, SD, { models: [] }],
    ['colours of another matrix', ORIGINAL, { measured: coloured((i) => [94 + i / 4.4, 166 - i / 3.3]) }],
    [
      'colours of other moments',
      ORIGINAL,
      { measured: { ...coloured((i) => [170 - i / 4, 90 + i / 3]), frames: [12, 36, 60] } },
      MATCHED,
    ],
    ['names of the same transfer function', { transfer: 'bt709' }, { transfer: 'bt2020-10' }],
    ['lengths of parts', {}, { frameCount: 100, duration: 4 }, { partial: true }],
    ['a sample aspect of 1 that one does not state', { sampleAspect: { num: 1, den: 1 } }, {}],
    ['dark but not black edges', { measured: DARK_EDGES }, { measured: measured([0.1], 80) }],
    ['a sharpened encode of lower rate', { measured: measured([0.1]) }, { measured: measured([0.12]) }],
    [
      'a much blurrier reference without other facts',
      { bitrate: null, measured: measured([0.05, 0.06]) },
      { bitrate: null, measured: measured([0.1, 0.1]) },
    ],
    [
      'codecs and rates alone',
      { bitrate: 300_000, measured: measured([0.1]) },
      { codec: 'prores', bitrate: 90_000_000, measured: measured([0.0999]) },
    ],
    [
      'a little less sharpness in other frames',
      { measured: { ...measured([0.095]), frames: [20] } },
      { codec: 'ffv1', measured: { ...measured([0.1]), frames: [21] } },
    ],
    ['one frame each, shown longer in one', oneFrame(0.337), oneFrame(0.042)],
    [
      'a small animation whose encode takes more bytes and looks sharper',
      { codec: 'gif', bitrate: 1000, measured: measured([0.08]) },
      { bitrate: 3000, measured: measured([0.1]) },
    ],
    [
      'an HEVC reference at half the rate of MPEG-2',
      { codec: 'hevc', bitrate: 8_000_000 },
      { codec: 'mpeg2video', bitrate: 16_000_000 },
    ],
    ['a 4k model beside an HD model', {}, {}, { models: [{ name: 'vmaf_v0.6.1' }, FOUR_K] }],
    ['a custom model', UHD, UHD, { models: [{ name: './mine.json' }] }],
    ['one still moment', {}, {}, repeated(1)],
    ['contrast lost to compression', {}, {}, levels(0.95, 5)],
    ['a tint of both', tinted(138), tinted(137), MATCHED],
  ])('%s', (_, reference, distorted, context = {}) => {
    expect(findings(reference, distorted, context)).toEqual([]);
  });

  it.each<[string, Facts, Facts, PreflightContext?]>([
    ['extra frames of the distorted video, between those of the reference', GAPS, EVEN, MATCHED],
    ['pictures at times that the reference leaves out', GAPS, EVEN, repeated(3)],
    ['one last frame in one of two that begin together', undated(250), undated(249), MATCHED],
  ])('%s, which it notes', (_, reference, distorted, context = {}) => {
    const severities = findings(reference, distorted, context).map(({ severity }) => severity);
    expect(new Set(severities)).toEqual(new Set(['info']));
  });
});
