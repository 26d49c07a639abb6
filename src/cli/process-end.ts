/**
 * @module cli/process-end
 * Ends the process in time. `process.exit` waits for threads, and a thread in native code, such as a library that runs a
 * model, cannot be stopped: the process then ends by the signal that asked for its end.
 */
import type { Worker } from 'node:worker_threads';
import { EXIT } from './exit.js';

/** Milliseconds that threads get to end. */
const GRACE = 400;

/** Threads of this process, those of libraries included. */
const threads = new Set<Worker>();

process.on('worker', (worker) => {
  threads.add(worker);
  worker.once('exit', () => threads.delete(worker));
});

/** Ends the process with a code, also when that is of an interruption and threads do not end. */
export async function endProcess(code: number): Promise<never> {
  const signal = code === EXIT.interrupted ? 'SIGINT' : code === EXIT.terminated ? 'SIGTERM' : undefined;
  if (signal !== undefined) {
    const late = new Promise<void>((resolve) => setTimeout(resolve, GRACE));
    await Promise.race([Promise.all([...threads].map((thread) => thread.terminate())), late]);
    endNow(signal, code);
  }
  return process.exit(code);
}

/** Ends the process at once: with the exit code if no thread runs, otherwise by the signal, which means the same. */
export function endNow(signal: NodeJS.Signals, code: number): void {
  if (threads.size === 0) process.exit(code);
  // Run the cleanup of listeners for the exit event now.
  process.emit('exit', code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
