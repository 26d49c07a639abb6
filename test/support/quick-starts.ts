/**
 * @module test/support/quick-starts
 * Speeds up process starts of a test run: ffmpeg and ffprobe fork from loaded ones (fork-server.c), and test processes start
 * programs without copying themselves (vfork.c). `ANYVMAF_QUICK_STARTS=no` turns both off.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { hasFfmpeg } from './encode.js';

/** Why a fork server cannot run here, or ''. */
export const noForkServer =
  process.platform !== 'linux'
    ? 'Linux only'
    : spawnSync('cc', ['-static', '-o', '/dev/null', pathOf('fork-server.c')]).status === 0
      ? ''
      : 'cc does not build it';

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  const { PATH } = process.env;
  // The projects of one run share them.
  if (!hasFfmpeg || process.env.ANYVMAF_QUICK_STARTS) return undefined;
  if (noForkServer) {
    console.warn(`${noForkServer}: tests with ffmpeg take longer`);
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-fork-'));
  process.env.ANYVMAF_QUICK_STARTS = folder;
  const servers = await Promise.all(
    ['ffmpeg', 'ffprobe'].map((tool) => {
      const program = execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim();
      return serve(folder, tool, program);
    }),
  );
  process.env.PATH = `${folder}${delimiter}${PATH}`;
  if (process.arch === 'x64') {
    const library = join(folder, 'vfork.so');
    compile('vfork.c', '-shared', '-fPIC', '-o', library);
    process.env.LD_PRELOAD = library;
  }
  return async () => {
    process.env.PATH = PATH;
    delete process.env.LD_PRELOAD;
    delete process.env.ANYVMAF_QUICK_STARTS;
    for (const server of servers) await stop(server);
  };
}

/** `PATH` with the installed programs, for tests that kill them: a fork outlives the process that stands for it for a moment. */
export function pathOfInstalled(): string {
  const { PATH = '', ANYVMAF_QUICK_STARTS: forks } = process.env;
  return PATH.split(delimiter)
    .filter((folder) => folder !== forks)
    .join(delimiter);
}

/** Makes `folder/tool`, which forks from a loaded `program`. */
export async function serve(folder: string, tool: string, program: string): Promise<ChildProcess> {
  const at = (name: string) => join(folder, name);
  const library = at(`${tool}.so`);
  compile('fork-server.c', '-shared', '-fPIC', '-DSERVER', '-o', library);
  compile('fork-server.c', '-static', '-o', at(tool));
  symlinkSync(program, at(`${tool}.program`));
  const socket = at(`${tool}.socket`);
  // Bound symbols are shared by forks, which would look them up otherwise.
  const env = { ...process.env, LD_PRELOAD: library, LD_BIND_NOW: '1', FORK_SERVER: socket };
  const server = spawn(program, [], { env, stdio: ['pipe', 'ignore', 'ignore'] });
  // If the program cannot be held it ends at once, and `tool` starts it as usual.
  while (server.exitCode === null && server.signalCode === null && !existsSync(socket)) await sleep(10);
  return server;
}

/** Ends a server and its programs. */
export async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.stdin?.end();
  await ended;
}

function compile(source: string, ...args: readonly string[]): void {
  execFileSync('cc', ['-O2', '-Wall', '-Wextra', ...args, pathOf(source)]);
}

function pathOf(source: string): string {
  return fileURLToPath(new URL(source, import.meta.url));
}
