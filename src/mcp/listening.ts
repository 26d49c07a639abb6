/**
 * @module mcp/listening
 * An HTTP server on an address: requests must arrive within a time, and its end waits for answers, but only so long.
 */
import { createServer, type Server, type ServerOptions } from 'node:http';
import { AnyvmafError } from '../core/errors.js';
import { type Address, authority } from './guard.js';

/** Milliseconds within which a request must arrive, headers and body, and between two looks for those that did not. */
const ARRIVAL = 10_000;
const ARRIVAL_CHECK = 1000;

/** Milliseconds for sending the last answers. */
const FLUSH_TIME = 500;

/** A server that listens. */
export interface Listening {
  readonly server: Server;
  /** The one that it was given. */
  readonly port: number;
  /** Takes no more connections, and ends those there are. @param finish what is to be done before that */
  close(finish: () => Promise<void> | void): Promise<void>;
}

/** @throws {AnyvmafError} `io` if the address cannot be bound */
export async function listen(address: Address, options: ServerOptions = {}): Promise<Listening> {
  const times = {
    requestTimeout: ARRIVAL,
    headersTimeout: ARRIVAL,
    connectionsCheckingInterval: ARRIVAL_CHECK,
  };
  const server = createServer({ ...times, ...options });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'something else listens there already' : cause.message;
      reject(new AnyvmafError('io', `Cannot listen on ${authority(address)}: ${why}.`, { cause }));
    });
    server.listen(address.port, address.host, resolve);
  });
  const bound = server.address();
  return {
    server,
    port: typeof bound === 'object' && bound !== null ? bound.port : address.port,
    async close(finish) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await finish();
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), FLUSH_TIME);
      await closed;
      clearTimeout(cut);
    },
  };
}
