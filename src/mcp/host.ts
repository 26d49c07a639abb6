/**
 * @module mcp/host
 * State shared by all connections of a server process: allowed files, pool, results, running calls, shutdown.
 */
import { setMaxListeners } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { AnyvmafError } from '../core/errors.js';
import { AllowedPaths } from '../files/allowed-paths.js';
import { cacheFolder } from '../files/folders.js';
import { CallThreads } from './call-threads.js';
import { findRoots, HOW_TO_ALLOW, type RootSources } from './files.js';
import { JobStore } from './job-store.js';
import { type CallServices, Jobs, pause } from './jobs.js';
import { limitFrom, WorkPool } from './pool.js';
import { ServerResources } from './resources.js';
import type { Tool } from './tool.js';

export interface HostOptions extends RootSources {
  readonly log: (message: string) => void;
  readonly tools: readonly Tool[];
  /** Most seconds of a call, above 0. Default 3600. */
  readonly maxSeconds?: number;
  /** Seconds until a call continues as a job; 0 for never. Default 45. */
  readonly callLimit?: number;
  /** Folder of jobs. Default: within the user's cache. */
  readonly jobs?: string;
}

const MAX_CALL_SECONDS = 3600;
/** Seconds until a call continues as a job; many hosts time out after 60. */
const CALL_LIMIT = 45;

export class McpHost implements CallServices {
  readonly tools: readonly Tool[];
  readonly files: AllowedPaths;
  readonly pool: WorkPool;
  readonly threads = new CallThreads();
  readonly resources: ServerResources;
  readonly log: (message: string) => void;
  readonly maxSeconds: number;
  readonly callLimit: number;
  readonly jobs: Jobs;
  readonly #closing = new AbortController();
  readonly #calls = new Set<Promise<unknown>>();

  private constructor(options: HostOptions, roots: readonly string[]) {
    const cores = availableParallelism();
    // Each call adds a listener.
    setMaxListeners(0, this.#closing.signal);
    this.tools = options.tools;
    this.log = options.log;
    this.maxSeconds = options.maxSeconds ?? MAX_CALL_SECONDS;
    this.callLimit = options.callLimit ?? CALL_LIMIT;
    this.resources = new ServerResources(
      (id, number, scope) => this.jobs.findResult(id, number, scope),
      (folder) => this.files.allow(folder),
    );
    this.files = new AllowedPaths(roots, options.cwd, HOW_TO_ALLOW);
    this.pool = new WorkPool(limitFrom(options.env.VMAF_MCP_MAX_CONCURRENT, cores), cores);
    this.jobs = new Jobs(new JobStore(options.jobs ?? join(cacheFolder(), 'mcp-jobs')), this);
  }

  /** @throws {AnyvmafError} `usage` for an unusable folder or limit */
  static async open(options: HostOptions): Promise<McpHost> {
    const { folders, warnings } = await findRoots(options);
    for (const warning of warnings) options.log(warning);
    const host = new McpHost(options, folders);
    // Deferred so that the client's first answer does not wait.
    setImmediate(() => void host.resources.sweep().catch(() => {}));
    return host;
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get calls(): number {
    return this.#calls.size;
  }

  /** Counts a call as running until it settles. */
  track<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    const done = () => this.#calls.delete(call);
    call.then(done, done);
    return call;
  }

  /** Resolves when no call or job is running, or after `patience` milliseconds. */
  async idle(patience: number): Promise<void> {
    await pause(patience, [Promise.allSettled([...this.#calls, this.jobs.settled()])]);
  }

  /** Stops all calls and threads, and deletes all results. */
  async close(): Promise<void> {
    this.#closing.abort(new AnyvmafError('aborted', 'The server is shutting down.'));
    // Hosts kill a server that does not end within two seconds.
    await this.idle(1000);
    await this.threads.close();
    await this.resources.close();
  }
}
