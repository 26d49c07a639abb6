/**
 * @module test/node/engine/stop
 * How runs end early, aborted by the caller or by a worker that fails, and how a gate holds them up.
 */

import { describe, expect, it, vi } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import type { FramePlanes } from '../../../src/core/frame.js';
import type { Platform, WorkerHandle } from '../../../src/engine/contract/platform.js';
import type { ScoreOptions, ScoreRequest } from '../../../src/engine/contract/types.js';
import { requireSteerable, STEERED } from '../../../src/engine/live/steerable.js';
import { Steering } from '../../../src/engine/live/steering.js';
import { prepareRun, scorePair } from '../../../src/engine/score.js';
import { scoreEach } from '../../../src/engine/score-many.js';
import type { Decoder } from '../../../src/media/decoder.js';
import type { FrameSource } from '../../../src/media/types.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import { startNodeWorker } from '../../../src/platform/node/workers.js';
import { ALL_FEATURES, ownSource, SMALL, storedPair, y4mPair } from '../../support/clips.js';
import { testFolder } from '../../support/folders.js';
import { tier } from '../../support/tier.js';

const folder = testFolder();
/** So large that a run takes seconds. */
const pair = y4mPair({ width: 640, height: 360, bitDepth: 8, chroma: '420' }, 3);
const endless = (side: 'reference' | 'distorted', onClose: () => void, seekable = false) => {
  const source = ownSource(pair.clip, side, 3, { seekable, onClose });
  return {
    ...source,
    readFrame: (_: number, into: Parameters<typeof source.readFrame>[1]) => source.readFrame(1, into),
  };
};
const options: ScoreOptions = { noPrediction: true, features: ['vif', 'adm', 'motion'], preflight: false };

/** The real platform, which counts its workers. */
function watched(
  start: () => WorkerHandle = nodePlatform.startWorker,
): Platform & { alive: number; started: number } {
  const platform = {
    ...nodePlatform,
    alive: 0,
    started: 0,
    startWorker(): WorkerHandle {
      const worker = start();
      platform.alive++;
      platform.started++;
      let ended = false;
      return {
        ...worker,
        async terminate() {
          await worker.terminate();
          if (!ended) platform.alive--;
          ended = true;
        },
      };
    },
  };
  return platform;
}

/** A real worker thread that runs other code. */
const rogue = (code: string) => () =>
  startNodeWorker(
    new URL(
      `data:text/javascript,${encodeURIComponent(`import { parentPort } from 'node:worker_threads';parentPort.postMessage('loaded');${code}`)}`,
    ),
  );

async function rejection(run: Promise<unknown>): Promise<unknown> {
  return run.then(
    () => expect.unreachable('the run did not fail'),
    (reason: unknown) => reason,
  );
}

describe('AbortSignal', () => {
  it('that is already aborted stops before anything is opened', async () => {
    const reason = new Error('too late');
    const none = { reference: 'none', distorted: 'none' };
    const run = scorePair(nodePlatform, none, { signal: AbortSignal.abort(reason) });
    expect(await rejection(run)).toBe(reason);
  });

  it.each([0, 2])('rejects with its reason, ends workers, closes videos, %i threads', async (threads) => {
    const platform = watched();
    const controller = new AbortController();
    let closed = 0;
    const close = () => closed++;
    const request = { reference: endless('reference', close), distorted: endless('distorted', close) };
    let frames = 0;
    const onFrame = () => {
      if (++frames >= 4) controller.abort('enough');
    };
    const aborted = { ...options, threads, signal: controller.signal, onFrame };
    const run = scorePair(platform, request, aborted);
    expect(await rejection(run)).toBe('enough');
    expect(platform).toMatchObject({ started: threads, alive: 0 });
    expect(closed).toBe(2);
  });

  it.each([0, 2])('stops at its time limit, as timers fire between frames, %i threads', async (threads) => {
    const platform = watched();
    let closed = 0;
    const close = () => closed++;
    const request = { reference: endless('reference', close), distorted: endless('distorted', close) };
    const run = scorePair(platform, request, { ...options, threads, maxSeconds: 0.3 });
    expect(await rejection(run)).toMatchObject({
      code: 'resource',
      message:
        'maxSeconds is 0.3, but scoring took longer and was stopped; allow more, or score less, such as a range.',
    });
    expect(platform).toMatchObject({ alive: 0 });
    expect(closed).toBe(2);
  });

  it('ends workers and closes videos before a sampled run rejects', async () => {
    const platform = watched();
    const controller = new AbortController();
    let [reads, closed] = [0, 0];
    const extras = {
      ...{ frameCount: 5000, seekable: true },
      onClose: () => closed++,
      onRead: () => {
        if (++reads === 8) controller.abort('enough');
      },
    };
    const [reference, distorted] = (['reference', 'distorted'] as const).map((side) => {
      const source = ownSource(pair.clip, side, 3, extras);
      return { ...source, readFrame: (_: number, into: FramePlanes) => source.readFrame(1, into) };
    });
    if (!reference || !distorted) throw new Error('a pair has two sides');
    const samples = { runs: 4, seconds: 1 };
    const sampled = { ...options, samples, threads: 2, signal: controller.signal };
    expect(await rejection(scorePair(platform, { reference, distorted }, sampled))).toBe('enough');
    expect(platform).toMatchObject({ started: 2, alive: 0 });
    expect(closed).toBe(2);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5'])('refuses %s seconds', async (limit) => {
    const run = scorePair(nodePlatform, pair, { maxSeconds: limit as number });
    const message = expect.stringMatching(/^maxSeconds is .*seconds above 0/);
    expect(await rejection(run)).toMatchObject({ message });
  });

  it('stops workers that read files', async () => {
    const platform = watched();
    const long = y4mPair({ width: 160, height: 90, bitDepth: 8, chroma: '420' }, 60);
    const controller = new AbortController();
    const aborted = { ...options, signal: controller.signal, onFrame: () => controller.abort() };
    const files = storedPair(folder, 'long', long);
    const run = scorePair(platform, files, { ...aborted, threads: 2, chunkFrames: 1 });
    expect(await rejection(run)).toMatchObject({ name: 'AbortError' });
    expect(platform).toMatchObject({ started: 2, alive: 0 });
  });

  it.each([0, 2])('does not wait for a stalled video, %i threads', async (threads) => {
    const controller = new AbortController();
    const stalled = ownSource(pair.clip, 'reference', 3, {
      onRead: (index) => {
        if (index < 1) return;
        setTimeout(() => controller.abort('stalled'), 20);
        return new Promise(() => {});
      },
    });
    const platform = watched();
    const request = { reference: stalled, distorted: ownSource(pair.clip, 'distorted', 3) };
    const run = scorePair(platform, request, { ...options, threads, signal: controller.signal });
    expect(await rejection(run)).toBe('stalled');
    expect(platform.alive).toBe(0);
  });

  it('does not wait for a video that never opens', async () => {
    const silent = new ReadableStream<Uint8Array>();
    const request = { reference: silent, distorted: pair.distorted };
    const run = scorePair(nodePlatform, request, { ...options, signal: AbortSignal.timeout(50) });
    expect(await rejection(run)).toMatchObject({ name: 'TimeoutError' });
  });

  it.each([
    ['waits for probes that end', true],
    ['does not wait for ever for probes', false],
  ])('%s', async (_, ends) => {
    const controller = new AbortController();
    let probing = 0;
    const probe = (_: unknown, signal?: AbortSignal) =>
      new Promise<never>((_, reject) => {
        probing++;
        const end = () => {
          probing--;
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', () => void (ends && setTimeout(end, 20)));
        controller.abort('enough');
      });
    const availability = async () => ({ id: 'ffmpeg', usable: true }) as const;
    const decoder = { id: 'ffmpeg', availability, probe } as unknown as Decoder;
    const platform = { ...nodePlatform, decoders: async () => [decoder] };
    const mp4 = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), new Uint8Array(500)]);
    const request = { reference: pair.reference, distorted: new Uint8Array(mp4) };
    const run = scorePair(platform, request, { ...options, signal: controller.signal });
    expect(await rejection(run)).toBe('enough');
    expect(probing).toBe(ends ? 0 : 1);
  });

  it('does not wait for an input that does not even close', async () => {
    const opening = vi.fn(() => new Promise<never>(() => {}));
    const platform = { ...nodePlatform, files: { ...nodePlatform.files, open: opening } };
    const run = scorePair(platform, { reference: 'a', distorted: 'b' }, { signal: AbortSignal.timeout(50) });
    expect(await rejection(run)).toMatchObject({ name: 'TimeoutError' });
    expect(opening).toHaveBeenCalledTimes(2);
  });

  it('leaves no listener on a signal that remains', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    await scorePair(nodePlatform, pair, { ...options, threads: 0, signal });
    expect(listeners).toBe(0);
  });
});

it.each([
  ['throws', 0],
  ['rejects', 1],
])('a video whose close %s hides no earlier error, and keeps no other open', async (_, later) => {
  const [read, close] = [new Error('read'), new Error('close')];
  const fail = (error: Error) => {
    throw error;
  };
  let closed = 0;
  const onClose = () => {
    closed++;
    return later ? Promise.reject(close) : fail(close);
  };
  const video = (onRead = () => {}) =>
    ownSource(pair.clip, 'distorted', 3, { seekable: true, frameCount: 3, onRead, onClose });
  const stop = new AbortController();
  const small = { ...video(), info: { ...video().info, width: 98 } };
  const [broken, aborting] = [() => fail(read), () => stop.abort('enough')];
  const scored = (onRead?: () => void, distorted: FrameSource = video(onRead)) =>
    scorePair(nodePlatform, { reference: video(onRead), distorted }, { ...options, signal: stop.signal });
  const encode = video(broken);
  const runs: readonly [unknown, number, () => Promise<unknown>][] = [
    [read, 2, () => scored(broken)],
    [read, 1, () => scoreEach(nodePlatform, encode, [encode, encode], options)],
    [expect.objectContaining({ code: 'mismatch' }), 2, () => scored(undefined, small)],
    [close, 2, () => scored()],
    ['enough', 2, () => scored(aborting)],
  ];
  for (const [reason, videos, run] of runs) {
    closed = 0;
    expect(await rejection(run())).toEqual(reason);
    expect(closed).toBe(videos);
  }
});

describe('a worker that fails', () => {
  const files = storedPair(folder, 'three', pair);

  it.each([
    ['throws', 'throw new TypeError("broken")', /A worker died while measuring frames: broken\./],
    ['exits', 'process.exit(7)', /A worker died while measuring frames: its thread ended with code 7\./],
    [
      'reports it',
      'parentPort.on("message", () => parentPort.postMessage({ kind: "failed", code: "internal", message: "No more." }))',
      /^No more\.$/,
    ],
  ])('and %s ends the run with an error', async (_, code, message) => {
    for (const request of tier([files], [files, pair])) {
      let starts = 0;
      // The other worker works.
      const platform = watched(() => (starts++ === 0 ? rogue(code)() : nodePlatform.startWorker()));
      const error = await rejection(scorePair(platform, request, { ...options, threads: 2 }));
      expect(error).toBeInstanceOf(AnyvmafError);
      expect(error).toMatchObject({ code: 'internal', message: expect.stringMatching(message) });
      expect(platform).toMatchObject({ started: 2, alive: 0 });
    }
  });

  it('while the video has stalled ends the run', async () => {
    const code = 'setTimeout(() => process.exit(1), 50); parentPort.on("message", () => {})';
    const platform = watched(rogue(code));
    const never = ownSource(pair.clip, 'reference', 3, { onRead: () => new Promise(() => {}) });
    const request = { reference: never, distorted: pair.distorted };
    const run = scorePair(platform, request, { ...options, threads: 1 });
    expect(await rejection(run)).toMatchObject({ code: 'internal' });
    expect(platform.alive).toBe(0);
  });

  it('to start leaves no other running', async () => {
    let starts = 0;
    const platform = watched(() => {
      if (starts++ === 2) throw new Error('no more threads');
      return nodePlatform.startWorker();
    });
    const error = await rejection(scorePair(platform, files, { ...options, threads: 4 }));
    expect(error).toMatchObject({ message: 'no more threads' });
    expect(platform).toMatchObject({ started: 2, alive: 0 });
  });

  it('for lack of its script names it', async () => {
    const platform = watched(() => startNodeWorker(new URL('file:///nowhere/worker.js')));
    const error = await rejection(scorePair(platform, files, { ...options, threads: 1 }));
    expect(error).toMatchObject({ code: 'internal', message: expect.stringContaining('/nowhere/worker.js') });
  });
});

const FRAMES = 12;
const small = y4mPair(SMALL, FRAMES);
const everything: ScoreOptions = { ...options, features: ALL_FEATURES };

/** Lets `before` calls pass, then blocks until it is opened. */
function barrier(before: number) {
  let open = () => {};
  let asked = 0;
  let reached = () => {};
  const closed = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    closed,
    open,
    gate() {
      if (++asked <= before) return undefined;
      reached();
      return opened;
    },
  };
}

const moment = () => new Promise((resolve) => setTimeout(resolve, 60));

describe('a gate', () => {
  const files = storedPair(folder, 'small', small);
  const sources = (reads: { count: number }): ScoreRequest => ({
    reference: ownSource(small.clip, 'reference', FRAMES, { onRead: () => void reads.count++ }),
    distorted: ownSource(small.clip, 'distorted', FRAMES),
  });

  it.each([0, 2])('pauses reading and changes no value, %i threads', async (threads) => {
    const plain = await scorePair(nodePlatform, sources({ count: 0 }), { ...everything, threads });
    const reads = { count: 0 };
    const { gate, closed, open } = barrier(4);
    const run = scorePair(nodePlatform, sources(reads), { ...everything, threads, gate });
    await closed;
    await moment();
    const held = reads.count;
    await moment();
    expect(reads.count).toBe(held);
    expect(held).toBeLessThan(FRAMES);
    open();
    expect((await run).frames).toEqual(plain.frames);
    expect(reads.count).toBeGreaterThanOrEqual(FRAMES);
  });

  it('pauses workers that read files, chunk by chunk', async () => {
    const plain = await scorePair(nodePlatform, files, { ...everything, threads: 0 });
    const { gate, closed, open } = barrier(3);
    let frames = 0;
    const how = { ...everything, threads: 2, chunkFrames: 2, gate, onFrame: () => frames++ };
    const run = scorePair(nodePlatform, files, how);
    await closed;
    // Three chunks of two frames have passed; motion delays the last frame until the next is known.
    await expect.poll(() => frames).toBeGreaterThanOrEqual(5);
    await moment();
    expect(frames).toBeLessThanOrEqual(6);
    open();
    expect((await run).frames).toEqual(plain.frames);
  });

  it.each([0, 2])('ends with a signal, %i threads', async (threads) => {
    const stop = new AbortController();
    const { gate, closed } = barrier(2);
    const single = { ...everything, threads, chunkFrames: 1 };
    const run = scorePair(nodePlatform, files, { ...single, gate, signal: stop.signal });
    await closed;
    stop.abort('enough');
    await expect(run).rejects.toBe('enough');
  });

  it.each([0, 2])('that fails ends the run with its error, %i threads', async (threads) => {
    let asked = 0;
    const gate = () => (++asked < 3 ? undefined : Promise.reject(new Error('closed for good')));
    const run = scorePair(nodePlatform, files, { ...everything, threads, chunkFrames: 1, gate });
    await expect(run).rejects.toThrow('closed for good');
  });

  it('does not keep an observer from pausing the run', async () => {
    const how = { ...everything, threads: 2, chunkFrames: 1, gate: () => undefined };
    const run = prepareRun(nodePlatform, files, how);
    const steering = new Steering({ planned() {}, boundary() {}, frame() {}, swapped() {}, ended() {} });
    requireSteerable(run)[STEERED](steering);
    steering.pause();
    const report = run.start();
    const later = new Promise((resolve) => setTimeout(resolve, 400, 'it waits'));
    expect(await Promise.race([report, later])).toBe('it waits');
    steering.resume();
    expect((await report).frameCount).toBe(FRAMES);
  });

  it('must be a function', async () => {
    const gate = 'open' as unknown as () => undefined;
    const run = scorePair(nodePlatform, files, { ...everything, gate });
    await expect(run).rejects.toMatchObject({ code: 'usage' });
  });
});
