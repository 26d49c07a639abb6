/**
 * @module mcp/live/transports/quick
 * The short way of HTTP for clients that ask often: plain requests to one path, each of which `node:http` would spend more time
 * on than their answers take, beside a measurement that wants the machine. All else, and all that is in the least unusual, is
 * left to `node:http`, whatever its connection did before.
 */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { MESSAGE_LIMIT } from '../framing.js';
import { BACKLOG } from './connection.js';

/** Bytes of a request's head. */
const HEAD_LIMIT = 4096;
/** Bytes that a client may send ahead of its answers. */
const AHEAD = HEAD_LIMIT + MESSAGE_LIMIT;
const END = Buffer.from('\r\n\r\n');

/** Headers that change what a request means; `node:http` knows how. */
const UNUSUAL = new Set(['expect', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'last-event-id']);

/** What the way needs to know. */
export interface QuickOptions {
  /** The path of its requests. */
  readonly path: string;
  /** Whether a sender may call. */
  readonly allows: (request: Pick<IncomingMessage, 'headers' | 'url'>) => boolean;
  /** Answers a body; `undefined` for what has no answer. */
  readonly answer: (body: string) => Promise<string | undefined>;
  /** Called after an answer was sent. */
  readonly answered: (reply: string) => void;
  /** Has `node:http` serve a connection from now on. */
  readonly leave: (socket: Socket) => void;
  /** Milliseconds within which a request must arrive, and that a connection may be idle. */
  readonly arrival: number;
  readonly idle: number;
}

/** The connections that go the short way. */
export class QuickWay {
  readonly #options: QuickOptions;
  readonly #connections = new Set<QuickConnection>();

  constructor(options: QuickOptions) {
    this.#options = options;
  }

  /** Serves a new connection. */
  take(socket: Socket): void {
    const connection = new QuickConnection(socket, this.#options, () => this.#connections.delete(connection));
    this.#connections.add(connection);
  }

  /** Ends connections as soon as their answers are sent. */
  finish(): void {
    for (const connection of this.#connections) connection.finish();
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}

/** A head that was read: clients that ask again send the same bytes. */
interface Head {
  readonly bytes: Buffer;
  /** Bytes of the body. */
  readonly length: number;
}

class QuickConnection {
  readonly #socket: Socket;
  readonly #options: QuickOptions;
  readonly #over: () => void;
  #head: Head | undefined;
  /** What has arrived and is not answered. */
  #pending: Buffer | undefined;
  #answering = false;
  /** Whether it ends with the next answer, and whether the client has said all. */
  #finishing = false;
  #ended = false;
  #late: NodeJS.Timeout | undefined;

  constructor(socket: Socket, options: QuickOptions, over: () => void) {
    this.#socket = socket;
    this.#options = options;
    this.#over = over;
    socket.on('data', this.#take).on('error', this.#fail).on('close', this.#gone).on('timeout', this.#fail);
    socket.on('end', this.#end).setTimeout(options.arrival);
  }

  finish(): void {
    this.#finishing = true;
    if (!this.#answering) this.#socket.destroySoon();
  }

  close(): void {
    this.#socket.destroy();
  }

  readonly #take = (chunk: Buffer): void => {
    this.#pending = this.#pending ? Buffer.concat([this.#pending, chunk]) : chunk;
    if (this.#answering && this.#pending.length > AHEAD) this.#socket.pause();
    this.#next();
  };

  /** Sockets of `node:http` stay half open. */
  readonly #end = (): void => {
    this.#ended = true;
    this.#endWhenDone();
  };

  readonly #fail = (): void => {
    if (!this.#answering) this.#socket.destroy();
  };

  readonly #gone = (): void => {
    clearTimeout(this.#late);
    this.#over();
  };

  /** Answers the next request that is whole. */
  #next(): void {
    const pending = this.#pending;
    if (this.#answering || !pending || this.#socket.destroyed) return;
    const head = this.#headOf(pending);
    if (!head) {
      this.#leave(pending);
      return;
    }
    const end = head.bytes.length + head.length;
    if (pending.length < end) {
      this.#late ??= setTimeout(() => this.#socket.destroy(), this.#options.arrival);
      return;
    }
    clearTimeout(this.#late);
    this.#late = undefined;
    const body = pending.toString('utf8', head.bytes.length, end);
    this.#pending = pending.length > end ? pending.subarray(end) : undefined;
    this.#answering = true;
    void this.#answer(body);
  }

  async #answer(body: string): Promise<void> {
    const { answer, answered, idle } = this.#options;
    let reply: string | undefined;
    try {
      reply = await answer(body);
    } catch {
      this.#socket.destroy();
      return;
    }
    this.#answering = false;
    if (this.#socket.destroyed) return;
    this.#socket.write(responseText(reply, this.#finishing, idle));
    if (reply !== undefined) answered(reply);
    // A client that does not read is dropped.
    if (this.#socket.writableLength > BACKLOG) this.#socket.destroy();
    else if (this.#finishing) this.#socket.destroySoon();
    else {
      this.#socket.setTimeout(idle).resume();
      this.#next();
      this.#endWhenDone();
    }
  }

  #endWhenDone(): void {
    if (this.#ended && !this.#answering) this.#socket.destroySoon();
  }

  /** The head of a request that goes the short way. */
  #headOf(bytes: Buffer): Head | undefined {
    const known = this.#head;
    if (
      known &&
      bytes.length >= known.bytes.length &&
      bytes.compare(known.bytes, 0, known.bytes.length, 0, known.bytes.length) === 0
    )
      return known;
    this.#head = readHead(bytes, this.#options);
    return this.#head;
  }

  /** Hands the connection over, with what it said. */
  #leave(pending: Buffer): void {
    const socket = this.#socket;
    socket
      .off('data', this.#take)
      .off('error', this.#fail)
      .off('close', this.#gone)
      .off('timeout', this.#fail)
      .off('end', this.#end);
    this.#gone();
    socket.setTimeout(0);
    socket.pause();
    socket.unshift(pending);
    this.#options.leave(socket);
    socket.resume();
  }
}

/** Reads a head that is whole and has nothing unusual. */
function readHead(bytes: Buffer, { path, allows }: QuickOptions): Head | undefined {
  const end = bytes.subarray(0, HEAD_LIMIT).indexOf(END);
  if (end < 0) return undefined;
  const [first, ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  if (first !== `POST ${path} HTTP/1.1`) return undefined;
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name = '', value = ''] = /^([\w-]{1,64}): ([\x20-\x7e]*)$/.exec(line) ?? [];
    const key = name.toLowerCase();
    if (key === '' || UNUSUAL.has(key) || Object.hasOwn(headers, key)) return undefined;
    headers[key] = value;
  }
  const { host, connection = 'keep-alive', 'content-length': length = '' } = headers;
  const usual = host !== undefined && connection.toLowerCase() === 'keep-alive' && /^\d{1,5}$/.test(length);
  if (!usual || Number(length) > MESSAGE_LIMIT || !allows({ headers, url: path })) return undefined;
  // A copy: the bytes are part of what the socket read.
  return { bytes: Buffer.from(bytes.subarray(0, end + END.length)), length: Number(length) };
}

function responseText(reply: string | undefined, last: boolean, idle: number): string {
  const status = reply === undefined ? 204 : 200;
  const kept = last ? 'close' : `keep-alive\r\nKeep-Alive: timeout=${Math.floor(idle / 1000)}`;
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nDate: ${date()}\r\nConnection: ${kept}\r\n`;
  if (reply === undefined) return `${head}\r\n`;
  const length = Buffer.byteLength(reply);
  return `${head}Content-Type: application/json\r\nContent-Length: ${length}\r\nCache-Control: no-store\r\n\r\n${reply}`;
}

let second = 0;
let text = '';

/** The time as headers have it; it has whole seconds. */
function date(): string {
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) {
    second = now;
    text = new Date(1000 * now).toUTCString();
  }
  return text;
}
