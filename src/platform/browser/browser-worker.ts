/**
 * @module platform/browser/browser-worker
 * Module worker of a browser that measures frames.
 */
import type { FromWorker, ToWorker } from '../../engine/contract/platform.js';
import { createWorkerBody } from '../../engine/workers/worker-body.js';
import { reopen } from '../../media/open.js';
import { browserFiles } from './files.js';

const take = createWorkerBody({
  post: (message: FromWorker, transfer: ArrayBuffer[] = []) => self.postMessage(message, { transfer }),
  reopen: (descriptor) => reopen(descriptor, browserFiles),
  openGpu: async () => (await import('./gpu.js')).browserGpu.open(),
  async runtimes(onnxruntime) {
    const { browserTinyRuntimes } = await import('./tiny/runtimes.js');
    return browserTinyRuntimes(() => onnxruntime);
  },
});

self.onmessage = (event: MessageEvent<ToWorker>) => take(event.data);
