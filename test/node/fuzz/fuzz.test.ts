/**
 * @module test/node/fuzz/fuzz
 * A short run of each target of `npm run fuzz`, always the same inputs.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { built, root } from '../../support/built.js';
import { hasFfmpeg, needsFfmpeg } from '../../support/encode.js';

vi.setConfig({ testTimeout: 300_000 });

const SCRIPT = join(root, 'scripts/fuzz.mjs');

const TARGETS = execFileSync(process.execPath, [SCRIPT, '--list'], { encoding: 'utf8' }).trim().split('\n');

const SEED = '20261122';

/** Runs the script to its end; its output where it found a fault. */
function fuzz(target: string): Promise<string> {
  built('dist/bundle/js/index.js');
  const child = spawn(process.execPath, [SCRIPT, '--short', '--seed', SEED, '--jobs', '1', target], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data) => {
    output += data;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => {
      const counted = /^(\d+) inputs over 1 targets, 0 faults$/m.exec(output);
      resolve(code === 0 && Number(counted?.[1]) > 0 ? '' : output);
    });
  });
}

/** Targets that make their videos with ffmpeg, or decode with it or with an optional package. */
function missing(target: string): string {
  const [, decoder] = /^(?:mp4|mkv|webm|ts)-(\w+)$/.exec(target) ?? [];
  if (decoder === undefined) return '';
  const needed = { mediabunny: '@mediabunny/server', wasm: '@ffmpeg/core' }[decoder];
  if (needed !== undefined && !existsSync(join(root, 'node_modules', needed))) return ` (needs ${needed})`;
  return hasFfmpeg ? '' : ` (${needsFfmpeg})`;
}

it('there are targets', () => expect(TARGETS.length).toBeGreaterThan(20));

describe('foreign bytes give a right result or a clear error in time', () => {
  for (const target of TARGETS)
    it.skipIf(missing(target))(`${target}${missing(target)}`, async () => {
      expect(await fuzz(target)).toBe('');
    });
});
