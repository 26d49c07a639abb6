/**
 * @module test/node/cli/models-pull
 * `anyvmaf models pull` as a user runs it, against a server on the loopback interface.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { anyvmaf, videos } from '../../support/cli.js';
import { type StaticServer, serve } from '../../support/server.js';
import { needsShared, sharedPath } from '../../support/shared.js';

const NAME = 'vmaf_v1.0.16_3d0h';
const AT = `/Netflix/vmaf/v3.2.0/model/vmaf_v1.0.16/${NAME}.json`;
const folder = videos();
const servers: StaticServer[] = [];
const model = sharedPath(`models/vmaf_v1.0.16/${NAME}.json`);

async function mirror(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  mkdirSync(folder.at('served'), { recursive: true });
  const server = await serve(folder.at('served'), files);
  servers.push(server);
  return server.origin;
}

const pull = (args: readonly string[], cache: string, from = '') =>
  anyvmaf(['models', 'pull', ...args], {
    env: { ANYVMAF_CACHE: folder.at(cache), ANYVMAF_MODELS_FROM: from },
  });

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  folder[Symbol.dispose]();
});

describe('anyvmaf models pull', () => {
  test('fails in one line, and keeps nothing', async () => {
    const origin = await mirror({ [AT]: '{}' });
    const wrong = await pull([NAME], 'a', origin);
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toMatch(/^anyvmaf: What http:.* has the sha256 44136fa.*, not e4cf8c.*\n$/);
    const absent = await pull(['vmaf_v1.0.16_5d0h', '--from', origin], 'a');
    expect(absent.code).toBe(2);
    expect(absent.stderr).toMatch(/the server answered 404/);
    const list = await anyvmaf(['models', '--json'], { env: { ANYVMAF_CACHE: folder.at('a') } });
    const states = JSON.parse(list.stdout).map((one: { availability: string }) => one.availability);
    expect(states.filter((state: string) => state === 'to be pulled')).toHaveLength(8);
  });

  test('says what it needs', async () => {
    expect(await pull([], 'a')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no model is named'),
    });
    expect((await pull([NAME, 'all'], 'a')).stderr).toContain('"all" is one argument too many');
    expect((await pull(['vmaf_v9'], 'a')).stderr).toContain('no built-in model "vmaf_v9"');
    expect((await pull(['vmaf_v0.6.1'], 'a')).stdout).toBe(
      'vmaf_v0.6.1 ships with the package; there is nothing to fetch\n',
    );
    expect((await pull(['--help'], 'a')).stdout).toContain('anyvmaf models pull [--from URL]');
  });

  test('a model that is not here is described, and asked for by the command that fetches it', async () => {
    const env = { ANYVMAF_CACHE: folder.at('none') };
    const described = await anyvmaf(['models', NAME], { env });
    expect(described.stdout).toContain(`run 'anyvmaf models pull ${NAME}'`);
    const [reference, distorted] = folder.pair(['r.y4m', 'd.y4m'], 1, { width: 320, height: 240 });
    const scored = await anyvmaf([reference, distorted, '-m', `version=${NAME}`], { env });
    expect(scored.code).toBe(2);
    expect(scored.stderr).toContain(`run 'anyvmaf models pull ${NAME}' once`);
  });

  test.skipIf(model === undefined)(`fetches once and scores offline then (${needsShared})`, async () => {
    const origin = await mirror({ [AT]: new Uint8Array(readFileSync(model ?? '')) });
    const place = folder.at(`kept/models/${NAME}.json`);
    expect((await pull([NAME], 'kept', origin)).stdout).toBe(`${NAME}: fetched, ${place}\n`);
    expect((await pull([NAME], 'kept', 'http://127.0.0.1:1')).stdout).toBe(
      `${NAME}: already there, ${place}\n`,
    );
    const [reference, distorted] = folder.pair(['r.y4m', 'd.y4m'], 1, { width: 320, height: 240 });
    const scored = await anyvmaf([reference, distorted, '-m', `version=${NAME}`], {
      env: { ANYVMAF_CACHE: folder.at('kept') },
    });
    expect(scored.stdout).toMatch(/^vmaf_v1\.0\.16_3d0h: \d+\.\d{6}\n$/);
  });
});
