/**
 * @module mcp/live/session
 * One client's session. Does without the SDK to stay small: it runs beside a measurement that needs the machine, and
 * clients may poll ten times a second. Tools refuse with an `AnyvmafError`, the protocol with its own class.
 */
import { onAbort } from '../../core/abort.js';
import { isObject, jsonOf } from '../../core/arguments.js';
import { AnyvmafError, messageOf } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import { version } from '../../core/version.js';
import type { History } from '../../live/history.js';
import { answer, CallProgress, refusal } from '../results.js';
import type { CallAnswer } from '../tool.js';
import type { Hub, LiveEvent } from './hub.js';
import { checkArguments, READS, statusOf, TOOLS } from './tools.js';

class ProtocolFailure extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: object,
  ) {
    super(message);
  }
}

export const CODE = { parse: -32700, request: -32600, method: -32601, params: -32602, internal: -32603 };

const MOST_BATCH = 100;

/** Most frames in the report so far. */
const FRAMES = 100;

const uriOf = ({ name }: History): string => `vmaf://measurement/${name}/report`;

function resourceOf(measurement: History): object {
  const description = 'The report so far: status, pooled values, worst moments, latest frames.';
  const about = { title: 'Report so far', description, mimeType: 'application/json' };
  return { uri: uriOf(measurement), name: `report of ${measurement.name}`, ...about };
}

/** @throws {ProtocolFailure} for an unknown resource */
function measurementOf(hub: Hub, uri: unknown): History {
  if (typeof uri !== 'string') throw new ProtocolFailure(CODE.params, 'uri must be the URI of a resource.');
  const found = hub.measurements.find((measurement) => uriOf(measurement) === uri);
  if (found) return found;
  throw new ProtocolFailure(CODE.params, `Unknown resource ${uri.slice(0, 200)}.`, { uri });
}

function readResource(hub: Hub, uri: unknown): object {
  const measurement = measurementOf(hub, uri);
  const first = Math.max(0, measurement.last - FRAMES + 1);
  const frames = Array.from({ length: Math.max(0, measurement.last - first + 1) }, (_, i) => ({
    frame: first + i,
    metrics: measurement.frame(first + i),
  })).filter(({ metrics }) => metrics !== undefined);
  const pooled = measurement.metrics.map((name) => [name, measurement.pooled(name) ?? null]);
  const worst = measurement.worst(10);
  const report = { ...statusOf(measurement, hub), pooled: Object.fromEntries(pooled), worst, frames };
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(report) }] };
}

/** Versions of the protocol, oldest first. */
const VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;

const INSTRUCTIONS =
  'This server belongs to a program that is measuring the quality of a video. vmaf.status shows its progress, vmaf.score ' +
  'the scores so far, vmaf.watch waits for an alarm. Send the next_action of an answer unchanged. The report so far is a ' +
  'resource.';

const LISTED = TOOLS.map(({ required = [], annotations = READS, parameters, ...tool }) => ({
  ...{ name: tool.name, title: tool.title, description: tool.description, annotations },
  inputSchema: { type: 'object', properties: parameters, required, additionalProperties: false },
  outputSchema: { type: 'object' },
}));

type Id = string | number;

export class Session {
  readonly #hub: Hub;
  readonly #notify: (text: string) => void;
  readonly #isShared: boolean;
  readonly #subscribed = new Set<string>();
  /** All calls, and those that can be cancelled. */
  readonly #running = new Set<AbortController>();
  readonly #calls = new Map<Id, AbortController>();
  readonly #forget: () => void;

  /** @param isShared several clients share the session: ids may collide, so calls cannot be cancelled */
  constructor(hub: Hub, notify: (text: string) => void, isShared = false) {
    this.#hub = hub;
    this.#notify = notify;
    this.#isShared = isShared;
    this.#forget = hub.listen((event) => this.#tell(event));
  }

  close(): void {
    this.#forget();
    for (const call of this.#running) call.abort(left());
  }

  /**
   * Answers a message or a batch.
   * @param gone aborts when the client disconnects
   * @returns JSON, or `undefined` for a notification or a cancelled call
   */
  async answer(text: string, gone?: AbortSignal): Promise<string | undefined> {
    this.#hub.rounds.asked();
    const reply = await this.#reply(text, gone);
    return reply && JSON.stringify(reply);
  }

  async #reply(text: string, gone: AbortSignal | undefined): Promise<object | undefined> {
    const message = jsonOf(text);
    if (message === undefined) return failed(null, CODE.parse, 'The message is not JSON.');
    if (!Array.isArray(message)) return this.#replyTo(message, gone);
    // From anyone, because clients without a session do not tell their version; only 2025-03-26 has batches.
    if (message.length === 0 || message.length > MOST_BATCH)
      return failed(
        null,
        CODE.request,
        `A batch has ${message.length} messages; it must have 1 to ${MOST_BATCH}.`,
      );
    const replies = await Promise.all(message.map((one: unknown) => this.#replyTo(one, gone)));
    const answered = replies.filter((reply) => reply !== undefined);
    return answered.length > 0 ? answered : undefined;
  }

  async #replyTo(message: unknown, gone: AbortSignal | undefined): Promise<object | undefined> {
    if (!isObject(message)) return failed(null, CODE.request, 'The message is not a JSON-RPC request.');
    const { id, method, params } = message;
    const known = typeof id === 'string' || typeof id === 'number' ? id : null;
    // A response, though the server sends no requests.
    if (method === undefined && ('result' in message || 'error' in message)) return undefined;
    if (typeof method !== 'string') return failed(known, CODE.request, 'The message has no method.');
    if (method === 'notifications/cancelled') this.#cancel(params);
    if (id === undefined || id === null) return undefined;
    if (known === null || known === Number.POSITIVE_INFINITY || known === Number.NEGATIVE_INFINITY)
      return failed(null, CODE.request, 'The id of a request must be a string or a number.');
    try {
      const result = await this.#result(method, objectOf(params), known, gone);
      return result && { jsonrpc: '2.0', id: known, result };
    } catch (error) {
      if (error instanceof ProtocolFailure) return failed(known, error.code, error.message, error.data);
      return failed(known, CODE.internal, `The request failed: ${messageOf(error)}`);
    }
  }

  async #result(
    method: string,
    params: Readonly<Record<string, unknown>>,
    id: Id,
    gone: AbortSignal | undefined,
  ): Promise<object | undefined> {
    switch (method) {
      case 'initialize':
        return this.#initialize(params);
      case 'ping':
        return {};
      case 'tools/list':
        return { tools: LISTED };
      case 'tools/call':
        return this.#call(params, id, gone);
      case 'resources/list':
        return { resources: this.#hub.measurements.map(resourceOf) };
      case 'resources/templates/list':
        return { resourceTemplates: [] };
      case 'resources/read':
        return readResource(this.#hub, params.uri);
      case 'resources/subscribe':
        this.#subscribed.add(uriOf(measurementOf(this.#hub, params.uri)));
        return {};
      case 'resources/unsubscribe':
        this.#subscribed.delete(uriOf(measurementOf(this.#hub, params.uri)));
        return {};
      case 'logging/setLevel':
        return {};
      default:
        throw new ProtocolFailure(CODE.method, `Unknown method ${JSON.stringify(method.slice(0, 100))}.`);
    }
  }

  #initialize({ protocolVersion }: Readonly<Record<string, unknown>>): object {
    const requested = protocolVersion ?? VERSIONS[0];
    return {
      protocolVersion: VERSIONS.find((known) => known === requested) ?? VERSIONS.at(-1),
      serverInfo: { name: this.#hub.settings.name, title: 'anyvmaf, live', version },
      capabilities: { tools: {}, resources: { subscribe: true }, logging: {} },
      instructions: INSTRUCTIONS,
    };
  }

  /** Runs a call; `undefined` if its client cancelled it. */
  async #call(
    { name, arguments: given, _meta: meta }: Readonly<Record<string, unknown>>,
    id: Id,
    gone: AbortSignal | undefined,
  ): Promise<CallAnswer | undefined> {
    const tool = TOOLS.find((known) => known.name === name);
    if (!tool) {
      const names = TOOLS.map((known) => known.name).join(', ');
      const problem = `Unknown tool ${quoted(String(name).slice(0, 100))}; available: ${names}.`;
      throw new ProtocolFailure(CODE.params, problem);
    }
    const { progressToken } = Object(meta);
    const progress =
      typeof progressToken === 'string' || typeof progressToken === 'number'
        ? new CallProgress((notice) => this.#send('notifications/progress', { progressToken, ...notice }))
        : undefined;
    const ending = new AbortController();
    const forget = [this.#hub.signal, gone].map((signal) =>
      onAbort(signal, (reason) => ending.abort(reason)),
    );
    this.#running.add(ending);
    if (!this.#isShared) this.#calls.set(id, ending);
    const context = { signal: ending.signal, progress: progress?.report.bind(progress) ?? (() => {}) };
    try {
      return answer({ document: await tool.call(checkArguments(tool, given), this.#hub, context) });
    } catch (error) {
      if (ending.signal.aborted && !this.#hub.signal.aborted) return undefined;
      const why = messageOf(error);
      return refusal(error instanceof AnyvmafError ? why : `anyvmaf failed unexpectedly: ${why}`);
    } finally {
      for (const end of forget) end();
      this.#running.delete(ending);
      if (this.#calls.get(id) === ending) this.#calls.delete(id);
    }
  }

  #cancel(params: unknown): void {
    const { requestId } = Object(params);
    if (requestId !== undefined) this.#calls.get(requestId)?.abort(left());
  }

  #tell({ kind, measurement, data }: LiveEvent): void {
    const uri = uriOf(measurement);
    // The end is also reported as progress.
    if (kind === 'progress' && this.#subscribed.has(uri))
      this.#send('notifications/resources/updated', { uri });
    const warning = { level: 'warning', logger: measurement.name, data: { kind, ...data } };
    if (kind === 'alarm') this.#send('notifications/message', warning);
  }

  #send(method: string, params: object): void {
    this.#notify(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }
}

function left(): AnyvmafError {
  return new AnyvmafError('aborted', 'The client cancelled the call or disconnected.');
}

function objectOf(params: unknown): Readonly<Record<string, unknown>> {
  if (params === undefined) return {};
  if (isObject(params)) return params;
  throw new ProtocolFailure(CODE.params, 'The params must be an object.');
}

export function failed(id: Id | null, code: number, message: string, data?: object): object {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } };
}

/** Most unread bytes of a client. */
export const BACKLOG = 1 << 20;
