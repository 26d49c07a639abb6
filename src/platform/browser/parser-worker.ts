/**
 * @module platform/browser/parser-worker
 * Parser threads as module workers of a browser.
 */
import type { FromParser, ParserWorker, ToParser } from '../../parsing/protocol.js';
import { holdWorker } from './module-worker.js';

/** @param script this package's `browser-parser-worker.js`, when the host says where it is */
export function startBrowserParser(script: string | URL | undefined): ParserWorker {
  const worker =
    script === undefined
      ? // Spelt out in one expression, by which bundlers find the script and bring it along.
        new Worker(new URL('./browser-parser-worker.js', import.meta.url), {
          type: 'module',
          name: 'anyvmaf parser',
        })
      : new Worker(script, { type: 'module', name: 'anyvmaf parser' });
  const held = holdWorker<ToParser, FromParser>(worker, 'parserWorker');
  return {
    ...held,
    listen: (onMessage, onDeath) => held.listen(onMessage, (how) => onDeath({ outOfMemory: false, how })),
  };
}
