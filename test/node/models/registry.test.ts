/**
 * @module test/node/models/registry
 * The models in the package: that they are the original files, what is said about them, and what they predict; and models
 * that are fetched on request, from a server on the loopback interface, and kept in a folder of the test.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  describeModel as describeOne,
  listModels as listAll,
  openModel,
  pullModel,
  score,
} from '../../../src/index.js';
import { pullModels } from '../../../src/models/pull.js';
import { describeModel, listModels } from '../../../src/models/registry.js';
import type { ModelCache, ModelStore } from '../../../src/models/types.js';
import { nodeModelCache } from '../../../src/platform/node/platform.js';
import { sampleSource } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { type StaticServer, serve } from '../../support/file-server.js';
import { ownFolder } from '../../support/folders.js';
import { modelStore } from '../../support/models.js';
import { refusalOf } from '../../support/refusals.js';
import { needsShared, sharedPath } from '../../support/tier.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const read = (name: string): string =>
  readFileSync(new URL(`../../../model/${name}`, import.meta.url), 'utf8');

describe('the model folder', () => {
  it('is what the extraction script would write, with the licence of the models', () => {
    const script = fileURLToPath(new URL('../../../scripts/extract-models.mjs', import.meta.url));
    const said = execFileSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
    expect(said).toMatch(/as they should be/);
    const licence = /BSD-2-Clause-Patent.*Copyright \(c\) 2016-2020 Netflix, Inc\..*patent license/s;
    expect(read('LICENSE-VMAF.txt')).toMatch(licence);
  });
});

describe('listModels', () => {
  it('lists the built-in models, the default first', async () => {
    const models = await listModels(modelStore());
    const views = ['3d0h', '5d0h', '1d5h_2160', '3d0h_2160'];
    expect(models.map(({ name }) => name)).toEqual([
      ...['vmaf_v0.6.1', 'vmaf_v0.6.1neg', 'vmaf_4k_v0.6.1', 'vmaf_4k_v0.6.1neg', 'vmaf_b_v0.6.3'],
      ...['vmaf_float_v0.6.1', 'vmaf_float_v0.6.1neg', 'vmaf_float_4k_v0.6.1', 'vmaf_float_b_v0.6.3'],
      ...['', 'hfr_'].flatMap((rate) => views.map((view) => `vmaf_v1.0.16_${rate}${view}`)),
    ]);
    const collections = models.filter(({ kind }) => kind === 'collection').map(({ name }) => name);
    expect(collections).toEqual(['vmaf_b_v0.6.3', 'vmaf_float_b_v0.6.3']);
    for (const { intendedUse } of models) expect(intendedUse).toMatch(/^[A-Z0-9].*\.$/);
  });

  it('says when the registry is damaged', async () => {
    for (const text of ['{"models":[{}]}', '{}', '<html>', 'null']) {
      const store = { ...modelStore(), readBuiltIn: async () => text };
      const sentence = await refusalOf('internal', () => listModels(store));
      expect(sentence).toMatch(/^model\/registry\.json is damaged/);
    }
  });
});

describe('describeModel', () => {
  it('tells a NEG model’s inputs with their options', async () => {
    const model = await describeModel('vmaf_v0.6.1neg', modelStore());
    expect(model).toMatchObject({
      name: 'vmaf_v0.6.1neg',
      kind: 'single',
      clip: [0, 100],
      transform: { enabled: false, p0: 1.70674692, p1: 1.72643844, p2: -0.00705305, outGteIn: true },
      supportVectors: [211],
      licence: 'BSD-2-Clause-Patent',
      sha256: '1fcda193aaa2a3136471b7516b3c5dc344546c05fcde2d58609f8c60a2387392',
    });
    expect(model.inputs[0]).toEqual({
      feature: 'VMAF_integer_feature_adm2_score',
      logName: 'integer_adm2_egl_1',
      extractor: 'adm',
      options: { adm_enhn_gain_limit: '1' },
    });
    expect(model.inputs.map(({ logName }) => logName)).toContain('integer_motion2');
  });

  it('has float models that differ only in the names of features', async () => {
    for (const name of ['v0.6.1', 'v0.6.1neg', '4k_v0.6.1', 'b_v0.6.3']) {
      const float = await describeModel(`vmaf_float_${name}`, modelStore());
      const plain = await describeModel(`vmaf_${name}`, modelStore());
      const { supportVectors, clip, transform, inputs } = plain;
      expect(float).toMatchObject({ supportVectors, clip, transform });
      expect(float.inputs).toEqual(
        inputs.map(({ feature, logName, extractor, ...same }) => ({
          ...{ ...same, feature: feature.replace('_integer', ''), logName: logName.replace('integer_', '') },
          extractor: `float_${extractor}`,
        })),
      );
    }
  });

  it('counts the support vectors of models and members', async () => {
    const uhd = await describeModel('vmaf_4k_v0.6.1', modelStore());
    expect([uhd.supportVectors, uhd.transform]).toEqual([[262], null]);
    const collection = await describeModel('vmaf_b_v0.6.3', modelStore());
    expect(collection.supportVectors).toHaveLength(21);
    expect(collection.supportVectors[0]).toBe(210);
  });
});

const VIF = { integer_vif_scale0: 1, integer_vif_scale1: 1, integer_vif_scale2: 1, integer_vif_scale3: 1 };
const PERFECT = { integer_adm2: 1, integer_motion2: 0, ...VIF };

describe('openModel', () => {
  it('names the features that a run must measure, options included', async () => {
    expect((await openModel()).features).toEqual(['adm', 'motion', 'vif']);
    const neg = await openModel('version=vmaf_v0.6.1neg:motion.motion_force_zero=true:name=n');
    expect(neg.features).toEqual([
      'adm=adm_enhn_gain_limit=1',
      'motion=motion_force_zero=true',
      'vif=vif_enhn_gain_limit=1',
    ]);
    expect(neg.name).toBe('n');
    expect(neg.inputs.map(({ logName }) => logName)).toContain('integer_adm2_egl_1');
  });

  it('says what kind of regression a model is', async () => {
    const type = async (name: string) => (await openModel(`version=${name}`)).type;
    expect(await type('vmaf_v0.6.1')).toBe('LIBSVMNUSVR');
    expect(await type('vmaf_b_v0.6.3')).toBe('BOOTSTRAP_LIBSVMNUSVR');
  });

  it('refuses values that lack an input, naming it', async () => {
    const model = await openModel();
    const { integer_vif_scale2: _, ...rest } = PERFECT;
    const sentence = await refusalOf('feature', () => model.predict(rest));
    expect(sentence).toContain('no value for integer_vif_scale2');
  });
});

const NAME = 'vmaf_v1.0.16_3d0h';
const AT = `/Netflix/vmaf/v3.2.0/model/vmaf_v1.0.16/${NAME}.json`;

const at = ownFolder('pull');
let server: StaticServer | undefined;

beforeEach(() => void vi.stubEnv('ANYVMAF_CACHE', at('cache')));

afterEach(async () => {
  vi.unstubAllEnvs();
  await server?.stop();
});

async function from(files: Record<string, string | Uint8Array>): Promise<string> {
  mkdirSync(at('served'), { recursive: true });
  server = await serve(at('served'), files);
  return server.origin;
}

/** A store whose registry has one model to pull, with the sum of `text`, and a place to keep it in memory. */
function storeFor(text: string, changes: Partial<ModelCache> = {}) {
  const kept = new Map<string, string>();
  const registry: { models: { name: string }[] } = JSON.parse(read('registry.json'));
  const models = registry.models.map((entry) =>
    entry.name === NAME ? { ...entry, sha256: sha256(text) } : entry,
  );
  const store: ModelStore = {
    ...modelStore(),
    readBuiltIn: async () => JSON.stringify({ models }),
    keep: {
      read: async (file) => kept.get(file),
      write: async (file, bytes) => void kept.set(file, new TextDecoder().decode(bytes)),
      placeOf: (file) => `memory/${file}`,
      ...changes,
    },
  };
  return { store, kept };
}

describe('pullModel', () => {
  it('fetches by owner, repository, tag and folder, once', async () => {
    const origin = await from({ [AT]: 'a model' });
    const { store, kept } = storeFor('a model');
    const place = `memory/${NAME}.json`;
    const first = await pullModels(NAME, store, { from: `${origin}/` });
    expect(first).toEqual([{ name: NAME, fetched: true, place }]);
    expect(kept.get(`${NAME}.json`)).toBe('a model');
    await server?.stop();
    expect(await pullModels(NAME, store, { from: origin })).toEqual([{ name: NAME, fetched: false, place }]);
  });

  it('fetches a damaged file again', async () => {
    const origin = await from({ [AT]: 'a model' });
    const { store, kept } = storeFor('a model');
    kept.set(`${NAME}.json`, 'half a mo');
    expect(await pullModels(NAME, store, { from: origin })).toMatchObject([{ fetched: true }]);
    expect(kept.get(`${NAME}.json`)).toBe('a model');
  });

  it('has nothing to do for a model that ships', async () => {
    expect(await pullModel('vmaf_v0.6.1', { from: 'http://127.0.0.1:1' })).toEqual([]);
  });

  it('does not keep a file with another checksum', async () => {
    const origin = await from({ [AT]: 'something else' });
    const { store, kept } = storeFor('a model');
    const sentence = await refusalOf('model', () => pullModels(NAME, store, { from: origin }));
    expect(sentence).toContain(`for ${NAME} has the SHA-256 ${sha256('something else')}`);
    expect(kept.size).toBe(0);
  });

  it('says why a file could not be fetched', async () => {
    const origin = await from({ [AT.replace('3d0h', '5d0h')]: new Uint8Array((1 << 20) + 1) });
    const refusal = (code: 'io' | 'model' | 'usage', name: string, address: string) =>
      refusalOf(code, () => pullModel(name, { from: address }));
    const said = await refusal('io', NAME, origin);
    expect(said).toMatch(/the server answered 404; get the file elsewhere and pass path=FILE/);
    const large = await refusal('model', NAME.replace('3d0h', '5d0h'), origin);
    expect(large).toMatch(/more than 1048576 bytes, so it is not a model/);
    await server?.stop();
    expect(await refusal('io', NAME, origin)).toMatch(/cannot be fetched from .*ECONNREFUSED.* pull again/);
    expect(await refusal('usage', NAME, 'ftp://x')).toMatch(/must begin with https:/);
    expect(await refusal('usage', NAME, 5 as never)).toMatch(/must be the URL of a server/);
    expect(await refusal('model', 'vmaf_v9', origin)).toMatch(/no built-in model "vmaf_v9"; .*_2160\.$/);
  });

  it('leaves a server that never ends', async () => {
    let left = () => {};
    const gone = new Promise<void>((resolve) => {
      left = resolve;
    });
    const endless = createServer((_, response) => {
      const write = () => {
        while (response.write(new Uint8Array(1 << 16)));
      };
      response.on('drain', write).on('close', left);
      write();
    });
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
    const { port } = endless.address() as AddressInfo;
    const run = () => pullModel(NAME, { from: `http://127.0.0.1:${port}` });
    const sentence = await refusalOf('model', run);
    expect(sentence).toMatch(/^The file from http:.* for vmaf_v1\.0\.16_3d0h has more than 1048576 bytes/);
    await gone;
    endless.closeAllConnections();
    endless.close();
  });

  /** Why a model that is fetched cannot be kept. */
  const unkept = async () => {
    const { store } = storeFor('a model', { write: nodeModelCache.write });
    const origin = await from({ [AT]: 'a model' });
    return refusalOf('io', () => pullModels(NAME, store, { from: origin }));
  };

  // In /proc, Node's own way to make folders never returns.
  it.runIf(process.platform === 'linux')('gives up where no folder can be made', async () => {
    vi.stubEnv('ANYVMAF_CACHE', '/proc/anyvmaf/cache');
    const sentence = await unkept();
    expect(sentence).toContain('cannot be saved as /proc/anyvmaf/cache/models/');
    expect(sentence).toMatch(/: no folder can be created there; make the folder writable/);
  });

  it('stops when asked to', async () => {
    const origin = await from({ [AT]: 'a model' });
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(pullModel(NAME, { from: origin, signal })).rejects.toThrow('enough');
  });

  it('says when the place to keep models cannot be written', async () => {
    writeFileSync(at('cache'), 'a file where a folder should be');
    const reason = /cannot be saved as .*cache\/models\/vmaf_v1\.0\.16_3d0h\.json: .*ANYVMAF_CACHE/;
    expect(await unkept()).toMatch(reason);
  });

  it('says when a folder is where the model should be, and leaves nothing beside it', async () => {
    const models = at('cache/models');
    mkdirSync(join(models, `${NAME}.json`), { recursive: true });
    expect(await unkept()).toMatch(/cannot be saved as .*: a folder has that name; /);
    expect(readdirSync(models)).toEqual([`${NAME}.json`]);
  });

  const ordinary = process.getuid?.() !== 0 && process.platform !== 'win32';
  it.runIf(ordinary)('says when a folder is read-only (not as root)', async () => {
    mkdirSync(at('cache'));
    chmodSync(at('cache'), 0o555);
    expect(await unkept()).toMatch(/: permission denied; make/);
    chmodSync(at('cache'), 0o755);
  });
});

describe('a model that is not here yet', () => {
  it('is listed, and says how to get it when it is asked for', async () => {
    const models = await listAll();
    const absent = models.filter(({ availability }) => availability === 'to be pulled');
    expect(absent).toHaveLength(8);
    expect(absent[0]).toMatchObject({ name: NAME, bytes: 14696 });
    for (const ask of [() => openModel(`version=${NAME}`), () => describeOne(NAME)]) {
      expect(await refusalOf('model', ask)).toMatch(/run pullModel\('vmaf_v1\.0\.16_3d0h'\) once/);
    }
  });

  it('is not taken from the cache when it is damaged there', async () => {
    mkdirSync(at('cache/models'), { recursive: true });
    writeFileSync(at(`cache/models/${NAME}.json`), '{}');
    expect(await refusalOf('model', () => openModel(`version=${NAME}`))).toMatch(/is damaged; run/);
  });
});

it.skipIf(process.platform !== 'linux')('the cache folder is where the variables say', () => {
  const place = () => nodeModelCache.placeOf('x.json');
  expect(place()).toBe(at('cache/models/x.json'));
  vi.stubEnv('ANYVMAF_CACHE', '');
  vi.stubEnv('XDG_CACHE_HOME', '/var/of/user');
  expect(place()).toBe('/var/of/user/anyvmaf/models/x.json');
  vi.stubEnv('XDG_CACHE_HOME', '');
  vi.stubEnv('HOME', '/home/of/user');
  expect(place()).toBe('/home/of/user/.cache/anyvmaf/models/x.json');
});

const files = sharedPath('models');

describe.skipIf(files === undefined)(`the eight models of VMAF v1 (${needsShared})`, () => {
  const served = () => {
    const found: Record<string, Uint8Array> = {};
    for (const set of ['vmaf_v1.0.16', 'vmaf_v1.0.16_hfr'])
      for (const file of readdirSync(join(files ?? '', set)))
        found[`/Netflix/vmaf/v3.2.0/model/${set}/${file}`] = readFileSync(join(files ?? '', set, file));
    return found;
  };

  it('are fetched by the name all, then score offline, and equal the files', async () => {
    vi.stubEnv('ANYVMAF_MODELS_FROM', await from(served()));
    const pulled = await pullModel('all');
    expect(pulled.map(({ fetched }) => fetched)).toEqual(Array(8).fill(true));
    await server?.stop();
    expect((await pullModel('all')).map(({ fetched }) => fetched)).toEqual(Array(8).fill(false));
    expect((await listAll()).filter(({ availability }) => availability === 'pulled')).toHaveLength(8);
    expect(readdirSync(at('cache/models')).filter((name) => name.endsWith('.part'))).toEqual([]);
    for (const { name, place } of pulled) {
      const described = await describeOne(name);
      expect(described.supportVectors).toEqual([215]);
      const extractors = described.inputs.map(({ extractor }) => extractor);
      expect(extractors).toEqual(['cambi', 'speed_chroma', 'adm', 'motion']);
      expect(described.bytes).toBe(readFileSync(place).length);
      expect(described.features).toEqual(described.inputs.map(({ feature }) => feature));
    }
    const clip = makeSample({ width: 320, height: 240, bitDepth: 10, chroma: '420' }, { seed: 5 });
    const file = join(files ?? '', 'vmaf_v1.0.16', `${NAME}.json`);
    const [reference, distorted] = [sampleSource(clip, 'reference', 2), sampleSource(clip, 'distorted', 2)];
    const models = [`version=${NAME}`, `path=${file}:name=file`];
    const report = await score({ reference, distorted }, { models, threads: 0 });
    expect(report.pooled_metrics.vmaf).toEqual(report.pooled_metrics.file);
  });
});
