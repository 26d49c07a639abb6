/**
 * @module test/node/mcp/http
 * The server over HTTP: who is let in, what is no request, and how calls end when a client or the server goes.
 */
import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { McpHost } from '../../../src/mcp/host.js';
import { type HttpOptions, type RunningHttp, serveHttp } from '../../../src/mcp/http.js';
import { fakeHost, seen } from '../../support/fake-tools.js';

let running: { http: RunningHttp; host: McpHost }[] = [];

async function start(options: Partial<HttpOptions> = {}): Promise<RunningHttp & { readonly host: McpHost }> {
  const host = await fakeHost();
  const address = { host: '127.0.0.1', port: 0 };
  const http = await serveHttp(host, { address, token: undefined, origins: [], ...options });
  running.push({ http, host });
  return { ...http, host };
}

afterEach(async () => {
  for (const { http } of running) await http.close();
  running = [];
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
    expect((await post(url, 'garbage')).status).toBe(400);
    expect((await post(url, '')).status).toBe(400);
    expect((await post(url, 'null')).status).toBe(400);
    expect((await post(url, [])).status).toBe(400);
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
    const { url } = await start();
    const status = await new Promise((resolve, reject) => {
      const asked = request(
        url,
        { method: 'POST', headers: { ...HEADERS, host: 'evil.example.org' } },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      asked.on('error', reject);
      asked.end(JSON.stringify(INITIALIZE));
    });
    expect(status).toBe(403);
  });

  it('is shut to pages, except of the origins that were named', async () => {
    const named = 'http://localhost:6274';
    const { url } = await start({ origins: [named] });
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
    const { url } = await start();
    const port = Number(new URL(url).port);
    const again = start({ address: { host: '127.0.0.1', port } });
    await expect(again).rejects.toThrow('something else listens there already');
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
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    expect((await post(url, cancelled, headers)).status).toBe(202);
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
    await post(url, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, theirs);
    await post(url, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
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
