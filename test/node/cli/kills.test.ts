/**
 * @module test/node/cli/kills
 * Commands that are killed at random moments leave whole files or none, and nothing that the next start does not remove.
 */
import { expect, it } from 'vitest';
import { root } from '../../support/built.js';
import { run } from '../../support/cli.js';

it.skipIf(process.platform !== 'linux')(
  'fifteen kills leave nothing that the next start does not remove (needs Linux)',
  { timeout: 600_000 },
  async () => {
    const { code, stdout, stderr } = await run(process.execPath, ['scripts/kill-test.mjs', '--runs', '15'], {
      cwd: root,
    });
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toMatch(/^15 kills, \d+ left something that the next start removed, 0 problems$/m);
  },
);
