/**
 * @module test/unit/mcp/guard
 * Who may call over HTTP (this machine by its own names, named origins, holders of the token), and hosts that may be fetched from:
 * named ones and public addresses, in any spelling.
 */
import { describe, expect, it } from 'vitest';
import {
  authority,
  checkOrigin,
  Guard,
  isLoopback,
  parseAddress,
  readTarget,
} from '../../../src/mcp/guard.js';
import { AllowedHosts, canonicalAddress, isPublic } from '../../../src/remote/request.js';

const open = { address: { host: '127.0.0.1', port: 8765 }, token: undefined, origins: [] };

describe('addresses', () => {
  it.each([
    ['', '127.0.0.1', 8765],
    ['9000', '127.0.0.1', 9000],
    ['localhost', 'localhost', 8765],
    ['0.0.0.0:80', '0.0.0.0', 80],
    ['[::1]:80', '::1', 80],
    ['[::]', '::', 8765],
  ])('%j are read', (text, host, port) => {
    expect(parseAddress(text)).toEqual({ host, port });
  });

  it.each(['1:2:3', ':80', 'host:', '::1', 'host:70000', 'http://host', 'a b'])('refuses %j', (text) => {
    expect(() => parseAddress(text)).toThrow('is not an address');
  });

  it('are written as in URLs, and are loopback only if they cannot be anything else', () => {
    expect(authority({ host: '::1', port: 80 })).toBe('[::1]:80');
    expect(['localhost', '127.0.0.1', '127.1.2.3', '::1'].filter((host) => !isLoopback(host))).toEqual([]);
    const others = ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.org', 'localhost.example.org', ''];
    expect(others.filter(isLoopback)).toEqual([]);
  });
});

describe('a target', () => {
  it('is a path, or a URL whose host counts', () => {
    expect(readTarget('/mcp?a=1', 'localhost:1')).toEqual({ host: 'localhost:1', path: '/mcp?a=1' });
    expect(readTarget('http://[::1]:8765/mcp', 'localhost')).toEqual({ host: '[::1]:8765', path: '/mcp' });
    expect(readTarget('http://a.example?x', 'localhost')).toEqual({ host: 'a.example', path: '/?x' });
    expect(readTarget('/health')).toEqual({ host: 'localhost', path: '/health' });
  });

  it.each([
    ['/mcp', '127.0.0.1@evil.com'],
    ['/mcp', 'localhost:9101:1'],
    ['/mcp', 'localhost:x'],
    ['/mcp', 'localhost:99999'],
    ['/mcp', ''],
    ['/mcp', 'a b'],
    ['/mcp', '[::1'],
    ['/mcp', '[:::::1]'],
    ['/mcp', 'localhost/'],
    ['*', 'localhost'],
    ['mcp', 'localhost'],
    ['http://user@localhost/mcp', 'localhost'],
    ['ftp://localhost/mcp', 'localhost'],
    ['localhost:443', 'localhost'],
  ])('is malformed: %s at %s', (target, host) => {
    expect(readTarget(target, host)).toBeUndefined();
  });
});

describe('the Host header', () => {
  const guard = new Guard(open);
  const refused = (host: string | null) => guard.refuseSender({ host, origin: null })?.status;

  it('must name this machine, at any port', () => {
    for (const host of ['localhost', 'LOCALHOST:8765', '127.0.0.1:1', '[::1]:8765'])
      expect(refused(host), host).toBeUndefined();
    const others = ['example.org', 'localhost.example.org', '127.0.0.1.example.org', '10.0.0.1', '', 'a:b:c'];
    for (const host of [...others, null]) expect(refused(host), String(host)).toBe(403);
  });

  it('may name any host if the server listens for others, who need the token', () => {
    const wide = new Guard({ ...open, address: { host: '0.0.0.0', port: 8765 }, token: 't' });
    expect(wide.refuseSender({ host: 'video.example.org', origin: null })).toBeUndefined();
  });
});

describe('the Origin header', () => {
  it('is refused unless it is allowed exactly', () => {
    const guard = new Guard({ ...open, origins: ['http://localhost:6274'] });
    const refused = (origin: string | null) => guard.refuseSender({ host: 'localhost', origin })?.status;
    expect(refused(null)).toBeUndefined();
    expect(refused('http://localhost:6274')).toBeUndefined();
    for (const origin of ['http://localhost', 'http://localhost:62740', 'https://localhost:6274', 'null', ''])
      expect(refused(origin), origin).toBe(403);
  });

  it('may be the server itself, at its own port', () => {
    const guard = new Guard(open);
    for (const origin of ['http://127.0.0.1:8765', 'http://localhost:8765', 'http://[::1]:8765'])
      expect(guard.refuseSender({ host: 'localhost:8765', origin }), origin).toBeUndefined();
    for (const origin of ['http://localhost:8766', 'https://localhost:8765', 'http://evil.example:8765'])
      expect(guard.refuseSender({ host: 'localhost:8765', origin })?.status, origin).toBe(403);
    const wide = new Guard({ ...open, address: { host: '10.0.0.1', port: 80 }, token: 't' });
    expect(wide.allowsOrigin('http://10.0.0.1:80')).toBe(true);
    expect(wide.allowsOrigin('http://localhost:80')).toBe(false);
  });

  it('is validated when it is allowed', () => {
    expect(checkOrigin('http://localhost:6274/')).toBe('http://localhost:6274');
    expect(checkOrigin('*')).toBe('*');
    for (const origin of ['localhost', 'file:///x', ''])
      expect(() => checkOrigin(origin)).toThrow('not an origin');
  });
});

it('a token is required if one is set', () => {
  const guard = new Guard({ ...open, token: 'secret' });
  const refused = (authorization: string | null) => guard.refuseCall({ authorization })?.status;
  expect(refused('Bearer secret')).toBeUndefined();
  expect(refused('bearer  secret')).toBeUndefined();
  const wrong = ['', 'secret', 'Bearer', 'Bearer secre', 'Bearer secret2', 'Basic secret', 'Bearer a b'];
  for (const value of [...wrong, null]) expect(refused(value), String(value)).toBe(401);
  expect(new Guard(open).refuseCall({ authorization: null })).toBeUndefined();
});

const may = (entries: readonly string[], url: string, address?: string): boolean => {
  const hosts = new AllowedHosts(entries);
  try {
    hosts.require(new URL(url));
    if (address !== undefined) hosts.requireAddress(address, new URL(url));
    return true;
  } catch {
    return false;
  }
};

describe('addresses to fetch from', () => {
  it('are private in every reserved range, and public otherwise', () => {
    const inside = `
      0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1
      172.31.255.255 192.168.1.1 198.19.0.1 224.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1
      ::ffff:a9fe:a9fe 0:0:0:0:0:ffff:10.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::1 ::127.0.0.1
      fe80::1%eth0 fc00::1 fd00:ec2::254 ff02::1 2001::1 2001:db8::1 2002:7f00:1::1 100::1`;
    const publicOf = (list: string) =>
      list
        .trim()
        .split(/\s+/)
        .filter((address) => isPublic(canonicalAddress(address) ?? ''));
    expect(publicOf(inside)).toEqual([]);
    const outside = '8.8.8.8 172.32.0.1 100.128.0.1 2606:4700::1111 ::ffff:8.8.8.8 64:ff9b::808:808';
    expect(publicOf(outside).join(' ')).toBe(outside);
  });

  it('have one spelling', () => {
    expect(canonicalAddress('[0:0:0:0:0:FFFF:7f00:1]')).toBe('127.0.0.1');
    expect(canonicalAddress('2606:4700:0:0:0:0:0:1111')).toBe('2606:4700::1111');
    expect(canonicalAddress('example.com')).toBeUndefined();
    expect(canonicalAddress('127.1')).toBeUndefined();
  });
});

describe('hosts', () => {
  it('are allowed as named, at the named ports', () => {
    for (const [allowed, url, taken] of [
      ['media.example.com', 'https://media.example.com/a.mp4?X-Amz-Signature=1', true],
      ['MEDIA.example.com.', 'http://media.EXAMPLE.com./a', true],
      ['media.example.com', 'https://media.example.com:8443/a', false],
      ['media.example.com:8443', 'https://media.example.com:8443/a', true],
      ['media.example.com:443', 'https://media.example.com/a', true],
      ['example.com', 'https://media.example.com/a', false],
      ['*.example.com', 'https://media.example.com/a', true],
      ['*.example.com', 'https://badexample.com/a', false],
      ['*.example.com', 'https://example.com/a', false],
      ['media.example.com', 'https://media.example.com@evil.com/a', false],
      ['media.example.com', 'https://media.example.com.evil.com/a', false],
    ] as const)
      expect(may([allowed], url), `${allowed}: ${url}`).toBe(taken);
    expect(may([], 'https://media.example.com/a')).toBe(false);
    for (const scheme of ['ftp', 'file', 'rtmp', 'data', 'ws'])
      expect(may(['media.example.com'], `${scheme}://media.example.com/a`)).toBe(false);
  });

  const SPELLINGS =
    'http://127.0.0.1/ http://2130706433/ http://0x7f.1/ http://0177.0.0.1/ http://127.1/ ' +
    'http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]/ http://[0:0:0:0:0:ffff:127.0.0.1]/ http://１２７.0.0.1/';
  it.each(SPELLINGS.split(' '))('may be addresses in any spelling: %s', (url) => {
    expect(may(['127.0.0.1'], url)).toBe(true);
    expect(may(['10.0.0.1', 'example.com'], url)).toBe(false);
    expect(may(['127.0.0.0/8'], url)).toBe(true);
  });

  it('with a private address need that allowed too', () => {
    const url = 'https://media.example.com/a';
    for (const inward of ['10.0.0.5', '127.0.0.1', '169.254.169.254', '::1', '::ffff:10.0.0.5', 'fd00::1']) {
      expect(may(['media.example.com'], url, inward)).toBe(false);
      expect(may(['media.example.com', inward], url, inward)).toBe(true);
    }
    for (const [inside, address, taken] of [
      ['10.0.0.0/8', '10.0.0.5', true],
      ['10.0.0.0/8', '192.168.0.5', false],
      ['fd00::/8', 'fd00::1', true],
      ['10.0.0.5:9000', '10.0.0.5', false],
    ] as const)
      expect(may(['media.example.com', inside], url, address), `${inside}, ${address}`).toBe(taken);
    expect(may(['media.example.com'], url, '8.8.8.8')).toBe(true);
    expect(may(['localhost:9000'], 'http://localhost:9000/', '127.0.0.1')).toBe(true);
    expect(may(['localhost:9000'], 'http://localhost:9000/', '10.0.0.5')).toBe(false);
  });

  it('must not redirect to hosts that are not allowed, or to unencrypted URLs', () => {
    const hosts = new AllowedHosts(['media.example.com', '10.0.0.5']);
    const from = new URL('https://media.example.com/a?sig=secret');
    const redirects = (to: string) => expect(() => hosts.require(new URL(to), from));
    redirects('https://media.example.com/b').not.toThrow();
    redirects('http://media.example.com/b').toThrow(', which is not encrypted.');
    redirects('https://169.254.169.254/').toThrow(
      'https://media.example.com/a?... redirects to https://169.254.169.254/, on a host that is not allowed',
    );
    redirects('file:///etc/passwd').toThrow('a URL with an unsupported scheme (file:)');
  });

  it('that are not hosts are refused', () => {
    const wrong =
      'https://a.com a.com/path 10.0.0.0/33 10.0.0.0/ / u@a.com * *. a.com:x a.com:99999 *.*.com a.com?x ::1/200';
    for (const entry of [...wrong.split(' '), '', 'a b'])
      expect(() => new AllowedHosts([entry]), entry).toThrow('it must be a host, such as');
  });
});
