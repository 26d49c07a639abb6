/**
 * @module test/node/models/pull
 * Models that are fetched on request: from a server on the loopback interface, kept in a folder of the test.
 */
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { describeModel, listModels, openModel, pullModel, score } from '../../../src/index.js';
import { pullModels } from '../../../src/models/pull.js';
import type { ModelCache, ModelStore } from '../../../src/models/types.js';
import { nodeModelCache } from '../../../src/platform/node/models.js';
import { sampleSource } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { modelStore, refusalOf } from '../../support/models.js';
import { type StaticServer, serve } from '../../support/server.js';
import { needsShared, sharedPath } from '../../support/shared.js';

const NAME = 'vmaf_v1.0.16_3d0h';
const AT = `/Netflix/vmaf/v3.2.0/model/vmaf_v1.0.16/${NAME}.json`;

let folder: string;
let server: StaticServer | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'anyvmaf-pull-'));
  vi.stubEnv('ANYVMAF_CACHE', join(folder, 'cache'));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await server?.stop();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

async function from(files: Record<string, string | Uint8Array>): Promise<string> {
  mkdirSync(join(folder, 'served'), { recursive: true });
  server = await serve(join(folder, 'served'), files);
  return server.origin;
}

/** A store whose registry has one model to pull, with the sum of `text`, and a place to keep it in memory. */
function storeFor(text: string, changes: Partial<ModelCache> = {}) {
  const kept = new Map<string, string>();
  const registry = JSON.parse(
    readFileSync(new URL('../../../model/registry.json', import.meta.url), 'utf8'),
  ) as { models: { name: string; sha256: string }[] };
  const models = registry.models.map((entry) =>
    entry.name === NAME ? { ...entry, sha256: createHash('sha256').update(text).digest('hex') } : entry,
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
    expect(await pullModels(NAME, store, { from: `${origin}/` })).toEqual([
      { name: NAME, fetched: true, place },
    ]);
    expect(kept.get(`${NAME}.json`)).toBe('a model');
    await server?.stop();
    expect(await pullModels(NAME, store, { from: origin })).toEqual([{ name: NAME, fetched: false, place }]);
  });

  it('fetches again what is damaged', async () => {
    const origin = await from({ [AT]: 'a model' });
    const { store, kept } = storeFor('a model');
    kept.set(`${NAME}.json`, 'half a mo');
    expect(await pullModels(NAME, store, { from: origin })).toMatchObject([{ fetched: true }]);
    expect(kept.get(`${NAME}.json`)).toBe('a model');
  });

  it('has nothing to do for a model that ships', async () => {
    expect(await pullModel('vmaf_v0.6.1', { from: 'http://127.0.0.1:1' })).toEqual([]);
  });

  it('does not keep what has another sum', async () => {
    const origin = await from({ [AT]: 'something else' });
    const { store, kept } = storeFor('a model');
    const sentence = await refusalOf('model', () => pullModels(NAME, store, { from: origin }));
    const found = createHash('sha256').update('something else').digest('hex');
    expect(sentence).toContain(`gave for ${NAME} has the sha256 ${found}`);
    expect(kept.size).toBe(0);
  });

  it('says what went wrong on the way', async () => {
    const origin = await from({ [AT.replace('3d0h', '5d0h')]: new Uint8Array((1 << 20) + 1) });
    const refusal = (code: 'io' | 'model' | 'usage', name: string, address: string) =>
      refusalOf(code, () => pullModel(name, { from: address }));
    expect(await refusal('io', NAME, origin)).toMatch(/the server answered 404; give path=FILE/);
    expect(await refusal('model', NAME.replace('3d0h', '5d0h'), origin)).toMatch(
      /more than 1048576 bytes and is no model/,
    );
    await server?.stop();
    expect(await refusal('io', NAME, origin)).toMatch(/cannot be fetched from .*ECONNREFUSED.* pull again/);
    expect(await refusal('usage', NAME, 'ftp://x')).toMatch(/must begin with https:/);
    expect(await refusal('model', 'vmaf_v9', origin)).toMatch(/no built-in model "vmaf_v9"/);
  });

  it('leaves a server that never ends', async () => {
    let left: () => void = () => {};
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
    expect(await refusalOf('model', run)).toMatch(/gave for vmaf_v1\.0\.16_3d0h has more than 1048576 bytes/);
    await gone;
    await new Promise((resolve) => endless.close(resolve));
  });

  // Node's own way to make folders never comes back from there.
  it.runIf(process.platform === 'linux')('gives up where no folder can be made', async () => {
    vi.stubEnv('ANYVMAF_CACHE', '/proc/anyvmaf/cache');
    const { store } = storeFor('a model', { write: nodeModelCache.write });
    const origin = await from({ [AT]: 'a model' });
    expect(await refusalOf('io', () => pullModels(NAME, store, { from: origin }))).toMatch(
      /cannot be saved as \/proc\/anyvmaf\/cache\/models\/.*: no folder can be created there; make the folder writable/,
    );
  });

  it('stops when asked to', async () => {
    const origin = await from({ [AT]: 'a model' });
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(pullModel(NAME, { from: origin, signal })).rejects.toThrow('enough');
  });

  it('says when the place to keep models cannot be written', async () => {
    const origin = await from({ [AT]: 'a model' });
    const { store } = storeFor('a model', { write: nodeModelCache.write });
    writeFileSync(join(folder, 'cache'), 'a file where a folder should be');
    expect(await refusalOf('io', () => pullModels(NAME, store, { from: origin }))).toMatch(
      /cannot be saved as .*cache\/models\/vmaf_v1\.0\.16_3d0h\.json: .*ANYVMAF_CACHE/,
    );
  });

  it('says when a folder is where the model should be, and leaves nothing beside it', async () => {
    const origin = await from({ [AT]: 'a model' });
    const { store } = storeFor('a model', { write: nodeModelCache.write });
    const models = join(folder, 'cache/models');
    mkdirSync(join(models, `${NAME}.json`), { recursive: true });
    expect(await refusalOf('io', () => pullModels(NAME, store, { from: origin }))).toMatch(
      /cannot be saved as .*: a folder has that name; /,
    );
    expect(readdirSync(models)).toEqual([`${NAME}.json`]);
  });

  it.skipIf(process.getuid?.() === 0 || process.platform === 'win32')(
    'says when a folder is read-only (not as root)',
    async () => {
      const origin = await from({ [AT]: 'a model' });
      const { store } = storeFor('a model', { write: nodeModelCache.write });
      mkdirSync(join(folder, 'cache'));
      chmodSync(join(folder, 'cache'), 0o555);
      expect(await refusalOf('io', () => pullModels(NAME, store, { from: origin }))).toMatch(
        /: permission denied; make/,
      );
      chmodSync(join(folder, 'cache'), 0o755);
    },
  );
});

describe('a model that is not here yet', () => {
  it('is listed, and says how to get it when it is asked for', async () => {
    const models = await listModels();
    const absent = models.filter(({ availability }) => availability === 'to be pulled');
    expect(absent).toHaveLength(8);
    expect(absent[0]).toMatchObject({ name: NAME, bytes: 14696 });
    for (const ask of [() => openModel(`version=${NAME}`), () => describeModel(NAME)]) {
      expect(await refusalOf('model', ask)).toMatch(/run pullModel\('vmaf_v1\.0\.16_3d0h'\) once/);
    }
  });

  it('is not taken from the cache when it is damaged there', async () => {
    mkdirSync(join(folder, 'cache/models'), { recursive: true });
    writeFileSync(join(folder, `cache/models/${NAME}.json`), '{}');
    expect(await refusalOf('model', () => openModel(`version=${NAME}`))).toMatch(/is damaged; run/);
  });
});

describe('the cache folder', () => {
  it.skipIf(process.platform !== 'linux')('is where the variables say', () => {
    const place = () => nodeModelCache.placeOf('x.json');
    expect(place()).toBe(join(folder, 'cache/models/x.json'));
    vi.stubEnv('ANYVMAF_CACHE', '');
    vi.stubEnv('XDG_CACHE_HOME', '/var/of/user');
    expect(place()).toBe('/var/of/user/anyvmaf/models/x.json');
    vi.stubEnv('XDG_CACHE_HOME', '');
    vi.stubEnv('HOME', '/home/of/user');
    expect(place()).toBe('/home/of/user/.cache/anyvmaf/models/x.json');
  });
});

const files = sharedPath('models');

describe.skipIf(files === undefined)(`the eight models of VMAF v1 (${needsShared})`, () => {
  function served(): Record<string, Uint8Array> {
    return Object.fromEntries(
      ['vmaf_v1.0.16', 'vmaf_v1.0.16_hfr'].flatMap((set) =>
        readdirSync(join(files ?? '', set)).map((file) => [
          `/Netflix/vmaf/v3.2.0/model/${set}/${file}`,
          new Uint8Array(readFileSync(join(files ?? '', set, file))),
        ]),
      ),
    );
  }

  it('are fetched by all, score offline then, and equal the files', async () => {
    vi.stubEnv('ANYVMAF_MODELS_FROM', await from(served()));
    const pulled = await pullModel('all');
    expect(pulled.map(({ fetched }) => fetched)).toEqual(Array(8).fill(true));
    await server?.stop();
    expect((await pullModel('all')).map(({ fetched }) => fetched)).toEqual(Array(8).fill(false));
    expect((await listModels()).filter(({ availability }) => availability === 'pulled')).toHaveLength(8);
    expect(readdirSync(join(folder, 'cache/models')).filter((name) => name.endsWith('.part'))).toEqual([]);
    for (const { name, place } of pulled) {
      const described = await describeModel(name);
      expect([described.supportVectors, described.inputs.map(({ extractor }) => extractor)]).toEqual([
        [215],
        ['cambi', 'speed_chroma', 'adm', 'motion'],
      ]);
      expect(described.bytes).toBe(readFileSync(place).length);
      expect(described.features).toEqual(described.inputs.map(({ feature }) => feature));
    }
    const clip = makeSample({ width: 320, height: 240, bitDepth: 10, chroma: '420' }, { seed: 5 });
    const file = join(files ?? '', 'vmaf_v1.0.16', `${NAME}.json`);
    const report = await score(
      { reference: sampleSource(clip, 'reference', 2), distorted: sampleSource(clip, 'distorted', 2) },
      { models: [`version=${NAME}`, `path=${file}:name=file`], threads: 0 },
    );
    expect(report.pooled_metrics.vmaf).toEqual(report.pooled_metrics.file);
  });
});
