/**
 * @module mcp/live/transports/unix
 * A Unix socket of mode 0700 in a folder that only its owner may enter: whoever can open it may call.
 */
import { randomInt } from 'node:crypto';
import { type BigIntStats, chmodSync, linkSync, lstatSync, mkdirSync, renameSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { AnyvmafError, usageError } from '../../../core/errors.js';
import { quoted } from '../../../core/printable.js';
import type { Hub } from '../hub.js';
import { Connection, type Listener } from './connection.js';

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
  const folder = dirname(path);
  requirePrivate(folder);
  const connections = new Set<Connection>();
  // A client may end its side and still read answers; the connection ends the other.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (connections.size >= MOST_CLIENTS) {
      socket.destroy();
      return;
    }
    const connection = new Connection(hub, socket, socket, false, () => connections.delete(connection));
    connections.add(connection);
  });
  // The socket is made under another name: linking it to its own fails if another process was quicker.
  const made = nameIn(folder);
  await bind(server, made);
  let own: BigIntStats;
  try {
    chmodSync(made, 0o700);
    own = lstatSync(made, { bigint: true });
    await claim(path, made);
  } catch (error) {
    server.close();
    throw ioError(`Cannot listen at ${quoted(path)}`, error);
  } finally {
    remove(made);
  }
  return {
    address: path,
    async close() {
      if (isSame(own, statsOf(path))) remove(path);
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

/** A name in a folder that nothing has yet; short, as names of sockets must be. */
function nameIn(folder: string): string {
  for (;;) {
    const name = join(folder, `.${randomInt(36 ** 3).toString(36)}`);
    if (!statsOf(name)) return name;
  }
}

function statsOf(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** Whether two are one file; a number that is free again tells less. */
function isSame(one: BigIntStats, other: BigIntStats | undefined): boolean {
  return one.dev === other?.dev && one.ino === other.ino && one.mtimeNs === other.mtimeNs;
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is gone already.
  }
}

/** What the system says of a path, as an error of ours. */
function ioError(what: string, cause: unknown): AnyvmafError {
  if (cause instanceof AnyvmafError) return cause;
  return new AnyvmafError('io', `${what}: ${cause instanceof Error ? cause.message : String(cause)}.`, {
    cause,
  });
}

/** Makes the folder if there is none. @throws {AnyvmafError} `io` if others may enter it */
function requirePrivate(folder: string): void {
  let facts: BigIntStats;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    facts = lstatSync(folder, { bigint: true });
  } catch (cause) {
    throw ioError(`The folder ${quoted(folder)} cannot be used`, cause);
  }
  const problem = !facts.isDirectory()
    ? 'is a link; name the folder itself'
    : facts.uid !== BigInt(process.getuid?.() ?? 0)
      ? 'belongs to another user; name one of your own'
      : (facts.mode & 0o077n) !== 0n
        ? 'can be entered by others; use one of mode 0700'
        : undefined;
  if (problem) throw new AnyvmafError('io', `The folder ${quoted(folder)} of the socket ${problem}.`);
}

/**
 * Gives a socket its path, which a socket of a dead process may still have.
 * @throws {AnyvmafError} `io` for a path that a live socket has, or that is not a socket
 */
async function claim(path: string, made: string): Promise<void> {
  for (;;) {
    try {
      linkSync(made, path);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const there = statsOf(path);
    if (!there) continue;
    if (!there.isSocket())
      throw new AnyvmafError(
        'io',
        `${quoted(path)} exists and is not a socket; remove it or name another path.`,
      );
    if (await answers(path))
      throw new AnyvmafError('io', `Another server listens at ${quoted(path)} already; name another path.`);
    removeStale(path, there);
  }
}

/** Removes a socket if it is still the one that did not answer: another process may have put its own there. */
function removeStale(path: string, stale: BigIntStats): void {
  const aside = nameIn(dirname(path));
  try {
    renameSync(path, aside);
  } catch {
    // Another process removed it.
    return;
  }
  if (!isSame(stale, statsOf(aside))) linkSync(aside, path);
  remove(aside);
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
