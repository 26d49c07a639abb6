/**
 * @module parts/npm
 * Has npm fetch the tarball of a package: from the registry, through the proxy and with the rights that this user's npm is
 * set up with.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { onAbort } from '../core/abort.js';
import { AnyvmafError } from '../core/errors.js';
import { clause, shown } from '../core/printable.js';
import { endChild, startChild } from '../files/child-process.js';

/** Milliseconds that npm gets for a package: 50 MB take three minutes over a line of 2 Mbit/s. */
const TIMEOUT = 10 * 60_000;

/** Characters of what npm says that are kept. */
const SAID = 16_384;

/** How npm is run. */
export interface NpmOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds until it is ended. */
  readonly timeout?: number;
}

/**
 * Fetches a tarball.
 * @param spec such as `webgpu@0.6.2`
 * @param folder an empty one, for the tarball
 * @returns the path of the tarball, whose content nobody has checked
 * @throws {AnyvmafError} `io` where there is no npm, it fails, or takes too long; the signal's reason
 */
export async function fetchTarball(spec: string, folder: string, options: NpmOptions = {}): Promise<string> {
  const { signal, timeout = TIMEOUT } = options;
  signal?.throwIfAborted();
  const [program, ...first] = npmCommand();
  const args = ['pack', spec, '--pack-destination', folder, '--ignore-scripts', '--prefer-offline'];
  const child = startChild(program, [...first, ...args, '--no-dry-run', '--no-update-notifier'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // A project around the caller's folder has no say.
    cwd: folder,
    env: withoutWorkspaces(process.env),
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-SAID);
  });
  const ended = new Promise<string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, by) => resolve(code === 0 ? null : failure(said, code, by)));
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
  if (late) throw npmError(spec, `npm has not ended after ${timeout / 1000} s`);
  if (problem !== null) throw npmError(spec, problem);
  return theTarball(spec, folder);
}

/** The only tarball in a folder. */
async function theTarball(spec: string, folder: string): Promise<string> {
  const [name, ...others] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
  const path = join(folder, name ?? '');
  const whole = name !== undefined && others.length === 0 && (await lstat(path)).isFile();
  if (!whole) throw npmError(spec, 'npm ended well but left no package');
  return path;
}

/** npm as a program and its first arguments: the one on PATH, else the one that came with Node.js. */
function npmCommand(): readonly [string, ...string[]] {
  const windows = process.platform === 'win32';
  const beside = dirname(process.execPath);
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter(isAbsolute), beside];
  for (const folder of folders) {
    if (!windows && isProgram(join(folder, 'npm'))) return [join(folder, 'npm')];
    // npm.cmd needs a shell, which reads more into arguments than is meant.
    const script = join(folder, 'node_modules', 'npm', 'bin', 'npm-cli.js');
    if (windows && existsSync(script)) return [process.execPath, script];
  }
  const script = join(beside, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js');
  if (existsSync(script)) return [process.execPath, script];
  throw new AnyvmafError(
    'io',
    `npm is neither on PATH nor beside ${shown(process.execPath)}, but it is what fetches packages; install npm.`,
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

/** What npm and npx pass on to what they run, without what would make npm pack something else. */
function withoutWorkspaces(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^npm_config_(workspaces?|include_workspace_root)$/i.test(name)),
  );
}

/** Why npm failed, in its own words as far as there are any. */
function failure(said: string, code: number | null, by: string | null): string {
  const lines = said
    .split('\n')
    .map((line) => /^npm (?:error|ERR!) (?!code |errno |A complete log)(.+)$/.exec(line)?.[1] ?? '')
    .filter((line) => line.trim() !== '' && !line.includes('_logs'));
  const words = lines.slice(0, 2).join(' ');
  const how = by === null ? `with code ${code}` : `by ${by}`;
  return words === '' ? `npm ended ${how}` : `npm says: ${shown(clause(words))}`;
}

function npmError(spec: string, why: string): AnyvmafError {
  return new AnyvmafError('io', `${spec} cannot be fetched: ${why}`, {
    hints: ['check the network and what npm is set up with (npm config list)'],
  });
}
