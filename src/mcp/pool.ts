/**
 * @module mcp/pool
 * Limits how many calls score at a time, in order of arrival, and gives each its share of the cores.
 */
import { onAbort } from '../core/abort.js';
import { AnyvmafError, usageError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import type { PoolGrant } from './tool.js';

const MAX_WAITING = 1000;

/**
 * Parses `VMAF_MCP_MAX_CONCURRENT`; default: one call per core, from 2 to 8.
 * @throws {AnyvmafError} `usage` unless the value is a whole number from 1 to 1000
 */
export function limitFrom(value: string | undefined, cores: number): number {
  if (value === undefined || value.trim() === '') return Math.min(8, Math.max(2, cores));
  const limit = Number(value);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
    throw usageError(
      `VMAF_MCP_MAX_CONCURRENT is ${quoted(value)}, but it must be a whole number from 1 to 1000`,
    );
  return limit;
}

export interface Turn {
  /** Worker threads wanted; `null` for as many as possible. */
  readonly weight: number | null;
  /** Ends the wait; a running task handles it itself. */
  readonly signal: AbortSignal;
  /** A task of seconds: one such task may run beyond the limit. */
  readonly short?: boolean;
  /** Called when the task has to wait, and whenever the queue ahead changes. */
  readonly onWait?: (ahead: number, running: number) => void;
}

interface Waiting extends Turn {
  start: (isExtra: boolean) => void;
}

export class WorkPool {
  readonly #limit: number;
  readonly #cores: number;
  readonly #queue: Waiting[] = [];
  #running = 0;
  /** True while a short task runs beyond the limit. */
  #hasExtra = false;

  constructor(limit: number, cores: number) {
    this.#limit = limit;
    this.#cores = Math.max(1, cores);
  }

  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#queue.length };
  }

  /** @throws the signal's reason if it aborts during the wait; {@link AnyvmafError} `resource` if too many wait */
  async run<T>(turn: Turn, task: (grant: Pick<PoolGrant, 'threads'>) => Promise<T>): Promise<T> {
    turn.signal.throwIfAborted();
    const isExtra = await this.#enter(turn);
    try {
      return await task({ threads: this.#share(turn.weight) });
    } finally {
      this.#running--;
      if (isExtra) this.#hasExtra = false;
      if (this.#startNext()) this.#notifyWaiting();
    }
  }

  /** Waits for a slot. @returns true for the extra slot of short tasks */
  #enter(turn: Turn): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { ...turn, start: resolve };
      this.#queue.push(waiting);
      if (this.#startNext()) return;
      if (this.#queue.length > MAX_WAITING) {
        this.#queue.pop();
        const full = `The server already has ${MAX_WAITING} calls waiting, its limit; try again later.`;
        throw new AnyvmafError('resource', full);
      }
      const forget = onAbort(turn.signal, (reason) => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(reason);
        this.#notifyWaiting();
      });
      waiting.start = (isExtra) => {
        forget();
        resolve(isExtra);
      };
      turn.onWait?.(this.#queue.length - 1, this.#running);
    });
  }

  /** Starts the first task in the queue for which there is a slot. @returns false if there is none */
  #startNext(): boolean {
    const isFull = this.#running - Number(this.#hasExtra) >= this.#limit;
    const at = isFull && this.#hasExtra ? -1 : this.#queue.findIndex(({ short }) => !isFull || short);
    const [next] = at < 0 ? [] : this.#queue.splice(at, 1);
    if (!next) return false;
    this.#running++;
    this.#hasExtra ||= isFull;
    next.start(isFull);
    return true;
  }

  #notifyWaiting(): void {
    for (const [ahead, { onWait }] of this.#queue.entries()) onWait?.(ahead, this.#running);
  }

  /** Divides the cores among the running and waiting tasks, up to the limit. */
  #share(weight: number | null): number {
    const sharers = Math.min(this.#limit, this.#running + this.#queue.length);
    const fair = Math.max(1, Math.floor(this.#cores / Math.max(1, sharers)));
    return Math.max(1, Math.min(fair, weight ?? fair));
  }
}
