/**
 * @module test/node/mcp/tools/vmaf-score
 * `vmaf_score`: libvmaf's numbers, the effect or refusal of every parameter, and a small answer.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../../../src/index.js';
import { DEFAULT_MODEL } from '../../../../src/mcp/scoring/parameters.js';
import { vmafScore } from '../../../../src/mcp/tools/vmaf-score.js';
import { file } from '../../../support/clips.js';
import {
  compareWithFixture,
  type FixtureClip,
  type FixtureRun,
  readFixture,
} from '../../../support/fixtures.js';
import { call, copyModel, fakeContext, refused, videoFolder, writePair } from '../../../support/mcp-tools.js';
import { linear, meanOf } from '../../../support/onnx.js';

/** The first run that fits, with its clip. */
function models(find: (run: FixtureRun) => boolean, file: Parameters<typeof readFixture>[0] = 'models') {
  const all = readFixture(file).flatMap((entry) => entry.runs.map((run) => ({ entry, run })));
  const found = all.find(({ run }) => find(run));
  if (!found) throw new Error('no such fixture');
  return found;
}

const { entry, run: severalModels } = models(({ models: texts = [] }) => texts.length === 4);
const { clip } = entry;

/** A clip as raw video, with its geometry. */
const rawOf = (one: FixtureClip) => ({
  ...writePair(one, 'yuv'),
  width: one.width,
  height: one.height,
  pixfmt: one.chroma,
  bitdepth: one.bitDepth,
});
const raw = () => rawOf(clip);
const context = () => fakeContext(videoFolder());

const score = (args: object = {}) => call(vmafScore, { ...raw(), ...args }, context());
const refusal = (args: object) => refused(vmafScore, { ...raw(), ...args }, context());

/** The document with every frame. */
const full = async (args: Readonly<Record<string, unknown>>): Promise<Report> =>
  call<Report>(vmafScore, { ...raw(), detail: 'frames', precision: 'max', ...args }, context());

describe('vmaf_score', () => {
  it("gives libvmaf's values for several models at once", async () => {
    const report = await full({ models: severalModels.models });
    expect(compareWithFixture(report, severalModels).wrong).toEqual([]);
    expect(report).toMatchObject({ backend_requested: 'auto', backend_used: 'cpu', threads: 0 });
  });

  it('reads the layout and depth of raw video from its parameters', async () => {
    const deep = readFixture('formats').find(
      ({ clip: { chroma, bitDepth, width } }) => chroma === '422' && bitDepth > 8 && width < 400,
    );
    const [run] = deep?.runs ?? [];
    if (!deep || !run) throw new Error('no such fixture');
    const features = run.features && { feature: run.features };
    const report = await full({ ...rawOf(deep.clip), models: run.models, ...features });
    expect(compareWithFixture(report, run).wrong).toEqual([]);
  });

  it('passes viewing conditions on to the adm of the model and of the features', async () => {
    const option = 'adm=adm_norm_view_dist=5:adm_ref_display_height=2160';
    const found = models(({ features }) => features?.[0] === option, 'options');
    const args = { ...rawOf(found.entry.clip), view_distance: 5, display_height: 2160 };
    const byModel = await full(args);
    expect(compareWithFixture(byModel, found.run).wrong).toEqual([]);
    expect(byModel.models[0]?.features).toContain('integer_adm2_nvd_5_rdh_2160');
    const byFeature = await full({ ...args, feature: ['adm=debug=true'], no_prediction: true });
    const measured = Object.keys(byFeature.pooled_metrics).filter((name) => /^integer_adm2/.test(name));
    expect(measured).toEqual(['integer_adm2_nvd_5_rdh_2160']);
  });

  it('can disable the clip and enable the transform', async () => {
    const report = await full({ models: ['version=vmaf_v0.6.1:name=raw'], disable_clip: true });
    expect(report.pooled_metrics.raw?.mean).toBe(mean(severalModels.metrics.raw));
    const phone = await full({ models: ['version=vmaf_v0.6.1:name=phone'], enable_transform: true });
    expect(phone.pooled_metrics.phone?.mean).toBe(mean(severalModels.metrics.phone));
  });

  it('subsamples, skips and limits frames', async () => {
    const { entry: long, run } = models(({ subsample }) => subsample === 3);
    const args = rawOf(long.clip);
    const report = await full({ ...args, subsample: 3 });
    expect(compareWithFixture(report, run).wrong).toEqual([]);
    const part = await full({ ...args, frame_skip_ref: 1, frame_skip_dist: 2, frame_cnt: 3 });
    expect(part.frames.map(({ frameNum }) => frameNum)).toEqual([0, 1, 2]);
    expect([part.reference.skipped, part.distorted.skipped]).toEqual([1, 2]);
  });

  it('refuses raw video that ends within a frame, unless its own parameter allows it', async () => {
    const { dis, ...rest } = raw();
    const torn = join(videoFolder(), 'torn.yuv');
    writeFileSync(torn, readFileSync(dis).subarray(0, -7));
    const args = { ...rest, dis: torn, feature: ['psnr'], no_prediction: true };
    const sentence = await refused(vmafScore, args, context());
    expect(sentence).toContain('pass allow_damaged to score the whole frames');
    expect(await call(vmafScore, { ...args, allow_damaged: true }, context())).toMatchObject({
      frame_count: clip.frames - 1,
    });
  });

  it('extracts without predicting', async () => {
    const report = await full({ no_prediction: true, feature: ['psnr'] });
    expect(report.pooled_metrics).toMatchObject({ psnr_y: {}, integer_vif_scale0: {} });
    expect(report.pooled_metrics.vmaf).toBeUndefined();
  });

  it('takes Y4M that matches the geometry, and refuses other Y4M', async () => {
    const pair = writePair(clip, 'y4m');
    const report = await full({ ...pair, models: severalModels.models });
    expect(compareWithFixture(report, severalModels).wrong).toEqual([]);
    const sentence = await refusal({ ...pair, width: clip.width + 2 });
    expect(sentence).toContain(`${clip.width}x${clip.height}`);
    expect(sentence).toContain(`${clip.width + 2}x${clip.height}`);
  });

  it('takes model files under an allowed root, and no others', async () => {
    const path = copyModel('vmaf_v0.6.1');
    const report = await full({ models: [`path=${path}:name=raw:disable_clip`] });
    expect(report.pooled_metrics.raw?.mean).toBe(mean(severalModels.metrics.raw));
    expect(await refusal({ model: 'path=/etc/passwd' })).toContain('/etc/passwd');
    expect(await refusal({ model: `version=vmaf_v0.6.1:path=/etc/passwd` })).toContain('/etc/passwd');
    // The path that list_models gives.
    const shipped = await full({ model: 'path=model/vmaf_v0.6.1.json:name=raw:disable_clip' });
    expect(shipped.pooled_metrics.raw?.mean).toBe(mean(severalModels.metrics.raw));
  });

  it('asks for the given number of threads, and reports progress in pairs of frames', async () => {
    for (const threads of [undefined, 0, 3]) {
      const one = context();
      await call(vmafScore, { ...raw(), threads }, one);
      expect(one.ran).toEqual([threads || null]);
      expect(one.told.at(-1)).toMatchObject({ done: clip.frames, total: clip.frames });
    }
  });
});

describe('the answer of vmaf_score', () => {
  it('is small by default, with a link to the full report', async () => {
    const one = context();
    const { document, content } = await vmafScore.call(raw(), one);
    const text = JSON.stringify(document);
    expect(text.length).toBeLessThan(8000);
    const answer = JSON.parse(text);
    expect(answer.frames).toBeUndefined();
    expect(answer).toMatchObject({
      backend_requested: 'auto',
      backend_used: 'cpu',
      frame_count: clip.frames,
      full_report: { uri: 'anyvmaf://results/1/report.json' },
      worst_frames: { metric: 'vmaf', worse: 'low' },
    });
    expect(Object.keys(answer.distribution)).toEqual(['vmaf']);
    expect(answer.summary).toContain('vmaf ');
    expect(content).toMatchObject([{ type: 'resource_link', uri: answer.full_report.uri }]);
    const report = JSON.parse(String(one.published[0]?.data));
    expect(report.frames).toHaveLength(clip.frames);
    expect(report.pooled_metrics).toEqual(answer.pooled_metrics);
  });

  it('has the requested number of digits', async () => {
    const libvmaf = mean(severalModels.metrics.raw);
    const args = { ...raw(), model: 'version=vmaf_v0.6.1:disable_clip:name=raw' };
    for (const [precision, expected] of [
      ['legacy', Number(libvmaf.toFixed(6))],
      ['4', Number(libvmaf.toPrecision(4))],
      ['max', libvmaf],
      ['full', libvmaf],
      ['17', libvmaf],
    ] as const) {
      const answer = await call(vmafScore, { ...args, precision }, context());
      expect(answer.pooled_metrics?.raw?.mean, precision).toBe(expected);
    }
  });

  it.each([
    [{ output_fmt: 'xml' }, 'xml', /^<VMAF version=/],
    [{ output_fmt: 'csv' }, 'csv', /^Frame,/],
    [{ csv: true }, 'csv', /^Frame,/],
    [{ csv: true, output_fmt: 'csv' }, 'csv', /^Frame,/],
    [{ sub: true }, 'sub', /^\{0\}\{1\}/],
  ])('is a text for %j', async (args, format, start) => {
    const answer = await score({ backend: 'cpu', ...args });
    const { output, mismatched_model_warning: _, ...rest } = answer;
    expect(output).toMatch(start);
    expect(rest).toEqual({
      ...{ verdict: 'fine', confidence: 'high', reasons: [], next_action: expect.anything() },
      format,
      trust: { verdict: 'fine', codes: [] },
      backend_requested: 'cpu',
      backend_used: 'cpu',
    });
  });

  it('names the lowest frame first', async () => {
    const libvmaf = severalModels.metrics.raw ?? [];
    const lowest = libvmaf.indexOf(Math.min(...libvmaf.map((value) => value ?? Number.NaN)));
    const answer = await score({ model: 'version=vmaf_v0.6.1:disable_clip:name=raw', precision: 'max' });
    expect(answer.worst_frames?.frames[0]).toEqual({ frame: lowest, value: libvmaf[lowest] });
  });

  it('warns about a model for other pictures', async () => {
    const small = await score({ model: 'version=vmaf_4k_v0.6.1' });
    const message = /vmaf_4k_v0\.6\.1 is meant for 4k .* 160x90 \(sd\), so its scores are not valid for them/;
    expect(small.mismatched_model_warning).toMatch(message);
    const bare = await score({ no_prediction: true });
    expect(bare.mismatched_model_warning).toBeUndefined();
    const hd = readFixture('formats').find((one) => one.clip.width === 1283);
    if (!hd) throw new Error('no such fixture');
    const fits = await score({ ...rawOf(hd.clip), model: DEFAULT_MODEL });
    expect(fits.mismatched_model_warning).toBeUndefined();
  });
});

const size = { width: 240, height: 216, bitDepth: 8, chroma: '420' } as const;
const presetClip = { content: 'sample', ...size, frames: 1, seed: 23 } as const;

it.each([
  [
    { aom_ctc: 'v7.0' },
    ['psnr_y', 'ciede2000', 'float_ssim', 'float_ms_ssim', 'psnr_hvs', 'cambi', 'vmaf', 'vmaf_neg'],
    'vmaf_v0.6.1neg',
  ],
  [{ nflx_ctc: 'v1.0' }, ['psnr_y', 'float_ssim', 'cambi', 'vmaf', 'vmaf_neg'], 'vmaf_4k_v0.6.1neg'],
])('the preset %j scores with its models and features', async (preset, metrics, neg) => {
  const answer = await score({ ...rawOf(presetClip), ...preset });
  expect(Object.keys(answer.pooled_metrics ?? {})).toEqual(expect.arrayContaining(metrics));
  expect(JSON.stringify(answer)).toContain(neg);
});

const tiny = () => file(videoFolder(), 'tiny.onnx', linear([1, 0, 0, 0, 0, 0], 0));

describe('tiny models in vmaf_score', () => {
  it('score beside VMAF, on features measured for them', async () => {
    const device = { tiny_device: 'cpu', tiny_threads: 0, tiny_fp16: true };
    const report = await full({ tiny_model: tiny(), ...device });
    for (const { metrics } of report.frames) {
      expect(metrics.vmaf_tiny_model).toBeCloseTo(metrics.integer_adm2 ?? 0, 5);
      expect(metrics.vmaf).toBeGreaterThan(0);
    }
    expect(report.tiny).toMatchObject([{ name: 'vmaf_tiny_model', device: 'cpu' }]);
  });

  it('score the distorted video alone, without a reference', async () => {
    const tiny_model = file(videoFolder(), 'alone.onnx', meanOf(['B', 1, 'H', 'W'], { factor: 255 }));
    const { ref: _, ...rest } = raw();
    const args = { ...rest, tiny_model, no_reference: true };
    const found = await call(vmafScore, args, context());
    expect(found).toMatchObject({ no_reference: true, models: [] });
    expect(Object.keys(found.pooled_metrics ?? {})).toEqual(['vmaf_tiny_model']);
    expect(found.summary).toMatch(/^vmaf_tiny_model [\d.]+ on average/);
  });
});

describe('what vmaf_score refuses', () => {
  it.each([
    [{ no_reference: true, tiny_model: 'm.onnx' }, /m\.onnx is not allowed/],
    [{ no_reference: true }, /^no_reference requires tiny_model; no classic NR scorer exists/],
    [{ tiny_model: tiny(), tiny_model_verify: true }, /A signature of .* is required/],
    [{ tiny_model: tiny(), tiny_codec: 'libx264' }, /codec/],
    [{ tiny_model: tiny(), tiny_preset: 'slow' }, /tiny_preset|codec/],
    [{ tiny_model: tiny(), tiny_crf: 23 }, /tiny_crf|codec/],
    [{ backend: 'cuda' }, /cuda/],
    [{ aom_ctc: 'v1.0', feature: ['psnr'] }, /aom_ctc and feature exclude each other/],
    [{ tiny_model: 'no-such-id' }, /There is no tiny model "no-such-id"; there are /],
    [{ ref: undefined }, /^ref is missing; it may be omitted only with no_reference/],
    [{ tiny_device: 'cuda' }, /^tiny_device is "cuda"/],
    [{ tiny_device: 'cuda', dnn_ep: 'rocm' }, /tiny_device is cuda and dnn_ep is rocm/],
    [{ dnn_ep: 'cpu' }, /^dnn_ep is "cpu"/],
    [{ tiny_threads: 4 }, /^tiny_threads is 4/],
    [{ tiny_fp16: true }, /^tiny_fp16 is true/],
    [{ tiny_precision: 'fp32' }, /^tiny_precision is "fp32"/],
    [{ tiny_codec: 'libx264' }, /^tiny_codec is "libx264"/],
    [{ tiny_preset: 'slow' }, /^tiny_preset is "slow"/],
    [{ tiny_crf: 20 }, /^tiny_crf is 20/],
    [{ tiny_resize: 'bicubic' }, /^tiny_resize is "bicubic"/],
    [{ aom_ctc: 'v6.0' }, /^The float_ms_ssim extractor needs pictures of at least 176x176/],
    [{ nflx_ctc: 'v1.0' }, /^The cambi extractor needs pictures of at least 216/],
    [{ aom_ctc: 'v1.0', model: 'version=vmaf_v0.6.1neg' }, /aom_ctc and model exclude each other/],
    [{ nflx_ctc: 'v1.0', models: ['auto:name=x'] }, /nflx_ctc and models exclude each other/],
    [{ aom_ctc: 'v1.0', enable_transform: true }, /aom_ctc and enable_transform exclude each other/],
    [{ nflx_ctc: 'v1.0', aom_ctc: 'v1.0' }, /aom_ctc and nflx_ctc exclude each other/],
    [{ feature: ['cambi=heatmaps_path=maps'] }, /^heatmaps_path would write files on the machine of this/],
    [{ model: 'version=vmaf_v0.6.1:cambi.heatmaps_path=maps' }, /^heatmaps_path would write files/],
    [
      { target_width: 1920 },
      /^target_width is 1920, target_height 0 and .* none, but these parameters are reserved/,
    ],
    [{ target_height: 1080 }, /^target_width is 0, target_height 1080 and target_scaling none/],
    [{ target_scaling: 'lanczos' }, /^target_width is 0, target_height 0 and target_scaling lanczos/],
    [{ cpumask: 1 }, /^cpumask is 1, but the built-in core has one instruction set/],
    [{ sycl_device: 1 }, /^sycl_device is 1, but backend is auto/],
    [{ hip_device: 1, backend: 'sycl' }, /^hip_device is 1, but backend is sycl/],
    [{ metal_device: 2 }, /^metal_device is 2/],
    [{ native_cpu: true }, /^native_cpu requires backend cpu/],
    [{ csv: true, sub: true }, /csv and sub are both true/],
    [{ csv: true, output_fmt: 'xml' }, /csv is true, but output_fmt is xml/],
    [{ model: 'neg', models: ['hd'] }, /only one of the two may be given; put all into models/],
    [{ models: ['version=vmaf_v0.6.1', 'version=vmaf_v0.6.1neg'] }, /add name=NAME/],
    [{ feature: ['psnr=nothing=1'] }, /no option "nothing"/],
    [{ view_distance: 3, display_height: 100 }, /display/],
  ])('%j', async (args, sentence) => {
    expect(await refusal(args)).toMatch(sentence);
  });

  it('values outside the schema', () => {
    for (const args of [
      ...[{ width: '160' }, { pixfmt: '400' }, { bitdepth: 9 }, { backend: 'vulkan' }, { precision: '18' }],
      ...[{ precision: 17 }, { models: [] }, { ref: '' }, { output_fmt: 'ndjson' }, { dis: undefined }],
    ]) {
      const { success } = vmafScore.inputSchema.safeParse({ ...raw(), ...args });
      expect(success, JSON.stringify(args)).toBe(false);
    }
  });

  it('accepts the defaults of parameters that it does not support', async () => {
    const answer = await score({
      ...{ tiny_device: 'auto', dnn_ep: 'auto', tiny_threads: 0, tiny_fp16: false, tiny_precision: 'auto' },
      ...{ tiny_resize: 'disabled', target_width: 0, target_height: 0, target_scaling: 'none', cpumask: 0 },
      ...{ no_reference: false, sycl_device: 0 },
    });
    expect(answer).toMatchObject({ backend_used: 'cpu', frame_count: clip.frames });
  });

  it('gpumask only keeps auto from looking for a GPU', async () => {
    const answer = await score({ gpumask: 1 });
    expect(answer).toMatchObject({ backend_requested: 'auto', backend_used: 'cpu' });
  });
});

function mean(values: readonly (number | null)[] | undefined): number {
  const numbers = (values ?? []).map((value) => value ?? Number.NaN);
  return numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
}
