/**
 * @module test/node/core/presets
 * The common test conditions: what each version is made of, and what libvmaf 3.2.0 gives for the set.
 */
import { expect, it } from 'vitest';
import { aomCtc, nflxCtc } from '../../../src/core/presets.js';
import type { ScoreOptions } from '../../../src/engine/contract/types.js';
import { score } from '../../../src/index.js';
import { sampleSource } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { refusalOf } from '../../support/models.js';
import { needsShared, sharedPath } from '../../support/shared.js';

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
  for (const version of versions) {
    expect(aomCtc(version).models).toEqual([
      'version=vmaf_v0.6.1:name=vmaf',
      'version=vmaf_v0.6.1neg:name=vmaf_neg',
    ]);
  }
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
  const report = await score(request(), { ...options, threads: 0 });
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
  const report = await score(request(), {
    aomCtc: 'v2.0',
    models: ['version=vmaf_4k_v0.6.1:name=uhd'],
    features: ['float_moment'],
    threads: 0,
  });
  expect(report.models.map(({ name }) => name)).toEqual(['vmaf', 'vmaf_neg', 'uhd']);
  expect(report.metrics).toContain('float_moment_ref1st');
  const again = () => score(request(), { nflxCtc: 'v1.0', models: ['version=vmaf_v0.6.1'], threads: 0 });
  expect(await refusalOf('usage', again)).toMatch(/names its score "vmaf", as another model does/);
});

it('compares at a common bit depth from v6.0 on, by a shift', async () => {
  expect(await refusalOf('mismatch', () => score(request(8), { aomCtc: 'v5.0', threads: 0 }))).toMatch(
    /distorted is 8 bit but reference is 10 bit/,
  );
  const mixed = await score(request(8), { aomCtc: 'v6.0', threads: 0 });
  const shifted = await score(request(8, 2), { aomCtc: 'v6.0', threads: 0 });
  expect(mixed.frames).toEqual(shifted.frames);
  expect(mixed.pairing).toMatchObject({ bitDepth: 10 });
  const asked = await score(request(8), { models: [], features: ['psnr'], commonBitDepth: true, threads: 0 });
  expect(asked.frames[0]?.metrics).toHaveProperty('psnr_y');
});

const clip = sharedPath('clips/src01_hrc00_576x324.yuv420p10le.yuv');

it.skipIf(clip === undefined)(`repeats the tool's example report (${needsShared})`, async () => {
  const report = await score(
    {
      reference: clip ?? '',
      distorted: (clip ?? '').replace('hrc00', 'hrc01'),
      raw: { width: 576, height: 324, bitDepth: 10, chroma: '420' },
    },
    { aomCtc: 'v3.0', frameCount: 2, threads: 0 },
  );
  const six = (value: number | null | undefined) => value?.toFixed(6);
  const [first, second] = report.frames;
  expect(six(first?.metrics.ciede2000)).toBe('35.736006');
  expect(six(second?.metrics.ciede2000)).toBe('34.083841');
  expect(six(report.pooled_metrics.ciede2000?.harmonic_mean)).toBe('34.890920');
  expect(six(first?.metrics.vmaf)).toBe('83.856284');
  expect(six(second?.metrics.vmaf)).toBe('83.047662');
  expect(six(report.pooled_metrics.vmaf?.mean)).toBe('83.451973');
  expect(six(second?.metrics.integer_adm2)).toBe('0.949766');
});
