/**
 * @module test/node/engine/inputs
 * What a run reads from stored videos, and what it warns about: samples beyond their depth, one file given twice, raw video of
 * another geometry, the video that an error is about; and the common test conditions, at a common depth.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { aomCtc, nflxCtc } from '../../../src/core/presets.js';
import type { ScoreOptions } from '../../../src/engine/contract/types.js';
import { scorePair } from '../../../src/engine/score.js';
import { type AnyvmafError, createScorer, inspect, score, trustOf } from '../../../src/index.js';
import type { FrameSource } from '../../../src/media/types.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import type { Report } from '../../../src/report/schema.js';
import { sampleSource, y4mFile, yuvFile } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import {
  file,
  ownSource,
  PSNR,
  results,
  SMALL,
  SMALL_10,
  storedPair,
  streamOf,
  y4mPair,
} from '../../support/clips.js';
import { testFolder } from '../../support/folders.js';
import { refusalOf } from '../../support/refusals.js';
import { tier } from '../../support/tier.js';

const folder = testFolder();

describe('a run reads', () => {
  const FRAMES = 7;
  /** Large enough for every metric tested. */
  const FORMAT: VideoFormat = { ...SMALL, width: 216, height: 176 };
  const pair = y4mPair(FORMAT, FRAMES);
  const every = Array.from({ length: FRAMES }, (_, i) => i);

  /** A side with `checkFrame`, and the frames read. */
  function watched(side: 'reference' | 'distorted') {
    const read: number[] = [];
    const plain = ownSource(pair.clip, side, FRAMES, {
      seekable: true,
      frameCount: FRAMES,
      onRead: (index) => void read.push(index),
    });
    const source: FrameSource = { ...plain, checkFrame: (index) => index < FRAMES };
    return { read, plain, source };
  }

  async function reads(options: ScoreOptions) {
    const run = { noPrediction: true, threads: 0, ...options };
    const [reference, distorted] = [watched('reference'), watched('distorted')];
    const own = { reference: reference.source, distorted: distorted.source };
    const report = await scorePair(nodePlatform, own, run);
    const found = { reference: reference.read.slice(), distorted: distorted.read.slice() };
    // Sources without `checkFrame` are read.
    const plain = { reference: reference.plain, distorted: distorted.plain };
    const all = await scorePair(nodePlatform, plain, run);
    expect(distorted.read.length - found.distorted.length).toBe(FRAMES);
    expect(results(report)).toEqual(results(all));
    return found;
  }

  it.each([
    ['motion', false],
    ['motion=motion_five_frame_window=true', false],
    ['float_motion', false],
    ['psnr', true],
    ['vif', true],
    ['adm', true],
    ['cambi', true],
    ['speed_temporal', true],
    ['speed_chroma', true],
  ])('the reference for %s, and the distorted video: %s', async (feature, both) => {
    expect(await reads({ features: [feature] })).toEqual({ reference: every, distorted: both ? every : [] });
  });

  it.each([
    [['vif'], false, false],
    [['adm', 'motion'], true, false],
    [['psnr'], true, true],
    [['speed_temporal'], true, true],
  ])('of pairs left out by subsampling what needs every frame: %j', async (features, first, second) => {
    const listed = [0, 3, 6];
    expect(await reads({ features, subsample: 3 })).toEqual({
      reference: first ? every : listed,
      distorted: second ? every : listed,
    });
  });

  describe('nothing of a distorted video, which', () => {
    const options = { noPrediction: true, features: ['motion'] };
    const reference = file(folder, 'motion-r.y4m', pair.reference);
    const frame = 6 + (3 * FORMAT.width * FORMAT.height) / 2;

    it.each(tier([0, 2], [0, 1, 2]))(
      'is refused if it is cut, and ends the run where it ends, %i threads',
      async (threads) => {
        for (const cut of [1, 500, frame - 7]) {
          const distorted = file(folder, `cut-${cut}.y4m`, pair.distorted.slice(0, -cut));
          const run = () => scorePair(nodePlatform, { reference, distorted }, { ...options, threads });
          expect(await refusalOf('media', run), `${cut} bytes`).toMatch(/frame 6 of .* is incomplete/);
        }
        const distorted = file(folder, 'short.y4m', pair.distorted.slice(0, -2 * frame));
        const report = await scorePair(nodePlatform, { reference, distorted }, { ...options, threads });
        expect(report.frameCount).toBe(FRAMES - 2);
      },
    );

    it('is refused if its frames are misplaced', async () => {
      const damaged = pair.distorted.slice();
      damaged.set([0x58], damaged.length - 3 * frame);
      const distorted = file(folder, 'damaged.y4m', damaged);
      const run = () => scorePair(nodePlatform, { reference, distorted }, { ...options, threads: 1 });
      expect(await refusalOf('media', run)).toMatch(/frame 4 of/);
    });
  });
});

describe('samples that need more bits than the video has', () => {
  const { width, height } = SMALL_10;
  const LUMA = width * height;
  const CHROMA = (width >> 1) * (height >> 1);
  const FRAME = LUMA + 2 * CHROMA;

  /** Raw frames of 10 bits; `set` replaces samples by their index. */
  function raw(set: Readonly<Record<number, number>> = {}, length = 6 * FRAME): Uint8Array<ArrayBuffer> {
    const samples = Uint16Array.from({ length }, (_, i) => (i * 37) % 1024);
    for (const [at, sample] of Object.entries(set)) samples[Number(at)] = sample;
    return new Uint8Array(samples.buffer);
  }

  /** A frame of constant luma and chroma. */
  const flat = (luma: number) => {
    const chroma = new Uint16Array(CHROMA).fill(512);
    return { y: new Uint16Array(LUMA).fill(luma), cb: chroma, cr: chroma };
  };
  const good = file(folder, 'good.yuv', raw());
  const bad = raw({ [4 * FRAME + 999]: 4080, [5 * FRAME]: 5000 });
  const badFile = file(folder, 'bad.yuv', bad);
  const WARNING =
    'Frame 4 of the distorted video has a luma sample of 4080, but 10 bits hold 0 to 1023, so its values are undefined; ';
  const told = ({ warnings }: Pick<Report, 'warnings'>) =>
    warnings.filter((warning) => warning.includes('bits hold'));

  it.each([
    ['here', badFile, { threads: 0 }],
    ['on workers, in chunks of two', badFile, { threads: 2, chunkFrames: 2 }],
    ['in portable code', badFile, { threads: 0, implementation: 'portable' }],
    ['of a stream', streamOf(bad), {}],
  ] as const)('are reported once, with the first such frame, measured %s', async (_, distorted, more) => {
    const report = await score({ reference: good, distorted, raw: SMALL_10 }, { ...PSNR, ...more });
    expect(told(report)).toEqual([expect.stringContaining(WARNING)]);
  });

  it('are reported for both videos, and for chroma if it is read', async () => {
    const distorted = raw({ [LUMA + 3]: 1024 });
    const reference = raw({ [FRAME + LUMA + CHROMA]: 65_535 });
    const request = { reference, distorted, raw: SMALL_10 };
    expect(told(await score(request, { ...PSNR, threads: 0 }))).toEqual([
      expect.stringMatching(/^Frame 0 of the distorted video has a Cb sample of 1024, /),
      expect.stringMatching(/^Frame 1 of the reference video has a Cr sample of 65535, /),
    ]);
    const luma = { features: ['float_psnr'], noPrediction: true, threads: 0 };
    expect(told(await score(request, luma))).toEqual([]);
  });

  it('are reported by a scorer, but not in a picture that no metric reads', async () => {
    const push = async (feature: string, ...pairs: [number, number][]) => {
      const scorer = await createScorer(SMALL_10, { ...PSNR, features: [feature], threads: 0 });
      for (const [reference, distorted] of pairs) await scorer.push(flat(reference), flat(distorted));
      return told(await scorer.finish());
    };
    expect(await push('psnr', [512, 512], [1024, 512])).toEqual([
      expect.stringMatching(/^Frame 1 of the reference video has a luma sample of 1024, /),
    ]);
    // Motion reads only the reference.
    expect(await push('motion', [512, 1024])).toEqual([]);
    expect(await push('motion', [1024, 512])).toEqual([expect.stringContaining('of the reference video')]);
  });

  it.each([
    ['distorted', 'one of the last', { [216 * 32 - 2]: 1024 }, 'cambi', 'luma sample of 1024'],
    ['reference', 'the first', { 0: 65_535 }, 'cambi=full_ref=true', 'luma sample of 65535'],
  ])('of the %s video, %s, make CAMBI refuse', async (side, _, set, feature, found) => {
    // CAMBI needs this width.
    const wide = { ...SMALL_10, width: 216, height: 32 };
    const frame = 1.5 * wide.width * wide.height;
    const [within, beyond] = [raw({}, frame), raw(set, frame)];
    const videos = { reference: within, distorted: within, [side]: beyond, raw: wide };
    const scoring = () => score(videos, { features: [feature], noPrediction: true, threads: 0 });
    expect(await refusalOf('media', scoring)).toContain(
      `The cambi extractor has no value here: the ${side} video has a ${found}, but 10 bits hold 0 to 1023; check`,
    );
  });
});

describe('a file compared with itself', () => {
  const clip = makeSample({ width: 64, height: 64, bitDepth: 8, chroma: '420' }, { seed: 3 });
  const bytes = y4mFile(clip, 'reference', 12);
  const reference = file(folder, 'a.y4m', bytes);
  const messageOf = (findings: Report['preflight'] = []) =>
    findings.find(({ code }) => code === 'identical')?.message;

  it('gets a warning, also under another name, but no other file of the same size does', async () => {
    const { preflight } = await score({ reference, distorted: reference }, { ...PSNR, threads: 1 });
    expect(messageOf(preflight)).toContain(`are the same file, ${reference}`);
    expect(preflight?.find(({ code }) => code === 'identical')?.severity).toBe('warning');
    const copy = await inspect({ reference, distorted: file(folder, 'copy.y4m', bytes) });
    expect(messageOf(copy.findings)).toContain('have the same size and content');
    const encode = file(folder, 'd.y4m', y4mFile(clip, 'distorted', 12));
    expect(messageOf((await inspect({ reference, distorted: encode })).findings)).toBeUndefined();
  });

  it('is reported only as far as it was compared', async () => {
    const large = new Uint8Array(4 << 20).map((_, i) => i % 251);
    const raw = { width: 1024, height: 1024, bitDepth: 8, chroma: '400' } as const;
    const found = async (other: Uint8Array) => {
      const files = { reference: file(folder, 'l.yuv', large), distorted: file(folder, 'm.yuv', other), raw };
      return messageOf((await inspect(files)).findings);
    };
    expect(await found(large)).toContain('at all 64 places that were compared');
    // Between two compared places.
    expect(await found(large.with(40_000, 0))).toContain('at all 64 places that were compared');
    expect(await found(large.with(large.length - 1, 0))).toBeUndefined();
  });
});

describe('raw video', () => {
  const RAW = { width: 176, height: 144, bitDepth: 8, chroma: '420' } as const;
  const clip = makeSample(RAW);
  const [reference, distorted] = [yuvFile(clip, 'reference', 6), yuvFile(clip, 'distorted', 6)];
  const cut = distorted.subarray(0, distorted.length - 1000);
  const turned = { ...RAW, width: 144, height: 176 };

  it('that ends within a frame is refused, however few frames are requested, with the option that accepts it', async () => {
    const range = { unit: 'frames', start: 0, end: 2 } as const;
    for (const options of [{}, { frameCount: 2 }, { scale: 'bicubic' }, { range }] as const)
      await expect(score({ reference, distorted: cut, raw: RAW }, options)).rejects.toThrow(
        /frame 5 of .* is incomplete: 38016 bytes expected, 37016 found; .*; check .*, or pass allowDamaged/,
      );
  });

  it('or Y4M that ends within a frame is scored up to there if damage is allowed, with a warning', async () => {
    const y4m = y4mFile(clip, 'distorted', 6).subarray(0, -1000);
    for (const bytes of [cut, y4m])
      for (const distorted of [bytes, new Blob([bytes]).stream()]) {
        const report = await score({ reference, distorted, raw: RAW }, { allowDamaged: true });
        expect(report.frameCount).toBe(5);
        const wanted = expect.stringMatching(/within frame 5 \(37016 of 38016 bytes found\)/);
        expect(report.warnings).toContainEqual(wanted);
      }
  });

  it('that looks like another geometry is scored with doubt, and the hint resolves it', async () => {
    const report = await score({ reference, distorted, raw: turned });
    expect(report.frameCount).toBe(6);
    expect(trustOf(report).verdict).not.toBe('fine');
    const { findings } = await inspect({ reference, distorted, raw: turned });
    expect(findings.find(({ code }) => code === 'raw-geometry')).toMatchObject({
      severity: 'warning',
      message: expect.stringMatching(/^Both videos may not be 144x176 4:2:0 8 bit: /),
      hint: { purpose: 'fix', option: 'raw', value: RAW },
    });
    const after = await inspect({ reference, distorted, raw: RAW });
    expect(after.findings.map(({ code }) => code)).not.toContain('raw-geometry');
  });
});

describe.each(['reference', 'distorted'] as const)('an error about the %s', (role) => {
  const pair = y4mPair(SMALL, 6);
  const whole = storedPair(folder, role, pair);
  const cut = pair[role].slice(0, -100);
  const damaged = pair[role].slice();
  damaged.fill(0x20, damaged.length / 2);
  const failed = (input: string | ReadableStream<Uint8Array>) =>
    // Other decoders take long to refuse invalid files.
    score({ ...whole, [role]: input }, { ...PSNR, threads: 1, decoder: 'ffmpeg' }).then(
      () => expect.unreachable(),
      ({ code, role: told }: AnyvmafError) => [code, told],
    );

  it.each<[string, string | ReadableStream<Uint8Array>]>([
    ['io', join(folder, 'absent.y4m')],
    ['media', file(folder, `${role}.bin`, new Uint8Array(4096).fill(7))],
    ['media', file(folder, `${role}-cut.y4m`, cut)],
    ['media', file(folder, `${role}-damaged.y4m`, damaged)],
    ['media', new Blob([cut]).stream()],
  ])('has its role: %s', async (code, input) => {
    expect(await failed(input)).toEqual([code, role]);
  });

  it('unless it is about both', async () => {
    const other = file(folder, 'other.y4m', y4mPair({ ...SMALL, width: 64 }, 6)[role]);
    expect(await failed(other)).toEqual(['mismatch', undefined]);
  });
});

const DECIBELS = 'enable_db=true:clip_db=true';
const SSIM = `float_ssim=${DECIBELS}`;

it('AOM v1.0 is v2.0, v3.0 adds CAMBI, v6.0 the common bit depth, v7.0 full-size SSIM', () => {
  const two = [
    'psnr=reduced_hbd_peak=true:enable_apsnr=true:min_sse=0.5',
    'ciede',
    SSIM,
    `float_ms_ssim=${DECIBELS}`,
    'psnr_hvs',
  ];
  for (const version of ['v1.0', 'v2.0']) expect(aomCtc(version).features).toEqual(two);
  for (const version of ['v3.0', 'v4.0', 'v5.0', 'v6.0'])
    expect(aomCtc(version).features).toEqual([...two, 'cambi']);
  expect(aomCtc('v7.0').features).toEqual(
    [...two, 'cambi'].map((text) => (text === SSIM ? `float_ssim=scale=1:${DECIBELS}` : text)),
  );
  const versions = ['v1.0', 'v2.0', 'v3.0', 'v4.0', 'v5.0', 'v6.0', 'v7.0'];
  expect(versions.filter((version) => aomCtc(version).commonBitDepth)).toEqual(['v6.0', 'v7.0']);
  const models = ['version=vmaf_v0.6.1:name=vmaf', 'version=vmaf_v0.6.1neg:name=vmaf_neg'];
  for (const version of versions) expect(aomCtc(version).models).toEqual(models);
});

it('Netflix v1.0 has the 4K models', () => {
  expect(nflxCtc('v1.0')).toEqual({
    models: ['version=vmaf_4k_v0.6.1:name=vmaf', 'version=vmaf_4k_v0.6.1neg:name=vmaf_neg'],
    features: ['psnr=enable_chroma=true:enable_apsnr=true', SSIM, 'cambi'],
    commonBitDepth: false,
  });
});

it('refuses other versions', async () => {
  expect(await refusalOf('usage', () => aomCtc('proposed'))).toMatch(/AOM CTC `proposed` is deprecated/);
  expect(await refusalOf('usage', () => aomCtc('7.0'))).toMatch(/^bad aom_ctc version "7.0"; there are v1.0/);
  expect(await refusalOf('usage', () => nflxCtc('v2.0'))).toBe('bad nflx_ctc version "v2.0"; there is v1.0.');
});

const FORMAT = { width: 240, height: 216, bitDepth: 10, chroma: '420' } as const;

const HERE = { threads: 0, preflight: false } as const;

function request(distortedDepth = 10, shift = 0) {
  const clip = makeSample(FORMAT, { seed: 23 });
  const other = makeSample({ ...FORMAT, bitDepth: distortedDepth }, { seed: 23 });
  const source = sampleSource(other, 'distorted', 2);
  if (shift === 0) return { reference: sampleSource(clip, 'reference', 2), distorted: source };
  const planes = Array.from({ length: 2 }, (_, index) =>
    other.frame('distorted', index).map(({ samples }) => Uint16Array.from(samples, (v) => v << shift)),
  );
  const distorted = {
    ...sampleSource(clip, 'distorted', 2),
    readFrame(index: number, into: { y: Uint8Array; cb?: Uint8Array; cr?: Uint8Array }) {
      planes[index]?.forEach((plane, i) => {
        const target = [into.y, into.cb, into.cr][i];
        target?.set(new Uint8Array(plane.buffer));
      });
      return index < 2;
    },
  };
  return { reference: sampleSource(clip, 'reference', 2), distorted };
}

/** Values of frame 1 by libvmaf 3.2.0's tool with 17 digits on the generated 10-bit clip. */
const LIBVMAF: readonly [ScoreOptions, Readonly<Record<string, number>>, Readonly<Record<string, number>>][] =
  [
    [
      { aomCtc: 'v7.0' },
      {
        psnr_y: 32.23092238315996,
        psnr_cb: 38.40636175521145,
        psnr_cr: 38.98617219706089,
        ciede2000: 34.436422995702884,
        float_ssim: 10.066178511540183,
        float_ms_ssim: 18.929577546892126,
        psnr_hvs_y: 35.71907601870529,
        psnr_hvs_cb: 37.930723026412174,
        psnr_hvs_cr: 38.317944181824465,
        psnr_hvs: 36.10456611136394,
        cambi: 0,
        vmaf: 78.90648649053715,
        vmaf_neg: 77.89260270450208,
      },
      { apsnr_y: 32.175115853566396, apsnr_cb: 38.37665950620963, apsnr_cr: 38.98151524395395 },
    ],
    [
      { nflxCtc: 'v1.0' },
      {
        psnr_y: 32.25643162216481,
        psnr_cb: 38.4318709942163,
        psnr_cr: 39.01168143606574,
        float_ssim: 10.066178511540183,
        cambi: 0,
        vmaf: 83.68279416064124,
        vmaf_neg: 82.9028894272488,
      },
      { apsnr_y: 32.200625092571244, apsnr_cb: 38.40216874521447, apsnr_cr: 39.0070244829588 },
    ],
  ];

it.each(LIBVMAF)('%j gives what libvmaf gives', async (options, frame, aggregates) => {
  const report = await score(request(), { ...options, ...HERE });
  const { metrics = {} } = report.frames[1] ?? {};
  const others = Object.keys(metrics).filter((name) => !/^(VMAF_)?integer_/.test(name));
  expect(others).toEqual(Object.keys(frame));
  for (const name of others) {
    // Predictions differ in the last bits of exp.
    if (name.startsWith('vmaf')) expect(metrics[name]).toBeCloseTo(frame[name] ?? Number.NaN, 10);
    else expect([name, metrics[name]]).toEqual([name, frame[name]]);
  }
  expect(report.aggregate_metrics).toEqual(aggregates);
});

it('takes further models and features beside a preset, under other names', async () => {
  const more = { models: ['version=vmaf_4k_v0.6.1:name=uhd'], features: ['float_moment'] };
  const report = await score(request(), { aomCtc: 'v2.0', ...more, ...HERE });
  expect(report.models.map(({ name }) => name)).toEqual(['vmaf', 'vmaf_neg', 'uhd']);
  expect(report.metrics).toContain('float_moment_ref1st');
  const again = () => score(request(), { nflxCtc: 'v1.0', models: ['version=vmaf_v0.6.1'], ...HERE });
  expect(await refusalOf('usage', again)).toMatch(/names its score "vmaf", as another model does/);
});

it('compares at a common bit depth from v6.0 on, by a shift', async () => {
  const sentence = await refusalOf('mismatch', () => score(request(8), { aomCtc: 'v5.0', threads: 0 }));
  expect(sentence).toMatch(/distorted is 8 bit but reference is 10 bit/);
  const mixed = await score(request(8), { aomCtc: 'v6.0', ...HERE });
  const shifted = await score(request(8, 2), { aomCtc: 'v6.0', ...HERE });
  expect(mixed.frames).toEqual(shifted.frames);
  expect(mixed.pairing).toMatchObject({ bitDepth: 10 });
  const asked = await score(request(8), { models: [], features: ['psnr'], commonBitDepth: true, ...HERE });
  expect(asked.frames[0]?.metrics).toHaveProperty('psnr_y');
});
