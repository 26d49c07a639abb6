/**
 * @module remote/addresses
 * Which addresses are the public's: not this machine's, not a private network's, not the metadata service of a cloud.
 * Ranges are those of IANA's registries of special-purpose addresses.
 */
import { BlockList, isIP, isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Of each family, since IPv4 addresses are also checked as IPv6 ones of `::/96`. */
const SPECIAL = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const range of [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
])
  addRange(SPECIAL.ipv4, range);
// Not global unicast, then what of that is special: 6to4 and Teredo too, which lead to an IPv4 address.
for (const range of ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])
  addRange(SPECIAL.ipv6, range);

/** Prefixes, in hexadecimal digits, of addresses that stand for the IPv4 address in their last 32 bits. */
const EMBEDDING = [`${'0'.repeat(20)}ffff`, `0064ff9b${'0'.repeat(16)}`];

/**
 * The one spelling of an address, without brackets and zone; an IPv6 address that stands for an IPv4 one becomes that.
 * @returns `undefined` for what is no address
 */
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

/** Whether nobody but the public can be meant. @param address canonical */
export function isPublic(address: string): boolean {
  const family = familyOf(address);
  if (SPECIAL[family].check(address, family)) return false;
  // A public address of this machine reaches what listens on it.
  const own = Object.values(networkInterfaces()).flatMap((all) => all?.map((one) => one.address) ?? []);
  return !own.some((one) => canonicalAddress(one) === address);
}

/** Adds `10.0.0.0/8` to a list. @returns false for what is no range of addresses */
export function addRange(list: BlockList, range: string): boolean {
  const [, network = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(range) ?? [];
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(network)] ?? -1;
  if (Number(bits) > most) return false;
  list.addSubnet(network, Number(bits), familyOf(network));
  return true;
}

/** Of an address. */
export function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6';
}
