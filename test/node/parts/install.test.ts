/**
 * @module test/node/parts/install
 * Optional components: nothing is fetched unless somebody agreed, and what is installed is what was pinned.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import type { PartsDoor } from '../../../src/parts/consent.js';
import { installPart } from '../../../src/parts/install.js';
import { isHere, partsFolder, placeOf, removePart } from '../../../src/parts/store.js';
import type { Part } from '../../../src/parts/table.js';
import { built } from '../../support/built.js';
import { run } from '../../support/cli.js';
import { delivering, fakeNpm } from '../../support/fake-npm.js';
import { failure } from '../../support/media.js';
import { type Entry, integrityOf, tgz } from '../../support/tarball.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'anyvmaf-parts-'));
  vi.stubEnv('ANYVMAF_CACHE', join(folder, 'cache'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const FILES: readonly Entry[] = [
  { name: 'package/package.json', content: '{"name":"one"}' },
  { name: 'package/dist/one.js', content: 'export const one = 1;' },
  { name: 'package/dist/deep/two.js', content: 'two' },
  { name: 'package/README.md', content: 'left out' },
];

interface Packed {
  readonly part: Part;
  /** Where the tarball is that npm is to deliver. */
  readonly file: string;
}

/** A part of one package, whose tarball is pinned as it is. */
function packed(entries: readonly Entry[] = FILES, bytes = tgz(entries)): Packed {
  const file = join(folder, `pinned-${Math.random().toString(36).slice(2)}.tgz`);
  writeFileSync(file, bytes);
  const part: Part = {
    name: 'tiny',
    use: 'is for tests',
    size: 100,
    packages: [
      {
        name: '@scope/one',
        version: '1.2.3',
        integrity: integrityOf(bytes),
        packed: bytes.length,
        licence: 'MIT',
        keep: ['package.json', 'dist/*.js'],
      },
    ],
  };
  return { part, file };
}

const usingNpm = (body: string) => vi.stubEnv('PATH', fakeNpm(folder, body));
const deliver = (file: string) => usingNpm(delivering({ '@scope/one@1.2.3': file }));
const refusal = (part: Part, options = {}) => failure(() => installPart('tiny', { part, ...options }), 'io');

/** That nothing is left but whole parts. */
function expectNothing(): void {
  expect(existsSync(partsFolder()) ? readdirSync(partsFolder()) : []).toEqual([]);
}

describe('a part', () => {
  it('comes with the files that are kept, and is found', async () => {
    const { part, file } = packed();
    deliver(file);
    expect(isHere(part)).toBe(false);
    const heard: string[] = [];
    const options = { part, onPackage: ({ name }: { name: string }) => heard.push(name) };
    const place = join(folder, 'cache/parts/tiny@1.2.3');
    expect(await installPart('tiny', options)).toEqual({ name: 'tiny', place, fetched: true });
    expect(heard).toEqual(['@scope/one']);
    const own = join(place, 'node_modules/@scope/one');
    expect(readdirSync(own, { recursive: true }).sort()).toEqual(['dist', 'dist/one.js', 'package.json']);
    expect(readFileSync(join(own, 'dist/one.js'), 'utf8')).toBe('export const one = 1;');
    expect(isHere(part)).toBe(true);
    expect(readdirSync(partsFolder())).toEqual(['tiny@1.2.3']);
    // npm is not asked again.
    usingNpm('process.exit(1);');
    expect((await installPart('tiny', options)).fetched).toBe(false);
  });

  it('that lost a file or a byte is not here, and comes again', async () => {
    const { part, file } = packed();
    deliver(file);
    await installPart('tiny', { part });
    const one = join(placeOf(part), 'node_modules/@scope/one/dist/one.js');
    truncateSync(one, 5);
    expect(isHere(part)).toBe(false);
    expect((await installPart('tiny', { part })).fetched).toBe(true);
    expect(readFileSync(one, 'utf8')).toContain('one = 1');
    rmSync(one);
    expect(isHere(part)).toBe(false);
    expect(readdirSync(partsFolder())).toEqual(['tiny@1.2.3']);
  });

  it('leaves with every version of it, and nothing else does', async () => {
    const { part, file } = packed();
    deliver(file);
    await installPart('tiny', { part });
    mkdirSync(join(partsFolder(), 'tiny@0.0.1'));
    mkdirSync(join(partsFolder(), 'decoder@1.0.0'));
    expect((await removePart('tiny')).map((path) => path.slice(partsFolder().length + 1)).sort()).toEqual([
      'tiny@0.0.1',
      'tiny@1.2.3',
    ]);
    expect(readdirSync(partsFolder())).toEqual(['decoder@1.0.0']);
    expect(await removePart('tiny')).toEqual([]);
  });

  it('comes once where several want it at the same time', async () => {
    const { part, file } = packed();
    deliver(file);
    const all = await Promise.all([1, 2, 3, 4].map(() => installPart('tiny', { part })));
    for (const { place } of all) expect(place).toBe(placeOf(part));
    expect(isHere(part)).toBe(true);
    expect(readdirSync(partsFolder())).toEqual(['tiny@1.2.3']);
  });
});

it('a part that several processes want at the same time comes to each of them', async () => {
  const { part, file } = packed();
  deliver(file);
  const script = `
    const { installPart } = await import(${JSON.stringify(pathToFileURL(built('dist/parts/install.js')).href)});
    console.log((await installPart('tiny', { part: JSON.parse(process.argv[1]) })).place);`;
  const all = await Promise.all(
    [1, 2, 3].map(() => run(process.execPath, ['--input-type=module', '-e', script, JSON.stringify(part)])),
  );
  for (const { code, stdout, stderr } of all)
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${placeOf(part)}\n`, stderr: '' });
  expect(isHere(part)).toBe(true);
  expect(readdirSync(partsFolder())).toEqual(['tiny@1.2.3']);
});

describe('what npm gives is refused', () => {
  it('if it is another file, also of the same length', async () => {
    const { part, file } = packed();
    const longer = join(folder, 'other.tgz');
    writeFileSync(longer, tgz([...FILES, { name: 'package/dist/evil.js', content: 'evil'.repeat(99) }]));
    deliver(longer);
    const length = statSync(longer).size;
    expect(await refusal(part)).toMatch(
      new RegExp(`^What npm gave for @scope/one@1\\.2\\.3 has ${length} bytes, not \\d+, so it was not kept`),
    );
    const changed = readFileSync(file);
    changed.writeUInt8(changed.readUInt8(20) ^ 1, 20);
    writeFileSync(longer, changed);
    expect(await refusal(part)).toContain(`has ${integrityOf(changed)}, not sha512-`);
    expectNothing();
  });

  it('if it is cut off', async () => {
    const { part, file } = packed();
    const half = join(folder, 'half.tgz');
    writeFileSync(half, readFileSync(file).subarray(0, 100));
    deliver(half);
    expect(await refusal(part)).toMatch(/has 100 bytes, not \d+, so it was not kept/);
    expectNothing();
  });

  it.each([
    [
      'a name that leads out of it',
      [{ name: 'package/../../../evil', content: 'evil' }],
      /leads out of the package/,
    ],
    [
      'a link',
      [{ name: 'package/dist', type: '2', link: '/tmp' }],
      /"package\/dist" in it is neither a file nor a folder/,
    ],
    [
      'a file twice',
      [{ name: 'package/dist/one.js', content: 'again' }],
      /cannot be unpacked: dist\/one\.js is in it twice/,
    ],
  ])('if it was pinned with %s', async (_, entries, message) => {
    const { part, file } = packed([...FILES, ...entries]);
    deliver(file);
    expect(await refusal(part)).toMatch(message);
    expectNothing();
    expect(existsSync(join(folder, 'evil'))).toBe(false);
  });

  it('if it was pinned without what is needed, or is no package at all', async () => {
    const lacking = packed([{ name: 'package/package.json', content: '{}' }]);
    deliver(lacking.file);
    expect(await refusal(lacking.part)).toContain('cannot be unpacked: it has no dist/*.js');
    const text = packed([], Buffer.from('no gzip, but pinned'));
    deliver(text.file);
    expect(await refusal(text.part)).toMatch(/cannot be unpacked: incorrect header check/);
    expectNothing();
  });

  it('if it is a link to a file, or several', async () => {
    const { part, file } = packed();
    usingNpm(`symlinkSync(${JSON.stringify(file)}, join(folder, 'package.tgz'));`);
    expect(await refusal(part)).toContain('npm ended well but left no package');
    usingNpm(
      `for (const name of ['a.tgz', 'b.tgz']) copyFileSync(${JSON.stringify(file)}, join(folder, name));`,
    );
    expect(await refusal(part)).toContain('npm ended well but left no package');
    expectNothing();
  });
});

describe('npm', () => {
  it('that prints rubbish and ends well is not believed', async () => {
    usingNpm(`process.stdout.write('{"filename":"/etc/passwd"}\\u001b[2J'.repeat(100000));`);
    expect(await refusal(packed().part)).toContain('npm ended well but left no package');
    expectNothing();
  });

  it('that fails is quoted, in one printable line', async () => {
    usingNpm(
      `console.error('npm error code E404\\nnpm error 404 Not Found - \\u001b[31m@scope/one\\nnpm error A complete log of this run can be found in: x');
       process.exit(1);`,
    );
    const message = await refusal(packed().part);
    expect(message).toContain(
      '@scope/one@1.2.3 cannot be fetched: npm says: 404 Not Found - \\x1b[31m@scope/one; check the network',
    );
    usingNpm(`process.kill(process.pid, 'SIGKILL');`);
    expect(await refusal(packed().part)).toContain('npm ended by SIGKILL');
    expectNothing();
  });

  it('that hangs is ended, with what it has started', async () => {
    const pids = join(folder, 'pids');
    usingNpm(
      `const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
       writeFileSync(${JSON.stringify(pids)}, process.pid + ' ' + child.pid);
       setInterval(() => {}, 1000);`,
    );
    const message = await refusal(packed().part, { timeout: 1500 });
    expect(message).toContain('npm has not ended after 1.5 s');
    const gone = (pid: number) => {
      try {
        return /^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
      } catch {
        return true;
      }
    };
    for (const pid of readFileSync(pids, 'utf8').split(' ').map(Number))
      await expect.poll(() => gone(pid)).toBe(true);
    expectNothing();
  });

  it('is ended when the caller gives up, whose reason comes out', async () => {
    usingNpm('setInterval(() => {}, 1000);');
    const stop = new AbortController();
    const reason = new Error('enough');
    const going = installPart('tiny', { part: packed().part, signal: stop.signal });
    await expect.poll(() => existsSync(partsFolder()) && readdirSync(partsFolder()).length).toBe(1);
    stop.abort(reason);
    await expect(going).rejects.toBe(reason);
    expectNothing();
  });

  it('is not told of workspaces, and runs in a private folder', async () => {
    const { part, file } = packed();
    const seen = join(folder, 'seen.json');
    vi.stubEnv('npm_config_workspace', 'x');
    vi.stubEnv('NPM_CONFIG_WORKSPACES', 'true');
    usingNpm(`${delivering({ '@scope/one@1.2.3': file })}
      const names = Object.keys(process.env).filter((name) => /workspace/i.test(name));
      const mode = require('node:fs').statSync(join(process.cwd(), '..')).mode & 0o777;
      writeFileSync(${JSON.stringify(seen)}, JSON.stringify({ names, mode, same: process.cwd() === folder }));`);
    await installPart('tiny', { part });
    expect(JSON.parse(readFileSync(seen, 'utf8'))).toEqual({ names: [], mode: 0o700, same: true });
  });
});

describe('the cache', () => {
  it('that cannot be written is named, with what to do', async () => {
    writeFileSync(join(folder, 'file'), '');
    vi.stubEnv('ANYVMAF_CACHE', join(folder, 'file'));
    const { part, file } = packed();
    deliver(file);
    expect(await refusal(part)).toMatch(
      /^Nothing can be kept in .*file\/parts: a part of its path is a file, not a folder; make it writable, or name another folder with ANYVMAF_CACHE\.$/,
    );
  });

  it.skipIf(process.getuid?.() === 0)('that may only be read is named (not as root)', async () => {
    mkdirSync(join(folder, 'cache/parts'), { recursive: true, mode: 0o500 });
    expect(await refusal(packed().part)).toContain('permission denied; make it writable');
  });

  it('may be a link to another folder', async () => {
    const { part, file } = packed();
    deliver(file);
    mkdirSync(join(folder, 'elsewhere'));
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'cache'));
    await installPart('tiny', { part });
    expect(isHere(part)).toBe(true);
    expect(readdirSync(join(folder, 'elsewhere/parts'))).toEqual(['tiny@1.2.3']);
  });

  it('is not written through a link in the place of a part', async () => {
    const { part, file } = packed();
    deliver(file);
    const other = packed([...FILES, { name: 'package/dist/evil.js', content: 'evil' }]);
    mkdirSync(partsFolder(), { recursive: true });
    mkdirSync(join(folder, 'theirs/node_modules'), { recursive: true });
    writeFileSync(join(folder, 'theirs/files.json'), '{"files.json":18}');
    symlinkSync(join(folder, 'theirs'), placeOf(part));
    expect(isHere(other.part)).toBe(false);
    await installPart('tiny', { part });
    expect(lstatSync(placeOf(part)).isDirectory()).toBe(true);
    expect(readdirSync(join(folder, 'theirs'))).toEqual(['files.json', 'node_modules']);
  });
});

// Last, because it loads modules anew.
const npmRan = () => existsSync(join(folder, 'npm-ran'));
const reasonOf = (work: () => Promise<void>) =>
  work().then(
    () => '',
    (error: Error) => error.message,
  );

/** Answers in turn; counts questions, and how many were open at once. */
function door(answers: readonly boolean[]) {
  const asked: string[] = [];
  let [open, most] = [0, 0];
  const opened: PartsDoor = {
    async ask({ name }) {
      asked.push(name);
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 20));
      open--;
      return answers[asked.length - 1] ?? false;
    },
    say() {},
  };
  return { opened, asked, most: () => most };
}

describe('a part that is missing', () => {
  let parts: typeof import('../../../src/parts/consent.js');
  beforeEach(async () => {
    vi.stubEnv('ANYVMAF_INSTALL', '');
    usingNpm(`writeFileSync(${JSON.stringify(join(folder, 'npm-ran'))}, '');`);
    // It remembers answers.
    vi.resetModules();
    parts = await import('../../../src/parts/consent.js');
  });

  it('is an error in a program that has nobody to ask, with what to install as data', async () => {
    const error = await parts.obtainPart('tiny').catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(
      /the package onnxruntime-web 1\.30\.0 \(.* MB to fetch\), which runs tiny models .*, is not installed; run npm install onnxruntime-web@1\.30\.0\.$/,
    );
    expect((error as AnyvmafError).objections?.[0]?.hints).toEqual([
      { purpose: 'install', part: 'tiny', packages: 'onnxruntime-web@1.30.0' },
    ]);
    expect(npmRan()).toBe(false);
  });

  it('is asked for once, also by several at the same time, and a no holds', async () => {
    const { opened, asked } = door([false]);
    parts.openPartsDoor(opened);
    const all = await Promise.all([1, 2, 3].map(() => reasonOf(() => parts.obtainPart('decoder'))));
    for (const message of all) expect(message).toContain('@ffmpeg/core 0.12.10');
    expect(await reasonOf(() => parts.obtainPart('decoder'))).toContain('is not installed');
    expect(asked).toEqual(['decoder']);
    expect(npmRan()).toBe(false);
  });

  it('is asked for after another question has been answered', async () => {
    const { opened, asked, most } = door([false, false]);
    parts.openPartsDoor(opened);
    await Promise.all([
      reasonOf(() => parts.obtainPart('decoder')),
      reasonOf(() => parts.obtainPart('tiny')),
    ]);
    expect(asked).toEqual(['decoder', 'tiny']);
    expect(most()).toBe(1);
  });

  it('is fetched after a yes, and tried again after a failure', async () => {
    const { opened, asked } = door([true, true]);
    parts.openPartsDoor(opened);
    expect(await reasonOf(() => parts.obtainPart('tiny'))).toContain('left no package');
    expect(npmRan()).toBe(true);
    expect(await reasonOf(() => parts.obtainPart('tiny'))).toContain('left no package');
    expect(asked).toEqual(['tiny', 'tiny']);
  });

  it('is not asked for where that is set', async () => {
    const { opened, asked } = door([true]);
    parts.openPartsDoor(opened);
    vi.stubEnv('ANYVMAF_INSTALL', 'never');
    expect(await reasonOf(() => parts.obtainPart('tiny'))).toContain('is not installed');
    vi.stubEnv('ANYVMAF_INSTALL', 'maybe');
    expect(await reasonOf(() => parts.obtainPart('tiny'))).toBe(
      'ANYVMAF_INSTALL is "maybe", but it must be auto or never.',
    );
    expect(npmRan()).toBe(false);
    vi.stubEnv('ANYVMAF_INSTALL', 'auto');
    expect(await reasonOf(() => parts.obtainPart('tiny'))).toContain('left no package');
    vi.stubEnv('ANYVMAF_INSTALL', 'never');
    parts.agreeToParts();
    expect(await reasonOf(() => parts.obtainPart('tiny'))).toContain('left no package');
    expect(asked).toEqual([]);
  });

  it('is given up with the reason of the signal', async () => {
    const stop = new AbortController();
    parts.openPartsDoor({ ask: () => new Promise(() => {}), say() {} });
    const going = parts.obtainPart('tiny', stop.signal);
    stop.abort(new AnyvmafError('aborted', 'enough'));
    expect(await reasonOf(() => going)).toBe('enough');
  });

  it('is fetched on for the others when one gives up', async () => {
    vi.stubEnv('ANYVMAF_INSTALL', 'auto');
    const mark = JSON.stringify(join(folder, 'go'));
    usingNpm(`setInterval(() => { if (require('node:fs').existsSync(${mark})) process.exit(3); }, 50);`);
    const stop = new AbortController();
    const first = reasonOf(() => parts.obtainPart('tiny', stop.signal));
    const second = reasonOf(() => parts.obtainPart('tiny'));
    stop.abort(new AnyvmafError('aborted', 'enough'));
    expect(await first).toBe('enough');
    writeFileSync(join(folder, 'go'), '');
    expect(await second).toContain('npm ended with code 3');
  });
});
