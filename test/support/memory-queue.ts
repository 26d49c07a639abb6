/**
 * @module test/support/memory-queue
 * A queue in memory, with BullMQ's rules for known tasks, that counts the operations and bytes that Redis would see.
 */
import {
  type Begun,
  INLINE_BYTES,
  type Outcome,
  type PutPart,
  type QueueCounts,
  type QueueJob,
  type Stored,
  type Task,
  type TaskQueue,
  taskId,
} from '../../src/queue/job.js';
import type { JobStore } from '../../src/queue/store.js';

export class Tally {
  readonly operations = new Map<string, number>();
  bytes = 0;

  add(name: string, count: number, bytes: number): void {
    this.operations.set(name, (this.operations.get(name) ?? 0) + count);
    this.bytes += bytes;
  }

  get total(): number {
    return [...this.operations.values()].reduce((sum, count) => sum + count, 0);
  }
}

const sizeOf = (value: unknown) => JSON.stringify(value).length;
const jobSizes = new WeakMap<QueueJob, number>();

/** Bytes of a task; the size of its job is computed once. */
function taskSize({ job, ...rest }: Task): number {
  const size = jobSizes.get(job) ?? sizeOf(job);
  jobSizes.set(job, size);
  return size + sizeOf(rest) + ',"job":'.length;
}

/** Bytes of a command with its keys. */
const COMMAND = 90;

/** Tasks by priority; one that waits, runs or is dead is not added again. */
export class MemoryQueue implements TaskQueue {
  readonly #tally: Tally;
  /** Lists by priority; the head moves instead of the ids. */
  readonly #lists = new Map<number, { readonly ids: string[]; head: number }>();
  readonly #waiting = new Set<string>();
  readonly #tasks = new Map<string, Task>();
  readonly active = new Set<string>();
  readonly dead = new Map<string, string>();
  /** Called when tasks can be taken. */
  onAdded: () => void = () => {};

  constructor(tally = new Tally()) {
    this.#tally = tally;
  }

  async add(tasks: readonly Task[]): Promise<void> {
    for (const task of tasks) {
      this.#tally.add('add', 1, COMMAND + taskSize(task));
      const id = taskId(task);
      if (this.#tasks.has(id)) continue;
      this.#tasks.set(id, task);
      const priority = 2 * task.job.priority - (task.kind === 'pair' ? 0 : 1);
      const list = this.#lists.get(priority) ?? { ids: [], head: 0 };
      this.#lists.set(priority, list);
      list.ids.push(id);
      this.#waiting.add(id);
    }
    if (tasks.length > 0) this.onAdded();
  }

  take(): Task | undefined {
    const id = this.#next();
    const task = id === undefined ? undefined : this.#tasks.get(id);
    if (!task || id === undefined) return undefined;
    this.active.add(id);
    this.#tally.add('take', 1, COMMAND + taskSize(task));
    return task;
  }

  #next(): string | undefined {
    for (const [, list] of [...this.#lists].sort(([a], [b]) => a - b)) {
      for (let id = list.ids[list.head]; id !== undefined; id = list.ids[list.head]) {
        list.head++;
        if (this.#waiting.delete(id)) return id;
      }
    }
    return undefined;
  }

  /** Ends a task: BullMQ takes the next one with the same command. */
  end(task: Task): void {
    const id = taskId(task);
    this.active.delete(id);
    this.#tasks.delete(id);
  }

  /** Forgets a task, as Redis can lose one that runs. */
  lose(id: string): void {
    this.active.delete(id);
    this.#tasks.delete(id);
    this.#waiting.delete(id);
  }

  kill(task: Task, reason: string): void {
    this.active.delete(taskId(task));
    this.dead.set(taskId(task), reason);
  }

  get ids(): readonly string[] {
    return [...this.#tasks.keys()];
  }

  taskOf(id: string): Task | undefined {
    return this.#tasks.get(id);
  }

  async counts(): Promise<QueueCounts> {
    this.#tally.add('counts', 1, COMMAND);
    return { waiting: this.#waiting.size, delayed: 0, active: this.active.size, failed: this.dead.size };
  }
}

interface Known {
  readonly job: QueueJob;
  readonly count: number;
  readonly parts: Map<number, Stored>;
}

/** State of jobs, as queue/store keeps it. */
export class MemoryStore implements JobStore {
  readonly #tally: Tally;
  readonly settled = new Map<string, Outcome>();
  readonly known = new Map<string, Known>();
  readonly open = new Set<string>();
  readonly #losses = new Map<string, number>();

  constructor(tally = new Tally()) {
    this.#tally = tally;
  }

  #count(name: string, bytes: number, count = 1): void {
    this.#tally.add(name, count, count * COMMAND + bytes);
  }

  async outcomes(keys: readonly string[]): Promise<readonly (Outcome | undefined)[]> {
    const found = keys.map((key) => this.settled.get(key));
    this.#count(
      'outcomes',
      keys.length * 50 + found.reduce((sum, one) => sum + (one ? sizeOf(one) : 0), 0),
      Math.ceil(keys.length / 100),
    );
    return found;
  }

  async settle(key: string, outcome: Outcome): Promise<boolean> {
    this.#count('settle', sizeOf(outcome) + 300);
    if (outcome.kind === 'scored' || (outcome.kind === 'failed' && outcome.code === 'aborted'))
      this.known.delete(key);
    this.open.delete(key);
    if (this.settled.has(key)) return false;
    this.settled.set(key, outcome);
    return true;
  }

  async take(keys: readonly string[]): Promise<void> {
    this.#count('taken', 0, keys.length);
    for (const key of keys) if (this.settled.has(key)) this.settled.set(key, { kind: 'taken' });
  }

  async reopen(keys: readonly string[], parts: boolean): Promise<void> {
    this.#count('reopen', 300 * keys.length, keys.length);
    for (const key of keys) {
      this.settled.delete(key);
      if (parts) this.known.delete(key);
      if (this.known.has(key)) this.open.add(key);
      else this.open.delete(key);
    }
  }

  async begin(key: string, number?: number): Promise<Begun> {
    this.#count('begin', 20, 2);
    const known = this.known.get(key);
    return {
      settled: this.settled.has(key),
      ...(known && { count: known.count }),
      part: number !== undefined && known?.parts.has(number) === true,
    };
  }

  async cut(job: QueueJob, count: number): Promise<number> {
    this.#count('cut', sizeOf(job) + 400);
    if (this.settled.has(job.key)) return count;
    if (!this.known.has(job.key)) this.known.set(job.key, { job, count, parts: new Map() });
    this.open.add(job.key);
    return this.known.get(job.key)?.count ?? count;
  }

  async putPart(key: string, number: number, part: Stored): Promise<PutPart> {
    if (sizeOf(part) > INLINE_BYTES + 1000) throw new Error('a part is too large for Redis');
    this.#count('putPart', sizeOf(part) + 400);
    if (this.settled.has(key)) return { kept: false, settled: true, present: 0 };
    const known = this.known.get(key);
    if (!known) return { kept: false, settled: false, present: 0 };
    const kept = !known.parts.has(number);
    if (kept) known.parts.set(number, part);
    return { kept, settled: false, present: known.parts.size, count: known.count };
  }

  async parts(key: string) {
    const known = this.known.get(key);
    this.#count('parts', known ? sizeOf([...known.parts]) : 0);
    return { parts: known?.parts ?? new Map<number, Stored>(), ...(known && { count: known.count }) };
  }

  async present(key: string) {
    const known = this.known.get(key);
    this.#count('present', (known?.parts.size ?? 0) * 8, 2);
    return { numbers: new Set(known?.parts.keys()), ...(known && { count: known.count }) };
  }

  async cutJob(key: string): Promise<QueueJob | undefined> {
    this.#count('cutJob', 500);
    return this.known.get(key)?.job;
  }

  async dropParts(key: string, numbers: readonly number[]): Promise<number> {
    this.#count('dropParts', 0, 3);
    for (const number of numbers) this.known.get(key)?.parts.delete(number);
    const losses = (this.#losses.get(key) ?? 0) + 1;
    this.#losses.set(key, losses);
    return losses;
  }

  async cutJobs(): Promise<readonly string[]> {
    this.#count('cutJobs', this.open.size * 40);
    return [...this.open];
  }
}

export function testJob(number: number, changes: Partial<QueueJob> = {}): QueueJob {
  const key = number.toString(16).padStart(32, '0');
  return {
    key,
    id: key,
    line: number + 1,
    args: ['--reference=r.y4m', '--distorted=d.y4m'],
    run: ['--reference=/media/r.y4m', '--distorted=/media/d.y4m'],
    precision: 'legacy',
    part: { unit: 'seconds', length: 10 },
    priority: 100,
    attempts: 3,
    ...changes,
  };
}
