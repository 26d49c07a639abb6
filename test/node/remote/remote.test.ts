/**
 * @module test/node/remote/remote
 * Files behind URLs: the bytes that were requested and few others, and a clear error for every server that misbehaves.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import { createServer } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { RemoteFile, RemoteStore } from '../../../src/remote/remote-file.js';
import { AllowedHosts, type Patience } from '../../../src/remote/request.js';
import { FileServer } from '../../support/file-server.js';
import { seeded } from '../../support/random.js';

const patience: Patience = { answer: 400, stall: 300, pause: 5, tries: 3 };
const content = new Uint8Array(1_000_000);
const random = seeded(7);
for (let i = 0; i < content.length; i++) content[i] = random.int(0, 255);

const server = await FileServer.forTests();
server.keeps = true;
/** A second server, which keeps the requests of all tests. */
const other = await FileServer.start();
afterAll(() => other[Symbol.asyncDispose]());

/** Lets the server answer every request like this. */
function answers(status: number, headers: OutgoingHttpHeaders = {}, body: string | Uint8Array = ''): void {
  server.behave = (_, response) => {
    response.writeHead(status, headers).end(body);
    return true;
  };
}

const open = (url: string, hosts: readonly string[] = [server.host], given = patience) =>
  RemoteFile.open(url, new AllowedHosts(hosts), { patience: given });

async function bytesAt(file: RemoteFile, from: number, length: number): Promise<Uint8Array> {
  const into = new Uint8Array(length);
  return into.subarray(0, await file.reader().read(from, [into]));
}

/** The message of the error of reading from a place; the URL is signed, and no message may contain the signature. */
async function refusal(url: string, hosts?: readonly string[], given = patience): Promise<string> {
  try {
    await bytesAt(await open(`${url}?X-Amz-Signature=secret`, hosts, given), 500_000, 1000);
  } catch (error) {
    const text = error instanceof Error ? error.message : '';
    expect(text).not.toContain('secret');
    return text;
  }
  return 'none';
}

describe('reading', () => {
  it('gives the bytes of any place, in any parts', async () => {
    const file = await open(server.add('/a', content));
    expect(file.size).toBe(content.length);
    for (let i = 0; i < 60; i++) {
      const from = random.int(0, content.length);
      const sizes = Array.from({ length: random.int(1, 4) }, () => random.int(0, 90_000));
      const parts = sizes.map((size) => new Uint8Array(size));
      const got = await file.reader().read(from, parts);
      const wanted = content.subarray(from, from + sizes.reduce((sum, size) => sum + size));
      expect(got).toBe(wanted.length);
      expect(Buffer.compare(Buffer.concat(parts).subarray(0, got), wanted)).toBe(0);
    }
    expect(file.transferred).toBeLessThanOrEqual(content.length);
    expect(server.sent.get('/a')).toBe(file.transferred);
  });

  it('transfers little more than is read, and no part twice', async () => {
    const file = await open(server.add('/b', content));
    const reader = file.reader();
    for (let at = 200_000; at < 300_000; at += 10_000) await reader.read(at, [new Uint8Array(10_000)]);
    await new Promise((wake) => setTimeout(wake, 50));
    expect(server.sent.get('/b')).toBeLessThan(100_000 + 4 * 16_384);
    await bytesAt(file, 200_000, 100_000);
    expect(server.sent.get('/b')).toBeLessThan(100_000 + 4 * 16_384);
  });

  it('continues after a broken connection, and waits for a busy server', async () => {
    const url = server.add('/c', content);
    let answers = 0;
    server.behave = (request, response, file) => {
      answers++;
      if (answers % 3 === 1) return false;
      if (answers % 3 === 2) response.writeHead(503, { 'retry-after': '0' }).end();
      else if (file) server.send(request, response, file, 5000);
      return true;
    };
    const file = await open(url);
    expect(Buffer.compare(await bytesAt(file, 300_000, 100_000), content.subarray(300_000, 400_000))).toBe(0);
  });

  it('accepts smaller parts than it requested, if the server says so', async () => {
    const url = server.add('/small', content);
    server.behave = (request, response, file) => {
      const [, from = 0, to = 0] = /(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? [];
      request.headers.range = `bytes=${from}-${Math.min(Number(to), Number(from) + 8191)}`;
      if (file) server.send(request, response, file);
      return true;
    };
    expect(Buffer.compare(await bytesAt(await open(url), 5, 200_000), content.subarray(5, 200_005))).toBe(0);
  });

  it('keeps the query and the credentials of the URL, for its own host only', async () => {
    const seen: (string | undefined)[] = [];
    server.behave = (request, response) => {
      seen.push(request.url, request.headers.authorization);
      response.writeHead(302, { location: `http://127.0.0.1:${other.port}/a?token=2` }).end();
      return true;
    };
    other.behave = (request) => {
      seen.push(request.url, request.headers.authorization);
      return false;
    };
    other.add('/a', content);
    const url = `http://me:50%25%@127.0.0.1:${server.port}/a?X-Amz-Signature=s%2Fx`;
    const file = await open(url, [server.host, other.host]);
    expect(seen).toEqual(['/a?X-Amz-Signature=s%2Fx', `Basic ${btoa('me:50%%')}`, '/a?token=2', undefined]);
    expect(file.name).toBe(`http://127.0.0.1:${server.port}/a?...`);
    other.behave = () => false;
  });
});

describe('servers that misbehave', () => {
  const file = (path: string) => server.add(path, content);

  it('ignore ranges', async () => {
    answers(200, { 'content-length': content.length }, content);
    expect(await refusal(file('/r'))).toContain('ignores range requests and sends the whole file');
  });

  it('truncate', async () => {
    const url = file('/t');
    server.behave = (request, response, found) => {
      if (!found || request.headers.range?.startsWith('bytes=0-')) return false;
      server.send(request, response, found, 0);
      return true;
    };
    expect(await refusal(url)).toMatch(/closed the connection after 0 of 16384 bytes \(3 tries\)/);
  });

  it('stall before the answer and within it', async () => {
    const url = file('/s');
    server.behave = (request) => !request.headers.range?.startsWith('bytes=0-');
    // The beginning is answered.
    const short = { ...patience, answer: 200, stall: 100, tries: 2 };
    expect(await refusal(url, undefined, short)).toContain('no answer within 0.2 s (2 tries)');
    server.behave = (request, response) => {
      if (request.headers.range?.startsWith('bytes=0-')) return false;
      const [, part = ''] = /=(.*)/.exec(request.headers.range ?? '') ?? [];
      response.writeHead(206, { 'content-range': `bytes ${part}/1000000`, etag: '"1"' });
      response.write('x');
      return true;
    };
    const stalled = await refusal(url, undefined, short);
    expect(stalled).toMatch(/the server stalled: no data for 0\.1 s \(2 tries\)/);
  });

  it('redirect inward, in circles and to invalid URLs', async () => {
    const inward = [
      `http://127.0.0.1:${other.port}/a`,
      `http://localhost:${server.port}/a`,
      'http://169.254.169.254/latest/meta-data/',
      `http://[::ffff:127.0.0.1]:${other.port}/a`,
      `http://2130706433:${other.port}/a`,
      'https://example.com/a',
    ];
    for (const location of inward) {
      answers(302, { location });
      expect(await refusal(file('/i'))).toMatch(/\?\.\.\. redirects to .*, on a host that is not allowed/);
    }
    const outward = [
      ['/again', 'it has more than 5 redirects'],
      ['file:///etc/passwd', 'a URL with an unsupported scheme (file:)'],
      ['http://', 'which is not a URL'],
    ] as const;
    for (const [location, why] of outward) {
      answers(307, { location });
      expect(await refusal(file('/l'))).toContain(why);
    }
    expect(other.requests).toEqual([expect.stringContaining('/a?token=2')]);
  });

  it('redirect only later', async () => {
    const url = file('/later');
    server.behave = (request, response) => {
      if (request.headers.range?.startsWith('bytes=0-')) return false;
      response.writeHead(302, { location: `http://127.0.0.1:${other.port}/a` }).end();
      return true;
    };
    expect(await refusal(url)).toContain('on a host that is not allowed');
  });

  it('change the ETag, date or length of the file meanwhile', async () => {
    const file = { bytes: content };
    const [monday, tuesday] = ['Mon, 01 Jan 2024 00:00:00 GMT', 'Tue, 02 Jan 2024 00:00:00 GMT'];
    const newer = `its modification time was ${monday} and is Tue`;
    const states = [
      [{ ...file, etag: '"1"' }, { ...file, etag: '"2"' }, 'its ETag was "1" and is "2"'],
      [{ ...file, etag: '"1"' }, file, 'its ETag was "1" and is missing'],
      [{ ...file, modified: monday }, { ...file, modified: tuesday }, newer],
      [file, { bytes: content.subarray(0, 900_000) }, 'it had 1000000 bytes and has 900000'],
      [file, { bytes: content.subarray(0, 400_000) }, 'it no longer has byte 491520'],
    ] as const;
    for (const [before, after, why] of states) {
      server.files.set('/x', before);
      const opened = await open(`${server.url('/x')}?sig=secret`);
      server.files.set('/x', after);
      await expect(bytesAt(opened, 500_000, 10)).rejects.toThrow(`/x?... changed while it was read: ${why}`);
      // It stays changed, even where the file is as it was.
      server.files.set('/x', before);
      await expect(bytesAt(opened, 0, 10)).rejects.toThrow('changed while it was read');
    }
  });

  it('answer with something else', async () => {
    const range = (stated: string, more = {}) => ({ 'content-range': `bytes ${stated}`, ...more });
    const odd: readonly (readonly [number, Record<string, string>, string])[] = [
      [403, {}, 'answered 403 (forbidden; a signed URL may have expired)'],
      [404, {}, 'answered 404 (there is no such file)'],
      [204, {}, 'answered 204'],
      [500, {}, 'answered 500 (3 tries)'],
      [206, {}, 'does not state which part'],
      [206, range('0-9/*'), 'does not state which part'],
      [206, range('5-20/1000000'), 'the server sends bytes 5-20/1000000 instead of bytes 0-'],
      [206, range('0-99999/1000000'), 'instead of bytes 0-16383'],
      [206, range('0-16383/1000000', { 'content-encoding': 'gzip' }), 'compressed (gzip)'],
      [416, range('*/0'), 'the file is empty'],
    ];
    for (const [status, headers, why] of odd) {
      answers(status, headers, 'some text');
      expect(await refusal(file('/e'))).toContain(why);
    }
    answers(206, { 'content-range': 'bytes 0-16383/1000000' }, content.subarray(0, 20_000));
    expect(await refusal(file('/e'))).toContain('sends more than was requested');
  });

  it('do not exist, have no known name or do not speak HTTP', async () => {
    expect(await refusal('http://127.0.0.1:9/a', ['127.0.0.1:9'])).toMatch(/ECONNREFUSED.*\(3 tries\)/);
    const unknown = await refusal('http://nowhere.invalid/a', ['nowhere.invalid']);
    expect(unknown).toMatch(/its host name is unknown|EAI_AGAIN/);
    const noise = createServer((socket) => socket.on('error', () => {}).end('no HTTP at all\r\n\r\n'));
    await new Promise<void>((resolve) => noise.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(noise.address() as { port: number }).port}`;
    expect(await refusal(`http://${host}/a`, [host])).toContain('could not be fetched');
    noise.close();
  });

  it('on this machine are reached by another name only if it is allowed', async () => {
    const url = `http://localhost:${server.port}/n`;
    server.add('/n', content);
    expect(await refusal(url, [server.host])).toContain('on a host that is not allowed');
    expect(await refusal(url, [`localhost:${server.port}`])).toBe('none');
  });
});

const store = (path = '/scores') => new RemoteStore(server.url(path), [server.host], patience);

describe('a store behind a URL', () => {
  it('keeps files by name below its path, with its query', async () => {
    const signed = store('/scores/?sig=SECRET');
    await signed.put('a/b.json', Buffer.from('hello'));
    expect(server.requests).toEqual(['PUT /scores/a/b.json?sig=SECRET']);
    expect((await store('/scores').get('a/b.json', 5))?.toString()).toBe('hello');
    await signed.remove('a/b.json');
    expect(server.files.has('/scores/a/b.json')).toBe(false);
  });

  it('has no missing files and none of another size', async () => {
    server.add('/scores/b.json', Buffer.from('hello'));
    expect(await store().get('none.json', 5)).toBeUndefined();
    expect(await store().get('b.json', 6)).toBeUndefined();
  });

  it('does not take a failing server for a lost file', async () => {
    server.add('/scores/b.json', Buffer.from('hello'));
    answers(503);
    await expect(store().get('b.json', 5)).rejects.toThrow('answered 503 (3 tries)');
    await expect(store().put('c.json', Buffer.from('x'))).rejects.toThrow('answered 503 (3 tries)');
    await store().remove('b.json');
    expect(server.files.has('/scores/b.json')).toBe(true);
  });

  it('follows the rules of hosts, also for redirects', async () => {
    expect(() => new RemoteStore(server.url('/'), [])).toThrow('not allowed');
    expect(() => new RemoteStore('file:///tmp', [server.host])).toThrow('a URL with an unsupported scheme');
    answers(307, { location: 'http://169.254.169.254/latest' });
    await expect(store().get('b.json', 5)).rejects.toThrow('on a host that is not allowed');
    await expect(store().put('b.json', Buffer.from('x'))).rejects.toThrow('on a host that is not allowed');
    await store().remove('b.json');
  });
});
