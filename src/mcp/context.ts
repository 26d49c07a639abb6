/**
 * @module mcp/context
 * What a tool is given besides its arguments: the call's signal and progress, the allowed files, a share of the
 * machine, and a place for results that are too big to say. Tools know the server only by these interfaces.
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

/** How far a call is. */
export interface ToolProgress {
  /** Frame pairs so far, over all stages of the call; only ever rising. */
  readonly done: number;
  /** Frame pairs in all, `null` while unknown. */
  readonly total: number | null;
  /** Frame pairs per second so far; not told where `undefined`. */
  readonly fps?: number;
  /** What is going on, where it is not simply scoring: `decoding frame 12`. */
  readonly message?: string;
}

/** The one way from a path in a tool's arguments to a file. */
export interface ToolFiles {
  /**
   * Who named the files of a call, and where they must lie: to be handed to everything that opens one, since what a
   * name leads to may change after {@link ToolFiles.resolveInput}.
   */
  readonly origin: Origin;
  /**
   * The real path of an existing regular file under an allowed root.
   * @param path as the caller wrote it; a relative one is looked for in the working directory
   * @throws {AnyvmafError} `io`, naming the path and how to allow more, without a word on what else is or is not there
   */
  resolveInput(path: string): Promise<string>;
  /**
   * Bytes of a file that {@link ToolFiles.resolveInput} gave.
   * @throws {AnyvmafError} `io` where it is no longer there, or no longer allowed
   */
  sizeOf(path: string): number;
  /**
   * The real path of a file to write: its folder exists under an allowed root, and what is there already, if anything,
   * is a regular file.
   * @throws {AnyvmafError} `io` as {@link ToolFiles.resolveInput}
   */
  resolveOutput(path: string): Promise<string>;
}

/** What a task on the pool may use. */
export interface PoolGrant {
  /** Worker threads for this task, 1 or more: its fair share of the cores when it starts. Never pass more on. */
  readonly threads: number;
}

/** The machine, shared fairly by all calls of the server. */
export interface ToolPool {
  /**
   * Runs a task when its turn comes; while it waits, the call's progress says so. Every decoding or scoring belongs
   * inside, lists and facts do not. A task may not run another one inside.
   * @param label what waits, for its progress message: `vmaf_score`
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

/** What was published: readable as a resource of the server, and as a file that lives as long as the server. */
export interface Published {
  /** `anyvmaf://results/ID/NAME`, for `resources/read`. */
  readonly uri: string;
  /** Absolute path of the file; private to this user and deleted when the server ends. */
  readonly path: string;
  /** The same as content to append to a result. */
  readonly link: ResourceLink;
}

/** Results by reference. */
export interface ToolResources {
  publish(publication: Publication): Promise<Published>;
}

/** What a tool's handler is given for one call. */
export interface ToolContext {
  /** Aborts when the call is cancelled, its client is gone or the server ends. Hand it to everything that takes one. */
  readonly signal: AbortSignal;
  /** Tells the client how far the call is; call it as often as you like, what is sent is limited to one per percent. */
  progress(report: ToolProgress): void;
  readonly files: ToolFiles;
  readonly pool: ToolPool;
  readonly resources: ToolResources;
  /** One line on standard error, for whoever runs the server. Never a frame's worth of data. */
  log(message: string): void;
}
