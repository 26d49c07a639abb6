/**
 * @module platform/node/pool
 * Worker threads of Node, as their owners use them.
 */
import { Worker } from 'node:worker_threads';
import type { FromWorker, ToWorker, WorkerHandle } from '../../engine/contract/protocol.js';

/** Posted by platform/node/node-worker once it is loaded; everything after it is a {@link FromWorker}. */
export const LOADED = 'loaded';

/** Milliseconds to wait for loading before a worker is ended anyway. */
const LOADING_TIME = 2000;

/** Starts a thread. Once it is terminated, its messages and its death are ignored. */
export function startThread<Out, In>(script: URL, name: string) {
  // Flags of the process, such as --import of a test runner, are not for it.
  const worker = new Worker(script, { name, execArgv: [] });
  let ended = false;
  return {
    worker,
    post: (message: Out, transfer?: ArrayBuffer[]): void => worker.postMessage(message, transfer),
    /** @param onDeath receives the reason why no more messages come, a sentence */
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
  const { worker, ...thread } = startThread<ToWorker, FromWorker | typeof LOADED>(script, 'anyvmaf');
  let loaded = () => {};
  // Node leaks the descriptor of a module that a terminated thread was reading.
  const loading = new Promise<void>((resolve) => {
    loaded = resolve;
  });
  worker.once('exit', loaded).on('message', (message) => {
    if (message === LOADED) loaded();
  });
  return {
    ...thread,
    listen(onMessage, onDeath) {
      thread.listen((message) => {
        if (message !== LOADED) onMessage(message);
      }, onDeath);
    },
    async terminate() {
      const timer = setTimeout(loaded, LOADING_TIME);
      await thread.terminate(loading);
      clearTimeout(timer);
    },
  };
}
