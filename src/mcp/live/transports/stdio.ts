/**
 * @module mcp/live/transports/stdio
 * A pair of descriptors that the host's parent handed over; standard input and output are the host's own.
 */
import { createReadStream, createWriteStream, fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { AnyvmafError, usageError } from '../../../core/errors.js';
import type { Hub } from '../hub.js';
import { Connection } from './connection.js';
import type { Listener } from './listener.js';

/** @throws {AnyvmafError} `usage` for standard streams, `io` for a descriptor that is not open */
export function serveDescriptors(hub: Hub, input: number, output: number): Listener {
  for (const descriptor of [input, output]) {
    if (!Number.isInteger(descriptor) || descriptor < 3) {
      throw usageError(
        `${descriptor} is not a descriptor of the caller's; give two from 3 on, such as 3 and 4.`,
      );
    }
  }
  const connection = new Connection(hub, readable(input), writable(output), true, () => {});
  return {
    address: `stdio-fd:${input},${output}`,
    async close() {
      connection.finish();
    },
  };
}

function isStream(descriptor: number): boolean {
  try {
    const facts = fstatSync(descriptor);
    return facts.isFIFO() || facts.isSocket();
  } catch (cause) {
    throw new AnyvmafError('io', `The descriptor ${descriptor} is not open.`, { cause });
  }
}

function readable(fd: number): Readable {
  // Reading a pipe as a file would keep a thread of the pool waiting.
  return isStream(fd) ? new Socket({ fd, readable: true, writable: false }) : createReadStream('', { fd });
}

function writable(fd: number): Writable {
  return isStream(fd) ? new Socket({ fd, readable: false, writable: true }) : createWriteStream('', { fd });
}
