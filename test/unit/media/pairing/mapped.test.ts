/** Sources in an order of their own, and one decoder for several readers (src/media/pairing/mapped.ts, fan.ts). */
import { describe, expect, it } from 'vitest';
import type { DecodedSource, TrackFacts } from '../../../../src/media/decoder.js';
import { Fan } from '../../../../src/media/pairing/fan.js';
import { MappedSource } from '../../../../src/media/pairing/mapped.js';

const facts: TrackFacts = {
  name: 'x.mp4',
  container: 'mov',
  codec: 'h264',
  pixelFormat: 'yuv420p',
  width: 4,
  height: 4,
  bitDepth: 8,
  chroma: '420',
  frameCount: 20,
  duration: 0.8,
  startTime: 0,
  bitrate: null,
  fileSize: null,
  rotation: 0,
  fieldOrder: 'progressive',
};

/** Frames that hold their number; each can be read once, in order, as from a decoder. */
function decoder(frames = 20, failAt = Number.POSITIVE_INFINITY) {
  const state = { read: 0, reading: 0, closed: 0 };
  const source: DecodedSource = {
    info: { ...facts, container: 'frames', warnings: [] },
    seekable: false,
    facts,
    decoder: 'ffmpeg',
    decodedBy: 'a test',
    timestamp: () => undefined,
    async readFrame(index, into) {
      expect(++state.reading).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      state.reading--;
      if (index < state.read) throw new Error(`frame ${index} read twice`);
      if (index >= failAt) throw new Error('damaged');
      if (index >= frames) return false;
      state.read = index + 1;
      into.y.fill(index);
      into.cb?.fill(index + 100);
      into.cr?.fill(index + 200);
      return true;
    },
    close() {
      state.closed++;
    },
  };
  return { source, state };
}

const planes = () => ({ y: new Uint8Array(16), cb: new Uint8Array(4), cr: new Uint8Array(4) });

describe('a mapped source', () => {
  it('repeats and leaves out frames of one that gives each once', async () => {
    const { source } = decoder();
    const mapped = new MappedSource(source, [0, 1, 1, 1, 4, 5, 5]);
    expect(mapped.info.frameCount).toBe(7);
    const found: number[] = [];
    for (let n = 0; ; n++) {
      const into = planes();
      if (!(await mapped.readFrame(n, into))) break;
      found.push(into.y[0] ?? -1);
      expect(into.cr[3]).toBe((into.y[0] ?? 0) + 200);
    }
    expect(found).toEqual([0, 1, 1, 1, 4, 5, 5]);
  });
});

describe('a mapped source that shows all', () => {
  it('shows frames in their order, each once, until enough were seen', async () => {
    const { source } = decoder();
    const mapped = new MappedSource(source, [2, 4, 4, 7, 9, 12]);
    const shown: number[] = [];
    mapped.showAll((luma) => shown.push(luma[0] ?? -1) < 7);
    const found: number[] = [];
    for (let n = 0; ; n++) {
      const into = planes();
      if (!(await mapped.readFrame(n, into))) break;
      found.push(into.y[0] ?? -1);
      expect(into.cb[0]).toBe((into.y[0] ?? 0) + 100);
    }
    expect(found).toEqual([2, 4, 4, 7, 9, 12]);
    expect(shown).toEqual([2, 3, 4, 5, 6, 7, 8]);
  });
});

describe('a fan', () => {
  it('gives every reader every frame, and decodes each once', async () => {
    const { source, state } = decoder();
    const fan = new Fan(source, 3);
    async function readAll(reader: number, pause: () => Promise<unknown>): Promise<number[]> {
      const tap = fan.tap(reader);
      const found: number[] = [];
      const into = planes();
      for (let n = 0; await tap.readFrame(n, into); n++) {
        found.push(into.y[0] ?? -1);
        expect(into.cb[0]).toBe(n + 100);
        await pause();
      }
      await tap.close();
      return found;
    }
    const soon = () => Promise.resolve();
    const later = () => new Promise((resolve) => setTimeout(resolve, 1));
    const all = await Promise.all([readAll(0, soon), readAll(1, later), readAll(2, soon)]);
    for (const found of all) expect(found).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(state).toMatchObject({ read: 20, closed: 1 });
  });

  it('gives readers parts of their own', async () => {
    const { source, state } = decoder();
    const fan = new Fan(source, 2);
    const taps = [fan.tap(0, { start: 3, end: 12 }), fan.tap(1, { start: 0, end: Number.POSITIVE_INFINITY })];
    expect(taps.map(({ info }) => info.frameCount)).toEqual([9, 20]);
    const all = taps.map(async (tap) => {
      const found: number[] = [];
      const into = planes();
      for (let n = 0; await tap.readFrame(n, into); n++) found.push(into.y[0] ?? -1);
      await tap.close();
      return found;
    });
    const upTo = (first: number, end: number) => Array.from({ length: end - first }, (_, n) => first + n);
    expect(await Promise.all(all)).toEqual([upTo(3, 12), upTo(0, 20)]);
    expect(state).toMatchObject({ read: 20, closed: 1 });
  });

  it('holds the fastest back, until the slowest reads or leaves', async () => {
    const { source, state } = decoder();
    const fan = new Fan(source, 2);
    const [fast, slow] = [fan.tap(0), fan.tap(1)];
    let reached = 0;
    const all = (async () => {
      for (; await fast.readFrame(reached, planes()); reached++);
    })();
    const settle = () => new Promise((resolve) => setTimeout(resolve, 30));
    await settle();
    expect(reached).toBe(8);
    expect(state.read).toBe(8);
    await slow.readFrame(0, planes());
    await settle();
    expect(reached).toBe(9);
    await slow.close();
    await all;
    expect(reached).toBe(20);
    expect(state.closed).toBe(0);
    await fast.close();
    expect(state.closed).toBe(1);
  });

  it('tells every reader of a failure, after the frames before it', async () => {
    const { source } = decoder(20, 2);
    const fan = new Fan(source, 2);
    for (const tap of [fan.tap(0), fan.tap(1)]) {
      await tap.readFrame(0, planes());
      await tap.readFrame(1, planes());
      await expect(tap.readFrame(2, planes())).rejects.toThrow('damaged');
    }
  });
});
