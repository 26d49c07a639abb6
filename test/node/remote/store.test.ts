/**
 * @module test/node/remote/store
 * Files below a URL: put, fetched and removed, with what is lost told from what does not come.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RemoteStore } from '../../../src/remote/store.js';
import { FileServer } from '../../support/file-server.js';

const QUICK = { answer: 500, stall: 500, pause: 5, tries: 3 };

let server: FileServer;
beforeAll(async () => {
  server = await FileServer.start();
  server.keeps = true;
});
afterAll(async () => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.behave = () => false;
  server.requests.length = 0;
});

const store = (path = '/scores') => new RemoteStore(server.url(path), [server.host], QUICK);

describe('a store behind a URL', () => {
  it('keeps files by name below its path, with its query', async () => {
    const signed = store('/scores/?sig=SECRET');
    await signed.put('a/b.json', Buffer.from('hello'));
    expect(server.requests).toEqual(['PUT /scores/a/b.json?sig=SECRET']);
    expect((await store('/scores').get('a/b.json', 5))?.toString()).toBe('hello');
    await signed.remove('a/b.json');
    expect(server.files.has('/scores/a/b.json')).toBe(false);
  });

  it('lacks what is not there, and what has another size', async () => {
    server.add('/scores/b.json', Buffer.from('hello'));
    expect(await store().get('none.json', 5)).toBeUndefined();
    expect(await store().get('b.json', 6)).toBeUndefined();
  });

  it('does not take a server in trouble for a file that is lost', async () => {
    server.add('/scores/b.json', Buffer.from('hello'));
    server.behave = (_, response) => {
      response.writeHead(503).end();
      return true;
    };
    await expect(store().get('b.json', 5)).rejects.toThrow('answered 503 (3 tries)');
    await expect(store().put('c.json', Buffer.from('x'))).rejects.toThrow('answered 503 (3 tries)');
    await store().remove('b.json');
    expect(server.files.has('/scores/b.json')).toBe(true);
  });

  it('follows the rules of hosts, redirects too', async () => {
    expect(() => new RemoteStore(server.url('/'), [])).toThrow('not allowed');
    expect(() => new RemoteStore('file:///tmp', [server.host])).toThrow('never opened');
    server.behave = (_, response) => {
      response.writeHead(307, { location: 'http://169.254.169.254/latest' }).end();
      return true;
    };
    await expect(store().get('b.json', 5)).rejects.toThrow('on a host that is not allowed');
    await expect(store().put('b.json', Buffer.from('x'))).rejects.toThrow('on a host that is not allowed');
    await store().remove('b.json');
  });
});
