/**
 * @module mcp/sessions
 * Connections of clients that speak the protocols before 2026-07-28: they begin with `initialize` and carry on with a
 * session id, by which a cancellation finds the call that it means.
 */
import { randomUUID } from 'node:crypto';
import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

/** Sessions kept; the one unused for longest goes first. */
const MOST_SESSIONS = 100;

/** Milliseconds after which an unused session is forgotten. */
const IDLE_TIME = 30 * 60_000;

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Requests being answered. */
  busy: number;
  used: number;
}

/** All sessions of a server. */
export class Sessions {
  readonly #byId = new Map<string, Session>();
  readonly #makeServer: () => Server;
  readonly #now: () => number;

  /** @param now milliseconds that only rise */
  constructor(makeServer: () => Server, now: () => number = () => performance.now()) {
    this.#makeServer = makeServer;
    this.#now = now;
  }

  /** Sessions open. */
  get size(): number {
    return this.#byId.size;
  }

  /** Answers the request that opens a session. */
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
    const session: Session = { transport, busy: 0, used: this.#now() };
    await this.#makeServer().connect(transport);
    const response = await this.#serve(session, request, body);
    // What did not become a session is over.
    if (transport.sessionId === undefined) await transport.close();
    return response;
  }

  /** Answers a request of a session, `undefined` where there is no such session. */
  async serve(id: string, request: Request, body: unknown): Promise<Response | undefined> {
    const session = this.#byId.get(id);
    return session && this.#serve(session, request, body);
  }

  /** Ends every session; their calls are cancelled. */
  async close(): Promise<void> {
    const sessions = [...this.#byId.values()];
    this.#byId.clear();
    await Promise.allSettled(sessions.map(({ transport }) => transport.close()));
  }

  async #serve(session: Session, request: Request, body: unknown): Promise<Response> {
    const { transport } = session;
    session.used = this.#now();
    session.busy++;
    const ids = requestIds(body);
    // Whoever hangs up before the answer does not want it any more, and cannot say so.
    const hangUp = () => {
      for (const requestId of ids) {
        transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
        transport.closeSSEStream(requestId);
      }
      done();
    };
    const done = () => {
      request.signal.removeEventListener('abort', hangUp);
      session.busy--;
      session.used = this.#now();
    };
    request.signal.addEventListener('abort', hangUp, { once: true });
    const response = await transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
    if (response.body === null || ids.length === 0) {
      done();
      return response;
    }
    const watched = response.body.pipeThrough(new TransformStream({ flush: done }));
    return new Response(watched, { status: response.status, headers: response.headers });
  }

  #sweep(): void {
    const idle = [...this.#byId].filter(([, { busy }]) => busy === 0).sort(([, a], [, b]) => a.used - b.used);
    const tooMany = this.#byId.size - MOST_SESSIONS + 1;
    for (const [i, [id, { transport, used }]] of idle.entries()) {
      if (i >= tooMany && this.#now() - used < IDLE_TIME) return;
      this.#byId.delete(id);
      void transport.close();
    }
  }
}

/** Ids of the requests in a body that may be a message or several. */
function requestIds(body: unknown): (string | number)[] {
  return [body].flat().flatMap((message: unknown) => {
    if (message === null || typeof message !== 'object' || !('method' in message) || !('id' in message))
      return [];
    const { id } = message;
    return typeof id === 'string' || typeof id === 'number' ? [id] : [];
  });
}
