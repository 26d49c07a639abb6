/**
 * @module platform/node/workers
 * Starts Node's worker threads and parser processes. A process contains native code: it can be killed, and cannot harm other
 * memory.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { FromWorker, ToWorker, WorkerHandle } from '../../engine/contract/platform.js';
import type { FromParser, ParserWorker } from '../../parsing/protocol.js';
import { readMessages, writeMessage } from './message-pipe.js';

/** The first message of platform/node/node-worker; the others are {@link FromWorker}. */
export type Loaded = 'loaded';

/** Milliseconds to wait for a worker to load before terminating it. */
const LOADING_TIME = 2000;

/** Starts a thread. Ignores its messages and death after its termination. */
export function startThread<Out, In>(script: URL, name: string) {
  // Do not inherit flags of the process, such as --import of a test runner.
  const worker = new Worker(script, { name, execArgv: [] });
  let ended = false;
  return {
    worker,
    post: (message: Out, transfer?: ArrayBuffer[]): void => worker.postMessage(message, transfer),
    /** @param onDeath receives the reason, a sentence, when no more messages will come */
    listen(onMessage: (message: In) => void, onDeath: (how: string) => void): void {
      const died = (how: string): void => {
        if (!ended) onDeath(how);
      };
      worker.on('message', (message: In) => {
        if (!ended) onMessage(message);
      });
      worker.on('messageerror', (error) => died(`a message could not be read (${error.message}).`));
      worker.on('error', (error) => died(`${error.message}.`));
      worker.on('exit', (code) => died(`its thread ended with code ${code}.`));
    },
    async terminate(after?: Promise<void>): Promise<void> {
      ended = true;
      await after;
      await worker.terminate();
    },
  };
}

export function startNodeWorker(script: URL): WorkerHandle {
  const { worker, ...thread } = startThread<ToWorker, FromWorker | Loaded>(script, 'anyvmaf');
  let loaded = () => {};
  // Wait, because Node leaks the descriptor of a module that a terminated thread is reading.
  const loading = new Promise<void>((resolve) => {
    loaded = resolve;
  });
  worker.once('exit', loaded).on('message', (message) => {
    if (message === 'loaded') loaded();
  });
  return {
    ...thread,
    listen(onMessage, onDeath) {
      thread.listen((message) => {
        if (message !== 'loaded') onMessage(message);
      }, onDeath);
    },
    async terminate() {
      const timer = setTimeout(loaded, LOADING_TIME);
      await thread.terminate(loading);
      clearTimeout(timer);
    },
  };
}

/** Megabytes of JavaScript heap. The index of ten hours of video takes half of it. */
const HEAP = 1024;

/** Most megabytes in total, including decoded pictures and native libraries. */
const RESIDENT = 3072;

/** Bytes of a memory page in `/proc`. */
const PAGE = 4096;

export function startNodeParser(script: URL): ParserWorker {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, [`--max-old-space-size=${HEAP}`, fileURLToPath(script)], {
    env,
    // Messages use the fourth pipe: libraries print to the second and third.
    stdio: ['pipe', 'ignore', env.ANYVMAF_DEBUG ? 'inherit' : 'ignore', 'pipe'],
    windowsHide: true,
  });
  const [input, , , output] = child.stdio;
  if (!input || !(output instanceof Readable)) throw new Error('a parser process has no pipes');
  let ended = false;
  // The caller's timer keeps this process alive while a call is pending.
  const unref = (): void => {
    child.unref();
    for (const pipe of [input, output]) if ('unref' in pipe && typeof pipe.unref === 'function') pipe.unref();
  };
  unref();
  // The exit event reports errors.
  input.on('error', () => {});
  output.on('error', () => {});
  return {
    memory: HEAP,
    isTooLarge: () => residentMegabytes(child.pid) > RESIDENT,
    post: (message, transfer) => {
      if (!input.destroyed) writeMessage(input, message, transfer);
    },
    listen(onMessage, onDeath) {
      const died = (outOfMemory: boolean, how: string): void => {
        if (ended) return;
        ended = true;
        onDeath({ outOfMemory, how });
      };
      readMessages<FromParser>(output, onMessage, (error) => {
        died(false, `its process sent a malformed message (${error}).`);
        child.kill('SIGKILL');
      });
      child.on('error', (error) => died(false, `its process cannot be started (${error.message}).`));
      child.on('exit', (code, signal) =>
        // V8 aborts when its heap is full.
        died(signal === 'SIGABRT' || code === 134, `its process ended with ${signal ?? `code ${code}`}.`),
      );
      unref();
    },
    terminate() {
      ended = true;
      child.kill('SIGKILL');
      input.destroy();
      output.destroy();
    },
  };
}

/** 0 if unknown. */
function residentMegabytes(pid: number | undefined): number {
  if (process.platform !== 'linux' || pid === undefined) return 0;
  try {
    const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ');
    return (Number(pages) * PAGE) / (1 << 20);
  } catch {
    return 0;
  }
}
