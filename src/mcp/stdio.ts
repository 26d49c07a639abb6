/**
 * @module mcp/stdio
 * The server on standard input and output: one JSON-RPC message per line. Answers malformed lines with an error.
 */
import type { Readable, Writable } from 'node:stream';
import {
  type JSONRPCMessage,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { onAbort } from '../core/abort.js';
import { jsonOf } from '../core/arguments.js';
import { LineSplitter } from './framing.js';
import type { McpHost } from './host.js';
import { LOCAL_OWNER } from './resources.js';
import { createServer } from './server.js';

export const MESSAGE_LIMIT = 4 << 20;

/** Milliseconds for pending calls to finish after the end of the input. */
const FLUSH_TIME = 150;
/** The only version of the protocol with batches. */
const BATCH_VERSION = '2025-03-26';
const MAX_BATCH = 100;
/** Most messages to pass on without an answer, and milliseconds after which as many more follow anyway. */
const MAX_AHEAD = 64;
const PATIENCE = 20;

type Id = string | number;

/** Requests of one line, whose answers are one line. */
interface Batch {
  readonly answers: unknown[];
  missing: number;
}

interface ErrorMessage {
  readonly jsonrpc: '2.0';
  readonly id: Id | null;
  readonly error: { readonly code: number; readonly message: string };
}

export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #splitter: LineSplitter;
  /** Pending requests, with their batches. */
  readonly #open = new Map<Id, Batch | undefined>();
  /** Lines not passed on yet. */
  readonly #waiting: string[] = [];
  /** Messages that may be passed on now. */
  #ahead = MAX_AHEAD;
  #handing = false;
  #patience: NodeJS.Timeout | undefined;
  #version: unknown;
  #ending: NodeJS.Timeout | undefined;
  #closed = false;
  #resolveEnded = () => {};
  /** Resolves once either side has closed the transport. */
  readonly ended = new Promise<void>((resolve) => {
    this.#resolveEnded = resolve;
  });

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
    this.#splitter = new LineSplitter(MESSAGE_LIMIT, {
      line: (text) => this.#waiting.push(text),
      tooLong: (head, tail) => {
        const problem = `A message has more than ${MESSAGE_LIMIT} bytes.`;
        this.#sendError(idAtEdge(head, tail), ProtocolErrorCode.InvalidRequest, problem);
      },
    });
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onEnd);
    this.#input.on('error', this.#onEnd);
    this.#output.on('error', this.#onGone).on('drain', this.#handOver);
    if (this.#input.readableEnded || this.#input.destroyed) this.#onEnd();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return;
    if ('result' in message) this.#version = Object(message.result).protocolVersion ?? this.#version;
    await ('method' in message ? this.#write(message) : this.#settle(message.id ?? null, message));
    if (this.#ending !== undefined && this.#open.size === 0) await this.close();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#ending);
    clearTimeout(this.#patience);
    this.#input.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onEnd);
    this.#input.off('error', this.#onEnd);
    this.#output.off('drain', this.#handOver);
    this.#input.pause();
    this.onclose?.();
    this.#resolveEnded();
  }

  readonly #onData = (chunk: Buffer | string) => {
    this.#splitter.push(Buffer.from(chunk));
    this.#handOver();
  };

  /**
   * Passes on few more lines than are answered, and none while the client does not read its answers, which would
   * pile up in memory. Pauses the input meanwhile.
   */
  readonly #handOver = () => {
    if (this.#handing) return;
    this.#handing = true;
    while (this.#waiting.length > 0 && this.#ahead > 0 && !this.#output.writableNeedDrain) {
      this.#ahead--;
      this.#receive(this.#waiting.shift() ?? '');
    }
    this.#handing = false;
    if (this.#closed) return;
    if (this.#waiting.length === 0) {
      if (this.#input.isPaused() && !this.#output.writableNeedDrain) this.#input.resume();
      return;
    }
    this.#input.pause();
    if (this.#output.writableNeedDrain) return;
    this.#patience ??= setTimeout(() => {
      this.#patience = undefined;
      this.#ahead = MAX_AHEAD;
      this.#handOver();
    }, PATIENCE);
  };

  /** Sends answers that are almost ready, then cancels other calls. */
  readonly #onEnd = () => {
    this.#splitter.end();
    for (const line of this.#waiting.splice(0)) this.#receive(line);
    if (this.#open.size === 0) void this.close();
    else this.#ending ??= setTimeout(() => void this.close(), FLUSH_TIME);
  };

  readonly #onGone = () => void this.close();

  #receive(text: string): void {
    if (text.trim() === '' || this.#closed) return;
    const data = jsonOf(text);
    if (data === undefined) this.#sendError(null, ProtocolErrorCode.ParseError, 'A line is not JSON.');
    else if (Array.isArray(data)) this.#receiveBatch(data);
    else this.#receiveMessage(data);
  }

  #receiveBatch(messages: readonly unknown[]): void {
    if (this.#version !== BATCH_VERSION || messages.length === 0 || messages.length > MAX_BATCH) {
      const why =
        this.#version === BATCH_VERSION
          ? `A batch has ${messages.length} messages; it must have 1 to ${MAX_BATCH}.`
          : `Only version ${BATCH_VERSION} of the protocol has batches; send one message per line.`;
      this.#sendError(null, ProtocolErrorCode.InvalidRequest, why);
      return;
    }
    // A repeated id counts once: its first answer ends it.
    const ids = new Set(
      messages.flatMap((message) => ('method' in Object(message) ? (idOf(message) ?? []) : [])),
    );
    const batch: Batch = { answers: [], missing: ids.size };
    for (const id of ids) this.#open.set(id, batch);
    for (const message of messages) this.#receiveMessage(message);
  }

  /** Ends a request, without an answer if it was cancelled. */
  async #settle(id: Id | null, answer?: JSONRPCMessage | ErrorMessage): Promise<void> {
    const batch = id === null ? undefined : this.#open.get(id);
    if (id !== null) this.#open.delete(id);
    if (!batch) return answer && this.#write(answer);
    if (answer) batch.answers.push(answer);
    batch.missing--;
    if (batch.missing === 0 && batch.answers.length > 0) await this.#write(batch.answers);
  }

  #receiveMessage(data: unknown): void {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(data);
    } catch {
      const [code, problem] = isMessageButParams(data)
        ? [
            ProtocolErrorCode.InvalidParams,
            'The params of a message must be an object, and so must their _meta.',
          ]
        : [ProtocolErrorCode.InvalidRequest, 'A line is not a JSON-RPC 2.0 message.'];
      this.#sendError(idOf(data), code, problem);
      return;
    }
    if ('method' in message && 'id' in message) this.#open.set(message.id, this.#open.get(message.id));
    else if ('method' in message && message.method === 'notifications/cancelled')
      void this.#settle(idOf({ id: message.params?.requestId }));
    this.onmessage?.(message);
  }

  #sendError(id: ErrorMessage['id'], code: number, message: string): void {
    void this.#settle(id, { jsonrpc: '2.0', id, error: { code, message } });
  }

  #write(message: JSONRPCMessage | ErrorMessage | readonly unknown[]): Promise<void> {
    return new Promise((resolve) => {
      this.#output.write(`${JSON.stringify(message)}\n`, () => resolve());
      if (this.#output.writableNeedDrain) this.#input.pause();
      this.#ahead = Math.min(MAX_AHEAD, this.#ahead + 1);
      if (this.#waiting.length > 0) this.#handOver();
    });
  }
}

const ID = '"id"\\s*:\\s*(-?\\d{1,15}|"[^"\\\\]{0,100}")';
const OTHERS = '(?:"(?:jsonrpc|method)"\\s*:\\s*"[^"\\\\]{0,100}"\\s*,\\s*)*';
const AT_HEAD = new RegExp(`^\\s*\\{\\s*${OTHERS}${ID}`);
/** The last brace closes the message itself, so an id before it is the message's. */
const AT_TAIL = new RegExp(
  `[,{]\\s*${ID}\\s*(?:,\\s*"(?:jsonrpc|method)"\\s*:\\s*"[^"\\\\]{0,100}"\\s*)*\\}$`,
);

/** The id of a message whose middle is missing. */
function idAtEdge(head: string, tail: string): ErrorMessage['id'] {
  const found = (AT_HEAD.exec(head) ?? AT_TAIL.exec(tail))?.[1];
  return found === undefined ? null : (JSON.parse(found) as Id);
}

/** True if only the params of a message are invalid. */
function isMessageButParams(data: unknown): boolean {
  try {
    parseJSONRPCMessage({ ...Object(data), params: {} });
    return true;
  } catch {
    return false;
  }
}

function idOf(data: unknown): ErrorMessage['id'] {
  const { id } = Object(data);
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Serves until the input ends, the output closes, or the signal aborts. */
export async function serveLines(
  host: McpHost,
  input: Readable,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  const transport = new LineTransport(input, output);
  const handle = serveStdio(() => createServer(host, host.resources.scope(LOCAL_OWNER)), { transport });
  const forget = onAbort(signal, () => void handle.close());
  await transport.ended;
  forget();
}
