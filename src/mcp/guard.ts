/**
 * @module mcp/guard
 * Access to HTTP servers: where one listens and how long it waits for requests and answers, which Host and Origin headers it takes,
 * and its token.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type Server, type ServerOptions } from 'node:http';
import { AnyvmafError, usageError } from '../core/errors.js';

/** Where a server listens. */
export interface Address {
  /** Name or address, an IPv6 one without brackets. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

/** Port of `--http` without one. */
const DEFAULT_PORT = 8765;

const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '::1'];

/**
 * Reads `HOST:PORT`, `HOST`, `PORT`, `[IPv6]:PORT` or nothing.
 * @throws {AnyvmafError} `usage` when it is none of them
 */
export function parseAddress(text: string | undefined): Address {
  const value = text?.trim() ?? '';
  const wrong = () =>
    usageError(`--http ${value} is not an address; give HOST:PORT, HOST or PORT, such as 127.0.0.1:8765`);
  if (value === '') return { host: '127.0.0.1', port: DEFAULT_PORT };
  if (/^\d+$/.test(value)) return { host: '127.0.0.1', port: portOf(value, wrong) };
  const parts = /^(?:\[([0-9a-f:.]+)\]|([^\s:/[\]]+))(?::(\d+))?$/i.exec(value);
  const host = parts?.[1] ?? parts?.[2];
  if (host === undefined) throw wrong();
  return { host, port: parts?.[3] === undefined ? DEFAULT_PORT : portOf(parts[3], wrong) };
}

function portOf(digits: string, wrong: () => AnyvmafError): number {
  const port = Number(digits);
  if (port > 65_535) throw wrong();
  return port;
}

/** Whether only this machine can reach an address; names other than localhost do not count. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** An address as the authority of a URL. */
export function authority({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** What a request is sent to. */
export interface Target {
  /** Name and port of the server, as the client knows it. */
  readonly host: string;
  /** Path and query. */
  readonly path: string;
}

/** Name or address with an optional port; no user name, which would hide the host behind it. */
const AUTHORITY = /^(?:\[[0-9a-f:.]{2,45}\]|[\w.-]{1,253})(?::\d{1,5})?$/i;

/**
 * Reads a request's target (RFC 9112, section 3.2): a path, or a whole address, whose host then counts.
 * @param host the Host header; HTTP/1.0 may go without
 * @returns `undefined` for what is malformed
 */
export function readTarget(target: string, host = 'localhost'): Target | undefined {
  const whole = /^http:\/\/([^/?#]*)(.*)$/i.exec(target);
  const name = whole?.[1] ?? host;
  const path = whole ? `${/^\//.test(whole[2] ?? '') ? '' : '/'}${whole[2]}` : target;
  if (!path.startsWith('/') || !AUTHORITY.test(name) || !URL.canParse(`http://${name}${path}`))
    return undefined;
  return { host: name, path };
}

/** Where a server listens, and who may call it. */
export interface GuardOptions {
  /** Where the server listens. */
  readonly address: Address;
  readonly token: string | undefined;
  /** Origins of pages that may call, as browsers send them; `*` for all. */
  readonly origins: readonly string[];
}

/** The headers that identify the sender of a request. */
export interface Sender {
  readonly host: string | null;
  readonly origin: string | null;
  readonly authorization: string | null;
}

/** Why a request is refused. */
export interface Refusal {
  readonly status: 401 | 403;
  readonly sentence: string;
}

/**
 * Checks an origin of the command line.
 * @throws {AnyvmafError} `usage` when no browser sends it
 */
export function checkOrigin(origin: string): string {
  if (origin === '*') return origin;
  const parsed = URL.canParse(origin) ? new URL(origin) : undefined;
  if (parsed === undefined || parsed.origin === 'null') {
    throw usageError(
      `--cors ${origin} is not an origin; give scheme, host and port, such as http://localhost:6274`,
    );
  }
  return parsed.origin;
}

/** Decides on requests. */
export class Guard {
  readonly #options: GuardOptions;
  readonly #own: readonly string[];
  readonly #digest: Buffer | undefined;

  constructor(options: GuardOptions) {
    this.#options = options;
    const { host, port } = options.address;
    const names = isLoopback(host) ? [host, ...LOOPBACK_NAMES] : [host];
    this.#own = names.map((name) => `http://${authority({ host: name, port })}`);
    this.#digest = options.token === undefined ? undefined : digest(options.token);
  }

  /** Why a sender is refused, `undefined` if it is not: checked for every request, CORS preflight included. */
  refuseSender({ host, origin }: Pick<Sender, 'host' | 'origin'>): Refusal | undefined {
    if (!this.#knowsHost(host)) {
      return {
        status: 403,
        sentence: 'The Host header does not name this server; use the address it was started with.',
      };
    }
    if (origin !== null && !this.allowsOrigin(origin)) {
      return {
        status: 403,
        sentence: 'Pages of this origin may not call the server; start it with --cors ORIGIN.',
      };
    }
    return undefined;
  }

  /** Why a call without the right token is refused. */
  refuseCall({ authorization }: Pick<Sender, 'authorization'>): Refusal | undefined {
    if (this.#digest === undefined) return undefined;
    const sent = /^Bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1] ?? '';
    // Digests have one length, so comparing them does not leak the length of the token.
    if (timingSafeEqual(digest(sent), this.#digest)) return undefined;
    return { status: 401, sentence: 'The server requires its token: send "Authorization: Bearer TOKEN".' };
  }

  /** Whether a page of this origin may read answers: the server's own origin, or an allowed one. */
  allowsOrigin(origin: string): boolean {
    return (
      this.#own.includes(origin) ||
      this.#options.origins.some((allowed) => allowed === '*' || allowed === origin)
    );
  }

  /** Stops DNS rebinding, where a page sends its own name; a server on all interfaces relies on its token instead. */
  #knowsHost(header: string | null): boolean {
    const { host: own } = this.#options.address;
    if (!isLoopback(own)) return true;
    const name = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(header ?? '');
    const host = (name?.[1] ?? name?.[2] ?? '').toLowerCase();
    return LOOPBACK_NAMES.includes(host) || host === own;
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

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
