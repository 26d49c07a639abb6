/**
 * @module test/node/engine/tiny
 * Tiny models in a run: features measured for them, where their values are, refusals, and runs without a reference.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import {
  createScorer,
  type FrameMetrics,
  formatReport,
  type Report,
  type ScoreOptions,
  score,
  type TinyModelOptions,
} from '../../../src/index.js';
import type { VideoInput } from '../../../src/media/types.js';
import { testFolder } from '../../support/folders.js';
import { differenceOf, linear, meanOf, model, node, port } from '../../support/onnx.js';
import { seeded } from '../../support/random.js';
import { refusalOf } from '../../support/refusals.js';
import { exhaustive } from '../../support/tier.js';

const FORMAT = { width: 32, height: 24, bitDepth: 8, chroma: '420' } as const;
const FRAMES = 7;
const LUMA = FORMAT.width * FORMAT.height;
const FRAME = (LUMA * 3) / 2;
const random = seeded(7);
const reference = random.bytes(FRAMES * FRAME);
const distorted = reference.map((value, i) => (i % 3 === 0 ? value >> 1 : value));

const folder = testFolder();
const at = (name: string) => join(folder, name);

/** A graph with an output of its input's shape. */
const relu = (dims: readonly (number | string)[]) =>
  model({ nodes: [node('Relu', ['x'], ['y'])], inputs: [port('x', dims)], outputs: [port('y', dims)] });

beforeAll(() => {
  const files: Record<string, Uint8Array | object> = {
    'plain.onnx': linear([1, 2, 3, 4, 5, 6], 7),
    'one.onnx': linear([1, 2, 3, 4, 5, 6], 7, { rows: 1 }),
    'one.json': { name: 'one_by_one' },
    'scaled.onnx': linear([1, 1], 0),
    'scaled.json': {
      ...{ name: 'scaled', feature_order: ['motion2', 'psnr_y'] },
      ...{ feature_mean: [1, 30], feature_std: [2, 4] },
    },
    'options.onnx': linear([1], 0),
    'options.json': {
      name: 'options',
      features: ['VMAF_integer_feature_adm3_score'],
      feature_opts_dicts: [{ adm_enhn_gain_limit: 1 }],
    },
    'codec.onnx': model({
      nodes: [
        node('ReduceSum', ['features'], ['a'], { keepdims: { int: 0 } }),
        node('ReduceMax', ['codec'], ['b'], { axes: { ints: [1] }, keepdims: { int: 0 } }),
        node('Add', ['a', 'b'], ['score']),
      ],
      inputs: [port('features', [1, 6]), port('codec', [1, 3])],
      outputs: [port('score', [1])],
    }),
    'codec.json': { name: 'codec', encoder_vocab: ['libx264'] },
    'mean.onnx': meanOf(['B', 1, 'H', 'W'], { factor: 255 }),
    'mean.json': { name: 'luma_mean', kind: 'nr' },
    'pair.onnx': differenceOf(['B', 1, 'H', 'W']),
    'pair.json': { name: 'pair' },
    'half-fixed.onnx': differenceOf([1, 1, 12, 16], ['B', 1, 'H', 'W']),
    'nan.onnx': model({
      nodes: [
        node('ReduceMean', ['x'], ['m'], { keepdims: { int: 0 } }),
        node('Neg', ['m'], ['n']),
        node('Log', ['n'], ['y']),
      ],
      inputs: [port('x', [1, 1, 'H', 'W'])],
      outputs: [port('y', [])],
    }),
    'filter.onnx': relu([1, 1, 'H', 'W']),
    'filter.json': { kind: 'filter' },
    'wide.onnx': linear([1, 2, 3], 0),
    'three.onnx': relu([1, 3, 4]),
    'two.onnx': model({
      nodes: [node('Identity', ['x'], ['a']), node('Neg', ['x'], ['b'])],
      inputs: [port('x', ['N', 1])],
      outputs: [port('a', ['N', 1]), port('b', ['N', 1])],
    }),
    'two.json': { name: 'two', features: ['vif_scale0'], output_names: ['a', 'b'] },
    'named.onnx': linear([1], 0),
    'named.json': { input_name: 'feature', features: ['adm2'] },
    'unknown.onnx': linear([1], 0),
    'unknown.json': { features: ['shot_count'] },
  };
  for (const [name, content] of Object.entries(files))
    writeFileSync(at(name), content instanceof Uint8Array ? content : JSON.stringify(content));
});

function run(tiny: readonly TinyModelOptions[], options: ScoreOptions = {}): Promise<Report> {
  return score(
    { reference, distorted, raw: FORMAT },
    { models: [], threads: 0, preflight: false, ...options, tiny },
  );
}

function alone(
  tiny: readonly TinyModelOptions[],
  options: ScoreOptions = {},
  video: VideoInput = distorted,
  raw: VideoFormat = FORMAT,
): Promise<Report> {
  return score({ distorted: video, raw }, { threads: 0, noReference: true, ...options, tiny });
}

const scales = [0, 1, 2, 3].map((scale) => `integer_vif_scale${scale}`);
const six = ['integer_adm2', ...scales, 'integer_motion2'];

/** `7 + sum((i + 1) * x[i])` of the six features. */
const weighted = (metrics: FrameMetrics['metrics']): number =>
  six.reduce((sum, name, i) => sum + (i + 1) * (metrics[name] ?? Number.NaN), 7);

/** The mean of a frame's luma. */
const lumaMean = (video: Uint8Array, frame: number): number =>
  video.subarray(frame * FRAME, frame * FRAME + LUMA).reduce((sum, value) => sum + value, 0) / LUMA;

describe('a feature model', () => {
  it('gets its features without any VMAF model, and has a value in every frame', async () => {
    const report = await run([{ model: at('plain.onnx') }]);
    expect(report.models).toEqual([]);
    expect(report.warnings.join()).toContain('has no sidecar that names its features');
    expect(report.frames).toHaveLength(FRAMES);
    for (const { metrics } of report.frames)
      expect(metrics.vmaf_tiny_model).toBeCloseTo(weighted(metrics), 4);
    const values = report.frames.map(({ metrics }) => metrics.vmaf_tiny_model ?? Number.NaN);
    const mean = values.reduce((sum, value) => sum + value, 0) / FRAMES;
    expect(report.pooled_metrics.vmaf_tiny_model?.mean).toBeCloseTo(mean, 9);
    const device = { device: 'cpu', device_requested: 'auto' };
    expect(report.tiny).toMatchObject([{ name: 'vmaf_tiny_model', features: six, kind: 'fr', ...device }]);
    expect(report.metrics.filter((name) => /psnr|cambi|vmaf$/.test(name))).toEqual([]);
  });

  it('runs row by row if its graph takes one', async () => {
    const report = await run([{ model: at('one.onnx') }, { model: at('plain.onnx') }]);
    for (const { metrics } of report.frames)
      expect(metrics.one_by_one).toBeCloseTo(metrics.vmaf_tiny_model ?? 0, 5);
  });

  it('is listed beside VMAF in every report format', async () => {
    const report = await run([{ model: at('plain.onnx') }], { models: ['version=vmaf_v0.6.1'] });
    expect(report.metrics.slice(-2)).toEqual(['vmaf', 'vmaf_tiny_model']);
    for (const format of ['json', 'xml', 'csv', 'ndjson'] as const)
      expect(formatReport(report, format)).toContain('vmaf_tiny_model');
    const { tiny } = JSON.parse(formatReport(report, 'json'));
    expect(tiny).toMatchObject([{ runtime: 'onnxruntime-node', registered: false }]);
  });

  it('gets scaled features if its sidecar requests it', async () => {
    const { frames } = await run([{ model: at('scaled.onnx') }]);
    for (const { metrics } of frames) {
      const { integer_motion2: motion = 0, psnr_y: psnr = 0, scaled } = metrics;
      expect(scaled).toBeCloseTo((motion - 1) / 2 + (psnr - 30) / 4, 4);
    }
  });

  it('may set extractor options', async () => {
    const { frames, tiny } = await run([{ model: at('options.onnx') }]);
    expect(tiny?.[0]?.features).toEqual(['integer_adm3_egl_1']);
    for (const { metrics } of frames) expect(metrics.options).toBeCloseTo(metrics.integer_adm3_egl_1 ?? 0, 6);
  });

  it('may give several values', async () => {
    const { frames } = await run([{ model: at('two.onnx') }]);
    for (const { metrics } of frames) expect(metrics.two_a).toBe(-(metrics.two_b ?? 0));
  });

  it('gets the encoder', async () => {
    const asked = { model: at('codec.onnx'), codec: 'h264', preset: 'placebo', crf: 63 };
    const { frames, tiny } = await run([asked]);
    const [first] = frames;
    const sum = six.reduce((total, name) => total + (first?.metrics[name] ?? 0), 0);
    expect(first?.metrics.codec).toBeCloseTo(sum + 1, 4);
    expect(tiny?.[0]).toMatchObject({ codec: 'h264', preset: 'placebo', crf: 63 });
    await expect(run([{ model: at('codec.onnx') }])).rejects.toThrow('tiny_codec');
    await expect(run([{ model: at('plain.onnx'), crf: 3 }])).rejects.toThrow('tiny_crf does not apply');
  });

  it('is reported during the run, frame by frame in order', async () => {
    const told: number[] = [];
    const report = await run([{ model: at('plain.onnx') }], {
      onFrame: ({ frameNum, metrics }) => {
        expect(metrics.vmaf_tiny_model).toBeCloseTo(weighted(metrics), 4);
        told.push(frameNum);
      },
      onStart: ({ tiny, metrics }) => {
        expect(told).toEqual([]);
        expect(tiny?.[0]?.device).toBe('cpu');
        expect(metrics).toContain('vmaf_tiny_model');
      },
    });
    expect(told).toEqual(report.frames.map(({ frameNum }) => frameNum));
  });
});

describe('a picture model', () => {
  it('reads the distorted video, not the reference', async () => {
    const { frames, tiny } = await run([{ model: at('mean.onnx') }]);
    expect(tiny?.[0]).toMatchObject({ kind: 'nr', features: [] });
    for (const [i, { metrics }] of frames.entries())
      expect(metrics.luma_mean).toBeCloseTo(lumaMean(distorted, i), 3);
  });

  it('of two pictures compares them', async () => {
    const { frames } = await run([{ model: at('pair.onnx') }]);
    const difference = (frame: number) => {
      let sum = 0;
      for (let i = frame * FRAME; i < frame * FRAME + LUMA; i++)
        sum += Math.abs((reference[i] ?? 0) - (distorted[i] ?? 0));
      return sum / LUMA / 255;
    };
    for (const [i, { metrics }] of frames.entries()) expect(metrics.pair).toBeCloseTo(difference(i), 5);
  });

  it('gives the same on workers, in chunks and subsampled', async () => {
    const wanted = [{ model: at('mean.onnx') }, { model: at('plain.onnx') }, { model: at('pair.onnx') }];
    const whole = await run(wanted);
    writeFileSync(at('ref.yuv'), reference);
    writeFileSync(at('dis.yuv'), distorted);
    const files = { reference: at('ref.yuv'), distorted: at('dis.yuv'), raw: FORMAT };
    const onWorkers = await score(files, { models: [], threads: 2, chunkFrames: 2, tiny: wanted });
    const fed = await run(wanted, { threads: 2 });
    expect(onWorkers.frames).toEqual(whole.frames);
    expect(fed.frames).toEqual(whole.frames);
    expect(onWorkers.tiny).toEqual(whole.tiny);
    const third = await run(wanted, { subsample: 3 });
    expect(third.frames).toEqual(whole.frames.filter(({ frameNum }) => frameNum % 3 === 0));
  });

  it('works on frames that are pushed', async () => {
    const tiny = [{ model: at('mean.onnx') }, { model: at('plain.onnx') }];
    const whole = await run(tiny);
    for (const threads of [0, 1]) {
      await using scorer = await createScorer(FORMAT, { models: [], threads, tiny });
      for (let frame = 0; frame < FRAMES; frame++) {
        const planes = (video: Uint8Array) => ({ y: video.subarray(frame * FRAME, frame * FRAME + LUMA) });
        await scorer.push(planes(reference), planes(distorted));
      }
      const report = await scorer.finish();
      expect(report.frames).toEqual(whole.frames);
      expect(report.tiny).toEqual(whole.tiny);
    }
  });
});

describe('without a reference', () => {
  it('a no-reference model gives the same scores, and nothing else is measured', async () => {
    const report = await alone([{ model: at('mean.onnx') }]);
    const found = report.frames.map(({ metrics }) => Object.keys(metrics));
    expect(found).toEqual(Array(FRAMES).fill(['luma_mean']));
    const beside = await run([{ model: at('mean.onnx') }]);
    expect(report.frames).toEqual(beside.frames);
    expect(report).toMatchObject({ noReference: true, frameCount: FRAMES, warnings: [] });
    expect(JSON.parse(formatReport(report, 'json'))).toMatchObject({ no_reference: true });
    writeFileSync(at('dis.yuv'), distorted);
    const file = await alone([{ model: at('mean.onnx') }], { threads: 2 }, at('dis.yuv'));
    expect(file.frames).toEqual(report.frames);
  });

  it('skips and limits frames as usual', async () => {
    const report = await alone([{ model: at('mean.onnx') }], { skipDistorted: 2, frameCount: 3 });
    const all = await alone([{ model: at('mean.onnx') }]);
    const listed = report.frames.map(({ metrics }) => metrics);
    expect(listed).toEqual(all.frames.slice(2, 5).map(({ metrics }) => metrics));
    const piped = await alone([{ model: at('mean.onnx') }], {}, new Blob([distorted]).stream());
    expect(piped.frames).toEqual(all.frames);
    expect(piped.warnings).toEqual([]);
  });

  it('pictures must be large enough for the engine', async () => {
    const size = { ...FORMAT, width: 16, height: 16 };
    const small = alone([{ model: at('mean.onnx') }], {}, new Uint8Array(384), size);
    await expect(small).rejects.toThrow('the videos are 16x16, too small to be measured');
  });

  it('the model must not need a reference', async () => {
    const run = score({ distorted, raw: FORMAT }, { noReference: true });
    await expect(run).rejects.toThrow('needs a no-reference tiny model');
    await expect(alone([{ model: at('plain.onnx') }])).rejects.toThrow('reads features (adm2, ');
    await expect(alone([{ model: at('pair.onnx') }])).rejects.toThrow('compares pictures with those of a');
    for (const options of [{ features: ['psnr'] }, { strict: true }, { trackReference: 1 }])
      await expect(alone([{ model: at('mean.onnx') }], options)).rejects.toThrow('exclude each');
  });
});

describe('refusals', () => {
  it.each([
    ['filter.onnx', 'it is a filter'],
    ['wide.onnx', 'takes 3 features, but no sidecar names them'],
    ['three.onnx', 'has rank 3; features have rank 2'],
    ['named.onnx', 'its sidecar names the input "feature", but the graph has "features"'],
    ['unknown.onnx', 'reads the feature "shot_count", which no extractor provides'],
    ['half-fixed.onnx', 'takes pictures of 16x12, but these are 32x24; set tiny_resize'],
    ['nan.onnx', 'returns NaN for frame 0, which is not a score'],
  ])('%s', async (name, why) => {
    await expect(run([{ model: at(name) }])).rejects.toThrow(why);
    if (name === 'nan.onnx' || exhaustive)
      await expect(run([{ model: at(name) }], { threads: 1 })).rejects.toThrow(why);
  });

  it('the same name twice, until one is renamed', async () => {
    const twice = { model: at('plain.onnx') };
    await expect(run([twice, twice])).rejects.toThrow('Two metrics would be called "vmaf_tiny_model"');
    const { frames } = await run([twice, { ...twice, name: 'again' }]);
    expect(frames[0]?.metrics.again).toBe(frames[0]?.metrics.vmaf_tiny_model);
  });

  it('invalid options and absent devices', async () => {
    const wrong = (options: object) => run([{ model: at('plain.onnx'), ...options }]);
    await expect(wrong({ crf: 64 })).rejects.toThrow('tiny[0].crf is 64');
    await expect(wrong({ resize: 'lanczos' })).rejects.toThrow('tiny[0].resize is "lanczos"');
    await expect(wrong({ modell: 'x' })).rejects.toThrow('tiny[0] has no option "modell"');
    await expect(wrong({ device: 'rocm' })).rejects.toThrow('device rocm is not available for tiny models');
    await expect(run([{ model: at('mean.onnx'), device: 'rocm' }], { threads: 1 })).rejects.toThrow('rocm');
    await expect(wrong({ resize: 'bilinear' })).rejects.toThrow('tiny_resize does not apply');
  });

  it('native backends, which have no tiny models', async () => {
    const work = run([{ model: at('plain.onnx') }], { backend: 'native-cpu' });
    await expect(work).rejects.toThrow('the backend native-cpu does not support tiny');
  });
});

it('a small file that would need gigabytes is refused before a session is created', async () => {
  const model = fileURLToPath(new URL('../../fixtures/hostile/onnx-pad.onnx', import.meta.url));
  const message = /refused for an input of 1x1x24x32: the output of its operator Pad "y" has \d+ elements/;
  expect(await refusalOf('model', () => alone([{ model }]))).toMatch(message);
});
