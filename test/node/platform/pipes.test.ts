/**
 * @module test/node/platform/pipes
 * Frames out of streams of bytes: from an ffmpeg process (src/platform/node/ffmpeg/run.ts, channel.ts) and from the thread
 * of ffmpeg.wasm (src/platform/ffmpeg-wasm/ring.ts).
 */
import { PassThrough } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { createRing, RingReader } from '../../../src/platform/ffmpeg-wasm/ring.js';
import { openChannel } from '../../../src/platform/node/ffmpeg/channel.js';
import { FramePipe } from '../../../src/platform/node/ffmpeg/run.js';
import { seeded } from '../../support/random.js';

/** Frames that are all different: frame n is n, n + 1, ... */
const frame = (n: number, bytes: number): Uint8Array => new Uint8Array(bytes).map((_, i) => n + i);

/** Lets everything that is under way arrive: until nothing new has come for a few turns. */
async function settled(count: () => number): Promise<number> {
  for (let before = -1, same = 0; same < 20; ) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    same = count() === before ? same + 1 : 0;
    before = count();
  }
  return count();
}

describe('a pipe of frames', () => {
  it('cuts pieces of any length into frames, whenever they are taken', async () => {
    const seed = 20260;
    const random = seeded(seed);
    for (const bytes of [1, 7, 4096, 100_000]) {
      const stream = new PassThrough();
      let wake = () => {};
      const pipe = new FramePipe(bytes, () => wake());
      pipe.readFrom(stream);
      const all = Buffer.concat(Array.from({ length: 30 }, (_, n) => frame(n, bytes)));
      for (let at = 0; at < all.length; ) {
        const piece = all.subarray(at, at + random.int(1, 1 + Math.floor(2.5 * bytes)));
        stream.write(piece);
        at += piece.length;
      }
      for (let n = 0; n < 30; n++) {
        let found = pipe.shift();
        while (!found) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          found = pipe.shift();
        }
        expect(Buffer.compare(found, frame(n, bytes)), `frame ${n} of ${bytes} bytes, seed ${seed}`).toBe(0);
        pipe.release(found);
      }
    }
  });

  it.runIf(process.platform === 'linux')('stops the writer when enough has come (Linux)', async () => {
    const bytes = 300_000;
    let arrived = 0;
    const pipe = new FramePipe(bytes, () => arrived++);
    const channel = await openChannel(pipe);
    if (!channel) throw new Error('there is no channel');
    pipe.receiveFrom(channel.input);
    for (let n = 0; n < 40; n++) channel.output.write(frame(n, bytes));
    channel.output.end();
    const ahead = await settled(() => arrived);
    expect(ahead).toBeGreaterThan(1);
    expect(ahead).toBeLessThan(8);
    for (let n = 0; n < 40; n++) {
      await expect.poll(() => arrived, { timeout: 10_000 }).toBeGreaterThan(n);
      const found = pipe.shift();
      if (!found) throw new Error(`frame ${n} is not there`);
      expect(Buffer.compare(found, frame(n, bytes))).toBe(0);
      pipe.release(found);
    }
    await expect.poll(() => channel.input.destroyed, { timeout: 10_000 }).toBe(true);
    channel.output.destroy();
  });
});

describe('the ring between threads', () => {
  it('passes bytes on in order, and makes the writer wait for the reader', async () => {
    const ring = createRing(1000);
    const capacity = ring.bytes.length;
    const total = 5 * capacity + 12345;
    const script = `
      import { parentPort, workerData } from 'node:worker_threads';
      const { RingWriter } = await import(workerData.module);
      const writer = new RingWriter(workerData.ring, () => parentPort.postMessage('wake'));
      for (let sent = 0; sent < workerData.total; ) {
        const part = new Uint8Array(Math.min(77777, workerData.total - sent));
        for (let i = 0; i < part.length; i++) part[i] = (sent + i) % 251;
        writer.time(sent);
        writer.write(part);
        sent += part.length;
      }
      parentPort.postMessage('end');`;
    const module = new URL('../../../dist/platform/ffmpeg-wasm/ring.js', import.meta.url).href;
    const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
    const worker = new Worker(url, { workerData: { ring, total, module }, execArgv: [] });
    const reader = new RingReader(ring);
    worker.on('message', (message) => (message === 'end' ? reader.end() : reader.wake()));
    // A writer that did not wait would write over what has not been read.
    await new Promise((resolve) => setTimeout(resolve, 300));
    let position = 0;
    let wrong = 0;
    const times: number[] = [];
    for (let chunk = await reader.next(); chunk; chunk = await reader.next()) {
      expect(chunk.length).toBeLessThanOrEqual(capacity);
      for (const byte of chunk) if (byte !== position++ % 251) wrong++;
      times.push(...reader.takeTimes());
    }
    await worker.terminate();
    expect({ position, wrong }).toEqual({ position: total, wrong: 0 });
    expect(times).toEqual(Array.from({ length: Math.ceil(total / 77777) }, (_, i) => i * 77777));
  });
});
