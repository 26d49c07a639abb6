/**
 * @module test/node/tiny/load
 * How models are found and checked: digests, sidecars, weights in files, 8-bit siblings.
 */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { nodeTinyFiles } from '../../../src/platform/node/tiny/platform.js';
import { parseSidecar } from '../../../src/tiny/documents.js';
import { loadTinyModel } from '../../../src/tiny/load.js';
import { testFolder } from '../../support/folders.js';
import { elsewhere, floats, linear, model, node, port } from '../../support/onnx.js';
import { type Files, sha256, tinyFiles } from '../../support/tiny.js';

const six = linear([1, 2, 3, 4, 5, 6], 7);
const eight = linear([1, 2, 3, 4, 5, 6], 8);

const registry = (...rows: object[]): object => ({ schema_version: 1, models: rows });

const row = { id: 'six', kind: 'fr', onnx: 'six.onnx', sha256: sha256(six).toUpperCase() };

const REGISTERED: Files = { 'registry.json': registry(row), 'six.onnx': six };

const signer = { sigstore_issuer: 'https://issuer.example', sigstore_identity: 'a@example.com' };

/** The file and quantisation of a model, or the error. */
async function saying(source: string, builtIn: Files, others: Files = {}, verify = false): Promise<string> {
  try {
    const { file, quantisation } = await loadTinyModel(source, tinyFiles(builtIn, others), { verify });
    return `${file} ${quantisation}`;
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}

describe('finding a model', () => {
  it('takes an id of the registry, with the rows of the reference', async () => {
    const files = {
      'registry.json': registry({ ...row, smoke: true, notes: 'n', license: 'MIT' }),
      'six.onnx': six,
    };
    const found = await loadTinyModel('six', tinyFiles(files));
    expect(found).toMatchObject({ source: 'six', kind: 'fr', entry: { smoke: true, licence: 'MIT' } });
  });

  it('takes the registered sidecar of a graph with a known digest', async () => {
    const sidecar = {
      feature_order: ['adm2', 'vif_scale0', 'vif_scale1', 'vif_scale2', 'vif_scale3', 'motion2'],
    };
    const scaled = { ...sidecar, feature_mean: [1, 2, 3, 4, 5, 6], feature_std: [1, 1, 1, 1, 1, 1] };
    const builtIn = { 'registry.json': registry(row), 'six.onnx': six, 'six.json': scaled };
    const copy = await loadTinyModel('/models/copy.onnx', tinyFiles(builtIn, { 'copy.onnx': six }));
    expect(copy).toMatchObject({ source: '/models/copy.onnx', entry: { id: 'six' }, file: 'six.onnx' });
    expect(copy.sidecar).toEqual((await loadTinyModel('six', tinyFiles(builtIn))).sidecar);
    const own = { 'copy.onnx': six, 'copy.json': sidecar };
    const { sidecar: ownSidecar } = await loadTinyModel('/models/copy.onnx', tinyFiles(builtIn, own));
    expect(ownSidecar.scaler).toBeUndefined();
  });

  it('warns if the features of a model are assumed', async () => {
    const { warnings } = await loadTinyModel('/models/eight.onnx', tinyFiles({}, { 'eight.onnx': eight }));
    expect(warnings).toEqual([
      expect.stringMatching(/has no sidecar that names its features, .* adm2, vif_scale0/),
    ]);
    const named = { 'eight.onnx': eight, 'eight.json': { feature_order: Array(6).fill('motion2') } };
    expect((await loadTinyModel('/models/eight.onnx', tinyFiles({}, named))).warnings).toEqual([]);
  });

  it('lists models if an id is unknown', async () => {
    const sentence = await saying('sik', REGISTERED);
    expect(sentence).toMatch(/no tiny model "sik"; there are six \(did you mean six\?\)/);
    expect(await saying('/models/no.onnx', REGISTERED)).toMatch(/has no file no.onnx in \/models/);
  });

  it('compares the bytes of a registered model, by id or by path, by default', async () => {
    const files = { 'registry.json': registry(row), 'six.onnx': eight };
    expect(await saying('six', files)).toMatch(/has the SHA-256 [0-9a-f]{64}, but the registry says/);
    expect(await saying('/models/six.onnx', {}, files)).toMatch(/but the registry says/);
    expect(await saying('/models/other.onnx', {}, { ...files, 'other.onnx': eight })).toBe('other.onnx fp32');
  });

  it('refuses a damaged registry', async () => {
    const refused = async (document: object | string) =>
      saying('six', { 'registry.json': document, 'six.onnx': six });
    expect(await refused('{')).toMatch(/is not JSON/);
    expect(await refused({ models: [row] })).toMatch(/schema_version is absent/);
    expect(await refused(registry({ ...row, sha256: 'ab' }))).toMatch(/sha256 is "ab"/);
    expect(await refused(registry({ ...row, kind: 'xr' }))).toMatch(/kind is "xr"/);
    expect(await refused(registry(row, row))).toMatch(/the id "six" is listed twice/);
  });
});

describe('8-bit siblings', () => {
  const quantised = { ...row, quant_mode: 'dynamic', int8_sha256: sha256(eight) };
  const files: Files = { 'registry.json': registry(quantised), 'six.onnx': six, 'six.int8.onnx': eight };

  it('replace the original model, with their own digest', async () => {
    expect(await saying('six', files)).toBe('six.int8.onnx dynamic');
    expect(await saying('six', { ...files, 'six.int8.onnx': six })).toMatch(/but the registry says/);
    const unlisted = {
      'registry.json': registry({ ...row, quant_mode: 'qat' }),
      'six.onnx': six,
      'six.int8.onnx': eight,
    };
    expect(await saying('six', unlisted)).toMatch(/without int8_sha256/);
  });

  it('run or do not run as requested', async () => {
    const taken = async (precision: 'fp32' | 'int8' | 'auto', source = 'six', given: Files = files) => {
      const { file, quantisation, warnings } = await loadTinyModel(source, tinyFiles(given, given), {
        precision,
      });
      return [file, quantisation, ...warnings];
    };
    expect(await taken('auto')).toEqual(['six.int8.onnx', 'dynamic']);
    expect(await taken('int8')).toEqual(['six.int8.onnx', 'dynamic']);
    expect(await taken('fp32')).toEqual(['six.onnx', 'fp32']);
    // A sibling that is not listed runs only on request.
    const unsaid = {
      'six.onnx': six,
      'six.int8.onnx': eight,
      'six.json': { feature_order: Array(6).fill('adm2') },
    };
    expect(await taken('auto', '/models/six.onnx', unsaid)).toEqual(['six.onnx', 'fp32']);
    expect(await taken('int8', '/models/six.onnx', unsaid)).toEqual(['six.int8.onnx', 'static']);
    const work = taken('int8', '/models/six.onnx', { 'six.onnx': six });
    await expect(work).rejects.toThrow('has no six.int8.onnx in /models');
    const failing = taken('fp32', '/models/six.int8.onnx', files);
    await expect(failing).rejects.toThrow('tiny_precision is fp32, but six.int8.onnx is the 8-bit sibling');
  });

  it('give a warning if missing', async () => {
    const files = { 'registry.json': registry(quantised), 'six.onnx': six };
    const { warnings, quantisation } = await loadTinyModel('six', tinyFiles(files));
    expect(quantisation).toBe('fp32');
    expect(warnings).toEqual([
      expect.stringContaining('six.int8.onnx does not exist; six.onnx is used instead'),
    ]);
  });

  it('are chosen by the sidecar of an unregistered model, and share its sidecar', async () => {
    const files = {
      'six.onnx': six,
      'six.int8.onnx': eight,
      'six.json': { quant_mode: 'static', name: 'mine' },
    };
    expect(await saying('/models/six.onnx', {}, files)).toBe('six.int8.onnx static');
    const direct = await loadTinyModel('/models/six.int8.onnx', tinyFiles({}, files));
    expect(direct.sidecar.name).toBe('mine');
  });
});

const split = model({
  nodes: [node('MatMul', ['x', 'w'], ['y'])],
  inputs: [port('x', ['N', 1])],
  outputs: [port('y', ['N', 1])],
  initializers: [elsewhere('w', [1, 1], 'w.bin')],
});

it('weights in another file are loaded, and count towards the size', async () => {
  const files = { 'a.onnx': split, 'w.bin': new Uint8Array(4) };
  const { program } = await loadTinyModel('/models/a.onnx', tinyFiles({}, files));
  expect(program.external).toEqual([{ path: 'w.bin', bytes: new Uint8Array(4) }]);
  const sentence = await saying('/models/a.onnx', {}, { 'a.onnx': split });
  expect(sentence).toMatch(/keeps weights in "w.bin", which is not beside it/);
  const large = { 'a.onnx': split, 'w.bin': new Uint8Array(50 * 1024 * 1024) };
  expect(await saying('/models/a.onnx', {}, large)).toMatch(/at most \d+ \(50 MiB\) are allowed/);
});

describe('a registered model', () => {
  const graph = model({
    nodes: [node('Gemm', ['features', 'w'], ['score'])],
    inputs: [port('features', ['N', 2])],
    outputs: [port('score', ['N', 1])],
    initializers: [elsewhere('w', [2, 1], 'w.bin')],
  });
  const sidecar = { feature_order: ['adm2', 'motion2'], feature_mean: [1, 2], feature_std: [3, 4] };
  const weights = new Uint8Array(Float32Array.of(1, 2).buffer);
  const parts: Files = { 'm.onnx': graph, 'm.json': sidecar, 'w.bin': weights };
  const listed = { id: 'm', kind: 'fr', onnx: 'm.onnx', sha256: sha256(graph) };
  const load = async (files: Files, entry: object) =>
    loadTinyModel('m', tinyFiles({ ...files, 'registry.json': registry(entry) }));
  const digest = async () => (await loadTinyModel('/models/m.onnx', tinyFiles({}, parts))).manifestSha256;

  it('has the registered graph, weights and sidecar', async () => {
    const found = await load(parts, { ...listed, manifest_sha256: await digest() });
    expect(found).toMatchObject({ registered: true, warnings: [] });
    const size = (content: unknown) => new TextEncoder().encode(JSON.stringify(content));
    const whole = [
      { name: 'm.json', role: 'sidecar', bytes: size(sidecar).length, sha256: sha256(size(sidecar)) },
      { name: 'm.onnx', role: 'graph', bytes: graph.length, sha256: sha256(graph) },
      { name: 'w.bin', role: 'weights', bytes: 8, sha256: sha256(weights) },
    ];
    expect(found.parts).toEqual(whole);
    expect(found.manifest).toBe(`${JSON.stringify({ version: 1, parts: whole })}\n`);
  });

  it('is refused if weights in another file, or a mean of the sidecar, have changed', async () => {
    const entry = { ...listed, manifest_sha256: await digest() };
    const changed: Files[] = [
      { ...parts, 'w.bin': new Uint8Array(Float32Array.of(1.3, 2.6).buffer) },
      { ...parts, 'm.json': { ...sidecar, feature_mean: [1, 2.5] } },
      Object.fromEntries(Object.entries(parts).filter(([name]) => name !== 'm.json')),
    ];
    for (const files of changed)
      await expect(load(files, entry)).rejects.toThrow(
        /tiny model "m" have the manifest digest [0-9a-f]{64}, but manifest_sha256 of the registry says/,
      );
  });

  it('does not count as registered if only the graph is listed, with a warning', async () => {
    const found = await load(parts, listed);
    expect(found.registered).toBe(false);
    expect(found.warnings).toEqual([
      expect.stringContaining(`not m.json, w.bin, on which its scores also depend`),
    ]);
    expect(found.warnings[0]).toContain(`manifest_sha256 ${await digest()}`);
  });

  it('counts as registered if other files contain only names', async () => {
    const plain = await loadTinyModel('six', tinyFiles(REGISTERED));
    expect(plain).toMatchObject({ registered: true, warnings: [] });
    const named = { name: 'mine', onnx_opset: 17, kind: 'fr', notes: 'n' };
    const informed = await loadTinyModel('six', tinyFiles({ ...REGISTERED, 'six.json': named }));
    expect(informed).toMatchObject({ registered: true, warnings: [] });
    const ranged = { ...named, output_range: [0, 100] };
    const clipped = await loadTinyModel('six', tinyFiles({ ...REGISTERED, 'six.json': ranged }));
    expect(clipped.registered).toBe(false);
  });

  it('of 8 bit has its own manifest', async () => {
    const files = { 'six.onnx': six, 'six.int8.onnx': eight, 'six.json': { output_range: [0, 100] } };
    const direct = await loadTinyModel('/models/six.int8.onnx', tinyFiles({}, files));
    const entry = { ...row, quant_mode: 'dynamic', int8_sha256: sha256(eight) };
    const by = async (stated: object, source = 'six') => {
      const all = { ...files, 'registry.json': registry({ ...entry, ...stated }) };
      return loadTinyModel(source, tinyFiles(all, all));
    };
    expect((await by({ int8_manifest_sha256: direct.manifestSha256 })).registered).toBe(true);
    const listed = { int8_manifest_sha256: direct.manifestSha256 };
    expect((await by(listed, '/models/six.int8.onnx')).registered).toBe(true);
    const run = by({ int8_manifest_sha256: sha256(six) });
    await expect(run).rejects.toThrow('int8_manifest_sha256 of the registry');
    expect((await by({ manifest_sha256: direct.manifestSha256 })).registered).toBe(false);
  });
});

describe('a requested signature', () => {
  it('must exist and be valid', async () => {
    const signed = registry({ ...row, ...signer, sigstore_bundle: 'six.sigstore.json' });
    const files = { 'registry.json': signed, 'six.onnx': six };
    expect(await saying('six', { ...files, 'six.sigstore.json': 'good' }, {}, true)).toBe('six.onnx fp32');
    const sentence = await saying('six', { ...files, 'six.sigstore.json': 'bad' }, {}, true);
    expect(sentence).toMatch(/is not signed by bad/);
    expect(await saying('six', files, {}, true)).toMatch(/bundle six.sigstore.json of six.onnx is not in/);
    expect(await saying('six', REGISTERED, {}, true)).toMatch(/names no Sigstore bundle/);
    expect(await saying('/models/six.onnx', {}, { 'six.onnx': six }, true)).toMatch(/no registry lists it/);
  });

  it('must be by the signer that the registry names', async () => {
    const anybody = registry({ ...row, sigstore_bundle: 'six.sigstore.json' });
    const files = { 'registry.json': anybody, 'six.onnx': six, 'six.sigstore.json': 'good' };
    expect(await saying('six', files, {}, true)).toMatch(
      /does not name the signer of six.onnx, and a signature by just anyone proves nothing; add sigstore_issuer/,
    );
  });

  it('covers the manifest, not a graph that depends on other files', async () => {
    const sidecar = { feature_order: ['adm2', 'motion2'], feature_mean: [1, 2], feature_std: [3, 4] };
    const model = { 'six.onnx': linear([1, 2], 3), 'six.json': sidecar };
    const { manifest, manifestSha256 } = await loadTinyModel('/models/six.onnx', tinyFiles({}, model));
    const listed = {
      ...row,
      ...signer,
      sha256: sha256(linear([1, 2], 3)),
      sigstore_bundle: 'six.sigstore.json',
    };
    const verified = (entry: object, bundle: string) =>
      saying('six', { ...model, 'registry.json': registry(entry), 'six.sigstore.json': bundle }, {}, true);
    const ofManifest = `of ${sha256(new TextEncoder().encode(manifest))}`;
    const ofGraph = `of ${listed.sha256}`;
    expect(await verified({ ...listed, manifest_sha256: manifestSha256 }, ofManifest)).toBe('six.onnx fp32');
    const sentence = await verified({ ...listed, manifest_sha256: manifestSha256 }, ofGraph);
    expect(sentence).toMatch(/the manifest of six.onnx is not signed/);
    expect(await verified(listed, ofGraph)).toMatch(
      /signature of six.onnx does not cover six.json, on which the scores of "six" also depend; sign its manifest/,
    );
  });
});

describe('folders in Node', () => {
  const root = testFolder('tiny');
  beforeAll(() => {
    mkdirSync(join(root, 'models/tiny'), { recursive: true });
    mkdirSync(join(root, 'outside'));
    writeFileSync(join(root, 'models/tiny/a.onnx'), six);
    writeFileSync(join(root, 'outside/b.onnx'), six);
    symlinkSync('../../outside/b.onnx', join(root, 'models/tiny/link.onnx'));
    symlinkSync('a.onnx', join(root, 'models/tiny/near.onnx'));
  });

  it('give files in them, also through links, and nothing else', async () => {
    const { builtIn } = nodeTinyFiles(() => new URL(`file://${root}/models/`));
    expect(await builtIn.read('a.onnx', 1000)).toEqual(Buffer.from(six));
    expect(await builtIn.read('near.onnx', 1000)).toEqual(Buffer.from(six));
    expect(await builtIn.read('none.onnx', 1000)).toBeNull();
    await expect(builtIn.read('link.onnx', 1000)).rejects.toThrow('leads out of its folder');
    await expect(builtIn.read('../../outside/b.onnx', 1000)).rejects.toThrow('leads out of its folder');
    const run = builtIn.read('a.onnx', 10);
    await expect(run).rejects.toThrow(`has ${six.length} bytes, more than the limit of 10`);
  });

  it('recognise a listed model through a link, in its folder or from another', async () => {
    const place = join(root, 'registered');
    mkdirSync(join(place, 'inner'), { recursive: true });
    writeFileSync(join(place, 'inner/six.onnx'), eight);
    writeFileSync(join(place, 'inner/registry.json'), JSON.stringify(registry(row)));
    symlinkSync('six.onnx', join(place, 'inner/alias.onnx'));
    symlinkSync('inner/six.onnx', join(place, 'near.onnx'));
    symlinkSync(join(place, 'inner/six.onnx'), join(root, 'outside/far.onnx'));
    symlinkSync('alias.onnx', join(place, 'inner/twice.onnx'));
    const platform = {
      files: nodeTinyFiles(() => new URL(`file://${root}/models/`)),
      signatures: tinyFiles({}).signatures,
    };
    const links = [
      'registered/inner/alias.onnx',
      'registered/inner/twice.onnx',
      'registered/near.onnx',
      'outside/far.onnx',
    ];
    for (const link of links)
      await expect(loadTinyModel(join(root, link), platform)).rejects.toThrow('but the registry says');
    writeFileSync(join(place, 'inner/six.onnx'), six);
    for (const link of links)
      expect(await loadTinyModel(join(root, link), platform)).toMatchObject({
        file: 'six.onnx',
        registered: true,
        entry: { id: 'six' },
      });
    // Conversely, a listed name may be a link to other bytes.
    rmSync(join(place, 'inner/six.onnx'));
    writeFileSync(join(place, 'inner/other.onnx'), eight);
    symlinkSync('other.onnx', join(place, 'inner/six.onnx'));
    const run = loadTinyModel(join(place, 'inner/six.onnx'), platform);
    await expect(run).rejects.toThrow('but the registry says');
  });

  it('are confined by VMAF_TINY_MODEL_DIR', async () => {
    const files = nodeTinyFiles(() => new URL(`file://${root}/models/`));
    process.env.VMAF_TINY_MODEL_DIR = join(root, 'models');
    try {
      const work = files.locate(join(root, 'outside/b.onnx'));
      await expect(work).rejects.toThrow('(VMAF_TINY_MODEL_DIR), the only folder allowed for tiny models');
      expect((await files.locate(join(root, 'models/tiny/a.onnx'))).file).toBe('a.onnx');
    } finally {
      delete process.env.VMAF_TINY_MODEL_DIR;
    }
  });
});

describe('a scaler without a stated place', () => {
  const mean = [0.9154358735163397, 6.417078245524368];
  const std = [0.03473643563995937, 7.320738307667759];
  const stated = { features: ['adm2', 'motion2'], input_mean: mean, input_std: std };
  /** (x - centre) / std, summed; the constants as initialisers or as nodes. */
  const scaled = (centre: readonly number[], asNodes: boolean) => {
    const constants = [floats('mean', [1, 2], centre), floats('std', [2], std)];
    return model({
      nodes: [
        ...(asNodes
          ? constants.map((tensor, i) =>
              node('Constant', [], [i === 0 ? 'mean' : 'std'], { value: { tensor } }),
            )
          : []),
        node('Sub', ['features', 'mean'], ['centred']),
        node('Div', ['centred', 'std'], ['scaled']),
        node('ReduceSum', ['scaled'], ['score'], { keepdims: { int: 0 } }),
      ],
      initializers: asNodes ? [] : constants,
      inputs: [port('features', ['N', 2])],
      outputs: [port('score', [])],
    });
  };
  const load = async (onnx: Uint8Array, sidecar: object) =>
    (await loadTinyModel('/models/a.onnx', tinyFiles({}, { 'a.onnx': onnx, 'a.json': sidecar }))).sidecar;

  it('is in the graph if that begins with it, and is not applied again', async () => {
    for (const asNodes of [true, false]) {
      const { scaler } = await load(scaled(mean, asNodes), stated);
      expect(scaler).toEqual({ mean, std, inGraph: true });
    }
  });

  it('is applied if the graph begins otherwise, and where the sidecar declares it', async () => {
    expect((await load(scaled([0.9, 6.4], true), stated)).scaler).toEqual({ mean, std });
    expect((await load(linear([1, 2], 0), stated)).scaler).toEqual({ mean, std });
    const outside = await load(scaled(mean, true), { ...stated, onnx_has_scaler: false });
    expect(outside.scaler).toEqual({ mean, std, inGraph: false });
  });
});

describe('sidecars', () => {
  const read = (sidecar: object) => parseSidecar(JSON.stringify(sidecar), 'the sidecar');

  it('apply a scaler unless the graph holds it', () => {
    const scaler = { feature_mean: [1, 2], feature_std: [3, 4], features: ['adm2', 'motion2'] };
    const stated = { mean: [1, 2], std: [3, 4] };
    expect(read(scaler).scaler).toEqual(stated);
    const inGraph = read({ ...scaler, onnx_has_scaler: true });
    expect(inGraph.scaler).toEqual({ ...stated, inGraph: true });
    expect(read({ input_mean: [1], input_std: [2] }).scaler).toEqual({ mean: [1], std: [2] });
  });

  const ORDINAL = { presetNorm: { kind: 'ordinal' }, crfNorm: { kind: 'div63' } };
  const TRAINED = {
    presetNorm: { kind: 'constant', value: 0.5 },
    crfNorm: { kind: 'minmax', min: 19, max: 37 },
  };
  /** The second vocabulary, whose models use the norms of their training. */
  const SIXTEEN = (
    'libx264 libaom-av1 libx265 h264_nvenc hevc_nvenc av1_nvenc h264_amf hevc_amf av1_amf h264_qsv hevc_qsv av1_qsv ' +
    'libvvenc libsvtav1 h264_videotoolbox hevc_videotoolbox'
  ).split(' ');
  const two = ['libx264', 'unknown'];
  const constant = { codec_preset_norm: 'constant', codec_preset_value: 0.5 };

  it.each([
    [two, {}, ORDINAL],
    [two, { ...constant, codec_crf_norm: 'minmax', codec_crf_min: 19, codec_crf_max: 37 }, TRAINED],
    [SIXTEEN, {}, TRAINED],
    [two, { encoder_vocab_version: 3 }, TRAINED],
    [two, { encoder_vocab_version: 2 }, ORDINAL],
    [SIXTEEN, { codec_preset_norm: 'ordinal', codec_crf_norm: 'div63' }, ORDINAL],
  ])('read codec blocks of all generations: %j %j', (vocabulary, norms, expected) => {
    expect(read({ encoder_vocab: vocabulary, ...norms }).codec).toEqual({ vocabulary, ...expected });
  });

  it('name inputs one by one or as a list, and may have kinds of other tools', () => {
    const listed = { input_names: ['features', 'codec'], encoder_vocab: ['libx264'], kind: 'mos' };
    expect(read(listed)).toMatchObject({ inputName: 'features', codecInput: 'codec' });
    expect(read(listed).kind).toBeUndefined();
    expect(read({ input_names: ['a'], input_name: 'b' }).inputName).toBe('b');
  });

  it('ignore informative keys, and refuse impossible values', () => {
    expect(read({ training: { epochs: 3 }, name: null })).toEqual({});
    for (const [sidecar, why] of [
      [{ feature_mean: [1] }, 'the sidecar: feature_std is absent, but it must be given together with'],
      [{ feature_mean: [1], feature_std: [0] }, 'feature_std[0] is 0, but it must be a number above 0'],
      [{ features: ['a'], feature_mean: [1, 2], feature_std: [1, 1] }, 'a list of 1 numbers'],
      [{ encoder_vocab: two, ...constant, codec_crf_norm: 'minmax' }, 'codec_crf_max'],
      [{ name: '../x' }, 'name is "../x"'],
      [{ output_names: Array(9).fill('a') }, 'a list of 1 to 8'],
      [{ features: Array(33).fill('a') }, 'a list of 1 to 32'],
    ] as const)
      expect(() => read(sidecar), why).toThrow(why);
    expect(() => parseSidecar('[]', 'the sidecar')).toThrow('is not a JSON object');
  });
});
