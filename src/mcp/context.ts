/**
 * @module mcp/context
 * The context of a call. Tools depend on the server only through these interfaces.
 */
import * as z from 'zod/v4';
import type { Origin } from '../core/origin.js';
import type { Measuring } from './call-threads.js';
import type { CheckedRequest } from './checked-api.js';
import type { ToolFiles } from './paths.js';

export interface ResourceEntry {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
  readonly description?: string;
  /** In bytes. */
  readonly size?: number;
}

export interface ResourceLink extends ResourceEntry {
  readonly type: 'resource_link';
}

export interface ToolProgress {
  /** Frame pairs so far, over all stages of the call; never decreases. */
  readonly done: number;
  /** Total frame pairs; `null` while unknown. */
  readonly total: number | null;
  /** True if `total` covers only the steps so far and more may follow. */
  readonly isOpen?: boolean;
  /** Frame pairs per second so far. */
  readonly fps?: number;
  /** Current step, unless it is scoring: `decoding frame 12`. */
  readonly message?: string;
  /** Best result so far, in words. */
  readonly best?: string;
}

export interface PoolGrant {
  /** Worker threads for this task, at least 1: its fair share of the cores at its start. Never pass more on. */
  readonly threads: number;
  /** Measures and reads videos outside the server's own thread. */
  readonly api: Measuring;
}

export interface ToolPool {
  /**
   * Runs a task when its turn comes; until then the call's progress says that it waits. Decode and score inside a
   * task, and never start a task inside another.
   * @param weight worker threads wanted, at least 1; `null` for as many as possible
   * @throws the signal's reason if the call is cancelled while it waits
   */
  run<T>(weight: number | null, task: (grant: PoolGrant) => Promise<T>): Promise<T>;
}

/** The pair behind a report, from which pictures of frames are taken. */
export interface Pictured {
  readonly request: CheckedRequest;
  /** Options of its score; those for single frames apply. */
  readonly options: object;
  readonly origin: Origin;
}

export interface Publication {
  /** File name with extension, of letters, digits, `.`, `_` and `-`: `report.json`, `frame_000012_reference.png`. */
  readonly name: string;
  readonly mimeType: string;
  /** One sentence for the model. */
  readonly description?: string;
  readonly data: string | Uint8Array;
  /** For a report.json: the pair whose pictures its HTML page shows. */
  readonly pictured?: Pictured;
}

/** A published result: a resource of the server, and a file until the server ends. */
export interface Published {
  /** `anyvmaf://results/ID/NAME`, for `resources/read`. */
  readonly uri: string;
  /** Absolute path of the file, private to this user. */
  readonly path: string;
  /** Content to append to a tool's result. */
  readonly link: ResourceLink;
}

export interface ToolResources {
  publish(publication: Publication): Promise<Published>;
  /** Folder for points measured from encodes of a source. If possible it outlives the server, for later calls. */
  points(source: string): Promise<string>;
}

/** A call that can be sent as it is, in results. */
export const nextAction = z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) });
export type NextAction = Readonly<z.output<typeof nextAction>>;

/** A job in answers; times are ISO 8601. */
export const jobDocument = z.object({
  summary: z.string(),
  job_id: z.string(),
  tool: z.string(),
  status: z.enum(['working', 'completed', 'failed', 'cancelled', 'interrupted']),
  started: z.string(),
  seconds: z.number().describe('Seconds since the start, until it ended.'),
  progress: z
    .object({
      frames: z.number(),
      total_frames: z.number().nullable(),
      fps: z.number().optional(),
      seconds_left: z.number().optional(),
      message: z.string().optional(),
      best: z.string().optional().describe('Best result so far.'),
    })
    .optional(),
  kept_until: z.string(),
  next_action: nextAction.describe('A call to send unchanged.'),
});
export type JobDocument = z.output<typeof jobDocument>;

export interface ToolJobs {
  /** @throws those of the tool's {@link Tool.prepare}; `usage` for an unknown tool, or too many jobs */
  start(tool: string, args: Readonly<Record<string, unknown>>): Promise<JobDocument>;
  /** Waits at most `seconds` for the end of a job. @throws {AnyvmafError} `usage` if unknown, `io` if damaged */
  status(id: string, seconds: number, signal: AbortSignal): Promise<JobDocument>;
  /** Waits like {@link ToolJobs.status}. @returns the job's answer, `undefined` if it has none */
  result(id: string, seconds: number, signal: AbortSignal): Promise<CallAnswer | undefined>;
  /** @throws those of {@link ToolJobs.status}; `usage` if another server runs the job */
  cancel(id: string): Promise<JobDocument>;
  /** Newest first, with the problems of jobs that cannot be read. */
  list(): Promise<{
    readonly jobs: readonly JobDocument[];
    readonly problems: readonly string[];
    /** Why the list is empty. */
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

export interface CallAnswer {
  readonly content: readonly ({ readonly type: 'text'; readonly text: string } | ExtraContent)[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: true;
}

export interface ToolContext {
  readonly tool: string;
  /** Aborts when the call is cancelled, its client disconnects or the server ends. Pass it on everywhere. */
  readonly signal: AbortSignal;
  /** Reports progress to the client, which gets at most one notification per percent. */
  progress(report: ToolProgress): void;
  readonly files: ToolFiles;
  readonly pool: ToolPool;
  readonly resources: ToolResources;
  readonly jobs: ToolJobs;
  /** Arguments as the client sent them. */
  readonly args: Readonly<Record<string, unknown>>;
  /** This call with some parameters changed. */
  again(changes: Readonly<Record<string, unknown>>): NextAction;
  /** A call of another tool with the arguments that both take, changed; `undefined` if it is not offered. */
  instead(tool: string, changes: Readonly<Record<string, unknown>>): NextAction | undefined;
  /** Writes a line to standard error, for the server's operator. */
  log(message: string): void;
}
