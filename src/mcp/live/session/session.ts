/**
 * @module mcp/live/session/session
 * One client's conversation: JSON-RPC requests to answers, and notifications to those who subscribed. It is small on purpose:
 * it runs beside a measurement that has the machine, and clients may ask ten times a second.
 */
import { AnyvmafError } from '../../../core/errors.js';
import { quoted } from '../../../core/printable.js';
import { version } from '../../../core/version.js';
import { CODE, ProtocolFailure, Refused } from '../failures.js';
import type { Hub, LiveEvent } from '../hub.js';
import { checkArguments, inputSchema } from '../tool.js';
import { LIVE_TOOLS } from '../tools/index.js';
import { listResources, measurementOf, readResource, uriOf } from './resources.js';

/** Versions of the protocol, the latest last. */
const VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;

const TOOLS = LIVE_TOOLS.map((tool) => ({
  name: tool.name,
  description: tool.description,
  inputSchema: inputSchema(tool),
  annotations: {
    readOnlyHint: !tool.steers,
    destructiveHint: tool.name === 'vmaf.stop',
    openWorldHint: false,
  },
}));

type Id = string | number;

/** An answer. */
export type Reply = {
  readonly jsonrpc: '2.0';
  readonly id: Id | null;
} & ({ readonly result: object } | { readonly error: { readonly code: number; readonly message: string } });

/** One client. */
export class Session {
  readonly #hub: Hub;
  readonly #notify: (text: string) => void;
  readonly #subscribed = new Set<string>();
  readonly #forget: () => void;

  /** @param notify sends a notification, as JSON */
  constructor(hub: Hub, notify: (text: string) => void) {
    this.#hub = hub;
    this.#notify = notify;
    this.#forget = hub.listen((event) => this.#tell(event));
  }

  close(): void {
    this.#forget();
  }

  /**
   * Answers a message.
   * @returns JSON, or `undefined` for a notification
   */
  async answer(text: string): Promise<string | undefined> {
    this.#hub.rounds.asked();
    const reply = await this.#reply(text);
    return reply && JSON.stringify(reply);
  }

  async #reply(text: string): Promise<Reply | undefined> {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return failed(null, CODE.parse, 'The message is not JSON.');
    }
    if (typeof message !== 'object' || message === null || Array.isArray(message))
      return failed(null, CODE.request, 'The message is not one JSON-RPC request; batches are not taken.');
    const { id, method, params } = message as { id?: unknown; method?: unknown; params?: unknown };
    const known = typeof id === 'string' || typeof id === 'number' ? id : null;
    // An answer to a request of ours; there are none.
    if (method === undefined && ('result' in message || 'error' in message)) return undefined;
    if (typeof method !== 'string') return failed(known, CODE.request, 'The message has no method.');
    if (id === undefined || id === null) return undefined;
    if (known === null || known === Number.POSITIVE_INFINITY || known === Number.NEGATIVE_INFINITY)
      return failed(null, CODE.request, 'The id of a request is text or a number.');
    try {
      return { jsonrpc: '2.0', id: known, result: await this.#result(method, objectOf(params)) };
    } catch (error) {
      if (error instanceof ProtocolFailure) return failed(known, error.code, error.message);
      const why = error instanceof Error ? error.message : String(error);
      return failed(known, CODE.internal, `The request failed: ${why}`);
    }
  }

  async #result(method: string, params: Readonly<Record<string, unknown>>): Promise<object> {
    switch (method) {
      case 'initialize':
        return this.#initialize(params);
      case 'ping':
        return {};
      case 'tools/list':
        return { tools: TOOLS };
      case 'tools/call':
        return this.#call(params);
      case 'resources/list':
        return { resources: listResources(this.#hub) };
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
        throw new ProtocolFailure(CODE.method, `There is no method ${JSON.stringify(method.slice(0, 100))}.`);
    }
  }

  #initialize({ protocolVersion }: Readonly<Record<string, unknown>>): object {
    const asked = protocolVersion ?? VERSIONS[0];
    return {
      protocolVersion: VERSIONS.find((one) => one === asked) ?? VERSIONS.at(-1),
      serverInfo: { name: this.#hub.settings.name, version },
      capabilities: { tools: {}, resources: { subscribe: true }, logging: {} },
    };
  }

  async #call({ name, arguments: given }: Readonly<Record<string, unknown>>): Promise<object> {
    const tool = LIVE_TOOLS.find((one) => one.name === name);
    if (!tool) {
      const names = LIVE_TOOLS.map((one) => one.name).join(', ');
      throw new ProtocolFailure(
        CODE.params,
        `There is no tool ${quoted(String(name).slice(0, 100))}; the tools are ${names}.`,
      );
    }
    try {
      return content(await tool.call(checkArguments(tool, given), this.#hub), false);
    } catch (error) {
      const known = error instanceof Refused || error instanceof AnyvmafError;
      const why = error instanceof Error ? error.message : String(error);
      return content({ error: known ? why : `anyvmaf failed unexpectedly: ${why}` }, true);
    }
  }

  #tell({ kind, measurement, data }: LiveEvent): void {
    const uri = uriOf(measurement);
    // The end is told as progress, too.
    if (kind === 'progress' && this.#subscribed.has(uri))
      this.#send('notifications/resources/updated', { uri });
    if (kind === 'alarm')
      this.#send('notifications/message', {
        level: 'warning',
        logger: measurement.name,
        data: { kind, ...data },
      });
  }

  #send(method: string, params: object): void {
    this.#notify(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }
}

/** Numbers that JSON does not know are null there. */
function content(value: object | string, isError: boolean): object {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { content: [{ type: 'text', text }], isError };
}

function objectOf(params: unknown): Readonly<Record<string, unknown>> {
  if (params === undefined) return {};
  if (typeof params === 'object' && params !== null && !Array.isArray(params))
    return params as Readonly<Record<string, unknown>>;
  throw new ProtocolFailure(CODE.params, 'The params must be an object.');
}

/** An error as JSON-RPC has it. */
export function failed(id: Id | null, code: number, message: string): Reply {
  return { jsonrpc: '2.0', id, error: { code, message } };
}
