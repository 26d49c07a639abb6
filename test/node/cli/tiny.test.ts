/**
 * @module test/node/cli/tiny
 * `anyvmaf features --parquet` and `anyvmaf tiny` as a user runs them: a table of several pairs, read back by another reader,
 * models evaluated on it, and errors with their exit codes.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../support/built.js';
import { anyvmaf, expectFailure, type Outcome, passes, videos } from '../../support/cli.js';
import { privateFolder } from '../../support/folders.js';
import { linear } from '../../support/onnx.js';

const FRAMES = 5;
/** Keys of the splits test, test and train. */
const KEYS = ['clip_0000', 'clip_0019', 'clip_0001'] as const;
const [key] = KEYS;
const PAIR = [`${key}-ref.y4m`, `${key}-dis.y4m`] as const;
const CANONICAL = ['adm2', 'vif_scale0', 'vif_scale1', 'vif_scale2', 'vif_scale3', 'motion2'];

const files = videos();
let wrote: Outcome;
beforeAll(async () => {
  const pairs = KEYS.map((key, i) =>
    files.pair([`${key}-ref.y4m`, `${key}-dis.y4m`], FRAMES, { seed: 40 + i }),
  );
  const list = pairs.map(
    ([reference, distorted], i) => `${reference},${distorted},${KEYS[i]},encode ${i},${60 + 10 * i}`,
  );
  files.put('pairs.csv', `reference,distorted,key,clip,mos\n${list.join('\n')}\n`);
  files.put('good.onnx', linear([60, 10, 10, 5, 5, 0.5], 1));
  files.put('odd.onnx', linear([1, 1], 0));
  files.put('text.onnx', 'not a model');
  const options = '--teacher vmaf_v0.6.1 --feature psnr --threads 1 --quiet'.split(' ');
  wrote = await run('features', '--pairs', 'pairs.csv', '--parquet', 'table.parquet', ...options);
});

function run(...args: string[]): Promise<Outcome> {
  return anyvmaf(args, { cwd: dirname(files.at('x')) });
}

const tableOf = (name: string): Promise<Record<string, unknown>[]> =>
  parquetReadObjects({ file: Uint8Array.from(readFileSync(files.at(name))).buffer });

describe('features --parquet', () => {
  it('writes a row for every frame of every pair, with key, clip, opinion and teacher', async () => {
    expect(wrote).toMatchObject({ code: 0, stderr: '' });
    const rows = await tableOf('table.parquet');
    const columns = ['key', 'clip', 'frame', 'mos', ...CANONICAL, 'psnr_y', 'psnr_cb', 'psnr_cr', 'teacher'];
    expect(Object.keys(rows[0] ?? {})).toEqual(columns);
    expect(rows.map(({ key, clip, frame, mos }) => [key, clip, frame, mos])).toEqual(
      KEYS.flatMap((key, i) =>
        Array.from({ length: FRAMES }, (_, frame) => [key, `encode ${i}`, frame, 60 + 10 * i]),
      ),
    );
  });

  it('uses the teacher as a missing opinion score, and one key for all', async () => {
    const videos = [...PAIR, PAIR[0]];
    const rest = ['--teacher', 'vmaf_v0.6.1', '--key', 'one', '--quiet', '--json', '--frame_cnt', '2'];
    const { code, stdout } = await run('features', ...videos, '--parquet', 'taught.parquet', ...rest);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ file: 'taught.parquet', rows: 4, pairs: 2 });
    const rows = await tableOf('taught.parquet');
    expect(rows.map((row) => row.key)).toEqual(['one', 'one', 'one', 'one']);
    expect(new Set(rows.map(({ clip }) => clip)).size).toBe(2);
    for (const { mos, teacher } of rows) expect(mos).toBe(teacher);
  });

  it('leaves no file if a pair fails, not even a changed one, and names it', async () => {
    files.put('cut.y4m', readFileSync(files.at(PAIR[1])).subarray(0, 6000));
    const table = ['--parquet', 'failed.parquet', '--quiet'];
    files.put('kept.parquet', 'the former one');
    expect((await run('features', PAIR[0], 'none.y4m', '--parquet', 'kept.parquet')).code).toBe(2);
    expect(readFileSync(files.at('kept.parquet'), 'utf8')).toBe('the former one');
    expectFailure(await run('features', ...PAIR, 'cut.y4m', ...table), 2, /cut\.y4m is incomplete/);
    expectFailure(await run('features', ...PAIR, 'none.y4m', ...table), 2, /none\.y4m: there is no such/);
    const unlisted = await run('features', '--pairs', 'none.csv', ...table);
    expectFailure(unlisted, 2, /cannot read none\.csv: there is no such/);
    files.put('wrong.csv', 'ref,dis\na,b\n');
    expectFailure(await run('features', '--pairs', 'wrong.csv', ...table), 1, /first line of wrong\.csv/);
    const nowhere = ['--parquet', join('nowhere', 'x.parquet'), '--quiet'];
    expectFailure(await run('features', ...PAIR, ...nowhere), 2, /cannot write .*folder does not exist/);
    const teacher = ['--teacher', 'vmaf_v9'];
    expectFailure(await run('features', ...PAIR, ...table, ...teacher), 2, /vmaf_v9/);
    expect(readdirSync(dirname(files.at('x'))).filter((name) => /failed|nowhere/.test(name))).toEqual([]);
  });
});

it('runs the commands of docs/cli.md as written', async () => {
  const page = readFileSync(join(root, 'docs/cli.md'), 'utf8');
  const lines = page.match(/^anyvmaf (?:features --parquet|tiny eval|tiny compare) .*$/gm) ?? [];
  expect(lines).toHaveLength(3);
  files.pair(['ref.y4m', 'a.mp4'], FRAMES);
  copyFileSync(files.at('a.mp4'), files.at('b.mp4'));
  for (const name of ['model', 'a', 'b']) copyFileSync(files.at('good.onnx'), files.at(`${name}.onnx`));
  for (const line of lines) {
    const [, ...args] = line.replace(/\s+#.*$/, '').split(/\s+/);
    expect(await run(...args), line).toMatchObject({ code: 0 });
  }
});

const draws = ['--resamples', '50', '--json'];

describe('tiny eval and compare', () => {
  it('evaluate on the split of the keys', async () => {
    const args = ['tiny', 'eval', 'good.onnx', 'table.parquet'];
    const { code, stdout } = await run(...args, ...draws);
    expect(code).toBe(0);
    const { per_key: perKey, left_out: leftOut, ...found } = JSON.parse(stdout);
    expect(found).toMatchObject({ split: 'test', n: 2 * FRAMES, target: 'mos', columns: CANONICAL });
    expect(perKey.map(({ key }: { key: string }) => key)).toEqual(KEYS.slice(0, 2));
    expect(leftOut.other_split).toBe(FRAMES);
    const text = (await run(...args, '--split', 'all', '--resamples', '50')).stdout;
    for (const word of ['PLCC', 'SROCC', 'KROCC', 'RMSE', 'clips', 'clip_0001']) expect(text).toContain(word);
  });

  it('rank a shipped model above a poor one, by the teacher', async () => {
    files.put('poor.onnx', linear([0, 0, 0, 0, 0, 1], 0));
    const models = ['poor.onnx', 'fr_vmaf_v0.6.1'];
    const args = ['--split', 'all', '--target', 'teacher', ...draws];
    const { code, stdout } = await run('tiny', 'compare', ...models, 'table.parquet', ...args);
    expect(code).toBe(0);
    const { ranked, errors } = JSON.parse(stdout);
    expect(ranked.map(({ model }: { model: string }) => model)).toEqual(models.toReversed());
    expect(ranked[0].plcc).toBeGreaterThan(0.99);
    expect(errors).toEqual([]);
  });

  it('continue without models that fail, and exit with 2', async () => {
    const models = ['good.onnx', 'text.onnx'];
    const some = await run('tiny', 'compare', ...models, 'table.parquet', '--split', 'all', ...draws);
    expect(some.code).toBe(2);
    expect(JSON.parse(some.stdout).errors).toEqual([
      { model: 'text.onnx', error: expect.stringContaining('is not a valid ONNX model') },
    ]);
    expect(some.stderr).toMatch(/^anyvmaf: text\.onnx: .*\n$/);
    const none = await run('tiny', 'compare', 'text.onnx', 'table.parquet', '--split', 'all');
    expectFailure(none, 2, /is not a valid ONNX model/);
  });

  it('report errors in one line', async () => {
    const table = 'table.parquet';
    for (const [args, code, message] of [
      [['eval', 'good.onnx'], 1, /needs a model and a table: anyvmaf tiny eval \[options\] MODEL FEATURES/],
      [['compare', table], 1, /needs models and a table: anyvmaf tiny compare/],
      [['eval', 'good.onnx', 'odd.onnx', table], 1, /takes one model, but 2 are given/],
      [['eval', 'none.onnx', table, '--split', 'all'], 2, /none\.onnx/],
      [['eval', 'good.onnx', 'none.parquet'], 2, /none\.parquet: there is no such file/],
      [['eval', 'good.onnx', table, '--split', 'half'], 1, /half/],
      [
        ['eval', 'good.onnx', table, '--split', 'all', '--device', 'coreml'],
        2,
        /coreml is not available for tiny models/,
      ],
      [['eval', 'good.onnx', table, '--split', 'all', '--verify'], 2, /no registry lists it/],
    ] as const)
      expectFailure(await run('tiny', ...args), code, message);
  });
});

describe('tiny list, describe and devices', () => {
  it('list the models that ship', async () => {
    const { code, stdout } = await run('tiny', 'list', '--json');
    expect(code).toBe(0);
    const ids = JSON.parse(stdout).map(({ id }: { id: string }) => id);
    const registry = JSON.parse(readFileSync('model/tiny/registry.json', 'utf8'));
    expect(ids).toEqual(registry.models.map(({ id }: { id: string }) => id));
    expect((await run('tiny', 'list')).stdout).toContain(ids[0]);
  });

  it('describe one of them, or a file', async () => {
    const shipped = await run('tiny', 'describe', 'fr_vmaf_v0.6.1');
    expect(shipped.code).toBe(0);
    expect(shipped.stdout).toContain('(as registered)');
    const own = await run('tiny', 'describe', 'good.onnx', '--json');
    const described = { kind: 'fr', parameters: 7, operators: { Gemm: 1 }, features: CANONICAL };
    expect(JSON.parse(own.stdout)).toMatchObject({ ...described, registry: null });
  });

  it('print the manifest of a model, whose digest is in the registry', async () => {
    const { code, stdout } = await run('tiny', 'manifest', 'fr_vmaf_v0.6.1');
    expect(code).toBe(0);
    const { models } = JSON.parse(readFileSync('model/tiny/registry.json', 'utf8'));
    expect(createHash('sha256').update(stdout).digest('hex')).toBe(models[0].manifest_sha256);
    expect(JSON.parse(stdout)).toMatchObject({
      version: 1,
      parts: [
        { name: 'fr_vmaf_v0.6.1.json', role: 'sidecar' },
        { name: 'fr_vmaf_v0.6.1.onnx', role: 'graph', sha256: models[0].sha256 },
      ],
    });
  });

  it('leave nothing in the temporary folder, such as telemetry of onnxruntime-node', async () => {
    const folder = privateFolder();
    const options = { env: { TMPDIR: folder }, cwd: dirname(files.at('x')) };
    for (const args of [['devices'], ['eval', 'good.onnx', 'table.parquet', '--split', 'all', ...draws]])
      await passes(['tiny', ...args], options);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('list every device with its availability, and how to get missing ones', async () => {
    const env = { VK_ICD_FILENAMES: '/nowhere/none.json' };
    const { stdout } = await passes(['tiny', 'devices', '--json'], { env });
    const devices: { device: string; available: boolean; how?: string }[] = JSON.parse(stdout);
    expect(devices.map(({ device }) => device)).toEqual(
      expect.arrayContaining(['cpu', 'cuda', 'openvino-npu', 'coreml-ane', 'rocm', 'webgpu', 'directml']),
    );
    for (const { available, how } of devices) expect(available || (how ?? '').length > 10).toBe(true);
    expect(devices.find(({ device }) => device === 'webgpu')?.available).toBe(false);
  });

  it('have a help page each', async () => {
    for (const action of ['eval', 'list']) {
      const { code, stdout } = await run('tiny', action, '--help');
      expect(code).toBe(0);
      expect(stdout).toContain(`anyvmaf tiny ${action}`);
    }
  });

  it('report errors in one line', async () => {
    for (const [args, code, message] of [
      [[], 1, /needs an action/],
      [['lst'], 1, /did you mean list\?/],
      [['list', 'all'], 1, /"all" is one argument too many/],
      [['describe'], 1, /needs a model: anyvmaf tiny describe MODEL/],
      [['describe', 'nosuch'], 2, /no tiny model "nosuch"/],
    ] as const)
      expectFailure(await run('tiny', ...args), code, message);
  });
});

it('leaves no other files', () => {
  expect(existsSync(files.at('table.parquet'))).toBe(true);
  expect(readdirSync(dirname(files.at('x'))).filter((name) => /part|tmp|~/.test(name))).toEqual([]);
});
