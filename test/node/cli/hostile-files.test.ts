/**
 * @module test/node/cli/hostile-files
 * Small files that keep a reader busy for ever are refused: one line, exit code 2, no stack, no process left. They were
 * found by changing one to three bytes, drawn at random, of a table that hyparquet-writer wrote and of a Matroska file that
 * ffmpeg wrote.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeMediabunnyDecoder } from '../../../src/platform/node/mediabunny-decoder.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import { root } from '../../support/built.js';
import { anyvmafProcess, type Outcome, type Videos, videos } from '../../support/cli.js';
import { linear } from '../../support/onnx.js';

const FOLDER = join(root, 'test/fixtures/hostile');
const hostile = (ending: string) =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith(ending))
    .sort();

/** Milliseconds for a process that is refused within two seconds on an idle machine, and what a busy one adds. */
const IN_TIME = 40_000;

let files: Videos;
beforeAll(() => {
  files = videos();
  files.put('model.onnx', linear([1, 2, 0, 0, 0, 0], 0));
});
afterAll(() => files[Symbol.dispose]());

async function expectRefusal(args: readonly string[], message: RegExp): Promise<void> {
  const begun = performance.now();
  const outcome: Outcome = await anyvmafProcess(args, {
    // What does not end by itself ends here, as no signal that can be caught would.
    meanwhile: (child) => {
      child.stdin?.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), IN_TIME);
      child.once('exit', () => clearTimeout(timer));
    },
  });
  expect(outcome.code).toBe(2);
  expect(outcome.stdout).toBe('');
  expect(outcome.stderr).toMatch(/^anyvmaf: [^\n]*\n$/);
  expect(outcome.stderr).toMatch(message);
  expect(performance.now() - begun).toBeLessThan(IN_TIME);
}

const NOWHERE = /reading it got nowhere for 1\.\d s and was ended; the file is damaged/;

describe('a table that is read for ever', () => {
  it.each(hostile('.parquet'))('is refused within about a second: %s', async (name) => {
    const table = join(FOLDER, name);
    await expectRefusal(['tiny', 'eval', '--split', 'all', files.at('model.onnx'), table], NOWHERE);
  });
});

const { usable } = await nodeMediabunnyDecoder({
  parser: () => new URL('../../../dist/bundle/js/node-parser-worker.js', import.meta.url),
}).availability();

describe.skipIf(!usable)(
  'a video that is taken apart for ever (needs mediabunny and @mediabunny/server)',
  () => {
    it.each(hostile('.mkv'))('is refused within about a second: %s', async (name) => {
      const video = join(FOLDER, name);
      await expectRefusal(['--decoder', 'mediabunny', video, video], NOWHERE);
    });

    it('is not shown to the next decoder', async () => {
      const [name = ''] = hostile('.mkv');
      const decoders = await nodePlatform.decoders({ allowUrl: false });
      const { chooseDecoder } = await import('../../../src/media/decoders.js');
      const asked: string[] = [];
      const watched = decoders
        .filter(({ id }) => id !== 'ffmpeg')
        .map((decoder) => ({
          ...decoder,
          probe(...args: Parameters<typeof decoder.probe>) {
            asked.push(decoder.id);
            return decoder.probe(...args);
          },
        }));
      const input = join(FOLDER, name);
      const encoded = { kind: 'encoded', name, input, looksLike: 'a Matroska or WebM video' } as const;
      await expect(chooseDecoder(encoded, { choice: 'auto', decoders: watched })).rejects.toThrow(NOWHERE);
      expect(asked).toEqual(['mediabunny']);
    });
  },
);
