/**
 * @module test/node/parts/install
 * Optional components: nothing is fetched unless somebody agreed, what is installed is what was pinned, and that is what the
 * lock file pins, what we develop with, and what the installed packages hold.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PART_NAMES, type PartName } from '../../../src/core/choices.js';
import { AnyvmafError } from '../../../src/core/errors.js';
import type { PartsDoor } from '../../../src/parts/consent.js';
import { installPart } from '../../../src/parts/install.js';
import {
  isHere,
  isKept,
  isOffered,
  PARTS,
  type Part,
  type PinnedPackage,
  partsFolder,
  placeOf,
  removePart,
} from '../../../src/parts/table.js';
import { built, root } from '../../support/built.js';
import { run } from '../../support/cli.js';
import { type StaticServer, serve } from '../../support/file-server.js';
import { ownFolder } from '../../support/folders.js';
import { delivering, type Entry, fakeNpm, integrityOf, tgz } from '../../support/programs.js';
import { refusalOf } from '../../support/refusals.js';

const at = ownFolder('parts');
beforeEach(() => void vi.stubEnv('ANYVMAF_CACHE', at('cache')));
afterEach(() => void vi.unstubAllEnvs());

/** Files of the package, by path. */
const FILES = {
  'package.json': '{"name":"@scope/one","version":"1.2.3"}',
  'dist/one.js': 'export const one = 1;',
  'dist/deep/two.js': 'two',
  'README.md': 'left out',
};

/** A part of one package. */
const partOf = (integrity: string, packed = 1): Part => {
  const pinned = { name: '@scope/one', version: '1.2.3', integrity, packed, licence: 'MIT' };
  const packages = [{ ...pinned, keep: ['package.json', 'dist/*.js'] }] as const;
  return { name: 'tiny', use: 'is for tests', size: 100, packages };
};
const part = partOf('sha512-unchecked');

const usingNpm = (body: string) => vi.stubEnv('PATH', fakeNpm(at(), body));
const deliver = (files: Readonly<Record<string, string>> = FILES) => usingNpm(delivery(files));
const delivery = (files: Readonly<Record<string, string>>) =>
  delivering(Object.fromEntries(Object.entries(files).map(([path, text]) => [`@scope/one/${path}`, text])));
const refusal = (refused: Part, options = {}) =>
  refusalOf('io', () => installPart('tiny', { part: refused, ...options }));

/** Expects the folder of parts to be empty. */
function expectNothing(): void {
  expect(existsSync(partsFolder()) ? readdirSync(partsFolder()) : []).toEqual([]);
}

describe('a part', () => {
  it('comes with the files that are kept, and is found', async () => {
    deliver();
    expect(isHere(part)).toBe(false);
    const heard: string[] = [];
    const options = { part, onPackage: ({ name }: { name: string }) => heard.push(name) };
    const place = at('cache/parts/tiny@1.2.3');
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

  it('that lost a file or a byte counts as missing, and is fetched again', async () => {
    deliver();
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

  it('is refused before anything is fetched where no package supports this system or npm is missing', async () => {
    deliver();
    const foreign = { ...part, system: 'plan9-x64' };
    const unsupported = 'The package @scope/one does not support plan9-x64.';
    expect(await refusalOf('backend', () => installPart('tiny', { part: foreign }))).toBe(unsupported);
    vi.stubEnv('PATH', at('none'));
    const own = process.execPath;
    try {
      process.execPath = at('none', 'node');
      const message =
        /^npm, which fetches packages, is neither on PATH nor beside \S+\/none\/node; install npm\.$/;
      expect(await refusal(part)).toMatch(message);
    } finally {
      process.execPath = own;
    }
    expectNothing();
  });

  it('is removed with all its versions, and nothing else is', async () => {
    deliver();
    await installPart('tiny', { part });
    mkdirSync(join(partsFolder(), 'tiny@0.0.1'));
    mkdirSync(join(partsFolder(), 'decoder@1.0.0'));
    const gone = ['tiny@0.0.1', 'tiny@1.2.3'].map((name) => join(partsFolder(), name));
    expect([...(await removePart('tiny'))].sort()).toEqual(gone);
    expect(readdirSync(partsFolder())).toEqual(['decoder@1.0.0']);
    expect(await removePart('tiny')).toEqual([]);
  });

  it('is fetched once where several want it at the same time', async () => {
    deliver();
    const all = await Promise.all([1, 2, 3, 4].map(() => installPart('tiny', { part })));
    for (const { place } of all) expect(place).toBe(placeOf(part));
    expect(isHere(part)).toBe(true);
    expect(readdirSync(partsFolder())).toEqual(['tiny@1.2.3']);
  });
});

it('a part that several processes want at the same time is there for each of them', async () => {
  deliver();
  const script = `
    const { installPart } = await import(${JSON.stringify(pathToFileURL(built('dist/parts/install.js')).href)});
    console.log((await installPart('tiny', { part: JSON.parse(process.argv[1]) })).place);`;
  const args = ['--input-type=module', '-e', script, JSON.stringify(part)];
  const all = await Promise.all([1, 2, 3].map(() => run(process.execPath, args)));
  for (const { code, stdout, stderr } of all)
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${placeOf(part)}\n`, stderr: '' });
  expect(isHere(part)).toBe(true);
  expect(readdirSync(partsFolder())).toEqual(['tiny@1.2.3']);
});

describe('by npm itself', () => {
  let registry: StaticServer | undefined;
  afterEach(() => registry?.stop());

  /** A registry on loopback with a tarball, and the part that is pinned to `pinned`. */
  async function published(entries: readonly Entry[], pinned?: Buffer): Promise<Part> {
    const bytes = tgz(entries);
    const dist = { tarball: '', integrity: integrityOf(bytes) };
    const name = '@scope/one';
    const document = { name, versions: { '1.2.3': { name, version: '1.2.3', dist } } };
    const extra: Record<string, string | Uint8Array> = { '/one.tgz': bytes };
    registry = await serve(at(), extra);
    dist.tarball = `${registry.origin}/one.tgz`;
    extra['/@scope/one'] = JSON.stringify(document);
    // The settings of this machine, as behind the proxy of a company.
    mkdirSync(at('machine/etc'), { recursive: true });
    writeFileSync(at('machine/etc/npmrc'), `registry=${registry.origin}`);
    vi.stubEnv('PREFIX', at('machine'));
    for (const variable of Object.keys(process.env))
      if (/^npm_config_(?:\w*registry|globalconfig|userconfig|prefix|\w*_prefix)$/i.test(variable))
        vi.stubEnv(variable, undefined);
    vi.stubEnv('HOME', at('machine'));
    vi.stubEnv('npm_config_cache', at('npm-cache'));
    // Settings of a user that must not matter.
    for (const one of ['dry_run', 'global', 'workspaces']) vi.stubEnv(`npm_config_${one}`, 'true');
    vi.stubEnv('npm_config_location', 'global');
    // A project around the folder of parts must not take part.
    writeFileSync(at('package.json'), '{"workspaces":["**"]}');
    return partOf(integrityOf(pinned ?? bytes));
  }

  const entries = (files: Readonly<Record<string, string>>): Entry[] =>
    Object.entries(files).map(([path, content]) => ({ name: `package/${path}`, content }));

  // Some versions of npm run only scripts that the lock file announces.
  it('is installed without scripts by every version of npm', async () => {
    usingNpm(`writeFileSync(${JSON.stringify(at('told'))}, rest.join(' ')); process.exit(1);`);
    await refusal(part);
    expect(readFileSync(at('told'), 'utf8')).toMatch(/^--ignore-scripts /);
  });

  it('is what was pinned, alone, and without its scripts', async () => {
    const ran = at('ran');
    const manifest = {
      ...{ name: '@scope/one', version: '1.2.3', dependencies: { other: '^1.0.0' }, bin: 'dist/one.js' },
      scripts: { install: `touch ${ran}`, postinstall: `touch ${ran}` },
    };
    const scripted = await published(entries({ ...FILES, 'package.json': JSON.stringify(manifest) }));
    const { place } = await installPart('tiny', { part: scripted });
    const found = readdirSync(place, { recursive: true, withFileTypes: true });
    const files = found.filter((entry) => entry.isFile()).map(({ name }) => name);
    expect(files.sort()).toEqual(['files.json', 'one.js', 'package.json']);
    expect(existsSync(ran)).toBe(false);
  });

  it('is refused if it is another file', async () => {
    const other = await published(entries({ ...FILES, 'dist/evil.js': 'evil' }), tgz(entries(FILES)));
    const says = /^@scope\/one@1\.2\.3 cannot be installed: npm says: .*[Ii]ntegrity/;
    expect(await refusal(other)).toMatch(says);
    expectNothing();
  });

  it('brings nothing that leads out of it, even if that was pinned', async () => {
    const odd = await published([
      ...entries(FILES),
      { name: 'package/../../../../evil', content: 'evil' },
      { name: 'package/dist/link.js', type: '2', link: '/etc/passwd' },
    ]);
    await installPart('tiny', { part: odd }).catch(() => {});
    const found = readdirSync(at(), { recursive: true, withFileTypes: true });
    expect(found.filter((entry) => entry.isSymbolicLink()).map(({ name }) => name)).toEqual([]);
    expect(found.filter(({ name }) => name === 'evil')).toEqual([]);
  });
});

it('a package without what is needed is refused', async () => {
  deliver({ 'package.json': '{}', 'dist/deep/two.js': 'two' });
  expect(await refusal(part)).toBe('The package @scope/one@1.2.3 lacks expected files: dist/*.js.');
  usingNpm(`${delivery({ 'package.json': '{}' })}
    mkdirSync(join(folder, 'node_modules/@scope/one/dist'));
    symlinkSync('/etc/passwd', join(folder, 'node_modules/@scope/one/dist/one.js'));`);
  expect(await refusal(part)).toContain('lacks expected files: dist/*.js.');
  expectNothing();
});

describe('npm', () => {
  it('that prints rubbish and succeeds is not believed', async () => {
    usingNpm(`process.stdout.write('{"filename":"/etc/passwd"}\\u001b[2J'.repeat(100000));`);
    expect(await refusal(part)).toContain('npm succeeded but installed nothing');
    expectNothing();
  });

  it('that fails is quoted, in one printable line', async () => {
    usingNpm(
      `console.error('npm error code E404\\nnpm error 404 Not Found - \\u001b[31m@scope/one\\nnpm error A complete log of this run can be found in: x');
       process.exit(1);`,
    );
    const quoted = 'npm says: 404 Not Found - \\x1b[31m@scope/one; check the network';
    expect(await refusal(part)).toContain(`@scope/one@1.2.3 cannot be installed: ${quoted}`);
    usingNpm(`process.kill(process.pid, 'SIGKILL');`);
    expect(await refusal(part)).toContain('npm was ended by SIGKILL');
    expectNothing();
  });

  it('knows the exceptions from the proxy that the machine names in capitals', async () => {
    vi.stubEnv('no_proxy', undefined);
    vi.stubEnv('NO_PROXY', '.corp.local');
    usingNpm(`writeFileSync(${JSON.stringify(at('told'))}, process.env.no_proxy); process.exit(1);`);
    await refusal(part);
    expect(readFileSync(at('told'), 'utf8')).toBe('.corp.local,127.0.0.1');
  });

  it('that hangs is ended, with what it started', async () => {
    const pids = at('pids');
    usingNpm(
      `const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
       writeFileSync(${JSON.stringify(pids)}, process.pid + ' ' + child.pid);
       setInterval(() => {}, 1000);`,
    );
    expect(await refusal(part, { timeout: 4000 })).toContain('npm did not finish within 4 s');
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

  it('is ended when the caller gives up, with the reason of the caller', async () => {
    usingNpm('setInterval(() => {}, 1000);');
    const stop = new AbortController();
    const reason = new Error('enough');
    const going = installPart('tiny', { part: part, signal: stop.signal });
    await expect.poll(() => existsSync(partsFolder()) && readdirSync(partsFolder()).length).toBe(1);
    stop.abort(reason);
    await expect(going).rejects.toBe(reason);
    expectNothing();
  });

  it('does not see workspaces, and runs in a private folder', async () => {
    const seen = at('seen.json');
    vi.stubEnv('npm_config_workspace', 'x');
    vi.stubEnv('NPM_CONFIG_WORKSPACES', 'true');
    usingNpm(`${delivery(FILES)}
      const names = Object.keys(process.env).filter((name) => /workspace/i.test(name));
      const mode = require('node:fs').statSync(join(folder, '..')).mode & 0o777;
      writeFileSync(${JSON.stringify(seen)}, JSON.stringify({ names, mode }));`);
    await installPart('tiny', { part });
    expect(JSON.parse(readFileSync(seen, 'utf8'))).toEqual({ names: [], mode: 0o700 });
  });
});

describe('the cache', () => {
  it('that cannot be written is named, with a way out', async () => {
    writeFileSync(at('file'), '');
    vi.stubEnv('ANYVMAF_CACHE', at('file'));
    deliver();
    expect(await refusal(part)).toMatch(
      /^Cannot write to .*file\/parts: a part of its path is a file, not a folder; make it writable, or name another folder with ANYVMAF_CACHE\.$/,
    );
  });

  it.skipIf(process.getuid?.() === 0)('that may only be read is named (not as root)', async () => {
    mkdirSync(at('cache/parts'), { recursive: true, mode: 0o500 });
    expect(await refusal(part)).toContain('permission denied; make it writable');
  });

  it('may be a link to another folder', async () => {
    deliver();
    mkdirSync(at('elsewhere'));
    symlinkSync(at('elsewhere'), at('cache'));
    await installPart('tiny', { part });
    expect(isHere(part)).toBe(true);
    expect(readdirSync(at('elsewhere/parts'))).toEqual(['tiny@1.2.3']);
  });

  it('is not written through a link in the place of a part', async () => {
    deliver();
    mkdirSync(partsFolder(), { recursive: true });
    mkdirSync(at('theirs/node_modules'), { recursive: true });
    writeFileSync(at('theirs/files.json'), '{"files.json":18}');
    symlinkSync(at('theirs'), placeOf(part));
    expect(isHere(part)).toBe(false);
    await installPart('tiny', { part });
    expect(lstatSync(placeOf(part)).isDirectory()).toBe(true);
    expect(readdirSync(at('theirs'))).toEqual(['files.json', 'node_modules']);
  });
});

// Last, because it loads modules again.
const npmRan = () => existsSync(at('npm-ran'));
const messageOf = (error: Error) => error.message;
const reasonOf = (work: () => Promise<void>) => work().then(() => '', messageOf);

/** Answers in turn; counts the questions and the most that were open at once. */
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
    usingNpm(`writeFileSync(${JSON.stringify(at('npm-ran'))}, '');`);
    // It remembers answers.
    vi.resetModules();
    parts = await import('../../../src/parts/consent.js');
  });

  const refusedPart = (name: PartName, signal?: AbortSignal) =>
    reasonOf(() => parts.obtainPart(name, signal));

  it('is an error with a hint in a program that cannot ask', async () => {
    const error = await parts.obtainPart('tiny').catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(
      /the package onnxruntime-web 1\.30\.0 \(.* MB to fetch\), which runs tiny models .*, is not installed; run npm install onnxruntime-web@1\.30\.0\.$/,
    );
    const hint = { purpose: 'install', part: 'tiny', packages: 'onnxruntime-web@1.30.0' };
    expect((error as AnyvmafError).objections?.[0]?.hints).toEqual([hint]);
    expect(npmRan()).toBe(false);
  });

  it('is asked for once, also by several at the same time, and a no is remembered', async () => {
    const { opened, asked } = door([false]);
    parts.openPartsDoor(opened);
    const all = await Promise.all([1, 2, 3].map(() => refusedPart('decoder')));
    for (const message of all) expect(message).toContain('@ffmpeg/core 0.12.10');
    expect(await refusedPart('decoder')).toContain('is not installed');
    expect(asked).toEqual(['decoder']);
    expect(npmRan()).toBe(false);
  });

  it('is asked for after another question has been answered', async () => {
    const { opened, asked, most } = door([false, false]);
    parts.openPartsDoor(opened);
    await Promise.all((['decoder', 'tiny'] as const).map((name) => refusedPart(name)));
    expect(asked).toEqual(['decoder', 'tiny']);
    expect(most()).toBe(1);
  });

  it('is fetched after a yes, and tried again after a failure', async () => {
    const { opened, asked } = door([true, true]);
    parts.openPartsDoor(opened);
    expect(await refusedPart('tiny')).toContain('installed nothing');
    expect(npmRan()).toBe(true);
    expect(await refusedPart('tiny')).toContain('installed nothing');
    expect(asked).toEqual(['tiny', 'tiny']);
  });

  it('is not asked for where ANYVMAF_INSTALL says so', async () => {
    const { opened, asked } = door([true]);
    parts.openPartsDoor(opened);
    vi.stubEnv('ANYVMAF_INSTALL', 'never');
    expect(await refusedPart('tiny')).toContain('is not installed');
    vi.stubEnv('ANYVMAF_INSTALL', 'maybe');
    expect(await refusedPart('tiny')).toBe('ANYVMAF_INSTALL is "maybe", but it must be auto or never.');
    expect(npmRan()).toBe(false);
    vi.stubEnv('ANYVMAF_INSTALL', 'auto');
    expect(await refusedPart('tiny')).toContain('installed nothing');
    vi.stubEnv('ANYVMAF_INSTALL', 'never');
    parts.agreeToParts();
    expect(await refusedPart('tiny')).toContain('installed nothing');
    expect(asked).toEqual([]);
  });

  it('is given up with the reason of a signal', async () => {
    const stop = new AbortController();
    parts.openPartsDoor({ ask: () => new Promise(() => {}), say() {} });
    const going = parts.obtainPart('tiny', stop.signal);
    stop.abort(new AnyvmafError('aborted', 'enough'));
    expect(await reasonOf(() => going)).toBe('enough');
  });

  it('is still fetched for the others when one gives up', async () => {
    vi.stubEnv('ANYVMAF_INSTALL', 'auto');
    const mark = JSON.stringify(at('go'));
    usingNpm(`setInterval(() => { if (require('node:fs').existsSync(${mark})) process.exit(3); }, 50);`);
    const stop = new AbortController();
    const first = refusedPart('tiny', stop.signal);
    const second = refusedPart('tiny');
    stop.abort(new AnyvmafError('aborted', 'enough'));
    expect(await first).toBe('enough');
    writeFileSync(at('go'), '');
    expect(await second).toContain('npm exited with code 3');
  });
});

const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const { packages: locked } = read('package-lock.json') as {
  packages: Record<string, { version: string; integrity?: string; license?: string }>;
};
const manifest = read('package.json') as Record<string, Record<string, string>>;
const parts = PART_NAMES.map((name) => PARTS[name]);
const packages = parts.flatMap((part) => part.packages);

/** Files of an installed package that are kept, by path, with their lengths. */
function kept(one: PinnedPackage): Record<string, number> {
  const folder = join(root, 'node_modules', one.name);
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = all.filter((path) => isKept(one, path) && statSync(join(folder, path)).isFile());
  return Object.fromEntries(files.map((path) => [path, statSync(join(folder, path)).size]));
}

it.each(packages.map((one) => [one.name, one] as const))(
  '%s is pinned as in package-lock.json and as it is installed',
  (name, one) => {
    const { version, integrity, license } = locked[`node_modules/${name}`] ?? {};
    expect(one).toMatchObject({ version, integrity, licence: license });
    expect(read(`node_modules/${name}/package.json`).version).toBe(one.version);
  },
);

it('what is pinned is a development dependency, and an optional peer', () => {
  for (const { packages } of parts) {
    const [{ name, version }] = packages;
    expect(manifest.devDependencies?.[name]?.replace(/^[~^]/, ''), name).toBe(version);
    expect(manifest.peerDependencies?.[name], name).toBeDefined();
    expect(manifest.peerDependenciesMeta?.[name], name).toEqual({ optional: true });
  }
  expect(manifest.optionalDependencies).toBeUndefined();
  const { dependencies } = read('node_modules/onnxruntime-web/package.json');
  expect(dependencies['onnxruntime-common']).toBe(PARTS.tiny.packages[1]?.version);
});

it('every file that is kept is in the package, and their lengths add up to the stated size', () => {
  for (const part of parts.filter(isOffered)) {
    let size = 0;
    for (const one of part.packages) {
      const files = kept(one);
      for (const pattern of one.keep) {
        const found = Object.keys(files).some((path) => isKept({ ...one, keep: [pattern] }, path));
        expect(found, pattern).toBe(true);
      }
      for (const length of Object.values(files)) size += length;
    }
    expect(size, part.name).toBe(part.size);
  }
});

it('patterns match files of one folder', () => {
  const one = { ...PARTS.tiny.packages[0], keep: ['a.js', 'dist/*.js', 'lib/*'] };
  const paths = 'a.js dist/b.js lib/c dist/.js dist/x/y.js lib/x/y xa.js dist/b.js.map lib/'.split(' ');
  expect(paths.filter((path) => isKept(one, path))).toEqual(['a.js', 'dist/b.js', 'lib/c']);
});
