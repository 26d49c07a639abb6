/**
 * @module test/node/mcp/swap
 * A name that another process keeps swapping between an allowed file and a link to one outside: no call ever answers with
 * what lies outside. ANYVMAF_SWAPS says how many calls are made.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import type { ToolContext } from '../../../src/mcp/context.js';
import { AllowedFiles } from '../../../src/mcp/files.js';
import { describeModelTool } from '../../../src/mcp/tools/describe-model.js';
import { vmafScoreEncoded } from '../../../src/mcp/tools/vmaf-score-encoded.js';
import { encode, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { fakeContext, writePair } from '../../support/mcp-tools.js';

const CALLS = Number(process.env.ANYVMAF_SWAPS ?? 120);

const home = realpathSync(mkdtempSync(join(tmpdir(), 'anyvmaf-swap-')));
const allowed = join(home, 'allowed');
const outside = join(home, 'outside');
mkdirSync(allowed);
mkdirSync(outside);

const attackers: ChildProcess[] = [];
afterAll(() => {
  for (const attacker of attackers) attacker.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true });
});

/** Swaps each name for a link to its namesake outside and back, each time for a moment of another length. */
const ATTACKER = `
  import { linkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
  const [allowed, outside, ...names] = process.argv.slice(1);
  const wait = new Int32Array(new SharedArrayBuffer(4));
  for (let n = 0; ; n++) {
    for (const name of names) {
      const at = allowed + '/' + name;
      rmSync(at + '.next', { force: true });
      if (n % 2 === 0) symlinkSync(outside + '/' + name, at + '.next');
      else linkSync(allowed + '/kept-' + name, at + '.next');
      renameSync(at + '.next', at);
    }
    Atomics.wait(wait, 0, 0, [0.2, 1, 3, 8, 20][n % 5]);
  }`;

function attack(...names: readonly string[]): void {
  const args = ['--input-type=module', '-e', ATTACKER, allowed, outside, ...names];
  attackers.push(spawn(process.execPath, args, { stdio: 'ignore' }));
}

/** Two files of one name: the allowed one, kept under another name as well, and the one outside. */
function plant(name: string, inside: string | Uint8Array, other: string | Uint8Array): void {
  for (const path of [join(allowed, `kept-${name}`), join(allowed, name)]) writeFileSync(path, inside);
  writeFileSync(join(outside, name), other);
}

function context(): ToolContext {
  return { ...fakeContext(allowed), files: new AllowedFiles([allowed], allowed) };
}

const { ref, dis } = writePair(
  { content: 'T', width: 64, height: 64, bitDepth: 8, chroma: '420', frames: 3 },
  'y4m',
);
const model = readFileSync(new URL('../../../model/vmaf_v0.6.1.json', import.meta.url), 'utf8');

/** What is asked for, and what of the answer tells the file that was read. */
interface Target {
  readonly name: string;
  readonly inside: string | Uint8Array;
  readonly other: string | Uint8Array;
  /** @returns what differs between the two files */
  ask(path: string, given: ToolContext): Promise<string>;
}

const still = join(allowed, 'still.y4m');
copyFileSync(ref, still);
const scored =
  (reference: string): Target['ask'] =>
  async (path, given) => {
    const args = { reference_encoded: reference, distorted_encoded: path, decoder: 'auto', preflight: false };
    const { document } = await vmafScoreEncoded.call(args, given);
    return JSON.stringify((document as { pooled_metrics: unknown }).pooled_metrics);
  };

const targets: Target[] = [
  { name: 'a.y4m', inside: readFileSync(ref), other: readFileSync(dis), ask: scored(still) },
  {
    name: 'b.json',
    inside: model,
    other: model.replace(/"score_clip": *\[[^\]]*\]/, '"score_clip": [0, 77]'),
    async ask(path, given) {
      const { document } = await describeModelTool.call({ name: path }, given);
      const { clip, size_bytes: size } = document as { clip: unknown; size_bytes: unknown };
      return JSON.stringify({ clip, size });
    },
  },
];
if (hasFfmpeg) {
  const [one, two] = [
    encode({ codec: 'h264', size: '64x64', frames: 3 }),
    encode({ codec: 'h264', size: '64x64', frames: 3, source: 'mandelbrot' }),
  ];
  const kept = join(allowed, 'still.mp4');
  copyFileSync(one, kept);
  targets.push({ name: 'c.mp4', inside: readFileSync(one), other: readFileSync(two), ask: scored(kept) });
}

describe.runIf(process.platform !== 'win32')(
  `the swap attack${hasFfmpeg ? '' : `, MP4 ${needsFfmpeg}`}`,
  () => {
    it('never gets an answer about a file outside', {
      timeout: Math.max(240_000, CALLS * 4000),
    }, async () => {
      for (const { name, inside, other } of targets) plant(name, inside, other);
      const right = await Promise.all(targets.map(({ name, ask }) => ask(join(allowed, name), context())));
      attack(...targets.map(({ name }) => name));
      const counts = { right: 0, refused: 0, wrong: 0 };
      for (let call = 0; call < CALLS; call++) {
        // Nine of ten calls are of the quick kinds.
        const which = call % 10 === 9 ? targets.length - 1 : call % 2;
        const { name, ask } = targets[which] as Target;
        const answer = await ask(join(allowed, name), context()).catch((error: unknown) => {
          if (error instanceof AnyvmafError) return undefined;
          throw error;
        });
        counts[answer === undefined ? 'refused' : answer === right[which] ? 'right' : 'wrong']++;
      }
      if (process.env.ANYVMAF_SWAPS) console.info(`${CALLS} calls: ${JSON.stringify(counts)}`);
      expect(counts.wrong).toBe(0);
      expect(counts.right).toBeGreaterThan(0);
    });
  },
);
