/**
 * @module web/engine/client
 * The engine as the page calls it. The worker starts with the first call, so that nothing of it is loaded before a file
 * is chosen.
 */
import { text } from '../text.js';
import { Remote } from './calls.js';
import type { Engine } from './functions.js';

export const engine = new Remote<Engine>(
  () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'anyvmaf engine' }),
  text.engineDied,
);
