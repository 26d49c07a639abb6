/**
 * @module test/node/fuzz/fuzz
 * Foreign bytes give a right result or a clear error in time: a short run of each target of `npm run fuzz`, always the same,
 * and files that were read wrongly once. ONNX models have their own test, because they are refused for what is fed to them.
 * Whatever arguments a tool gets, it answers by its own schema, or refuses in one sentence. Seeded; a failure names its
 * arguments.
 */

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import * as z from 'zod/v4';
import { AnyvmafError } from '../../../src/core/errors.js';
import { evaluateModel, readReport, score } from '../../../src/index.js';
import type { Tool } from '../../../src/mcp/tool.js';
import { compareEncodesTool } from '../../../src/mcp/tools/compare-encodes.js';
import { TOOLS } from '../../../src/mcp/tools/index.js';
import { sentenceOf } from '../../../src/mcp/wording.js';
import { parseModelFile } from '../../../src/models/parse.js';
import { parseSidecar } from '../../../src/tiny/documents.js';
import { built, root } from '../../support/built.js';
import { hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import type { FixtureClip } from '../../support/fixtures.js';
import { fakeContext, videoFolder, writePair } from '../../support/mcp-tools.js';
import { type SeededRandom, seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

vi.setConfig({ testTimeout: 300_000 });

const SEED = '20261122';

/** What modules of scripts/fuzz export. */
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

/** Why a target cannot run here: some need Linux, ffmpeg or an optional package. */
function missing(target: string): string {
  const [, decoder] = /^(?:mp4|mkv|webm|ts)-(\w+)$/.exec(target) ?? [];
  if (target === 'hostile-arguments' && process.platform !== 'linux') return ' (needs Linux)';
  if (decoder === undefined && target !== 'hostile-arguments') return '';
  const needed = { mediabunny: '@mediabunny/server', wasm: '@ffmpeg/core' }[decoder ?? ''];
  if (needed !== undefined && !existsSync(join(root, 'node_modules', needed))) return ` (needs ${needed})`;
  return hasFfmpeg ? '' : ` (${needsFfmpeg})`;
}

/** A fortieth of the short run; of decoders, whose inputs cost most, one container each. */
function inputsOf(target: string): number {
  const { short } = TARGETS[target] ?? { short: 0 };
  const encoded = /^(mp4|mkv|webm|ts)-/.exec(target);
  if (!encoded) return tier(Math.ceil(short / 40), short);
  return tier(/^mp4-(mediabunny|ffmpeg)|^mkv-wasm/.test(target) ? 1 : 0, short);
}

const targets = Object.keys(TARGETS).filter((target) => inputsOf(target) > 0);

for (const name of targets)
  it.skipIf(missing(name))(`the target ${name} of the fuzzer keeps its promise${missing(name)}`, async () => {
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

it('the script runs targets in their own processes, and counts', () => {
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [join(root, 'scripts/fuzz.mjs'), ...args], { encoding: 'utf8' });
  expect(run('--list').trim().split('\n').length).toBeGreaterThan(20);
  const usable = Object.keys(TARGETS).filter((name) => missing(name) === '');
  const chosen = tier(['pairs-list'], usable);
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

/** Files that seem to have no end, which takes seconds to find out; other tests read such files in processes and pages. */
const AGAIN = /^endless-/;
const all = readdirSync(FOLDER).filter((name) => !name.endsWith('.onnx'));
const finite = all.filter((name) => !AGAIN.test(name));
const hostile = tier(finite, all);

/** Files that are correct, but were read wrongly once. */
const RIGHT = /^narrow-|^proto/;

it.each(hostile)('the hostile file %s is dealt with in one line and in time', async (name) => {
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

const CLIP: FixtureClip = { content: 'T', width: 64, height: 64, bitDepth: 8, chroma: '420', frames: 3 };

/** Parameters of every tool here, so that every mutation starts from a call that can be answered. */
function sound(): Record<string, unknown> {
  const { ref, dis } = writePair(CLIP, 'yuv');
  const y4m = writePair(CLIP, 'y4m');
  return {
    ...{ ref, dis, reference: ref, distorted: dis },
    ...{ reference_encoded: y4m.ref, distorted_encoded: y4m.dis },
    ...{ width: 64, height: 64, pixfmt: '420', bitdepth: 8, name: 'vmaf_v0.6.1' },
  };
}

/** Names of parameters that no tool has. */
const UNKNOWN = ['unknown', '__proto__'];

const STRINGS: readonly string[] = [
  ...['', 'auto', 'none', '\0', ':', '=', '__proto__', '0x0', '99999x99999', 'a'.repeat(5000), '\u{1f3ac}'],
  ...['../../etc/passwd', '/dev/zero', 'path=', 'path=/etc/passwd:version=vmaf_v0.6.1', 'version='],
  ...['version=vmaf_v0.6.1:name=__proto__', 'version=vmaf_v0.6.1:name=', 'adm=', 'psnr=enable_mse=true'],
  'version=vmaf_v0.6.1:adm.adm_norm_view_dist=x',
];

const REALS = [0, -1, 1, 2, 3, 1.5, 64, 1e9, 2 ** 31, 2 ** 32, 2 ** 53, -0, 1e308];
const NUMBERS: readonly number[] = [...REALS, Number.NaN, Number.POSITIVE_INFINITY];

function anything(random: SeededRandom, depth = 0): unknown {
  const length = random.int(0, 3);
  const inner = () => anything(random, depth + 1);
  const key = () => random.pick(['unit', 'start', 'end', 'constructor', 'x']);
  const kinds: readonly (() => unknown)[] = [
    () => random.pick(STRINGS),
    () => random.pick(NUMBERS),
    () => random.pick([true, false]),
    () => null,
    () => undefined,
    () => Array.from({ length }, inner),
    () => Object.fromEntries(Array.from({ length }, () => [key(), inner()])),
  ];
  return random.pick(kinds.slice(0, depth > 2 ? 5 : 7))();
}

/** A value that a parameter's schema is likely to take. */
function likely(schema: z.core.JSONSchema.JSONSchema, random: SeededRandom): unknown {
  if (schema.enum) return random.pick(schema.enum);
  switch (schema.type) {
    case 'boolean':
      return random.pick([true, false]);
    case 'integer':
    case 'number':
      return random.int(schema.minimum ?? 0, 12);
    case 'array':
      return [random.pick(STRINGS)];
    default:
      return random.pick(STRINGS);
  }
}

function mutated(tool: Tool, random: SeededRandom): Record<string, unknown> {
  const { properties = {} } = z.toJSONSchema(tool.inputSchema, { io: 'input' });
  const args = Object.fromEntries(Object.entries(sound()).filter(([name]) => name in properties));
  if (tool === compareEncodesTool) args.distorted = [args.distorted];
  const names = [...Object.keys(properties), ...UNKNOWN];
  for (let changes = random.int(1, 3); changes > 0; changes--) {
    const name = random.pick(names);
    const schema = properties[name];
    const wild = random.int(0, 2) === 0 || typeof schema !== 'object';
    args[name] = wild ? anything(random) : likely(schema, random);
  }
  return args;
}

const seed = 20261121;
/** All but one that takes minutes, and those of jobs, which need a server. */
const tools = TOOLS.filter(({ name }) => name !== 'run_benchmark' && !/job/.test(name));
/** They have parameters beside the one that is changed, and calls without that can be answered. */
const ANSWER = /^(vmaf_score|inspect|find_alignment|explain|compare_encodes)/;

it.each(tools.map((tool) => [tool.name, tool] as const))('arguments of all kinds for %s', async (_, tool) => {
  const random = seeded(seed);
  let answered = 0;
  let refusals = 0;
  for (let i = 0; i < tier(20, 60); i++) {
    const args = mutated(tool, random);
    const told = `seed ${seed}, call ${i}: ${JSON.stringify(args)?.slice(0, 400)}`;
    try {
      const { document } = await tool.call(args, fakeContext(videoFolder()));
      const text: unknown = JSON.parse(JSON.stringify(document));
      expect(tool.outputSchema.parse(text), told).toEqual(text);
      answered++;
    } catch (error) {
      // A defect of a tool is said to be unexpected.
      expect(sentenceOf(error), told).toMatch(/^(?!.*(?:unexpectedly| {4}at |node:))[^\n]{5,3000}$/);
      if (error instanceof z.ZodError) continue;
      expect(error, told).toBeInstanceOf(AnyvmafError);
      if (!(error instanceof AnyvmafError)) throw error;
      expect(error.code, told).not.toBe('internal');
      expect(error.message, told).not.toMatch(/\n|--(?!qscale)[a-z]+-/);
      refusals++;
    }
  }
  if (!ANSWER.test(tool.name)) return;
  // The schema does not refuse everything.
  expect(answered + refusals).toBeGreaterThan(5);
  expect(answered).toBeGreaterThan(0);
});
