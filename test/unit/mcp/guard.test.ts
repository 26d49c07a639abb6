/**
 * @module test/unit/mcp/guard
 * Who may call over HTTP: this machine by its own names, pages that were named, holders of the token.
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

const open = { address: { host: '127.0.0.1', port: 8765 }, token: undefined, origins: [] };

describe('addresses', () => {
  it.each([
    ['', '127.0.0.1', 8765],
    ['9000', '127.0.0.1', 9000],
    ['localhost', 'localhost', 8765],
    ['0.0.0.0:80', '0.0.0.0', 80],
    ['[::1]:80', '::1', 80],
    ['[::]', '::', 8765],
  ])('%j', (text, host, port) => {
    expect(parseAddress(text)).toEqual({ host, port });
  });

  it.each(['1:2:3', ':80', 'host:', '::1', 'host:70000', 'http://host', 'a b'])('refuses %j', (text) => {
    expect(() => parseAddress(text)).toThrow('is not an address');
  });

  it('are written as URLs have them', () => {
    expect(authority({ host: '::1', port: 80 })).toBe('[::1]:80');
  });

  it('are loopback only when they cannot be anything else', () => {
    expect(['localhost', '127.0.0.1', '127.1.2.3', '::1'].filter((host) => !isLoopback(host))).toEqual([]);
    expect(
      ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.org', 'localhost.example.org', ''].filter(isLoopback),
    ).toEqual([]);
  });
});

describe('a target', () => {
  it('is a path, or a whole address whose host counts', () => {
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
  ])('that is malformed is told: %s at %s', (target, host) => {
    expect(readTarget(target, host)).toBeUndefined();
  });
});

describe('the Host header', () => {
  const guard = new Guard(open);
  const refused = (host: string | null) => guard.refuseSender({ host, origin: null })?.status;

  it('must name this machine, at whatever port', () => {
    for (const host of ['localhost', 'LOCALHOST:8765', '127.0.0.1:1', '[::1]:8765'])
      expect(refused(host), host).toBeUndefined();
    for (const host of [
      'example.org',
      'localhost.example.org',
      '127.0.0.1.example.org',
      '10.0.0.1',
      '',
      null,
      'a:b:c',
    ])
      expect(refused(host), String(host)).toBe(403);
  });

  it('may be any where the server listens for others, who need the token', () => {
    const wide = new Guard({ ...open, address: { host: '0.0.0.0', port: 8765 }, token: 't' });
    expect(wide.refuseSender({ host: 'video.example.org', origin: null })).toBeUndefined();
  });
});

describe('the Origin header', () => {
  it('is refused unless it was named, exactly', () => {
    const guard = new Guard({ ...open, origins: ['http://localhost:6274'] });
    const refused = (origin: string | null) => guard.refuseSender({ host: 'localhost', origin })?.status;
    expect(refused(null)).toBeUndefined();
    expect(refused('http://localhost:6274')).toBeUndefined();
    for (const origin of ['http://localhost', 'http://localhost:62740', 'https://localhost:6274', 'null', ''])
      expect(refused(origin), origin).toBe(403);
  });

  it('may be one of the server itself, at its own port', () => {
    const guard = new Guard(open);
    for (const origin of ['http://127.0.0.1:8765', 'http://localhost:8765', 'http://[::1]:8765'])
      expect(guard.refuseSender({ host: 'localhost:8765', origin }), origin).toBeUndefined();
    for (const origin of ['http://localhost:8766', 'https://localhost:8765', 'http://evil.example:8765'])
      expect(guard.refuseSender({ host: 'localhost:8765', origin })?.status, origin).toBe(403);
    const wide = new Guard({ ...open, address: { host: '10.0.0.1', port: 80 }, token: 't' });
    expect(wide.allowsOrigin('http://10.0.0.1:80')).toBe(true);
    expect(wide.allowsOrigin('http://localhost:80')).toBe(false);
  });

  it('is checked when it is named', () => {
    expect(checkOrigin('http://localhost:6274/')).toBe('http://localhost:6274');
    expect(checkOrigin('*')).toBe('*');
    for (const origin of ['localhost', 'file:///x', ''])
      expect(() => checkOrigin(origin)).toThrow('not an origin');
  });
});

describe('the token', () => {
  it('is wanted when there is one', () => {
    const guard = new Guard({ ...open, token: 'secret' });
    const refused = (authorization: string | null) => guard.refuseCall({ authorization })?.status;
    expect(refused('Bearer secret')).toBeUndefined();
    expect(refused('bearer  secret')).toBeUndefined();
    for (const value of [
      null,
      '',
      'secret',
      'Bearer',
      'Bearer secre',
      'Bearer secret2',
      'Basic secret',
      'Bearer a b',
    ])
      expect(refused(value), String(value)).toBe(401);
    expect(new Guard(open).refuseCall({ authorization: null })).toBeUndefined();
  });
});
