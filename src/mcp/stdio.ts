/**
 * @module mcp/stdio
 * The server on standard input and output: one JSON-RPC message per line. A line that is not a message is answered with
 * an error.
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
import type { McpHost } from './host.js';
import { LineSplitter } from './lines.js';
import { createServer } from './server.js';

/** Bytes of one message. */
export const MESSAGE_LIMIT = 4 << 20;

/** Milliseconds that running calls get after the input has ended, before they are cancelled. */
const FLUSH_TIME = 150;

/** The answer to an invalid message. */
interface ErrorMessage {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string };
}

/** Lines of JSON over two streams. */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #splitter: LineSplitter;
  /** Requests not answered yet. */
  readonly #open = new Set<string | number>();
  #ending: NodeJS.Timeout | undefined;
  #closed = false;
  #resolveEnded = () => {};
  /** Resolves when the transport is closed, by whichever side. */
  readonly ended = new Promise<void>((resolve) => {
    this.#resolveEnded = resolve;
  });

  constructor(input: Readable, output: Writable, limit = MESSAGE_LIMIT) {
    this.#input = input;
    this.#output = output;
    this.#splitter = new LineSplitter(limit, {
      line: (text) => this.#receive(text),
      tooLong: () =>
        this.#sendError(null, ProtocolErrorCode.InvalidRequest, `A message has more than ${limit} bytes.`),
    });
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onEnd);
    this.#input.on('error', this.#onEnd);
    this.#output.on('error', this.#onGone);
    if (this.#input.readableEnded || this.#input.destroyed) this.#onEnd();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return;
    if ('id' in message && message.id !== undefined && !('method' in message)) this.#open.delete(message.id);
    await this.#write(message);
    if (this.#ending !== undefined && this.#open.size === 0) await this.close();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#ending);
    this.#input.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onEnd);
    this.#input.off('error', this.#onEnd);
    this.#input.pause();
    this.onclose?.();
    this.#resolveEnded();
  }

  readonly #onData = (chunk: Buffer | string) => this.#splitter.push(Buffer.from(chunk));

  /** The input has ended: answers that are almost ready are sent, other calls are cancelled. */
  readonly #onEnd = () => {
    if (this.#open.size === 0) void this.close();
    else this.#ending ??= setTimeout(() => void this.close(), FLUSH_TIME);
  };

  /** The reader of the output is gone. */
  readonly #onGone = () => void this.close();

  #receive(text: string): void {
    if (text.trim() === '' || this.#closed) return;
    let data: unknown;
    try {
      data = JSON.parse(text);
    } catch {
      this.#sendError(null, ProtocolErrorCode.ParseError, 'A line is not JSON.');
      return;
    }
    if (Array.isArray(data)) {
      this.#sendError(
        null,
        ProtocolErrorCode.InvalidRequest,
        'Batches are not supported; send one message per line.',
      );
      return;
    }
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(data);
    } catch {
      if (isMessageButParams(data)) {
        const problem = 'The params of a message must be an object, and so must their _meta.';
        this.#sendError(idOf(data), ProtocolErrorCode.InvalidParams, problem);
      } else
        this.#sendError(
          idOf(data),
          ProtocolErrorCode.InvalidRequest,
          'A line is not a JSON-RPC 2.0 message.',
        );
      return;
    }
    if ('method' in message && 'id' in message) this.#open.add(message.id);
    else if ('method' in message && message.method === 'notifications/cancelled') {
      // A cancelled request gets no answer.
      const id = message.params?.requestId;
      if (typeof id === 'string' || typeof id === 'number') this.#open.delete(id);
    }
    this.onmessage?.(message);
  }

  #sendError(id: ErrorMessage['id'], code: number, message: string): void {
    void this.#write({ jsonrpc: '2.0', id, error: { code, message } });
  }

  #write(message: JSONRPCMessage | ErrorMessage): Promise<void> {
    return new Promise((resolve) => {
      this.#output.write(`${JSON.stringify(message)}\n`, () => resolve());
    });
  }
}

/** Whether nothing is wrong with a message but its params. */
function isMessageButParams(data: unknown): boolean {
  try {
    parseJSONRPCMessage({ ...Object(data), params: {} });
    return true;
  } catch {
    return false;
  }
}

/** The id of an invalid message, if it has one. */
function idOf(data: unknown): ErrorMessage['id'] {
  if (data === null || typeof data !== 'object' || !('id' in data)) return null;
  return typeof data.id === 'string' || typeof data.id === 'number' ? data.id : null;
}

/**
 * Serves until the input ends, the output closes, or the signal aborts.
 * @param input standard input
 * @param output standard output
 */
export async function serveLines(
  host: McpHost,
  input: Readable,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  const transport = new LineTransport(input, output);
  const handle = serveStdio(() => createServer(host), { transport });
  const forget = onAbort(signal, () => void handle.close());
  await transport.ended;
  forget();
}
