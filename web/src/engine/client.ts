/**
 * @module web/engine/client
 * Calls the engine; the first call starts its worker, so that it is not loaded before a file is chosen.
 */
import { text } from '../text.js';
import { Remote } from './calls.js';
import type { Engine } from './functions.js';

export const engine = new Remote<Engine>(
  () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'anyvmaf engine' }),
  text.engineDied,
  text.engineOffline,
);
