/**
 * @module test/support/workers
 * Lets the engine under test, which runs from src, start the workers that were built into dist.
 */
import { configureNode } from '../../src/platform/node/platform.js';

configureNode({
  worker: new URL('../../dist/bundle/js/node-worker.js', import.meta.url),
  parserWorker: new URL('../../dist/bundle/js/node-parser-worker.js', import.meta.url),
  ffmpegWorker: new URL('../../dist/bundle/js/node-ffmpeg-worker.js', import.meta.url),
});
