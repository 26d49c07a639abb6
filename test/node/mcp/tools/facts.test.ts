/**
 * @module test/node/mcp/tools/facts
 * The tools that score no videos: models, extractors, backends, versions, lists of videos, and evaluations of models.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Evaluation, listExtractors, listModels, version } from '../../../../src/index.js';
import type { Tool } from '../../../../src/mcp/tool.js';
import {
  listBackendsTool,
  listExtractorsTool,
  probeBackendTool,
  vmafVersion,
} from '../../../../src/mcp/tools/backends.js';
import { listVideosTool } from '../../../../src/mcp/tools/lists.js';
import {
  compareModels,
  describeModelTool,
  evalModelOnSplit,
  listModelsTool,
} from '../../../../src/mcp/tools/models.js';
import { y4mFile } from '../../../../src/sample/files.js';
import { makeSample } from '../../../../src/sample/generator.js';
import { root } from '../../../support/built.js';
import { file } from '../../../support/clips.js';
import { noGpu, SWIFTSHADER } from '../../../support/gpu.js';
import {
  call,
  copyModel,
  evaluationFiles,
  fakeContext,
  refused,
  SIX,
  videoFolder,
} from '../../../support/mcp-tools.js';
import { linear } from '../../../support/onnx.js';
import { exhaustive } from '../../../support/tier.js';

const context = () => fakeContext(videoFolder());
const ask = <Document = Record<string, unknown>>(tool: Tool, args: Readonly<Record<string, unknown>> = {}) =>
  call<Document>(tool, args, context());
const model = (name: string) => ask<Described>(describeModelTool, { name });

afterEach(() => {
  vi.unstubAllEnvs();
});

type Named = Readonly<Record<'name' | 'path' | 'availability' | 'pull_with', string>>;
interface Models {
  readonly models: readonly (Named & { readonly size_bytes: number })[];
  readonly tiny_models: readonly { readonly id: string; readonly kind: string }[];
}

it('list_models lists the model files of the package with their sizes, the default first, and nothing else', async () => {
  const { models } = await ask<Models>(listModelsTool);
  expect(models.map(({ name }) => name)).toEqual((await listModels()).map(({ name }) => name));
  const first = { name: 'vmaf_v0.6.1', path: 'model/vmaf_v0.6.1.json', format: 'json', default: true };
  expect(models[0]).toMatchObject(first);
  for (const { path, size_bytes } of models.filter(({ availability }) => availability === 'built-in'))
    expect(size_bytes, path).toBe(statSync(join(root, path)).size);
});

interface Described {
  readonly feature_names: readonly string[] | null;
  readonly [key: string]: unknown;
}

describe('describe_model', () => {
  const path = 'model/vmaf_v0.6.1.json';
  const { model_type, feature_names } = JSON.parse(readFileSync(join(root, path), 'utf8')).model_dict;

  it.each(['vmaf_v0.6.1', 'vmaf_v0.6.1.json', 'model/vmaf_v0.6.1.json'])('finds %s', async (name) => {
    expect(await model(name)).toMatchObject({
      ...{ name: 'vmaf_v0.6.1', path, format: 'json', size_bytes: statSync(join(root, path)).size },
      ...{ model_type, feature_names, kind: 'single', clip: [0, 100], transform: 'on request' },
    });
  });

  it('describes every model that list_models lists', async () => {
    const { models } = await ask<Models>(listModelsTool);
    for (const { name, path, size_bytes } of models)
      expect(await model(name)).toMatchObject({ name, path, size_bytes });
  });

  it('describes every tiny model that list_models lists, by id, file and path', async () => {
    const { tiny_models: tiny } = await ask<Models>(listModelsTool);
    const json = (name: string) => JSON.parse(readFileSync(join(root, 'model/tiny', name), 'utf8'));
    const registry: { models: { id: string; onnx: string; sha256: string }[] } = json('registry.json');
    expect(tiny.length).toBe(registry.models.length);
    for (const { id, kind } of tiny) {
      const { onnx = '', sha256 } = registry.models.find((entry) => entry.id === id) ?? {};
      const described = await model(id);
      expect(described).toMatchObject({
        ...{ name: id, kind, path: `model/tiny/${onnx}`, format: 'onnx', model_type: null, sha256 },
        size_bytes: statSync(join(root, 'model/tiny', onnx)).size,
        score_with: `tiny_model: "${id}"`,
      });
      for (const name of [onnx, `model/tiny/${onnx}`]) expect(await model(name)).toEqual(described);
    }
    const regressor = await model('fr_vmaf_v0.6.1');
    expect(regressor.feature_names).toEqual(json('fr_vmaf_v0.6.1.json').feature_order);
    const estimate = await model('nr_vmaf_v0.6.1');
    expect(estimate).toMatchObject({ kind: 'nr', feature_names: null, experimental: expect.any(String) });
  });

  it('tells how to get a model that is not installed', async () => {
    vi.stubEnv('ANYVMAF_CACHE', join(videoFolder(), 'no-cache'));
    const name = 'vmaf_v1.0.16_3d0h';
    const absent = { availability: 'to be pulled', pull_with: `anyvmaf models pull ${name}` };
    const { models } = await ask<Models>(listModelsTool);
    expect(models.find((model) => model.name === name)).toMatchObject(absent);
    const described = await model(name);
    expect(described).toMatchObject({ ...absent, model_type: null });
    expect(described.feature_names).toHaveLength(4);
  });

  it('reads a model file under an allowed root, and describes files of other formats', async () => {
    const path = copyModel('vmaf_b_v0.6.3');
    const described = { name: 'custom', path, model_type: 'BOOTSTRAP_LIBSVMNUSVR', feature_names };
    expect(await model(path)).toMatchObject({ ...described, kind: 'collection' });
    const tiny = file(videoFolder(), 'tiny.onnx', Buffer.from('abc'));
    const facts = { format: 'onnx', size_bytes: 3, model_type: null, feature_names: null };
    expect(await model(tiny)).toEqual({ name: 'tiny', path: tiny, ...facts });
  });

  it('refuses files that are not models or not allowed', async () => {
    const of = (name: string) => refused(describeModelTool, { name }, context());
    expect(await of('foo')).toBe("model 'foo' not found; run list_models to see available models.");
    expect(await of('vmaf_v0.6')).toContain("'vmaf_v0.6' not found");
    expect(await of('/etc/model.json')).toContain('/etc/model.json');
    const path = join(videoFolder(), 'damaged.json');
    writeFileSync(path, '{');
    expect(await of(path)).toContain('damaged.json');
    const colon = join(videoFolder(), 'a:b.json');
    writeFileSync(colon, '{}');
    expect(await of(colon)).toContain('colon');
  });
});

it('list_extractors lists extractors with the file that holds their arithmetic, options and features', async () => {
  type Listed = { extractors: { name: string; backend: string; source: string }[] };
  const { extractors } = await ask<Listed>(listExtractorsTool);
  expect(extractors.map(({ name }) => name)).toEqual(listExtractors().map(({ name }) => name));
  expect(extractors).toHaveLength(21);
  for (const { source, backend } of extractors) {
    expect(existsSync(join(root, source)), source).toBe(true);
    expect(backend).toBe('cpu');
  }
  const limit = { name: 'vif_enhn_gain_limit', type: 'double', default: 100, min: 1, max: 100 };
  expect(extractors.find(({ name }) => name === 'vif')).toMatchObject({
    features: expect.arrayContaining(['integer_vif_scale0', 'integer_vif_scale3']),
    options: expect.arrayContaining([expect.objectContaining(limit)]),
  });
});

describe('backends', () => {
  it('list_backends has five flags, of which cpu is always true', async () => {
    const answer = await ask(listBackendsTool);
    const flags = Object.entries(answer).filter(([, value]) => typeof value === 'boolean');
    expect(flags.map(([name]) => name).sort()).toEqual(['cpu', 'cuda', 'hip', 'metal', 'sycl']);
    expect(answer.cpu).toBe(true);
  });

  it('probe_backend scores on the core, and reports an absent backend', async () => {
    const core = await ask(probeBackendTool, { backend: 'cpu' });
    expect(core).toMatchObject({ backend: 'cpu', compiled_in: true, runtime_healthy: true, error: null });
    // A still grey copy: motion 0, adm2 and vif 1.
    expect(core.score).toBeCloseTo(97.428043, 6);
    expect(core.latency_ms).toBeGreaterThan(0);
    const metal = await ask(probeBackendTool, { backend: 'metal' });
    const absent = { backend: 'metal', runtime_healthy: false, score: null, error: expect.any(String) };
    expect(metal).toMatchObject(absent);
  });

  it('vmaf_version has the keys of the reference and the version of the core', async () => {
    const answer = await ask(vmafVersion);
    expect(Object.keys(answer).sort()).toEqual(['binary_path', 'build_flags', 'engine', 'error', 'version']);
    expect(answer.engine).toEqual({ name: 'anyvmaf', version, libvmaf: '3.2.0' });
    expect(answer.build_flags).toMatchObject({ cpu: true });
    // Either a program or the reason why there is none.
    expect(answer.error === null).toBe(answer.binary_path !== null && answer.version !== null);
  });

  it('vmaf_version names no program if ffmpeg lacks libvmaf', async () => {
    const folder = mkdtempSync(join(videoFolder(), 'bin-'));
    writeFileSync(join(folder, 'ffmpeg'), '#!/bin/sh\necho ffmpeg version 7.0\n', { mode: 0o755 });
    vi.stubEnv('PATH', folder);
    const answer = await ask(vmafVersion);
    expect(answer).toMatchObject({ binary_path: null, version: null });
    expect(answer.error).toMatch(/\S{3}/);
  });
});

// Shader tests already score on this adapter.
it.skipIf(noGpu || !exhaustive)('a GPU, here the software adapter, is probed by scoring on it', async () => {
  vi.stubEnv('VK_ICD_FILENAMES', SWIFTSHADER);
  const health = await ask(probeBackendTool, { backend: 'webgpu' });
  expect(health).toMatchObject({ backend: 'webgpu', runtime_healthy: true, adapter: { software: true } });
  expect(health.score).toBeCloseTo(97.428043, 6);
});

type Told = Evaluation & { readonly keys: number | null };

const { features, good, worse } = evaluationFiles();
const constant = file(videoFolder(), 'constant.onnx', linear([0, 0, 0, 0, 0, 0], 1));
const broken = file(videoFolder(), 'broken.onnx', Buffer.from('broken'));

describe('eval_model_on_split', () => {
  it('evaluates the split test by default', async () => {
    const given = context();
    const told = await call<Told>(evalModelOnSplit, { model: good, features }, given);
    expect(told).toMatchObject({
      ...{ model: good, features, split: 'test', columns: SIX, keys: 2, left_out: { other_split: 1 } },
      ...{ n: 4, plcc: 0.8, srocc: 0.8, krocc: 4 / 6, rmse: Math.sqrt(0.5) },
      bootstrap: { unit: 'key', units: 2 },
    });
    expect(told.notes.join(' ')).toMatch(/rest on only 2 keys/);
    expect(given.asked.sort()).toEqual([good, features]);
    expect(given.ran).toEqual([1]);
  });

  it('refuses in a sentence', async () => {
    const args = { model: good, features, input_name: 'x' };
    expect(await refused(evalModelOnSplit, args, context())).toMatch(/no input "x"; it has "features"/);
  });
});

it('compare_models ranks models that work and lists the others in the order of the call', async () => {
  const models = [join(videoFolder(), 'absent.onnx'), worse, broken, good, '/etc/m.onnx', constant];
  type Compared = { ranked: Told[]; errors: { model: string; error: string }[] };
  const told = await ask<Compared>(compareModels, { models, features });
  expect(told.ranked.map(({ model, plcc, n }) => [model, plcc, n])).toEqual([
    [good, 0.8, 4],
    [worse, -0.8, 4],
    [constant, null, 4],
  ]);
  expect(told.errors.map(({ model }) => model)).toEqual([models[0], broken, '/etc/m.onnx']);
  expect(told.errors[1]?.error).toMatch(/not a valid ONNX model/);
});

describe('list_videos', () => {
  interface Listed {
    readonly folders: string[];
    readonly videos: Record<string, unknown>[];
    readonly left_out: number;
  }

  it('lists videos in the allowed folders, the newest first, and follows no link', async () => {
    const root = join(videoFolder(), 'listed');
    const outside = join(videoFolder(), 'outside-listed');
    for (const folder of [join(root, 'deep/er'), join(root, '.hidden'), outside])
      mkdirSync(folder, { recursive: true });
    const clip = makeSample({ width: 64, height: 48, bitDepth: 10, chroma: '420' }, { seed: 3 });
    const bytes = y4mFile(clip, 'reference', 4);
    const put = (path: string, at: number, content: Uint8Array | string = bytes) => {
      writeFileSync(path, content);
      utimesSync(path, at, at);
      return path;
    };
    const old = put(join(root, 'old.y4m'), 1e9);
    const fresh = put(join(root, 'deep/er/FRESH.Y4M'), 1.5e9);
    const raw = put(join(root, 'raw.yuv'), 1.4e9, 'abc');
    const broken = put(join(root, 'broken.mp4'), 1.3e9, 'not a video');
    put(join(root, '.hidden/secret.y4m'), 1e9);
    put(join(root, 'notes.txt'), 1e9, 'text');
    const secret = put(join(outside, 'secret.y4m'), 1.6e9);
    symlinkSync(secret, join(root, 'link.y4m'));
    symlinkSync(outside, join(root, 'linked'));
    const listed = await call<Listed>(listVideosTool, {}, fakeContext(root));
    expect(listed).toMatchObject({ folders: [root], left_out: 0, complete: true });
    expect(listed.videos.map(({ path }) => path)).toEqual([fresh, raw, broken, old]);
    expect(listed.videos[0]).toMatchObject({
      ...{ container: 'y4m', width: 64, height: 48, bit_depth: 10, frames: 4, bytes: bytes.length },
      ...{ frame_rate: expect.any(Number), seconds: expect.any(Number) },
    });
    expect(listed.videos[1]?.note).toContain('width, height, pixfmt and bitdepth');
    expect(listed.videos[2]?.note).toMatch(/broken\.mp4/);
    expect(listed.videos[2]?.note).not.toMatch(/ --\w/);
    // It takes no place in the pool, and reads each file once until it changes.
    const again = fakeContext(root);
    put(old, 1e9, 'x'.repeat(bytes.length));
    expect((await call<Listed>(listVideosTool, {}, again)).videos).toEqual(listed.videos);
    expect(again.ran).toEqual([]);
    put(old, 1.1e9, 'x'.repeat(bytes.length));
    const changed = (await call<Listed>(listVideosTool, {}, again)).videos.at(-1);
    expect(changed).toMatchObject({ path: old, note: expect.stringContaining('old.y4m') });
    // A failure may pass without a change of the file.
    put(old, 1.1e9);
    const mended = (await call<Listed>(listVideosTool, {}, again)).videos.at(-1);
    expect(mended).toMatchObject({ path: old, width: 64 });
    expect(mended).not.toHaveProperty('note');
    const some = await call<Listed>(listVideosTool, { contains: 'fresh', details: false }, fakeContext(root));
    expect(some.videos).toEqual([{ path: fresh, bytes: bytes.length, modified: '2017-07-14T02:40:00.000Z' }]);
    const few = await call<Listed>(listVideosTool, { limit: 1, details: false }, fakeContext(root));
    expect([few.videos.length, few.left_out]).toEqual([1, 3]);
    // Also if a folder has become a link since the server started.
    const given = fakeContext(root);
    renameSync(join(root, 'deep'), join(root, 'deep-away'));
    symlinkSync(outside, join(root, 'deep'));
    const quick = { details: false };
    const within = await call<Listed>(listVideosTool, quick, given);
    expect(within.videos.map(({ path }) => path)).not.toContain(join(root, 'deep/secret.y4m'));
    renameSync(root, `${root}-away`);
    symlinkSync(outside, root);
    expect((await call<Listed>(listVideosTool, quick, given)).videos).toEqual([]);
  });

  it.each([
    [[], 'No folder is allowed: hosts may start the server in /'],
    [['/'], 'The whole file system is allowed'],
  ])('gives advice if the folders are %j', async (folders, advice) => {
    const given = context();
    // Searching a whole disk takes seconds.
    const allowed = Object.assign([...folders], { map: () => [] });
    const asked = { ...given, files: { ...given.files, allowed } };
    const told = await call<{ advice: string }>(listVideosTool, {}, asked);
    expect(told.advice).toContain(advice);
    expect(told.advice).toContain('--allow DIR');
  });
});
