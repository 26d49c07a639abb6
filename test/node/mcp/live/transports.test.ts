/**
 * The live server's transports: the reference system's sample requests as raw bytes over each, both generations of the SDK's
 * clients, requests that arrive in pieces, and hostile clients, which do not affect others.
 */
import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, Socket } from 'node:net';
import { join } from 'node:path';
import { Duplex, PassThrough } from 'node:stream';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createScorer, type EmbeddedServer, listExtractors } from '../../../../src/index.js';
import { EventStreams } from '../../../../src/mcp/live/transports/http.js';
import { built } from '../../../support/built.js';
import { privateFolder } from '../../../support/folders.js';
import {
  callOf,
  callTool,
  listening,
  listeningOf,
  openServed,
  pairOf,
  post,
  request,
  served,
  TINY,
} from '../../../support/mcp-live.js';
import { tier } from '../../../support/tier.js';

/** Sends bytes, and resolves with the answer once `enough`, or at the end of the stream. */
function exchange(stream: Duplex, bytes: string, enough: (text: string) => boolean): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    stream.on('data', (chunk: Buffer) => {
      text += chunk;
      if (enough(text)) resolve(text);
    });
    stream.on('error', () => {}).on('close', () => resolve(text));
    if (bytes !== '') stream.write(bytes);
  });
}

/** Opens a connection that the other side may reset. */
function dial(where: string | number): Socket {
  const socket = typeof where === 'string' ? connect(where) : connect(where, '127.0.0.1');
  return socket.on('error', () => {});
}

const lines = (count: number) => (text: string) => text.split('\n').length > count;

const LIST = request('tools/list');
const CALL = callOf('list_features', {}, 2);
/** All requests that the reference document shows or names. */
const SAMPLES = [
  LIST,
  CALL,
  request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} }, 3),
  request('resources/list', undefined, 4),
];

/** Checks the answers that the reference document describes. */
function checkSamples(answers: readonly string[]): void {
  expect(answers.map((text) => JSON.parse(text).id)).toEqual([1, 2, 3, 4]);
  const [list, call, hello, resources] = answers.map((text) => JSON.parse(text));
  for (const { jsonrpc, error } of [list, call, hello, resources])
    expect({ jsonrpc, error }).toEqual({ jsonrpc: '2.0', error: undefined });
  expect(list.result.tools.slice(0, 2).map(({ name }: { name: string }) => name)).toEqual([
    'list_features',
    'compute_vmaf',
  ]);
  for (const tool of list.result.tools)
    expect(tool).toMatchObject({ description: expect.any(String), inputSchema: { type: 'object' } });
  expect(call.result.structuredContent).toEqual(JSON.parse(call.result.content[0].text));
  expect(call.result.content).toHaveLength(1);
  const { features, count } = JSON.parse(call.result.content[0].text);
  expect(features).toEqual(listExtractors().map(({ name }) => name));
  expect(count).toBe(features.length);
  expect(hello.result).toMatchObject({
    protocolVersion: '2025-06-18',
    serverInfo: { name: 'anyvmaf-live' },
    capabilities: { tools: {}, resources: { subscribe: true } },
  });
  expect(resources.result.resources).toMatchObject([{ uri: 'vmaf://measurement/main/report' }]);
}

/** The document of an answer. */
const said = (answer: object) => JSON.parse(Object(answer).content[0].text);

/** Leaves a socket that nothing listens on, as a killed process does: closing only removes the name that was listened on. */
async function leaveSocket(path: string): Promise<void> {
  const listener = createServer();
  await new Promise<void>((done) => listener.listen(`${path}.new`, done));
  renameSync(`${path}.new`, path);
  await new Promise((done) => listener.close(done));
}

/** Sorts answers by id: requests of a stream are answered in the order of completion. */
const inOrder = (answers: readonly string[]): string[] =>
  [...answers].sort((a, b) => JSON.parse(a).id - JSON.parse(b).id);

const STATUS = callOf('vmaf.status');

/** The text of a request to a server at a port. */
const postTo =
  (port: number) =>
  (body: string, ...more: string[]) => {
    const lines = [`Host: 127.0.0.1:${port}`, `Content-Length: ${body.length}`, ...more];
    return `POST /mcp/sse HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
  };

/** Ids of the answers, in their order. */
const ids = (text: string) => [...text.matchAll(/"jsonrpc":"2\.0","id":(\d+)/g)].map(([, id]) => Number(id));

type Listening = Awaited<ReturnType<typeof listening>>;

/** The server of all tests that do not change it. */
let shared: Listening;
const lasting: Listening[] = [];
/** Connections that wait for the server's timeouts during the other tests, each at its own server. */
let idle: Promise<readonly [answer: string, time: number]>;
let unread: Promise<void>;

beforeAll(async () => {
  // The first serves many tests, the others the waiting connections.
  lasting.push(...(await Promise.all([1, 2, 3].map(() => listeningOf(openServed())))));
  const [one, { port: first }, { port: second }] = lasting as [Listening, Listening, Listening];
  shared = one;
  const began = performance.now();
  idle = exchange(dial(first), postTo(first)('{}'), () => false).then((answer) => [
    answer,
    performance.now() - began,
  ]);
  unread = neverReads(second, postTo(second)(request('tools/list')).repeat(50));
});
afterAll(async () => {
  for (const { scorer, server } of lasting) {
    await scorer.close();
    await server.close();
  }
});

describe('a Unix socket', () => {
  it('answers the sample requests line by line, for its owner only, and is removed with the server', async () => {
    const { server } = await served();
    const path = join(privateFolder(), 'sub', 'live.sock');
    const { address } = await server.listen({ transport: 'unix', path });
    expect(address).toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    const [first, ...others] = SAMPLES;
    const answers = await exchange(connect(path), `${first}\r\n${others.join('\n')}\n`, lines(4));
    checkSamples(inOrder(answers.trim().split('\n')));
    await server.close();
    expect(existsSync(path)).toBe(false);
  });

  it('serves several clients at once, and answers errors as the reference does', async () => {
    const path = join(privateFolder(), 'live.sock');
    await shared.server.listen({ transport: 'unix', path });
    const clients = Array.from({ length: 20 }, () => exchange(connect(path), `${LIST}\n`, lines(1)));
    for (const text of await Promise.all(clients)) expect(JSON.parse(text).result.tools).toHaveLength(10);
    const broken = ['nonsense', '[]', '{"id":4}', '{"id":5,"method":"nope"}', 'x'.repeat(70_000), LIST];
    const answers = await exchange(connect(path), `${broken.join('\n')}\n`, lines(6));
    const codes = answers
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).error?.code ?? 'ok');
    expect(codes.sort()).toEqual([-32600, -32600, -32601, -32700, -32700, 'ok']);
  });

  it('replaces the socket of a dead process, and refuses that of a living one, files, and open folders', async () => {
    const folder = privateFolder();
    const path = join(folder, 'live.sock');
    await leaveSocket(path);
    expect(existsSync(path)).toBe(true);
    const { server } = await served();
    await server.listen({ transport: 'unix', path });
    writeFileSync(join(folder, 'file'), '');
    mkdirSync(join(folder, 'open'), { mode: 0o755 });
    for (const [taken, why] of [
      [path, /Another server already listens at/],
      [join(folder, 'file'), /is not a socket/],
      [join(folder, 'open', 's'), /mode 0700/],
      ['x'.repeat(200), /1 to 100 bytes/],
    ] as const)
      await expect(server.listen({ transport: 'unix', path: taken })).rejects.toThrow(why);
  });
});

describe('a contested socket', () => {
  it('of a dead process goes to one of several simultaneous servers', async () => {
    for (let round = 0; round < tier(1, 5); round++) {
      const path = join(privateFolder(), 's');
      await leaveSocket(path);
      const servers = [(await served()).server, (await served()).server, (await served()).server];
      const outcomes = await Promise.allSettled(
        servers.map((server) => server.listen({ transport: 'unix', path })),
      );
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
      for (const outcome of outcomes)
        if (outcome.status === 'rejected')
          expect(String(outcome.reason)).toMatch(/Another server already listens at/);
      const answer = await exchange(connect(path), `${LIST}\n`, lines(1));
      expect(JSON.parse(answer).id).toBe(1);
      expect(readdirSync(join(path, '..'))).toEqual(['s']);
    }
  });

  it('is not removed by a server whose own was replaced', async () => {
    const path = join(privateFolder(), 's');
    const [first, second] = [await served(), await served()];
    await first.server.listen({ transport: 'unix', path });
    rmSync(path);
    await second.server.listen({ transport: 'unix', path });
    await first.server.close();
    const answer = await exchange(connect(path), `${LIST}\n`, lines(1));
    expect(JSON.parse(answer).id).toBe(1);
  });

  it('answers a client that has closed its side', async () => {
    const path = join(privateFolder(), 's');
    await shared.server.listen({ transport: 'unix', path });
    const client = connect({ path, allowHalfOpen: true });
    const answer = exchange(client, '', () => false);
    client.end(`${CALL}\n`);
    expect(JSON.parse(await answer).id).toBe(2);
  });

  it('is refused in a folder that is a link', async () => {
    const folder = privateFolder();
    mkdirSync(join(folder, 'real'), { mode: 0o700 });
    symlinkSync(join(folder, 'real'), join(folder, 'link'));
    const listens = shared.server.listen({ transport: 'unix', path: join(folder, 'link', 's') });
    const message = /The folder ".*link" of the socket is a link; name the folder itself/;
    await expect(listens).rejects.toThrow(message);
  });
});

describe('HTTP', () => {
  it('answers the sample requests, repeats the answers on event streams, and begins those with ready', async () => {
    const { address, port, pathname } = await listening();
    expect(pathname).toBe('/mcp/sse');
    const socket = dial(port);
    const stream = exchange(socket, '', (text) => text.includes('"id":4,'));
    const get = `GET ${pathname} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
    await exchange(socket, get, (text) => text.includes('event: ready'));
    const answers: string[] = [];
    for (const body of SAMPLES) {
      const bytes = postTo(port)(body, 'Content-Type: application/json');
      const whole = (text: string) => {
        const [before = '', after = ''] = text.split('\r\n\r\n');
        return (
          after.length >= Number(/\r\ncontent-length: (\d+)/i.exec(before)?.[1] ?? Number.POSITIVE_INFINITY)
        );
      };
      const text = await exchange(dial(port), bytes, whole);
      expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      answers.push(text.split('\r\n\r\n')[1] ?? '');
    }
    checkSamples(answers);
    const text = await stream;
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(text).toMatch(/content-type: text\/event-stream/i);
    expect(text).toMatch(/: anyvmaf live\n\nevent: ready\ndata: \{"transport":"sse"/);
    const told = [...text.matchAll(/event: message\nid: (\d+)\ndata: (.*)\n\n/g)];
    expect(told.map(([, id]) => id)).toEqual(['1', '2', '3', '4']);
    expect(told.map(([, , data]) => data)).toEqual(answers);
    const notification = await fetch(address, { method: 'POST', body: '{"jsonrpc":"2.0","method":"x"}' });
    expect(notification.status).toBe(204);
    const about = await (await fetch(`http://127.0.0.1:${port}/`)).json();
    expect(about).toMatchObject({ server: 'vmaf-mcp', transport: 'sse' });
    expect((await fetch(`http://127.0.0.1:${port}/other`)).status).toBe(404);
  });

  it('serves clients of the HTTP+SSE transport by their streams, which carry no answers to others', async () => {
    const { address } = shared;
    const clients = await Promise.all(
      [1, 2].map(async () => {
        const client = new Client1({ name: 'sse', version: '1' });
        await client.connect(new SSEClientTransport(new URL(address)) as never);
        return client;
      }),
    );
    for (const id of [1, 2, 3]) await post(address, request('ping', undefined, id));
    const lists = await Promise.all(clients.map((client) => client.listTools()));
    for (const { tools } of lists) expect(tools).toHaveLength(10);
    const called = await (clients[0] as Client1).callTool({ name: 'vmaf.status', arguments: {} });
    expect(said(called)).toMatchObject({ state: 'running' });
    for (const client of clients) await client.close();
    const gone = await fetch(`${address}?session=nobody`, { method: 'POST', body: LIST });
    expect(gone.status).toBe(404);
  });

  it('keeps the latest 512 events for clients that reconnect', async () => {
    const { address, port, pathname } = await listening();
    const pings = Array.from({ length: 520 }, (_, i) => postTo(port)(request('ping', undefined, i)));
    await exchange(dial(port), pings.join(''), (text) => text.includes('"id":519,'));
    const since = async (last: string) => {
      const get = `GET ${pathname} HTTP/1.1\r\nHost: localhost:${port}\r\nLast-Event-ID: ${last}\r\n\r\n`;
      const stream = exchange(dial(port), get, (all) => all.includes('"last"'));
      await expect.poll(() => exchange(dial(port), get, () => true)).toContain('ready');
      await post(address, request('ping', undefined, 'last'));
      return [...(await stream).matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    };
    const all = await since('0');
    expect(all).toHaveLength(513);
    expect(all.slice(0, 2)).toEqual([9, 10]);
    expect(all.at(-1)).toBe(521);
    expect(await since('519')).toEqual([520, 521]);
    // An invalid id gets new events only.
    for (const last of ['-5', 'x', '1e2', '99999999999999999999'])
      expect(await since(last), last).toHaveLength(1);
  });

  it('ends a session on request, and notifies it of alarms and changes', async () => {
    const { push, address } = await listening({ alarms: ['max<101'] });
    const mcp = new URL('/mcp', address).href;
    const send = (body: string, headers = {}) => fetch(mcp, { method: 'POST', body, headers });
    const hello = await send(request('initialize', { protocolVersion: '2025-06-18' }));
    const session = { 'mcp-session-id': hello.headers.get('mcp-session-id') ?? '' };
    const stream = await fetch(mcp, { headers: session });
    await send(request('resources/subscribe', { uri: 'vmaf://measurement/main/report' }), session);
    let told = '';
    const reading = (async () => {
      for await (const chunk of stream.body ?? []) told += Buffer.from(chunk).toString();
    })();
    await push(30);
    await expect.poll(() => told).toContain('notifications/resources/updated');
    expect(told).toMatch(/"method":"notifications\/message","params":\{"level":"warning","logger":"main"/);
    expect((await fetch(mcp, { method: 'DELETE', headers: session })).status).toBe(204);
    await reading;
    expect((await send(request('ping'), session)).status).toBe(404);
    expect((await fetch(mcp)).status).toBe(405);
  });

  it('sends all that a client missed, however much, while more happens', async () => {
    const streams = new EventStreams();
    const [event, count] = ['x'.repeat(8000), 500];
    for (let i = 0; i < count; i++) streams.send('message', event);
    const web = createHttpServer((_, response) => {
      streams.open(response, ': hello\n\n', '0');
      streams.send('message', 'last');
    });
    await new Promise<void>((done) => web.listen(0, '127.0.0.1', done));
    const { port } = web.address() as { port: number };
    const text = await exchange(dial(port), 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', (all) =>
      all.includes('data: last'),
    );
    expect(text.match(/^id: /gm)).toHaveLength(count + 1);
    streams.close();
    web.closeAllConnections();
    await new Promise((done) => web.close(done));
  });

  it('takes text and numbers as ids, and null as a notification', async () => {
    const { address } = shared;
    const ping = (id: string) => fetch(address, { method: 'POST', body: `{"id":${id},"method":"ping"}` });
    for (const id of ['1', '1.5', '"a"', '""'])
      expect(await (await ping(id)).text()).toContain(`"id":${id},"result"`);
    for (const id of ['{}', '[1]', 'true', '1e999'])
      expect((await (await ping(id)).json()).error, id).toEqual({
        code: -32600,
        message: 'The id of a request must be a string or a number.',
      });
    expect((await ping('null')).status).toBe(204);
  });

  it('answers a batch with those of its requests', async () => {
    const send = (...parts: string[]) => fetch(shared.address, { method: 'POST', body: `[${parts.join()}]` });
    const notice = '{"method":"notifications/initialized"}';
    const ping = '{"id":1,"method":"ping"}';
    expect(await (await send(ping, notice, '7', '{"id":"b","method":"nope"}')).json()).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32600 }) }),
      expect.objectContaining({ id: 'b', error: expect.objectContaining({ code: -32601 }) }),
    ]);
    expect((await send(notice)).status).toBe(204);
    const refusal = await (await send(...Array.from({ length: 101 }, () => ping))).json();
    expect(refusal.error.message).toBe('A batch has 101 messages; it must have 1 to 100.');
  });

  it.each([
    ['1.x', Client1, Http1],
    ['2.x', Client2, Http2],
  ] as const)('serves the client %s of the SDK at /mcp', async (_, Client, Transport) => {
    const { address, push } = shared;
    const client = new Client({ name: 'test', version: '1' });
    const transport = new Transport(new URL('/mcp', address));
    await client.connect(transport as never);
    await push(4);
    const { tools } = await client.listTools();
    expect(tools.slice(0, 2).map(({ name }) => name)).toEqual(['list_features', 'compute_vmaf']);
    const called = await client.callTool({ name: 'list_features', arguments: {} });
    expect(called.isError).toBeUndefined();
    const features = listExtractors().map(({ name }) => name);
    expect(said(called)).toEqual({ features, count: features.length });
    expect(client.getServerVersion()).toMatchObject({ name: 'anyvmaf-live' });
    const { resources } = await client.listResources();
    const uri = 'vmaf://measurement/main/report';
    expect(resources).toMatchObject([{ uri }]);
    await client.subscribeResource({ uri });
    expect((await client.readResource({ uri })).contents).toHaveLength(1);
    await client.close();
  });
});

const PROGRAM = `
  import { createEmbeddedServer, createScorer } from '${built('dist/bundle/js/index.js')}';
  const scorer = await createScorer({ width: 64, height: 64, bitDepth: 8, chroma: '420' }, { threads: 0 });
  const server = await createEmbeddedServer(scorer);
  let refused = false;
  for (const pair of (process.env.DESCRIPTORS ?? '3,4').split(' ')) {
    const [input, output] = pair.split(',').map(Number);
    try {
      await server.listen({ transport: 'stdio', input, output });
    } catch (error) {
      refused = true;
      console.log(pair + ': ' + error.message);
    }
  }
  if (refused) process.exit(2);
  console.log('ready');
  process.stdin.on('data', async (text) => {
    console.log('host got ' + text);
    await server.close();
    await scorer.close();
    process.stdin.destroy();
  });
`;

describe('a pair of descriptors', () => {
  const hosts: ChildProcess[] = [];
  afterEach(() => {
    for (const host of hosts.splice(0)) host.kill('SIGKILL');
  });

  /** A host whose server listens on descriptors 3 and 4, or others. */
  async function host(descriptors = '3,4') {
    const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
      stdio: ['pipe', 'pipe', 'inherit', 'pipe', 'pipe'],
      env: { ...process.env, DESCRIPTORS: descriptors },
    });
    hosts.push(child);
    const [, out, , input, output] = child.stdio;
    await new Promise((done) => out?.once('data', done));
    const stream = new PassThrough();
    (output as Duplex).pipe(stream);
    return { child, input: input as Duplex, output: stream };
  }

  it('answers the sample requests line by line, and leaves the standard streams to the host', async () => {
    const { child, input, output } = await host();
    const got = exchange(output, '', lines(4));
    const bytes = `${SAMPLES.join('\n')}\n`;
    for (const part of [bytes.slice(0, 70), bytes.slice(70)]) input.write(part);
    checkSamples(inOrder((await got).trim().split('\n')));
    const said = new Promise((done) => child.stdout?.once('data', (text) => done(String(text))));
    const ended = new Promise((done) => child.once('exit', done));
    child.stdin?.write('hello');
    expect(await said).toBe('host got hello\n');
    expect(await ended).toBe(0);
  });

  it('may be one socket, named twice, and answers with Content-Length headers if the first bytes have one', async () => {
    // Node passes sockets to its children.
    const { input } = await host('3,3');
    const framed = (text: string) => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
    const got = exchange(input, '', (text) => SAMPLES.every((_, i) => text.includes(`"id":${i + 1},`)));
    const bytes = SAMPLES.map(framed).join('');
    for (const part of [bytes.slice(0, 5), bytes.slice(5, 40), bytes.slice(40)]) input.write(part);
    const text = await got;
    const messages: string[] = [];
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf('\r\n\r\n', at);
      const length = Number(/^Content-Length: (\d+)$/.exec(text.slice(at, end))?.[1]);
      messages.push(text.slice(end + 4, end + 4 + length));
      at = end + 4 + length;
    }
    checkSamples(inOrder(messages));
  });

  it('may be files, without a warning', async () => {
    const cwd = privateFolder();
    const answers = join(cwd, 'answers');
    writeFileSync(join(cwd, 'requests'), `${SAMPLES.join('\n')}\n`);
    const shell = `exec '${process.execPath}' --input-type=module -e "$PROGRAM" 3<requests 4>answers`;
    const child = spawn('sh', ['-c', shell], { cwd, env: { ...process.env, PROGRAM } });
    hosts.push(child);
    let complaints = '';
    child.stderr.on('data', (text) => {
      complaints += text;
    });
    await expect.poll(() => existsSync(answers) && readFileSync(answers, 'utf8').split('\n')).toHaveLength(5);
    const ended = new Promise((done) => child.once('close', done));
    child.stdin.write('hello');
    expect(await ended).toBe(0);
    expect(complaints).toBe('');
    checkSamples(inOrder(readFileSync(answers, 'utf8').trim().split('\n')));
  });

  it.skipIf(process.platform === 'win32')('may be pipes', async () => {
    const [to = '', from = ''] = ['to', 'from'].map((name) => join(privateFolder(), name));
    spawnSync('mkfifo', [to, from]);
    const { server } = await served();
    await server.listen({ transport: 'stdio', input: openSync(to, 'r+'), output: openSync(from, 'r+') });
    const heard = new Socket({ fd: openSync(from, constants.O_RDONLY | constants.O_NONBLOCK) });
    const said = new Socket({ fd: openSync(to, constants.O_WRONLY | constants.O_NONBLOCK), readable: false });
    said.write(`${SAMPLES.join('\n')}\n`);
    checkSamples(inOrder((await exchange(heard, '', lines(4))).trim().split('\n')));
    said.destroy();
    heard.destroy();
  });

  it.skipIf(spawnSync('script', ['--version']).status !== 0)('may be a terminal', async () => {
    const shell = `exec '${process.execPath}' --input-type=module -e "$PROGRAM" 3<&0 4>&1 0</dev/null`;
    const env = { ...process.env, PROGRAM };
    const child = spawn('script', ['-qefc', shell, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    hosts.push(child);
    const stream = Duplex.from({ readable: child.stdout, writable: child.stdin });
    await exchange(stream, '', (text) => text.includes('ready'));
    const text = await exchange(stream, `${request('ping', undefined, 7)}\n`, (all) =>
      all.includes('"result"'),
    );
    expect(text).toContain('{"jsonrpc":"2.0","id":7,"result":{}}');
  });

  it.skipIf(process.platform !== 'linux')('is refused unless the parent passed it', async () => {
    const said = (descriptors: string, stdio: StdioOptions, shell = '') => {
      const env = { ...process.env, PROGRAM, DESCRIPTORS: descriptors };
      const script = `exec '${process.execPath}' --input-type=module -e "$PROGRAM" ${shell}`;
      const { status, stdout } = spawnSync('sh', ['-c', script], { stdio, env, encoding: 'utf8' });
      expect(status, stdout).toBe(2);
      return stdout.trim().split('\n');
    };
    const plain: StdioOptions = ['ignore', 'pipe', 'inherit'];
    // Opened by the runtime, which needs them: first an event queue, then pipes.
    const own = ['3,4', '4,5', '5,6', '6,7'];
    const told = said(`${own.join(' ')} 900,901 1,2`, plain);
    for (const pair of own)
      expect(told.shift()).toMatch(new RegExp(`^${pair}: The descriptor \\d does not come from the caller`));
    expect(told).toEqual([
      expect.stringMatching(/^900,901: The descriptor 900 is not open; open both when starting the program/),
      expect.stringMatching(/^1,2: 1 is not a descriptor of the caller; pass two of at least 3/),
    ]);
    expect(said('3,4 5,5', plain, '3</ 4>/dev/null 5</etc/hostname')).toEqual([
      expect.stringMatching(/^3,4: The descriptor 3 does not come from the caller/),
      expect.stringMatching(/^5,5: The descriptor 5 is one-way; pass two/),
    ]);
  });
});

describe('a plain request', () => {
  it('waits for its turn, also after its client has closed its side', async () => {
    const { port } = shared;
    const post = postTo(port);
    const all = Array.from({ length: 40 }, (_, id) => post(callOf('vmaf.status', {}, id))).join('');
    const socket = dial(port);
    const ended = new Promise((resolve) => socket.once('end', resolve));
    const answers = exchange(socket, all, () => false);
    socket.end();
    expect(ids(await answers)).toEqual(Array.from({ length: 40 }, (_, id) => id));
    await ended;
  });

  it('is answered to a page of the server itself, but not to other origins, under other host names or with too long a body', async () => {
    const { port } = shared;
    const post = postTo(port);
    const status = async (text: string) =>
      (await exchange(dial(port), text, (all) => all.includes('}'))).slice(0, 'HTTP/1.1 200'.length);
    expect(await status(post(STATUS, `Origin: http://127.0.0.1:${port}`))).toBe('HTTP/1.1 200');
    expect(await status(post(STATUS, 'Origin: http://evil.example'))).toBe('HTTP/1.1 403');
    expect(await status(post(STATUS).replace('127.0.0.1', 'evil.example'))).toBe('HTTP/1.1 403');
    expect(await status(post('x'.repeat(70_000)))).toBe('HTTP/1.1 400');
  });

  it('half sent does not keep the server from closing', async () => {
    const { server, port } = await listening();
    const post = postTo(port);
    const socket = dial(port);
    await exchange(socket, post(STATUS), (text) => text.includes('"structuredContent":'));
    socket.write(post(STATUS).slice(0, -5));
    const idle = dial(port);
    await once(idle, 'connect');
    const gone = [socket, idle].map((one) => new Promise((resolve) => one.once('close', resolve)));
    await server.close();
    await Promise.all(gone);
    await expect(once(connect(port, '127.0.0.1'), 'connect')).rejects.toThrow(/ECONNREFUSED/);
  });
});

const FRAMES = tier(40, 150);

/** Resolves when a connection is closed. */
function gone(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once('close', () => resolve());
  });
}

async function hangUps(where: string | number, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const socket = dial(where);
    // Only TCP has resets.
    const leave = () => (typeof where === 'number' ? socket.resetAndDestroy() : socket.destroy());
    if (i % 3 === 0) socket.destroy();
    else socket.once('connect', () => (i % 3 === 1 ? leave() : socket.end(request('tools/list'))));
    // The system's queue of connections is finite: let the server catch up now and then.
    if (i % 20 === 19) await gone(socket.resume());
  }
}

/** Sends requests and never reads; resolves when the server has disconnected. */
function neverReads(where: string | number, text: string): Promise<void> {
  const socket = dial(where);
  socket.pause();
  const ask = () => {
    if (socket.destroyed) return;
    while (socket.write(text));
    socket.once('drain', ask);
  };
  socket.once('connect', ask);
  // A paused socket gets no end, but writing fails once the other side is closed.
  return gone(socket);
}

/** Never reads a stream of events; resolves when the server has disconnected, though other requests go on. */
async function streamsUnread(port: number, address: string): Promise<void> {
  const socket = dial(port);
  socket.write(`GET /mcp/sse HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  const over = gone(socket);
  let ended = false;
  void over.then(() => {
    ended = true;
  });
  while (!ended) {
    await Promise.all(Array.from({ length: 50 }, () => post(address, LIST)));
    socket.write('x');
  }
}

async function attack(server: EmbeddedServer, path: string): Promise<Socket[]> {
  await server.listen({ transport: 'unix', path });
  const { address } = await server.listen({ transport: 'sse', port: 0 });
  const port = Number(new URL(address).port);
  for (const where of [path, port]) await hangUps(where, tier(60, 500));
  const left: Socket[] = [];
  const garbage = Buffer.from(Array.from({ length: 4000 }, (_, i) => (i * 89 + (i >> 3)) & 255));
  for (const where of [path, port]) {
    left.push(dial(where));
    for (const bytes of [garbage, 'POST /mcp/sse HTTP/1.1\r\nHost: 127.0', '{"jsonrpc":']) {
      const socket = dial(where);
      socket.write(bytes);
      left.push(socket.resume());
    }
  }
  const long = dial(path);
  const answered = exchange(long, `${'x'.repeat(5 << 20)}\n`, () => true);
  expect(JSON.parse(await answered).error.code).toBe(-32700);
  left.push(long);
  await neverReads(path, `${request('tools/list')}\n`.repeat(100));
  await streamsUnread(port, address);
  const many = Array.from({ length: tier(30, 100) }, () => dial(path));
  await Promise.all(many.map((socket) => exchange(socket, `${STATUS}\n`, () => true)));
  expect((await callTool(address, 'vmaf.status')).state).toBe('running');
  return [...left, ...many];
}

it('hostile clients change no number of the report, and are disconnected with the server', async () => {
  const alone = await createScorer(TINY, { threads: 0 });
  for (let i = 0; i < FRAMES; i++) await alone.push(...(await pairOf(i)));
  const expected = await alone.finish();
  const { scorer, server, push } = await served();
  const path = join(privateFolder(), 'live.sock');
  let attacking = true;
  const attacked = attack(server, path).finally(() => {
    attacking = false;
  });
  attacked.catch(() => {});
  while (scorer.pushed < FRAMES) {
    await push(1);
    // Measure for as long as the attack lasts.
    if (scorer.pushed > FRAMES / 2 && attacking) await new Promise((resolve) => setTimeout(resolve, 5));
    if (scorer.pushed === FRAMES - 1) await attacked;
  }
  const sockets = await attacked;
  const report = await scorer.finish();
  expect(report.frames).toEqual(expected.frames);
  expect(report.pooled_metrics).toEqual(expected.pooled_metrics);
  await server.close();
  await Promise.all(sockets.map((socket) => gone(socket.resume())));
  expect(existsSync(path)).toBe(false);
});

describe('a connection', () => {
  it('that is idle after its answer is ended after a while', async () => {
    const [answer, time] = await idle;
    expect(answer).toContain('200 OK');
    expect(time).toBeGreaterThan(4000);
  });

  it('that does not read its answers is dropped', () => unread);
});
