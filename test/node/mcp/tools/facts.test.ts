/**
 * @module test/node/mcp/tools/facts
 * The tools that score nothing: models, extractors, backends, versions, and the two that are not there yet.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { listExtractors, version } from '../../../../src/index.js';
import { compareModels } from '../../../../src/mcp/tools/compare-models.js';
import { describeModelTool } from '../../../../src/mcp/tools/describe-model.js';
import { evalModelOnSplit } from '../../../../src/mcp/tools/eval-model-on-split.js';
import { listBackendsTool } from '../../../../src/mcp/tools/list-backends.js';
import { listExtractorsTool } from '../../../../src/mcp/tools/list-extractors.js';
import { listModelsTool } from '../../../../src/mcp/tools/list-models.js';
import { probeBackendTool } from '../../../../src/mcp/tools/probe-backend.js';
import { vmafVersion } from '../../../../src/mcp/tools/vmaf-version.js';
import { root } from '../../../support/built.js';
import { noGpu, SWIFTSHADER } from '../../../support/gpu.js';
import { call, copyModel, fakeContext, refused, videoFolder } from '../../../support/mcp-tools.js';

const context = () => fakeContext(videoFolder());

interface Models {
  readonly models: readonly {
    readonly name: string;
    readonly path: string;
    readonly size_bytes: number;
    readonly availability: string;
    readonly pull_with?: string;
  }[];
}

describe('list_models', () => {
  it('lists the model files of the package with their sizes, the default first, and nothing else', async () => {
    const { models } = await call<Models>(listModelsTool, {}, context());
    expect(models.map(({ name }) => name).sort()).toEqual([
      'vmaf_4k_v0.6.1',
      'vmaf_4k_v0.6.1neg',
      'vmaf_b_v0.6.3',
      'vmaf_float_4k_v0.6.1',
      'vmaf_float_b_v0.6.3',
      'vmaf_float_v0.6.1',
      'vmaf_float_v0.6.1neg',
      'vmaf_v0.6.1',
      'vmaf_v0.6.1neg',
      'vmaf_v1.0.16_1d5h_2160',
      'vmaf_v1.0.16_3d0h',
      'vmaf_v1.0.16_3d0h_2160',
      'vmaf_v1.0.16_5d0h',
      'vmaf_v1.0.16_hfr_1d5h_2160',
      'vmaf_v1.0.16_hfr_3d0h',
      'vmaf_v1.0.16_hfr_3d0h_2160',
      'vmaf_v1.0.16_hfr_5d0h',
    ]);
    expect(models[0]).toMatchObject({
      name: 'vmaf_v0.6.1',
      path: 'model/vmaf_v0.6.1.json',
      format: 'json',
      default: true,
    });
    for (const { path, size_bytes, availability } of models) {
      if (availability === 'built-in') expect(size_bytes, path).toBe(statSync(join(root, path)).size);
    }
  });
});

interface Described {
  readonly feature_names: readonly string[] | null;
  readonly [key: string]: unknown;
}

describe('describe_model', () => {
  const file: { model_dict: { model_type: string; feature_names: string[] } } = JSON.parse(
    readFileSync(join(root, 'model/vmaf_v0.6.1.json'), 'utf8'),
  );

  it.each(['vmaf_v0.6.1', 'vmaf_v0.6.1.json', 'model/vmaf_v0.6.1.json'])('knows %s', async (name) => {
    expect(await call<Described>(describeModelTool, { name }, context())).toMatchObject({
      name: 'vmaf_v0.6.1',
      path: 'model/vmaf_v0.6.1.json',
      format: 'json',
      size_bytes: statSync(join(root, 'model/vmaf_v0.6.1.json')).size,
      model_type: file.model_dict.model_type,
      feature_names: file.model_dict.feature_names,
      kind: 'single',
      clip: [0, 100],
      transform: 'on request',
    });
  });

  it('describes every model that list_models lists', async () => {
    const { models } = await call<Models>(listModelsTool, {}, context());
    for (const { name, path, size_bytes } of models) {
      expect(await call<Described>(describeModelTool, { name }, context())).toMatchObject({
        name,
        path,
        size_bytes,
      });
    }
  });

  it('describes every tiny model that list_models lists, by id, file and path', async () => {
    const { tiny_models: tiny } = await call<{ tiny_models: { id: string; kind: string }[] }>(
      listModelsTool,
      {},
      context(),
    );
    const registry: { models: { id: string; onnx: string; sha256: string }[] } = JSON.parse(
      readFileSync(join(root, 'model/tiny/registry.json'), 'utf8'),
    );
    expect(tiny.length).toBe(registry.models.length);
    for (const { id, kind } of tiny) {
      const { onnx = '', sha256 } = registry.models.find((entry) => entry.id === id) ?? {};
      const described = await call<Described>(describeModelTool, { name: id }, context());
      expect(described).toMatchObject({
        ...{ name: id, kind, path: `model/tiny/${onnx}`, format: 'onnx', model_type: null, sha256 },
        size_bytes: statSync(join(root, 'model/tiny', onnx)).size,
        score_with: `tiny_model: "${id}"`,
      });
      for (const name of [onnx, `model/tiny/${onnx}`])
        expect(await call(describeModelTool, { name }, context())).toEqual(described);
    }
    const regressor = await call<Described>(describeModelTool, { name: 'fr_vmaf_v0.6.1' }, context());
    const { feature_order } = JSON.parse(readFileSync(join(root, 'model/tiny/fr_vmaf_v0.6.1.json'), 'utf8'));
    expect(regressor.feature_names).toEqual(feature_order);
    const estimate = await call<Described>(describeModelTool, { name: 'nr_vmaf_v0.6.1' }, context());
    expect(estimate).toMatchObject({ kind: 'nr', feature_names: null, experimental: expect.any(String) });
  });

  it('says of a model that is not here yet how to get it', async () => {
    vi.stubEnv('ANYVMAF_CACHE', join(videoFolder(), 'no-cache'));
    const name = 'vmaf_v1.0.16_3d0h';
    const absent = { availability: 'to be pulled', pull_with: `anyvmaf models pull ${name}` };
    const { models } = await call<Models>(listModelsTool, {}, context());
    expect(models.find((model) => model.name === name)).toMatchObject(absent);
    const described = await call<Described>(describeModelTool, { name }, context());
    expect(described).toMatchObject({ ...absent, model_type: null });
    expect(described.feature_names).toHaveLength(4);
    vi.unstubAllEnvs();
  });

  it('reads a model file under an allowed root', async () => {
    const path = copyModel('vmaf_b_v0.6.3');
    expect(await call<Described>(describeModelTool, { name: path }, context())).toMatchObject({
      name: 'custom',
      path,
      model_type: 'BOOTSTRAP_LIBSVMNUSVR',
      feature_names: file.model_dict.feature_names,
      kind: 'collection',
    });
  });

  it('knows of pkl and onnx files that they are there', async () => {
    const path = join(videoFolder(), 'tiny.onnx');
    writeFileSync(path, 'abc');
    expect(await call<Described>(describeModelTool, { name: path }, context())).toEqual({
      name: 'tiny',
      path,
      format: 'onnx',
      size_bytes: 3,
      model_type: null,
      feature_names: null,
    });
  });

  it('refuses what is no model, or not allowed', async () => {
    const of = (name: string) => refused(describeModelTool, { name }, context());
    expect(await of('foo')).toBe("model 'foo' not found; run list_models to see available models.");
    expect(await of('vmaf_v0.6')).toContain("'vmaf_v0.6' not found");
    expect(await of('/etc/model.json')).toContain('/etc/model.json');
    const path = join(videoFolder(), 'broken.json');
    writeFileSync(path, '{');
    expect(await of(path)).toContain('broken.json');
    const colon = join(videoFolder(), 'a:b.json');
    writeFileSync(colon, '{}');
    expect(await of(colon)).toContain('colon');
  });
});

describe('list_extractors', () => {
  it('lists extractors with the file that holds their arithmetic, options and features', async () => {
    const { extractors } = await call<{
      readonly extractors: readonly { name: string; backend: string; source: string; features: string[] }[];
    }>(listExtractorsTool, {}, context());
    expect(extractors.map(({ name }) => name)).toEqual(listExtractors().map(({ name }) => name));
    expect(extractors).toHaveLength(17);
    for (const { source, backend } of extractors) {
      expect(existsSync(join(root, source)), source).toBe(true);
      expect(backend).toBe('cpu');
    }
    expect(extractors.find(({ name }) => name === 'vif')).toMatchObject({
      features: expect.arrayContaining(['integer_vif_scale0', 'integer_vif_scale3']),
      options: expect.arrayContaining([
        expect.objectContaining({
          name: 'vif_enhn_gain_limit',
          type: 'double',
          default: 100,
          min: 1,
          max: 100,
        }),
      ]),
    });
  });
});

describe('backends', () => {
  it('list_backends has five flags, and the core is always there', async () => {
    const answer = await call<Record<string, unknown>>(listBackendsTool, {}, context());
    const flags = Object.entries(answer).filter(([, value]) => typeof value === 'boolean');
    expect(flags.map(([name]) => name).sort()).toEqual(['cpu', 'cuda', 'hip', 'metal', 'sycl']);
    expect(answer.cpu).toBe(true);
  });

  it('probe_backend scores on the core, and a backend that is not there is an answer', async () => {
    const core = await call<Record<string, unknown>>(probeBackendTool, { backend: 'cpu' }, context());
    expect(core).toMatchObject({ backend: 'cpu', compiled_in: true, runtime_healthy: true, error: null });
    // A still grey copy: motion 0, adm2 and vif 1.
    expect(core.score).toBeCloseTo(97.428043, 6);
    expect(core.latency_ms).toBeGreaterThan(0);
    const metal = await call<Record<string, unknown>>(probeBackendTool, { backend: 'metal' }, context());
    expect(metal).toMatchObject({
      backend: 'metal',
      runtime_healthy: false,
      score: null,
      error: expect.any(String),
    });
    expect(probeBackendTool.inputSchema.safeParse({ backend: 'auto' }).success).toBe(false);
  });

  it('vmaf_version has the keys of the reference, and the version of the core', async () => {
    const answer = await call<Record<string, unknown>>(vmafVersion, {}, context());
    expect(Object.keys(answer).sort()).toEqual(['binary_path', 'build_flags', 'engine', 'error', 'version']);
    expect(answer.engine).toEqual({ name: 'anyvmaf', version, libvmaf: '3.2.0' });
    expect(answer.build_flags).toMatchObject({ cpu: true });
    // Either there is a program or a sentence that says why there is none.
    expect(answer.error === null).toBe(answer.binary_path !== null && answer.version !== null);
  });
});

describe('the evaluation tools', () => {
  it('have the defaults of the reference, and want at least one model', () => {
    const args = { features: 'f.parquet' };
    expect(evalModelOnSplit.inputSchema.parse({ ...args, model: 'm.onnx' })).toMatchObject({
      split: 'test',
      input_name: 'features',
    });
    expect(compareModels.inputSchema.safeParse({ ...args, models: [] }).success).toBe(false);
  });
});

describe.skipIf(noGpu)('a GPU, here the software adapter', () => {
  it('is probed by scoring on it', async () => {
    process.env.VK_ICD_FILENAMES = SWIFTSHADER;
    const health = await call<Record<string, unknown>>(probeBackendTool, { backend: 'webgpu' }, context());
    expect(health).toMatchObject({ backend: 'webgpu', runtime_healthy: true, adapter: { software: true } });
    expect(health.score).toBeCloseTo(97.428043, 6);
  });
});
