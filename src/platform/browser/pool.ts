/**
 * @module platform/browser/pool
 * Workers as module workers of a browser.
 */
import type { FromWorker, WorkerHandle } from '../../score/protocol.js';

/** @param script this package's `browser-worker.js`, when the host says where it is */
export function startBrowserWorker(script: string | URL | undefined): WorkerHandle {
  const worker =
    script === undefined
      ? // Spelt out in one expression, by which bundlers find the script and bring it along.
        new Worker(new URL('./browser-worker.js', import.meta.url), { type: 'module', name: 'anyvmaf' })
      : new Worker(script, { type: 'module', name: 'anyvmaf' });
  return {
    post: (message, transfer) => worker.postMessage(message, transfer ?? []),
    listen(onMessage, onDeath) {
      worker.onmessage = (event: MessageEvent<FromWorker>) => onMessage(event.data);
      worker.onmessageerror = () => onDeath('a message could not be read.');
      worker.onerror = (event) => {
        event.preventDefault();
        onDeath(`${event.message || 'its script could not be loaded; name it with configure({ worker })'}.`);
      };
    },
    async terminate() {
      worker.onmessage = null;
      worker.onmessageerror = null;
      worker.onerror = null;
      worker.terminate();
    },
  };
}
