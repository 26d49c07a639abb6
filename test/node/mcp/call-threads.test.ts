/**
 * @module test/node/mcp/call-threads
 * Call threads of the MCP server: their results equal this thread's, the server's own thread measures nothing, and a crash,
 * a cancelled call and the end of the server affect only the threads that they should.
 */
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { CallThreads, type Measuring } from '../../../src/mcp/call-threads.js';
import * as here from '../../../src/mcp/checked-api.js';
import { type TakenPair, takePairs } from '../../../src/mcp/checked-api.js';
import type { CheckedModel, CheckedPath } from '../../../src/mcp/paths.js';
import { TOOLS } from '../../../src/mcp/tools/index.js';
import { y4mFile } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { testFolder } from '../../support/folders.js';
import { fakeHost } from '../../support/mcp-host.js';
import { toolNamed } from '../../support/mcp-tools.js';

const FORMAT = { width: 96, height: 64, bitDepth: 8, chroma: '420' } as const;
/** Frames of a pair that takes longer to score than to stop. */
const LONG = 400;

const folder = testFolder('threads');
/** Threads that started since the last {@link renew}. */
let started: Worker[] = [];
let threads = new CallThreads();

async function renew(): Promise<void> {
  await threads.close();
  started = [];
  threads = new CallThreads();
}

const path = (name: string) => join(folder, name) as CheckedPath;
const pair = (frames: number) => ({
  reference: path(`reference-${frames}.y4m`),
  distorted: path(`distorted-${frames}.y4m`),
});
const options = (more: object = {}) => ({
  models: ['version=vmaf_v0.6.1'] as unknown as CheckedModel[],
  origin: { by: 'foreign' as const, folders: [folder] },
  maxThreads: 1,
  ...more,
});
const note = (worker: Worker) => started.push(worker);

/** A job that takes pictures of these frames. */
const taking = (length: number, frames: readonly number[], names: readonly ('reference' | 'map')[]) => ({
  ...{ request: pair(length), frames, maps: { butteraugli: false } },
  options: { origin: options().origin },
  previews: { names, maxSide: 64, maxBytes: 2000 },
});

const sample = makeSample(FORMAT, { seed: 5 });
for (const frames of [3, LONG])
  for (const side of ['reference', 'distorted'] as const)
    writeFileSync(pair(frames)[side], y4mFile(sample, side, frames));
process.on('worker', note);

afterAll(async () => {
  await threads.close();
  process.off('worker', note);
});

/** A call that takes seconds; `going` resolves once it has measured something. */
function begun(measuring: Measuring, signal?: AbortSignal): { call: Promise<unknown>; going: Promise<void> } {
  let hear = () => {};
  const going = new Promise<void>((resolve) => {
    hear = resolve;
  });
  const more = { features: ['ssimulacra2', 'butteraugli'], onProgress: hear, signal };
  const call = measuring.score(pair(LONG), options(more));
  call.catch(() => {});
  return { call, going };
}

/** The error of a call, with what tools read of it. */
async function failure(call: Promise<unknown>) {
  const error = await call.catch((reason: unknown) => reason);
  if (!(error instanceof AnyvmafError)) throw new Error(`not an AnyvmafError: ${String(error)}`);
  const { code, message, objections, role } = error;
  return { code, message, objections, role };
}

describe('calls in a thread', () => {
  it('give the report, the progress and the errors that they give in this one', async () => {
    const { measuring } = threads;
    const [told, toldHere] = [[] as unknown[], [] as unknown[]];
    const done = ({ framesDone }: { framesDone: number }) => framesDone;
    const into = (list: unknown[]) => options({ onProgress: (one: never) => list.push(done(one)) });
    const there = await measuring.score(pair(3), into(told));
    const own = await here.score(pair(3), into(toldHere));
    expect(there).toEqual({ ...own, fps: expect.any(Number) });
    expect([told.at(-1), toldHere.at(-1)]).toEqual([3, 3]);
    const absent = { ...pair(3), distorted: path('absent.y4m') };
    const misfit = options({ scaleTo: { width: 1, height: 1 } });
    for (const [request, how] of [
      [absent, options()],
      [pair(3), misfit],
    ] as const)
      expect(await failure(measuring.score(request, how))).toEqual(await failure(here.score(request, how)));
    expect(threads.size).toBe(1);
  });

  it('tell of each pair of a table and of each video of many, also of those that fail', async () => {
    const { measuring } = threads;
    const table: unknown[] = [];
    const jobs = [pair(3), { ...pair(3), distorted: path('absent.y4m') }];
    const keep = (list: unknown[]) => (result: unknown, index: number) => {
      list[index] = result;
    };
    await measuring.scoreBatch(jobs, { ...options(), onResult: keep(table) });
    const many: unknown[] = [];
    const distorted = jobs.map((job) => job.distorted);
    const heard = { onReport: keep(many), onFailure: keep(many) };
    await measuring.scoreMany(pair(3).reference, distorted, options(heard));
    for (const outcome of [table, many]) {
      expect(outcome[0]).toMatchObject({ frameCount: 3 });
      expect(outcome[1]).toBeInstanceOf(AnyvmafError);
      expect(outcome[1]).toMatchObject({ code: 'io', message: expect.stringContaining('absent.y4m') });
    }
  });

  it('take the pictures that are taken in this one', async () => {
    const job = taking(3, [0, 2], ['reference', 'map']);
    const take = async (api: Pick<Measuring, 'takePairs'>) => {
      const taken: TakenPair[] = [];
      const { signal } = new AbortController();
      await api.takePairs(job, { signal, onPair: (one) => taken.push(one) });
      return taken;
    };
    const [there, own] = [await take(threads.measuring), await take({ takePairs })];
    expect(own.map(({ index }) => index)).toEqual([0, 2]);
    expect(there).toEqual(own);
    expect(threads.size).toBe(1);
  });

  it('that take pictures stop between two of them, and leave the thread to the next', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const taken: number[] = [];
    const frames = Array.from({ length: LONG }, (_, i) => i);
    const call = threads.measuring.takePairs(taking(LONG, frames, []), {
      signal: stop.signal,
      onPair: ({ index }) => {
        taken.push(index);
        stop.abort(reason);
      },
    });
    await expect(call).rejects.toBe(reason);
    expect(taken.length).toBeLessThan(LONG);
    expect(await threads.measuring.score(pair(3), options())).toMatchObject({ frameCount: 3 });
    expect(threads.size).toBe(1);
  });

  it('reject with what a function of the caller throws', async () => {
    const bug = new TypeError('a bug');
    const onProgress = () => {
      throw bug;
    };
    await expect(threads.measuring.score(pair(3), options({ onProgress }))).rejects.toBe(bug);
    await vi.waitFor(() => expect(threads.size).toBe(0));
  });

  it('that are cancelled reject with the reason, and leave the thread to the next', async () => {
    const stop = new AbortController();
    const { call, going } = begun(threads.measuring, stop.signal);
    await going;
    const reason = new Error('enough');
    stop.abort(reason);
    await expect(call).rejects.toBe(reason);
    await expect(threads.measuring.score(pair(3), options({ signal: stop.signal }))).rejects.toBe(reason);
    expect(await threads.measuring.score(pair(3), options())).toMatchObject({ frameCount: 3 });
    expect(threads.size).toBe(1);
  });
});

describe('a thread', () => {
  beforeEach(renew);

  it('that crashes fails its own call, and those beside it and after it go on', async () => {
    const beside = threads.measuring.score(pair(LONG), options());
    // The thread blocks until this callback has returned, so it cannot be done before it crashes.
    const crashing = threads.measuring.searchQuality(pair(LONG).reference, {
      ...{ models: options().models, origin: options().origin, encoder: 'libx264' },
      ...{ targets: [{ atLeast: 90 }], onStage: () => void started[1]?.terminate() },
    });
    const outcome = await Promise.allSettled([beside, crashing]);
    expect(outcome.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    const message = 'The thread of this call stopped: it ended with code 1; call again.';
    expect(outcome[1]).toMatchObject({ reason: { code: 'internal', message } });
    expect(threads.size).toBe(1);
    expect(await threads.measuring.score(pair(3), options())).toMatchObject({ frameCount: 3 });
    expect(started).toHaveLength(2);
  });

  it('ends when no call comes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await threads.measuring.score(pair(3), options());
      await vi.advanceTimersByTimeAsync(29_000);
      await threads.measuring.score(pair(3), options());
      await vi.advanceTimersByTimeAsync(29_000);
      expect(threads.size).toBe(1);
      await vi.advanceTimersByTimeAsync(1000);
    } finally {
      vi.useRealTimers();
    }
    await vi.waitFor(() => expect(threads.size).toBe(0));
  });

  it('ends with its server, whatever it does', async () => {
    const gone = new Set<Worker>();
    await Promise.all([1, 2].map(() => threads.measuring.score(pair(3), options())));
    const { call, going } = begun(threads.measuring);
    await going;
    for (const worker of started) worker.once('exit', () => gone.add(worker));
    await threads.close();
    expect(await failure(call)).toMatchObject({ code: 'internal' });
    expect([threads.size, gone.size]).toEqual([0, 2]);
  });
});

it('a server measures nothing in its own thread, shares few threads among many calls, and ends them', async () => {
  await renew();
  let instances = 0;
  const { Instance, instantiate } = WebAssembly;
  WebAssembly.Instance = class extends Instance {
    constructor(...args: ConstructorParameters<typeof Instance>) {
      instances++;
      super(...args);
    }
  };
  const counting = (...args: Parameters<typeof instantiate>) => {
    instances++;
    return instantiate(...args);
  };
  Object.assign(WebAssembly, { instantiate: counting });
  try {
    const given = { allow: [folder], tools: TOOLS };
    const host = await fakeHost({ VMAF_MCP_MAX_CONCURRENT: '2' }, undefined, given);
    const tool = toolNamed('vmaf_score_encoded');
    const { reference: reference_encoded, distorted: distorted_encoded } = pair(3);
    const scope = host.resources.scope('local');
    const calls = Array.from({ length: 5 }, () =>
      host.jobs.begin(tool, { reference_encoded, distorted_encoded }, scope),
    );
    for (const { structuredContent } of await Promise.all(calls.map(({ answer }) => answer)))
      expect(structuredContent).toMatchObject({ frame_count: 3 });
    expect([instances, started.length, host.threads.size]).toEqual([0, 2, 2]);
    await host.close();
    expect(host.threads.size).toBe(0);
    // The counter works.
    await here.score(pair(3), options());
    expect(instances).toBeGreaterThan(0);
  } finally {
    Object.assign(WebAssembly, { Instance, instantiate });
  }
});

it.skipIf(process.platform === 'win32').each([
  ['in a thread', () => threads.measuring],
  ['in this thread', () => here],
] as const)('work that its caller stops before an encode encodes nothing %s', async (_, api) => {
  const [program, log] = [join(folder, 'ffmpeg'), join(folder, 'ffmpeg.log')];
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$*" >> '${log}'\nexec ffmpeg "$@"\n`);
  chmodSync(program, 0o755);
  const { ANYVMAF_FFMPEG: usual } = process.env;
  process.env.ANYVMAF_FFMPEG = program;
  const stop = new AbortController();
  try {
    const search = api().searchQuality(pair(LONG).reference, {
      ...{ models: options().models, origin: options().origin, signal: stop.signal },
      ...{ encoder: 'libx264', targets: [{ atLeast: 90 }] },
      onStage: ({ kind }) => {
        if (kind === 'encoding') stop.abort(new Error('before the first'));
      },
    });
    await expect(search).rejects.toThrow('before the first');
    const asked = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((args) => / -crf /.test(args))).toEqual([]);
  } finally {
    if (usual === undefined) delete process.env.ANYVMAF_FFMPEG;
    else process.env.ANYVMAF_FFMPEG = usual;
    rmSync(log, { force: true });
  }
});
