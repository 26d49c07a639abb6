/**
 * @module platform/node/node-worker
 * Worker thread of Node that measures frames.
 */
import { parentPort } from 'node:worker_threads';
import { createWorkerBody } from '../../engine/workers/worker-body.js';
import { reopen } from '../../media/open.js';
import { nodeFiles } from './files.js';
import type { Loaded } from './workers.js';

const port = parentPort;
if (!port) throw new Error('platform/node/node-worker must run as a worker thread');

port.on(
  'message',
  createWorkerBody({
    post: (message, transfer) => port.postMessage(message, transfer),
    reopen: (descriptor) => reopen(descriptor, nodeFiles),
    openGpu: async () => (await import('./gpu.js')).nodeGpu.open(),
    heatmaps: async () => (await import('./heatmaps.js')).nodeHeatmaps,
    async runtimes() {
      const { nodeTinyRuntimes } = await import('./tiny/runtimes.js');
      return nodeTinyRuntimes();
    },
  }),
);
port.postMessage('loaded' satisfies Loaded);
