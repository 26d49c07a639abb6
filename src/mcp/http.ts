/**
 * @module mcp/http
 * The server over Streamable HTTP: `/mcp` for all versions of the protocol, `/health` for monitoring. Versions before
 * 2026-07-28 have sessions, by which a cancellation finds its call.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isInitializeRequest,
  type McpHttpHandler,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { onAbort } from '../core/abort.js';
import { jsonOf } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import {
  authority,
  Guard,
  type GuardOptions,
  isLoopback,
  listen,
  type Refusal,
  readTarget,
} from './guard.js';
import type { McpHost } from './host.js';
import { jobAddress } from './jobs.js';
import { SHARED_OWNER } from './resources.js';
import { createServer } from './server.js';

const BODY_LIMIT = 4 << 20;
/** Methods that the Request class accepts. */
const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PUT', 'PATCH'];
/** Milliseconds for running calls to finish when the server closes. */
const GRACE = 500;

/** @throws {AnyvmafError} `usage` for an impossible token or, on a non-loopback address, none; `io` if it cannot be bound */
export async function serveHttp(host: McpHost, options: GuardOptions) {
  const { address, token } = options;
  if (token === undefined && !isLoopback(address.host))
    throw usageError(
      `--http ${authority(address)} can be reached from other machines; set a token with --token or ` +
        'ANYVMAF_MCP_TOKEN, or listen on 127.0.0.1',
    );
  if (token !== undefined && !/^[!-~]+$/.test(token))
    throw usageError(
      'The token must have only letters, digits and ASCII signs: a header cannot carry others',
    );
  const { server, port, close } = await listen(address);
  const endpoint = new Endpoint(host, { ...options, address: { ...address, port } });
  const handler = toNodeHandler(endpoint, {
    maxRequestBodySize: BODY_LIMIT,
    // Clients may disconnect while sending.
    onerror: (error) => {
      if (!('code' in error && error.code === 'ECONNRESET')) host.log(`http: ${error.message}`);
    },
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    response.on('error', () => {});
    const problem = malformation(request);
    if (problem === undefined) void handler(request, response).catch(() => response.destroy());
    else response.writeHead(400, JSON_BODY).end(JSON.stringify(errorBody(problem, -32600)));
  });
  return {
    url: `http://${authority({ ...address, port })}/mcp`,
    /** Refuses new calls, lets running ones finish for a moment, cancels the rest, and closes. */
    close: () =>
      close(async () => {
        endpoint.draining = true;
        await host.idle(GRACE);
        await host.close();
        await endpoint.close();
      }),
  };
}

const JSON_BODY = { 'content-type': 'application/json', connection: 'close' };

/** Finds the problem of a request. Splits an absolute request target into Host header and path. */
function malformation(request: IncomingMessage): string | undefined {
  const { method = 'GET', url = '/', headers, rawHeaders } = request;
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length > 1) return 'The request has several Host headers; send one.';
  const target = readTarget(url, headers.host);
  if (!target)
    return 'The target or the Host header of the request is malformed; send a path, and the name and port of this server.';
  if (headers.host !== undefined) headers.host = target.host;
  request.url = target.path;
  return METHODS.includes(method) ? undefined : 'The request method is unknown; use POST, GET or DELETE.';
}

class Endpoint {
  readonly #host: McpHost;
  readonly #guard: Guard;
  readonly #sessions = new Map<string, Session>();
  readonly #handler: McpHttpHandler;
  draining = false;

  constructor(host: McpHost, options: GuardOptions) {
    this.#host = host;
    this.#guard = new Guard(options);
    const onerror = (error: Error) => {
      if (process.env.ANYVMAF_DEBUG) host.log(`http: ${error.message}`);
    };
    // Clients without sessions share a scope that lists no results: only the URI gives access.
    const shared = host.resources.scope(SHARED_OWNER);
    this.#handler = createMcpHandler(() => createServer(host, shared), {
      onerror,
      maxRequestBodySize: BODY_LIMIT,
    });
    host.jobs.hear((id, owner) => {
      if (shared.sees(owner)) this.#handler.notify.resourceUpdated(jobAddress(id));
    });
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.allSettled([...sessions, this.#handler].map((each) => each.close()));
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const origin = request.headers.get('origin');
    const refused = this.#guard.refuseSender({ host: request.headers.get('host'), origin });
    if (refused) return refuse(refused);
    const response = await this.#answer(request);
    if (origin === null) return response;
    const headers = new Headers(response.headers);
    for (const [name, value] of corsHeaders(origin, request)) headers.set(name, value);
    return new Response(response.body, { status: response.status, headers });
  };

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/health') {
      if (request.method !== 'GET' && request.method !== 'HEAD') return problem(405, 'Use GET.');
      const status = this.draining ? 'stopping' : 'ok';
      return Response.json({ status }, { status: this.draining ? 503 : 200 });
    }
    if (pathname !== '/mcp') return problem(404, 'Not found; the server answers at /mcp.');
    if (request.method === 'OPTIONS' && request.headers.has('origin'))
      return new Response(null, { status: 204 });
    const refused = this.#guard.refuseCall({ authorization: request.headers.get('authorization') });
    return refused ? refuse(refused) : this.#protocol(request);
  }

  async #protocol(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (request.method !== 'POST')
      return id === null ? this.#handler.fetch(request) : this.#inSession(id, request, undefined);
    const text = request.clone().text();
    const body = jsonOf(await text.catch(() => ''));
    if (body === undefined) return problem(400, 'The body is not JSON.', -32700);
    if (this.draining && Object(body).method === 'tools/call')
      return problem(503, 'The server is shutting down.');
    if (id !== null) return this.#inSession(id, request, body);
    if (isInitializeRequest(body)) return this.#open(request, body);
    return this.#handler.fetch(request, { parsedBody: body });
  }

  async #inSession(id: string, request: Request, body: unknown): Promise<Response> {
    const response = await this.#sessions.get(id)?.serve(request, body);
    return response ?? problem(404, 'Unknown session; initialize again.', -32001);
  }

  async #open(request: Request, body: unknown): Promise<Response> {
    this.#closeIdle();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        this.#sessions.set(id, session);
      },
      onsessionclosed: (id) => {
        this.#sessions.delete(id);
      },
    });
    const session = new Session(transport);
    await createServer(this.#host).connect(transport);
    const response = await session.serve(request, body);
    // The request opened no session.
    if (transport.sessionId === undefined) await transport.close();
    return response;
  }

  #closeIdle(): void {
    const idle = [...this.#sessions]
      .filter(([, { busy }]) => busy === 0)
      .sort(([, a], [, b]) => a.used - b.used);
    const tooMany = this.#sessions.size - MOST_SESSIONS + 1;
    for (const [i, [id, session]] of idle.entries()) {
      if (i >= tooMany && performance.now() - session.used < IDLE_TIME) return;
      this.#sessions.delete(id);
      void session.close();
    }
  }
}

function problem(status: number, message: string, code = -32000, headers: HeadersInit = {}): Response {
  return Response.json(errorBody(message, code), { status, headers });
}

function errorBody<Id = null>(message: string, code: number, id = null as Id) {
  return { jsonrpc: '2.0', id, error: { code, message } } as const;
}

function refuse({ status, sentence }: Refusal): Response {
  return problem(status, sentence, -32000, status === 401 ? { 'www-authenticate': 'Bearer' } : {});
}

function corsHeaders(origin: string, request: Request): [string, string][] {
  const wanted = request.headers.get('access-control-request-headers');
  const preflight = {
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-max-age': '600',
    ...(wanted !== null && { 'access-control-allow-headers': wanted }),
  };
  return Object.entries({
    'access-control-allow-origin': origin,
    vary: 'origin',
    'access-control-expose-headers': 'mcp-session-id, mcp-protocol-version, www-authenticate',
    ...(request.method === 'OPTIONS' && preflight),
  });
}

/** Most sessions; the least recently used one is closed first. */
const MOST_SESSIONS = 256;
/** Milliseconds until an unused session is closed. */
const IDLE_TIME = 30 * 60_000;
/** A comment that opens an event stream: headers are sent with the first bytes, and clients wait for them. */
const OPENING = new TextEncoder().encode(':\n\n');

type RequestId = string | number;

/** Requests of one body, answered on one event stream. */
interface Exchange {
  readonly open: Set<RequestId>;
  readonly cancelled: Set<RequestId>;
}

class Session {
  /** Number of pending requests and open event streams. */
  busy = 0;
  used = performance.now();
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #send: WebStandardStreamableHTTPServerTransport['send'];
  readonly #exchanges = new Map<RequestId, Exchange>();

  constructor(transport: WebStandardStreamableHTTPServerTransport) {
    this.#transport = transport;
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
    const exchange: Exchange = { open: new Set(ids), cancelled: new Set() };
    for (const id of ids) this.#exchanges.set(id, exchange);
    this.used = performance.now();
    this.busy++;
    const response = await this.#transport.handleRequest(
      request,
      body === undefined ? {} : { parsedBody: body },
    );
    for (const id of messages.flatMap(cancelledId)) this.#settle(id, true);
    let ended = false;
    let forget = () => {};
    const done = () => {
      if (ended) return;
      ended = true;
      forget();
      this.busy--;
      this.used = performance.now();
    };
    if (response.body === null) {
      done();
      return response;
    }
    const listening = request.method === 'GET' && response.ok;
    // Only now: the transport must know a request before it can cancel it.
    forget = onAbort(request.signal, () => {
      // Disconnecting before the answer cancels the call.
      for (const id of ids) this.#cancel(id);
      // Else the transport refuses the client's next stream until it writes to this one.
      if (listening) this.#transport.closeStandaloneSSEStream();
      done();
    });
    const isStream = response.headers.get('content-type') === 'text/event-stream';
    const tracked = response.body.pipeThrough(
      new TransformStream({
        start: (stream) => {
          if (isStream) stream.enqueue(OPENING);
        },
        flush: done,
      }),
    );
    return new Response(tracked, { status: response.status, headers: response.headers });
  }

  #cancel(id: RequestId): void {
    if (!this.#exchanges.get(id)?.open.has(id)) return;
    const message = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } } as const;
    this.#transport.onmessage?.(message);
    this.#settle(id, true);
  }

  /** Settles a request; the transport ends a stream only if all its requests are answered. */
  #settle(id: RequestId, cancelled: boolean): void {
    const exchange = this.#exchanges.get(id);
    if (!exchange?.open.delete(id)) return;
    this.#exchanges.delete(id);
    if (cancelled) exchange.cancelled.add(id);
    if (exchange.open.size > 0 || exchange.cancelled.size === 0) return;
    for (const missing of exchange.cancelled) this.#transport.closeSSEStream(missing);
    // The stream has ended; the transport only drops the request.
    for (const missing of exchange.cancelled)
      void this.#send(errorBody('The request was cancelled.', -32000, missing)).catch(() => {});
  }
}

function requestId(message: unknown): RequestId[] {
  const { method, id } = Object(message);
  return method === undefined ? [] : idOf(id);
}

function cancelledId(message: unknown): RequestId[] {
  const { method, params } = Object(message);
  return method === 'notifications/cancelled' ? idOf(Object(params).requestId) : [];
}

const idOf = (id: unknown): RequestId[] => (typeof id === 'string' || typeof id === 'number' ? [id] : []);
