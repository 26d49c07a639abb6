/**
 * @module mcp/tools/jobs
 * `job_start`, `job_status`, `job_result`, `job_cancel` and `list_jobs`: calls that outlive their request.
 */
import * as z from 'zod/v4';
import { jsonOf } from '../../core/arguments.js';
import { internalError } from '../../core/errors.js';
import { texts } from '../schemas.js';
import { defineTool, jobDocument, READ_ONLY, type Tool } from '../tool.js';

const job_id = z.string().max(64).describe('From the answer that started the job.');
const wait = z.number().min(0).max(45).default(45).describe('Seconds to wait.');

const jobStart = defineTool({
  name: 'job_start',
  title: 'Start a job',
  description:
    'Runs a tool as a job, which continues if the client disconnects. Long calls become jobs automatically.',
  inputSchema: z.object({
    tool: z.string().max(64).describe('Tool to run.'),
    arguments: z.record(z.string(), z.unknown()).default({}).describe('Its arguments.'),
  }),
  outputSchema: jobDocument,
  annotations: { ...READ_ONLY, readOnlyHint: false, idempotentHint: false },
  handler: async ({ tool, arguments: args }, { jobs }) => ({ document: await jobs.start(tool, args) }),
});

const jobStatus = defineTool({
  name: 'job_status',
  title: 'Wait for a job',
  description: 'Waits for a job to end and returns its progress: frames, seconds left, best result so far.',
  inputSchema: z.object({ job_id, wait }),
  outputSchema: jobDocument,
  handler: async ({ job_id: id, wait: seconds }, { jobs, signal }) => ({
    document: await jobs.status(id, seconds, signal),
  }),
});

const jobResult = defineTool({
  name: 'job_result',
  title: 'Get the result of a job',
  description: "Waits for a job to end and returns the tool's answer, or the job's status if it is not done.",
  inputSchema: z.object({ job_id, wait }),
  outputSchema: z.looseObject({}),
  async handler({ job_id: id, wait: seconds }, { jobs, signal }) {
    const answer = await jobs.result(id, seconds, signal);
    if (!answer) return { document: await jobs.status(id, 0, signal) };
    const { structuredContent: document = {}, content, isError } = answer;
    if (isError) throw internalError(reasonOf(content));
    // The answer was cut to size when it was made.
    return { document, content: content.filter((item) => item.type !== 'text'), long: true };
  },
});

const jobCancel = defineTool({
  name: 'job_cancel',
  title: 'Cancel a job',
  description: 'Stops a job. Encodes measured so far are kept, and reused if the job is started again.',
  inputSchema: z.object({ job_id }),
  outputSchema: jobDocument,
  annotations: { ...READ_ONLY, readOnlyHint: false },
  handler: async ({ job_id: id }, { jobs }) => ({ document: await jobs.cancel(id) }),
});

const listJobs = defineTool({
  name: 'list_jobs',
  title: 'List jobs',
  description: 'Lists the jobs of this client, newest first, including those from before a server restart.',
  inputSchema: z.object({}),
  outputSchema: z.object({
    jobs: z.array(jobDocument),
    problems: texts.describe('Errors about jobs that cannot be read.'),
    note: z.string().optional(),
  }),
  // job_status of one job has its next call.
  handler: async (_, { jobs }) => ({ document: await jobs.list(), spare: ['jobs.[].next_action'] }),
});

export const JOB_TOOL_LIST: readonly Tool[] = [jobStart, jobStatus, jobResult, jobCancel, listJobs];

function reasonOf([first]: readonly { readonly type: string; readonly text?: string }[]): string {
  const parsed = z.object({ error: z.string() }).safeParse(jsonOf(first?.text ?? ''));
  return parsed.success ? parsed.data.error : 'The job failed without a stored reason.';
}
