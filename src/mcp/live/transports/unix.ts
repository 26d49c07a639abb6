/**
 * @module mcp/live/transports/unix
 * A Unix socket of mode 0700 in a folder that only its owner may enter: whoever can open it may call.
 */
import { chmodSync, lstatSync, mkdirSync, type Stats, unlinkSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { dirname, resolve } from 'node:path';
import { AnyvmafError, usageError } from '../../../core/errors.js';
import { quoted } from '../../../core/printable.js';
import type { Hub } from '../hub.js';
import { Connection } from './connection.js';
import type { Listener } from './listener.js';

/** Clients at the same time. */
const MOST_CLIENTS = 256;
/** Bytes of a path that all systems take. */
const LONGEST_PATH = 100;
/** Milliseconds that a living socket gets to answer. */
const ANSWER_TIME = 1000;

/** @throws {AnyvmafError} `usage` for a path that cannot be one, `io` if it cannot be bound or somebody listens there */
export async function serveUnixSocket(hub: Hub, named: string): Promise<Listener> {
  const path = resolve(named);
  if (process.platform === 'win32')
    throw usageError('There are no Unix sockets on this system; listen with sse.');
  if (named === '' || named.includes('\0') || Buffer.byteLength(path) > LONGEST_PATH)
    throw usageError(
      `The path of a socket has 1 to ${LONGEST_PATH} bytes, but it is ${quoted(named.slice(0, 200))}.`,
    );
  requirePrivate(dirname(path));
  await removeStale(path);
  const connections = new Set<Connection>();
  const server = createServer((socket) => {
    if (connections.size >= MOST_CLIENTS) {
      socket.destroy();
      return;
    }
    const connection = new Connection(hub, socket, socket, false, () => connections.delete(connection));
    connections.add(connection);
  });
  await bind(server, path);
  chmodSync(path, 0o700);
  return {
    address: path,
    async close() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      for (const connection of connections) connection.finish();
      await closed;
    },
  };
}

function bind(server: Server, path: string): Promise<void> {
  return new Promise((done, fail) => {
    server.once('error', (cause) =>
      fail(new AnyvmafError('io', `Cannot listen at ${quoted(path)}: ${cause.message}.`, { cause })),
    );
    server.listen(path, done);
  });
}

/** Makes the folder if there is none. @throws {AnyvmafError} `io` if others may enter it */
function requirePrivate(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const facts = lstatSync(folder);
    const own = facts.isDirectory() && facts.uid === process.getuid?.();
    if (own && (facts.mode & 0o077) === 0) return;
  } catch (cause) {
    throw new AnyvmafError('io', `The folder ${quoted(folder)} cannot be used: ${String(cause)}.`, { cause });
  }
  throw new AnyvmafError(
    'io',
    `The folder ${quoted(folder)} of the socket can be entered by others or belongs to others; use one of mode 0700.`,
  );
}

/** Removes the socket of a process that is gone. @throws {AnyvmafError} `io` for one that answers, or no socket */
async function removeStale(path: string): Promise<void> {
  let facts: Stats;
  try {
    facts = lstatSync(path);
  } catch {
    return;
  }
  if (!facts.isSocket()) {
    throw new AnyvmafError('io', `${quoted(path)} exists and is no socket; remove it or name another path.`);
  }
  if (await answers(path)) {
    throw new AnyvmafError('io', `Somebody listens at ${quoted(path)} already; name another path.`);
  }
  unlinkSync(path);
}

function answers(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(path);
    const end = (alive: boolean) => {
      socket.destroy();
      done(alive);
    };
    socket
      .once('connect', () => end(true))
      .once('error', (error: NodeJS.ErrnoException) =>
        end(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
      );
    socket.setTimeout(ANSWER_TIME, () => end(true));
  });
}
