/**
 * Clients that hang up, do not read, send half a request, too much, or nonsense: measuring goes on, its report is that of a run
 * without a server, and nothing is left behind.
 */
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createScorer, type EmbeddedServer } from '../../../../src/index.js';
import { callOf, callTool, pairOf, privateFolder, request, served, TINY } from '../../../support/mcp-live.js';

const FRAMES = 150;

/** Opens a connection, which may be cut off by the other side. */
function open(where: string | number): Socket {
  const socket = typeof where === 'string' ? connect(where) : connect(where, '127.0.0.1');
  return socket.on('error', () => {});
}

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
function neverReads(where: string, text: string): Promise<void> {
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
  await hangUps(path, 500);
  await hangUps(port, 500);
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
  const many = Array.from({ length: 100 }, () => open(path));
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
