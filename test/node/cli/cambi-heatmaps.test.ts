/**
 * @module test/node/cli/cambi-heatmaps
 * `--feature cambi=heatmaps_path=FOLDER` where files may not grow: the reason is said, and what was there stays.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PROGRAM, run, videos } from '../../support/cli.js';

// A limit on the size of files stands for a full disk: both end in a write that the system refuses.
describe.skipIf(process.platform === 'win32')('a full disk', () => {
  it.each(['0', '2'])('leaves no part of a heatmap behind, with %s workers', async (threads) => {
    using files = videos();
    const pair = files.pair(['r.y4m', 'd.y4m'], 3, { width: 320, height: 216 });
    mkdirSync(files.at('old'));
    const old = files.put('old/cambi_heatmap_scale_0_320x216_16b.gray', 'of an earlier run');
    for (const folder of ['old', 'new/deep']) {
      const feature = `cambi=heatmaps_path=${files.at(folder)}`;
      const args = [...pair, '-n', '-q', '--threads', threads, '--feature', feature];
      const limited = ['-c', 'ulimit -f 64; exec "$0" "$@"', process.execPath, PROGRAM, ...args];
      const { code, stderr } = await run('sh', limited);
      expect(stderr).toMatch(
        /^anyvmaf: Heatmaps cannot be written into \S+(old|new.deep): it would become larger than files may be here; name another folder with heatmaps_path\.\n$/,
      );
      expect(code).toBe(2);
    }
    expect(readFileSync(old, 'utf8')).toBe('of an earlier run');
    expect(readdirSync(files.at('old'))).toHaveLength(1);
    expect(existsSync(files.at('new'))).toBe(false);
  });
});
