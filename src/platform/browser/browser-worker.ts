/**
 * @module platform/browser/browser-worker
 * The script of a module worker in a browser.
 */
import { createWasmExtractor } from '../../backend/wasm/extractor.js';
import { reopen } from '../../media/open.js';
import type { FromWorker, ToWorker } from '../../score/protocol.js';
import { createWorkerBody } from '../../score/worker-body.js';
import { browserFiles } from './files.js';

const take = createWorkerBody({
  post: (message: FromWorker, transfer: ArrayBuffer[] = []) => self.postMessage(message, { transfer }),
  reopen: (descriptor) => reopen(descriptor, browserFiles),
  createExtractor: createWasmExtractor,
  async runtimes(onnxruntime) {
    const { browserTinyRuntimes } = await import('./tiny/runtimes.js');
    return browserTinyRuntimes(() => onnxruntime);
  },
});

self.onmessage = (event: MessageEvent<ToWorker>) => take(event.data);
