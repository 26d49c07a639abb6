/**
 * @module platform/browser/parser-worker
 * Parser threads as module workers of a browser.
 */
import type { FromParser, ParserWorker } from '../../parsing/protocol.js';

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
  return {
    post: (message, transfer) => worker.postMessage(message, transfer ?? []),
    listen(onMessage, onDeath) {
      worker.onmessage = (event: MessageEvent<FromParser>) => onMessage(event.data);
      worker.onmessageerror = () => onDeath({ outOfMemory: false, how: 'a message could not be read.' });
      worker.onerror = (event) => {
        event.preventDefault();
        const how = `${event.message || 'its script could not be loaded; name it with configure({ parserWorker })'}.`;
        onDeath({ outOfMemory: false, how });
      };
    },
    terminate() {
      worker.onmessage = null;
      worker.onmessageerror = null;
      worker.onerror = null;
      worker.terminate();
    },
  };
}
