/**
 * @module mcp/guard
 * Access to HTTP servers: listening addresses, time limits, allowed Host and Origin headers, tokens.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type ServerOptions } from 'node:http';
import { ioError, usageError } from '../core/errors.js';

export interface Address {
  /** Name or address; IPv6 without brackets. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

const DEFAULT_PORT = 8765;
const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '::1'];

/** Parses `HOST:PORT`, `HOST`, `PORT`, `[IPv6]:PORT` or nothing. @throws {AnyvmafError} `usage` for anything else */
export function parseAddress(text: string | undefined): Address {
  const value = text?.trim() ?? '';
  const whole = /^\d*$/.test(value) ? `127.0.0.1:${value || DEFAULT_PORT}` : value;
  const parts = /^(?:\[([0-9a-f:.]+)\]|([^\s:/[\]]+))(?::(\d+))?$/i.exec(whole);
  const host = parts?.[1] ?? parts?.[2];
  const port = Number(parts?.[3] ?? DEFAULT_PORT);
  if (host !== undefined && port <= 65_535) return { host, port };
  throw usageError(`--http ${value} is not an address; give HOST:PORT, HOST or PORT, such as 127.0.0.1:8765`);
}

/** True if only this machine can reach the host; of names, only localhost counts. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

export function authority({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Name or address with an optional port. No user name, which could disguise the host. */
const AUTHORITY = /^(?:\[[0-9a-f:.]{2,45}\]|[\w.-]{1,253})(?::\d{1,5})?$/i;

/**
 * Parses a request target (RFC 9112, section 3.2): a path, or an absolute URL, whose host replaces the header's.
 * @param host the Host header, which HTTP/1.0 may omit
 * @returns name and port of the server as the client sees it, and path with query; `undefined` if it is malformed
 */
export function readTarget(target: string, host = 'localhost') {
  const whole = /^http:\/\/([^/?#]*)(.*)$/i.exec(target);
  const name = whole?.[1] ?? host;
  const path = whole ? `${/^\//.test(whole[2] ?? '') ? '' : '/'}${whole[2]}` : target;
  if (!path.startsWith('/') || !AUTHORITY.test(name) || !URL.canParse(`http://${name}${path}`))
    return undefined;
  return { host: name, path };
}

export interface GuardOptions {
  readonly address: Address;
  readonly token: string | undefined;
  /** Origins of pages that may call, as browsers send them; `*` for any. */
  readonly origins: readonly string[];
}

type Sender = Readonly<Record<'host' | 'origin' | 'authorization', string | null>>;

export interface Refusal {
  readonly status: 401 | 403;
  readonly sentence: string;
}

/** Checks and normalizes an origin from the command line. @throws {AnyvmafError} `usage` if it is not one */
export function checkOrigin(origin: string): string {
  if (origin === '*') return origin;
  const parsed = URL.canParse(origin) ? new URL(origin) : undefined;
  if (parsed === undefined || parsed.origin === 'null')
    throw usageError(
      `--cors ${origin} is not an origin; give scheme, host and port, such as http://localhost:6274`,
    );
  return parsed.origin;
}

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

  /** Checks the sender of any request, CORS preflights included; `undefined` if it is accepted. */
  refuseSender({ host, origin }: Pick<Sender, 'host' | 'origin'>): Refusal | undefined {
    const sentence = !this.#knowsHost(host)
      ? 'The Host header does not name this server; use the address it was started with.'
      : origin !== null && !this.allowsOrigin(origin)
        ? 'Pages of this origin may not call the server; start it with --cors ORIGIN.'
        : undefined;
    return sentence === undefined ? undefined : { status: 403, sentence };
  }

  /** Checks the token; `undefined` if the call is accepted. */
  refuseCall({ authorization }: Pick<Sender, 'authorization'>): Refusal | undefined {
    if (this.#digest === undefined) return undefined;
    const sent = /^Bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1] ?? '';
    // Digests have equal lengths, so the comparison does not leak the token's length.
    if (timingSafeEqual(digest(sent), this.#digest)) return undefined;
    return { status: 401, sentence: 'The server requires its token: send "Authorization: Bearer TOKEN".' };
  }

  /** True for the server's own origin and the allowed ones. */
  allowsOrigin(origin: string): boolean {
    return (
      this.#own.includes(origin) ||
      this.#options.origins.some((allowed) => allowed === '*' || allowed === origin)
    );
  }

  /** Stops DNS rebinding, where a page sends its own name. Servers on other addresses rely on their token. */
  #knowsHost(header: string | null): boolean {
    const { host: own } = this.#options.address;
    if (!isLoopback(own)) return true;
    const name = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(header ?? '');
    const host = (name?.[1] ?? name?.[2] ?? '').toLowerCase();
    return LOOPBACK_NAMES.includes(host) || host === own;
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Milliseconds for a request to arrive, and between checks of that. */
const ARRIVAL = 10_000;
const ARRIVAL_CHECK = 1000;
/** Milliseconds to send the last answers. */
const FLUSH_TIME = 500;

/** @throws {AnyvmafError} `io` if the address cannot be bound */
export async function listen(address: Address, options: ServerOptions = {}) {
  const times = { requestTimeout: ARRIVAL, headersTimeout: ARRIVAL };
  const server = createServer({ ...times, connectionsCheckingInterval: ARRIVAL_CHECK, ...options });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'the address is already in use' : cause.message;
      reject(ioError(`Cannot listen on ${authority(address)}: ${why}.`, { cause }));
    });
    server.listen(address.port, address.host, resolve);
  });
  const bound = server.address();
  return {
    server,
    port: typeof bound === 'object' && bound !== null ? bound.port : address.port,
    /** Stops listening, runs `finish`, then closes all connections. */
    async close(finish: () => Promise<void> | void): Promise<void> {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await finish();
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), FLUSH_TIME);
      await closed;
      clearTimeout(cut);
    },
  };
}
