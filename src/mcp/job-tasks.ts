/**
 * @module mcp/job-tasks
 * Jobs as the protocol's tasks, for clients that declare the extension `io.modelcontextprotocol/tasks` (version 2026-07-28, SEP-2663).
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
import type { JobDocument, ToolJobs } from './context.js';
import { KEPT_TIME } from './job-store.js';
import { sentenceOf } from './wording.js';

/** The extension's name, among the capabilities of both sides. */
export const TASKS = 'io.modelcontextprotocol/tasks';

/** Milliseconds between two looks at a task that clients are told to leave. */
const POLL = 2000;

const named = z.looseObject({ taskId: z.string().max(64) });

/** Whether a client understands a task as the result of a call. */
export function takesTasks({ mcpReq }: ServerContext): boolean {
  const { extensions } = Object(Object(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY]);
  return Object.hasOwn(Object(extensions), TASKS);
}

/** A job as a task; an error of a tool is a result, and what a server left undone has failed. */
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

/** Answers requests about tasks. */
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
      const message = `${method} is for clients that declare ${TASKS}; others ask job_status and job_result.`;
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
  // No task asks for anything.
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
