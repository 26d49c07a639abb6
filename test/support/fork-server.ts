/**
 * @module test/support/fork-server
 * Puts programs that start in no time before ffmpeg and ffprobe in the PATH of all tests of a run; fork-server.c says how.
 * `ANYVMAF_FORK_SERVER=no` leaves them out.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { hasFfmpeg } from './encode.js';

const SOURCE = fileURLToPath(new URL('fork-server.c', import.meta.url));

/** Why there is none here, or '' if there can be one. */
export const noForkServer =
  process.platform !== 'linux'
    ? 'Linux only'
    : spawnSync('cc', ['--version']).status === 0
      ? ''
      : 'cc is not installed';

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  const { PATH } = process.env;
  // Projects of one run share one.
  if (!hasFfmpeg || process.env.ANYVMAF_FORK_SERVER) return undefined;
  if (noForkServer) {
    console.warn(`${noForkServer}: tests with ffmpeg take longer`);
    return undefined;
  }
  process.env.ANYVMAF_FORK_SERVER = 'runs';
  const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-fork-'));
  const servers = await Promise.all(
    ['ffmpeg', 'ffprobe'].map((tool) => {
      const program = execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim();
      return serve(folder, tool, program);
    }),
  );
  process.env.PATH = `${folder}${delimiter}${PATH}`;
  return async () => {
    process.env.PATH = PATH;
    delete process.env.ANYVMAF_FORK_SERVER;
    for (const server of servers) await stop(server);
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Makes `folder/tool`, which forks from a `program` that is loaded. */
export async function serve(folder: string, tool: string, program: string): Promise<ChildProcess> {
  const at = (name: string) => join(folder, name);
  const library = at(`${tool}.so`);
  compile('-shared', '-fPIC', '-DSERVER', '-o', library);
  compile('-static', '-o', at(tool));
  symlinkSync(program, at(`${tool}.program`));
  const socket = at(`${tool}.socket`);
  // With all symbols bound, forks share what they would look up.
  const env = { ...process.env, LD_PRELOAD: library, LD_BIND_NOW: '1', FORK_SERVER: socket };
  const server = spawn(program, [], { env, stdio: ['pipe', 'ignore', 'ignore'] });
  // A program that cannot be held ends at once, and `tool` starts it as usual.
  while (server.exitCode === null && !existsSync(socket)) await sleep(10);
  return server;
}

/** Ends a server and what it runs. */
export async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.stdin?.end();
  await ended;
}

function compile(...args: readonly string[]): void {
  execFileSync('cc', ['-O2', '-Wall', '-Wextra', '-Werror', ...args, SOURCE]);
}
