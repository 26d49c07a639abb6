/**
 * @module test/node/mcp/http-hostile
 * The server over HTTP against what no client should send, and sessions that know nothing of each other.
 */
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, describe, expect, it } from 'vitest';
import type { McpHost } from '../../../src/mcp/host.js';
import { type RunningHttp, serveHttp } from '../../../src/mcp/http.js';
import { fakeHost, seen } from '../../support/fake-tools.js';

let running: { http: RunningHttp; host: McpHost }[] = [];
let clients: Client[] = [];

async function start(log: string[] = []): Promise<{ url: string; port: number; host: McpHost }> {
  const host = await fakeHost({}, (line) => log.push(line));
  const http = await serveHttp(host, {
    address: { host: '127.0.0.1', port: 0 },
    token: undefined,
    origins: [],
  });
  running.push({ http, host });
  return { url: http.url, port: Number(new URL(http.url).port), host };
}

afterEach(async () => {
  for (const client of clients) await client.close();
  for (const { http } of running) await http.close();
  running = [];
  clients = [];
});

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
        if (typeof piece === 'string') socket.write(piece);
        else await new Promise((done) => setTimeout(done, piece));
      }
    };
    void send();
  });
}

const status = (text: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
const HEADERS = 'Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n';

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('a request', () => {
  it.each([
    ['a user name that hides the host', '/mcp', 'Host: 127.0.0.1@evil.com'],
    ['two ports', '/mcp', 'Host: localhost:9101:1'],
    ['a port that is none', '/mcp', 'Host: localhost:http'],
    ['no host', '/mcp', 'Host:'],
    ['two hosts', '/mcp', 'Host: localhost\r\nHost: evil.com'],
    ['a host with a path', '/mcp', 'Host: localhost/evil'],
    ['a star for its target', '*', 'Host: localhost'],
    ['a user name in its target', 'http://a@localhost/mcp', 'Host: localhost'],
    ['another scheme in its target', 'file:///etc/passwd', 'Host: localhost'],
    ['a target that is no path', 'mcp', 'Host: localhost'],
    ['a broken address of six', '/mcp', 'Host: [::1'],
  ])('is refused with 400 and leaves no trace in the log: %s', async (_what, target, host) => {
    const log: string[] = [];
    const { port } = await start(log);
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const [heard] = await exchange(
        port,
        `${method} ${target} HTTP/1.1\r\n${host}\r\n${HEADERS}Content-Length: 2\r\nConnection: close\r\n\r\n{}`,
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

  it('from a page of the server itself is answered, from another port of this machine refused', async () => {
    const { url, port } = await start();
    const ask = (origin: string) => fetch(url.replace('/mcp', '/health'), { headers: { origin } });
    for (const name of ['127.0.0.1', 'localhost', '[::1]'])
      expect((await ask(`http://${name}:${port}`)).status).toBe(200);
    expect((await ask(`http://localhost:${port === 1 ? 2 : 1}`)).status).toBe(403);
  });

  it('that dribbles in is ended after ten seconds, headers and body', { timeout: 60_000 }, async () => {
    const { port } = await start();
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${HEADERS}`;
    const dribble = Array.from({ length: 60 }, () => ['1', 500]).flat();
    const answers = await Promise.all([
      exchange(port, `${head}Content-Length: 100000\r\n\r\n`, ...dribble),
      exchange(port, `${head}X: `, ...dribble),
      exchange(port),
    ]);
    for (const [heard, time] of answers) {
      expect(time).toBeGreaterThan(8000);
      expect(time).toBeLessThan(25_000);
      if (heard !== '') expect(status(heard)).toBe(408);
    }
  });
});

describe('a session', () => {
  it('has its stream ended with the call that it cancels', async () => {
    const { url, host } = await start();
    const client = await join(url);
    const descriptors = () => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': sessionOf(client),
    };
    const post = (body: object) => fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    const cycle = async (id: number) => {
      const before = seen.started;
      const params = { name: 'work', arguments: {} };
      const asked = await post({ jsonrpc: '2.0', id, method: 'tools/call', params });
      expect(asked.status).toBe(200);
      await until(() => seen.started > before);
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } };
      expect((await post(cancelled)).status).toBe(202);
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

  it('keeps the answer of one call when it cancels another that came in the same body', async () => {
    const { url } = await start();
    const client = await join(url);
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': sessionOf(client),
    };
    const post = (body: object) => fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    const call = (id: number, frames: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'work', arguments: { frames } },
    });
    const before = seen.started;
    const asked = await post([call(1, 1e9), call(2, 30)]);
    await until(() => seen.started > before + 1);
    await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    const text = await asked.text();
    expect(text).toContain('"id":2');
    expect(text).not.toContain('"id":1,');
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
    await expect(theirs.readResource({ uri })).rejects.toThrow('There is no resource');
    const used = await theirs.callTool({ name: 'locate', arguments: { path: uri } });
    expect(used).toMatchObject({ isError: true });
    expect(JSON.stringify(used.content)).toContain('no result');
    expect(await mine.callTool({ name: 'locate', arguments: { path: uri } })).not.toHaveProperty('isError');
    // Clients without sessions cannot be told apart: they read what they know the address of, and see no list.
    const alone = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const ask = async (method: string, params: object) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      return (await fetch(url, { method: 'POST', headers: alone, body })).text();
    };
    expect(await ask('resources/read', { uri })).toContain('There is no resource');
    const published = await ask('tools/call', { name: 'publish', arguments: {} });
    const own = /anyvmaf:\/\/results\/[^"]*report\.json/.exec(published)?.[0] ?? '';
    expect(await ask('resources/list', {})).not.toContain('report.json');
    expect(await ask('resources/read', { uri: own })).toContain('frames');
  });

  it('is told of wrong parameters in a sentence', async () => {
    const { url } = await start();
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
    const answer = await (await fetch(url, { method: 'POST', headers, body })).text();
    expect(answer).toContain('"code":-32602');
    expect(answer).toContain('\\"params.protocolVersion\\" is missing; it must be a string');
  });
});

function sessionOf(client: Client): string {
  const { transport } = client;
  if (!(transport instanceof StreamableHTTPClientTransport)) throw new Error('not over HTTP');
  return transport.sessionId ?? '';
}
