/**
 * @module test/node/fuzz/fuzz
 * Foreign bytes give a right result or a clear error in time: a short, always equal run of each target of `npm run fuzz`, and
 * files that broke a promise once. ONNX models have a test of their own, because they are refused for what is fed to them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { evaluateModel, readReport, score } from '../../../src/index.js';
import { parseModelFile } from '../../../src/models/parse.js';
import { parseSidecar } from '../../../src/tiny/sidecar.js';
import { built, root } from '../../support/built.js';
import { hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { tier } from '../../support/tier.js';

vi.setConfig({ testTimeout: 300_000 });

const SEED = '20261122';

/** Modules of scripts/fuzz, which the script and its processes share. */
interface Fuzz {
  readonly TARGETS: Readonly<Record<string, { readonly short: number }>>;
  openTarget(name: string): Promise<{
    make(random: object): unknown;
    run(input: unknown): unknown;
    close?(): void;
  }>;
  readonly Random: new (seed: string, name: string, index: number) => object;
  faultOf(error: unknown): string | undefined;
}

built('dist/bundle/js/index.js');
const modules = ['targets', 'random', 'contract'].map(
  (name) => import(join(root, `scripts/fuzz/${name}.mjs`)),
);
const { TARGETS, openTarget, Random, faultOf } = Object.assign({}, ...(await Promise.all(modules))) as Fuzz;

/** Targets that make their videos with ffmpeg, or decode with it or with an optional package. */
function missing(target: string): string {
  const [, decoder] = /^(?:mp4|mkv|webm|ts)-(\w+)$/.exec(target) ?? [];
  if (target === 'hostile-arguments' && process.platform !== 'linux') return ' (needs Linux)';
  if (decoder === undefined && target !== 'hostile-arguments') return '';
  const needed = { mediabunny: '@mediabunny/server', wasm: '@ffmpeg/core' }[decoder ?? ''];
  if (needed !== undefined && !existsSync(join(root, 'node_modules', needed))) return ` (needs ${needed})`;
  return hasFfmpeg ? '' : ` (${needsFfmpeg})`;
}

/** A twentieth of the short run; of decoders, where an input costs most, one container each. */
function inputsOf(target: string): number {
  const { short } = TARGETS[target] ?? { short: 0 };
  const encoded = /^(mp4|mkv|webm|ts)-/.exec(target);
  if (!encoded) return tier(Math.ceil(short / 20), short);
  return tier(/^mp4-(mediabunny|ffmpeg)|^mkv-wasm/.test(target) ? Math.min(2, short) : 0, short);
}

const targets = Object.keys(TARGETS).filter((target) => inputsOf(target) > 0);

describe('a target of the fuzzer keeps the promise', () => {
  for (const name of targets)
    it.skipIf(missing(name))(`${name}${missing(name)}`, async () => {
      const target = await openTarget(name);
      try {
        for (let index = 0; index < inputsOf(name); index++) {
          const again = `node scripts/fuzz.mjs --seed ${SEED} --show ${index} ${name}`;
          const input = target.make(new Random(SEED, name, index));
          const started = process.cpuUsage();
          let fault: unknown;
          try {
            fault = await target.run(input);
          } catch (error) {
            fault = faultOf(error);
          }
          expect(fault, again).toBeUndefined();
          expect(process.cpuUsage(started).user / 1e6, again).toBeLessThan(10);
        }
      } finally {
        target.close?.();
      }
    });
});

it('the script feeds targets in processes of their own, and counts', () => {
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [join(root, 'scripts/fuzz.mjs'), ...args], { encoding: 'utf8' });
  expect(run('--list').trim().split('\n').length).toBeGreaterThan(20);
  const chosen = tier(
    ['pairs-list'],
    Object.keys(TARGETS).filter((name) => missing(name) === ''),
  );
  const amount = tier(['--inputs', '50'], ['--short']);
  const output = run(...amount, '--seed', SEED, '--jobs', '1', ...chosen);
  expect(output).toMatch(new RegExp(`^[1-9]\\d* inputs over ${chosen.length} targets, 0 faults$`, 'm'));
});

const FOLDER = join(root, 'test/fixtures/hostile');
const MODEL = join(root, 'model/tiny/fr_vmaf_v0.6.1.onnx');

const read = (path: string) => readFileSync(path, 'utf8');
const video = (path: string) =>
  score({ reference: path, distorted: path }, { noPrediction: true, features: ['adm', 'vif', 'motion'] });

/** What reads a file, by the end of its name. */
const READERS: Readonly<Record<string, (path: string) => unknown>> = {
  '.y4m': video,
  '.mkv': (path) => score({ reference: path, distorted: path }, { decoder: 'mediabunny' }),
  '.mp4': video,
  '.csv': (path) => readReport(read(path)),
  '.sub': (path) => readReport(read(path)),
  '.xml': (path) => readReport(read(path)),
  '.report.json': (path) => readReport(read(path)),
  '.sidecar.json': (path) => parseSidecar(read(path), path),
  '.model.json': (path) => parseModelFile(read(path), path),
  '.parquet': (path) => evaluateModel(MODEL, path, { split: 'all' }),
};

/** Those of which the reading never ends, which takes seconds to see: processes and a page read others of the kind. */
const AGAIN = /^endless-/;
const all = readdirSync(FOLDER).filter((name) => !name.endsWith('.onnx'));
const hostile = tier(
  all.filter((name) => !AGAIN.test(name)),
  all,
);

/** Files that are right, and were read wrongly. */
const RIGHT = /^narrow-|^proto/;

describe('a hostile file', () => {
  it.each(hostile)('%s is dealt with in one line and in time', async (name) => {
    const reader = READERS[Object.keys(READERS).find((end) => name.endsWith(end)) ?? ''];
    if (!reader) throw new Error(`nothing reads ${name}: add a reader`);
    let refusal: unknown;
    const started = process.cpuUsage();
    try {
      await reader(join(FOLDER, name));
    } catch (error) {
      refusal = error;
    }
    const { user } = process.cpuUsage(started);
    expect(user / 1e6).toBeLessThan(5);
    if (RIGHT.test(name)) return expect(refusal).toBeUndefined();
    expect(refusal).toBeInstanceOf(AnyvmafError);
    const { code, message } = refusal as AnyvmafError;
    expect(code).not.toBe('internal');
    expect(message).toMatch(/^[^\p{Cc}\p{Cf}\u2028\u2029]{10,3000}$/u);
  });
});
