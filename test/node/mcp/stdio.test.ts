/**
 * @module test/node/mcp/stdio
 * The server over lines: every message of a client, valid or not, has a defined answer, and the server survives.
 */
import { existsSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import type { McpHost } from '../../../src/mcp/host.js';
import { MESSAGE_LIMIT, serveLines } from '../../../src/mcp/stdio.js';
import {
  FAKE_TOOLS,
  fakeHost,
  INITIALIZE,
  Lines,
  type Message,
  seen,
  sessionLines,
} from '../../support/mcp-host.js';
import { seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

/** A connection to a server of its own. */
class Wire extends Lines {
  readonly input: PassThrough;
  readonly ended: Promise<void>;
  readonly stop = new AbortController();

  constructor(readonly host: McpHost) {
    const [input, output] = [new PassThrough(), new PassThrough()];
    super(output, (text) => input.write(text));
    this.input = input;
    this.ended = serveLines(host, input, output, this.stop.signal);
  }

  async lives(): Promise<void> {
    expect((await this.call(50, 'echo', { text: 'a' })).result.isError).toBeUndefined();
  }
}

const DEFECT = 'a defect of anyvmaf; please report it.';

let wires: Wire[] = [];

async function connect(
  env: Readonly<Record<string, string>> = {},
  { protocolVersion = INITIALIZE.params.protocolVersion, maxSeconds = 3600, tools = FAKE_TOOLS } = {},
): Promise<Wire> {
  const wire = new Wire(await fakeHost(env, () => {}, { maxSeconds, tools }));
  wires.push(wire);
  wire.send({ ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion } });
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
  it('answers with text and a structure, and fails with a message', async () => {
    const wire = await connect();
    const { result } = await wire.call(1, 'echo', { text: 'ä' });
    const defaults = { pixfmt: '420', bitdepth: 8 };
    expect(result.structuredContent).toEqual({ text: 'ä', ...defaults, ratio: null, bound: null });
    expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
    expect(result.isError).toBeUndefined();
    const errors = [
      ['echo', { text: 'a', texts: 'b' }, 'echo has no parameter "texts"; did you mean "text"?'],
      ['fail', { how: 'sentence' }, 'The video is not one.'],
      ['fail', { how: 'bug' }, 'anyvmaf failed unexpectedly: undefined is not\\x0a   a function'],
      ['fail', { how: 'shape' }, `The result of fail does not match its schema, ${DEFECT}`],
    ] as const;
    for (const [i, [name, args, error]] of errors.entries())
      expect((await wire.call(10 + i, name, args)).result).toEqual({
        ...{ isError: true, content: [{ type: 'text', text: JSON.stringify({ error }) }] },
      });
    const unknown = await wire.call(20, 'ecko');
    expect(unknown.error).toEqual({ code: -32602, message: 'Unknown tool "ecko"; did you mean echo?' });
  });

  it('reports rising progress, as a fraction of 1 for a name in run_, and none without a token', async () => {
    const tools = FAKE_TOOLS.flatMap((tool) => [tool, { ...tool, name: `run_${tool.name}` }]);
    const wire = await connect({}, { tools });
    await wire.call(1, 'work', { frames: 5 }, { progressToken: 'p' });
    await wire.call(2, 'work', { frames: 5 });
    const notices = wire.heard.filter(({ method }) => method === 'notifications/progress');
    const found = notices.map(({ params }) => [params?.progressToken, params?.progress, params?.total]);
    expect(found).toEqual([1, 2, 3, 4, 5].map((n) => ['p', n, 5]));
    expect(notices[0]?.params?.message).toBe('20 %: 1/5 frames, 200.0 fps');
    await wire.call(3, 'run_work', { frames: 1 }, { progressToken: 'whole' });
    const whole = () => wire.heard.filter(({ params }) => params?.progressToken === 'whole');
    await expect.poll(() => whole().at(-1)?.params?.message).toBe('run_work done');
    expect(whole().at(0)?.params).toMatchObject({ progress: 0, total: 1, message: 'starting run_work' });
    expect(whole().at(-1)?.params).toMatchObject({ progress: 1, total: 1 });
  });

  it('stops a cancelled call and does not answer it', async () => {
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

  it.each([
    ['2024-11-05', ['text', 'image']],
    ['2025-03-26', ['text', 'image']],
    ['2025-06-18', ['text', 'resource_link', 'resource_link', 'image']],
  ])('of version %s has only content that this version knows', async (protocolVersion, types) => {
    const wire = await connect({}, { protocolVersion });
    const { content } = (await wire.call(1, 'publish')).result;
    expect(content.map(({ type }: { type: string }) => type)).toEqual(types);
  });

  it('serves results as resources and as files, which remain when it ends', async () => {
    const wire = await connect();
    const { result } = await wire.call(1, 'publish');
    const [, report, picture, image] = result.content;
    const link = { type: 'resource_link', name: 'report.json', mimeType: 'application/json', size: 13 };
    expect(report).toMatchObject(link);
    expect(image).toEqual({ type: 'image', mimeType: 'image/png', data: 'iVBORw==' });
    let id = 2;
    const read = (uri: string) => wire.ask(id++, 'resources/read', { uri });
    const { uri } = report;
    const contents = [{ uri, mimeType: 'application/json', text: '{"frames":[]}' }];
    expect((await read(uri)).result).toMatchObject({ contents });
    const templates = await wire.ask(id++, 'resources/templates/list');
    const [{ uriTemplate }] = templates.result.resourceTemplates;
    expect(uriTemplate).toBe('anyvmaf://results/{id}/frames{?metric,from,to,step,format}');
    const pages = uri.replace('report.json', 'frames');
    expect(report.description).toContain(pages);
    const page = await read(`${pages}?from=0`);
    expect(JSON.parse(page.result.contents[0].text)).toMatchObject({ frames: 0, rows: [], next: null });
    const wrong = await read(`${pages}?from=a`);
    expect(wrong.error).toMatchObject({ code: -32602, message: expect.stringContaining('from is "a"') });
    expect((await read(picture.uri)).result.contents[0].blob).toBe('iVBORw==');
    const list = await wire.ask(id++, 'resources/list');
    const names = list.result.resources.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['samples', 'frame.png', 'report.json']);
    for (const none of ['anyvmaf://results/../../etc/passwd', 'anyvmaf://results/1/a'])
      expect((await read(none)).error?.code).toBe(-32002);
    const { path } = result.structuredContent;
    expect(existsSync(path)).toBe(true);
    await wire.host.close();
    expect(existsSync(path)).toBe(true);
  });
});

describe('the end', () => {
  it('of the input stops running calls', async () => {
    const wire = await connect();
    const before = seen.stopped;
    void wire.call(1, 'work', {}, { progressToken: 1 });
    await wire.until(({ method }) => method === 'notifications/progress');
    wire.input.end();
    await wire.ended;
    await wire.host.idle(1000);
    expect(seen.stopped).toBe(before + 1);
  });

  it('of the input does not drop answers that are nearly ready', async () => {
    const wire = await connect();
    wire.send({ id: 1, method: 'tools/list' });
    wire.send({ id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'a' } } });
    wire.input.end();
    await wire.ended;
    expect(wire.heard.filter(({ id }) => id === 1 || id === 2)).toHaveLength(2);
  });
});

it.each([
  ['initialize', {}, '"params.protocolVersion" is missing; it must be a string'],
  ['initialize', undefined, '"params" is missing; it must be an object'],
  ['resources/read', { uri: 5 }, 'resources/read: "params.uri" is 5, but it must be a string'],
  ['resources/read', {}, 'resources/read: "params.uri" is missing; it must be a string'],
  ['tools/list', { cursor: 1 }, 'tools/list: "params.cursor" is 1, but it must be a string'],
  ['tools/call', { name: 5 }, 'tools/call: "params.name" is 5, but it must be a string'],
  ['tools/call', { name: 'echo', arguments: null }, '"params.arguments" is null, but it must be an object'],
  ['tools/call', { name: 'echo', arguments: [1] }, '"params.arguments" is an array of 1, but it must be an'],
  ['tools/call', ['echo'], 'The params of a message must be an object'],
  ['tools/call', { name: 'echo', _meta: 5 }, 'The params of a message must be an object, and so must their'],
])('invalid parameters are refused with a sentence: %s %j', async (method, params, sentence) => {
  const wire = await connect();
  const { error } = await wire.ask(1, method, params);
  expect(error?.code).toBe(-32602);
  expect(error?.message).toContain(sentence);
  expect(error?.message).not.toMatch(/[\n{}]/);
  await wire.lives();
});

describe('an invalid message', () => {
  it.each([
    ['garbage', 'garbage', -32700, null],
    ['half a message', '{"jsonrpc":"2.0","id":1', -32700, null],
    ['a batch of a version that has none', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, null],
    ['a string', '"text"', -32600, null],
    ['null', 'null', -32600, null],
    ['another version', '{"jsonrpc":"1.0","id":9,"method":"ping"}', -32600, 9],
    ['an id alone', '{"id":9}', -32600, 9],
    ['an invalid id', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, null],
    ['control characters', '\0\x01\x02', -32700, null],
    ['deep nesting', `${'['.repeat(100_000)}`, -32700, null],
  ])('is answered, and so is the next message: %s', async (_what, line, code, wanted) => {
    const wire = await connect();
    wire.raw(`${line}\n`);
    const complaint = await wire.until(({ error }) => error !== undefined);
    expect([complaint.error?.code, complaint.id]).toEqual([code, wanted]);
    await wire.lives();
  });

  it.each([
    ['at its head', (long: string) => `{"jsonrpc":"2.0","id":1,"method":"${long}"}`, 1],
    ['at its end', (long: string) => `{"method":"x","params":{"a":"${long}"},"id":"a b"}`, 'a b'],
    ['that is not its own', (long: string) => `{"method":"x","params":{"id":7,"a":"${long}"}}`, null],
    ['in a text', (long: string) => `{"method":"x","params":"${long},\\"id\\":7"}`, null],
  ])('is answered with its id if it is too big: the id %s', async (_where, messageOf, id) => {
    const wire = await connect();
    wire.raw(`${messageOf('x'.repeat(MESSAGE_LIMIT))}\n`);
    expect(await wire.until((message) => message.error !== undefined)).toMatchObject({
      id,
      error: { code: -32600, message: `A message has more than ${MESSAGE_LIMIT} bytes.` },
    });
    await wire.lives();
  });

  it('does not stop the server, however damaged', async () => {
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

describe('a batch of version 2025-03-26', () => {
  const batched = () => connect({}, { protocolVersion: '2025-03-26' });
  const ping = (id: number | string) => ({ jsonrpc: '2.0', id, method: 'ping' });
  /** The batch of answers, as one line. */
  const answersTo = async (wire: Wire, ...messages: readonly unknown[]) => {
    wire.raw(`${JSON.stringify(messages)}\n`);
    return (await wire.until((message) => Array.isArray(message))) as unknown as readonly Message[];
  };

  it('is answered by a batch with an answer for each request', async () => {
    const wire = await batched();
    const call = { name: 'echo', arguments: { text: 'a' } };
    const answers = await answersTo(
      wire,
      ping(1),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 'two', method: 'tools/call', params: call },
      { jsonrpc: '2.0', id: 3, method: 'nope' },
      { jsonrpc: '1.0', id: 4, method: 'ping' },
    );
    const codes = Object.fromEntries(answers.map(({ id, error }) => [id, error?.code]));
    expect(codes).toEqual({ 1: undefined, two: undefined, 3: -32601, 4: -32600 });
    await wire.lives();
  });

  it('gets no answer to a call that it cancels itself', async () => {
    const wire = await batched();
    const answers = await answersTo(
      wire,
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'work', arguments: {} } },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      ping(2),
    );
    expect(answers.map(({ id }) => id)).toEqual([2]);
  });

  it('is answered even if two of its requests have the same id', async () => {
    const wire = await batched();
    const answers = await answersTo(wire, ping(1), ping(2), ping(1));
    expect(answers.map(({ id }) => id).sort()).toEqual([1, 2]);
  });

  it.each([
    ['nothing', []],
    ['more than a hundred messages', Array.from({ length: 101 }, (_, i) => ping(i))],
  ])('of %s is refused', async (_what, messages) => {
    const wire = await batched();
    wire.raw(`${JSON.stringify(messages)}\n`);
    const { error, id } = await wire.until((message) => message.error !== undefined);
    expect([error?.code, id]).toEqual([-32600, null]);
  });
});

it.each(['work', 'stuck'])('the time limit ends a call of %s, and the next call runs', async (tool) => {
  const wire = await connect({ VMAF_MCP_MAX_CONCURRENT: '1' }, { maxSeconds: 0.2 });
  const { result } = await wire.call(1, tool);
  expect(result).toMatchObject({ isError: true });
  const found = result.content[0].text;
  expect(found).toContain('took longer than 0.2 s, the limit of this server (--max-seconds)');
  expect((await wire.call(2, 'work', { frames: 1 })).result.isError).toBeUndefined();
});

it('a client that does not read is not read from, so that answers do not pile up', async () => {
  const host = await fakeHost();
  const requests = Array.from({ length: 10_000 }, (_, i) => ({ id: i + 1, method: 'tools/list' }));
  const text = sessionLines(...requests);
  let sent = 0;
  // Like a pipe: at most 64 KiB at a time, on demand.
  const input = new Readable({
    read() {
      if (sent < text.length) this.push(text.slice(sent, sent + (1 << 16)));
      sent += 1 << 16;
    },
  });
  const output = new PassThrough();
  const stop = new AbortController();
  const ended = serveLines(host, input, output, stop.signal);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(sent).toBeLessThan(text.length / 2);
  expect(output.writableLength).toBeLessThan(1 << 20);
  const heard = new Set<string>();
  let rest = '';
  output.on('data', (chunk: Buffer) => {
    const answers = (rest + chunk.toString('utf8')).split('\n');
    rest = answers.pop() ?? '';
    for (const answer of answers) heard.add(/"id":\d+\}?$/.exec(answer)?.[0] ?? answer);
  });
  await expect.poll(() => heard.size).toBe(10_001);
  stop.abort();
  await ended;
  await host.close();
});
