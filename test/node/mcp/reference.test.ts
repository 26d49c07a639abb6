/**
 * @module test/node/mcp/reference
 * The reference's tools, a row for each documented field of their requests and responses, called over raw lines. A comment
 * behind a row says how it deviates from the documentation.
 */
import { basename, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { McpHost } from '../../../src/mcp/host.js';
import { listTools } from '../../../src/mcp/server.js';
import { serveLines } from '../../../src/mcp/stdio.js';
import { TOOLS } from '../../../src/mcp/tools/index.js';
import { file } from '../../support/clips.js';
import { type FakeHost, fakeEncoding } from '../../support/encoding-host.js';
import type { ProgressNotice } from '../../support/mcp-clients.js';
import { INITIALIZE, Lines } from '../../support/mcp-host.js';
import { evaluationFiles, inThisThread, SIX, videoFolder, writePair } from '../../support/mcp-tools.js';

type Args = Readonly<Record<string, unknown>>;

/** A call's answer. */
interface Answer {
  readonly isError: boolean;
  readonly document: Readonly<Record<string, unknown>>;
}
const clip = { content: 'pattern', width: 64, height: 48, frames: 3, chroma: '420', bitDepth: 8 } as never;
const raw = writePair(clip, 'yuv');
const y4m = writePair(clip, 'y4m');
/** Presets measure features that need larger pictures. */
const largeClip = { ...(clip as object), width: 320, height: 240, frames: 1 } as never;
const largeRaw = writePair(largeClip, 'yuv');
const geometry = { width: 64, height: 48, pixfmt: '420', bitdepth: 8 };
const { features, good: tiny_model, worse } = evaluationFiles();
const film = file(videoFolder(), 'reference.mkv', Buffer.from('\x1aE\xdf\xa3', 'latin1'));
const yuv = file(videoFolder(), 'source.yuv', new Uint8Array(320 * 176 * 3));
const rawSource = { src: yuv, width: 320, height: 176 };

/** Arguments of each tool. */
const CALLS: Readonly<Record<string, Args>> = {
  vmaf_score: { ...raw, ...geometry },
  list_models: {},
  list_backends: {},
  eval_model_on_split: { model: tiny_model, features },
  compare_models: {
    models: [tiny_model, worse, file(videoFolder(), 'broken.onnx', Buffer.from('broken'))],
    features,
  },
  describe_worst_frames: { ...raw, ...geometry, n: 1, describe: false },
  probe_backend: { backend: 'cpu' },
  vmaf_version: {},
  vmaf_score_encoded: { reference_encoded: y4m.ref, distorted_encoded: y4m.dis },
  list_extractors: {},
  describe_model: { name: 'vmaf_v0.6.1' },
  run_compare: { src: film, encoders: 'libx264,libx265', target_vmafs: '70,80' },
  run_ladder: { src: film, resolutions: '176,160x88', target_vmafs: '40,60' },
  run_tune_per_shot: { src: film, target_vmaf: 60 },
};

/** A value is taken, or refused with this message. */
type Outcome = 'taken' | RegExp;

type RequestRow = [tool: string, field: string, args: Args, outcome: Outcome];

/** Rows of both scoring tools, whose schemas are compared elsewhere. */
const SCORING: readonly (readonly [field: string, args: Args, outcome: Outcome])[] = [
  ['model', { model: 'version=vmaf_v0.6.1' }, 'taken'],
  ['backend', { backend: 'auto' }, 'taken'],
  ['backend', { backend: 'cpu' }, 'taken'],
  ['backend', { backend: 'cuda' }, /"cuda".*no.*fall|cuda/],
  ['precision', { precision: 'legacy' }, 'taken'],
  ['precision', { precision: 'max' }, 'taken'],
  ['precision', { precision: '17' }, 'taken'],
  ['tiny_model', { tiny_model }, 'taken'],
  ['tiny_device', { tiny_model, tiny_device: 'auto' }, 'taken'],
  ['tiny_device', { tiny_model, tiny_device: 'cpu' }, 'taken'],
  ['tiny_threads', { tiny_model, tiny_threads: 0 }, 'taken'],
  ['tiny_fp16', { tiny_model, tiny_fp16: true }, 'taken'],
  ['tiny_model_verify', { tiny_model, tiny_model_verify: true }, /tiny_model_verify/],
  ['tiny_codec', { tiny_model, tiny_codec: 'libx264' }, /tiny_codec|codec/],
  ['tiny_preset', { tiny_model, tiny_preset: 'slow' }, /tiny_preset|codec/],
  ['tiny_crf', { tiny_model, tiny_crf: 23 }, /tiny_crf|codec/],
  ['tiny_crf', { tiny_model, tiny_crf: 64 }, /"tiny_crf" is 64/], // not clamped to 63
  ['tiny_resize', { tiny_model, tiny_resize: 'disabled' }, 'taken'],
  ['no_reference', { no_reference: true }, /^no_reference requires tiny_model; no classic NR scorer exists/],
  ['feature', { feature: ['psnr'] }, 'taken'],
  ['feature', { feature: 'psnr', threads: null, no_reference: 'false' }, 'taken'],
  ['aom_ctc', { ...largeRaw, width: 320, height: 240, aom_ctc: 'v1.0' }, 'taken'],
  ['aom_ctc', { aom_ctc: 'v1.0', feature: ['psnr'] }, /exclude each other/], // not stacked
  ['nflx_ctc', { ...largeRaw, width: 320, height: 240, nflx_ctc: 'v1.0' }, 'taken'],
  ['threads', { threads: 1 }, 'taken'],
  ['frame_cnt', { frame_cnt: 1 }, 'taken'],
  ['frame_skip_ref', { frame_skip_ref: 1 }, 'taken'],
  ['frame_skip_dist', { frame_skip_dist: 1 }, 'taken'],
  ['no_prediction', { no_prediction: true }, 'taken'],
];

/** Tool, field, arguments beside those of {@link CALLS}, and the outcome. */
const REQUESTS: readonly RequestRow[] = [
  ['vmaf_score', 'ref', { ref: '/etc/passwd' }, /not under an allowed/],
  ['vmaf_score', 'dis', { dis: join(videoFolder(), 'nothing.yuv') }, /does not exist/],
  ['vmaf_score', 'ref', { ref: `file://${raw.ref}` }, 'taken'],
  ['vmaf_score', 'ref', { ref: basename(raw.ref) }, 'taken'],
  ['vmaf_score', 'width', { width: '64', height: '48', bitdepth: '8' }, 'taken'],
  ['vmaf_score', 'width', { width: 0 }, /"width" is 0/],
  ['vmaf_score', 'height', { height: 0 }, /"height" is 0/],
  ['vmaf_score', 'pixfmt', { pixfmt: '411' }, /"pixfmt" is "411"/],
  ['vmaf_score', 'bitdepth', { bitdepth: 9 }, /bitdepth/],
  ...SCORING.map(([field, args, outcome]): RequestRow => ['vmaf_score', field, args, outcome]),
  ['eval_model_on_split', 'model', { model: '/etc/x.onnx' }, /not under an allowed/],
  ['eval_model_on_split', 'split, input_name', { split: 'all', input_name: 'features' }, 'taken'],
  ['eval_model_on_split', 'split', { split: 'foo' }, /"split" is "foo".*"train", "val", "test", "all"/],
  ['compare_models', 'models', { models: [] }, /"models" is an array of 0/],
  ['compare_models', 'features', { features: '/etc/passwd' }, /not under an allowed/],
  ['compare_models', 'split, input_name', { split: 'all', input_name: 'features' }, 'taken'],
  ['describe_worst_frames', 'ref', { ref: '/etc/passwd' }, /not under an allowed/],
  ['describe_worst_frames', 'dis', { dis: '/etc/passwd' }, /not under an allowed/],
  ['describe_worst_frames', 'width', { width: 0 }, /"width" is 0/],
  ['describe_worst_frames', 'height', { height: 0 }, /"height" is 0/],
  ['describe_worst_frames', 'pixfmt', { pixfmt: '411' }, /"pixfmt" is "411"/],
  ['describe_worst_frames', 'bitdepth', { bitdepth: 9 }, /bitdepth/],
  ['describe_worst_frames', 'model', { model: 'version=vmaf_v0.6.1' }, 'taken'],
  ['describe_worst_frames', 'backend', { backend: 'cpu' }, 'taken'],
  ['describe_worst_frames', 'n', { n: 33 }, /"n" is 33/],
  ['probe_backend', 'backend', { backend: 'metal' }, 'taken'],
  ['probe_backend', 'backend', { backend: 'auto' }, /"backend" is "auto"/],
  ['vmaf_score_encoded', 'reference_encoded', { reference_encoded: '/etc/passwd' }, /not under an allowed/],
  ['vmaf_score_encoded', 'distorted_encoded', { distorted_encoded: '/etc/passwd' }, /not under an allowed/],
  ['vmaf_score_encoded', 'subsample', { subsample: 2 }, 'taken'],
  ['vmaf_score_encoded', 'subsample', { subsample: 0 }, /"subsample" is 0/],
  ['vmaf_score_encoded', 'model', { model: 'version=vmaf_v0.6.1neg', tiny_model }, 'taken'],
  ['vmaf_score_encoded', 'feature', { feature: 'psnr', threads: null, no_prediction: true }, 'taken'],
  ['vmaf_score_encoded', 'backend', { backend: 'cuda' }, /"cuda".*no.*fall|cuda/],
  ['describe_model', 'name', { name: 'vmaf_v0.6.1.json' }, 'taken'],
  ['describe_model', 'name', { name: 'model/vmaf_v0.6.1.json' }, 'taken'],
  [
    'describe_model',
    'name',
    { name: 'foo' },
    /model 'foo' not found; run list_models to see available models/,
  ],
  ['run_compare', 'src', { src: '/etc/passwd' }, /not under an allowed/],
  ['run_compare', 'target_vmaf', { target_vmaf: 75, target_vmafs: null }, 'taken'],
  ['run_compare', 'target_vmafs', { target_vmafs: null }, 'taken'],
  ['run_compare', 'encoders', { encoders: 'libx264' }, 'taken'],
  ['run_compare', 'width', rawSource, 'taken'],
  ['run_compare', 'height', { ...rawSource, height: null }, /pass width and height/],
  ['run_compare', 'pix_fmt', { ...rawSource, pix_fmt: 'yuv420p' }, 'taken'],
  ['run_compare', 'framerate', { ...rawSource, framerate: 23.976 }, 'taken'],
  ['run_compare', 'no_parallel', { no_parallel: true }, 'taken'],
  ['run_ladder', 'src', { src: '/etc/passwd' }, /not under an allowed/],
  ['run_ladder', 'resolutions', { resolutions: null }, /"resolutions"/],
  ['run_ladder', 'target_vmafs', { target_vmafs: '70' }, 'taken'],
  ['run_ladder', 'target_vmafs', { target_vmafs: null }, 'taken'], // may be left out
  ['run_ladder', 'encoder', { encoder: 'libx265' }, 'taken'],
  ['run_ladder', 'encoder', { encoder: 'svt-av1' }, 'taken'],
  ['run_ladder', 'quality_tiers', { quality_tiers: 2 }, 'taken'],
  ['run_ladder', 'format', { format: 'hls' }, 'taken'],
  ['run_ladder', 'format', { format: 'dash' }, 'taken'],
  ['run_ladder', 'spacing', { spacing: 'log_bitrate' }, 'taken'],
  ['run_ladder', 'framerate', { ...rawSource, framerate: 30 }, 'taken'],
  ['run_tune_per_shot', 'src', { src: '/etc/passwd' }, /not under an allowed/],
  ['run_tune_per_shot', 'target_vmaf', { target_vmaf: '70' }, 'taken'],
  ['run_tune_per_shot', 'encoder', { encoder: 'libx265' }, 'taken'],
  ['run_tune_per_shot', 'pix_fmt', { pix_fmt: 'yuv420p' }, 'taken'],
  ['run_tune_per_shot', 'framerate', { framerate: 24 }, 'taken'],
  ['run_tune_per_shot', 'scene_threshold', { scene_threshold: 0.5 }, 'taken'],
  ['run_tune_per_shot', 'scene_threshold', { scene_threshold: 0 }, /"scene_threshold" is 0/], // above 0 only
  ['run_tune_per_shot', 'output', { output: join(videoFolder(), 'reference-out.mp4') }, 'taken'],
  ['run_tune_per_shot', 'format', { format: 'shell' }, 'taken'],
  ['run_tune_per_shot', 'format', { format: 'csv' }, 'taken'],
];

const number = expect.any(Number);
const text = expect.any(String);
const flag = expect.any(Boolean);
const some = (item: object) => expect.arrayContaining([expect.objectContaining(item)]);
const flags = { cpu: flag, cuda: flag, sycl: flag, hip: flag, metal: flag };
const report = {
  version: text,
  pooled_metrics: { vmaf: { mean: number } },
  ...{ backend_requested: 'auto', backend_used: 'cpu' },
};
const evaluated = { split: 'test', n: 4, plcc: number, srocc: number, rmse: number, columns: SIX };
const orNull = expect.toSatisfy((told) => told === null || typeof told === 'string');

/** What each tool answers. */
const RESPONSES: Readonly<Record<string, object>> = {
  // Frames are in a resource unless detail is "frames".
  vmaf_score: { ...report, mismatched_model_warning: text },
  list_models: { models: some({ name: text, path: text, format: 'json', size_bytes: number }) },
  list_backends: flags,
  eval_model_on_split: { model: tiny_model, features, ...evaluated },
  compare_models: {
    ranked: some({ model: tiny_model, ...evaluated }),
    errors: [{ model: text, error: text }],
  },
  describe_worst_frames: {
    model_id: null,
    frames: [{ frame_index: number, vmaf: number, png: text, description: text }],
  },
  probe_backend: {
    ...{ backend: 'cpu', compiled_in: true, runtime_healthy: true, error: null },
    ...{ latency_ms: number, score: number },
  },
  vmaf_version: { binary_path: orNull, version: orNull, build_flags: flags, error: orNull },
  vmaf_score_encoded: { ...report, reference_encoded: y4m.ref, distorted_encoded: y4m.dis },
  list_extractors: { extractors: some({ name: text, backend: 'cpu', source: text }) },
  describe_model: {
    ...{ name: 'vmaf_v0.6.1', path: text, format: 'json', size_bytes: number, model_type: 'LIBSVMNUSVR' },
    feature_names: expect.arrayContaining([text]),
  },
  run_compare: {
    ...{ schema_version: 2, src: film, target_vmafs: [70, 80], tool_version: text, wall_time_ms: number },
    rows: some({
      ...{ codec: 'libx264', encoder_version: text, best_crf: number, bitrate_kbps: number },
      ...{ encode_time_ms: number, vmaf_score: number, target_vmaf: 70, ok: true, error: '' },
    }),
  },
  run_ladder: {
    format: 'json',
    manifest: {
      rungs: some({
        ...{ width: number, height: number, bitrate_kbps: number },
        ...{ bandwidth_bps: number, vmaf: number, crf: number },
      }),
    },
  },
  run_tune_per_shot: {
    shots: [{ start_frame: 0, end_frame: 24, crf: number, predicted_vmaf: number, bitrate_kbps: number }],
  },
};

/** A caller over lines of a stream. */
async function overLines(output: NodeJS.ReadableStream, send: (line: string) => void) {
  const lines = new Lines(output, send);
  lines.send(INITIALIZE);
  await lines.answer(0);
  let next = 1;
  return {
    async call(name: string, args: Args, onprogress?: (notice: ProgressNotice) => void): Promise<Answer> {
      const id = next++;
      const progressToken = `call ${id}`;
      const { result } = await lines.call(id, name, args, onprogress && { progressToken });
      for (const { method, params } of lines.heard)
        if (method === 'notifications/progress' && params?.progressToken === progressToken)
          onprogress?.(params as unknown as ProgressNotice);
      const { isError = false, content } = result;
      return { isError, document: JSON.parse(content[0].text) };
    },
  };
}

/** Expects that a call is taken or refused. */
async function comesTo(outcome: Outcome, field: string, call: Promise<Answer>): Promise<void> {
  const { isError, document } = await call;
  if (outcome === 'taken') expect(isError, `${field}: ${document.error}`).toBe(false);
  else expect({ isError, ...document }).toEqual({ isError: true, error: expect.stringMatching(outcome) });
}

describe("the reference's calls", () => {
  const stop = new AbortController();
  let host: McpHost;
  let encoding: FakeHost;
  let caller: Awaited<ReturnType<typeof overLines>>;
  beforeAll(async () => {
    encoding = fakeEncoding({ shots: [{ frames: 24 }] }).install();
    host = await McpHost.open({
      ...{ allow: [videoFolder()], env: {}, cwd: videoFolder(), log: () => {} },
      ...{ tools: TOOLS, jobs: join(videoFolder(), 'jobs-of-reference') },
    });
    // Fake encoders are installed in this thread.
    Object.assign(host.threads.measuring, inThisThread);
    const [input, output] = [new PassThrough(), new PassThrough()];
    void serveLines(host, input, output, stop.signal);
    caller = await overLines(output, (line) => input.write(line));
  });
  afterAll(async () => {
    stop.abort();
    await host.close();
    encoding[Symbol.dispose]();
  });

  it.each<RequestRow>(REQUESTS)('%s takes %s %j: %s', (tool, field, args, outcome) =>
    comesTo(outcome, field, caller.call(tool, { ...CALLS[tool], ...args })),
  );

  it.each(Object.entries(RESPONSES))('%s answers as documented', async (tool, document) => {
    expect(await caller.call(tool, CALLS[tool] ?? {})).toMatchObject({ isError: false, document });
  });

  it('takes a single target as schema 1, and shells and tables as text', async () => {
    const args = { ...CALLS.run_compare, target_vmafs: null, target_vmaf: 70 };
    const single = await caller.call('run_compare', args);
    expect(single.document).toMatchObject({ target_vmaf: 70, rows: [{ ok: true }, { ok: true }] });
    expect(single.document).not.toHaveProperty('schema_version');
    const shell = await caller.call('run_tune_per_shot', { ...CALLS.run_tune_per_shot, format: 'shell' });
    expect(shell.document.output).toMatch(/^#!\/bin\/sh\n/);
  });

  it.each(['run_compare', 'run_ladder', 'run_tune_per_shot'])(
    '%s reports progress from 0 to 1 to callers with a token',
    async (tool) => {
      const told: ProgressNotice[] = [];
      await caller.call(tool, CALLS[tool] ?? {}, (notice) => told.push(notice));
      expect(told.at(0)).toMatchObject({ progress: 0, total: 1, message: `starting ${tool}` });
      await expect.poll(() => told.at(-1)).toMatchObject({ progress: 1, total: 1, message: `${tool} done` });
    },
  );
});

// run_benchmark takes half a minute and has its own tests.
it('the table has every documented tool, and calls those that take less than minutes', () => {
  const documented = [...Object.keys(CALLS), 'run_benchmark'].sort();
  expect(listTools(TOOLS).map(({ name }) => name)).toEqual(expect.arrayContaining(documented));
  expect([...new Set(REQUESTS.map(([tool]) => tool))].length).toBe(10);
  const benchmark = TOOLS.find(({ name }) => name === 'run_benchmark');
  const found = Object.keys(benchmark?.outputSchema.shape ?? {});
  expect(found).toEqual(expect.arrayContaining(['exit_code', 'stdout', 'stderr']));
});
