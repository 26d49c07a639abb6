/**
 * @module test/support/mcp-clients
 * The built server and clients as hosts use them: either generation of the official SDK, over stdio or HTTP.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ProgressNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { built } from './built.js';

export interface Way {
  readonly generation: 1 | 2;
  readonly transport: 'stdio' | 'http';
}

/** Both generations of the SDK over both transports. */
export const WAYS = ([1, 2] as const).flatMap((generation): Way[] => [
  { generation, transport: 'stdio' },
  { generation, transport: 'http' },
]);

export interface ProgressNotice {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface Answer {
  readonly content: readonly { type: string; text?: string; uri?: string; name?: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (notice: ProgressNotice) => void;
}

type Env = Readonly<Record<string, string>>;

interface StartOptions {
  /** Its working directory. */
  readonly cwd: string;
  readonly env?: Env;
  /** Options of `anyvmaf mcp`. */
  readonly args?: readonly string[];
}

const SERVER = () => built('dist/bundle/js/main.js');

/** A server process and its connected client. */
export type Connection = Awaited<ReturnType<typeof connect>>;

/** Starts a server and connects a client. */
export async function connect({ generation, transport }: Way, { cwd, env = {}, args = [] }: StartOptions) {
  // The server's only temporary folder.
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'anyvmaf-e2e-')));
  const places = { TMPDIR: scratch, TEMP: scratch, ANYVMAF_CACHE: join(scratch, 'cache') };
  const variables = { PATH: process.env.PATH ?? '', ...places, ...env };
  const start = transport === 'stdio' ? overStdio : overHttp;
  const { pid, session, stop } = await start(generation, { cwd, env: variables, args });
  return {
    ...session,
    pid,
    /** Ends client and server. @returns the files that the server left in its temporary folder */
    async end(): Promise<readonly string[]> {
      await session.close();
      await stop();
      const left = readdirSync(scratch).filter((name) => name !== 'cache');
      rmSync(scratch, { recursive: true, force: true });
      return left;
    },
  };
}

async function overStdio(generation: 1 | 2, { cwd, env, args }: Required<StartOptions>) {
  const transport = new (generation === 1 ? Stdio1 : Stdio2)({
    command: process.execPath,
    args: [SERVER(), 'mcp', ...args],
    ...{ cwd, env, stderr: 'ignore' },
  });
  const session = await openSession(generation, transport);
  const pid = transport.pid ?? 0;
  return { session, pid, stop: () => gone(pid) };
}

/** Starts a server that listens for HTTP. */
export async function startHttp(cwd: string, env: Env, args: readonly string[] = []) {
  const child = spawn(process.execPath, [SERVER(), 'mcp', '--http', '127.0.0.1:0', ...args], {
    ...{ cwd, env, stdio: ['ignore', 'ignore', 'pipe'] },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let told = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      told += chunk;
      const found = /listening at (http:\S+\/mcp)/.exec(told)?.[1];
      if (found) resolve(found);
    });
    void ended.then(() => reject(new Error(`the server ended: ${told}`)));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { child, url, stop };
}

async function overHttp(generation: 1 | 2, { cwd, env, args }: Required<StartOptions>) {
  const { child, url, stop } = await startHttp(cwd, env, args);
  const transport = generation === 1 ? new Http1(new URL(url)) : new Http2(new URL(url));
  return { session: await openSession(generation, transport), pid: child.pid ?? 0, stop };
}

/** Connects a client over a transport of its own generation. */
async function openSession(generation: 1 | 2, transport: Stdio1 | Stdio2 | Http1 | Http2) {
  if (generation === 1) {
    const client = new Client1({ name: 'e2e', version: '1' });
    await client.connect(transport as Stdio1 | Http1);
    const protocol = transport instanceof Http1 ? transport.protocolVersion : undefined;
    // The SDK forgets its own listener once the answer is read, before it hands over a notice that came right before it.
    const listeners = new Map<unknown, CallOptions['onprogress']>();
    client.setNotificationHandler(ProgressNotificationSchema, ({ params }) =>
      listeners.get(params.progressToken)?.(params),
    );
    return sessionOf(client, protocol, (call, { onprogress, signal }) => {
      const progressToken = `call-${listeners.size}`;
      listeners.set(progressToken, onprogress);
      const request = onprogress ? { ...call, _meta: { progressToken } } : call;
      return client.callTool(request, undefined, { signal });
    });
  }
  const client = new Client2({ name: 'e2e', version: '2' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(transport as Stdio2 | Http2);
  return sessionOf(client, client.getNegotiatedProtocolVersion(), (call, options) =>
    client.callTool(call, options),
  );
}

type ToolCall = { name: string; arguments: Record<string, unknown> };

function sessionOf(
  client: Client1 | Client2,
  /** The negotiated version. */
  protocol: string | undefined,
  call: (call: ToolCall, options: CallOptions) => Promise<unknown>,
) {
  return {
    protocol,
    listTools: async () => (await client.listTools()).tools,
    call: async (name: string, args: object, options: CallOptions = {}) =>
      (await call({ name, arguments: { ...args } }, options)) as Answer,
    /** Text or base64 of a resource. */
    async read(uri: string): Promise<string> {
      const [first] = (await client.readResource({ uri })).contents;
      if (first === undefined) throw new Error('the resource has no contents');
      return 'text' in first ? first.text : first.blob;
    },
    listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    close: () => client.close(),
  };
}

/** Resolves when no process has this id any more. */
async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
