/**
 * @module mcp/call
 * Runs one call of a tool within the limits of the server, and always returns an answer.
 */
import { onAbort, TimeLimitError, withinSeconds } from '../core/abort.js';
import type { AllowedPaths } from '../files/allowed-paths.js';
import type { CallThreads } from './call-threads.js';
import type { CallAnswer, ToolContext, ToolJobs, ToolProgress, ToolResources } from './context.js';
import type { WorkPool } from './pool.js';
import type { ResourceScope } from './resources.js';
import { answer, fitting, refusal } from './results.js';
import type { PreparedCall, Tool } from './tool.js';
import { sentenceOf } from './wording.js';

/** Tools that take seconds; the pool reserves a place for them. */
const SHORT_TOOLS: ReadonlySet<string> = new Set(['inspect_pair', 'find_alignment', 'probe_backend']);

export interface CallServices {
  readonly tools: readonly Tool[];
  readonly files: AllowedPaths;
  readonly pool: WorkPool;
  readonly threads: CallThreads;
  readonly maxSeconds: number;
  readonly closing: AbortSignal;
  readonly log: (message: string) => void;
}

export interface ToolCall {
  readonly tool: Tool;
  /** As the client sent them. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly run: PreparedCall;
  readonly scope: ResourceScope;
  readonly resources: ToolResources;
  readonly jobs: ToolJobs;
  /** As the client sent them. */
  readonly signal: AbortSignal;
  onProgress(report: ToolProgress): void;
  onWait(ahead: number, running: number): void;
}

/** Runs a call; an error of the tool becomes an answer too. */
export async function answerCall(server: CallServices, call: ToolCall): Promise<CallAnswer> {
  const { tool, resources } = call;
  const ending = new AbortController();
  const listeners = [call.signal, server.closing].map((each) =>
    onAbort(each, (reason) => ending.abort(reason)),
  );
  try {
    const result = await withinSeconds(
      server.maxSeconds,
      new TimeLimitError(
        `the call took longer than ${server.maxSeconds} s, the limit of this server (--max-seconds), and was stopped`,
      ),
      ending.signal,
      async (signal) => {
        const outcome = await call.run(contextOf(server, call, signal));
        // Checked before it is cut to the size of an answer.
        const { success, error } = ('fits' in outcome ? outcome.fits : tool.outputSchema).safeParse(
          answer(outcome).structuredContent,
        );
        return success ? answer(await fitting(tool.name, outcome, resources)) : error.issues;
      },
    );
    if ('content' in result) return result;
    const [issue] = result;
    server.log(`${tool.name}: result does not fit its schema at ${issue?.path.join('.')}: ${issue?.message}`);
    return refusal(
      `The result of ${tool.name} does not match its schema, a defect of anyvmaf; please report it.`,
    );
  } catch (error) {
    if (server.closing.aborted)
      return refusal('The server is shutting down; call again once it has restarted.');
    return refusal(sentenceOf(error));
  } finally {
    for (const forget of listeners) forget();
    ending.abort();
  }
}

function contextOf(server: CallServices, call: ToolCall, signal: AbortSignal): ToolContext {
  const { name } = call.tool;
  return {
    tool: name,
    signal,
    progress: (report) => call.onProgress(report),
    files: call.scope.filesOf(server.files),
    pool: {
      run: (weight, task) =>
        server.pool.run(
          {
            ...{ weight, signal, short: SHORT_TOOLS.has(name) },
            onWait: (ahead, running) => call.onWait(ahead, running),
          },
          (grant) => task({ ...grant, api: server.threads.measuring }),
        ),
    },
    resources: call.resources,
    jobs: call.jobs,
    args: call.args,
    again: (changes) => ({ tool: name, arguments: { ...call.args, ...changes } }),
    instead: (other, changes) => {
      const takes = server.tools.find((one) => one.name === other)?.inputSchema.shape;
      if (!takes) return undefined;
      const both = Object.entries(call.args).filter(([key]) => Object.hasOwn(takes, key));
      return { tool: other, arguments: { ...Object.fromEntries(both), ...changes } };
    },
    log: (message) => server.log(`${name}: ${message}`),
  };
}
