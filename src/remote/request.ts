/**
 * @module remote/request
 * One HTTP exchange with an allowed host, which connects only to checked addresses and checks each redirect.
 */
import { lookup as resolve } from 'node:dns';
import { Agent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest, Agent as SecureAgent } from 'node:https';
import type { LookupFunction } from 'node:net';
import { AnyvmafError } from '../core/errors.js';
import { clause, shown } from '../core/printable.js';
import { version } from '../core/version.js';
import type { AllowedHosts } from './allowed-hosts.js';

export interface Sent {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** Time limits in milliseconds, and tries. */
export interface Patience {
  /** Until the response begins. */
  readonly answer: number;
  /** Between two chunks of the body. */
  readonly stall: number;
  /** Before the second try; doubles with each further one. */
  readonly pause: number;
  readonly tries: number;
}

export const PATIENCE: Patience = { answer: 20_000, stall: 20_000, pause: 300, tries: 5 };

/** A failure that another try may cure. */
export class Transient extends Error {
  /** Milliseconds from the server's Retry-After. */
  readonly wait: number | undefined;

  constructor(message: string, wait?: number) {
    super(message);
    this.wait = wait;
  }
}

/** A failure that another try cannot cure. */
export class Permanent extends Error {}

/** Statuses of redirects to follow; those that would turn a PUT or DELETE into a GET are not. */
const REDIRECTS = { GET: [301, 302, 303, 307, 308], PUT: [307, 308], DELETE: [307, 308] };
const MOST_REDIRECTS = 5;

const agents = {
  'http:': new Agent({ keepAlive: true, maxSockets: 8, timeout: 60_000 }),
  'https:': new SecureAgent({ keepAlive: true, maxSockets: 8, timeout: 60_000 }),
};

/** A response; the caller must read or destroy its body. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: IncomingMessage;
  /** The URL after redirects. */
  readonly url: URL;
}

/**
 * @throws {AnyvmafError} if the URL is not allowed; {@link Transient} and {@link Permanent}, whose messages are
 * clauses
 */
export async function exchange(
  url: URL,
  sent: Sent,
  hosts: AllowedHosts,
  patience: Patience,
  signal?: AbortSignal,
): Promise<Answer> {
  hosts.require(url);
  let at = url;
  for (let hops = 0; ; hops++) {
    const body = await send(at, at.origin === url.origin ? url : undefined, sent, hosts, patience, signal);
    const { statusCode: status = 0, headers } = body;
    if (!REDIRECTS[sent.method].includes(status)) return { status, headers, body, url: at };
    body.destroy();
    if (hops === MOST_REDIRECTS) {
      throw new Permanent(`it has more than ${MOST_REDIRECTS} redirects`);
    }
    const next = target(headers.location, at);
    hosts.require(next, at);
    at = next;
  }
}

function target(location: string | undefined, from: URL): URL {
  try {
    return new URL(location ?? '', from);
  } catch {
    throw new Permanent(`${shown(from.href)} redirects to ${shown(String(location))}, which is not a URL`);
  }
}

/** @param credentials the URL whose user name and password may be sent */
function send(
  url: URL,
  credentials: URL | undefined,
  { method, headers, body }: Sent,
  hosts: AllowedHosts,
  patience: Patience,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> {
  const { username = '', password = '' } = credentials ?? {};
  const options: RequestOptions = {
    method,
    lookup: checkedLookup(hosts, url),
    headers: {
      'user-agent': `anyvmaf/${version}`,
      ...headers,
      ...(body && { 'content-length': String(body.length) }),
    },
    ...(username + password !== '' && {
      auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}`,
    }),
    ...(signal && { signal }),
  };
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return new Promise((resolve, reject) => {
    const isSecure = url.protocol === 'https:';
    const start = isSecure ? httpsRequest : httpRequest;
    const request = start(bare, { ...options, agent: isSecure ? agents['https:'] : agents['http:'] });
    let timer: NodeJS.Timeout | undefined;
    // Before that it waits for other requests to this host, which have their own limits.
    request.once('socket', () => {
      timer = setTimeout(
        () => request.destroy(new Transient(`no answer within ${patience.answer / 1000} s`)),
        patience.answer,
      );
    });
    request.once('error', (cause) => {
      clearTimeout(timer);
      reject(signal?.aborted ? signal.reason : failure(cause));
    });
    request.once('response', (answer) => {
      clearTimeout(timer);
      resolve(answer);
    });
    request.end(body);
  });
}

/** Resolves a host and returns only checked addresses, so that nothing else is connected to. */
function checkedLookup(hosts: AllowedHosts, url: URL): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      try {
        for (const { address } of found) hosts.requireAddress(address, url);
      } catch (refusal) {
        return callback(refusal as Error, []);
      }
      const [first] = found;
      if (options.all || !first) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}

function failure(cause: unknown): unknown {
  if (cause instanceof AnyvmafError || cause instanceof Transient || cause instanceof Permanent) return cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  // Empty for an AggregateError: none of the host's addresses could be reached.
  const message = cause instanceof Error && cause.message !== '' ? cause.message : code;
  if (code === 'ENOTFOUND') return new Permanent('its host name is unknown');
  if (/^(?:ERR_TLS|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|ERR_SSL)/.test(code))
    return new Permanent(`its certificate was rejected (${shown(message)})`);
  return new Transient(message);
}

export function refusedStatus({ status, headers }: Answer): Permanent | Transient {
  const text = `the server answered ${status}`;
  if (status >= 500 || [408, 425, 429].includes(status)) {
    const seconds = Number(headers['retry-after']);
    return new Transient(text, seconds > 0 ? Math.min(seconds, 10) * 1000 : undefined);
  }
  const why: Readonly<Record<number, string>> = {
    401: ' (not authorised)',
    403: ' (forbidden; a signed URL may have expired)',
    404: ' (there is no such file)',
    410: ' (gone)',
  };
  return new Permanent(text + (why[status] ?? ''));
}

/**
 * Repeats an attempt, with growing pauses, until it succeeds or fails permanently.
 * @param what the start of the error message: `x.mp4 could not be fetched`
 * @throws {AnyvmafError} `io`
 */
export async function persist<T>(what: string, patience: Patience, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (cause) {
      if (!(cause instanceof Transient) && !(cause instanceof Permanent)) throw cause;
      if (cause instanceof Transient && tries < patience.tries) {
        await pauseBefore(tries, patience, cause);
        continue;
      }
      const often = cause instanceof Transient ? ` (${patience.tries} tries)` : '';
      throw new AnyvmafError(
        'io',
        `${what}: ${clause(cause.message)}${often}; check the address and the network.`,
        { cause },
      );
    }
  }
}

function pauseBefore(tries: number, { pause }: Patience, { wait }: Transient): Promise<void> {
  const time = wait ?? pause * 2 ** (tries - 1) * (0.5 + Math.random());
  return new Promise((wake) => setTimeout(wake, time));
}
