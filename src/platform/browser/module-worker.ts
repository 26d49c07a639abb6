/**
 * @module platform/browser/module-worker
 * A module worker of a browser, seen by its owner.
 */

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
