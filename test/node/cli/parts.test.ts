/**
 * @module test/node/cli/parts
 * Optional components that `anyvmaf setup` fetches, models that `anyvmaf models pull` fetches, and backends. Commands that lack
 * a component run from a copy of the package without installed dependencies.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../../src/cli/options.js';
import { partsDoor } from '../../../src/cli/terminal.js';
import { PARTS } from '../../../src/parts/table.js';
import { nodeGpu } from '../../../src/platform/node/gpu.js';
import { built, root } from '../../support/built.js';
import {
  anyvmaf,
  ends,
  type Outcome,
  type ProcessOptions,
  passes,
  recordingTerminal,
  run,
  videos,
} from '../../support/cli.js';
import { type StaticServer, serve } from '../../support/file-server.js';
import { sessionLines } from '../../support/mcp-host.js';
import { fakeNpm, fakeVmaf, processesWith } from '../../support/programs.js';
import { needsShared, sharedPath, tier } from '../../support/tier.js';

const folder = videos();
const program = folder.at('alone/dist/bundle/js/main.js');
const [reference, distorted] = folder.pair(['r.y4m', 'd.y4m'], 2, { width: 320, height: 240 });
const film = folder.put('film.mp4', `\0\0\0\x20ftypisom${'\0'.repeat(64)}`);
const TINY = [reference, distorted, '--tiny-model', 'fr_vmaf_v0.6.1', '--quiet'];

for (const path of ['dist/bundle', 'wasm/anyvmaf.wasm', 'model', 'package.json'])
  cpSync(built(path), folder.at(`alone/${path}`), { recursive: true });
// For packages that are not optional.
mkdirSync(folder.at('alone/node_modules'));

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

describe('a command that lacks a component', () => {
  test('without a terminal tells what is missing, its size, and what to do', async () => {
    const { env, left } = fresh();
    const tiny = await start(TINY, { env });
    expect(tiny).toMatchObject({ code: 2, stdout: '' });
    expect(tiny.stderr).toMatch(
      /^anyvmaf: the package onnxruntime-web 1\.30\.0 \(\d+\.\d MB to fetch\), which runs tiny models .*, is not installed; run 'anyvmaf setup tiny', or add --yes\.\n$/,
    );
    const onGpu = [reference, distorted, '--backend', 'webgpu'];
    const gpu = await start(onGpu, { env: { ...env, VK_ICD_FILENAMES: '/nowhere.json' } });
    const message = /webgpu 0\.6\.2 .* is not installed; run 'anyvmaf setup webgpu', or add --yes/;
    expect(gpu.stderr).toMatch(message);
    // Where a driver is installed, this asks for the package too.
    const { stderr } = await start(onGpu, { env: { ...env, VK_ICD_FILENAMES: '', VK_DRIVER_FILES: '' } });
    expect(stderr).toMatch(nodeGpu.driver ? message : /No driver for Vulkan was found, .*; install one, or/);
    expect(left()).toEqual([]);
  });

  test('fetches nothing with ANYVMAF_INSTALL=never', async () => {
    const asked = folder.at('asked');
    const { env, left } = fresh(`writeFileSync(${JSON.stringify(asked)}, '');`, { ANYVMAF_INSTALL: 'never' });
    const decoder = await start([film, film], { env });
    expect(decoder).toMatchObject({ code: 2, stdout: '' });
    expect(decoder.stderr).toMatch(
      /^anyvmaf: .*film\.mp4 is an MP4 .* no decoder for it \(ffmpeg: .*; wasm: the package @ffmpeg\/core 0\.12\.10 \(\d+\.\d MB to fetch\), .* is not installed\); run 'anyvmaf setup decoder', or add --yes, or install ffmpeg, or convert the video first: ffmpeg -i .*\n$/,
    );
    expect([existsSync(asked), left()]).toEqual([false, []]);
  });

  test('fetches nothing that it does not need', async () => {
    const { env, left } = fresh('process.exit(1);', { ANYVMAF_INSTALL: 'auto' });
    expect(await start([reference, distorted, '--quiet'], { env })).toMatchObject({ code: 0, stderr: '' });
    const missing = await start(['nothing.y4m', distorted, '--tiny-model', 'fr_vmaf_v0.6.1'], { env });
    expect(missing.stderr).toContain('nothing.y4m');
    expect(missing.stderr).not.toContain('onnxruntime');
    expect(left()).toEqual([]);
  });

  const EVIL = `console.error('npm error code EINTEGRITY\\nnpm error Integrity checksum failed'); process.exit(1);`;
  const ways = [
    ['--yes, also if the variable forbids it', ['--yes'], { ANYVMAF_INSTALL: 'never' }],
    ['ANYVMAF_INSTALL=auto', [], { ANYVMAF_INSTALL: 'auto' }],
    ['--yes', ['--yes'], {}],
  ] as const;

  test.each([...tier(ways.slice(0, 1), [...ways])])(
    'fetches with %s, and refuses a package with another digest',
    async (_, args, set) => {
      const { env, left } = fresh(EVIL, set);
      const { code, stderr } = await start([...TINY, ...args], { env });
      expect(code).toBe(2);
      const [first, second, third] = stderr.split('\n');
      expect(first).toMatch(/^anyvmaf: fetching onnxruntime-web 1\.30\.0 \(MIT, \d+\.\d MB\) with npm$/);
      expect(second).toMatch(/^anyvmaf: fetching onnxruntime-common 1\.30\.0 \(MIT, \d+\.\d MB\) with npm$/);
      expect(third).toMatch(
        /^anyvmaf: onnxruntime-web@1\.30\.0, .* cannot be installed: npm says: Integrity checksum failed;/,
      );
      expect(left()).toEqual([]);
    },
  );

  test.each([...tier(ways.slice(1, 2), [...ways])])('fetches a decoder with %s', async (_, args, set) => {
    const { env, left } = fresh(EVIL, set);
    const { stderr } = await start([film, film, ...args], { env });
    expect(stderr).toMatch(/wasm: @ffmpeg\/core@0\.12\.10 cannot be installed: npm says: Integrity/);
    expect(left()).toEqual([]);
  });

  test('of an agent reports it, and never fetches it', async () => {
    const { env } = fresh();
    const encodes = { reference_encoded: film, distorted_encoded: film };
    const params = { name: 'vmaf_score_encoded', arguments: encodes };
    // The dependencies of the server.
    const modules = folder.at('alone/node_modules');
    const packages = '@modelcontextprotocol @hono hono zod fast-png fflate iobuffer jpeg-js';
    for (const name of packages.split(' '))
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
    const child = spawn(process.execPath, [program, 'mcp', '--allow', folder.at('.')], {
      env: { ...process.env, ...env },
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    child.stdin.write(sessionLines({ id: 2, method: 'tools/call', params }));
    await expect.poll(() => said.includes('"id":2')).toBe(true);
    child.stdin.end();
    await once(child, 'exit');
    expect(said).toContain("run 'anyvmaf setup decoder'");
    expect(said).not.toContain('--yes');
  });
});

describe('a question on a terminal', () => {
  test.each([
    ...['n', '', 'nope', 'yesterday', undefined].map((answer) => [answer, false] as const),
    ...['y', 'yes', ' YES '].map((answer) => [answer, true] as const),
  ])('takes %j as consent: %j', async (answer, agreed) => {
    const cache = folder.at('asked-of');
    const input = Readable.from(answer === undefined ? [] : [`${answer}\n`]);
    const own = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {};
    const { ANYVMAF_CACHE: before } = process.env;
    const value = Object.assign(input, { isTTY: true, unref: () => {} });
    Object.defineProperty(process, 'stdin', { configurable: true, value });
    process.env.ANYVMAF_CACHE = cache;
    const { terminal, said } = recordingTerminal({ canDraw: true });
    try {
      const door = partsDoor(terminal, true);
      expect(await door.ask?.(PARTS.tiny, new AbortController().signal)).toBe(agreed);
    } finally {
      Object.defineProperty(process, 'stdin', own);
      if (before === undefined) delete process.env.ANYVMAF_CACHE;
      else process.env.ANYVMAF_CACHE = before;
    }
    expect(said.stderr).toContain('onnxruntime-web 1.30.0 (MIT, ');
    expect(said.stderr).toContain(`stay in ${join(cache, 'parts')}`);
    expect(said.stderr.split('[y/N]')).toHaveLength(2);
  });

  const absent = existsSync('/usr/bin/script') ? '' : 'needs /usr/bin/script';

  /** Runs a command on its own terminal, and types an answer to the question. */
  function typed(answer: string, env: Readonly<Record<string, string>>): Promise<Outcome> {
    return run('script', ['-qec', commandLine(process.execPath, [program, ...TINY]), '/dev/null'], {
      env: { ...env, TERM: 'xterm' },
      meanwhile: (child) => {
        child.stdout?.on('data', (text: string) => {
          if (text.includes('[y/N]')) child.stdin?.write(answer);
        });
      },
    });
  }

  test.skipIf(absent !== '')(`ends by Ctrl-C (${absent})`, async () => {
    const { env, left } = fresh();
    expect((await typed('\u0003', env)).code).toBe(130);
    expect(left()).toEqual([]);
  });
});

describe('anyvmaf setup', () => {
  test('lists components with their folders and sizes', async () => {
    const { env, cache } = fresh();
    const { stdout } = await passes(['setup'], { env });
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

  test('tells which packages are installed beside anyvmaf', async () => {
    const { env } = fresh();
    const { stdout } = await anyvmaf(['setup', '--json'], { env });
    for (const state of JSON.parse(stdout)) expect(state).toMatchObject({ installed: false, own: true });
    const found = (await anyvmaf(['setup'], { env })).stdout.replace(/\s+/g, ' ');
    expect(found).toContain('(not needed: the package is');
  });

  test('refuses unknown arguments', async () => {
    const { env } = fresh();
    const wrong = (args: string[]) => anyvmaf(['setup', ...args], { env });
    expect(await wrong(['tinny'])).toMatchObject({
      code: 1,
      stderr: 'anyvmaf: there is no part "tinny"; did you mean tiny?\n',
    });
    expect((await wrong(['x'])).stderr).toContain('the parts are decoder, tiny or webgpu');
    expect((await wrong(['--all'])).code).toBe(1);
    expect((await wrong(['--remove'])).stdout).toBe('nothing to remove\n');
    expect((await wrong(['--help'])).stdout).toContain('anyvmaf setup --remove [PART...]');
  });

  test.each<NodeJS.Signals>(tier(['SIGINT'], ['SIGINT', 'SIGTERM']))(
    'leaves nothing after %s in mid-fetch',
    async (signal) => {
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
    },
  );

  test('ignores what a killed run left, and the next run removes it', async () => {
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
    // The shell that guards npm ends it.
    await expect.poll(() => processesWith(at('bin/npm'))).toEqual([]);
    expect(left()).toEqual([expect.stringMatching(/^anyvmaf-part-/)]);
    const listed = JSON.parse((await anyvmaf(['setup', '--json'], { env })).stdout);
    expect(listed.map(({ installed }: { installed: boolean }) => installed)).toEqual([false, false, false]);
    expect((await anyvmaf(['setup', 'tiny'], { env })).code).toBe(2);
    expect(left()).toEqual([]);
  });

  test('does not accept a component with a forged file list', async () => {
    const { env, cache } = fresh();
    const place = join(cache, 'parts/tiny@1.30.0');
    mkdirSync(place, { recursive: true });
    for (const text of ['', '{}', '[]', 'null', '{"missing.js":3}', '{"files.json":1}']) {
      writeFileSync(join(place, 'files.json'), text);
      const [, tiny] = JSON.parse((await anyvmaf(['setup', '--json'], { env })).stdout);
      expect(tiny, text).toMatchObject({ part: 'tiny', installed: false });
    }
    expect((await anyvmaf(['setup', '--remove', 'tiny'], { env })).stdout).toBe(`removed ${place}\n`);
    expect(existsSync(place)).toBe(false);
    rmSync(cache, { recursive: true });
  });
});

const NAME = 'vmaf_v1.0.16_3d0h';
const AT = `/Netflix/vmaf/v3.2.0/model/vmaf_v1.0.16/${NAME}.json`;
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
});

describe('anyvmaf models pull', () => {
  test('fails in one line, and keeps no file', async () => {
    const origin = await mirror({ [AT]: '{}' });
    const wrong = await pull([NAME], 'a', origin);
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    const message = /^anyvmaf: The file from http:.* has the SHA-256 44136fa.*, not e4cf8c.*\n$/;
    expect(wrong.stderr).toMatch(message);
    const absent = await pull(['vmaf_v1.0.16_5d0h', '--from', origin], 'a');
    expect(absent.code).toBe(2);
    expect(absent.stderr).toMatch(/the server answered 404/);
    const list = await anyvmaf(['models', '--json'], { env: { ANYVMAF_CACHE: folder.at('a') } });
    const states = JSON.parse(list.stdout).map((one: { availability: string }) => one.availability);
    expect(states.filter((state: string) => state === 'to be pulled')).toHaveLength(8);
  });

  test('refuses invalid arguments', async () => {
    expect(await pull([], 'a')).toMatchObject({ code: 1, stderr: expect.stringContaining('no model given') });
    expect((await pull([NAME, 'all'], 'a')).stderr).toContain('"all" is one argument too many');
    const unknown = { code: 1, stderr: expect.stringContaining('there is no model "vmaf_v9"; there are') };
    expect(await pull(['vmaf_v9'], 'a')).toMatchObject(unknown);
    const found = (await pull(['vmaf_v0.6.1'], 'a')).stdout;
    expect(found).toBe('vmaf_v0.6.1 ships with the package; there is nothing to fetch\n');
    expect((await pull(['--help'], 'a')).stdout).toContain('anyvmaf models pull [--from URL]');
  });

  test('a missing model is described, and errors name the command that fetches it', async () => {
    const env = { ANYVMAF_CACHE: folder.at('none') };
    const described = await anyvmaf(['models', NAME], { env });
    expect(described.stdout).toContain(`run 'anyvmaf models pull ${NAME}'`);
    const args = [reference, distorted, '--frame_cnt', '1', '-m', `version=${NAME}`];
    const scored = await anyvmaf(args, { env });
    expect(scored.code).toBe(2);
    expect(scored.stderr).toContain(`run 'anyvmaf models pull ${NAME}' once`);
  });

  test.skipIf(model === undefined)(`fetches once (${needsShared})`, async () => {
    const origin = await mirror({ [AT]: new Uint8Array(readFileSync(model ?? '')) });
    const place = folder.at(`kept/models/${NAME}.json`);
    expect((await pull([NAME], 'kept', origin)).stdout).toBe(`${NAME}: fetched, ${place}\n`);
    const said = (await pull([NAME], 'kept', 'http://127.0.0.1:1')).stdout;
    expect(said).toBe(`${NAME}: already there, ${place}\n`);
  });
});

describe.skipIf(process.platform === 'win32')('backends and doctor', () => {
  test('list backends, and tell how to get missing ones', async () => {
    const { path } = fakeVmaf(folder.at('.'), 'gpu');
    const listed = await anyvmaf(['backends', '--vmaf-bin', path]);
    expect([listed.code, listed.stderr]).toEqual([0, '']);
    expect(listed.stdout).toContain(path);
    const json = await anyvmaf(['backends', '--json', '--vmaf-bin', join(folder.at('.'), 'nowhere')]);
    expect(JSON.parse(json.stdout)).toMatchObject({ cpu: true, cuda: false, native_cpu: false });
    expect(json.stdout).toMatch(/Install a vmaf built with CUDA/);
  });

  test('examine the installation', async () => {
    const { path } = fakeVmaf(folder.at('.'), 'gpu-broken');
    const { stdout } = await passes(['doctor', '--vmaf-bin', path]);
    for (const line of [
      `Node.js +${process.versions.node}`,
      'built-in core +WebAssembly with SIMD: works, scored a grey frame 97\\.428043',
      'ffmpeg .*\\n  mediabunny .*\\n  wasm ',
      'native-cpu +works',
      ...['cuda', 'sycl', 'hip', 'metal'].map((backend) => `${backend} +does not work: vmaf`),
      '@ffmpeg/core +installed',
    ])
      expect(stdout).toMatch(new RegExp(`^  ${line}`, 'm'));
    const found = JSON.parse((await passes(['doctor', '--json', '--vmaf-bin', path])).stdout);
    expect(found).toMatchObject({
      node: process.versions.node,
      health: expect.arrayContaining([
        expect.objectContaining({ backend: 'native-cpu', runtime_healthy: true }),
        expect.objectContaining({ backend: 'cuda', runtime_healthy: false }),
      ]),
      decoders: [{ id: 'ffmpeg' }, { id: 'mediabunny' }, { id: 'wasm' }],
    });
  });

  test('refuse a missing backend, in one line', async () => {
    const options = ['--backend', 'cuda', '--vmaf-bin', fakeVmaf(folder.at('.'), 'good').path];
    const { code, stdout, stderr } = await anyvmaf([reference, distorted, ...options]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^anyvmaf: The backend cuda is not available: .*\n$/);
  });

  test('refuse arguments', async () => {
    await ends(['doctor', 'please'], 1, /"please" is one argument too many/);
  });
});
