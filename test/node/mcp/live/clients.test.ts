/**
 * @module test/node/mcp/live/clients
 * Requests over HTTP as their bytes arrive, and hostile clients: others see no difference.
 */
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScorer, type EmbeddedServer } from '../../../../src/index.js';
import { privateFolder } from '../../../support/folders.js';
import {
  callOf,
  callTool,
  listening,
  openServed,
  pairOf,
  request,
  served,
  TINY,
} from '../../../support/mcp-live.js';
import { tier } from '../../../support/tier.js';

const STATUS = callOf('vmaf.status');

/** The text of a request to a server at a port. */
const postTo =
  (port: number) =>
  (body: string, ...more: string[]) => {
    const lines = [`Host: 127.0.0.1:${port}`, `Content-Length: ${body.length}`, ...more];
    return `POST /mcp/sse HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
  };

/** Sends a text, and gives all that comes back until it is enough or the end. */
function say(socket: Socket, sent: string, enough: (text: string) => boolean): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const take = (chunk: Buffer) => {
      text += chunk;
      if (enough(text)) done();
    };
    const done = () => {
      socket.off('data', take);
      resolve(text);
    };
    socket.on('data', take).on('close', done).on('error', done);
    socket.write(sent);
  });
}

/** Opens a connection, which may be cut off by the other side. */
function open(where: string | number): Socket {
  const socket = typeof where === 'string' ? connect(where) : connect(where, '127.0.0.1');
  return socket.on('error', () => {});
}

/** Ids of the answers, in their order. */
const ids = (text: string) => [...text.matchAll(/"jsonrpc":"2\.0","id":(\d+)/g)].map(([, id]) => Number(id));

/** Connections that the server ends in its time wait beside the other tests, each at a server of its own. */
const waiting: Awaited<ReturnType<typeof openServed>>[] = [];
let idle: Promise<readonly [answer: string, time: number]>;
let unread: Promise<void>;

/** A server that listens until all tests are over, at its port. */
async function waitingAt(): Promise<number> {
  const opened = await openServed();
  waiting.push(opened);
  const { address } = await opened.server.listen({ transport: 'sse', port: 0 });
  return Number(new URL(address).port);
}

beforeAll(async () => {
  const [first, second] = await Promise.all([waitingAt(), waitingAt()]);
  const began = performance.now();
  idle = say(open(first), postTo(first)('{}'), () => false).then((answer) => [
    answer,
    performance.now() - began,
  ]);
  unread = neverReads(second, postTo(second)(request('tools/list')).repeat(50));
});
afterAll(async () => {
  for (const { scorer, server } of waiting) {
    await scorer.close();
    await server.close();
  }
});

describe('a plain request', () => {
  let post = postTo(0);
  let port = 0;
  beforeAll(async () => {
    port = await waitingAt();
    post = postTo(port);
  });

  it('waits for its turn, and is answered after its client has closed its side', async () => {
    const all = Array.from({ length: 40 }, (_, id) => post(callOf('vmaf.status', {}, id))).join('');
    const socket = open(port);
    const ended = new Promise((resolve) => socket.once('end', resolve));
    const answers = say(socket, all, () => false);
    socket.end();
    expect(ids(await answers)).toEqual(Array.from({ length: 40 }, (_, id) => id));
    await ended;
  });

  it('is answered to a page of the server itself, not to others, for another name of the host, or with too long a body', async () => {
    const status = async (text: string) =>
      (await say(open(port), text, (all) => all.includes('}'))).slice(0, 'HTTP/1.1 200'.length);
    expect(await status(post(STATUS, `Origin: http://127.0.0.1:${port}`))).toBe('HTTP/1.1 200');
    expect(await status(post(STATUS, 'Origin: http://evil.example'))).toBe('HTTP/1.1 403');
    expect(await status(post(STATUS).replace('127.0.0.1', 'evil.example'))).toBe('HTTP/1.1 403');
    expect(await status(post('x'.repeat(70_000)))).toBe('HTTP/1.1 400');
  });

  it('half sent does not keep the server from ending', async () => {
    const { server, port } = await listening();
    const post = postTo(port);
    const socket = open(port);
    await say(socket, post(STATUS), (text) => text.includes('"structuredContent":'));
    socket.write(post(STATUS).slice(0, -5));
    const idle = open(port);
    await new Promise((resolve) => idle.once('connect', resolve));
    const gone = [socket, idle].map((one) => new Promise((resolve) => one.once('close', resolve)));
    await server.close();
    await Promise.all(gone);
    await expect(
      new Promise((resolve, reject) =>
        connect(port, '127.0.0.1').once('connect', resolve).once('error', reject),
      ),
    ).rejects.toThrow(/ECONNREFUSED/);
  });
});

const FRAMES = tier(40, 150);

/** Resolves when a connection is gone. */
function gone(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once('close', () => resolve());
  });
}

async function hangUps(where: string | number, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const socket = open(where);
    // Only TCP knows a reset.
    const leave = () => (typeof where === 'number' ? socket.resetAndDestroy() : socket.destroy());
    if (i % 3 === 0) socket.destroy();
    else socket.once('connect', () => (i % 3 === 1 ? leave() : socket.end(request('tools/list'))));
    // A server is given a moment now and then, as the system's queue of connections is finite.
    if (i % 20 === 19) await gone(socket.resume());
  }
}

/** Asks and asks, and never reads: resolves when the server has hung up. */
function neverReads(where: string | number, text: string): Promise<void> {
  const socket = open(where);
  socket.pause();
  const ask = () => {
    if (socket.destroyed) return;
    while (socket.write(text));
    socket.once('drain', ask);
  };
  socket.once('connect', ask);
  // A paused socket sees no end, but writing fails once the other side is gone.
  return gone(socket);
}

/** A stream of events that is never read: resolves when the server has hung up, although others ask on and on. */
async function streamsUnread(port: number, address: string): Promise<void> {
  const socket = open(port);
  socket.write(`GET /mcp/sse HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  const over = gone(socket);
  let ended = false;
  void over.then(() => {
    ended = true;
  });
  while (!ended) {
    await Promise.all(
      Array.from({ length: 50 }, () =>
        fetch(address, { method: 'POST', body: request('tools/list') }).then((r) => r.text()),
      ),
    );
    // A paused socket sees no end, but writing fails once the other side is gone.
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
    left.push(open(where));
    for (const bytes of [
      garbage,
      Buffer.from('POST /mcp/sse HTTP/1.1\r\nHost: 127.0'),
      Buffer.from('{"jsonrpc":'),
    ]) {
      const socket = open(where);
      socket.write(bytes);
      left.push(socket.resume());
    }
  }
  const long = open(path);
  const answered = new Promise<string>((resolve) => long.on('data', (text) => resolve(String(text))));
  long.write(`${'x'.repeat(5 << 20)}\n`);
  expect(JSON.parse(await answered).error.code).toBe(-32700);
  left.push(long);
  await neverReads(path, `${request('tools/list')}\n`.repeat(100));
  await streamsUnread(port, address);
  const many = Array.from({ length: tier(30, 100) }, () => open(path));
  await Promise.all(
    many.map(
      (socket) =>
        new Promise((resolve) => {
          socket.once('data', resolve);
          socket.write(`${callOf('vmaf.status')}\n`);
        }),
    ),
  );
  expect((await callTool(address, 'vmaf.status')).state).toBe('running');
  return [...left, ...many];
}

describe('hostile clients', () => {
  it('change no number of the report, and are gone with the server', async () => {
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
      // Measuring goes on for as long as the attack does.
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
});

// They have waited since the file began.
describe('a connection', () => {
  it('that is idle after its answer is ended after its time', async () => {
    const [answer, time] = await idle;
    expect(answer).toContain('200 OK');
    expect(time).toBeGreaterThan(4000);
  });

  it('that does not read its answers is dropped', () => unread);
});
