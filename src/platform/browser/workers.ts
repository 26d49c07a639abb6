/**
 * @module platform/browser/workers
 * Starts a browser's module workers.
 */
import type { FromWorker, ToWorker, WorkerHandle } from '../../engine/contract/platform.js';
import type { FromParser, ParserWorker, ToParser } from '../../parsing/protocol.js';

export interface ModuleWorker<Out, In> {
  post(message: Out, transfer?: ArrayBuffer[]): void;
  /** @param onDeath receives the reason, a sentence, when no more messages will come */
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

export function startBrowserWorker(script: string | URL | undefined): WorkerHandle {
  const worker =
    script === undefined
      ? // One expression, so that bundlers find and ship the script.
        new Worker(new URL('./browser-worker.js', import.meta.url), { type: 'module', name: 'anyvmaf' })
      : new Worker(script, { type: 'module', name: 'anyvmaf' });
  const held = holdWorker<ToWorker, FromWorker>(worker, 'worker');
  return { ...held, terminate: async () => held.terminate() };
}

export function startBrowserParser(script: string | URL | undefined): ParserWorker {
  const worker =
    script === undefined
      ? // One expression, so that bundlers find and ship the script.
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
