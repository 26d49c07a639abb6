/**
 * @module mcp/job-protocol
 * Jobs as resources to subscribe to (`anyvmaf://jobs/ID`), and as tasks (version 2026-07-28, SEP-2663).
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod/v4';
import { AnyvmafError } from '../core/errors.js';
import type { JobDocument, ToolJobs } from './context.js';
import { KEPT_TIME } from './job-store.js';
import type { Jobs } from './jobs.js';
import { isOlder } from './protocol-server.js';
import type { ResourceContents, ResourceScope } from './resources.js';
import { sentenceOf } from './wording.js';

/** URI template (RFC 6570). */
export const JOB_TEMPLATE = 'anyvmaf://jobs/{id}';

/** Most subscriptions of one connection; the oldest is dropped. */
const MOST_SUBSCRIBED = 1000;

export const jobAddress = (id: string) => JOB_TEMPLATE.replace('{id}', id);

/** Reads the state of a job. @returns `undefined` for another URI, or a job that this client may not see */
export async function readJob(uri: string, jobs: ToolJobs): Promise<ResourceContents | undefined> {
  const id = /^anyvmaf:\/\/jobs\/([\w-]{1,64})$/.exec(uri)?.[1];
  if (id === undefined) return undefined;
  try {
    const job = await jobs.status(id, 0, new AbortController().signal);
    return { uri, mimeType: 'application/json', text: JSON.stringify(job) };
  } catch (error) {
    if (error instanceof AnyvmafError && error.code === 'usage') return undefined;
    throw error;
  }
}

/**
 * Handles subscriptions of one connection. Accepts any URI, so that the answer does not reveal which jobs exist.
 * @returns a function that stops it; `undefined` for clients without sessions, whose transport sends updates itself
 */
export function serveSubscriptions(
  server: Server,
  jobs: Jobs,
  scope: ResourceScope,
): (() => void) | undefined {
  const subscribed = new Set<string>();
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    subscribed.add(uri);
    const [oldest] = subscribed;
    if (subscribed.size > MOST_SUBSCRIBED && oldest !== undefined) subscribed.delete(oldest);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    subscribed.delete(uri);
    return {};
  });
  if (!scope.listed) return undefined;
  return jobs.hear((id, owner) => {
    const uri = jobAddress(id);
    // Since 2026-07-28 the transport filters by subscription.
    const isWanted = subscribed.has(uri) || !isOlder(server);
    if (isWanted && scope.sees(owner)) server.sendResourceUpdated({ uri }).catch(() => {});
  });
}

/** Name of the extension in the capabilities of both sides. */
export const TASKS = 'io.modelcontextprotocol/tasks';

/** Milliseconds between polls of a task, as advised to clients. */
const POLL = 2000;

const named = z.looseObject({ taskId: z.string().max(64) });

/** True if the client accepts a task as the result of a call. */
export function takesTasks({ mcpReq }: ServerContext): boolean {
  const { extensions } = Object(Object(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY]);
  return Object.hasOwn(Object(extensions), TASKS);
}

/** A job as a task; a tool's error counts as completed with a result, an interrupted job as failed. */
export function taskOf({ job_id, status, summary, started, kept_until }: JobDocument) {
  const until = Date.parse(kept_until);
  const states = { failed: 'completed', interrupted: 'failed' } as const;
  return {
    taskId: job_id,
    status: status === 'failed' || status === 'interrupted' ? states[status] : status,
    statusMessage: summary,
    createdAt: started,
    lastUpdatedAt: new Date(until - KEPT_TIME).toISOString(),
    ttlMs: until - Date.parse(started),
    pollIntervalMs: POLL,
  };
}

export function serveTasks(server: Server, jobs: ToolJobs): void {
  const found = async (id: string): Promise<JobDocument> => {
    try {
      return await jobs.status(id, 0, new AbortController().signal);
    } catch (error) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, sentenceOf(error));
    }
  };
  const on = (method: string, answer: (taskId: string, signal: AbortSignal) => Promise<object>) =>
    server.setRequestHandler(method, { params: named }, async ({ taskId }, context) => {
      if (takesTasks(context)) return { ...(await answer(taskId, context.mcpReq.signal)) };
      const requiredCapabilities = { extensions: { [TASKS]: {} } };
      const message = `${method} requires the client capability ${TASKS}; use job_status and job_result instead.`;
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities }, message);
    });
  on('tasks/get', async (taskId, signal) => {
    const job = await found(taskId);
    const result = await jobs.result(taskId, 0, signal);
    const error = { code: ProtocolErrorCode.InternalError, message: job.summary };
    return {
      ...taskOf(job),
      ...(result && { result: { resultType: 'complete', ...result } }),
      ...(job.status === 'interrupted' && { error }),
    };
  });
  // No task asks for input.
  on('tasks/update', async (taskId) => {
    await found(taskId);
    return {};
  });
  on('tasks/cancel', async (taskId) => {
    await found(taskId);
    await jobs.cancel(taskId).catch((error: unknown) => {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, sentenceOf(error));
    });
    return {};
  });
}
