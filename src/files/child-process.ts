/**
 * @module files/child-process
 * Runs installed programs as processes that never outlive their purpose or this process.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/** Milliseconds to wait for a killed process to exit. */
const KILL_TIME = 2000;

/** Characters to keep from the start and from the end of the output. */
const KEPT_CHARACTERS = 32768;

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
    // Ctrl-C then reaches it only through this process, and killing a script also kills its children.
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

/** Tracks process groups; kills them when its input ends, as it does when this process dies. */
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

/** Adds or removes a group to kill if this process dies, even by SIGKILL. No-op without a POSIX shell. */
function guard(sign: '+' | '-', group: number): void {
  if (process.platform === 'win32') return;
  guardian ??= startGuardian();
  guardian.stdin?.write(`${sign} ${group}\n`);
}

function startGuardian(): ChildProcess {
  const started = spawn('/bin/sh', ['-c', GUARD], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  // Without a shell, a normal exit of this process still kills its children.
  started.on('error', () => {});
  started.on('exit', () => {
    guardian = undefined;
  });
  started.stdin?.on('error', () => {});
  started.unref();
  (started.stdin as Socket | null)?.unref();
  return started;
}

/** Excludes this machine from the proxy: it serves files to programs. */
function withoutProxy(): string {
  // npm reads both spellings, of which the last one counts.
  const known = process.env.no_proxy || process.env.NO_PROXY;
  return known ? `${known},127.0.0.1` : '127.0.0.1';
}

export function killGroup(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}

/** Kills a process and waits for its end, unless it has exited. @param ended settles then @param streams to close */
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

/** Collects the start and end of a stream's text; programs state the cause of a failure in one of them. */
export function keepEnds(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (more: string) => {
    text += more;
    if (text.length > 4 * KEPT_CHARACTERS)
      text = `${text.slice(0, KEPT_CHARACTERS)}\n${text.slice(-KEPT_CHARACTERS)}`;
  });
  stream.on('error', () => {});
  return () => text;
}

function killAll(): void {
  for (const child of running) killGroup(child);
}
