/**
 * @module mcp/context
 * The context of a call, which a handler gets beside its arguments: the call's signal and progress, the allowed files, a share of the machine,
 * and a place for large results. Tools depend on the server only through these interfaces.
 */
import type { Origin } from '../core/origin.js';

/** A resource by reference, as `resources.publish` makes it. */
export interface ResourceLink {
  readonly type: 'resource_link';
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
  readonly description?: string;
  /** Bytes. */
  readonly size?: number;
}

/** The progress of a call. */
export interface ToolProgress {
  /** Frame pairs so far, over all stages of the call; only ever rising. */
  readonly done: number;
  /** Frame pairs in all, `null` while unknown. */
  readonly total: number | null;
  /** Frame pairs per second so far; `undefined` leaves it out. */
  readonly fps?: number;
  /** The current step, if it is not scoring: `decoding frame 12`. */
  readonly message?: string;
}

/** Resolves paths in a tool's arguments. Handlers do not: their arguments are resolved before they run. */
export interface ToolFiles {
  /**
   * Who named the files of a call, and where they must lie. Pass it to every function that opens a file: a path may
   * lead elsewhere after {@link ToolFiles.resolveInput}.
   */
  readonly origin: Origin;
  /**
   * The real path of an existing regular file under an allowed root.
   * @param path as the caller wrote it; a relative one is looked for in the working directory and in the allowed
   * folders; the address of a local file is its path
   * @throws {AnyvmafError} `io`, naming the path and how to allow more folders, and revealing nothing else
   */
  resolveInput(path: string): Promise<string>;
  /**
   * Bytes of a file that {@link ToolFiles.resolveInput} resolved.
   * @throws {AnyvmafError} `io` if it no longer exists or is no longer allowed
   */
  sizeOf(path: string): number;
  /**
   * The real path of a file to write: its folder exists under an allowed root, and what is there already, if anything,
   * is a regular file.
   * @throws {AnyvmafError} `io` as {@link ToolFiles.resolveInput}
   */
  resolveOutput(path: string): Promise<string>;
}

/** Resources that a task on the pool may use. */
export interface PoolGrant {
  /** Worker threads for this task, 1 or more: its fair share of the cores when it starts. Never pass more on. */
  readonly threads: number;
}

/** The machine, shared fairly by all calls of the server. */
export interface ToolPool {
  /**
   * Runs a task when its turn comes; while it waits, the call's progress says so. Decode and score inside a task, and
   * never start a task inside another.
   * @param label the tool's name, for progress messages: `vmaf_score`
   * @param weight worker threads wanted, 1 or more; `null` for as many as the machine gives
   * @throws the signal's reason when the call is cancelled while it waits
   */
  run<T>(label: string, weight: number | null, task: (grant: PoolGrant) => Promise<T>): Promise<T>;
}

/** Something to publish. */
export interface Publication {
  /** File name with extension, made of letters, digits, `.`, `_` and `-`: `report.json`, `frame_000012_reference.png`. */
  readonly name: string;
  /** `application/json`, `image/png`, … */
  readonly mimeType: string;
  /** What it is, in a sentence, for the model. */
  readonly description?: string;
  /** Text or bytes. */
  readonly data: string | Uint8Array;
}

/** A published result: readable as a resource of the server, and as a file that lives as long as the server. */
export interface Published {
  /** `anyvmaf://results/ID/NAME`, for `resources/read`. */
  readonly uri: string;
  /** Absolute path of the file; private to this user and deleted when the server ends. */
  readonly path: string;
  /** Content to append to a tool's result. */
  readonly link: ResourceLink;
}

/** Results by reference. */
export interface ToolResources {
  publish(publication: Publication): Promise<Published>;
  /**
   * A folder for what a call measures, by its arguments. It lives as long as the server, so that a call that was cut short
   * resumes where the same comes again.
   */
  points(call: string): Promise<string>;
}

/** The context of one call. */
export interface ToolContext {
  /** Aborts when the call is cancelled, its client disconnects or the server ends. Pass it to everything that takes one. */
  readonly signal: AbortSignal;
  /** Reports progress to the client, which gets at most one notification per percent. */
  progress(report: ToolProgress): void;
  readonly files: ToolFiles;
  readonly pool: ToolPool;
  readonly resources: ToolResources;
  /** Writes one line to standard error, for the operator of the server. */
  log(message: string): void;
}
