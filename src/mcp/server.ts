/**
 * @module mcp/server
 * The protocol's side of the server: lists tools, runs calls, reads resources. One instance serves one connection, or
 * one request of a stateless client; all of them share the host.
 */

import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod/v4';
import { onAbort, TimeLimitError, withinSeconds } from '../core/abort.js';
import { AnyvmafError } from '../core/errors.js';
import { MOST_FRAMES } from '../core/frame.js';
import { nearest } from '../core/nearest.js';
import { quoted } from '../core/printable.js';
import { version } from '../core/version.js';
import type { ToolContext } from './context.js';
import { PAGES_TEMPLATE } from './frame-pages.js';
import type { McpHost } from './host.js';
import { fitting } from './large-results.js';
import { CallProgress } from './progress.js';
import { ProtocolServer } from './protocol-server.js';
import type { ResourceScope } from './resources.js';
import { answer, type CallAnswer, refusal, sentenceOf } from './results.js';
import type { Tool } from './tool.js';

/** Instructions for the model about the server as a whole. */
const INSTRUCTIONS = [
  'anyvmaf measures how much quality a distorted video lost against its reference; VMAF runs from 0 to 100, higher is',
  'better, and about 6 points are a visible step. Paths must lie under the folders that the user allowed.',
  'Raw YUV needs width, height, pixfmt and bitdepth (vmaf_score); MP4, MKV, WebM and Y4M go to vmaf_score_encoded.',
  'Results are summaries; full reports and pictures come as resource links, frames of reports in pages (resource templates).',
  'Read anyvmaf://samples for a pair to try the tools with.',
].join(' ');

/** Cache hint for what never changes while the server runs; milliseconds. */
const LASTING = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

/** A tool as `tools/list` shows it. */
export interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object'; readonly [key: string]: unknown };
  readonly outputSchema: { readonly type: 'object'; readonly [key: string]: unknown };
  readonly annotations: Pick<Tool['annotations'], 'readOnlyHint' | 'openWorldHint'> &
    Partial<Tool['annotations']>;
}

/** JSON Schema 2020-12 of a tool's parameters or result. */
function jsonSchema(schema: z.ZodObject, io: 'input' | 'output'): ListedTool['inputSchema'] {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    // Bounds that no real value reaches say nothing.
    override: ({ jsonSchema: made }) => {
      if (made.minimum === Number.MIN_SAFE_INTEGER) delete made.minimum;
      if (made.maximum === Number.MAX_SAFE_INTEGER || made.maximum === MOST_FRAMES) delete made.maximum;
    },
  });
  return { ...rest, type: 'object' };
}

/** The tools with all that is known of them, for docs/mcp-tools.md. */
export function describeTools(tools: readonly Tool[]): ListedTool[] {
  return tools.map(({ name, title, description, inputSchema, outputSchema, annotations }) => ({
    name,
    title,
    description,
    inputSchema: { ...jsonSchema(inputSchema, 'input'), additionalProperties: false },
    outputSchema: jsonSchema(outputSchema, 'output'),
    annotations: { title, ...annotations },
  }));
}

/**
 * The list of tools in the protocol's shape. A model may have to read all of it before its first call, and sees results as they
 * come: what they have is in docs/mcp-tools.md only. The server checks parameters by the whole schema.
 */
export function listTools(tools: readonly Tool[]): ListedTool[] {
  return describeTools(tools).map((tool, i) => ({
    ...tool,
    inputSchema: withoutRefused(tool.inputSchema),
    outputSchema: { type: 'object' },
    annotations: meant(tools[i]?.annotations ?? tool.annotations),
  }));
}

/** The title is beside them, and the other hints mean something only where a tool does not only read. */
function meant(annotations: ListedTool['annotations']): ListedTool['annotations'] {
  const { readOnlyHint, openWorldHint } = annotations;
  return readOnlyHint ? { readOnlyHint, openWorldHint } : annotations;
}

/** Parameters without those that the server refuses, and without lengths of texts. */
function withoutRefused(schema: ListedTool['inputSchema']): ListedTool['inputSchema'] {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    isRefused(value) || key === 'minLength' || key === 'maxLength' || key === 'propertyNames'
      ? undefined
      : value,
  );
  return JSON.parse(text);
}

function isRefused(value: unknown): boolean {
  const { description } = Object(value) as { readonly description?: unknown };
  return typeof description === 'string' && description.startsWith('Reserved;');
}

/** What can be read of results beside what is listed. */
const TEMPLATES = [
  {
    uriTemplate: PAGES_TEMPLATE,
    name: 'frames',
    title: 'Frames of a report, in pages',
    description:
      'Values of frames from to to (inclusive, by default 100 from the first on), of one metric or several with commas (default: all), ' +
      'every step frames. id is that of a report.json. next is the address of the next page.',
    mimeType: 'application/json',
  },
] as const;

/** Cached lists: building one takes milliseconds, and stateless clients ask for it on every request. */
const lists = new WeakMap<readonly Tool[], ListedTool[]>();

function listed(tools: readonly Tool[]): ListedTool[] {
  const list = lists.get(tools) ?? listTools(tools);
  lists.set(tools, list);
  return list;
}

/**
 * An instance for one connection.
 * @param scope where its results are stored; by default a scope of its own
 */
export function createServer(host: McpHost, scope = host.resources.scope({ listed: true })): Server {
  const server = new ProtocolServer(
    { name: 'anyvmaf', title: 'anyvmaf', version },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: INSTRUCTIONS,
      cacheHints: { 'tools/list': LASTING, 'server/discover': LASTING },
    },
  );
  server.onerror = (error) => {
    if (process.env.ANYVMAF_DEBUG) host.log(`protocol: ${error.message}`);
  };
  server.setRequestHandler('tools/list', () => ({ tools: listed(host.tools).map((tool) => ({ ...tool })) }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = host.tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw unknownTool(params.name, host.tools);
    const { content, ...rest } = await host.track(call({ host, scope }, tool, params.arguments, context));
    return { content: [...content], ...rest };
  });
  server.setRequestHandler('resources/list', () => ({ resources: scope.list() }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: TEMPLATES.map((one) => ({ ...one })),
  }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const contents = await scope.read(uri).catch((error: unknown) => {
      const usage = error instanceof AnyvmafError && error.code === 'usage';
      throw new ProtocolError(
        usage ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
        sentenceOf(error),
      );
    });
    if (contents === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no resource ${uri.slice(0, 200)}.`, {
        uri,
      });
    }
    return { contents: [contents] };
  });
  return server;
}

/** Tools that take seconds; the pool keeps a place for them that longer ones never take. */
const SHORT_TOOLS: ReadonlySet<string> = new Set(['inspect_pair', 'find_alignment', 'probe_backend']);

function unknownTool(name: string, tools: readonly Tool[]): ProtocolError {
  const names = tools.map((tool) => tool.name);
  const near = nearest(name.slice(0, 100), names);
  const hint = near === undefined ? `the tools are ${names.join(', ')}` : `did you mean ${near}?`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${quoted(name, 100)}; ${hint}`);
}

/** What a tool gets for one call. */
function toolContext(
  name: string,
  { host, scope }: { readonly host: McpHost; readonly scope: ResourceScope },
  progress: CallProgress | undefined,
  signal: AbortSignal,
): ToolContext {
  return {
    signal,
    progress: (report) => progress?.report(report),
    files: scope.filesOf(host.files),
    pool: {
      run: (label, weight, task) =>
        host.pool.run(
          {
            ...{ weight, signal, short: SHORT_TOOLS.has(label) },
            onWait: (ahead, running) => progress?.wait(label, ahead, running),
          },
          task,
        ),
    },
    resources: scope,
    log: (message) => host.log(`${name}: ${message}`),
  };
}

/** Runs one call and returns its answer; errors of the tool become an answer too. */
async function call(
  { host, scope }: { readonly host: McpHost; readonly scope: ResourceScope },
  tool: Tool,
  args: unknown,
  context: ServerContext,
): Promise<CallAnswer> {
  const { signal: cancelled, _meta: meta, notify } = context.mcpReq;
  const token = meta?.progressToken;
  const progress =
    token === undefined
      ? undefined
      : new CallProgress(
          (notice) => {
            notify({ method: 'notifications/progress', params: { progressToken: token, ...notice } }).catch(
              () => {}, // the client is gone
            );
          },
          undefined,
          tool.name.startsWith('run_') ? tool.name : undefined,
        );
  const ending = new AbortController();
  const listeners = [cancelled, host.closing].map((each) => onAbort(each, (reason) => ending.abort(reason)));
  try {
    const result = await withinSeconds(
      host.maxSeconds,
      new TimeLimitError(
        `the call took longer than ${host.maxSeconds} s, the limit of this server (--max-seconds), and was stopped`,
      ),
      ending.signal,
      async (signal) => {
        const given = toolContext(tool.name, { host, scope }, progress, signal);
        return answer(await fitting(tool.name, await tool.call(args, given), scope));
      },
    );
    const fits = tool.outputSchema.safeParse(result.structuredContent);
    if (fits.success) {
      progress?.end();
      return result;
    }
    const [issue] = fits.error.issues;
    host.log(`${tool.name}: result does not fit its schema at ${issue?.path.join('.')}: ${issue?.message}`);
    return refusal(`anyvmaf made a result of ${tool.name} that does not fit its schema; please report this.`);
  } catch (error) {
    if (host.closing.aborted) return refusal('The server is shutting down; call again when it is back.');
    return refusal(sentenceOf(error));
  } finally {
    for (const forget of listeners) forget();
    ending.abort();
  }
}
