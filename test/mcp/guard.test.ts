/**
 * @module test/mcp/guard
 * Who may call over HTTP: this machine by its own names, pages that were named, holders of the token.
 */
import { describe, expect, it } from 'vitest';
import { authority, checkOrigin, Guard, isLoopback, parseAddress } from '../../src/mcp/guard.js';

const open = { host: '127.0.0.1', token: undefined, origins: [] };

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
    const wide = new Guard({ ...open, host: '0.0.0.0', token: 't' });
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
