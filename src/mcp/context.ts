/**
 * @module mcp/context
 * The context of a call, which a handler gets beside its arguments: the call's signal and progress, the allowed files, a share of
 * the machine, and a place for large results. Tools depend on the server only through these interfaces.
 */
import * as z from 'zod/v4';
import type { Origin } from '../core/origin.js';
import type { Measuring } from './call-threads.js';
import type { CheckedRequest } from './checked-api.js';
import type { ToolFiles } from './paths.js';

/** A resource as lists name it. */
export interface ResourceEntry {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
  readonly description?: string;
  /** Bytes. */
  readonly size?: number;
}

/** A resource by reference, as `resources.publish` makes it. */
export interface ResourceLink extends ResourceEntry {
  readonly type: 'resource_link';
}

/** The progress of a call. */
export interface ToolProgress {
  /** Frame pairs so far, over all stages of the call; only ever rising. */
  readonly done: number;
  /** Frame pairs in all, `null` while unknown. */
  readonly total: number | null;
  /** The total is that of the steps so far; how many follow is not known. */
  readonly isOpen?: boolean;
  /** Frame pairs per second so far; `undefined` leaves it out. */
  readonly fps?: number;
  /** The current step, if it is not scoring: `decoding frame 12`. */
  readonly message?: string;
  /** The best result so far, in words. */
  readonly best?: string;
}

/** Resources that a task on the pool may use. */
export interface PoolGrant {
  /** Worker threads for this task, 1 or more: its fair share of the cores when it starts. Never pass more on. */
  readonly threads: number;
  /** Measures and reads videos, outside the server's own thread. */
  readonly api: Measuring;
}

/** The machine, shared fairly by all calls of the server. */
export interface ToolPool {
  /**
   * Runs a task when its turn comes; while it waits, the call's progress says so. Decode and score inside a task, and
   * never start a task inside another.
   * @param weight worker threads wanted, 1 or more; `null` for as many as the machine gives
   * @throws the signal's reason when the call is cancelled while it waits
   */
  run<T>(weight: number | null, task: (grant: PoolGrant) => Promise<T>): Promise<T>;
}

/** The pair from which pictures of a report's frames are taken. */
export interface Pictured {
  readonly request: CheckedRequest;
  /** The options with which it was scored, of which those for single frames apply. */
  readonly options: object;
  readonly origin: Origin;
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
  /** For a report.json: the pair whose pictures its HTML page shows. */
  readonly pictured?: Pictured;
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
   * A folder for points measured from encodes of a source. It outlives the server where possible, so that a later call for the
   * source resumes from there.
   */
  points(source: string): Promise<string>;
}

/** A call that can be sent as it is, in results. */
export const nextAction = z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) });
export type NextAction = Readonly<z.output<typeof nextAction>>;

/** A job as clients see it; times are ISO 8601. */
export const jobDocument = z.object({
  summary: z.string(),
  job_id: z.string(),
  tool: z.string(),
  status: z.enum(['working', 'completed', 'failed', 'cancelled', 'interrupted']),
  started: z.string(),
  seconds: z.number().describe('Since then, until it ended.'),
  progress: z
    .object({
      frames: z.number(),
      total_frames: z.number().nullable(),
      fps: z.number().optional(),
      seconds_left: z.number().optional(),
      message: z.string().optional(),
      best: z.string().optional().describe('The best so far.'),
    })
    .optional(),
  kept_until: z.string(),
  next_action: nextAction.describe('A call that can be sent as it is.'),
});
export type JobDocument = z.output<typeof jobDocument>;

/** The jobs of one client. */
export interface ToolJobs {
  /** @throws as {@link Tool.prepare} of the tool; `usage` for an unknown tool, or too many jobs */
  start(tool: string, args: Readonly<Record<string, unknown>>): Promise<JobDocument>;
  /**
   * Waits for a job to end, for so many seconds at most.
   * @throws {AnyvmafError} `usage` for an unknown job, `io` for a damaged one
   */
  status(id: string, seconds: number, signal: AbortSignal): Promise<JobDocument>;
  /** Waits as {@link ToolJobs.status}. @returns its answer, `undefined` if it has none */
  result(id: string, seconds: number, signal: AbortSignal): Promise<CallAnswer | undefined>;
  /** Stops it. @throws as {@link ToolJobs.status}; `usage` if another server runs it */
  cancel(id: string): Promise<JobDocument>;
  /** The newest first, and what is wrong with those that cannot be read. */
  list(): Promise<{
    readonly jobs: readonly JobDocument[];
    readonly problems: readonly string[];
    /** Why there are none. */
    readonly note?: string;
  }>;
}

/** Content after a result's JSON document: pictures for the model, and links to large results. */
export type ExtraContent =
  | {
      readonly type: 'image';
      readonly mimeType: string;
      /** Base64. */
      readonly data: string;
    }
  | ResourceLink;

/** The answer to a call, as the protocol has it. */
export interface CallAnswer {
  readonly content: readonly ({ readonly type: 'text'; readonly text: string } | ExtraContent)[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: true;
}

/** The context of one call. */
export interface ToolContext {
  /** Name of the tool. */
  readonly tool: string;
  /** Aborts when the call is cancelled, its client disconnects or the server ends. Pass it to everything that takes one. */
  readonly signal: AbortSignal;
  /** Reports progress to the client, which gets at most one notification per percent. */
  progress(report: ToolProgress): void;
  readonly files: ToolFiles;
  readonly pool: ToolPool;
  readonly resources: ToolResources;
  readonly jobs: ToolJobs;
  /** Its arguments as the client sent them. */
  readonly args: Readonly<Record<string, unknown>>;
  /** This call with other values of some parameters. */
  again(changes: Readonly<Record<string, unknown>>): NextAction;
  /** A call of another tool with what it takes of these arguments, and others; `undefined` if the server does not offer it. */
  instead(tool: string, changes: Readonly<Record<string, unknown>>): NextAction | undefined;
  /** Writes one line to standard error, for the operator of the server. */
  log(message: string): void;
}
