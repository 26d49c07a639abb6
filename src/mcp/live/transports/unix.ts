/**
 * @module mcp/live/transports/unix
 * A Unix socket of mode 0700 in a folder that only its owner may enter, which is the only access control.
 */
import { randomInt } from 'node:crypto';
import { type BigIntStats, chmodSync, linkSync, lstatSync, mkdirSync, renameSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { AnyvmafError, messageOf, usageError } from '../../../core/errors.js';
import { quoted } from '../../../core/printable.js';
import type { Hub } from '../hub.js';
import { Connection, type Listener } from './connection.js';

const MOST_CLIENTS = 256;
/** Bytes of a socket path that every system accepts. */
const LONGEST_PATH = 100;
/** Milliseconds for a live socket to answer. */
const ANSWER_TIME = 1000;

/** @throws {AnyvmafError} `usage` for an impossible path, `io` if it cannot be bound or is in use */
export async function serveUnixSocket(hub: Hub, named: string): Promise<Listener> {
  const path = resolve(named);
  if (process.platform === 'win32')
    throw usageError('Unix sockets are not available on this system; use sse.');
  if (named === '' || named.includes('\0') || Buffer.byteLength(path) > LONGEST_PATH)
    throw usageError(
      `The socket path is ${quoted(named.slice(0, 200))}, but it must have 1 to ${LONGEST_PATH} bytes.`,
    );
  const folder = dirname(path);
  requirePrivate(folder);
  const connections = new Set<Connection>();
  // A client may end its side and still read answers; Connection ends the other side.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (connections.size >= MOST_CLIENTS) {
      socket.destroy();
      return;
    }
    const connection = new Connection(hub, socket, socket, false, () => connections.delete(connection));
    connections.add(connection);
  });
  // Bound under a temporary name: linking it to its path fails if another process was faster.
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

/** An unused name in a folder; short, as socket paths must be. */
function nameIn(folder: string): string {
  for (;;) {
    const name = join(folder, `.${randomInt(36 ** 3).toString(36)}`);
    if (!statsOf(name)) return name;
  }
}

function statsOf(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** True for the same file; compares the time too, since inode numbers are reused. */
function isSame(one: BigIntStats, other: BigIntStats | undefined): boolean {
  return one.dev === other?.dev && one.ino === other.ino && one.mtimeNs === other.mtimeNs;
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Already gone.
  }
}

function ioError(what: string, cause: unknown): AnyvmafError {
  if (cause instanceof AnyvmafError) return cause;
  return new AnyvmafError('io', `${what}: ${messageOf(cause)}.`, {
    cause,
  });
}

/** Creates the folder if necessary. @throws {AnyvmafError} `io` if others may enter it */
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
        ? 'is open to other users; use one of mode 0700'
        : undefined;
  if (problem) throw new AnyvmafError('io', `The folder ${quoted(folder)} of the socket ${problem}.`);
}

/**
 * Links a socket to its path, replacing that of a dead process.
 * @throws {AnyvmafError} `io` for the path of a live socket, or of another kind of file
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
      throw new AnyvmafError('io', `Another server already listens at ${quoted(path)}; name another path.`);
    removeStale(path, there);
  }
}

/** Removes a socket, unless another process has replaced it since it did not answer. */
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
