/**
 * @module platform/browser/workers
 * The module workers of a browser, seen by their owners.
 */
import type { FromWorker, ToWorker, WorkerHandle } from '../../engine/contract/protocol.js';
import type { FromParser, ParserWorker, ToParser } from '../../parsing/protocol.js';

/** What is posted to a worker, and what comes back. */
export interface ModuleWorker<Out, In> {
  post(message: Out, transfer?: ArrayBuffer[]): void;
  /** @param onDeath learns why nothing more comes, a sentence */
  listen(onMessage: (message: In) => void, onDeath: (how: string) => void): void;
  terminate(): void;
}

/** @param setting the member of `configure` that names the worker's script */
export function holdWorker<Out, In>(worker: Worker, setting: string): ModuleWorker<Out, In> {
  return {
    post: (message, transfer) => worker.postMessage(message, transfer ?? []),
    listen(onMessage, onDeath) {
      worker.onmessage = (event: MessageEvent<In>) => onMessage(event.data);
      worker.onmessageerror = () => onDeath('a message could not be read.');
      worker.onerror = (event) => {
        event.preventDefault();
        const how = event.message || `its script could not be loaded; name it with configure({ ${setting} })`;
        onDeath(`${how}.`);
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

/** Measures. @param script this package's `browser-worker.js`, when the host says where it is */
export function startBrowserWorker(script: string | URL | undefined): WorkerHandle {
  const worker =
    script === undefined
      ? // Spelt out in one expression, by which bundlers find the script and bring it along.
        new Worker(new URL('./browser-worker.js', import.meta.url), { type: 'module', name: 'anyvmaf' })
      : new Worker(script, { type: 'module', name: 'anyvmaf' });
  const held = holdWorker<ToWorker, FromWorker>(worker, 'worker');
  return { ...held, terminate: async () => held.terminate() };
}

/** Parses foreign bytes. @param script this package's `browser-parser-worker.js`, when the host says where it is */
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
