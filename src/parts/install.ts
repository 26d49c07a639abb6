/**
 * @module parts/install
 * Installs a part atomically into the user's cache, with the user's npm settings: `npm ci` with a lock file that pins the
 * content of each package. Then keeps only the files in use.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { onAbort } from '../core/abort.js';
import type { PartName } from '../core/choices.js';
import { AnyvmafError, backendError, ioError } from '../core/errors.js';
import { clause, shown } from '../core/printable.js';
import { endChild, startChild } from '../files/child-process.js';
import { removeScratch } from '../files/folders.js';
import {
  isHere,
  isKept,
  isOffered,
  LIST,
  PARTS,
  type Part,
  type PinnedPackage,
  partsFolder,
  placeOf,
  specOf,
  unwritable,
  workFolder,
} from './table.js';

export interface InstalledPart {
  readonly name: PartName;
  readonly place: string;
  /** False if it was already installed. */
  readonly fetched: boolean;
}

export interface InstallOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds until npm is killed. */
  readonly timeout?: number;
  readonly onPackage?: ((pinned: PinnedPackage) => void) | undefined;
  /** Replaces the pinned part, in tests. */
  readonly part?: Part;
}

/**
 * Installs a part unless it is complete. Safe in several processes at once.
 * @throws {AnyvmafError} `io` if npm is missing or fails (also if a package is not the pinned one), or the cache
 * is not writable; `backend` if the part does not support this system; the signal's reason
 */
export async function installPart(name: PartName, options: InstallOptions = {}): Promise<InstalledPart> {
  const { part = PARTS[name], signal, onPackage } = options;
  const place = placeOf(part);
  if (isHere(part)) return { name, place, fetched: false };
  if (!isOffered(part))
    throw backendError(`The package ${part.packages[0].name} does not support ${part.system}.`);
  signal?.throwIfAborted();
  const work = await workFolder();
  try {
    const [installed, content] = [join(work, 'installed'), join(work, 'content')];
    for (const pinned of part.packages) onPackage?.(pinned);
    await mkdir(installed);
    await installPackages(part.packages, installed, options);
    const sizes: Record<string, number> = {};
    for (const pinned of part.packages) Object.assign(sizes, await keepUsed(pinned, installed, content));
    await writeFile(join(content, LIST), JSON.stringify(sizes));
    await putInPlace(content, part, work);
  } catch (cause) {
    if (cause instanceof AnyvmafError || signal?.aborted) throw cause;
    throw unwritable(partsFolder(), cause);
  } finally {
    await removeScratch(work);
  }
  return { name, place, fetched: true };
}

async function putInPlace(content: string, part: Part, work: string): Promise<void> {
  const place = placeOf(part);
  for (let tries = 1; ; tries++) {
    try {
      return await rename(content, place);
    } catch (error) {
      // Another process was faster.
      if (isHere(part)) return;
      if (tries === 3) throw error;
    }
    // The present folder is damaged, or a link.
    await rename(place, join(work, `old-${tries}`)).catch(() => {});
  }
}

/** Moves the kept files of a package. @returns their lengths by path */
async function keepUsed(pinned: PinnedPackage, from: string, to: string): Promise<Record<string, number>> {
  const own = join('node_modules', pinned.name);
  const found = await readdir(join(from, own), { recursive: true, withFileTypes: true });
  const files = found
    .filter((entry) => entry.isFile())
    .map((entry) => relative(join(from, own), join(entry.parentPath, entry.name)).split(sep).join('/'));
  const missing = pinned.keep.filter(
    (pattern) => !files.some((path) => isKept({ ...pinned, keep: [pattern] }, path)),
  );
  if (missing.length > 0)
    throw ioError(`The package ${specOf(pinned)} lacks expected files: ${missing.join(', ')}.`);
  const sizes: Record<string, number> = {};
  for (const file of files.filter((path) => isKept(pinned, path))) {
    const path = join(own, file);
    await mkdir(dirname(join(to, path)), { recursive: true });
    await rename(join(from, path), join(to, path));
    sizes[path] = (await stat(join(to, path))).size;
  }
  return sizes;
}

/** Milliseconds for npm to install a part: 50 MB take three minutes at 2 Mbit/s. */
const TIMEOUT = 10 * 60_000;

/** Characters of npm's messages to keep. */
const KEPT_CHARACTERS = 16_384;

/** Overrides the user's npm settings. */
const OPTIONS = (
  '--ignore-scripts --no-bin-links --no-audit --no-fund --no-update-notifier --prefer-offline ' +
  '--no-dry-run --no-global --location=project --no-workspaces --install-strategy=hoisted --package-lock --omit=dev'
).split(' ');

/** Installs packages without scripts and dependencies. @throws {AnyvmafError} `io` if npm fails; the signal's reason */
async function installPackages(
  packages: readonly PinnedPackage[],
  folder: string,
  { signal, timeout = TIMEOUT }: InstallOptions,
): Promise<void> {
  signal?.throwIfAborted();
  await writeLock(packages, folder);
  const [program, ...first] = npmCommand();
  // Not --prefix: with it, npm ignores its machine-wide settings (registry, proxy, certificates).
  const child = startChild(program, [...first, 'ci', ...OPTIONS], {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: folder,
    env: withoutWorkspaces(process.env),
  });
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-KEPT_CHARACTERS);
  });
  const ended = new Promise<string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, by) => resolve(code === 0 ? null : failure(output, code, by)));
  });
  const end = () => void endChild(child, ended, [child.stderr]);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    end();
  }, timeout);
  const forget = onAbort(signal, end);
  const problem = await ended.finally(() => {
    clearTimeout(timer);
    forget();
  });
  signal?.throwIfAborted();
  const specs = packages.map(specOf);
  if (late) throw npmError(specs, `npm did not finish within ${timeout / 1000} s`);
  if (problem !== null) throw npmError(specs, problem);
  const missing = specs.filter((_, i) => !existsSync(join(folder, 'node_modules', packages[i]?.name ?? '')));
  if (missing.length > 0) throw npmError(missing, 'npm succeeded but installed nothing');
}

/** The lock file lists no transitive dependencies, so npm installs none. */
async function writeLock(packages: readonly PinnedPackage[], folder: string): Promise<void> {
  const dependencies = Object.fromEntries(packages.map(({ name, version }) => [name, version]));
  const locked = packages.map(({ name, version, integrity }) => [
    `node_modules/${name}`,
    { version, integrity },
  ]);
  const lock = { lockfileVersion: 3, packages: { '': { dependencies }, ...Object.fromEntries(locked) } };
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
}

/** Program and first arguments of npm: the one on PATH, else the one beside Node.js. */
function npmCommand(): readonly [string, ...string[]] {
  const windows = process.platform === 'win32';
  const beside = dirname(process.execPath);
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter(isAbsolute), beside];
  for (const folder of folders) {
    if (!windows && isProgram(join(folder, 'npm'))) return [join(folder, 'npm')];
    // Not npm.cmd: it needs a shell, which would interpret arguments.
    const script = join(folder, 'node_modules', 'npm', 'bin', 'npm-cli.js');
    if (windows && existsSync(script)) return [process.execPath, script];
  }
  const script = join(beside, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js');
  if (existsSync(script)) return [process.execPath, script];
  throw ioError(
    `npm, which fetches packages, is neither on PATH nor beside ${shown(process.execPath)}; install npm.`,
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Drops variables that npm and npx set for their children, which would make npm install into another project. */
function withoutWorkspaces(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^npm_config_(workspaces?|include_workspace_root)$/i.test(name)),
  );
}

function failure(output: string, code: number | null, by: string | null): string {
  const lines = output
    .split('\n')
    .map((line) => /^npm (?:error|ERR!) (?!code |errno |A complete log)(.+)$/.exec(line)?.[1] ?? '')
    .filter((line) => line.trim() !== '' && !line.includes('_logs'));
  const words = lines.slice(0, 2).join(' ');
  const how = by === null ? `exited with code ${code}` : `was ended by ${by}`;
  return words === '' ? `npm ${how}` : `npm says: ${shown(clause(words))}`;
}

function npmError(specs: readonly string[], why: string): AnyvmafError {
  return ioError(`${specs.join(', ')} cannot be installed: ${why}`, {
    hints: ['check the network and the configuration of npm (npm config list)'],
  });
}
