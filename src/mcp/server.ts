/**
 * @module mcp/server
 * The protocol's side of the server: tools, resources, jobs to subscribe to (`anyvmaf://jobs/ID`) and as tasks (version
 * 2026-07-28, SEP-2663), and a view of results in hosts of MCP Apps (SEP-1865, version 2026-01-26). One instance serves
 * one connection, or one request of a stateless client.
 */
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod/v4';
import { onAbort } from '../core/abort.js';
import { AnyvmafError } from '../core/errors.js';
import { MOST_FRAMES } from '../core/frame.js';
import { suggestion } from '../core/nearest.js';
import { quoted } from '../core/printable.js';
import { version } from '../core/version.js';
import { VIEWER_SCRIPT } from './apps/viewer-script.js';
import { canAnswer, chosen, serveRoots } from './files.js';
import { PAGES_TEMPLATE } from './frame-pages.js';
import type { McpHost } from './host.js';
import { KEPT_TIME } from './job-store.js';
import { JOB_TEMPLATE, JOB_TOOLS, type Job, type Jobs, jobAddress, pause } from './jobs.js';
import { complete, servePrompts } from './prompts.js';
import { invalidParams, isOlder, ProtocolServer } from './protocol-server.js';
import type { ReadPage, ResourceContents, ResourceScope } from './resources.js';
import { answer, CallProgress, type ProgressNotice } from './results.js';
import type { JobDocument, Tool, ToolJobs } from './tool.js';
import { sentenceOf } from './wording.js';

const INSTRUCTIONS = [
  'anyvmaf measures how much quality a distorted video lost against its reference; VMAF runs from 0 to 100, higher is',
  'better, and about 6 points are a visible step. Paths must lie under the folders that the user allowed.',
  'Raw YUV needs width, height, pixfmt and bitdepth (vmaf_score); for MP4, MKV, WebM and Y4M use vmaf_score_encoded.',
  'A long call continues as a job: send the next_action of its answer.',
  'Results are summaries; full reports and pictures come as resource links, frames of reports in pages (resource templates).',
  'Read anyvmaf://samples for a pair to try the tools with.',
].join(' ');

/** Cache hints: lists last as long as the server; the list of tools depends on the client. */
const LASTING = { ttlMs: 3_600_000, cacheScope: 'public' } as const;
const OWN = { ...LASTING, cacheScope: 'private' } as const;

interface ObjectSchema {
  readonly type: 'object';
  readonly [key: string]: unknown;
}

/** Maxima that no real value reaches, such as 999 tracks. */
const UNREACHED: ReadonlySet<unknown> = new Set([Number.MAX_SAFE_INTEGER, MOST_FRAMES, 999]);

function jsonSchema(schema: z.ZodObject, io: 'input' | 'output'): ObjectSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    override: ({ jsonSchema: json }) => {
      if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
      if (UNREACHED.has(json.maximum)) delete json.maximum;
    },
  });
  return { ...rest, type: 'object' };
}

/** The tools with complete schemas, for docs/mcp-tools.md. */
export function describeTools(tools: readonly Tool[]) {
  return tools.map(({ name, title, description, inputSchema, outputSchema, annotations }) => ({
    ...{ name, title, description },
    inputSchema: { ...jsonSchema(inputSchema, 'input'), additionalProperties: false } as ObjectSchema,
    outputSchema: jsonSchema(outputSchema, 'output'),
    annotations: { title, ...annotations },
  }));
}

/** The tools as clients list them: brief, since models read it all. The server checks the complete schemas. */
export function listTools(tools: readonly Tool[]) {
  return tools.map(({ name, title, description, inputSchema, annotations }) => ({
    ...{ name, title, description },
    inputSchema: brief(jsonSchema(inputSchema, 'input')),
    outputSchema: { type: 'object' } as const,
    annotations: briefHints(annotations),
  }));
}

/** Leaves out the title, which is listed anyway, and hints that mean nothing for a read-only tool. */
function briefHints(annotations: Tool['annotations']) {
  const { readOnlyHint, openWorldHint, destructiveHint, idempotentHint } = annotations;
  const both = { readOnlyHint, openWorldHint };
  return readOnlyHint ? both : { ...both, destructiveHint, idempotentHint };
}

/** Bounds that errors name instead. */
const BOUNDS = new Set('minLength maxLength minItems maxItems pattern propertyNames'.split(' '));

/** Drops reserved parameters, aliases, bounds of texts and lists, and `false` defaults. */
function brief(schema: ObjectSchema): ObjectSchema {
  const text = JSON.stringify(schema, (key, value: unknown) => {
    const isUsual = value === false && (key === 'additionalProperties' || key === 'default');
    return isUsual || BOUNDS.has(key) || isUnlisted(value) ? undefined : value;
  });
  return { ...JSON.parse(text), additionalProperties: false };
}

function isUnlisted(value: unknown): boolean {
  return /^(?:Reserved;|Another name of|Short for) /.test(String(Object(value).description));
}

const TEMPLATES = [
  {
    uriTemplate: PAGES_TEMPLATE,
    name: 'frames',
    title: 'Frames of a report, in pages',
    description:
      'Values of the frames from `from` to `to` (inclusive; default: the first 100), of one or more comma-separated metrics (default: all), ' +
      'every `step` frames. format: json, csv, or seconds (mean, minimum and maximum of each second). id is that of a report.json. ' +
      'next is the URI of the next page.',
    mimeType: 'application/json',
  },
  {
    uriTemplate: JOB_TEMPLATE,
    name: 'job',
    title: 'A job',
    description: 'The progress of a job; subscribe to be notified of changes.',
    mimeType: 'application/json',
  },
] as const;

const ICON = {
  src: `data:image/svg+xml;base64,${Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2a62d8"/>' +
      '<path d="M6 21l6-9 5 6 4-5 5 8" fill="none" stroke="#fff" stroke-width="3"/></svg>',
  ).toString('base64')}`,
  mimeType: 'image/svg+xml',
  sizes: ['any'],
};

/** Cached, since building a list takes milliseconds and stateless clients need it for every request. */
const lists = new WeakMap<readonly Tool[], ReturnType<typeof listTools>>();

function listed(tools: readonly Tool[]) {
  const list = lists.get(tools) ?? listTools(tools);
  lists.set(tools, list);
  return list;
}

/** @param shared scope of results; default: a scope that ends with the connection */
export function createServer(host: McpHost, shared?: ResourceScope): Server {
  const scope = shared ?? host.resources.scope();
  const server = new ProtocolServer(
    { name: 'anyvmaf', title: 'anyvmaf', version, icons: [ICON] },
    {
      capabilities: {
        ...{ tools: {}, prompts: {}, completions: {}, resources: { subscribe: true } },
        extensions: { [TASKS]: {} },
      },
      instructions: INSTRUCTIONS,
      cacheHints: { 'tools/list': OWN, 'prompts/list': LASTING, 'server/discover': LASTING },
    },
  );
  const jobs = host.jobs.of(scope);
  const unsubscribe = serveSubscriptions(server, host.jobs, scope);
  server.onclose = () => {
    unsubscribe?.();
    if (!shared) scope.end();
  };
  server.onerror = (error) => {
    if (process.env.ANYVMAF_DEBUG) host.log(`protocol: ${error.message}`);
  };
  server.setRequestHandler('tools/list', (_, context) => {
    const hasViews = showsViews(capabilitiesOf(server, context));
    const view = hasViews && { _meta: { ui: { resourceUri: VIEW_URI } } };
    const tools = listed(host.tools);
    return { tools: tools.map((tool) => ({ ...tool, ...(VIEW_TOOLS.has(tool.name) && view) })) };
  });
  const readRoots = serveRoots(server, scope);
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = host.tools.find(({ name }) => name === params.name);
    if (tool === undefined) {
      const names = host.tools.map(({ name }) => name);
      throw invalidParams(`Unknown tool ${quoted(params.name, 100)}; ${suggestion(params.name, names)}`);
    }
    await readRoots(context);
    const given = { tool, args: params.arguments ?? {}, files: scope.filesOf(host.files) };
    const answered = canAnswer(capabilitiesOf(server, context))
      ? await chosen(given, server, context)
      : given;
    return 'args' in answered ? host.track(call({ host, scope }, tool, answered.args, context)) : answered;
  });
  serveTasks(server, jobs);
  servePrompts(server, host.tools);
  server.setRequestHandler('completion/complete', async ({ params }, context) => {
    await readRoots(context);
    return complete(params, { folders: scope.filesOf(host.files).allowed, scope, jobs });
  });
  serveResources(server, host, scope);
  return server;
}

function serveResources(server: Server, host: McpHost, scope: ResourceScope): void {
  const jobs = host.jobs.of(scope);
  server.setRequestHandler('resources/list', (_, context) => ({
    resources: [...(showsViews(capabilitiesOf(server, context)) ? [VIEW_ENTRY] : []), ...scope.list()],
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...TEMPLATES] }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq: { signal } }) => {
    const pageOf: ReadPage = (...report) =>
      host.pool.run({ weight: 1, signal, short: true }, async () => {
        const { reportPage } = await import('./report-page.js');
        return reportPage(...report, host.threads.measuring, signal);
      });
    if (uri === VIEW_URI) return { contents: [{ uri, mimeType: VIEW_TYPE, text: VIEW, _meta: VIEW_META }] };
    const reading = async () => (await readJob(uri, jobs)) ?? scope.read(uri, pageOf);
    const contents = await reading().catch((error: unknown) => {
      if (error instanceof AnyvmafError && error.code === 'usage') throw invalidParams(sentenceOf(error));
      throw new ProtocolError(ProtocolErrorCode.InternalError, sentenceOf(error));
    });
    if (contents) return { contents: [contents] };
    throw invalidParams(`Unknown resource ${uri.slice(0, 200)}.`, { uri });
  });
}

/** The client's capabilities, announced once or with each request. */
function capabilitiesOf(server: Server, { mcpReq }: ServerContext): ClientCapabilities {
  return Object(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {};
}

/** `undefined` if the client wants none; a fraction of 1 for `run_` tools, as in the reference MCP server. */
function progressOf({ name }: Tool, { mcpReq }: ServerContext): CallProgress | undefined {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return undefined;
  const send = (notice: ProgressNotice) => {
    const params = { progressToken: token, ...notice };
    // The client may have disconnected.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
  return new CallProgress(send, name.startsWith('run_') ? name : undefined);
}

/** Runs one call; after the call limit it continues as a job. */
async function call(
  { host, scope }: { readonly host: McpHost; readonly scope: ResourceScope },
  tool: Tool,
  args: unknown,
  context: ServerContext,
): Promise<CallToolResult> {
  const { signal: cancelled } = context.mcpReq;
  const progress = progressOf(tool, context);
  const job = host.jobs.begin(tool, args, scope, progress);
  const forget = onAbort(cancelled, (reason) => job.leave(reason));
  try {
    const limit = JOB_TOOLS.has(tool.name) ? 0 : host.callLimit;
    if (limit > 0) await pause(limit * 1000, [job.answer]);
    const kept =
      limit > 0 && !job.ended && !cancelled.aborted ? await keepJob(host, job, context) : undefined;
    if (kept) return kept;
    const { content, ...result } = await job.answer;
    // A client that restarts the server must find its results again.
    await job.saved;
    if (!result.isError) progress?.end();
    return { content: [...content], ...result };
  } finally {
    forget();
  }
}

/** Keeps a call as a job and answers with it; `undefined` if it cannot be stored. */
async function keepJob(host: McpHost, job: Job, context: ServerContext): Promise<CallToolResult | undefined> {
  try {
    const document = await host.jobs.keep(job);
    // The SDK has no type for such results.
    if (takesTasks(context)) return { ...taskOf(document), resultType: 'task' } as unknown as CallToolResult;
    const summary = `This takes longer than ${host.callLimit} s and continues as a job. ${document.summary}`;
    const { content, ...rest } = answer({ document: { ...document, summary } });
    return { content: [...content], ...rest };
  } catch (error) {
    host.log(`${job.tool.name}: ${sentenceOf(error)}`);
    return undefined;
  }
}

const VIEWS = 'io.modelcontextprotocol/ui';
const VIEW_TYPE = 'text/html;profile=mcp-app';
const VIEW_URI = 'ui://anyvmaf/report';

/** Tools with the view; for a job it polls for the result. */
const VIEW_TOOLS: ReadonlySet<string> = new Set(
  'vmaf_score vmaf_score_encoded describe_worst_frames compare_encodes job_start'.split(' '),
);

/** An empty policy: the view loads nothing. */
const VIEW_META = { ui: { csp: {}, prefersBorder: true } } as const;

const VIEW_ENTRY = {
  uri: VIEW_URI,
  name: 'report',
  title: 'Report',
  description: 'Charts, worst frames and a split view of the result, beside the answer.',
  mimeType: VIEW_TYPE,
  _meta: VIEW_META,
} as const;

/** True if a client shows views of MCP Apps. */
function showsViews(capabilities: unknown): boolean {
  const { mimeTypes } = Object(Object(Object(capabilities).extensions)[VIEWS]);
  return Array.isArray(mimeTypes) && mimeTypes.includes(VIEW_TYPE);
}

const VIEW_POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const VIEW = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>anyvmaf</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="${VIEW_POLICY}">
<style>body { font: 15px/1.5 system-ui, sans-serif; margin: 14px 18px; overflow-wrap: anywhere; }</style></head>
<body><p role="status">Waiting for the result.</p><script>${VIEWER_SCRIPT}</script></body></html>
`;

/** Most subscriptions of one connection; the oldest is dropped. */
const MOST_SUBSCRIBED = 1000;

/** Reads the state of a job. @returns `undefined` for another URI or a hidden job */
async function readJob(uri: string, jobs: ToolJobs): Promise<ResourceContents | undefined> {
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
 * Handles the subscriptions of a connection. Accepts any URI, to reveal no jobs.
 * @returns a function that stops updates; `undefined` without sessions, when the transport sends them
 */
function serveSubscriptions(server: Server, jobs: Jobs, scope: ResourceScope): (() => void) | undefined {
  const subscribed = new Set<string>();
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    subscribed.add(uri);
    const [oldest = uri] = subscribed;
    if (subscribed.size > MOST_SUBSCRIBED) subscribed.delete(oldest);
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

/** The extension's name in capabilities. */
const TASKS = 'io.modelcontextprotocol/tasks';
/** Milliseconds between polls of a task, as clients are advised. */
const POLL = 2000;

const named = z.looseObject({ taskId: z.string().max(64) });

/** True if the client accepts a task as the result of a call. */
function takesTasks({ mcpReq }: ServerContext): boolean {
  const { extensions } = Object(Object(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY]);
  return Object.hasOwn(Object(extensions), TASKS);
}

/** A job as a task; a tool's error counts as completed with a result, an interrupted job as failed. */
function taskOf({ job_id, status, summary, started, kept_until }: JobDocument) {
  const until = Date.parse(kept_until);
  return {
    taskId: job_id,
    status: status === 'failed' ? 'completed' : status === 'interrupted' ? 'failed' : status,
    statusMessage: summary,
    createdAt: started,
    lastUpdatedAt: new Date(until - KEPT_TIME).toISOString(),
    ttlMs: until - Date.parse(started),
    pollIntervalMs: POLL,
  };
}

function serveTasks(server: Server, jobs: ToolJobs): void {
  const known = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw invalidParams(sentenceOf(error));
    });
  const on = (method: string, answer: (taskId: string, signal: AbortSignal) => Promise<object>) =>
    server.setRequestHandler(method, { params: named }, async ({ taskId }, context) => {
      if (takesTasks(context)) return { ...(await answer(taskId, context.mcpReq.signal)) };
      const requiredCapabilities = { extensions: { [TASKS]: {} } };
      const message = `${method} requires the client capability ${TASKS}; use job_status and job_result instead.`;
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities }, message);
    });
  on('tasks/get', async (taskId, signal) => {
    const job = await known(jobs.status(taskId, 0, signal));
    // It may end between the two.
    const result = job.status === 'working' ? undefined : await jobs.result(taskId, 0, signal);
    const error = { code: ProtocolErrorCode.InternalError, message: job.summary };
    return {
      ...taskOf(job),
      ...(result && { result: { resultType: 'complete', ...result } }),
      ...(job.status === 'interrupted' && { error }),
    };
  });
  // Tasks never ask for input.
  on('tasks/update', async (taskId, signal) => {
    await known(jobs.status(taskId, 0, signal));
    return {};
  });
  on('tasks/cancel', async (taskId) => {
    await known(jobs.cancel(taskId));
    return {};
  });
}
