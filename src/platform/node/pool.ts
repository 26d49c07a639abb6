/**
 * @module platform/node/pool
 * Workers as Node's worker threads.
 */
import { Worker } from 'node:worker_threads';
import type { FromWorker, WorkerHandle } from '../../engine/contract/protocol.js';

/** What platform/node/node-worker posts once it is loaded; everything after it is a {@link FromWorker}. */
export const LOADED = 'loaded';

/** Milliseconds that loading may take before a worker is ended anyway. */
const LOADING_TIME = 2000;

/** Starts a thread that runs `script`, this package's `node-worker.js`. */
export function startNodeWorker(script: URL): WorkerHandle {
  // Flags of the process, such as --import of a test runner, are not meant for it.
  const worker = new Worker(script, { name: 'anyvmaf', execArgv: [] });
  let ended = false;
  let loaded = () => {};
  // Node leaks the descriptor of a module that a thread is reading when it is terminated.
  const loading = new Promise<void>((resolve) => {
    loaded = resolve;
  });
  worker.once('exit', loaded);
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    listen(onMessage, onDeath) {
      const died = (how: string) => {
        if (!ended) onDeath(how);
      };
      worker.on('message', (message: FromWorker | typeof LOADED) => {
        if (message === LOADED) loaded();
        else if (!ended) onMessage(message);
      });
      worker.on('messageerror', (error) => died(`a message could not be read (${error.message}).`));
      worker.on('error', (error) => died(`${error.message}.`));
      worker.on('exit', (code) => died(`its thread ended with code ${code}.`));
    },
    async terminate() {
      ended = true;
      const timer = setTimeout(loaded, LOADING_TIME);
      await loading;
      clearTimeout(timer);
      await worker.terminate();
    },
  };
}
