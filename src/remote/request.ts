/**
 * @module remote/request
 * HTTP exchanges with the hosts that the user named, at public addresses. Other addresses (this machine, private networks,
 * cloud metadata; see IANA's special-purpose address registries) must be named too, so that no name server leads into a
 * private network. Connects only to checked addresses, and checks each redirect.
 */
import { lookup as resolve } from 'node:dns';
import { Agent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest, Agent as SecureAgent } from 'node:https';
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { unescape as decoded } from 'node:querystring';
import { AnyvmafError, codeOf, ioError, type Remedy, usageError } from '../core/errors.js';
import { clause, quoted, shown } from '../core/printable.js';
import { version } from '../core/version.js';

/** One list per family: a shared list also checks IPv4 addresses as IPv6, which `::/3` would match. */
const SPECIAL = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const range of [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
])
  addRange(SPECIAL.ipv4, range);
// All but global unicast, then its special ranges, such as 6to4 and Teredo, which embed an IPv4 address.
for (const range of ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])
  addRange(SPECIAL.ipv6, range);

/** Prefixes, in hexadecimal digits, of IPv6 addresses that embed an IPv4 address in their last 32 bits. */
const EMBEDDING = [`${'0'.repeat(20)}ffff`, `0064ff9b${'0'.repeat(16)}`];

/** Strips brackets and zone, and unwraps an embedded IPv4 address; `undefined` for other text. */
export function canonicalAddress(text: string): string | undefined {
  const bare = text.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (isIPv4(bare)) return bare;
  if (isIP(bare) === 0) return undefined;
  const short = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const [head = '', tail] = short.split('::');
  const groups = (part: string | undefined) => (part ? part.split(':') : []);
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...(tail === undefined ? [] : Array(missing).fill('0')), ...groups(tail)];
  const digits = all.map((group) => group.padStart(4, '0')).join('');
  if (!EMBEDDING.some((prefix) => digits.startsWith(prefix))) return short;
  return digits
    .slice(24)
    .replace(/../g, (byte) => `${Number.parseInt(byte, 16)}.`)
    .slice(0, -1);
}

/** True if the address is public and not this machine's own. @param address canonical */
export function isPublic(address: string): boolean {
  const family = familyOf(address);
  if (SPECIAL[family].check(address, family)) return false;
  // A public address of this machine reaches its own services.
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return !own.some((local) => canonicalAddress(local.address) === address);
}

/** Adds a range such as `10.0.0.0/8`. @returns false if it is malformed */
function addRange(list: BlockList, range: string): boolean {
  const [, network = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(range) ?? [];
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(network)] ?? -1;
  if (Number(bits) > most) return false;
  list.addSubnet(network, Number(bits), familyOf(network));
  return true;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6';
}

interface NamedHost {
  /** In lower case; with `subdomains`, the part after `*.`. */
  readonly name: string;
  readonly subdomains: boolean;
  /** `''` for the default port of the scheme. */
  readonly port: string;
}

const EXAMPLES = 'such as media.example.com, *.example.com, localhost:9000, 10.0.0.5 or 10.0.0.0/8';

export class AllowedHosts {
  readonly #hosts: readonly NamedHost[];
  readonly #ranges: BlockList;

  /**
   * @param entries host names with or without port (`*.` in front for subdomains), addresses, address ranges
   * @throws {AnyvmafError} `usage` for a malformed entry
   */
  constructor(entries: readonly string[]) {
    this.#ranges = new BlockList();
    this.#hosts = entries.flatMap((entry) => {
      if (entry.includes('/') && !entry.includes('://')) {
        if (addRange(this.#ranges, entry)) return [];
        throw refusedEntry(entry);
      }
      return [readHost(entry)];
    });
  }

  /**
   * Checks a URL; the addresses of its host name are checked on connection.
   * @param from the URL that redirected there
   * @throws {AnyvmafError} `usage` if the URL is not allowed; `io` if it comes from a redirect
   */
  require(url: URL, from?: URL): void {
    const { protocol, port } = url;
    const name = shown(url.href);
    const refuse = (why: string, hints: readonly Remedy[] = []) =>
      from
        ? ioError(`${shown(from.href)} redirects to ${name}, ${why}`, { hints })
        : usageError(`${name} is ${why}`, { hints });
    if (protocol !== 'http:' && protocol !== 'https:')
      throw refuse(`a URL with an unsupported scheme (${shown(protocol)})`);
    if (from?.protocol === 'https:' && protocol === 'http:') throw refuse('which is not encrypted');
    const host = hostOf(url);
    const hit = this.#hosts.some((named) => named.port === port && isOf(named, host));
    if (!hit && !(port === '' && this.#inRange(host))) {
      const advice = shown(port === '' ? host : `${host}:${port}`);
      throw refuse('on a host that is not allowed', [allowing(advice)]);
    }
    const address = canonicalAddress(host);
    if (address !== undefined) this.requireAddress(address, url);
  }

  /** Checks an address of a URL's host. @throws {AnyvmafError} `io` if it is not allowed */
  requireAddress(address: string, url: URL): void {
    const canonical = canonicalAddress(address);
    const host = hostOf(url);
    if (canonical === undefined) throw ioError(`${shown(host)} has no address.`);
    if (this.#inRange(canonical) || isPublic(canonical)) return;
    const named = this.#hosts.some(
      ({ name, port }) => canonicalAddress(name) === canonical && (port === '' || port === url.port),
    );
    // localhost means this machine; it is not resolved by a name server.
    if (named || (isLoopback(canonical) && (host === 'localhost' || host.endsWith('.localhost')))) return;
    throw ioError(
      `${shown(host)} has the address ${shown(canonical)}, which belongs to this machine or a private network and must be ` +
        'allowed too',
      { hints: [allowing(shown(canonical))] },
    );
  }

  #inRange(host: string): boolean {
    const address = canonicalAddress(host);
    return address !== undefined && this.#ranges.check(address, familyOf(address));
  }
}

const allowing = (host: string): Remedy => ({
  ...{ purpose: 'fix', option: 'allowUrl', value: [host], aim: 'if you trust it' },
});

function isOf({ name, subdomains }: NamedHost, host: string): boolean {
  return subdomains ? host.endsWith(`.${name}`) : host === name;
}

const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1';

/** Normalised: no trailing dot, canonical addresses. */
function hostOf({ hostname }: URL): string {
  const host = hostname.replace(/\.$/, '').toLowerCase();
  return canonicalAddress(host) ?? host;
}

function readHost(entry: string): NamedHost {
  const subdomains = entry.startsWith('*.');
  const rest = subdomains ? entry.slice(2) : entry;
  // An IPv6 address without a port may omit its brackets.
  const text =
    canonicalAddress(rest) !== undefined && rest.includes(':') ? `[${rest.replace(/^\[|\]$/g, '')}]` : rest;
  if (!URL.canParse(`http://${text}`)) throw refusedEntry(entry);
  const url = new URL(`http://${text}`);
  const { hostname, pathname, search, hash, username, password } = url;
  const bare = pathname === '/' && !/[/?#@\\\s*]/.test(text) && search + hash + username + password === '';
  if (!bare || hostname === '') throw refusedEntry(entry);
  const port = /:(\d{1,5})$/.exec(text.slice(text.lastIndexOf(']') + 1))?.[1] ?? '';
  return {
    name: hostOf(url),
    subdomains,
    port: port === '80' || port === '443' ? '' : String(port && Number(port)),
  };
}

function refusedEntry(entry: string): AnyvmafError {
  return usageError(`allowUrl is ${quoted(entry)}, but it must be a host, ${EXAMPLES}.`);
}

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
  /** Before the second try; doubles with each further try. */
  readonly pause: number;
  readonly tries: number;
}

export const PATIENCE: Patience = { answer: 20_000, stall: 20_000, pause: 300, tries: 5 };

/** A failure that another try may cure. */
export class Transient extends Error {
  /** @param wait milliseconds from the server's Retry-After */
  constructor(
    message: string,
    readonly wait?: number,
  ) {
    super(message);
  }
}

export class Permanent extends Error {}

/** Redirects to follow; excludes those that would turn a PUT or DELETE into a GET. */
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

/** @throws {AnyvmafError} if the URL is not allowed; {@link Transient} and {@link Permanent}, with clauses as messages */
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
    if (hops === MOST_REDIRECTS) throw new Permanent(`it has more than ${MOST_REDIRECTS} redirects`);
    const next = target(headers.location, at);
    hosts.require(next, at);
    at = next;
  }
}

function target(location: string | undefined, from: URL): URL {
  if (URL.canParse(location ?? '', from.href)) return new URL(location ?? '', from);
  throw new Permanent(`${shown(from.href)} redirects to ${shown(String(location))}, which is not a URL`);
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
    // A password may contain a bare %.
    ...(username + password !== '' && { auth: `${decoded(username)}:${decoded(password)}` }),
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
    // Until it has a socket, it waits for other requests to this host, which have their own limits.
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

/** Resolves a host; fails if one of its addresses is not allowed. */
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
  const code = codeOf(cause);
  // The message is empty for an AggregateError: no address of the host was reachable.
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
      throw ioError(`${what}: ${clause(cause.message)}${often}; check the address and the network.`, {
        cause,
      });
    }
  }
}

function pauseBefore(tries: number, { pause }: Patience, { wait }: Transient): Promise<void> {
  const time = wait ?? pause * 2 ** (tries - 1) * (0.5 + Math.random());
  return new Promise((wake) => setTimeout(wake, time));
}
