/**
 * @module scripts/lib/redis-server
 * A private redis-server for a script: on a socket in a private folder, with an append-only file, so that it can be
 * restarted.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PROGRAM = '/usr/bin/redis-server';

export function hasRedis() {
  return existsSync(PROGRAM);
}

/** The socket's file is there a little earlier than the server listens. */
function accepts(socket) {
  return new Promise((resolve) => {
    const connection = connect(socket, () => resolve(true));
    connection.on('error', () => resolve(false)).on('connect', () => connection.destroy());
  });
}

export async function startRedis(folder) {
  const socket = join(folder, 'redis.sock');
  let child;
  const start = async () => {
    child = spawn(
      PROGRAM,
      [
        ...['--port', '0', '--unixsocket', socket, '--unixsocketperm', '700', '--dir', folder],
        ...['--appendonly', 'yes', '--save', '', '--loglevel', 'warning'],
      ],
      { stdio: 'ignore' },
    );
    for (let i = 0; i < 200 && !(await accepts(socket)); i++) await sleep(25);
  };
  const stop = async (signal = 'SIGTERM') => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  await start();
  return {
    socket,
    url: `redis+unix://${socket}`,
    start,
    stop,
    async restart(signal) {
      await stop(signal);
      await sleep(300);
      await start();
    },
  };
}
