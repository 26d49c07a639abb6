/**
 * @module test/support/workers
 * Lets the engine under test, which runs from src, start the workers that were built into dist.
 */
import { configureNode } from '../../src/platform/node/platform.js';

configureNode({
  worker: new URL('../../dist/platform/node/worker.js', import.meta.url),
  ffmpegWorker: new URL('../../dist/platform/node/wasm-decoder-worker.js', import.meta.url),
});
