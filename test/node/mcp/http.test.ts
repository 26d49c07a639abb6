/**
 * @module test/node/mcp/http
 * The server over HTTP: who is let in, what is no request, sessions that know nothing of each other, and how calls end when
 * a client or the server goes.
 */
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { GuardOptions } from '../../../src/mcp/guard.js';
import { fakeHost, fakeHttp, seen } from '../../support/mcp-host.js';

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

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

function post(url: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) {
  return fetch(url, {
    method: 'POST',
    headers: { ...HEADERS, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });
}

const rpc = (id: number, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params });
const call = (id: number, name: string, args: object = {}, meta: object = {}) =>
  rpc(id, 'tools/call', { name, arguments: args, _meta: meta });
const cancel = (requestId: number) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});
const INITIALIZE = rpc(0, 'initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});

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
  expect((await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)).status).toBe(
    202,
  );
  return headers;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function join(url: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  clients.push(client);
  return client;
}

/** What the server sends on a connection of its own until it closes it, and after how many milliseconds it does. */
function exchange(port: number, ...pieces: readonly (string | number)[]): Promise<[string, number]> {
  return new Promise((resolve) => {
    const begun = performance.now();
    const socket = connect(port, '127.0.0.1');
    let heard = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      heard += text;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve([heard, performance.now() - begun]));
    const send = async () => {
      for (const piece of pieces) {
        if (socket.destroyed) return;
        if (typeof piece === 'string') socket.write(piece);
        else await new Promise((done) => setTimeout(done, piece));
      }
    };
    void send();
  });
}

const status = (text: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
const HEAD = 'Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n';
/** A byte every half a second. */
const DRIBBLE = Array.from({ length: 60 }, () => ['1', 500]).flat();

/** Requests that never arrive whole; they wait beside the other tests. */
let dribbled: Promise<(readonly [string, number])[]>;
let slow: Started;

beforeAll(async () => {
  slow = await fakeHttp(await fakeHost());
  const { port } = slow;
  const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${HEAD}`;
  dribbled = Promise.all([
    exchange(port, `${head}Content-Length: 100000\r\n\r\n`, ...DRIBBLE),
    exchange(port, `${head}X: `, ...DRIBBLE),
    exchange(port),
  ]);
});

afterAll(() => slow.close());

describe('requests', () => {
  it('are answered in a session and, of clients that have none, one by one', async () => {
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

  it('that are none have an error', async () => {
    const { url } = await start();
    for (const body of ['garbage', '', 'null', []]) expect((await post(url, body)).status).toBe(400);
    expect((await post(url, call(1, 'echo'), { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post(url.replace('/mcp', '/other'), INITIALIZE)).status).toBe(404);
    expect((await fetch(url)).status).toBe(405);
    expect((await fetch(url, { method: 'PUT' })).status).toBe(405);
    // And the server lives on.
    expect((await post(url, INITIALIZE)).status).toBe(200);
  });

  it('of more than 4 MiB are refused', async () => {
    const { url } = await start();
    const big = await post(url, call(1, 'echo', { text: 'x'.repeat(5 << 20) })).catch(() => undefined);
    // The connection may be cut before the client has sent everything.
    if (big) expect(big.status).toBe(413);
    expect((await post(url, INITIALIZE)).status).toBe(200);
  });
});

describe('health', () => {
  it('is told without a token', async () => {
    const { url } = await start({ token: 'secret' });
    const health = await fetch(url.replace('/mcp', '/health'));
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
  });
});

describe('the door', () => {
  it('is shut to other names of this machine, as rebinding attacks use', async () => {
    const { port } = await start();
    const [heard] = await exchange(
      port,
      `POST /mcp HTTP/1.1\r\nHost: evil.example.org\r\nConnection: close\r\n${HEAD}\r\n`,
    );
    expect(status(heard)).toBe(403);
  });

  it('is shut to pages, except of the server itself and of the origins that were named', async () => {
    const named = 'http://localhost:6274';
    const { url, port } = await start({ origins: [named] });
    expect((await post(url, INITIALIZE, { origin: `http://localhost:${port}` })).status).toBe(200);
    const other = await post(url, INITIALIZE, { origin: 'http://localhost:1' });
    expect(other.status).toBe(403);
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: { origin: named, 'access-control-request-headers': 'content-type, mcp-session-id' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(named);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type, mcp-session-id');
    const answered = await post(url, INITIALIZE, { origin: named });
    expect(answered.status).toBe(200);
    expect(answered.headers.get('access-control-expose-headers')).toContain('mcp-session-id');
  });

  it('wants the token where there is one, and one where others can reach it', async () => {
    const { url } = await start({ token: 'secret' });
    const refused = await post(url, INITIALIZE);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect((await post(url, INITIALIZE, { authorization: 'Bearer secre' })).status).toBe(401);
    expect((await post(url, INITIALIZE, { authorization: 'Bearer secret' })).status).toBe(200);
    await expect(start({ address: { host: '0.0.0.0', port: 0 } })).rejects.toThrow(
      'set a token with --token',
    );
  });

  it('cannot be had twice', async () => {
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
      const heard = await messages(
        await post(url, call(1, 'work', { frames: 3 }, { progressToken: 7 }), given),
      );
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

  it('end when their session cancels them', async () => {
    const { url, host } = await start();
    const headers = await session(url);
    const before = { ...seen };
    const hangUp = new AbortController();
    const asked = post(url, call(1, 'work'), headers, hangUp.signal);
    await until(() => seen.started > before.started);
    expect((await post(url, cancel(1), headers)).status).toBe(202);
    await until(() => seen.stopped > before.stopped);
    await until(() => host.calls === 0);
    hangUp.abort();
    await asked.then((response) => response.text()).catch(() => {});
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

  it('that are short finish while the server ends, and new ones are refused', async () => {
    const { url, close } = await start();
    const before = { ...seen };
    const asked = post(url, call(1, 'work', { frames: 40 }));
    await until(() => seen.started > before.started);
    const closed = close();
    expect(await messages(await asked)).toMatchObject([{ result: { structuredContent: { frames: 40 } } }]);
    await closed;
    await expect(post(url, INITIALIZE)).rejects.toThrow();
  });

  it('that are long are told that the server ends', async () => {
    const { url, close } = await start();
    const headers = await session(url);
    const before = { ...seen };
    const asked = [post(url, call(1, 'work'), headers), post(url, call(2, 'work'))];
    await until(() => seen.started > before.started + 1);
    await close();
    for (const answer of asked) {
      const [last] = await messages(await answer);
      expect(last).toMatchObject({ result: { isError: true } });
    }
    expect(seen.stopped).toBe(seen.started);
  });
});

describe('a request', () => {
  it.each([
    ['a user name that hides the host', '/mcp', 'Host: 127.0.0.1@evil.com'],
    ['two hosts', '/mcp', 'Host: localhost\r\nHost: evil.com'],
    ['a target that is no path', 'mcp', 'Host: localhost'],
  ])('is refused with 400 and leaves no trace in the log: %s', async (_what, target, host) => {
    const { port, log } = await start();
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const [heard] = await exchange(
        port,
        `${method} ${target} HTTP/1.1\r\n${host}\r\n${HEAD}Content-Length: 2\r\nConnection: close\r\n\r\n{}`,
      );
      expect(status(heard), `${method}: ${heard}`).toBe(400);
    }
    expect(log).toEqual([]);
  });

  it('with a method that has no form is refused', async () => {
    const { port } = await start();
    for (const method of ['TRACE', 'PROPFIND']) {
      const [heard] = await exchange(port, `${method} /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      expect(status(heard)).toBe(400);
    }
  });

  it('with a whole address for its target is answered when the host is this one, and only then', async () => {
    const { port } = await start();
    const ask = (address: string) =>
      exchange(port, `GET ${address}/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    const [heard] = await ask(`http://127.0.0.1:${port}`);
    expect(status(heard)).toBe(200);
    const [refused] = await ask('http://evil.example.org');
    expect(status(refused)).toBe(403);
  });

  it('that dribbles in is ended after ten seconds, headers and body', async () => {
    for (const [heard, time] of await dribbled) {
      expect(time).toBeGreaterThan(8000);
      if (heard !== '') expect(status(heard)).toBe(408);
    }
  });
});

describe('a session', () => {
  it('has its stream ended with the call that it cancels', async () => {
    const { url, host } = await start();
    const client = await join(url);
    const descriptors = () => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);
    const headers = { 'mcp-session-id': sessionOf(client) };
    const cycle = async (id: number) => {
      const before = seen.started;
      const asked = await post(url, call(id, 'work'), headers);
      expect(asked.status).toBe(200);
      await until(() => seen.started > before);
      expect((await post(url, cancel(id), headers)).status).toBe(202);
      // Without its end this would wait for ever.
      expect(await asked.text()).not.toContain('result');
    };
    await cycle(100);
    const before = descriptors();
    for (let id = 101; id <= 110; id++) await cycle(id);
    await until(() => host.calls === 0);
    expect(descriptors()).toBeLessThan(before + 5);
    // And an id may be used again.
    await cycle(101);
  });

  it('may open its event stream again at once after hanging up', async () => {
    const { url } = await start();
    const client = await join(url);
    const headers = { accept: 'text/event-stream', 'mcp-session-id': sessionOf(client) };
    // The client's own stream has to go first.
    await client.transport?.close?.();
    clients = [];
    for (let i = 0; i < 5; i++) {
      const hangUp = new AbortController();
      let stream = await fetch(url, { headers, signal: hangUp.signal });
      // What the server learns of a hang-up takes a moment to arrive, far less than a keep-alive message.
      for (const begun = performance.now(); stream.status === 409; ) {
        expect(performance.now() - begun).toBeLessThan(2000);
        await new Promise((resolve) => setTimeout(resolve, 20));
        stream = await fetch(url, { headers, signal: hangUp.signal });
      }
      expect(stream.status).toBe(200);
      hangUp.abort();
    }
  });

  it('neither lists nor reads nor uses the results of another', async () => {
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
    // Clients without sessions cannot be told apart: they read what they know the address of, and see no list.
    const ask = async (method: string, params: object) => (await post(url, rpc(1, method, params))).text();
    expect(await ask('resources/read', { uri })).toContain('Unknown resource anyvmaf://');
    const published = await ask('tools/call', { name: 'publish', arguments: {} });
    const own = /anyvmaf:\/\/results\/[^"]*report\.json/.exec(published)?.[0] ?? '';
    expect(await ask('resources/list', {})).not.toContain('report.json');
    expect(await ask('resources/read', { uri: own })).toContain('frames');
  });

  it('is told of wrong parameters in a sentence', async () => {
    const { url } = await start();
    const answer = await (await post(url, rpc(1, 'initialize'))).text();
    expect(answer).toContain('"code":-32602');
    expect(answer).toContain('\\"params.protocolVersion\\" is missing; it must be a string');
  });
});

function sessionOf(client: Client): string {
  const { transport } = client;
  if (!(transport instanceof StreamableHTTPClientTransport)) throw new Error('not over HTTP');
  return transport.sessionId ?? '';
}
