/**
 * @module test/support/mcp-host
 * A server with tools made for tests (one that answers, one that works until it is stopped, one that fails), over HTTP or in
 * lines, as messages, requests and a transport for clients of the SDK.
 */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import * as z from 'zod/v4';
import { AnyvmafError } from '../../src/core/errors.js';
import type { GuardOptions } from '../../src/mcp/guard.js';
import { type HostOptions, McpHost } from '../../src/mcp/host.js';
import { serveHttp } from '../../src/mcp/http.js';
import { serveLines } from '../../src/mcp/stdio.js';
import { defineTool, READ_ONLY, type Tool } from '../../src/mcp/tool.js';
import { processFolder } from './folders.js';

/** Counts of the tools' calls. */
export const seen = { started: 0, stopped: 0 };

/** Name, title and description of a test tool. */
export const about = (name: string, description: string) => ({
  ...{ name, title: name, description, annotations: READ_ONLY },
});

const echo = defineTool({
  ...about('echo', 'Says what it was told.'),
  inputSchema: z.object({
    text: z.string().min(1).describe('What to say.'),
    pixfmt: z.enum(['420', '422', '444']).default('420').describe('An enum.'),
    bitdepth: z
      .union([z.literal(8), z.literal(10)])
      .default(8)
      .describe('A choice of numbers.'),
    width: z.int().min(1).optional().describe('A whole number.'),
    models: z.array(z.string()).min(1).optional().describe('A list.'),
  }),
  outputSchema: z.looseObject({ text: z.string(), ratio: z.number().nullable() }),
  handler: async (input) => ({ document: { ...input, ratio: Number.NaN, bound: Number.POSITIVE_INFINITY } }),
});

const work = defineTool({
  ...about('work', 'Counts frames until it is told to stop.'),
  inputSchema: z.object({ frames: z.int().min(1).default(1e9).describe('When it is done.') }),
  outputSchema: z.object({ frames: z.number(), threads: z.number() }),
  handler: ({ frames }, { signal, progress, pool }) =>
    pool.run(null, async ({ threads }) => {
      seen.started++;
      try {
        for (let done = 1; done <= frames; done++) {
          await new Promise((resolve) => setTimeout(resolve, 5));
          signal.throwIfAborted();
          progress({ done, total: frames, fps: 200 });
        }
        return { document: { frames, threads } };
      } finally {
        seen.stopped++;
      }
    }),
});

const stuck = defineTool({
  ...about('stuck', 'Never ends, and does not listen.'),
  inputSchema: z.object({}),
  outputSchema: z.object({}),
  handler: () => new Promise<never>(() => {}),
});

const fail = defineTool({
  ...about('fail', 'Fails in the way that is asked for.'),
  inputSchema: z.object({ how: z.enum(['sentence', 'bug', 'shape']).describe('How.') }),
  outputSchema: z.object({ never: z.string() }),
  handler: async ({ how }) => {
    if (how === 'sentence') throw new AnyvmafError('media', 'The video is not one.');
    if (how === 'bug') throw new TypeError('undefined is not\n   a function');
    return { document: JSON.parse('{"never": 1}') };
  },
});

const publish = defineTool({
  ...about('publish', 'Publishes a report and a picture.'),
  inputSchema: z.object({ milliseconds: z.int().default(0).describe('How long it goes on after that.') }),
  outputSchema: z.object({ path: z.string() }),
  handler: async ({ milliseconds }, { resources }) => {
    const report = await resources.publish({
      name: 'report.json',
      mimeType: 'application/json',
      description: 'A report.',
      data: '{"frames":[]}',
    });
    const picture = await resources.publish({
      name: 'frame.png',
      mimeType: 'image/png',
      data: new Uint8Array([137, 80, 78, 71]),
    });
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    return {
      document: { path: report.path },
      content: [report.link, picture.link, { type: 'image', mimeType: 'image/png', data: 'iVBORw==' }],
    };
  },
});

const locate = defineTool({
  ...about('locate', 'Says which file a path leads to.'),
  inputSchema: z.object({ path: z.string().describe('A path or an address.') }),
  outputSchema: z.object({ path: z.string() }),
  handler: async ({ path }, { files }) => ({ document: { path: await files.resolveInput(path) } }),
});

export const FAKE_TOOLS: readonly Tool[] = [echo, work, stuck, fail, publish, locate];

/** A host with these tools; the test closes it. */
export function fakeHost(
  env: Readonly<Record<string, string>> = {},
  log: (line: string) => void = () => {},
  options: Partial<HostOptions> = {},
) {
  const jobs = mkdtempSync(join(processFolder('fake-jobs'), 'host-'));
  return McpHost.open({ allow: [], env, cwd: process.cwd(), log, tools: FAKE_TOOLS, jobs, ...options });
}

/** A host that listens for HTTP on a free port. */
export async function fakeHttp(host: McpHost, options: Partial<GuardOptions> = {}) {
  const address = { host: '127.0.0.1', port: 0 };
  const http = await serveHttp(host, { address, token: undefined, origins: [], ...options });
  return { ...http, host, port: Number(new URL(http.url).port) };
}

export async function httpClient(url: string, capabilities: object = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

/** Posts a JSON-RPC message, or any other text, as MCP clients do. */
export function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });
}

/** A JSON-RPC answer or notification. */
export interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** Parsed JSON. */
  readonly result?: ReturnType<typeof JSON.parse>;
  readonly error?: { readonly code: number; readonly message: string };
}

export const INITIALIZE = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

/** The lines of a session: initialization, then these messages. */
export const sessionLines = (...messages: readonly object[]): string =>
  [INITIALIZE, { method: 'notifications/initialized' }, ...messages]
    .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    .join('');

/** A client over lines of JSON. */
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

/** A transport of the SDK's clients to a server in this process, and a promise that resolves when the server has ended. */
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
