/**
 * @module remote/allowed-hosts
 * Hosts that a run may fetch from: those the user named, at public addresses. Others (this machine, private networks,
 * cloud metadata; by IANA's registries of special-purpose addresses) must be named too, so that no name server leads
 * into a private network.
 */
import { BlockList, isIP, isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { AnyvmafError, usageError } from '../core/errors.js';
import { quoted, shown } from '../core/printable.js';

/** One list for each family: a shared one also checks IPv4 addresses as IPv6 ones, which `::/3` would match. */
const SPECIAL = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const range of [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
])
  addRange(SPECIAL.ipv4, range);
// All but global unicast, then the special ranges of that: 6to4 and Teredo too, which lead to an IPv4 address.
for (const range of ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])
  addRange(SPECIAL.ipv6, range);

/** Prefixes, in hexadecimal digits, of IPv6 addresses that stand for the IPv4 address in their last 32 bits. */
const EMBEDDING = [`${'0'.repeat(20)}ffff`, `0064ff9b${'0'.repeat(16)}`];

/** Without brackets and zone; IPv4 for an IPv6 address that stands for one; `undefined` for other text. */
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
  const own = Object.values(networkInterfaces()).flatMap((all) => all?.map((one) => one.address) ?? []);
  return !own.some((one) => canonicalAddress(one) === address);
}

/** Adds a range such as `10.0.0.0/8`. @returns false if it is not a range of addresses */
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
   * @param entries host names with or without port (`*.` in front: its subdomains), addresses, ranges of addresses
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
   * Checks a URL; the addresses of its host name are checked when it is connected to.
   * @param from the URL that redirected there
   * @throws {AnyvmafError} `usage` if the URL is not allowed; `io` if it comes from a redirect
   */
  require(url: URL, from?: URL): void {
    const { protocol, port } = url;
    const refuse = (why: string) => {
      const name = shown(url.href);
      return from
        ? new AnyvmafError('io', `${shown(from.href)} redirects to ${name}, ${why}.`)
        : usageError(`${name} is ${why}.`);
    };
    if (protocol !== 'http:' && protocol !== 'https:')
      throw refuse(`a URL with an unsupported scheme (${shown(protocol)})`);
    if (from?.protocol === 'https:' && protocol === 'http:') throw refuse('which is not encrypted');
    const host = hostOf(url);
    const hit = this.#hosts.some((named) => named.port === port && isOf(named, host));
    if (!hit && !(port === '' && this.#inRange(host))) {
      const advice = shown(port === '' ? host : `${host}:${port}`);
      throw refuse(`on a host that is not allowed; if you trust it, allow it: allowUrl ${advice}`);
    }
    const address = canonicalAddress(host);
    if (address !== undefined) this.requireAddress(address, url);
  }

  /** Checks an address of a URL's host. @throws {AnyvmafError} `io` if it is not allowed */
  requireAddress(address: string, url: URL): void {
    const canonical = canonicalAddress(address);
    const host = hostOf(url);
    if (canonical === undefined) throw new AnyvmafError('io', `${shown(host)} has no address.`);
    if (this.#inRange(canonical) || isPublic(canonical)) return;
    const named = this.#hosts.some(
      ({ name, port }) => canonicalAddress(name) === canonical && (port === '' || port === url.port),
    );
    // localhost can only mean this machine; no name server on the network is asked for it.
    if (named || (isLoopback(canonical) && (host === 'localhost' || host.endsWith('.localhost')))) return;
    throw new AnyvmafError(
      'io',
      `${shown(host)} has the address ${shown(canonical)}, which belongs to this machine or a private network and must ` +
        `be allowed too: allowUrl ${shown(canonical)}.`,
    );
  }

  #inRange(host: string): boolean {
    const address = canonicalAddress(host);
    return address !== undefined && this.#ranges.check(address, familyOf(address));
  }
}

function isOf({ name, subdomains }: NamedHost, host: string): boolean {
  return subdomains ? host.endsWith(`.${name}`) : host === name;
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1';
}

/** One spelling: without a trailing dot, addresses canonical. */
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
  let url: URL;
  try {
    url = new URL(`http://${text}`);
  } catch {
    throw refusedEntry(entry);
  }
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
