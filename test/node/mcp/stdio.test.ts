/**
 * @module test/node/mcp/stdio
 * The server on lines: what a client sends, whatever it is, has a defined answer, and the server lives on.
 */
import { existsSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import type { McpHost } from '../../../src/mcp/host.js';
import { MESSAGE_LIMIT, serveLines } from '../../../src/mcp/stdio.js';
import { fakeHost, seen } from '../../support/fake-tools.js';
import { seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

/** A JSON-RPC answer or notification. */
interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** As parsed: answers of every kind. */
  readonly result?: ReturnType<typeof JSON.parse>;
  readonly error?: { readonly code: number; readonly message: string };
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

/** One connection to a server with the tools of this test. */
class Wire {
  readonly input = new PassThrough();
  readonly heard: Message[] = [];
  readonly ended: Promise<void>;
  readonly stop = new AbortController();
  readonly host: McpHost;
  #wakers: (() => void)[] = [];

  constructor(host: McpHost) {
    this.host = host;
    const output = new PassThrough();
    let rest = '';
    output.on('data', (chunk: Buffer) => {
      rest += chunk.toString('utf8');
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      this.heard.push(...lines.map((line): Message => JSON.parse(line)));
      for (const wake of this.#wakers.splice(0)) wake();
    });
    this.ended = serveLines(host, this.input, output, this.stop.signal);
  }

  raw(text: string): void {
    this.input.write(text);
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

  ask(id: number, method: string, params?: unknown): Promise<Message> {
    this.send({ id, method, params });
    return this.until((message) => message.id === id);
  }

  call(id: number, name: string, args: object = {}, meta: object = {}): Promise<Message> {
    return this.ask(id, 'tools/call', { name, arguments: args, _meta: meta });
  }

  cancel(requestId: number): void {
    this.send({ method: 'notifications/cancelled', params: { requestId, reason: 'enough' } });
  }

  /** A message is answered as ever. */
  async lives(): Promise<void> {
    expect((await this.call(50, 'echo', { text: 'a' })).result.isError).toBeUndefined();
  }
}

let wires: Wire[] = [];

async function connect(env: Readonly<Record<string, string>> = {}): Promise<Wire> {
  const wire = new Wire(await fakeHost(env));
  wires.push(wire);
  wire.send(INITIALIZE);
  await wire.until(({ id }) => id === 0);
  wire.send({ method: 'notifications/initialized' });
  return wire;
}

afterEach(async () => {
  for (const wire of wires) {
    wire.stop.abort();
    await wire.ended;
    await wire.host.close();
  }
  wires = [];
});

describe('a session', () => {
  it('lists tools with JSON Schema that refuses unknown parameters', async () => {
    const wire = await connect();
    const { result } = await wire.ask(1, 'tools/list');
    const names = result.tools.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['echo', 'work', 'fail', 'publish', 'locate']);
    const [echo] = result.tools;
    expect(echo.inputSchema).toMatchObject({
      type: 'object',
      required: ['text'],
      additionalProperties: false,
    });
    expect(echo.inputSchema.properties.pixfmt).toEqual({
      description: 'An enum.',
      default: '420',
      type: 'string',
      enum: ['420', '422', '444'],
    });
    expect(echo.annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
  });

  it('answers as text and as structure, and fails in sentences', async () => {
    const wire = await connect();
    const { result } = await wire.call(1, 'echo', { text: 'ä' });
    const defaults = { pixfmt: '420', bitdepth: 8 };
    expect(result.structuredContent).toEqual({ text: 'ä', ...defaults, ratio: null, bound: null });
    expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
    expect(result.isError).toBeUndefined();
    const errors = [
      ['echo', {}, '"text" is missing; it must be a string'],
      ['echo', { text: 'a', texts: 'b' }, 'echo has no parameter "texts"; did you mean "text"?'],
      ['fail', { how: 'sentence' }, 'The video is not one.'],
      ['fail', { how: 'bug' }, 'anyvmaf failed unexpectedly: undefined is not\\x0a   a function'],
      [
        'fail',
        { how: 'shape' },
        'anyvmaf made a result of fail that does not fit its schema; please report this.',
      ],
    ] as const;
    for (const [i, [name, args, error]] of errors.entries()) {
      const failed = await wire.call(10 + i, name, args);
      expect(failed.result.isError).toBe(true);
      expect(failed.result.structuredContent).toBeUndefined();
      expect(JSON.parse(failed.result.content[0].text)).toEqual({ error });
    }
    const unknown = await wire.call(20, 'ecko');
    expect(unknown.error).toEqual({ code: -32602, message: 'There is no tool "ecko"; did you mean echo?' });
  });

  it('reports progress that only rises, and none without a token', async () => {
    const wire = await connect();
    await wire.call(1, 'work', { frames: 5 }, { progressToken: 'p' });
    await wire.call(2, 'work', { frames: 5 });
    const notices = wire.heard.filter(({ method }) => method === 'notifications/progress');
    expect(notices.map(({ params }) => [params?.progressToken, params?.progress, params?.total])).toEqual(
      [1, 2, 3, 4, 5].map((n) => ['p', n, 5]),
    );
    expect(notices[0]?.params?.message).toBe('20 %: 1/5 frames, 200.0 fps');
  });

  it('stops a call that is cancelled and answers it no more', async () => {
    const wire = await connect();
    const before = { ...seen };
    void wire.call(1, 'work', {}, { progressToken: 1 });
    await wire.until(({ method }) => method === 'notifications/progress');
    wire.cancel(1);
    const { result } = await wire.call(2, 'work', { frames: 1 });
    expect(result.structuredContent.frames).toBe(1);
    await expect.poll(() => seen.stopped, { interval: 5 }).toBe(before.stopped + 2);
    expect(wire.heard.some(({ id }) => id === 1)).toBe(false);
    expect(wire.host.pool.load).toEqual({ running: 0, waiting: 0 });
  });

  it('tells a call that waits for its turn, while light calls do not wait', async () => {
    const wire = await connect({ VMAF_MCP_MAX_CONCURRENT: '1' });
    void wire.call(1, 'work', {}, { progressToken: 1 });
    await wire.until(({ params }) => params?.progressToken === 1);
    void wire.call(2, 'work', { frames: 1 }, { progressToken: 2 });
    const waiting = await wire.until(({ params }) => params?.progressToken === 2);
    expect(waiting.params?.message).toBe('work waits for its turn: 1 running, next in line');
    await wire.call(3, 'echo', { text: 'meanwhile' });
    wire.cancel(1);
    await wire.until(({ id }) => id === 2);
  });

  it('answers two hundred calls at once', async () => {
    const wire = await connect();
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        i % 2 ? wire.call(i + 1, 'work', { frames: 1 }) : wire.call(i + 1, 'echo', { text: `${i}` }),
      ),
    );
    expect(answers.filter(({ result }) => result === undefined || result.isError)).toEqual([]);
  });

  it('serves results as resources and as files until it ends', async () => {
    const wire = await connect();
    const { result } = await wire.call(1, 'publish');
    const [, report, picture, image] = result.content;
    expect(report).toMatchObject({
      type: 'resource_link',
      name: 'report.json',
      mimeType: 'application/json',
      size: 13,
    });
    expect(image).toEqual({ type: 'image', mimeType: 'image/png', data: 'iVBORw==' });
    const read = await wire.ask(2, 'resources/read', { uri: report.uri });
    expect(read.result.contents).toEqual([
      { uri: report.uri, mimeType: 'application/json', text: '{"frames":[]}' },
    ]);
    const shown = await wire.ask(3, 'resources/read', { uri: picture.uri });
    expect(shown.result.contents[0].blob).toBe('iVBORw==');
    const list = await wire.ask(4, 'resources/list');
    const names = list.result.resources.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['samples', 'frame.png', 'report.json']);
    const outside = await wire.ask(5, 'resources/read', { uri: 'anyvmaf://results/../../etc/passwd' });
    expect(outside.error?.code).toBe(-32602);
    const { path } = result.structuredContent;
    expect(existsSync(path)).toBe(true);
    await wire.host.close();
    expect(existsSync(path)).toBe(false);
  });
});

describe('the end', () => {
  it('of the input stops what runs', async () => {
    const wire = await connect();
    const before = seen.stopped;
    void wire.call(1, 'work', {}, { progressToken: 1 });
    await wire.until(({ method }) => method === 'notifications/progress');
    wire.input.end();
    await wire.ended;
    await wire.host.idle(1000);
    expect(seen.stopped).toBe(before + 1);
  });

  it('of the input lets answers leave that are nearly there', async () => {
    const wire = await connect();
    wire.send({ id: 1, method: 'tools/list' });
    wire.send({ id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'a' } } });
    wire.input.end();
    await wire.ended;
    expect(wire.heard.filter(({ id }) => id === 1 || id === 2)).toHaveLength(2);
  });
});

describe('parameters that do not fit', () => {
  it.each([
    ['initialize', {}, '"params.protocolVersion" is missing; it must be a string'],
    ['initialize', undefined, '"params" is missing; it must be an object'],
    ['resources/read', { uri: 5 }, 'resources/read: "params.uri" is 5, but it must be a string'],
    ['resources/read', {}, 'resources/read: "params.uri" is missing; it must be a string'],
    ['tools/list', { cursor: 1 }, 'tools/list: "params.cursor" is 1, but it must be a string'],
    ['tools/call', { name: 5 }, 'tools/call: "params.name" is 5, but it must be a string'],
    [
      'tools/call',
      { name: 'echo', arguments: null },
      'tools/call: "params.arguments" is null, but it must be an object',
    ],
    [
      'tools/call',
      { name: 'echo', arguments: ['a'] },
      'tools/call: "params.arguments" is a list of 1, but it must be an object',
    ],
    ['tools/call', ['echo'], 'The params of a message must be an object'],
    [
      'tools/call',
      { name: 'echo', _meta: 5 },
      'The params of a message must be an object, and so must their',
    ],
  ])('are refused as such, in a sentence: %s %j', async (method, params, sentence) => {
    const wire = await connect();
    const { error } = await wire.ask(1, method, params);
    expect(error?.code).toBe(-32602);
    expect(error?.message).toContain(sentence);
    expect(error?.message).not.toMatch(/[\n{}]/);
    await wire.lives();
  });
});

describe('what is no message', () => {
  it.each([
    ['garbage', 'garbage', -32700, null],
    ['half a message', '{"jsonrpc":"2.0","id":1', -32700, null],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, null],
    ['a string', '"text"', -32600, null],
    ['null', 'null', -32600, null],
    ['another version', '{"jsonrpc":"1.0","id":9,"method":"ping"}', -32600, 9],
    ['an id alone', '{"id":9}', -32600, 9],
    ['an id that is none', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, null],
    ['control characters', '\0\x01\x02', -32700, null],
    ['deep nesting', `${'['.repeat(100_000)}`, -32700, null],
  ])('is answered, and the next message counts: %s', async (_what, line, code, wanted) => {
    const wire = await connect();
    wire.raw(`${line}\n`);
    const complaint = await wire.until(({ error }) => error !== undefined);
    expect([complaint.error?.code, complaint.id]).toEqual([code, wanted]);
    await wire.lives();
  });

  it('is answered when it is too big', async () => {
    const wire = await connect();
    wire.raw(`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(MESSAGE_LIMIT)}"}\n`);
    const { error } = await wire.until((message) => message.error !== undefined);
    expect(error).toEqual({ code: -32600, message: `A message has more than ${MESSAGE_LIMIT} bytes.` });
    await wire.lives();
  });

  it('survives damaged messages', async () => {
    const wire = await connect();
    const random = seeded(0x6d6370);
    const params = { name: 'echo', arguments: {} };
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    for (let i = 0; i < tier(300, 1000); i++) {
      const bytes = Buffer.from(text);
      for (let n = random.int(1, 4); n > 0; n--) bytes[random.int(0, bytes.length - 1)] = random.int(32, 126);
      wire.raw(`${bytes.toString('latin1')}\n`);
    }
    const { result } = await wire.call(77_777, 'echo', { text: 'alive' });
    expect(result.structuredContent.text, `seed ${random.seed}`).toBe('alive');
  });
});
