/**
 * @module test/unit/media/preflight
 * Every finding of preflight: when it is made, how severe it is, its values, and the option that resolves it.
 */
import { describe, expect, it } from 'vitest';
import { findingsInFlags } from '../../../src/cli/flags.js';
import { hintText } from '../../../src/core/hint.js';
import type { AlignResult } from '../../../src/media/align.js';
import type { TrackFacts } from '../../../src/media/decoder.js';
import {
  FINDING_CODES,
  type FindingCode,
  type PreflightContext,
  preflight,
  type SideFacts,
} from '../../../src/media/preflight.js';
import type { VideoInfo } from '../../../src/media/types.js';

const REFERENCE: TrackFacts = {
  name: 'master.mov',
  container: 'mov,mp4,m4a,3gp,3g2,mj2',
  codec: 'h264',
  pixelFormat: 'yuv420p',
  width: 1920,
  height: 1080,
  bitDepth: 8,
  chroma: '420',
  frameRate: { num: 25, den: 1 },
  frameCount: 250,
  duration: 10,
  startTime: 0,
  bitrate: 20_000_000,
  fileSize: 25_000_000,
  rotation: 0,
  fieldOrder: 'progressive',
};

const DISTORTED: TrackFacts = { ...REFERENCE, name: 'encode.mp4', bitrate: 4_000_000, fileSize: 5_000_000 };

const ALIGNED: AlignResult = {
  offset: 0,
  confidence: 1,
  candidates: [{ offset: 0, similarity: 0.999 }],
  compared: 100,
  ambiguous: false,
  reason: 'clear',
  explanation: 'Distorted frame 0 shows reference frame 0, over 100 pairs.',
  similarity: 0.999,
  levels: { gain: 1, bias: 0 },
  repeated: { reference: 0, distorted: 0 },
};

/** Findings when the two differ from a good pair by these. */
function findings(
  reference: Partial<SideFacts>,
  distorted: Partial<SideFacts>,
  context: PreflightContext = {},
) {
  return findingsInFlags(preflight({ ...REFERENCE, ...reference }, { ...DISTORTED, ...distorted }, context));
}

/** The one finding expected; what has another shape has another size, too. */
function only(
  code: FindingCode,
  reference: Partial<SideFacts>,
  distorted: Partial<SideFacts>,
  context: PreflightContext,
) {
  const found = findings(reference, distorted, context);
  expect(found.filter((other) => other.code !== code && other.code !== 'size')).toEqual([]);
  return found.find((wanted) => wanted.code === code);
}

/** Frame times at a constant rate, some frames left out. */
function times(frames: number, rate: number, without: readonly number[] = []): Float64Array {
  const numbers = Array.from({ length: frames }, (_, k) => k).filter((k) => !without.includes(k));
  return Float64Array.from(numbers, (k) => Math.round((1000 * k) / rate) / 1000);
}

/** A picture of 16 by 16 boxes with a pattern of its own in each row. */
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

const measured = (sharpness: readonly (number | null)[], top = 0, bottom = 0) => {
  const borders = { left: 0, top, right: 0, bottom };
  return { frames: sharpness.map((_, k) => k), sharpness, borders: { certain: borders, possible: borders } };
};

describe('preflight', () => {
  it('has nothing to say of a good pair', () => {
    const facts = { measured: measured([0.1, 0.1]), timestamps: times(250, 25) };
    expect(findings(facts, { ...facts, measured: measured([0.08, 0.09]) }, { alignment: ALIGNED })).toEqual(
      [],
    );
  });

  it('takes Y4M as it takes tracks', () => {
    const info: VideoInfo = {
      ...{ name: 'a.y4m', container: 'y4m', width: 1920, height: 1080, bitDepth: 8, chroma: '420' },
      ...{ frameCount: null, warnings: [] },
    };
    expect(preflight(info, { ...info, name: 'b.y4m' })).toEqual([]);
  });

  it('puts the most severe first', () => {
    const severities = findings(
      {},
      { bitDepth: 10, width: 1280, height: 720, rotation: 90 },
      { scale: 'none' },
    );
    expect(severities.map(({ severity }) => severity)).toEqual(['error', 'info', 'info']);
  });

  it('writes whole sentences on one line, each with a fix or without need of one', () => {
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
  readonly reference?: Partial<SideFacts>;
  readonly distorted?: Partial<SideFacts>;
  readonly context?: PreflightContext;
  readonly code: FindingCode;
  readonly severity: 'error' | 'warning' | 'info';
  readonly says?: string;
  readonly values?: readonly [unknown, unknown];
  readonly fix?: string | undefined;
  /** The command that prepares a file, where an option does the same. */
  readonly command?: string;
}

const NO_SIZE = { width: 1280, height: 720 };

const CASES: readonly Case[] = [
  {
    what: 'another size that nobody spoke of',
    distorted: NO_SIZE,
    ...{
      code: 'size',
      severity: 'warning',
      values: ['1920x1080', '1280x720'],
      fix: 'to accept, pass --scale bicubic',
    },
    says: 'Distorted is 1280x720 but reference is 1920x1080; the distorted video is scaled to 1920x1080 (bicubic)',
  },
  {
    what: 'another size that is to be scaled with a filter of choice',
    ...{
      distorted: NO_SIZE,
      context: { scale: 'lanczos' },
      code: 'size',
      severity: 'info',
      says: '(lanczos)',
    },
  },
  {
    what: 'another size that is not to be scaled',
    ...{ distorted: NO_SIZE, context: { scale: 'none' }, code: 'size', severity: 'error' },
    fix: '--scale bicubic',
  },
  {
    what: 'the reference scaled on request',
    ...{ distorted: NO_SIZE, context: { comparedSize: NO_SIZE }, code: 'size', severity: 'info' },
    says: 'the reference is scaled to 1280x720',
  },
  {
    what: 'labels of sample aspect that contradict each other',
    reference: { sampleAspect: { num: 1, den: 1 } },
    distorted: { sampleAspect: { num: 4, den: 3 } },
    ...{
      code: 'sample-aspect',
      severity: 'warning',
      values: ['1', '4/3'],
      fix: '--vf-dis setsar=1',
      command: 'ffmpeg -i encode.mp4 -vf setsar=1 -an -c:v ffv1 encode-prepared.mkv',
    },
  },
  {
    what: 'anamorphic video of the same shape',
    distorted: { width: 1440, sampleAspect: { num: 4, den: 3 } },
    context: { scale: 'bicubic' },
    ...{ code: 'sample-aspect', severity: 'info', values: [null, '4/3'] },
  },
  {
    what: 'a picture of another shape',
    reference: { width: 720, height: 480 },
    distorted: { width: 384, height: 288 },
    context: { scale: 'bicubic', models: [], alignment: ALIGNED },
    // 720/480 over 384/288 is 1.125.
    ...{
      code: 'display-aspect',
      severity: 'warning',
      values: [1.5, 1.333],
      fix: '--vf-dis setsar=9/8',
      command: 'ffmpeg -i encode.mp4 -vf setsar=9/8 -an -c:v ffv1 encode-prepared.mkv',
    },
  },
  {
    what: 'a picture to be turned',
    ...{ distorted: { rotation: 90 }, code: 'rotation', severity: 'info', values: [0, 90] },
  },
  {
    what: 'a picture to be cropped',
    reference: { crop: { left: 0, top: 4, right: 0, bottom: 4 } },
    ...{ code: 'crop', severity: 'info', values: ['left 0, top 4, right 0, bottom 4', null] },
  },
  {
    what: 'bars in the distorted video only',
    reference: { measured: measured([0.1]) },
    distorted: { measured: measured([0.1], 140, 139) },
    ...{
      code: 'black-borders',
      severity: 'warning',
      fix: '--crop-dis 1920:800:0:140',
      command: 'ffmpeg -i encode.mp4 -vf crop=1920:800:0:140 -an -c:v ffv1 encode-prepared.mkv',
    },
    says: 'Distorted 1920x1080 has black borders (top 140, bottom 139) where reference has picture',
  },
  {
    what: 'bars in the reference only',
    reference: { measured: measured([0.1], 140, 140) },
    distorted: { measured: measured([0.1]) },
    ...{
      code: 'black-borders',
      severity: 'warning',
      fix: '--crop-ref 1920:800:0:140',
      command: 'ffmpeg -i master.mov -vf crop=1920:800:0:140 -an -c:v ffv1 master-prepared.mkv',
    },
    says: 'Reference 1920x1080 has black borders',
  },
  {
    what: 'bars that hide a part of the picture, which the other shows too',
    reference: { measured: { ...measured([0.1]), squares: [RAMP] } },
    distorted: { measured: { ...measured([0.1], 140, 139), squares: [RAMP.map(hiddenBehindBars)] } },
    ...{
      code: 'black-borders',
      severity: 'warning',
      fix: '--crop-dis 1920:800:0:140 --crop-ref 1920:800:0:140',
      command:
        'ffmpeg -i encode.mp4 -vf crop=1920:800:0:140 -an -c:v ffv1 encode-distorted-prepared.mkv && ' +
        'ffmpeg -i master.mov -vf crop=1920:800:0:140 -an -c:v ffv1 master-reference-prepared.mkv',
    },
  },
  {
    what: 'bars around a smaller copy of the picture',
    reference: { measured: { ...measured([0.1]), squares: [RAMP] } },
    distorted: { measured: { ...measured([0.1], 140, 139), squares: [RAMP.map(squeezedBetweenBars)] } },
    ...{ code: 'black-borders', severity: 'warning', fix: '--crop-dis 1920:800:0:140' },
  },
  {
    what: 'the same bars in both',
    reference: { measured: measured([0.1], 140, 140) },
    distorted: { measured: measured([0.1], 140, 140) },
    ...{ code: 'black-borders', severity: 'info', says: 'over 26 % of the picture' },
  },
  {
    what: 'a clock that is set back in both',
    reference: { frameCount: 4, timestamps: Float64Array.of(0, 0.04, 0.08, 0.12), setBacks: [0.08] },
    distorted: { frameCount: 4, timestamps: Float64Array.of(0, 0.04, 0.08, 0.12), setBacks: [0.04, 0.12] },
    ...{ code: 'clock-set-back', severity: 'warning', values: [1, 2] },
    says: 'of reference after 2 of 4 frames (0.080 s), of distorted after 1, 3 of 4 frames (0.040 s, 0.120 s); all',
  },
  {
    what: 'another rate',
    distorted: { frameRate: { num: 30, den: 1 }, frameCount: 300 },
    ...{
      code: 'frame-rate',
      severity: 'warning',
      values: ['25', '30'],
      fix: 'to accept, pass --frame-rate-policy nearest',
    },
  },
  {
    what: 'a rate that differs by a thousandth',
    reference: { frameRate: { num: 24, den: 1 } },
    distorted: { frameRate: { num: 24000, den: 1001 } },
    ...{ code: 'frame-rate', severity: 'warning', values: ['24', '24000/1001'] },
  },
  {
    what: 'another rate where frames must go one by one',
    distorted: { frameRate: { num: 30, den: 1 }, frameCount: 300 },
    context: { frameRatePolicy: 'strict' },
    ...{ code: 'frame-rate', severity: 'error', fix: '--frame-rate-policy nearest' },
  },
  {
    what: 'another rate where the nearest frame is asked for',
    distorted: { frameRate: { num: 30, den: 1 }, frameCount: 300 },
    ...{ context: { frameRatePolicy: 'nearest' }, code: 'frame-rate', severity: 'info' },
  },
  {
    what: 'fewer frames',
    distorted: { frameCount: 248, duration: 9.92 },
    ...{ code: 'frame-count', severity: 'warning', values: [250, 248], fix: '--offset auto' },
    says: '248 pairs can be compared',
  },
  {
    what: 'an average rate as a number',
    distorted: { frameRate: { num: 136, den: 5 }, frameCount: 272 },
    ...{ code: 'frame-rate', severity: 'warning', says: '27.2 frames per second' },
  },
  {
    what: 'fewer frames, explained by an offset',
    distorted: { frameCount: 248, duration: 9.92 },
    ...{ context: { offset: 2 }, code: 'frame-count', severity: 'info', says: '248 pairs' },
  },
  {
    what: 'another duration where frames are not counted',
    distorted: { frameCount: null, duration: 8 },
    ...{ code: 'duration', severity: 'warning', values: [10, 8], fix: 'to accept, pass --range 0s-8s' },
  },
  {
    what: 'a variable rate',
    reference: { timestamps: times(250, 25) },
    distorted: {
      timestamps: Float64Array.from({ length: 250 }, (_, k) => 0.04 * k + 0.014 * Math.sin(k)),
    },
    ...{ code: 'variable-frame-rate', severity: 'warning', values: [false, true] },
    fix: 'to accept, pass --frame-rate-policy nearest',
  },
  {
    what: 'missing frames',
    reference: { timestamps: times(250, 25) },
    distorted: { timestamps: times(250, 25, [100, 101, 200]), frameCount: 247 },
    context: { partial: true },
    ...{ code: 'missing-frames', severity: 'warning', values: [0, 3] },
    says: 'Distorted lacks 3 frames after frame 99, 197',
  },
  {
    what: 'pictures shown twice',
    context: { alignment: { ...ALIGNED, repeated: { reference: 0, distorted: 12 } } },
    ...{ code: 'duplicate-frames', severity: 'warning', values: [0, 12] },
    says: 'Distorted shows the same picture again in 12 frames',
  },
  {
    what: 'times that stand still',
    reference: { timestamps: times(250, 25) },
    distorted: {
      timestamps: Float64Array.from([...times(249, 25), 3.0004]).sort(),
    },
    ...{ code: 'duplicate-frames', severity: 'warning', values: [0, 1] },
  },
  {
    what: 'interlaced video',
    reference: { fieldOrder: 'top-first' },
    ...{ code: 'interlaced', severity: 'warning', values: ['top-first', 'progressive'] },
    fix: '--deinterlace',
    command: 'ffmpeg -i master.mov -vf bwdif=send_frame -an -c:v ffv1 master-prepared.mkv',
  },
  {
    what: 'a better offset',
    context: { alignment: { ...ALIGNED, offset: 3, candidates: [{ offset: 3, similarity: 0.99 }] } },
    ...{ code: 'offset', severity: 'warning', values: [3, 0], fix: '--offset 3' },
    says: 'reference frame 3 is what distorted frame 0 shows',
  },
  {
    what: 'a better offset than the one asked for',
    context: {
      offset: 3,
      alignment: { ...ALIGNED, offset: -2, candidates: [{ offset: -2, similarity: 0.99 }] },
    },
    ...{ code: 'offset', severity: 'warning', values: [0, 2], fix: '--offset -2' },
  },
  {
    what: 'an offset outside of what was searched',
    context: { alignment: { ...ALIGNED, offset: 50, candidates: [], ambiguous: true, reason: 'edge' } },
    ...{ code: 'offset', severity: 'warning', fix: '--offset auto --window 500' },
  },
  {
    what: 'content that does not tell',
    context: { alignment: { ...ALIGNED, ambiguous: true, reason: 'static', confidence: 0.01 } },
    ...{ code: 'offset-unclear', severity: 'info' },
  },
  {
    what: 'videos of different things',
    context: {
      alignment: { ...ALIGNED, ambiguous: true, reason: 'unrelated', confidence: 0, similarity: 0.2 },
    },
    ...{ code: 'unrelated', severity: 'warning' },
  },
  {
    what: 'videos of different things whose offset was searched as far as is useful',
    context: {
      offsetSearched: true,
      alignment: { ...ALIGNED, ambiguous: true, reason: 'unrelated', confidence: 0, similarity: 0.2 },
    },
    ...{
      code: 'unrelated',
      severity: 'warning',
      fix: undefined,
      says: 'The offset was searched and not found',
    },
  },
  {
    what: 'videos of different things whose offset was searched nearby',
    context: {
      ...{ offsetSearched: true, offsetWindow: 25 },
      alignment: { ...ALIGNED, ambiguous: true, reason: 'unrelated', confidence: 0, similarity: 0.2 },
    },
    ...{ code: 'unrelated', severity: 'warning', fix: '--offset auto --window 500' },
  },
  {
    what: 'another bit depth',
    ...{ reference: { bitDepth: 10 }, code: 'bit-depth', severity: 'info', values: [10, 8] },
  },
  {
    what: 'another chroma format',
    reference: { chroma: '422' },
    ...{ code: 'chroma-format', severity: 'info', values: ['4:2:2', '4:2:0'] },
  },
  {
    what: 'another range',
    reference: { colorRange: 'limited' },
    distorted: { colorRange: 'full' },
    ...{ code: 'color-range', severity: 'warning', values: ['limited', 'full'] },
    fix: '--color-range limited',
    command:
      'ffmpeg -i encode.mp4 -vf scale=in_range=full:out_range=limited -color_range tv -an -c:v ffv1 encode-prepared.mkv',
  },
  {
    what: 'limited range expanded to full, and labelled',
    distorted: { colorRange: 'full' },
    context: { alignment: { ...ALIGNED, levels: { gain: 1.1644, bias: -18.63 } } },
    // Measured with ffmpeg's own conversion: 99.95 as stored, 88.42 once converted back.
    ...{ code: 'color-range', severity: 'warning', says: 'the score is too high' },
  },
  {
    what: 'full range reduced to limited, and labelled',
    reference: { colorRange: 'full' },
    context: { alignment: { ...ALIGNED, levels: { gain: 0.8588, bias: 16 } } },
    // 61.27 as stored, 85.82 once converted back.
    ...{ code: 'color-range', severity: 'warning', says: 'the score is too low' },
  },
  {
    what: 'another label of the same samples',
    distorted: { colorRange: 'full' },
    context: { alignment: ALIGNED },
    ...{ code: 'color-range', severity: 'warning', says: 'the score is that of the samples' },
    fix: 'ffmpeg -i encode.mp4 -c copy -bsf:v h264_metadata=video_full_range_flag=0 encode-prepared.mp4',
  },
  {
    what: 'limited range expanded to full, unlabelled',
    // 16..235 to 0..255: gain 255/219 = 1.1644, bias -16 * 1.1644 = -18.63.
    context: { alignment: { ...ALIGNED, levels: { gain: 1.1644, bias: -18.63 } } },
    ...{
      code: 'levels',
      severity: 'warning',
      fix: '--vf-dis scale=in_range=full:out_range=limited',
      command:
        'ffmpeg -i encode.mp4 -vf scale=in_range=full:out_range=limited -color_range tv -an -c:v ffv1 encode-prepared.mkv',
    },
    says: 'limited range was expanded to full',
  },
  {
    what: 'full range reduced to limited, unlabelled',
    context: { alignment: { ...ALIGNED, levels: { gain: 0.8588, bias: 16 } } },
    ...{
      code: 'levels',
      severity: 'warning',
      fix: '--vf-dis scale=in_range=limited:out_range=full',
      command:
        'ffmpeg -i encode.mp4 -vf scale=in_range=limited:out_range=full -color_range pc -an -c:v ffv1 encode-prepared.mkv',
    },
    says: 'full range was reduced to limited',
  },
  {
    what: 'a brighter picture',
    context: { alignment: { ...ALIGNED, levels: { gain: 1, bias: 9 } } },
    ...{ code: 'levels', severity: 'warning', says: '9 levels brighter' },
  },
  {
    what: 'other primaries',
    reference: { primaries: 'bt2020' },
    distorted: { primaries: 'bt709' },
    ...{
      code: 'primaries',
      severity: 'warning',
      values: ['bt2020', 'bt709'],
      fix: '--vf-dis zscale=p=bt2020',
      command: 'ffmpeg -i encode.mp4 -vf zscale=p=bt2020 -an -c:v ffv1 encode-prepared.mkv',
    },
  },
  {
    what: 'another matrix',
    reference: { matrix: 'bt709' },
    distorted: { matrix: 'smpte170m' },
    ...{ code: 'matrix', severity: 'warning', values: ['bt709', 'smpte170m'] },
  },
  {
    what: 'a matrix beside a picture of standard definition that states none',
    reference: { width: 720, height: 480 },
    distorted: { width: 720, height: 480, matrix: 'bt709' },
    context: { models: [] },
    ...{
      code: 'matrix',
      severity: 'warning',
      values: [null, 'bt709'],
      says: 'videos of its size are usually in smpte170m',
      fix: '--matrix bt601',
      command: 'ffmpeg -i encode.mp4 -vf zscale=m=smpte170m -an -c:v ffv1 encode-prepared.mkv',
    },
  },
  {
    what: 'another transfer function',
    reference: { transfer: 'bt709' },
    distorted: { transfer: 'linear' },
    ...{ code: 'transfer', severity: 'warning', values: ['bt709', 'linear'] },
  },
  {
    what: 'high dynamic range',
    reference: { transfer: 'smpte2084' },
    distorted: { transfer: 'smpte2084' },
    ...{ code: 'hdr', severity: 'warning', values: ['PQ', 'PQ'] },
    says: 'vmaf_v0.6.1 was trained on standard dynamic range only',
  },
  {
    what: 'high dynamic range as broadcast',
    reference: { transfer: 'arib-std-b67' },
    distorted: { transfer: 'arib-std-b67' },
    ...{ code: 'hdr', severity: 'warning', values: ['HLG', 'HLG'] },
  },
  {
    what: 'a reference of less rate and less sharpness',
    reference: { bitrate: 1_000_000, measured: measured([0.08, 0.08]) },
    distorted: { bitrate: 9_000_000, measured: measured([0.1, 0.1]) },
    ...{ code: 'swapped', severity: 'warning', values: ['master.mov', 'encode.mp4'] },
    says: "the reference has only 1000 kbit/s against 9000 kbit/s, the reference's frames have 0.8 times the sharpness",
  },
  {
    what: 'a much blurrier reference of which nothing else is known',
    reference: { bitrate: null, measured: measured([0.05, 0.06]) },
    distorted: { bitrate: null, measured: measured([0.1, 0.1]) },
    ...{ code: 'swapped', severity: 'warning' },
  },
  {
    what: 'a delivery codec as reference of a master',
    reference: { bitrate: 5_000_000 },
    distorted: { bitrate: 90_000_000, codec: 'prores' },
    ...{
      code: 'swapped',
      severity: 'warning',
      says: 'the reference is h264 but the distorted video is prores',
    },
  },
  {
    what: 'an HD model on 2160p',
    reference: { width: 3840, height: 2160 },
    distorted: { width: 3840, height: 2160 },
    ...{ code: 'model-size', severity: 'warning', fix: '--model auto', says: 'vmaf_v0.6.1 is for 1080p' },
  },
  {
    what: 'a 4k model on small video',
    context: { models: [{ name: 'vmaf_4k_v0.6.1' }] },
    ...{ code: 'model-size', severity: 'warning', fix: '--model auto', says: 'only 1920x1080 is compared' },
  },
  {
    what: 'small video as if it were a whole screen',
    reference: { width: 640, height: 360 },
    distorted: { width: 640, height: 360 },
    ...{ code: 'viewing-distance', severity: 'info', fix: '--scale-to 1920x1080' },
  },
  {
    what: 'a viewer nearer than the model assumes',
    context: { viewingDistance: 1.5 },
    ...{ code: 'viewing-distance', severity: 'warning', fix: '--model version=vmaf_4k_v0.6.1' },
  },
];

describe('preflight finds', () => {
  it.each(CASES)('$what: $code', ({ reference = {}, distorted = {}, context = {}, ...expected }) => {
    const found = only(expected.code, reference, distorted, context);
    expect(found).toMatchObject({ code: expected.code, severity: expected.severity });
    if (expected.says !== undefined) expect(found?.message).toContain(expected.says);
    if (expected.values) expect([found?.reference, found?.distorted]).toEqual(expected.values);
    if ('fix' in expected) expect(found?.fix).toBe(expected.fix);
    if (expected.command !== undefined && found?.hint) expect(hintText(found.hint)).toBe(expected.command);
    else expect(expected.command).toBeUndefined();
  });

  it('what to do about frames that are missing inside, and not where the videos begin', () => {
    const even = Float64Array.from({ length: 250 }, (_, n) => n / 25);
    const gappy = even.filter((_, n) => n !== 70 && n !== 90);
    const found = (frameRatePolicy?: 'nearest') =>
      findings(
        { timestamps: even },
        { frameCount: 248, timestamps: gappy },
        frameRatePolicy && { frameRatePolicy },
      ).find(({ code }) => code === 'frame-count');
    expect(found()).toMatchObject({
      severity: 'warning',
      message: expect.stringContaining('compared by their times'),
      fix: 'to accept, pass --frame-rate-policy nearest',
    });
    expect(found('nearest')?.severity).toBe('info');
    const late = findings({ timestamps: even }, { frameCount: 248, timestamps: even.subarray(0, 248) });
    expect(late.find(({ code }) => code === 'frame-count')?.fix).toBe('--offset auto');
  });

  it('every code in one of these cases', () => {
    // What is found while a pair is scored, and of the bytes of raw video, has tests of its own.
    const whileScored = new Set<FindingCode>([
      'slip',
      'freeze',
      'unwatched',
      'unchecked',
      'raw-geometry',
      'identical',
    ]);
    const codes = FINDING_CODES.filter((code) => !whileScored.has(code));
    expect([...new Set(CASES.map(({ code }) => code))].sort()).toEqual(codes.sort());
  });
});

describe('preflight does not cry wolf over', () => {
  it.each<[string, Partial<SideFacts>, Partial<SideFacts>, PreflightContext?]>([
    ['an average rate that is a little off', {}, { frameRate: { num: 250, den: 9.99 }, frameCount: 250 }],
    ['a range that one does not state', { colorRange: 'limited' }, {}],
    ['names of the same matrix', { matrix: 'smpte170m' }, { matrix: 'bt470bg' }],
    ['the usual matrix that one does not state', { matrix: 'bt709' }, {}],
    [
      'the usual matrix of standard definition that one does not state',
      { width: 720, height: 576, matrix: 'bt470bg' },
      { width: 720, height: 576 },
      { models: [] },
    ],
    ['names of the same transfer function', { transfer: 'bt709' }, { transfer: 'bt2020-10' }],
    ['primaries that one does not state', { primaries: 'bt709' }, {}],
    ['lengths of parts', {}, { frameCount: 100, duration: 4 }, { partial: true }],
    [
      'rounding of times to milliseconds',
      { timestamps: times(250, 30000 / 1001) },
      { timestamps: times(250, 30000 / 1001) },
    ],
    ['a sample aspect of 1 that one does not state', { sampleAspect: { num: 1, den: 1 } }, {}],
    [
      'dark but not black edges',
      {
        measured: {
          ...measured([0.1]),
          borders: {
            certain: { left: 0, top: 0, right: 0, bottom: 0 },
            possible: { left: 0, top: 90, right: 0, bottom: 0 },
          },
        },
      },
      { measured: measured([0.1], 80) },
    ],
    [
      'an encode that was sharpened but has less rate',
      { measured: measured([0.1]) },
      { measured: measured([0.12]) },
    ],
    [
      'an HEVC reference at half the rate of MPEG-2',
      { codec: 'hevc', bitrate: 8_000_000 },
      { codec: 'mpeg2video', bitrate: 16_000_000 },
    ],
    [
      'a 4k model beside an HD model',
      {},
      {},
      { models: [{ name: 'vmaf_v0.6.1' }, { name: 'vmaf_4k_v0.6.1' }] },
    ],
    [
      'a model of somebody else',
      { width: 3840, height: 2160 },
      { width: 3840, height: 2160 },
      { models: [{ name: './mine.json' }] },
    ],
    ['one still moment', {}, {}, { alignment: { ...ALIGNED, repeated: { reference: 0, distorted: 1 } } }],
    ['contrast lost to compression', {}, {}, { alignment: { ...ALIGNED, levels: { gain: 0.95, bias: 5 } } }],
  ])('%s', (_, reference, distorted, context = {}) => {
    expect(findings(reference, distorted, context)).toEqual([]);
  });
});
