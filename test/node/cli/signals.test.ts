/**
 * @module test/node/cli/signals
 * Ctrl-C and a request to terminate end a command within two seconds, whatever it is doing.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../support/built.js';
import { anyvmafProcess, type Outcome, type Videos, videos } from '../../support/cli.js';
import { linear } from '../../support/onnx.js';
import { parquet } from '../../support/tables.js';

/** Milliseconds, and what a busy machine adds. */
const SOON = 2000 + 2000;

const SIX = ['adm2', 'vif_scale0', 'vif_scale1', 'vif_scale2', 'vif_scale3', 'motion2'];
const ROWS = 20_000;

let files: Videos;
beforeAll(() => {
  files = videos();
  files.put('model.onnx', linear([1, 2, 0, 0, 0, 0], 0));
  const column = (step: number) => Array.from({ length: ROWS }, (_, i) => ((i * step) % 97) / 97);
  const table = { mos: column(7), ...Object.fromEntries(SIX.map((name, i) => [name, column(i + 2)])) };
  files.put('features.parquet', parquet(table));
});
afterAll(() => files[Symbol.dispose]());

/** Runs, sends a signal after so many milliseconds, and says how long the end took from there. */
async function signalled(
  args: readonly string[],
  signal: NodeJS.Signals,
  after: number,
  node: readonly string[] = [],
): Promise<Outcome & { readonly took: number }> {
  let sent = 0;
  const outcome = await anyvmafProcess(args, {
    node,
    meanwhile: (child) => {
      setTimeout(() => {
        sent = performance.now();
        child.kill(signal);
      }, after);
    },
  });
  return { ...outcome, took: performance.now() - sent };
}

describe.each([
  ['SIGINT', 130, 'interrupted'],
  ['SIGTERM', 143, 'terminated'],
] as const)('%s', (signal, code, word) => {
  it('ends an evaluation that has minutes of computing before it', async () => {
    const args = [
      'tiny',
      'eval',
      '--resamples',
      '100000',
      files.at('model.onnx'),
      files.at('features.parquet'),
    ];
    const { took, ...outcome } = await signalled(args, signal, 3000);
    expect(outcome).toEqual({ code, stdout: '', stderr: `anyvmaf: ${word}\n` });
    expect(took).toBeLessThan(SOON);
  });

  it('ends a command while a table is read that would be read for ever', async () => {
    const table = join(root, 'test/fixtures/hostile/endless-run-1.parquet');
    const { took, code: ended } = await signalled(
      ['tiny', 'eval', files.at('model.onnx'), table],
      signal,
      700,
    );
    // On a slow machine the signal may come before there is a command, on a fast one after the refusal.
    expect([code, null, 2]).toContain(ended);
    expect(took).toBeLessThan(SOON);
  });

  it('ends a process of which a thread is in native code for long', async () => {
    const busy = `import { Worker } from 'node:worker_threads';
      setTimeout(() => new Worker("require('crypto').pbkdf2Sync('a', 'b', 1e9, 64, 'sha512')", { eval: true }), 200);`;
    const load = ['--import', `data:text/javascript,${encodeURIComponent(busy)}`];
    const [pair] = [files.pair(['ref.y4m', 'dis.y4m'], 3)];
    const { took, code: ended, stderr } = await signalled(['-', pair[1]], signal, 2500, load);
    // By the signal itself, which shells show as the same code.
    expect(ended).toBeNull();
    expect(stderr).toBe(`anyvmaf: ${word}\n`);
    expect(took).toBeLessThan(SOON);
  });
});
