/**
 * @module mcp/live/transports/streams
 * Clients on streams, dropped if they do not read: on two descriptors of the caller (standard input and output
 * belong to the program), or at a Unix socket of mode 0700 in a folder that only its owner may enter.
 */
import { randomInt } from 'node:crypto';
import {
  type BigIntStats,
  chmodSync,
  createReadStream,
  createWriteStream,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { connect, createServer, type Server, Socket } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { isatty, ReadStream, WriteStream } from 'node:tty';
import { AnyvmafError, ioError, messageOf, usageError } from '../../../core/errors.js';
import { quoted } from '../../../core/printable.js';
import { Framing } from '../../framing.js';
import type { Hub } from '../hub.js';
import { BACKLOG, CODE, failed, Session } from '../session.js';

export interface Listener {
  /** A URL or a path. */
  readonly address: string;
  close(): Promise<void>;
}

/** Milliseconds for a client to read the last answers. */
const FLUSH_TIME = 500;
const MOST_REQUESTS = 64;

export class Connection {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #session: Session;
  readonly #framing: Framing;
  readonly #ended: () => void;
  #open = 0;
  #closed = false;
  #ending = false;

  /**
   * @param headers true to accept `Content-Length` framing
   * @param ended called once, when the connection is over
   */
  constructor(hub: Hub, input: Readable, output: Writable, headers: boolean, ended: () => void) {
    this.#input = input;
    this.#output = output;
    this.#ended = ended;
    this.#session = new Session(hub, (text) => this.#send(text));
    this.#framing = new Framing(
      {
        message: (text) => void this.#answer(text),
        broken: (problem) => this.#send(JSON.stringify(failed(null, CODE.parse, problem))),
      },
      headers,
    );
    const close = () => this.close();
    input.on('data', (chunk: Buffer) => this.#framing.push(chunk));
    input.on('error', close);
    // A pipe or a file may close before its answers are sent.
    input.on('close', () => (this.#ending ? this.#endWhenDone() : close()));
    output.on('error', close).on('close', close);
    input.on('end', () => {
      this.#ending = true;
      this.#endWhenDone();
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#session.close();
    this.#input.destroy();
    this.#output.destroy();
    this.#ended();
  }

  /** Closes once all is sent, or after a moment. */
  finish(): void {
    if (this.#closed) return;
    const late = setTimeout(() => this.close(), FLUSH_TIME);
    this.#output.end(() => {
      clearTimeout(late);
      this.close();
    });
  }

  async #answer(text: string): Promise<void> {
    this.#open++;
    if (this.#open >= MOST_REQUESTS) this.#input.pause();
    const reply = await this.#session.answer(text);
    this.#open--;
    if (this.#open < MOST_REQUESTS && !this.#closed) this.#input.resume();
    if (reply !== undefined) this.#send(reply);
    this.#endWhenDone();
  }

  #endWhenDone(): void {
    if (!this.#ending || this.#open > 0 || this.#closed) return;
    this.#output.end(() => this.close());
  }

  #send(json: string): void {
    if (this.#closed) return;
    this.#output.write(this.#framing.wrap(json));
    if (this.#output.writableLength > BACKLOG) this.close();
  }
}

/** Descriptors in use: each has one owner. */
const served = new Set<number>();

/**
 * @throws {AnyvmafError} `usage` for standard streams and descriptors in use; `io` if the caller did not hand it over
 */
export function serveDescriptors(hub: Hub, input: number, output: number): Listener {
  const numbers = new Set([input, output]);
  for (const descriptor of numbers) {
    if (!Number.isInteger(descriptor) || descriptor < 3)
      throw usageError(
        `${descriptor} is not a descriptor of the caller; pass two of at least 3, such as 3 and 4.`,
      );
    if (served.has(descriptor))
      throw usageError(`The descriptor ${descriptor} already serves a client; pass another pair.`);
  }
  const [reader, writer] = openPair(input, output);
  for (const descriptor of numbers) served.add(descriptor);
  const connection = new Connection(hub, reader, writer, true, () => {
    for (const descriptor of numbers) served.delete(descriptor);
  });
  return {
    address: `stdio-fd:${input},${output}`,
    async close() {
      connection.finish();
    },
  };
}

function openPair(input: number, output: number): readonly [Readable, Writable] {
  const kinds = [kindOf(input), kindOf(output)] as const;
  if (input === output) {
    if (kinds[0] !== 'socket')
      throw usageError(`The descriptor ${input} is one-way; pass two, or one socket twice.`);
    const both = new Socket({ fd: input, allowHalfOpen: true });
    return [both, both];
  }
  return [readable(input, kinds[0]), writable(output, kinds[1])];
}

type Kind = 'socket' | 'pipe' | 'terminal' | 'file';

/** @throws {AnyvmafError} `io` if the caller cannot have handed it over */
function kindOf(descriptor: number): Kind {
  let facts: Stats;
  try {
    facts = fstatSync(descriptor);
  } catch (cause) {
    throw ioError(`The descriptor ${descriptor} is not open; ${HOW}.`, { cause });
  }
  if (isatty(descriptor)) return 'terminal';
  if (facts.isSocket()) return 'socket';
  if (facts.isFIFO() && !hasBothEnds(facts)) return 'pipe';
  if (facts.isFile()) return 'file';
  throw ioError(
    `The descriptor ${descriptor} does not come from the caller: it must be a pipe, a socket, a terminal or a file; ${HOW}.`,
  );
}

const HOW = 'open both when starting the program, in a shell with 3<REQUESTS 4>ANSWERS';

/** True if this process has both ends of a pipe, as Node.js does to wake its threads. */
function hasBothEnds({ dev, ino }: Stats): boolean {
  const folder = '/proc/self/fdinfo';
  let names: readonly string[] = [];
  try {
    names = readdirSync(folder);
  } catch {
    // Only Linux has this folder, and a sandbox may hide it.
  }
  const modes = new Set<string | undefined>();
  for (const name of names) {
    try {
      const facts = fstatSync(Number(name));
      if (facts.dev !== dev || facts.ino !== ino) continue;
      // The last octal digit: 0 reads, 1 writes.
      modes.add(/^flags:.*(\d)$/m.exec(readFileSync(join(folder, name), 'latin1'))?.[1]);
    } catch {
      // Closed meanwhile.
    }
  }
  return modes.size > 1;
}

function readable(fd: number, kind: Kind): Readable {
  // Reading a pipe or a terminal as a file would block a thread of the pool.
  if (kind === 'terminal') return new ReadStream(fd);
  return kind === 'file' ? createReadStream('', { fd }) : new Socket({ fd, readable: true, writable: false });
}

function writable(fd: number, kind: Kind): Writable {
  if (kind === 'terminal') return new WriteStream(fd);
  return kind === 'file'
    ? createWriteStream('', { fd })
    : new Socket({ fd, readable: false, writable: true });
}

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
    if (connections.size >= MOST_CLIENTS) return void socket.destroy();
    const connection = new Connection(hub, socket, socket, false, () => connections.delete(connection));
    connections.add(connection);
  });
  // Bind it under a temporary name: linking that to the path fails if another process was faster.
  const temporary = nameIn(folder);
  await bind(server, temporary);
  let own: BigIntStats;
  try {
    chmodSync(temporary, 0o700);
    own = lstatSync(temporary, { bigint: true });
    await claim(path, temporary);
  } catch (error) {
    server.close();
    throw failure(`Cannot listen at ${quoted(path)}`, error);
  } finally {
    remove(temporary);
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
    server.once('error', (cause) => fail(failure(`Cannot listen at ${quoted(path)}`, cause)));
    server.listen(path, done);
  });
}

/** An unused name in a folder; short, like all socket paths. */
function nameIn(folder: string): string {
  for (;;) {
    const name = join(folder, `.${randomInt(36 ** 3).toString(36)}`);
    if (!statsOf(name)) return name;
  }
}

function statsOf(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** True for the same file; compares times too: inode numbers are reused. */
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

function failure(what: string, cause: unknown): AnyvmafError {
  return cause instanceof AnyvmafError ? cause : ioError(`${what}: ${messageOf(cause)}.`, { cause });
}

/** Creates the folder if necessary. @throws {AnyvmafError} `io` if others may enter it */
function requirePrivate(folder: string): void {
  let facts: BigIntStats;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    facts = lstatSync(folder, { bigint: true });
  } catch (cause) {
    throw failure(`The folder ${quoted(folder)} cannot be used`, cause);
  }
  const problem = !facts.isDirectory()
    ? 'is a link; name the folder itself'
    : facts.uid !== BigInt(process.getuid?.() ?? 0)
      ? 'belongs to another user; name one of your own'
      : (facts.mode & 0o077n) !== 0n
        ? 'is open to other users; use one of mode 0700'
        : undefined;
  if (problem) throw ioError(`The folder ${quoted(folder)} of the socket ${problem}.`);
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
    const found = statsOf(path);
    if (!found) continue;
    const problem = !found.isSocket()
      ? `${quoted(path)} exists and is not a socket; remove it or name another path.`
      : (await answers(path)) && `Another server already listens at ${quoted(path)}; name another path.`;
    if (problem) throw ioError(problem);
    removeStale(path, found);
  }
}

/** Removes a dead socket, unless another process has replaced it meanwhile. */
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
