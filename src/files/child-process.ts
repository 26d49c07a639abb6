/**
 * @module files/child-process
 * Runs installed programs as processes that never outlive their purpose or this process.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/** Milliseconds to wait for a killed process to exit. */
const KILL_TIME = 2000;

/** Characters of output kept at the start and at the end. */
const KEPT = 32768;

/** Killed when this process exits. */
const running = new Set<ChildProcess>();

/** Starts a program without a shell, in its own process group. */
export function startChild(
  path: string,
  args: readonly string[],
  { env = process.env, ...options }: Pick<SpawnOptions, 'stdio' | 'cwd' | 'env'>,
): ChildProcess {
  const child = spawn(path, args, {
    ...options,
    windowsHide: true,
    // Ctrl-C then reaches it through this process only, and a script is killed together with what it started.
    detached: process.platform !== 'win32',
    env: { ...env, AV_LOG_FORCE_NOCOLOR: '1', no_proxy: withoutProxy() },
  });
  if (running.size === 0) process.on('exit', killAll);
  running.add(child);
  if (child.pid !== undefined) guard('+', child.pid);
  const forget = () => {
    running.delete(child);
    if (child.pid !== undefined) guard('-', child.pid);
    if (running.size === 0) process.off('exit', killAll);
  };
  child.once('error', forget);
  child.once('exit', forget);
  return child;
}

/** Tracks process groups, and kills them when its input ends because this process is gone. */
const GUARD = `
trap '' HUP INT TERM
groups=
while read -r sign group; do
  left=
  for one in $groups; do [ "$one" = "$group" ] || left="$left $one"; done
  groups=$left
  [ "$sign" = + ] && groups="$groups $group"
done
for one in $groups; do kill -s KILL -- "-$one"; done
`;

let guardian: ChildProcess | undefined;

/** Adds or removes a group to kill if this process dies, even by SIGKILL. Does nothing without a POSIX shell. */
function guard(sign: '+' | '-', group: number): void {
  if (process.platform === 'win32') return;
  guardian ??= startGuardian();
  guardian.stdin?.write(`${sign} ${group}\n`);
}

function startGuardian(): ChildProcess {
  const started = spawn('/bin/sh', ['-c', GUARD], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  // Without a shell, children are still killed on any other exit of this process.
  started.on('error', () => {});
  started.on('exit', () => {
    guardian = undefined;
  });
  started.stdin?.on('error', () => {});
  started.unref();
  (started.stdin as Socket | null)?.unref();
  return started;
}

/** Excludes this machine, which serves files to programs, from the proxy. */
function withoutProxy(): string {
  const { no_proxy: known } = process.env;
  return known ? `${known},127.0.0.1` : '127.0.0.1';
}

/** Kills a process and what it has started. */
export function killGroup(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}

/**
 * Kills a process unless it has exited, and waits until it is gone.
 * @param ended settles then
 * @param streams its output, closed unread
 */
export async function endChild(
  child: ChildProcess,
  ended: Promise<unknown>,
  streams: readonly (Readable | null)[],
): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) killGroup(child);
  for (const stream of streams) stream?.destroy();
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, KILL_TIME);
  });
  await Promise.race([ended, waited]).catch(() => {});
  clearTimeout(timer);
}

/** Collects the start and the end of a stream's text; programs give their reason in one of the two. */
export function keepEnds(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (more: string) => {
    text += more;
    if (text.length > 4 * KEPT) text = `${text.slice(0, KEPT)}\n${text.slice(-KEPT)}`;
  });
  stream.on('error', () => {});
  return () => text;
}

function killAll(): void {
  for (const child of running) killGroup(child);
}
