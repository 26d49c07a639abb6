/**
 * @module mcp/job-resources
 * Jobs as resources that clients subscribe to: `anyvmaf://jobs/ID` says how far one is, and subscribers hear when that changes.
 */
import type { Server } from '@modelcontextprotocol/server';
import { AnyvmafError } from '../core/errors.js';
import type { ToolJobs } from './context.js';
import type { Jobs } from './jobs.js';
import type { ResourceContents, ResourceScope } from './resources.js';

/** The template of the addresses, as RFC 6570 has it. */
export const JOB_TEMPLATE = 'anyvmaf://jobs/{id}';

/** Resources that one connection subscribes to, at most; the oldest is dropped. */
const MOST_SUBSCRIBED = 1000;

export const jobAddress = (id: string) => JOB_TEMPLATE.replace('{id}', id);

/** Reads the state of a job. @returns `undefined` for another address, and for a job that there is not for this client */
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
 * Answers subscriptions of one connection and tells it of its jobs. Any address can be subscribed to, so that an answer says
 * nothing of what there is.
 * @returns ends it; `undefined` for clients without sessions, to which the transport itself tells news
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
    // From 2026-07-28 on the transport knows who listens to what.
    const isWanted = subscribed.has(uri) || (server.getNegotiatedProtocolVersion() ?? '') >= '2026';
    if (isWanted && scope.sees(owner)) server.sendResourceUpdated({ uri }).catch(() => {});
  });
}
