/**
 * @module mcp/stdio
 * The server on standard input and output: one JSON-RPC message a line. Answers malformed lines with an error.
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
import type { McpHost } from './host.js';
import { LineSplitter } from './lines.js';
import { LOCAL_OWNER } from './resources.js';
import { createServer } from './server.js';

export const MESSAGE_LIMIT = 4 << 20;

/** Milliseconds for pending calls after the end of the input, before they are cancelled. */
const FLUSH_TIME = 150;

class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #splitter = new LineSplitter(MESSAGE_LIMIT, {
    line: (text) => this.#waiting.push(text),
    tooLong: (problem) => this.#sendError(null, ProtocolErrorCode.InvalidRequest, problem),
  });
  /** Requests without an answer. */
  readonly #open = new Set<string | number>();
  /** Lines that were read but not passed on yet. */
  #waiting: string[] = [];
  #passing: Promise<void> = Promise.resolve();
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
  }

  async start(): Promise<void> {
    const end = () => void this.#passing.then(() => this.#end());
    this.#input.on('data', (chunk: Buffer | string) => {
      this.#input.pause();
      this.#splitter.push(Buffer.from(chunk));
      this.#passing = this.#passing.then(() => this.#passOn()).catch((error) => this.onerror?.(error));
    });
    this.#input.on('end', end).on('close', end).on('error', end);
    // The reader of the output has closed it.
    this.#output.on('error', () => void this.close());
    if (this.#input.readableEnded || this.#input.destroyed) end();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return;
    if (!('method' in message) && message.id !== undefined) this.#open.delete(message.id);
    await this.#write(message);
    if (this.#ending !== undefined && this.#open.size === 0) await this.close();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#ending);
    this.#input.pause();
    this.onclose?.();
    this.#resolveEnded();
  }

  /** Passes on a line each turn, and none while the client does not read its answers, which would pile up in memory. */
  async #passOn(): Promise<void> {
    try {
      for (const line of this.#waiting.splice(0)) {
        this.#receive(line);
        await new Promise<void>((next) => setImmediate(next));
        if (this.#output.writableNeedDrain)
          await new Promise<void>((next) => this.#output.once('drain', next));
      }
    } finally {
      if (!this.#closed) this.#input.resume();
    }
  }

  /** At the end of the input, sends answers that are almost ready and cancels other calls. */
  #end(): void {
    if (this.#open.size === 0) void this.close();
    else this.#ending ??= setTimeout(() => void this.close(), FLUSH_TIME);
  }

  #receive(text: string): void {
    if (this.#closed) return;
    const data = jsonOf(text);
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(data);
    } catch {
      this.#sendError(idOf(Object(data).id), ...problemOf(data));
      return;
    }
    if ('method' in message && 'id' in message) this.#open.add(message.id);
    // A cancelled request gets no answer.
    else if ('method' in message && message.method === 'notifications/cancelled')
      this.#open.delete(idOf(message.params?.requestId) ?? '');
    this.onmessage?.(message);
  }

  #sendError(id: string | number | null, code: number, message: string): void {
    void this.#write({ jsonrpc: '2.0', id, error: { code, message } });
  }

  #write(message: object): Promise<void> {
    return new Promise((resolve) => this.#output.write(`${JSON.stringify(message)}\n`, () => resolve()));
  }
}

/** What is wrong with a line that is not a message. @param data `undefined` if it is not JSON */
function problemOf(data: unknown): readonly [code: number, sentence: string] {
  const { InvalidParams, InvalidRequest, ParseError } = ProtocolErrorCode;
  if (data === undefined) return [ParseError, 'A line is not JSON.'];
  if (Array.isArray(data)) return [InvalidRequest, 'Batches are not supported; send one message per line.'];
  try {
    parseJSONRPCMessage({ ...Object(data), params: {} });
    return [InvalidParams, 'The params of a message must be an object, and so must their _meta.'];
  } catch {
    return [InvalidRequest, 'A line is not a JSON-RPC 2.0 message.'];
  }
}

function idOf(id: unknown): string | number | null {
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
