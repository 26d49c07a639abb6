/**
 * @module mcp/live/transports/streamable
 * The protocol's Streamable HTTP: requests are answered in place, notifications go to a stream that the client opens.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { jsonOf } from '../../../core/arguments.js';
import type { Hub } from '../hub.js';
import { Session } from '../session/session.js';
import { bodyOf, EventStreams, goneOf, json, problem } from './answers.js';

/** Sessions at the same time; the one that was used least recently goes. */
const MOST_SESSIONS = 256;
const NO_SESSION = -32001;

interface Client {
  readonly session: Session;
  readonly streams: EventStreams;
}

/** The sessions of clients. */
export class Streamable {
  readonly #hub: Hub;
  /** The one used last is the last. */
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
    if (id !== undefined && !client) {
      problem(response, 404, 'There is no such session; initialize again.', NO_SESSION);
      return;
    }
    if (request.method === 'POST') await this.#post(request, response, client);
    else if (request.method === 'GET' && client)
      client.streams.open(response, ':\n\n', textOf(request.headers['last-event-id']));
    else if (request.method === 'DELETE' && id !== undefined) {
      this.#end(id);
      response.writeHead(204).end();
    } else problem(response, 405, 'Use POST, or GET and DELETE with a session.');
  }

  async #post(request: IncomingMessage, response: ServerResponse, client: Client | undefined): Promise<void> {
    const body = await bodyOf(request, response);
    if (body === undefined) return;
    const opened = client === undefined && isInitialize(body) ? this.#open() : undefined;
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

function isInitialize(body: string): boolean {
  return Object(jsonOf(body)).method === 'initialize';
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}
