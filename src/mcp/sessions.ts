/**
 * @module mcp/sessions
 * Sessions of clients before 2026-07-28, whose session id leads a cancellation to its call.
 */
import { randomUUID } from 'node:crypto';
import {
  type JSONRPCMessage,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { onAbort } from '../core/abort.js';

/** Most sessions; the least recently used one is closed first. */
const MOST_SESSIONS = 256;

/** Milliseconds until an unused session is closed. */
const IDLE_TIME = 30 * 60_000;

/** A comment that opens an event stream: headers leave with the first bytes, and clients wait for them. */
const OPENING = new TextEncoder().encode(':\n\n');

type RequestId = string | number;

export class Sessions {
  readonly #byId = new Map<string, Session>();
  readonly #makeServer: () => Server;
  readonly #now: () => number;

  /** @param now monotonic milliseconds */
  constructor(makeServer: () => Server, now: () => number = () => performance.now()) {
    this.#makeServer = makeServer;
    this.#now = now;
  }

  get size(): number {
    return this.#byId.size;
  }

  async open(request: Request, body: unknown): Promise<Response> {
    this.#sweep();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        this.#byId.set(id, session);
      },
      onsessionclosed: (id) => {
        this.#byId.delete(id);
      },
    });
    const session = new Session(transport, this.#now);
    await this.#makeServer().connect(transport);
    const response = await session.serve(request, body);
    // The request did not open a session.
    if (transport.sessionId === undefined) await transport.close();
    return response;
  }

  async serve(id: string, request: Request, body: unknown): Promise<Response | undefined> {
    return this.#byId.get(id)?.serve(request, body);
  }

  async close(): Promise<void> {
    const sessions = [...this.#byId.values()];
    this.#byId.clear();
    await Promise.allSettled(sessions.map((session) => session.close()));
  }

  #sweep(): void {
    const idle = [...this.#byId].filter(([, { busy }]) => busy === 0).sort(([, a], [, b]) => a.used - b.used);
    const tooMany = this.#byId.size - MOST_SESSIONS + 1;
    for (const [i, [id, session]] of idle.entries()) {
      if (i >= tooMany && this.#now() - session.used < IDLE_TIME) return;
      this.#byId.delete(id);
      void session.close();
    }
  }
}

/** Requests of one body, answered on one event stream. */
interface Exchange {
  /** Neither answered nor cancelled yet. */
  readonly open: Set<RequestId>;
  readonly cancelled: Set<RequestId>;
}

class Session {
  /** Number of pending requests and open event streams. */
  busy = 0;
  used: number;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #send: WebStandardStreamableHTTPServerTransport['send'];
  readonly #exchanges = new Map<RequestId, Exchange>();
  readonly #now: () => number;

  constructor(transport: WebStandardStreamableHTTPServerTransport, now: () => number) {
    this.#transport = transport;
    this.#now = now;
    this.used = now();
    this.#send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      await this.#send(message, options);
      if (!('method' in message) && message.id !== undefined) this.#settle(message.id, false);
    };
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async serve(request: Request, body: unknown): Promise<Response> {
    const messages = [body].flat();
    const ids = messages.flatMap(requestId);
    this.#expect(ids);
    this.used = this.#now();
    this.busy++;
    let ended = false;
    let forget = () => {};
    const done = () => {
      if (ended) return;
      ended = true;
      forget();
      this.busy--;
      this.used = this.#now();
    };
    let listening = false;
    const hangUp = () => {
      // Disconnecting before the answer cancels the call.
      for (const id of ids) this.#cancel(id);
      // Otherwise the transport would refuse the client's next stream until it writes to this one.
      if (listening) this.#transport.closeStandaloneSSEStream();
      done();
    };
    // The transport must know a request before it can cancel it.
    if (!request.signal.aborted) forget = onAbort(request.signal, hangUp);
    const response = await this.#transport.handleRequest(
      request,
      body === undefined ? {} : { parsedBody: body },
    );
    for (const id of messages.flatMap(cancelledId)) this.#settle(id, true);
    if (response.body === null) {
      done();
      return response;
    }
    listening = request.method === 'GET' && response.ok;
    if (request.signal.aborted) hangUp();
    const events = response.headers.get('content-type') === 'text/event-stream';
    const tracked = response.body.pipeThrough(
      new TransformStream({
        start: (stream) => {
          if (events) stream.enqueue(OPENING);
        },
        flush: done,
      }),
    );
    return new Response(tracked, { status: response.status, headers: response.headers });
  }

  #expect(ids: readonly RequestId[]): void {
    const exchange: Exchange = { open: new Set(ids), cancelled: new Set() };
    for (const id of ids) this.#exchanges.set(id, exchange);
  }

  #cancel(id: RequestId): void {
    if (!this.#exchanges.get(id)?.open.has(id)) return;
    const message = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } } as const;
    this.#transport.onmessage?.(message);
    this.#settle(id, true);
  }

  /** Settles a request. The transport ends a stream only once all its requests are answered. */
  #settle(id: RequestId, cancelled: boolean): void {
    const exchange = this.#exchanges.get(id);
    if (!exchange?.open.delete(id)) return;
    this.#exchanges.delete(id);
    if (cancelled) exchange.cancelled.add(id);
    if (exchange.open.size > 0 || exchange.cancelled.size === 0) return;
    for (const missing of exchange.cancelled) this.#transport.closeSSEStream(missing);
    // The stream has ended: this only makes the transport drop the request.
    for (const missing of exchange.cancelled) void this.#send(noAnswer(missing)).catch(() => {});
  }
}

function noAnswer(id: RequestId): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: -32000, message: 'The request was cancelled.' } };
}

function requestId(message: unknown): RequestId[] {
  const { method, id } = Object(message);
  return method === undefined ? [] : idOf(id);
}

function cancelledId(message: unknown): RequestId[] {
  const { method, params } = Object(message);
  return method === 'notifications/cancelled' ? idOf(Object(params).requestId) : [];
}

function idOf(id: unknown): RequestId[] {
  return typeof id === 'string' || typeof id === 'number' ? [id] : [];
}
