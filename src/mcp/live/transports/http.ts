/**
 * @module mcp/live/transports/http
 * HTTP on 127.0.0.1: events and requests at one path, Streamable HTTP at `/mcp`, and an optional page. Event
 * streams (SSE) replay their latest events to clients that reconnect.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { jsonOf } from '../../../core/arguments.js';
import { usageError } from '../../../core/errors.js';
import { quoted, showValue } from '../../../core/printable.js';
import type { Listening } from '../../../live/link.js';
import { MESSAGE_LIMIT } from '../../framing.js';
import { Guard, listen, readTarget } from '../../guard.js';
import { type Hub, type LiveEvent, storyOf } from '../hub.js';
import { BACKLOG, CODE, failed, Session } from '../session.js';
import type { Listener } from './streams.js';

const HOST = '127.0.0.1';
const DEFAULT_PATH = '/mcp/sse';
/** Milliseconds that a connection may idle between requests. */
const IDLE = 5000;
const MOST_CONNECTIONS = 1024;

/** @throws {AnyvmafError} `usage` for a wrong port or path, `io` if the port cannot be bound */
export async function serveHttpStream(
  hub: Hub,
  { port, path = DEFAULT_PATH, dashboard = false }: Listening & { readonly transport: 'sse' },
): Promise<Listener> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw usageError(`port is ${showValue(port)}, but it must be a whole number from 0 to 65535.`);
  if (typeof path !== 'string' || !/^\/[\w./-]{1,100}$/.test(path) || path === '/mcp' || path === '/history')
    throw usageError(
      `path is ${showValue(path)}, but it must be / and 1 to 100 letters, digits and _ . / -, and differ from /mcp and /history.`,
    );
  const { server, port: own, close } = await listen({ host: HOST, port }, { keepAliveTimeout: IDLE });
  server.maxConnections = MOST_CONNECTIONS;
  const door = new Door(hub, own, path, dashboard);
  server.on('request', (request, response) => void door.answer(request, response));
  return {
    address: `http://${HOST}:${own}${path}`,
    close: () => close(() => door.close()),
  };
}

class Door {
  readonly #hub: Hub;
  readonly #guard: Guard;
  readonly #path: string;
  readonly #dashboard: boolean;
  readonly #streams = new EventStreams();
  readonly #streamable: Streamable;
  /** Streams by the id in their clients' POST URLs. */
  readonly #own = new Map<string, EventStream>();
  /** Answers POSTs without a stream. */
  readonly #session: Session;
  readonly #forget: () => void;

  constructor(hub: Hub, port: number, path: string, dashboard: boolean) {
    this.#hub = hub;
    this.#path = path;
    this.#dashboard = dashboard;
    this.#guard = new Guard({ address: { host: HOST, port }, token: undefined, origins: [] });
    this.#session = new Session(hub, (text) => this.#streams.send('message', text), true);
    this.#streamable = new Streamable(hub);
    this.#forget = hub.listen((event) => this.#tell(event));
  }

  close(): void {
    this.#forget();
    this.#session.close();
    for (const { session } of this.#own.values()) session?.close();
    this.#streamable.close();
    this.#streams.close();
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => response.destroy());
    try {
      const refusal = this.#refusal(request);
      if (refusal) problem(response, 403, refusal);
      else await this.#route(request, response);
    } catch {
      response.destroy();
    }
  }

  /** Refuses pages of other origins, and requests under another host name. */
  #refusal({ headers, url = '/' }: IncomingMessage): string | undefined {
    const host = readTarget(url, headers.host)?.host ?? null;
    const origin = headers.origin ?? null;
    if (this.#guard.refuseSender({ host, origin: null }))
      return 'The Host header does not name this server; use 127.0.0.1 or localhost.';
    if (origin !== null && !this.#guard.allowsOrigin(origin))
      return `Pages of the origin ${quoted(origin.slice(0, 200))} may not call this server.`;
    return undefined;
  }

  #route(request: IncomingMessage, response: ServerResponse): Promise<void> | void {
    const { method, url = '/', headers } = request;
    const path = (readTarget(url, headers.host)?.path ?? '').replace(/\?.*$/s, '');
    if (path === '/mcp') return this.#streamable.answer(request, response);
    if (path === this.#path && method === 'GET') return this.#stream(request, response);
    if (path === this.#path && method === 'POST') {
      const id = /[?&]session=([\w-]{1,64})/.exec(url)?.[1];
      return id === undefined ? this.#post(request, response) : this.#postToStream(id, request, response);
    }
    if (path === '/' && method === 'GET') return this.#front(request, response);
    if (path === '/history' && method === 'GET' && this.#dashboard)
      return json(response, 200, JSON.stringify(this.#hub.measurements.map(storyOf)));
    if (path === this.#path) return problem(response, 405, 'Use GET or POST.');
    return problem(response, 404, `Not found; the server answers at ${this.#path}.`);
  }

  #stream(request: IncomingMessage, response: ServerResponse): void {
    const ready = JSON.stringify({ transport: 'sse', version: 4, path: this.#path });
    const id = randomUUID();
    const hello =
      `: anyvmaf live\n\nevent: ready\ndata: ${ready}\n\n` +
      `event: endpoint\ndata: ${this.#path}?session=${id}\n\n`;
    const stream = this.#streams.open(response, hello, request.headers['last-event-id']);
    if (!stream) return;
    this.#own.set(id, stream);
    response.on('close', () => {
      stream.session?.close();
      this.#own.delete(id);
    });
  }

  /** Answers in the client's stream, as the HTTP+SSE transport of 2024 requires. */
  async #postToStream(id: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const stream = this.#own.get(id);
    if (!stream) return problem(response, 404, 'The stream is closed; open another one.');
    stream.session ??= new Session(this.#hub, (text) => this.#streams.sendTo(stream, text));
    const body = await bodyOf(request, response);
    if (body === undefined) return;
    response.writeHead(202).end();
    const reply = await stream.session.answer(body);
    if (reply !== undefined) this.#streams.sendTo(stream, reply);
  }

  /** Answers in the response, and on the streams. */
  async #post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request, response);
    if (body === undefined) return;
    const reply = await this.#session.answer(body, goneOf(response));
    if (reply === undefined) return void response.writeHead(204).end();
    json(response, 200, reply);
    // Drop clients that do not read.
    response.setTimeout(IDLE);
    this.#streams.send('message', reply);
  }

  async #front(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const wantsPage = /\btext\/html\b/.test(request.headers.accept ?? '');
    const dashboard = this.#dashboard;
    if (!dashboard || !wantsPage) {
      const about = { server: 'vmaf-mcp', transport: 'sse', path: this.#path, mcp: '/mcp', dashboard };
      return json(response, 200, JSON.stringify(about));
    }
    const { dashboardPage, PAGE_POLICY } = await import('../dashboard/page.js');
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PAGE_POLICY };
    response.writeHead(200, { ...headers, 'cache-control': 'no-store' }).end(dashboardPage(this.#path));
  }

  #tell({ kind, measurement, data }: LiveEvent): void {
    this.#streams.send(kind, JSON.stringify({ measurement: measurement.name, ...data }));
  }
}

const MOST_SESSIONS = 256;
const NO_SESSION = -32001;

interface Client {
  readonly session: Session;
  readonly streams: EventStreams;
}

class Streamable {
  readonly #hub: Hub;
  /** By id, least recently used first. */
  readonly #clients = new Map<string, Client>();
  /** Answers requests without a session. */
  readonly #bare: Session;

  constructor(hub: Hub) {
    this.#hub = hub;
    this.#bare = new Session(hub, () => {}, true);
  }

  close(): void {
    this.#bare.close();
    for (const id of [...this.#clients.keys()]) this.#end(id);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const given = request.headers['mcp-session-id'];
    const id = typeof given === 'string' ? given : undefined;
    const client = id === undefined ? undefined : this.#use(id);
    if (id !== undefined && !client)
      return problem(response, 404, 'Unknown session; initialize again.', NO_SESSION);
    if (request.method === 'POST') await this.#post(request, response, client);
    else if (request.method === 'GET' && client)
      client.streams.open(response, ':\n\n', request.headers['last-event-id']);
    else if (request.method === 'DELETE' && id !== undefined) {
      this.#end(id);
      response.writeHead(204).end();
    } else problem(response, 405, 'Use POST, or GET and DELETE with a session.');
  }

  async #post(request: IncomingMessage, response: ServerResponse, client: Client | undefined): Promise<void> {
    const body = await bodyOf(request, response);
    if (body === undefined) return;
    const opened = !client && Object(jsonOf(body)).method === 'initialize' ? this.#open() : undefined;
    if (opened) response.setHeader('mcp-session-id', opened.id);
    const session = (opened?.client ?? client)?.session ?? this.#bare;
    const reply = await session.answer(body, goneOf(response));
    if (reply === undefined) response.writeHead(202).end();
    else json(response, 200, reply);
  }

  #open(): { readonly id: string; readonly client: Client } {
    const [oldest] = this.#clients.keys();
    if (this.#clients.size >= MOST_SESSIONS && oldest !== undefined) this.#end(oldest);
    const streams = new EventStreams();
    const session = new Session(this.#hub, (text) => streams.send('message', text));
    const client = { session, streams };
    const id = randomUUID();
    this.#clients.set(id, client);
    return { id, client };
  }

  #use(id: string): Client | undefined {
    const client = this.#clients.get(id);
    if (client) {
      this.#clients.delete(id);
      this.#clients.set(id, client);
    }
    return client;
  }

  #end(id: string): void {
    const client = this.#clients.get(id);
    this.#clients.delete(id);
    client?.session.close();
    client?.streams.close();
  }
}

/** The body of a request; `undefined` if it was refused or the client left. */
function bodyOf(request: IncomingMessage, response: ServerResponse): Promise<string | undefined> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let bytes = Number(request.headers['content-length'] ?? 0) > MESSAGE_LIMIT ? MESSAGE_LIMIT + 1 : 0;
    const refuse = () => {
      request.off('data', take);
      response.setHeader('connection', 'close');
      problem(response, 400, `The body has more than ${MESSAGE_LIMIT} bytes.`);
      resolve(undefined);
    };
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MESSAGE_LIMIT) refuse();
      else parts.push(chunk);
    };
    if (bytes > MESSAGE_LIMIT) return refuse();
    // Listeners cost less than an iterator; clients may poll often.
    request.on('data', take);
    request.once('end', () => resolve(Buffer.concat(parts).toString('utf8')));
    request.once('close', () => resolve(undefined));
  });
}

/** Aborts when the client disconnects. */
function goneOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort());
  return controller.signal;
}

function json(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
    })
    .end(text);
}

function problem(response: ServerResponse, status: number, message: string, code = CODE.request): void {
  json(response, status, JSON.stringify(failed(null, code, message)));
}

/** Most events to keep, and most characters of them. */
const KEPT = 512;
const KEPT_CHARACTERS = 4 << 20;
const MOST_STREAMS = 256;
/** Milliseconds between comments that keep connections open and reveal lost ones. */
const HEARTBEAT = 15_000;

interface EventStream {
  readonly response: ServerResponse;
  /** Bytes of replayed events that the client has yet to read. */
  replayed: number;
  /** Opened by the first POST. Then the stream gets no answers to others, which the client would take for its own. */
  session?: Session;
}

export class EventStreams {
  readonly #streams = new Set<EventStream>();
  readonly #events: { readonly id: number; readonly text: string }[] = [];
  #characters = 0;
  #next = 1;
  readonly #heartbeat = setInterval(() => this.#write(':\n\n'), HEARTBEAT).unref();

  /**
   * @param hello first event, without a number
   * @param lastId the client's last event; later ones are replayed
   * @returns `undefined` if the request was refused: too many streams
   */
  open(response: ServerResponse, hello: string, lastId: unknown): EventStream | undefined {
    if (this.#streams.size >= MOST_STREAMS) {
      response.writeHead(503, { 'content-type': 'text/plain' }).end('too many streams\n');
      return undefined;
    }
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      connection: 'keep-alive',
    });
    response.write(hello);
    const after = /^\d{1,15}$/.test(String(lastId)) ? Number(lastId) : Number.POSITIVE_INFINITY;
    for (const event of this.#events) if (event.id > after) response.write(event.text);
    const stream: EventStream = { response, replayed: response.writableLength };
    this.#streams.add(stream);
    response.on('drain', () => {
      stream.replayed = 0;
    });
    response.on('close', () => this.#streams.delete(stream)).on('error', () => response.destroy());
    return stream;
  }

  /** Sends an unnumbered message, which is not replayed, to one stream. */
  sendTo(stream: EventStream, data: string): void {
    if (this.#streams.has(stream)) writeTo(stream, `event: message\ndata: ${data}\n\n`);
  }

  send(name: string, data: string): void {
    const id = this.#next++;
    // One data line is enough: JSON has no line ends.
    const text = `event: ${name}\nid: ${id}\ndata: ${data}\n\n`;
    this.#events.push({ id, text });
    this.#characters += text.length;
    while (this.#events.length > KEPT || this.#characters > KEPT_CHARACTERS)
      this.#characters -= this.#events.shift()?.text.length ?? 0;
    this.#write(text, name === 'message');
  }

  close(): void {
    clearInterval(this.#heartbeat);
    for (const { response } of this.#streams) response.end();
  }

  #write(text: string, isMessage = false): void {
    for (const stream of this.#streams) if (!isMessage || !stream.session) writeTo(stream, text);
  }
}

function writeTo({ response, replayed }: EventStream, text: string): void {
  response.write(text);
  // Drop clients that do not read.
  if (response.writableLength > BACKLOG + replayed) response.destroy();
}
