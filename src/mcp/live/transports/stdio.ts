/**
 * @module mcp/live/transports/stdio
 * Serves a pair of descriptors handed over by the caller, since standard input and output belong to the program.
 */
import {
  createReadStream,
  createWriteStream,
  fstatSync,
  readdirSync,
  readFileSync,
  type Stats,
} from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { isatty, ReadStream, WriteStream } from 'node:tty';
import { AnyvmafError, usageError } from '../../../core/errors.js';
import type { Hub } from '../hub.js';
import { Connection, type Listener } from './connection.js';

/** Descriptors in use: only one stream may own each. */
const served = new Set<number>();

/**
 * @throws {AnyvmafError} `usage` for standard streams and descriptors in use; `io` if the caller did not hand it over
 */
export function serveDescriptors(hub: Hub, input: number, output: number): Listener {
  const numbers = new Set([input, output]);
  for (const descriptor of numbers) {
    if (!Number.isInteger(descriptor) || descriptor < 3) {
      throw usageError(
        `${descriptor} is not a descriptor of the caller; pass two of at least 3, such as 3 and 4.`,
      );
    }
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
    throw new AnyvmafError('io', `The descriptor ${descriptor} is not open; ${HOW}.`, { cause });
  }
  if (isatty(descriptor)) return 'terminal';
  if (facts.isSocket()) return 'socket';
  if (facts.isFIFO() && !hasBothEnds(facts)) return 'pipe';
  if (facts.isFile()) return 'file';
  throw new AnyvmafError(
    'io',
    `The descriptor ${descriptor} does not come from the caller: it must be a pipe, a socket, a terminal or a file; ${HOW}.`,
  );
}

const HOW = 'open both when starting the program, in a shell with 3<REQUESTS 4>ANSWERS';

/** True if this process both reads and writes a pipe, as Node.js does to wake its threads. */
function hasBothEnds({ dev, ino }: Stats): boolean {
  const folder = '/proc/self/fdinfo';
  const modes = new Set<number>();
  try {
    for (const name of readdirSync(folder)) modes.add(modeOf(`${folder}/${name}`, Number(name), dev, ino));
  } catch {
    // Only Linux has this folder.
    return false;
  }
  modes.delete(-1);
  return modes.size > 1;
}

/** 0 if the descriptor reads the pipe, 1 if it writes it, -1 for other files. */
function modeOf(path: string, descriptor: number, dev: number, ino: number): number {
  try {
    const facts = fstatSync(descriptor);
    if (facts.dev !== dev || facts.ino !== ino) return -1;
    return Number.parseInt(/^flags:\s*(\d+)/m.exec(readFileSync(path, 'latin1'))?.[1] ?? '0', 8) & 3;
  } catch {
    // Closed meanwhile.
    return -1;
  }
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
