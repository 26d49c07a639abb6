/**
 * @module test/node/mcp/reference
 * The reference's tools, a row for each documented field of their requests and responses: by raw lines and by the SDK's
 * client. A row that ends in a reason deviates, and its documented form is shown to be refused or missing.
 */
import { spawnSync } from 'node:child_process';
import { constants, openSync, writeFileSync } from 'node:fs';
import { createConnection, Socket } from 'node:net';
import { basename, join } from 'node:path';
import { type Duplex, PassThrough } from 'node:stream';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as here from '../../../src/mcp/checked-api.js';
import { McpHost } from '../../../src/mcp/host.js';
import { listTools } from '../../../src/mcp/server.js';
import { serveLines } from '../../../src/mcp/stdio.js';
import { TOOLS } from '../../../src/mcp/tools/index.js';
import { file } from '../../support/clips.js';
import { type FakeHost, fakeEncoding } from '../../support/encoding-host.js';
import { privateFolder } from '../../support/folders.js';
import { INITIALIZE, Lines, lineTransport } from '../../support/mcp-host.js';
import { openServed, request } from '../../support/mcp-live.js';
import { videoFolder, writePair } from '../../support/mcp-tools.js';
import { linear } from '../../support/onnx.js';
import { tier } from '../../support/tier.js';
import { parquet } from '../../support/tiny.js';

type Args = Readonly<Record<string, unknown>>;

/** A call's answer. */
interface Answer {
  readonly isError: boolean;
  readonly document: Readonly<Record<string, unknown>>;
}

interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** A client of either kind. */
interface Caller {
  call(name: string, args: Args, onprogress?: (notice: Progress) => void): Promise<Answer>;
}

const clip = { content: 'pattern', width: 64, height: 48, frames: 3, chroma: '420', bitDepth: 8 } as never;
const put = (name: string, content: Uint8Array | string) => {
  writeFileSync(join(videoFolder(), name), content);
  return join(videoFolder(), name);
};
const raw = writePair(clip, 'yuv');
const y4m = writePair(clip, 'y4m');
/** Presets measure features that need larger pictures. */
const largeClip = { ...(clip as object), width: 320, height: 240, frames: 1 } as never;
const largeRaw = writePair(largeClip, 'yuv');
const largeY4m = writePair(largeClip, 'y4m');
const geometry = { width: 64, height: 48, pixfmt: '420', bitdepth: 8 };
const tiny_model = put('reference.onnx', linear([1, 0, 0, 0, 0, 0], 0));
const worse = put('reference-worse.onnx', linear([-1, 0, 0, 0, 0, 0], 0));
const SIX = ['adm2', 'vif_scale0', 'vif_scale1', 'vif_scale2', 'vif_scale3', 'motion2'];
const features = put(
  'reference.parquet',
  parquet({
    key: ['clip_0000', 'clip_0000', 'clip_0019', 'clip_0019'],
    mos: [1, 2, 3, 4],
    ...Object.fromEntries(SIX.map((name, i) => [name, i === 0 ? [1, 3, 2, 4] : [0, 0, 0, 0]])),
  }),
);
const film = file(videoFolder(), 'reference.mkv', Buffer.from('\x1aE\xdf\xa3', 'latin1'));
const yuv = file(videoFolder(), 'source.yuv', new Uint8Array(320 * 176 * 3));
const rawSource = { src: yuv, width: 320, height: 176 };

/** What each tool is called with. */
const CALLS: Readonly<Record<string, Args>> = {
  vmaf_score: { ...raw, ...geometry },
  list_models: {},
  list_backends: {},
  eval_model_on_split: { model: tiny_model, features },
  compare_models: { models: [tiny_model, worse, put('reference-broken.onnx', 'broken')], features },
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

/** What a documented value gives: it is taken, or refused with a sentence. */
type Outcome = 'taken' | RegExp;

type RequestRow = [tool: string, field: string, args: Args, outcome: Outcome, deviation?: string];
type ResponseRow = [tool: string, path: string, value: unknown, deviation?: string];

const scoring = (tool: string, large: Args): readonly RequestRow[] => [
  [tool, 'model', { model: 'version=vmaf_v0.6.1' }, 'taken'],
  [tool, 'backend', { backend: 'auto' }, 'taken'],
  [tool, 'backend', { backend: 'cpu' }, 'taken'],
  [tool, 'backend', { backend: 'cuda' }, /"cuda".*no.*fall|cuda/],
  [tool, 'precision', { precision: 'legacy' }, 'taken'],
  [tool, 'precision', { precision: 'max' }, 'taken'],
  [tool, 'precision', { precision: '17' }, 'taken'],
  [tool, 'tiny_model', { tiny_model }, 'taken'],
  [tool, 'tiny_device', { tiny_model, tiny_device: 'auto' }, 'taken'],
  [tool, 'tiny_device', { tiny_model, tiny_device: 'cpu' }, 'taken'],
  [tool, 'tiny_threads', { tiny_model, tiny_threads: 0 }, 'taken'],
  [tool, 'tiny_fp16', { tiny_model, tiny_fp16: true }, 'taken'],
  [tool, 'tiny_model_verify', { tiny_model, tiny_model_verify: true }, /tiny_model_verify/],
  [tool, 'tiny_codec', { tiny_model, tiny_codec: 'libx264' }, /tiny_codec|codec/],
  [tool, 'tiny_preset', { tiny_model, tiny_preset: 'slow' }, /tiny_preset|codec/],
  [tool, 'tiny_crf', { tiny_model, tiny_crf: 23 }, /tiny_crf|codec/],
  [tool, 'tiny_crf', { tiny_model, tiny_crf: 64 }, /"tiny_crf" is 64/, 'refused, not clamped to 63'],
  [tool, 'tiny_resize', { tiny_model, tiny_resize: 'disabled' }, 'taken'],
  [
    tool,
    'no_reference',
    { no_reference: true },
    /^no_reference requires tiny_model; no classic NR scorer exists/,
  ],
  [tool, 'feature', { feature: ['psnr'] }, 'taken'],
  [tool, 'feature', { feature: 'psnr', threads: null, no_reference: 'false' }, 'taken'],
  [tool, 'aom_ctc', { ...large, aom_ctc: 'v1.0' }, 'taken'],
  [
    tool,
    'aom_ctc',
    { aom_ctc: 'v1.0', feature: ['psnr'] },
    /exclude each other/,
    'a preset beside a feature is refused, not stacked',
  ],
  [tool, 'nflx_ctc', { ...large, nflx_ctc: 'v1.0' }, 'taken'],
  [tool, 'threads', { threads: 1 }, 'taken'],
  [tool, 'frame_cnt', { frame_cnt: 1 }, 'taken'],
  [tool, 'frame_skip_ref', { frame_skip_ref: 1 }, 'taken'],
  [tool, 'frame_skip_dist', { frame_skip_dist: 1 }, 'taken'],
  [tool, 'no_prediction', { no_prediction: true }, 'taken'],
];

/** Tool, field, arguments beside those of {@link CALLS}, what comes of it, and why that is not what is documented. */
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
  ...scoring('vmaf_score', { ...largeRaw, width: 320, height: 240 }),
  ['eval_model_on_split', 'model', { model: '/etc/x.onnx' }, /not under an allowed/],
  ['eval_model_on_split', 'features', { features: tiny_model }, /Parquet/],
  ['eval_model_on_split', 'split', { split: 'all' }, 'taken'],
  ['eval_model_on_split', 'split', { split: 'train' }, /split "train"/],
  ['eval_model_on_split', 'split', { split: 'foo' }, /"split" is "foo".*"train", "val", "test", "all"/],
  ['eval_model_on_split', 'input_name', { input_name: 'features' }, 'taken'],
  ['compare_models', 'models', { models: [] }, /"models" is an array of 0/],
  ['compare_models', 'features', { features: '/etc/passwd' }, /not under an allowed/],
  ['compare_models', 'split', { split: 'all' }, 'taken'],
  ['compare_models', 'input_name', { input_name: 'features' }, 'taken'],
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
  ...scoring('vmaf_score_encoded', { reference_encoded: largeY4m.ref, distorted_encoded: largeY4m.dis }),
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
  ['run_ladder', 'target_vmafs', { target_vmafs: null }, 'taken', 'may be left out'],
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
  ['run_tune_per_shot', 'scene_threshold', { scene_threshold: 0 }, /"scene_threshold" is 0/, 'above 0 only'],
  ['run_tune_per_shot', 'output', { output: join(videoFolder(), 'reference-out.mp4') }, 'taken'],
  ['run_tune_per_shot', 'format', { format: 'shell' }, 'taken'],
  ['run_tune_per_shot', 'format', { format: 'csv' }, 'taken'],
];

const number = expect.any(Number);
const text = expect.any(String);
const flag = expect.any(Boolean);
const report: readonly (readonly [string, unknown])[] = [
  ['version', text],
  ['pooled_metrics.vmaf.mean', number],
  ['backend_requested', 'auto'],
  ['backend_used', 'cpu'],
];
const evaluated: readonly (readonly [string, unknown])[] = [
  ['split', 'test'],
  ['n', 4],
  ['plcc', number],
  ['srocc', number],
  ['rmse', number],
  ['columns', SIX],
];
const flags = ['cpu', 'cuda', 'sycl', 'hip', 'metal'];

/** Tool, path of a member, what it is, and why that is not what is documented. */
const RESPONSES: readonly ResponseRow[] = [
  ...report.map(([path, value]) => ['vmaf_score', path, value] as ResponseRow),
  ['vmaf_score', 'frames', undefined, 'frames are in a resource unless detail is frames'],
  ['vmaf_score', 'mismatched_model_warning', text],
  ['list_models', 'models.0', { name: text, path: text, format: 'json', size_bytes: number }],
  ...flags.map((name) => ['list_backends', name, flag] as ResponseRow),
  ['eval_model_on_split', 'model', tiny_model],
  ['eval_model_on_split', 'features', features],
  ...evaluated.map(([path, value]) => ['eval_model_on_split', path, value] as ResponseRow),
  ['compare_models', 'ranked.0.model', tiny_model],
  ...evaluated.map(([path, value]) => ['compare_models', `ranked.0.${path}`, value] as ResponseRow),
  ['compare_models', 'errors.0', { model: text, error: text }],
  ['describe_worst_frames', 'model_id', null],
  ['describe_worst_frames', 'frames.0.frame_index', number],
  ['describe_worst_frames', 'frames.0.vmaf', number],
  ['describe_worst_frames', 'frames.0.png', text],
  ['describe_worst_frames', 'frames.0.description', text],
  ['probe_backend', 'backend', 'cpu'],
  ['probe_backend', 'compiled_in', true],
  ['probe_backend', 'runtime_healthy', true],
  ['probe_backend', 'latency_ms', number],
  ['probe_backend', 'score', number],
  ['probe_backend', 'error', null],
  ['vmaf_version', 'binary_path', expect.toSatisfy((path) => path === null || typeof path === 'string')],
  ['vmaf_version', 'version', expect.toSatisfy((told) => told === null || typeof told === 'string')],
  ...flags.map((name) => ['vmaf_version', `build_flags.${name}`, flag] as ResponseRow),
  ['vmaf_version', 'error', expect.toSatisfy((error) => error === null || typeof error === 'string')],
  ...report.map(([path, value]) => ['vmaf_score_encoded', path, value] as ResponseRow),
  ['vmaf_score_encoded', 'reference_encoded', y4m.ref],
  ['vmaf_score_encoded', 'distorted_encoded', y4m.dis],
  ['list_extractors', 'extractors.0', { name: text, backend: 'cpu', source: text }],
  ['describe_model', 'name', 'vmaf_v0.6.1'],
  ['describe_model', 'path', text],
  ['describe_model', 'format', 'json'],
  ['describe_model', 'size_bytes', number],
  ['describe_model', 'model_type', 'LIBSVMNUSVR'],
  ['describe_model', 'feature_names.0', text],
  ['run_compare', 'schema_version', 2],
  ['run_compare', 'src', film],
  ['run_compare', 'target_vmafs', [70, 80]],
  ['run_compare', 'tool_version', text],
  ['run_compare', 'wall_time_ms', number],
  ['run_compare', 'rows.0.codec', 'libx264'],
  ['run_compare', 'rows.0.encoder_version', text],
  ['run_compare', 'rows.0.best_crf', number],
  ['run_compare', 'rows.0.bitrate_kbps', number],
  ['run_compare', 'rows.0.encode_time_ms', number],
  ['run_compare', 'rows.0.vmaf_score', number],
  ['run_compare', 'rows.0.target_vmaf', 70],
  ['run_compare', 'rows.0.ok', true],
  ['run_compare', 'rows.0.error', ''],
  ['run_ladder', 'format', 'json'],
  ['run_ladder', 'manifest.rungs.0', { width: number, height: number, bitrate_kbps: number }],
  ['run_ladder', 'manifest.rungs.0', { bandwidth_bps: number, vmaf: number, crf: number }],
  ['run_tune_per_shot', 'shots.0.start_frame', 0],
  ['run_tune_per_shot', 'shots.0.end_frame', 24],
  ['run_tune_per_shot', 'shots.0.crf', number],
  ['run_tune_per_shot', 'shots.0.predicted_vmaf', number],
  ['run_tune_per_shot', 'shots.0.bitrate_kbps', number],
];

/** A tool does not know who asks: of each kind of outcome, another client asks every tool once. */
function ofEachKind(rows: readonly RequestRow[]): readonly RequestRow[] {
  const kinds = rows.map(([tool, , , outcome]) => `${tool} ${outcome === 'taken'}`);
  return rows.filter((_row, i) => kinds.indexOf(kinds[i] ?? '') === i);
}

/** A member of a document. */
function member(document: unknown, path: string): unknown {
  return path.split('.').reduce((value: unknown, key) => Object(value)[key], document);
}

/** What must be in a member. */
function expected(value: unknown): unknown {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    ? expect.objectContaining(value)
    : value;
}

function answerOf({ isError = false, content }: ReturnType<typeof JSON.parse>): Answer {
  return { isError, document: JSON.parse(content[0].text) };
}

/** A caller over lines of a stream. */
async function overLines(output: NodeJS.ReadableStream, send: (line: string) => void): Promise<Caller> {
  const lines = new Lines(output, send);
  lines.send(INITIALIZE);
  await lines.answer(0);
  let next = 1;
  return {
    async call(name, args, onprogress) {
      const id = next++;
      const progressToken = `call ${id}`;
      const { result } = await lines.call(id, name, args, onprogress && { progressToken });
      for (const { method, params } of lines.heard)
        if (method === 'notifications/progress' && params?.progressToken === progressToken)
          onprogress?.(params as unknown as Progress);
      return answerOf(result);
    },
  };
}

async function rawLines(host: McpHost, stop: AbortSignal): Promise<Caller> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  void serveLines(host, input, output, stop);
  return overLines(output, (line) => input.write(line));
}

async function sdkClient(host: McpHost, stop: AbortSignal): Promise<Caller> {
  const client = new Client({ name: 'sdk', version: '2' });
  await client.connect(lineTransport(host, stop).transport as never);
  return {
    async call(name, args, onprogress) {
      return answerOf(await client.callTool({ name, arguments: args }, onprogress ? { onprogress } : {}));
    },
  };
}

describe.each([
  ['raw lines', rawLines],
  ['the client of the SDK', sdkClient],
])("the reference's calls by %s", (_, connect) => {
  const stop = new AbortController();
  const answers = new Map<string, Promise<Answer>>();
  let host: McpHost;
  let encoding: FakeHost;
  let caller: Caller;
  beforeAll(async () => {
    encoding = fakeEncoding({ shots: [{ frames: 24 }] }).install();
    host = await McpHost.open({
      ...{ allow: [videoFolder()], env: {}, cwd: videoFolder(), log: () => {} },
      ...{ tools: TOOLS, jobs: join(videoFolder(), 'jobs-of-reference') },
    });
    // Fake encoders are installed in this thread.
    Object.assign(host.threads.measuring, here);
    caller = await connect(host, stop.signal);
  });
  afterAll(async () => {
    stop.abort();
    await host.close();
    encoding[Symbol.dispose]();
  });

  const usual = (tool: string): Promise<Answer> => {
    const answer = answers.get(tool) ?? caller.call(tool, CALLS[tool] ?? {});
    answers.set(tool, answer);
    return answer;
  };

  const asked = connect === rawLines ? REQUESTS : tier(ofEachKind(REQUESTS), REQUESTS);

  it.each<RequestRow>(asked)('%s takes %s %j: %s %s', async (tool, field, args, outcome) => {
    // What writes a file is asked once by each client.
    const own = 'output' in args ? { output: `${String(args.output)}.${_.length}.mp4` } : args;
    const { isError, document } = await caller.call(tool, { ...CALLS[tool], ...own });
    if (outcome === 'taken') expect(isError, `${field}: ${document.error}`).toBe(false);
    else
      expect({ isError, error: document.error }).toEqual({
        isError: true,
        error: expect.stringMatching(outcome),
      });
  });

  it.each<ResponseRow>(RESPONSES)('%s answers %s', async (tool, path, value) => {
    const { isError, document } = await usual(tool);
    expect(isError).toBe(false);
    expect(member(document, path)).toEqual(expected(value));
  });

  it('takes a single target as schema 1, and shells and tables as text', async () => {
    const single = await caller.call('run_compare', {
      ...CALLS.run_compare,
      target_vmafs: null,
      target_vmaf: 70,
    });
    expect(single.document).toMatchObject({ target_vmaf: 70, rows: [{ ok: true }, { ok: true }] });
    expect(single.document).not.toHaveProperty('schema_version');
    const shell = await caller.call('run_tune_per_shot', { ...CALLS.run_tune_per_shot, format: 'shell' });
    expect(shell.document.output).toMatch(/^#!\/bin\/sh\n/);
  });

  it.each(['run_compare', 'run_ladder', 'run_tune_per_shot'])(
    '%s tells its start and its end, of 1.0, and nothing without a token',
    async (tool) => {
      const told: Progress[] = [];
      await caller.call(tool, CALLS[tool] ?? {}, (notice) => told.push(notice));
      expect(told.at(0)).toMatchObject({ progress: 0, total: 1, message: `starting ${tool}` });
      await expect.poll(() => told.at(-1)).toMatchObject({ progress: 1, total: 1, message: `${tool} done` });
    },
  );
});

describe('the table of the reference', () => {
  /** run_benchmark takes half a minute: its results are tested where it is. */
  it('has every documented tool, and calls those that take less than minutes', () => {
    const documented = [...Object.keys(CALLS), 'run_benchmark'].sort();
    expect(listTools(TOOLS).map(({ name }) => name)).toEqual(expect.arrayContaining(documented));
    expect([...new Set(REQUESTS.map(([tool]) => tool))].length).toBe(10);
    const benchmark = TOOLS.find(({ name }) => name === 'run_benchmark');
    expect(Object.keys(benchmark?.outputSchema.shape ?? {})).toEqual(
      expect.arrayContaining(['exit_code', 'stdout', 'stderr']),
    );
  });

  it('deviates where a row says so, and nowhere else', () => {
    const reasons = [...REQUESTS.map((row) => row[4]), ...RESPONSES.map((row) => row[3])].filter(
      (reason) => reason !== undefined,
    );
    expect([...new Set(reasons)]).toEqual([
      'refused, not clamped to 63',
      'a preset beside a feature is refused, not stacked',
      'may be left out',
      'above 0 only',
      'frames are in a resource unless detail is frames',
    ]);
  });
});

const EMBEDDED_CALLS: Readonly<Record<string, Args>> = {
  list_features: {},
  compute_vmaf: { reference_path: raw.ref, distorted_path: raw.dis, width: 64, height: 48 },
};

/** Tool, field, arguments, what comes of it, and why that is not what is documented. */
const EMBEDDED_REQUESTS: readonly RequestRow[] = [
  ['compute_vmaf', 'reference_path', { reference_path: '/etc/passwd' }, /not under an allowed/],
  ['compute_vmaf', 'distorted_path', { distorted_path: '/etc/passwd' }, /not under an allowed/],
  ['compute_vmaf', 'width', { width: 0 }, /width is 0/],
  ['compute_vmaf', 'height', { height: 0 }, /height is 0/],
  ['compute_vmaf', 'bitdepth', { bitdepth: 8 }, 'taken'],
  ['compute_vmaf', 'bitdepth', { bitdepth: 7 }, /bitdepth is 7/],
  ['compute_vmaf', 'model_version', { model_version: 'vmaf_v0.6.1' }, 'taken'],
  ['compute_vmaf', 'model_version', { model_version: 'nope' }, /nope/],
  ['list_features', 'no arguments', { a: 1 }, /unknown argument "a"/],
];

const EMBEDDED_RESPONSES: readonly ResponseRow[] = [
  ['list_features', 'features.0', text],
  ['list_features', 'count', number],
  ['compute_vmaf', 'score', number],
  ['compute_vmaf', 'frames_scored', 3],
  ['compute_vmaf', 'model_version', 'vmaf_v0.6.1'],
  ['compute_vmaf', 'bitdepth', 8],
  ['compute_vmaf', 'reference_path', raw.ref],
  ['compute_vmaf', 'distorted_path', raw.dis],
  ['compute_vmaf', 'pool_method', 'mean'],
];

type Embedded = Awaited<ReturnType<typeof openServed>>;

const EMBEDDED: Readonly<Record<string, (server: Embedded['server']) => Promise<Caller>>> = {
  async 'a pair of descriptors'(server) {
    const [to, from] = ['to', 'from'].map((name) => join(privateFolder(), name));
    spawnSync('mkfifo', [to ?? '', from ?? '']);
    const ends = [to, from].map((path) => openSync(path ?? '', 'r+'));
    await server.listen({ transport: 'stdio', input: ends[0] ?? 0, output: ends[1] ?? 0 });
    const heard = new Socket({ fd: openSync(from ?? '', constants.O_RDONLY | constants.O_NONBLOCK) });
    const said = new Socket({
      fd: openSync(to ?? '', constants.O_WRONLY | constants.O_NONBLOCK),
      readable: false,
    });
    return overLines(heard, (line) => said.write(line));
  },
  async 'a Unix socket'(server) {
    const path = join(privateFolder(), 's');
    await server.listen({ transport: 'unix', path });
    const socket: Duplex = createConnection(path);
    return overLines(socket, (line) => socket.write(line));
  },
  async 'HTTP, in place'(server) {
    const { address } = await server.listen({ transport: 'sse', port: 0 });
    return {
      async call(name, args) {
        const body = request('tools/call', { name, arguments: args });
        return answerOf(JSON.parse(await (await fetch(address, { method: 'POST', body })).text()).result);
      },
    };
  },
  async "HTTP by the SDK's SSEClientTransport"(server) {
    const { address } = await server.listen({ transport: 'sse', port: 0 });
    const client = new FirstClient({ name: 'sse', version: '1' });
    await client.connect(new SSEClientTransport(new URL(address)) as never);
    return { call: async (name, args) => answerOf(await client.callTool({ name, arguments: args })) };
  },
  async "HTTP by the SDK's StreamableHTTPClientTransport"(server) {
    const { address } = await server.listen({ transport: 'sse', port: 0 });
    const client = new Client({ name: 'streamable', version: '2' });
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', address)));
    return { call: async (name, args) => answerOf(await client.callTool({ name, arguments: args })) };
  },
};

describe.each(Object.entries(EMBEDDED))("the embedded server's calls over %s", (_, connect) => {
  let opened: Embedded;
  let caller: Caller;
  const answers = new Map<string, Promise<Answer>>();
  beforeAll(async () => {
    opened = await openServed({ folders: [videoFolder()] });
    caller = await connect(opened.server);
  });
  afterAll(async () => {
    await opened.scorer.close();
    await opened.server.close();
  });

  const first = connect === Object.values(EMBEDDED)[0];
  const asked = first ? EMBEDDED_REQUESTS : tier(ofEachKind(EMBEDDED_REQUESTS), EMBEDDED_REQUESTS);

  it.each<RequestRow>(asked)('%s takes %s %j: %s', async (tool, field, args, outcome) => {
    const { isError, document } = await caller.call(tool, { ...EMBEDDED_CALLS[tool], ...args });
    if (outcome === 'taken') expect(isError, `${field}: ${document.error}`).toBe(false);
    else
      expect({ isError, error: document.error }).toEqual({
        isError: true,
        error: expect.stringMatching(outcome),
      });
  });

  it.each<ResponseRow>(EMBEDDED_RESPONSES)('%s answers %s', async (tool, path, value) => {
    const answer = answers.get(tool) ?? caller.call(tool, EMBEDDED_CALLS[tool] ?? {});
    answers.set(tool, answer);
    expect(member((await answer).document, path)).toEqual(value);
  });
});
