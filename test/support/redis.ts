/**
 * @module test/support/redis
 * A real redis-server for tests, on a socket in a private folder.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { PROGRAM } from './cli.js';

const SERVER = '/usr/bin/redis-server';

/** Why tests of the queue cannot run here. */
export const redisIsAbsent = existsSync(SERVER) ? undefined : `needs ${SERVER}`;

export interface TestRedis extends AsyncDisposable {
  readonly folder: string;
  /** Address for --queue. */
  readonly url: string;
  readonly client: Redis;
  /** Kills the server and starts it again with its data. */
  restart(): Promise<void>;
}

/** @param args further arguments of the server */
export async function startRedis(args: readonly string[] = []): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-redis-'));
  const socket = join(folder, 'redis.sock');
  const own = ['--port', '0', '--unixsocket', socket, '--dir', folder, '--appendonly', 'yes', '--save', ''];
  const start = async () => {
    const started = spawn(SERVER, [...own, ...args], { stdio: 'ignore' });
    while (!(await accepts(socket)) && started.exitCode === null) await sleep(25);
    return started;
  };
  let child = await start();
  const client = new Redis(socket);
  // A server with a password refuses this client.
  client.on('error', () => {});
  return {
    folder,
    url: `redis+unix://${socket}`,
    client,
    restart: async () => {
      await ended(child, 'SIGKILL');
      rmSync(socket, { force: true });
      child = await start();
    },
    [Symbol.asyncDispose]: async () => {
      client.disconnect();
      await ended(child, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The socket's file is there a little earlier than the server listens. */
function accepts(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket, () => resolve(true));
    connection.on('error', () => resolve(false)).on('connect', () => connection.destroy());
  });
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const end = once(child, 'close');
  child.kill(signal);
  await end;
  return child.exitCode;
}

export interface TestWorker extends AsyncDisposable {
  readonly child: ChildProcess;
  said(): string;
  /** Waits until its output matches. */
  says(what: RegExp): Promise<RegExpExecArray>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts a worker and waits until it is ready. @param by a command line that runs another one */
export async function startWorker(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  by: readonly string[] = [],
): Promise<TestWorker> {
  const [program = '', ...rest] = [...by, process.execPath, PROGRAM, 'work', ...args];
  const child = spawn(program, rest, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (more) => {
    text += more;
  });
  const worker: TestWorker = {
    child,
    said: () => text,
    says: async (what) => {
      for (let i = 0; i < 1200; i++) {
        const found = what.exec(text);
        if (found) return found;
        if (child.exitCode !== null) break;
        await sleep(25);
      }
      throw new Error(`the worker did not say ${what}, but: ${text}`);
    },
    stop: (signal = 'SIGTERM') => ended(child, signal),
    [Symbol.asyncDispose]: async () => {
      await ended(child, 'SIGKILL');
    },
  };
  await worker.says(/worker \S+ of /);
  return worker;
}
