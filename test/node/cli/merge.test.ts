/**
 * @module test/node/cli/merge
 * Parts of a pair and their merging on the command line.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { anyvmaf, videos } from '../../support/cli.js';

const files = videos();
afterAll(() => files[Symbol.dispose]());

const [reference, distorted] = files.pair(['r.y4m', 'd.y4m'], 5);
const part = (number: number) => files.at(`part-${number}.json`);

describe('merge', () => {
  it('makes the report of a run in one piece', async () => {
    for (const number of [1, 2]) {
      const args = [reference, distorted, '--shard', `${number}/2`, '-o', part(number), '--threads', '0'];
      expect(await anyvmaf(args)).toMatchObject({ code: 0, stdout: '', stderr: '' });
    }
    const report = [files.at('merged.json'), files.at('whole.json')] as const;
    const merged = await anyvmaf(['merge', part(2), part(1), '--precision', 'max', '-o', report[0]]);
    expect(merged).toMatchObject({ code: 0, stderr: '' });
    await anyvmaf([reference, distorted, '--precision', 'max', '-o', report[1], '--threads', '0']);
    const [one, other] = report.map((path) => readFileSync(path, 'utf8').replace(/"fps": .*/, ''));
    expect(one).toBe(other);
    const gate = await anyvmaf(['merge', part(1), part(2), '--fail-under', '100']);
    expect(gate).toMatchObject({ code: 3, stderr: expect.stringContaining('below --fail-under 100') });
  });

  it('says what is missing or wrong, and writes nothing', async () => {
    const out = files.at('none.json');
    const one = await anyvmaf(['merge', part(1), '-o', out]);
    expect(one).toMatchObject({
      code: 2,
      stderr: 'anyvmaf: 1 shard of 2 is missing: 2; measure what is missing and merge again.\n',
    });
    writeFileSync(files.at('torn.json'), readFileSync(part(1)).subarray(0, 700));
    const torn = await anyvmaf(['merge', files.at('torn.json'), '-o', out]);
    expect(torn).toMatchObject({ code: 2, stderr: expect.stringContaining('cut off or damaged') });
    expect(() => readFileSync(out)).toThrow('ENOENT');
  });

  it.each([
    [['--shard', '3/2', 'a', 'b'], 'a part and the number of parts'],
    [['--shard', '1/2', '--html', 'x.html', 'a', 'b'], 'anyvmaf merge'],
    [['--shard', '1/2', 'a', 'b', 'c'], 'a part of one pair'],
    [['merge'], 'no parts are named'],
  ])('refuses %j', async (args, why) => {
    expect(await anyvmaf(args)).toMatchObject({ code: 1, stderr: expect.stringContaining(why) });
  });
});
