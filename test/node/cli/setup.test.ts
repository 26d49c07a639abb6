/**
 * @module test/node/cli/setup
 * `anyvmaf setup`, and commands that miss a part: a package alone in a folder, beside which nothing is installed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PARTS } from '../../../src/parts/table.js';
import { built, root } from '../../support/built.js';
import { anyvmaf, type Outcome, type ProcessOptions, run, videos } from '../../support/cli.js';
import { fakeNpm } from '../../support/fake-npm.js';

const folder = videos();
const program = folder.at('alone/dist/bundle/js/main.js');
const [reference, distorted] = folder.pair(['r.y4m', 'd.y4m'], 2, { width: 320, height: 240 });
const film = folder.put('film.mp4', `\0\0\0\x20ftypisom${'\0'.repeat(64)}`);
const TINY = [reference, distorted, '--tiny-model', 'fr_vmaf_v0.6.1', '--quiet'];

beforeAll(() => {
  for (const path of ['dist/bundle', 'wasm/anyvmaf.wasm', 'model', 'package.json'])
    cpSync(built(path), folder.at(`alone/${path}`), { recursive: true });
  // What a command needs that is no part.
  mkdirSync(folder.at('alone/node_modules'));
});
afterAll(() => folder[Symbol.dispose]());

/** A fresh cache, and an environment with it and without ffmpeg. */
function fresh(npm = 'process.exit(1);', env: Readonly<Record<string, string>> = {}) {
  const name = `c${Math.random().toString(36).slice(2)}`;
  mkdirSync(folder.at(name));
  const cache = folder.at(`${name}/cache`);
  const none = folder.at('no-ffmpeg');
  return {
    cache,
    left: () => (existsSync(join(cache, 'parts')) ? readdirSync(join(cache, 'parts')) : []),
    at: (file: string) => folder.at(`${name}/${file}`),
    env: {
      ANYVMAF_CACHE: cache,
      ANYVMAF_INSTALL: '',
      ANYVMAF_FFMPEG: none,
      ANYVMAF_FFPROBE: none,
      PATH: fakeNpm(folder.at(name), npm),
      ...env,
    },
  };
}

const start = (args: readonly string[], options: ProcessOptions): Promise<Outcome> =>
  run(process.execPath, [program, ...args], options);

describe('a command that misses a part', () => {
  test('and has nobody to ask says what is missing, how large it is, and what to do', async () => {
    const { env, left } = fresh();
    const tiny = await start(TINY, { env });
    expect(tiny).toMatchObject({ code: 2, stdout: '' });
    expect(tiny.stderr).toMatch(
      /^anyvmaf: the package onnxruntime-web 1\.30\.0 \(\d+\.\d MB to fetch\), which runs tiny models .*, is not installed; run 'anyvmaf setup tiny', or add --yes\.\n$/,
    );
    const decoder = await start([film, film], { env });
    expect(decoder).toMatchObject({ code: 2, stdout: '' });
    expect(decoder.stderr).toMatch(
      /^anyvmaf: .*film\.mp4 is an MP4 .* no decoder for it \(ffmpeg: .*; wasm: the package @ffmpeg\/core 0\.12\.10 \(\d+\.\d MB to fetch\), .* is not installed\); run 'anyvmaf setup decoder', or add --yes, or install ffmpeg, or convert the video first: ffmpeg -i .*\n$/,
    );
    const gpu = await start([reference, distorted, '--backend', 'webgpu'], {
      env: { ...env, VK_ICD_FILENAMES: '/nowhere.json' },
    });
    expect(gpu.stderr).toMatch(
      /webgpu 0\.6\.2 .* is not installed; run 'anyvmaf setup webgpu', or add --yes/,
    );
    expect(left()).toEqual([]);
  });

  test('does not, where it does not need it', async () => {
    const { env, left } = fresh('process.exit(1);', { ANYVMAF_INSTALL: 'auto' });
    expect(await start([reference, distorted, '--quiet'], { env })).toMatchObject({ code: 0, stderr: '' });
    const missing = await start(['nothing.y4m', distorted, '--tiny-model', 'fr_vmaf_v0.6.1'], { env });
    expect(missing.stderr).toContain('nothing.y4m');
    expect(missing.stderr).not.toContain('onnxruntime');
    expect(left()).toEqual([]);
  });

  test.each([
    ['--yes', ['--yes'], {}],
    ['ANYVMAF_INSTALL=auto', [], { ANYVMAF_INSTALL: 'auto' }],
    ['--yes, also where the variable forbids', ['--yes'], { ANYVMAF_INSTALL: 'never' }],
  ])('fetches by %s, and refuses what is not the pinned one', async (_, args, set) => {
    const { env, left } = fresh(`writeFileSync(join(folder, 'x.tgz'), 'evil');`, set);
    const { code, stderr } = await start([...TINY, ...args], { env });
    expect(code).toBe(2);
    const [first, second] = stderr.split('\n');
    expect(first).toMatch(/^anyvmaf: fetching onnxruntime-web 1\.30\.0 \(MIT, \d+\.\d MB\) with npm$/);
    expect(second).toMatch(
      /^anyvmaf: What npm gave for onnxruntime-web@1\.30\.0 has 4 bytes, not \d+, so it was not/,
    );
    const decoder = await start([film, film, ...args], { env });
    expect(decoder.stderr).toMatch(/wasm: What npm gave for @ffmpeg\/core@0\.12\.10 has 4 bytes/);
    expect(left()).toEqual([]);
  });

  test('fetches nothing by ANYVMAF_INSTALL=never, and refuses other words', async () => {
    const never = fresh(`writeFileSync(${JSON.stringify(folder.at('asked'))}, '');`, {
      ANYVMAF_INSTALL: 'never',
    });
    expect((await start(TINY, { env: never.env })).stderr).toContain('is not installed; run');
    expect(existsSync(folder.at('asked'))).toBe(false);
    const wrong = fresh('', { ANYVMAF_INSTALL: 'yes' });
    for (const args of [TINY, [film, film]]) {
      const { code, stderr } = await start(args, { env: wrong.env });
      expect(code).toBe(1);
      expect(stderr).toBe('anyvmaf: ANYVMAF_INSTALL is "yes", but it must be auto or never.\n');
    }
  });

  test('of an agent is told to its user, and never fetched unasked', async () => {
    const { env } = fresh();
    const messages = [
      {
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
      },
      { method: 'notifications/initialized' },
      {
        id: 2,
        method: 'tools/call',
        params: {
          name: 'vmaf_score_encoded',
          arguments: { reference_encoded: film, distorted_encoded: film },
        },
      },
    ];
    // The server's own packages.
    const modules = folder.at('alone/node_modules');
    for (const name of [
      '@modelcontextprotocol',
      '@hono',
      'hono',
      'zod',
      'fast-png',
      'fflate',
      'iobuffer',
      'jpeg-js',
    ])
      cpSync(join(root, 'node_modules', name), join(modules, name), { recursive: true });
    const child = spawn(process.execPath, [program, 'mcp', '--allow', folder.at('.')], {
      env: { ...process.env, ...env },
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    for (const message of messages) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    await expect.poll(() => said.includes('"id":2')).toBe(true);
    child.stdin.end();
    await once(child, 'exit');
    expect(said).toContain("run 'anyvmaf setup decoder'");
    expect(said).not.toContain('--yes');
  });
});

describe('a question on a terminal', () => {
  const absent = existsSync('/usr/bin/script') ? '' : 'needs /usr/bin/script';
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

  /** Runs a command on a terminal of its own, and types once it is asked. */
  function typed(answer: string, env: Readonly<Record<string, string>>): Promise<Outcome> {
    const line = [process.execPath, program, ...TINY].map(quote).join(' ');
    return run('script', ['-qec', line, '/dev/null'], {
      env: { ...env, TERM: 'xterm' },
      meanwhile: (child) => {
        child.stdout?.on('data', (text: string) => {
          if (text.includes('[y/N]')) child.stdin?.write(answer);
        });
      },
    });
  }

  test.skipIf(absent !== '')(
    `names packages, licence, sizes and place; a no fetches nothing (${absent})`,
    async () => {
      const asked = folder.at('asked-terminal');
      for (const answer of ['n\n', '\n', 'nope\n', '\u0004']) {
        const { env, left, cache } = fresh(`writeFileSync(${JSON.stringify(asked)}, '');`);
        const { code, stdout } = await typed(answer, env);
        expect(code).toBe(2);
        expect(stdout).toContain('onnxruntime-web 1.30.0 (MIT, ');
        expect(stdout).toContain(`stay in ${join(cache, 'parts')}`);
        expect(stdout).toContain('is not installed; run ');
        expect(stdout.split('[y/N]')).toHaveLength(2);
        expect(left()).toEqual([]);
      }
      expect(existsSync(asked)).toBe(false);
    },
  );

  test.skipIf(absent !== '')(`lets a yes fetch (${absent})`, async () => {
    const { env } = fresh(`writeFileSync(join(folder, 'x.tgz'), 'evil');`);
    const { stdout } = await typed('yes\n', env);
    expect(stdout).toContain('fetching onnxruntime-web 1.30.0');
    expect(stdout).toContain('so it was not kept');
  });

  test.skipIf(absent !== '')(`ends by Ctrl-C (${absent})`, async () => {
    const { env, left } = fresh();
    expect((await typed('\u0003', env)).code).toBe(130);
    expect(left()).toEqual([]);
  });
});

describe('anyvmaf setup', () => {
  test('lists what there is, where it would be, and how large', async () => {
    const { env, cache } = fresh();
    const { code, stdout } = await start(['setup'], { env });
    expect(code).toBe(0);
    for (const name of ['decoder', 'tiny', 'webgpu'])
      expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    const listed = JSON.parse((await start(['setup', '--json'], { env })).stdout);
    expect(listed).toHaveLength(3);
    expect(listed[0]).toEqual({
      part: 'decoder',
      use: PARTS.decoder.use,
      packages: ['@ffmpeg/core@0.12.10'],
      licences: ['GPL-2.0-or-later'],
      download: PARTS.decoder.packages[0].packed,
      size: PARTS.decoder.size,
      installed: false,
      own: false,
      place: join(cache, 'parts/decoder@0.12.10'),
    });
  });

  test('says which packages are installed beside anyvmaf, as here', async () => {
    const { env } = fresh();
    const { stdout } = await anyvmaf(['setup', '--json'], { env });
    for (const state of JSON.parse(stdout)) expect(state).toMatchObject({ installed: false, own: true });
    expect((await anyvmaf(['setup'], { env })).stdout.replace(/\s+/g, ' ')).toContain(
      '(not needed: the package is',
    );
  });

  test('says what it does not understand', async () => {
    const { env } = fresh();
    const wrong = (args: string[]) => start(['setup', ...args], { env });
    expect(await wrong(['tinny'])).toMatchObject({
      code: 1,
      stderr: 'anyvmaf: there is no part "tinny"; did you mean tiny?\n',
    });
    expect((await wrong(['x'])).stderr).toContain('the parts are decoder, tiny or webgpu');
    expect((await wrong(['--all'])).code).toBe(1);
    expect((await wrong(['--remove'])).stdout).toBe('nothing was there\n');
    expect((await wrong(['--help'])).stdout).toContain('anyvmaf setup --remove [PART...]');
  });

  test('fails in one line without npm, without a network, and without a folder to write to', async () => {
    const offline = fresh(
      `console.error('npm error code ENOTFOUND\\nnpm error network request to the registry failed'); process.exit(1);`,
    );
    const failed = await start(['setup', 'decoder'], { env: offline.env });
    expect(failed.code).toBe(2);
    expect(failed.stderr).toMatch(
      /^anyvmaf: fetching .*\nanyvmaf: @ffmpeg\/core@0\.12\.10 cannot be fetched: npm says: network request to the registry failed; check the network .*\n$/,
    );
    folder.put('a-file', '');
    const unwritable = await start(['setup', 'tiny'], {
      env: { ...offline.env, ANYVMAF_CACHE: folder.at('a-file') },
    });
    expect(unwritable).toMatchObject({ code: 2, stdout: '' });
    expect(unwritable.stderr).toMatch(
      /^anyvmaf: Nothing can be kept in .*name another folder with ANYVMAF_CACHE\.\n$/,
    );
    expect(offline.left()).toEqual([]);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('leaves nothing after %s in mid-fetch', async (signal) => {
    const { env, left, at } = fresh(
      `writeFileSync(process.env.MARK, String(process.pid)); setInterval(() => {}, 1000);`,
    );
    const mark = at('npm-runs');
    const ended = await start(['setup', 'tiny'], {
      env: { ...env, MARK: mark },
      meanwhile: async (child) => {
        await expect.poll(() => existsSync(mark)).toBe(true);
        expect(left()).toHaveLength(1);
        child.kill(signal);
      },
    });
    expect(ended.code).toBe(signal === 'SIGINT' ? 130 : 143);
    expect(left()).toEqual([]);
    const npm = Number(readFileSync(mark, 'utf8'));
    await expect.poll(() => existsSync(`/proc/${npm}`)).toBe(false);
  });

  test('what a killed one left is no part, and the next one removes it', async () => {
    const { env, left, at } = fresh(
      `if (process.env.MARK) { writeFileSync(process.env.MARK, String(process.pid)); setInterval(() => {}, 1000); } else process.exit(1);`,
    );
    const mark = at('npm-runs');
    const killed = await start(['setup', 'tiny'], {
      env: { ...env, MARK: mark },
      meanwhile: async (child) => {
        await expect.poll(() => existsSync(mark)).toBe(true);
        child.kill('SIGKILL');
      },
    });
    expect(killed.code).toBe(null);
    process.kill(Number(readFileSync(mark, 'utf8')), 'SIGKILL');
    expect(left()).toEqual([expect.stringMatching(/^anyvmaf-part-/)]);
    const listed = JSON.parse((await start(['setup', '--json'], { env })).stdout);
    expect(listed.map(({ installed }: { installed: boolean }) => installed)).toEqual([false, false, false]);
    expect((await start(['setup', 'tiny'], { env })).code).toBe(2);
    expect(left()).toEqual([]);
  });

  test('refuses what a part is made of when the file list was tampered with', async () => {
    const { env, cache } = fresh();
    const place = join(cache, 'parts/tiny@1.30.0');
    mkdirSync(place, { recursive: true });
    for (const text of ['', '{}', '[]', 'null', '{"missing.js":3}', '{"files.json":1}']) {
      writeFileSync(join(place, 'files.json'), text);
      const [, tiny] = JSON.parse((await start(['setup', '--json'], { env })).stdout);
      expect(tiny, text).toMatchObject({ part: 'tiny', installed: false });
    }
    expect((await start(['setup', '--remove', 'tiny'], { env })).stdout).toBe(`removed ${place}\n`);
    expect(existsSync(place)).toBe(false);
    rmSync(cache, { recursive: true });
  });
});
