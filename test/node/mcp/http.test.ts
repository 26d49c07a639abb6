/**
 * @module test/node/mcp/http
 * The server over HTTP: access, malformed requests, isolated sessions, and how calls end when a client disconnects or the server
 * stops.
 */
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterEach, describe, expect, it } from 'vitest';
import { type GuardOptions, listen } from '../../../src/mcp/guard.js';
import { fakeHost, fakeHttp, INITIALIZE as HELLO, httpClient, post, seen } from '../../support/mcp-host.js';

type Started = Awaited<ReturnType<typeof fakeHttp>>;

let running: Started[] = [];
let clients: Client[] = [];

async function start(options: Partial<GuardOptions> = {}) {
  const log: string[] = [];
  const http = await fakeHttp(await fakeHost({}, (line) => log.push(line)), options);
  running.push(http);
  return { ...http, log };
}

afterEach(async () => {
  for (const client of clients) await client.close();
  for (const http of running) await http.close();
  running = [];
  clients = [];
});

const rpc = (id: number, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params });
const call = (id: number, name: string, args: object = {}, meta: object = {}) =>
  rpc(id, 'tools/call', { name, arguments: args, _meta: meta });
const notice = (method: string, params: object = {}) => ({
  ...{ jsonrpc: '2.0', method: `notifications/${method}`, params },
});
const cancel = (requestId: number) => notice('cancelled', { requestId });
const INITIALIZE = rpc(0, 'initialize', HELLO.params);

/** Messages of a finished event stream, or the one of a JSON body. */
async function messages(response: Response): Promise<unknown[]> {
  const text = await response.text();
  if (text.startsWith('{')) return [JSON.parse(text)];
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? ''));
}

/** Opens a session as clients before 2026-07-28 do. */
async function session(url: string): Promise<Record<string, string>> {
  const response = await post(url, INITIALIZE);
  await response.text();
  const id = response.headers.get('mcp-session-id');
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  const headers = { 'mcp-session-id': id ?? '', 'mcp-protocol-version': '2025-06-18' };
  expect((await post(url, notice('initialized'), headers)).status).toBe(202);
  return headers;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function join(url: string): Promise<Client> {
  const client = await httpClient(url);
  clients.push(client);
  return client;
}

/** What the server sends on a connection of its own until it closes it. */
function exchange(port: number, text: string, dribble?: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let heard = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      heard += chunk;
    });
    socket.on('error', () => {});
    const dribbling = setInterval(() => dribble !== undefined && socket.write(dribble), 50);
    socket.on('close', () => {
      clearInterval(dribbling);
      resolve(heard);
    });
    socket.write(text);
  });
}

const status = (text: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
const HEAD = 'Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n';

describe('requests', () => {
  it('are answered within a session and without one', async () => {
    const { url } = await start();
    const headers = await session(url);
    for (const given of [headers, {}]) {
      const [answer] = await messages(await post(url, call(1, 'echo', { text: 'hello' }), given));
      expect(answer).toMatchObject({ id: 1, result: { structuredContent: { text: 'hello' } } });
    }
    const gone = await post(url, call(1, 'echo', { text: 'a' }), { 'mcp-session-id': 'nothing' });
    expect(gone.status).toBe(404);
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(200);
    expect((await post(url, call(1, 'echo', { text: 'a' }), headers)).status).toBe(404);
  });

  it('that are malformed or have more than 4 MiB are refused, and the server survives', async () => {
    const { url } = await start();
    for (const body of ['garbage', '', 'null', []]) expect((await post(url, body)).status).toBe(400);
    expect((await post(url, call(1, 'echo'), { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post(url.replace('/mcp', '/other'), INITIALIZE)).status).toBe(404);
    expect((await fetch(url)).status).toBe(405);
    expect((await fetch(url, { method: 'PUT' })).status).toBe(405);
    const big = await post(url, call(1, 'echo', { text: 'x'.repeat(5 << 20) })).catch(() => undefined);
    // The connection may be cut before the client has sent everything.
    if (big) expect(big.status).toBe(413);
    expect((await post(url, INITIALIZE)).status).toBe(200);
  });
});

describe('access', () => {
  it('is refused under other host names, as rebinding attacks use them', async () => {
    const { port } = await start();
    const head = `POST /mcp HTTP/1.1\r\nHost: evil.example.org\r\nConnection: close\r\n${HEAD}\r\n`;
    expect(status(await exchange(port, head))).toBe(403);
  });

  it('is refused to pages, except those of the server itself and of the given origins', async () => {
    const named = 'http://localhost:6274';
    const { url, port } = await start({ origins: [named] });
    expect((await post(url, INITIALIZE, { origin: `http://localhost:${port}` })).status).toBe(200);
    const other = await post(url, INITIALIZE, { origin: 'http://localhost:1' });
    expect(other.status).toBe(403);
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
    const asks = { origin: named, 'access-control-request-headers': 'content-type, mcp-session-id' };
    const preflight = await fetch(url, { method: 'OPTIONS', headers: asks });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(named);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type, mcp-session-id');
    const answered = await post(url, INITIALIZE, { origin: named });
    expect(answered.status).toBe(200);
    expect(answered.headers.get('access-control-expose-headers')).toContain('mcp-session-id');
  });

  it('needs the token if one is set, except for /health, and a token is required if other machines can connect', async () => {
    const { url } = await start({ token: 'secret' });
    const health = await fetch(url.replace('/mcp', '/health'));
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    const refused = await post(url, INITIALIZE);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect((await post(url, INITIALIZE, { authorization: 'Bearer secre' })).status).toBe(401);
    expect((await post(url, INITIALIZE, { authorization: 'Bearer secret' })).status).toBe(200);
    const open = start({ address: { host: '0.0.0.0', port: 0 } });
    await expect(open).rejects.toThrow('set a token with --token');
    for (const token of ['', 'two words', 'secret\n', 'pässe'])
      await expect(start({ token })).rejects.toThrow('The token must have only');
  });

  it('is refused to a second server on the same port', async () => {
    const { port } = await start();
    const again = start({ address: { host: '127.0.0.1', port } });
    await expect(again).rejects.toThrow('the address is already in use');
  });
});

describe('calls', () => {
  it('report progress on their own stream', async () => {
    const { url } = await start();
    const headers = await session(url);
    for (const given of [headers, {}]) {
      const asked = call(1, 'work', { frames: 3 }, { progressToken: 7 });
      const heard = await messages(await post(url, asked, given));
      expect(heard).toMatchObject([
        { params: { progressToken: 7, progress: 1, total: 3 } },
        { params: { progress: 2 } },
        { params: { progress: 3 } },
        { id: 1, result: { structuredContent: { frames: 3 } } },
      ]);
    }
  });

  it('end when their client hangs up, in a session and without', async () => {
    const { url, host } = await start();
    const headers = await session(url);
    for (const given of [headers, {}]) {
      const before = { ...seen };
      const hangUp = new AbortController();
      const asked = post(url, call(1, 'work'), given, hangUp.signal).then((response) => response.text());
      const outcome = asked.catch((error: Error) => error.name);
      await until(() => seen.started > before.started);
      hangUp.abort();
      expect(await outcome).toBe('AbortError');
      await until(() => seen.stopped > before.stopped);
      await until(() => host.calls === 0);
    }
  });

  it('of one session are safe from another that uses the same numbers', async () => {
    const { url } = await start();
    const [mine, theirs] = [await session(url), await session(url)];
    const before = { ...seen };
    const asked = post(url, call(1, 'work', { frames: 40 }), mine);
    await until(() => seen.started > before.started);
    await post(url, cancel(1), theirs);
    await post(url, cancel(1));
    expect(await messages(await asked)).toMatchObject([{ result: { structuredContent: { frames: 40 } } }]);
  });

  it('that are short finish while the server stops, and new ones are refused', async () => {
    const { url, close } = await start();
    const before = { ...seen };
    // Much shorter than the half second that calls get, also on a busy machine.
    const asked = post(url, call(1, 'work', { frames: 3 }));
    await until(() => seen.started > before.started);
    const closed = close();
    expect(await messages(await asked)).toMatchObject([{ result: { structuredContent: { frames: 3 } } }]);
    await closed;
    await expect(post(url, INITIALIZE)).rejects.toThrow();
  });

  it('that are long end with an error when the server stops', async () => {
    const { url, close } = await start();
    const headers = await session(url);
    const before = { ...seen };
    const asked = [post(url, call(1, 'work'), headers), post(url, call(2, 'work'))];
    await until(() => seen.started > before.started + 1);
    await close();
    for (const answer of asked)
      expect((await messages(await answer))[0]).toMatchObject({ result: { isError: true } });
    expect(seen.stopped).toBe(seen.started);
  });
});

describe('a request', () => {
  it.each([
    ['a user name that hides the host', '/mcp', 'Host: 127.0.0.1@evil.com'],
    ['two hosts', '/mcp', 'Host: localhost\r\nHost: evil.com'],
    ['a target that is no path', 'mcp', 'Host: localhost'],
  ])('is refused with 400 and not logged: %s', async (_what, target, host) => {
    const { port, log } = await start();
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const heard = await exchange(
        port,
        `${method} ${target} HTTP/1.1\r\n${host}\r\n${HEAD}Content-Length: 2\r\nConnection: close\r\n\r\n{}`,
      );
      expect(status(heard), `${method}: ${heard}`).toBe(400);
    }
    expect(log).toEqual([]);
  });

  it('with an unknown method or the URL of another host is refused', async () => {
    const { port } = await start();
    for (const method of ['TRACE', 'PROPFIND']) {
      const text = `${method} /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n`;
      expect(status(await exchange(port, text))).toBe(400);
    }
    const ask = (address: string) =>
      exchange(port, `GET ${address}/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    expect(status(await ask(`http://127.0.0.1:${port}`))).toBe(200);
    expect(status(await ask('http://evil.example.org'))).toBe(403);
  });

  it('whose headers or body trickle in ends after ten seconds', async () => {
    const address = { host: '127.0.0.1', port: 0 };
    const usual = await listen(address);
    expect(usual.server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 10_000 });
    await usual.close(() => {});
    // The same with shorter timeouts.
    const times = { headersTimeout: 300, requestTimeout: 300, connectionsCheckingInterval: 50 };
    const { port, close } = await listen(address, times);
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${HEAD}`;
    const sent = [`${head}Content-Length: 100000\r\n\r\n`, `${head}X: `, ''];
    for (const heard of await Promise.all(sent.map((text) => exchange(port, text, text && '1'))))
      if (heard !== '') expect(status(heard)).toBe(408);
    await close(() => {});
  });
});

describe('a session', () => {
  it('has its stream ended with the call that it cancels', async () => {
    const { url, host } = await start();
    const headers = await session(url);
    const descriptors = () => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);
    const cycle = async (id: number) => {
      const before = seen.started;
      const asked = await post(url, call(id, 'work'), headers);
      expect(asked.status).toBe(200);
      await until(() => seen.started > before);
      expect((await post(url, cancel(id), headers)).status).toBe(202);
      // This hangs unless the stream ends.
      expect(await asked.text()).not.toContain('result');
    };
    await cycle(100);
    const before = descriptors();
    for (let id = 101; id <= 110; id++) await cycle(id);
    await until(() => host.calls === 0);
    expect(descriptors()).toBeLessThan(before + 5);
    // An id may be used again.
    await cycle(101);
  });

  it('still gets the answer of a call when it cancels another one of the same body', async () => {
    const { url } = await start();
    const headers = await session(url);
    const before = seen.started;
    const both = [call(1, 'work', { frames: 1e9 }), call(2, 'work', { frames: 30 })];
    const asked = await post(url, both, headers);
    await until(() => seen.started > before + 1);
    await post(url, cancel(1), headers);
    const text = await asked.text();
    expect(text).toContain('"id":2');
    expect(text).not.toContain('"id":1,');
  });

  it('may open its event stream again at once after hanging up', async () => {
    const { url } = await start();
    const headers = { accept: 'text/event-stream', ...(await session(url)) };
    for (let i = 0; i < 5; i++) {
      const hangUp = new AbortController();
      let stream = await fetch(url, { headers, signal: hangUp.signal });
      // The server notices the hang-up after a moment, much sooner than by a keep-alive message.
      for (const begun = performance.now(); stream.status === 409; ) {
        expect(performance.now() - begun).toBeLessThan(10_000);
        await new Promise((resolve) => setTimeout(resolve, 20));
        stream = await fetch(url, { headers, signal: hangUp.signal });
      }
      expect(stream.status).toBe(200);
      hangUp.abort();
    }
  });

  it('cannot list, read or use the results of another', async () => {
    const { url } = await start();
    const [mine, theirs] = [await join(url), await join(url)];
    await mine.callTool({ name: 'publish', arguments: {} });
    const { resources } = await mine.listResources();
    expect(resources.map(({ name }) => name)).toEqual(['samples', 'frame.png', 'report.json']);
    const [, , report] = resources;
    const uri = report?.uri ?? '';
    expect((await mine.readResource({ uri })).contents).toMatchObject([{ text: '{"frames":[]}' }]);
    expect((await theirs.listResources()).resources.map(({ name }) => name)).toEqual(['samples']);
    await expect(theirs.readResource({ uri })).rejects.toThrow('Unknown resource anyvmaf://');
    const used = await theirs.callTool({ name: 'locate', arguments: { path: uri } });
    expect(used).toMatchObject({ isError: true });
    expect(JSON.stringify(used.content)).toContain('no result');
    expect(await mine.callTool({ name: 'locate', arguments: { path: uri } })).not.toHaveProperty('isError');
    // Clients without sessions cannot be told apart: they read results whose URI they know, and get no list.
    const ask = async (method: string, params: object) => (await post(url, rpc(1, method, params))).text();
    expect(await ask('resources/read', { uri })).toContain('Unknown resource anyvmaf://');
    const published = await ask('tools/call', { name: 'publish', arguments: {} });
    const own = /anyvmaf:\/\/results\/[^"]*report\.json/.exec(published)?.[0] ?? '';
    expect(await ask('resources/list', {})).not.toContain('report.json');
    expect(await ask('resources/read', { uri: own })).toContain('frames');
  });
});
