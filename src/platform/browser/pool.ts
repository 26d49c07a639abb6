/**
 * @module platform/browser/pool
 * Workers as module workers of a browser.
 */
import type { FromWorker, ToWorker, WorkerHandle } from '../../engine/contract/protocol.js';
import { holdWorker } from './module-worker.js';

/** @param script this package's `browser-worker.js`, when the host says where it is */
export function startBrowserWorker(script: string | URL | undefined): WorkerHandle {
  const worker =
    script === undefined
      ? // Spelt out in one expression, by which bundlers find the script and bring it along.
        new Worker(new URL('./browser-worker.js', import.meta.url), { type: 'module', name: 'anyvmaf' })
      : new Worker(script, { type: 'module', name: 'anyvmaf' });
  const held = holdWorker<ToWorker, FromWorker>(worker, 'worker');
  return { ...held, terminate: async () => held.terminate() };
}
