/**
 * @module test/support/mcp-lines
 * Servers that speak in lines: messages as they come, requests, and a transport for clients of the SDK.
 */

import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { McpHost } from '../../src/mcp/host.js';
import { serveLines } from '../../src/mcp/stdio.js';

/** A JSON-RPC answer or notification. */
export interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** As parsed: answers of every kind. */
  readonly result?: ReturnType<typeof JSON.parse>;
  readonly error?: { readonly code: number; readonly message: string };
}

export const INITIALIZE = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

/** A client that writes lines and hears lines. */
export class Lines {
  readonly heard: Message[] = [];
  readonly #write: (text: string) => void;
  #wakers: (() => void)[] = [];

  constructor(output: NodeJS.ReadableStream, write: (text: string) => void) {
    this.#write = write;
    createInterface(output).on('line', (line) => {
      if (line !== '') this.heard.push(JSON.parse(line));
      for (const wake of this.#wakers.splice(0)) wake();
    });
  }

  raw(text: string): void {
    this.#write(text);
  }

  send(message: object): void {
    this.raw(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  async until(found: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const message = this.heard.find(found);
      if (message) return message;
      await new Promise<void>((resolve) => this.#wakers.push(resolve));
    }
  }

  answer(id: number): Promise<Message> {
    return this.until((message) => message.id === id);
  }

  ask(id: number, method: string, params?: unknown): Promise<Message> {
    this.send({ id, method, params });
    return this.answer(id);
  }

  call(id: number, name: string, args: object = {}, meta: object = {}): Promise<Message> {
    return this.ask(id, 'tools/call', { name, arguments: args, _meta: meta });
  }

  cancel(requestId: number): void {
    this.send({ method: 'notifications/cancelled', params: { requestId, reason: 'enough' } });
  }
}

/** A transport of the SDK's clients to a server in this process, and when that has ended. */
export function lineTransport(host: McpHost, stop: AbortSignal) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ended = serveLines(host, input, output, stop);
  const transport: Transport = {
    async start() {
      createInterface(output).on('line', (line) => transport.onmessage?.(JSON.parse(line)));
    },
    async send(message) {
      input.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      input.end();
    },
  };
  return { transport, ended };
}
