/**
 * @module test/node/support/fork-server
 * A fork behaves like the program itself.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testFolder } from '../../support/folders.js';
import { noForkServer, serve, stop } from '../../support/quick-starts.js';

const folder = testFolder();
const shell = join(folder, 'shell');

/** The output of a script, and how it ends. */
function run(script: string, options: object = {}) {
  const settings = { ...options, encoding: 'utf8' } as const;
  const { status, signal, stdout, stderr } = spawnSync(
    shell,
    ['-c', script, 'name', 'two words', ''],
    settings,
  );
  return { status, signal, stdout, stderr };
}

/** A script that runs until it is killed, its process, and its end. */
async function endless(script = '') {
  const loop = `${script} echo $$; while :; do sleep 0.01; done`;
  const child = spawn(shell, ['-c', loop], { stdio: ['ignore', 'pipe', 'ignore'] });
  const output = text(child.stdout);
  const exit = once(child, 'exit');
  const [first] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, pid: first.toString().trim(), output, exit };
}

/** Whether a process runs; a zombie does not. */
function runs(pid: string): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z');
  } catch {
    return false;
  }
}

describe.skipIf(noForkServer)(`a fork server ${noForkServer}`, () => {
  let server: ChildProcess;

  beforeAll(async () => {
    server = await serve(folder, 'shell', '/bin/sh');
  });
  afterAll(() => stop(server));

  const SCRIPT = 'printf "%s|" "$@" "$WORD" "$PWD" "$(umask)"; cat; cat <&3; echo said >&2; exit 7';
  const surroundings = () => {
    mkdirSync(join(folder, 'a b'), { recursive: true });
    writeFileSync(join(folder, 'third'), 'third');
    return {
      cwd: join(folder, 'a b'),
      env: { PATH: process.env.PATH, WORD: 'x=y' },
      input: 'given ',
      stdio: ['pipe', 'pipe', 'pipe', openSync(join(folder, 'third'), 'r')],
    };
  };

  it('ends at once where its socket has too long a name, and the program starts as usual', async () => {
    const long = join(folder, 'long'.repeat(30));
    mkdirSync(long);
    const { exitCode } = await serve(long, 'shell', '/bin/sh');
    const { stdout } = spawnSync(join(long, 'shell'), ['-c', 'echo started'], { encoding: 'utf8' });
    expect([exitCode, stdout]).toEqual([1, 'started\n']);
  });

  it('starts a program with what its caller gives it', () => {
    const mask = spawnSync('/bin/sh', ['-c', 'umask'], { encoding: 'utf8' }).stdout.trim();
    expect(run(SCRIPT, surroundings())).toEqual({
      status: 7,
      signal: null,
      stdout: `two words||x=y|${join(folder, 'a b')}|${mask}|given third`,
      stderr: 'said\n',
    });
    const state = 'kill -USR1 $$; ulimit -f; umask';
    const limited = ['-c', `trap "" USR1; ulimit -f 8; umask 77; "${shell}" -c '${state}'`];
    expect(spawnSync('/bin/sh', limited, { encoding: 'utf8' }).stdout).toBe('8\n0077\n');
  });

  it('forks a program that was loaded before', () => {
    expect(run('cut -d " " -f 4 /proc/$$/stat').stdout).toBe(`${server.pid}\n`);
  });

  it('forwards signals, and ends by the signal that ended the program', async () => {
    const { child, pid, output, exit } = await endless('trap "echo asked; exit 5" TERM;');
    child.kill('SIGTERM');
    expect(await exit).toEqual([5, null]);
    expect(await output).toBe(`${pid}\nasked\n`);
    for (const signal of ['SIGKILL', 'SIGTERM'])
      expect(run(`kill -${signal.slice(3)} $$`)).toMatchObject({ status: null, signal });
  });

  it('leaves no program of a killed caller', async () => {
    const { child, pid, exit } = await endless();
    expect(runs(pid)).toBe(true);
    child.kill('SIGKILL');
    await exit;
    await expect.poll(() => runs(pid)).toBe(false);
  });

  it('ends its programs when it is stopped; later ones start as usual', async () => {
    const { pid, exit } = await endless();
    await stop(server);
    expect(await exit).not.toEqual([0, null]);
    await expect.poll(() => runs(pid)).toBe(false);
    expect(run(SCRIPT, surroundings())).toMatchObject({ status: 7, stderr: 'said\n' });
  });
});
