/**
 * @module test/node/mcp/hosts
 * What hosts offer their users: prompts, completion, subscriptions and the server's icon, with clients of both generations of
 * the SDK, and attacks on each.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import {
  ElicitRequestSchema,
  type JSONRPCMessage,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { HostOptions } from '../../../src/mcp/host.js';
import { reportPage } from '../../../src/mcp/report-page.js';
import { TOOLS, toolsOf } from '../../../src/mcp/tools/index.js';
import { testFolder } from '../../support/folders.js';
import { FAKE_TOOLS, fakeHost, fakeHttp, httpClient, lineTransport } from '../../support/mcp-host.js';

const folder = testFolder('hosts');
const within = (name: string) => join(folder, name);
/** Clean-up after each test and after all, the last first. */
let later: (() => Promise<unknown>)[] = [];
const atLast: (() => Promise<unknown>)[] = [];

for (const name of ['in/sub', 'out', 'raw/sub']) mkdirSync(within(name), { recursive: true });
for (const name of ['in/source.mp4', 'in/sub/encode_1.mp4', 'in/sub/encode_2.mkv', 'out/secret.mp4'])
  writeFileSync(within(name), 'x');
symlinkSync(within('out'), within('in/link'));
symlinkSync(within('out/secret.mp4'), within('in/linked.mp4'));
for (const name of ['raw/a_64x48.yuv', 'raw/b_64x48.yuv', 'raw/sub/b_64x48.yuv'])
  writeFileSync(within(name), randomBytes((64 * 48 * 3) / 2));

afterEach(async () => {
  for (const end of later.reverse()) await end();
  later = [];
});

afterAll(async () => {
  for (const end of atLast.reverse()) await end();
});

type Served = Awaited<ReturnType<typeof fakeHttp>>;

async function start(options: Partial<HostOptions> = {}): Promise<Served> {
  const usual = { allow: [within('in')], tools: [...TOOLS, ...FAKE_TOOLS], jobs: within('jobs') };
  const served = await fakeHttp(await fakeHost({}, () => {}, { ...usual, ...options }));
  atLast.push(() => served.close());
  return served;
}

const servers = new Map<string, Promise<Served>>();

/** The server of these options, shared by all tests: its thread has loaded its modules. */
function serve(options: Partial<HostOptions> = {}): Promise<Served> {
  const key = JSON.stringify([options.allow, options.tools?.map(({ name }) => name)]);
  const served = servers.get(key) ?? start(options);
  servers.set(key, served);
  return served;
}

async function first({ url }: Served, capabilities: object = {}): Promise<Client1> {
  const client = await httpClient(url, capabilities);
  later.push(() => client.close());
  return client;
}

async function second({ url }: Served, capabilities: object = {}): Promise<Client2> {
  const client = new Client2(
    { name: 'test', version: '2' },
    { capabilities, versionNegotiation: { mode: 'auto' } },
  );
  later.push(() => client.close());
  await client.connect(new Http2(new URL(url)));
  return client;
}

/** A client of the first protocol, over lines, as of a host that starts the server as a program. */
async function onLines({ host }: Served, capabilities: object = {}): Promise<Client1> {
  const client = new Client1({ name: 'test', version: '1' }, { capabilities });
  const stop = new AbortController();
  const { transport, ended } = lineTransport(host, stop.signal);
  later.push(async () => {
    await client.close();
    stop.abort();
    await ended;
  });
  const send = transport.send.bind(transport);
  Object.assign(transport, {
    send(message: JSONRPCMessage) {
      const asks = 'method' in message && message.method === 'initialize';
      const old = { ...message, params: { ...Object(message).params, protocolVersion: '2024-11-05' } };
      return send(asks ? (old as JSONRPCMessage) : message);
    },
    setProtocolVersion: (version: string) => expect(version).toBe('2024-11-05'),
  });
  await client.connect(transport);
  return client;
}

const CLIENTS = [
  ['2024-11-05 on lines', onLines],
  ['2025-11-25 over HTTP', first],
  ['2026-07-28 over HTTP', second],
] as const;

/** Starts a job; its id. */
async function startWork(client: Client1 | Client2, frames: number): Promise<string> {
  const job = { tool: 'work', arguments: { frames } };
  const { structuredContent } = await client.callTool({ name: 'job_start', arguments: job });
  return String(Object(structuredContent).job_id);
}

/** Addresses of the resources that a client is notified of. */
function updatesOf(client: Client1 | Client2): string[] {
  const heard: string[] = [];
  const hear = ({ params }: { readonly params: { readonly uri: string } }) => {
    heard.push(params.uri);
  };
  if (client instanceof Client1) client.setNotificationHandler(ResourceUpdatedNotificationSchema, hear);
  else client.setNotificationHandler('notifications/resources/updated', hear);
  return heard;
}

describe.each(CLIENTS)('a client of %s', (_, open) => {
  it('gets prompts with the tools that answer them', async () => {
    const client: Client1 | Client2 = await open(await serve());
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name, title }) => [name, title])).toEqual([
      ['compare_my_encodes', 'Compare my encodes'],
      ['find_what_is_wrong', 'Find what is wrong'],
      ['choose_settings', 'Choose settings'],
    ]);
    for (const { description, arguments: args = [] } of prompts) {
      expect(description).toMatch(/\.$/);
      for (const argument of args) expect(Object.keys(argument)).not.toContain('of');
    }
    const { messages } = await client.getPrompt({
      name: 'compare_my_encodes',
      arguments: { reference: 'a.mp4', encodes: 'b.mp4, "c".mp4', target: '93' },
    });
    expect(messages).toHaveLength(1);
    expect(messages[0]?.role).toBe('user');
    const text = messages[0]?.content.type === 'text' ? messages[0].content.text : '';
    expect(text).toContain('encodes of "a.mp4": "b.mp4", "\\"c\\".mp4".');
    expect(text).toContain('compare_encodes with all of them and the target "93"');
    for (const { name, arguments: args = [] } of prompts) {
      const values = Object.fromEntries(args.map((one) => [one.name, `value_${one.name}`]));
      const { messages: all } = await client.getPrompt({ name, arguments: values });
      for (const value of Object.values(values)) expect(JSON.stringify(all)).toContain(value);
      const named = JSON.stringify(all).match(/\b(?:[a-z]+_)+[a-z]+\b/g) ?? [];
      const tools = named.filter((word) => !word.startsWith('value_') && word !== 'next_action');
      const unknown = tools.filter((word) => !TOOLS.some((tool) => tool.name === word));
      expect(unknown.filter((word) => !/^(dry_run|vmaf_v.*|psnr_y)$/.test(word))).toEqual([]);
    }
  });

  it('is notified of its jobs', async () => {
    // Long enough for an update in between.
    const frames = open === onLines ? 300 : 120;
    const client: Client1 | Client2 = await open(await serve());
    const heard = updatesOf(client);
    const [quiet, id] = [await startWork(client, 20), await startWork(client, frames)];
    const uri = `anyvmaf://jobs/${id}`;
    if (client instanceof Client1) await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: [uri] });
    const state = async () => {
      const { contents } = await client.readResource({ uri });
      return JSON.parse(contents[0] && 'text' in contents[0] ? contents[0].text : '').status;
    };
    await expect.poll(state, { timeout: 20_000 }).toBe('completed');
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(frames / 150);
    expect(new Set(heard)).toEqual(new Set([uri]));
    expect(quiet).not.toBe(id);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain('anyvmaf://jobs/{id}');
    await expect(client.readResource({ uri: `${uri.slice(0, -1)}x` })).rejects.toThrow('Unknown resource');
  });

  it('sees the icon of the server', async () => {
    const client: Client1 | Client2 = await open(await serve());
    const [icon] = Object(client.getServerVersion()).icons;
    expect(icon).toMatchObject({ mimeType: 'image/svg+xml', sizes: ['any'] });
    expect(icon.src.length).toBeLessThan(500);
    const { _meta: meta } = await client.listPrompts();
    expect(JSON.stringify(meta ?? {})).not.toContain('svg');
  });
});

describe('a job', () => {
  it('notifies no other session', async () => {
    const served = await serve();
    const [owner, other] = [await first(served), await first(served)];
    const heard = updatesOf(other);
    const id = await startWork(owner, 20);
    const uri = `anyvmaf://jobs/${id}`;
    // The answer does not tell whether the job exists.
    expect(await other.subscribeResource({ uri })).toEqual({});
    await owner.callTool({ name: 'job_result', arguments: { job_id: id } });
    await expect(other.readResource({ uri })).rejects.toThrow('Unknown resource');
    expect(heard).toEqual([]);
  });

  it('still notifies after a thousand subscriptions, the last of them repeated', async () => {
    const client = await onLines(await serve());
    const heard = updatesOf(client);
    const id = await startWork(client, 9e6);
    const uri = `anyvmaf://jobs/${id}`;
    const others = Array.from({ length: 999 }, (_, i) => `anyvmaf://jobs/${i}`);
    for (const one of [uri, ...others, 'anyvmaf://jobs/998']) await client.subscribeResource({ uri: one });
    heard.length = 0;
    await client.callTool({ name: 'job_cancel', arguments: { job_id: id } });
    await expect.poll(() => heard).toContain(uri);
  });
});

/** Raw videos of one frame. */
const pair = { ref: within('raw/a_64x48.yuv'), dis: within('raw/b_64x48.yuv') };
const size = { width: 64, height: 48, pixfmt: '420', bitdepth: 8 };

describe('the view of a host of MCP Apps', () => {
  const UI = 'io.modelcontextprotocol/ui';
  const shows = { extensions: { [UI]: { mimeTypes: ['text/html;profile=mcp-app'] } } };

  it.each(CLIENTS)('is declared only to clients that announce support: %s', async (_, open) => {
    const served = await serve({ tools: TOOLS });
    const listed = async (capabilities: object) => {
      const client: Client1 | Client2 = await open(served, capabilities);
      const { tools } = await client.listTools();
      const { resources } = await client.listResources();
      return {
        text: JSON.stringify({ tools }),
        tools: tools.filter(({ _meta: meta }) => meta?.ui).map(({ name }) => name),
        views: resources.filter(({ uri }) => uri.startsWith('ui:')).map(({ uri }) => uri),
      };
    };
    const { text, ...with_ } = await listed(shows);
    expect(with_).toEqual({
      tools: ['vmaf_score', 'describe_worst_frames', 'vmaf_score_encoded', 'compare_encodes', 'job_start'],
      views: ['ui://anyvmaf/report'],
    });
    expect(text.length).toBeLessThan(52_000);
    const others = [{ [UI]: {} }, { [UI]: { mimeTypes: ['text/html'] } }];
    for (const none of [{}, ...others.map((extensions) => ({ extensions }))])
      expect(await listed(none)).toMatchObject({ tools: [], views: [] });
  });

  it('reads the page of a report, which only its session can read and which outlives the server', async () => {
    const served = await serve({ allow: [within('raw')], tools: TOOLS });
    const { host } = served;
    const [client, other] = [await first(served, shows), await first(served)];
    const { structuredContent: answer } = await client.callTool({
      name: 'vmaf_score',
      arguments: { ...pair, ...size },
    });
    const uri = Object(answer).full_report.uri.replace('.json', '.html');
    const page = async (from: Client1, address = uri) => {
      const { contents } = await from.readResource({ uri: address });
      expect(contents[0]).toMatchObject({ uri: address, mimeType: 'text/html' });
      return contents[0] && 'text' in contents[0] ? contents[0].text : '';
    };
    expect(await page(client)).toContain('b_64x48.yuv against a_64x48.yuv');
    await expect(page(other)).rejects.toThrow('Unknown resource');
    for (const wrong of [`${uri}x`, uri.replace('report', 'frame'), uri.replace(/.{8}-/, '00000000-')])
      await expect(page(client, wrong)).rejects.toThrow('Unknown resource');
    // A result that is not a report has no page.
    const data = '{"text":"a"}';
    const scope = host.resources.scope('local');
    const { uri: odd } = await scope.publish({ name: 'report.json', mimeType: 'application/json', data });
    const makePage = (text: string) =>
      reportPage(text, undefined, host.threads.measuring, new AbortController().signal);
    await expect(scope.read(odd.replace('.json', '.html'), makePage)).rejects.toThrow();
    // One that a link has replaced is not read.
    const stored = await scope.publish({ name: 'report.json', mimeType: 'application/json', data });
    const secret = within('secret.json');
    writeFileSync(secret, JSON.stringify({ frames: [] }));
    rmSync(stored.path);
    symlinkSync(secret, stored.path);
    for (const end of ['report.json', 'report.html', 'frames?metric=vmaf'])
      expect(await scope.read(stored.uri.replace('report.json', end), async (text) => text)).toBeUndefined();
    const job = { tool: 'vmaf_score', arguments: { ...pair, ...size } };
    const started = await client.callTool({ name: 'job_start', arguments: job });
    const id = Object(started.structuredContent).job_id;
    const wanted = { name: 'job_result', arguments: { job_id: id } };
    const { structuredContent: done } = await client.callTool(wanted);
    await client.close();
    const again = await first(await start({ allow: [within('raw')], tools: TOOLS }));
    const kept = Object(done).full_report.uri.replace('.json', '.html');
    await expect
      .poll(() => page(again, kept).catch(() => ''), { timeout: 10_000 })
      .toContain('<h1>b_64x48.yuv</h1>');
  });
});

describe.each([
  ['on lines', onLines],
  ['over HTTP', first],
] as const)('roots of a client %s', (_, open) => {
  /** A client with roots that change. */
  async function rooted(roots: () => readonly string[] | undefined) {
    const client = await open(await serve(), { roots: { listChanged: true } });
    let asked = 0;
    client.setRequestHandler(ListRootsRequestSchema, () => {
      asked++;
      const list = roots();
      if (!list) throw new Error('no');
      return { roots: list.map((uri) => ({ uri })) };
    });
    const call = async (name: string, args: object) => {
      const { content, isError } = await client.callTool({ name, arguments: { ...args } });
      const [{ text }] = content as [{ text: string }];
      return isError ? JSON.parse(text).error : JSON.parse(text);
    };
    return {
      client,
      asked: () => asked,
      folders: async () => (await call('list_videos', { details: false })).folders,
      locate: async (path: string) => {
        const found = await call('locate', { path });
        return typeof found === 'string' ? found : found.path;
      },
    };
  }

  const address = (path: string) => pathToFileURL(path).href;

  it('narrow the allowed folders, and are requested once and after each change', async () => {
    let roots = [address(within('in/sub'))];
    const { client, asked, folders, locate } = await rooted(() => roots);
    expect(await locate(within('in/sub/encode_1.mp4'))).toBe(within('in/sub/encode_1.mp4'));
    expect(await locate('encode_1.mp4')).toBe(within('in/sub/encode_1.mp4'));
    expect(await locate(within('in/source.mp4'))).toContain("this client's roots limit the allowed folders");
    expect(await folders()).toEqual([within('in/sub')]);
    const completion = await client.complete({
      ref: { type: 'ref/prompt', name: 'choose_settings' },
      argument: { name: 'source', value: 'source' },
    });
    expect(completion.completion.values).toEqual([]);
    expect(asked()).toBe(1);
    roots = [address(within('in')), address(within('out'))];
    await client.sendRootsListChanged();
    await expect.poll(folders).toEqual([within('in')]);
    expect(await locate(within('in/source.mp4'))).toBe(within('in/source.mp4'));
    expect(await locate(within('out/secret.mp4'))).toContain('not under an allowed folder');
    expect(asked()).toBe(2);
  });

  it.each<readonly [string, () => readonly string[] | undefined]>([
    ['the whole disk', () => ['file:///']],
    ['a folder outside', () => [address(within('out')), 'file:///etc']],
    ['a link that leads outside', () => [address(within('in/link'))]],
    ['a file', () => [address(within('out/secret.mp4'))]],
    ['other machines and schemes', () => ['file://host/share', 'http://a/b', 'file:///%00', 'x', '']],
    ['no folder', () => [address(within('gone')), address(within('in/../..'))]],
    ['none', () => []],
    ['an error', () => undefined],
    ['very many', () => Array.from({ length: 5000 }, () => 'file:///etc')],
  ])('never widen them: %s', async (_, roots) => {
    const { folders, locate } = await rooted(roots);
    expect(await folders()).toEqual([within('in')]);
    expect(await locate(within('in/source.mp4'))).toBe(within('in/source.mp4'));
    const outside = [
      within('out/secret.mp4'),
      within('in/link/secret.mp4'),
      '/etc/passwd',
      '../out/secret.mp4',
    ];
    for (const path of outside) expect(await locate(path), path).toContain('is not under an allowed folder');
  });
});

describe('a missing choice', () => {
  /** The first protocol has no elicitation. */
  const BOTH = CLIENTS.slice(1);

  interface Form {
    readonly message: string;
    readonly requestedSchema: {
      readonly properties: Readonly<Record<string, { enum?: string[]; default?: unknown }>>;
    };
  }

  /** Calls vmaf_score for a user who gives this answer. */
  async function asking(
    open: (typeof CLIENTS)[number][1],
    args: object,
    answer: (form: Form) => object,
    { allow = [within('raw')], can = { elicitation: {} } as object } = {},
  ) {
    const forms: Form[] = [];
    const client: Client1 | Client2 = await open(await serve({ allow }), can);
    const respond = ({ params }: { readonly params: unknown }) => {
      forms.push(params as Form);
      return answer(params as Form) as never;
    };
    if (Object.hasOwn(can, 'elicitation')) {
      if (client instanceof Client1) client.setRequestHandler(ElicitRequestSchema, respond);
      else client.setRequestHandler('elicitation/create', respond);
    }
    const { content, isError } = await client.callTool({ name: 'vmaf_score', arguments: { ...args } });
    const [{ text }] = content as [{ text: string }];
    return { forms, isError, said: JSON.parse(text) };
  }

  const accept = (content: object) => () => ({ action: 'accept', content });

  it.each(BOTH)('is asked for once: the size of raw video, with what its name says: %s', async (_, open) => {
    const answer = accept({ width: 64, pixfmt: '420', bitdepth: '8' });
    const { forms, said, isError } = await asking(open, { ...pair, height: 48 }, answer);
    expect(isError, JSON.stringify(said)).toBeFalsy();
    expect([said.frame_count, forms.length]).toEqual([1, 1]);
    const { properties = {} } = forms[0]?.requestedSchema ?? {};
    expect(Object.keys(properties)).toEqual(['width', 'pixfmt', 'bitdepth']);
    expect(properties.width?.default).toBe(64);
  });

  it.each(BOTH)('is the reference, or one of several files: %s', async (_, open) => {
    const reference = await asking(open, { dis: pair.dis, ...size }, ({ requestedSchema }) => ({
      action: 'accept',
      content: { ref: requestedSchema.properties.ref?.enum?.find((path) => path.includes('a_64x48')) },
    }));
    expect(reference.said.frame_count).toBe(1);
    expect(reference.forms[0]?.requestedSchema.properties.ref?.enum).not.toContain(pair.dis);
    expect(JSON.stringify(reference.forms)).not.toContain('secret');
    const allow = [within('raw'), within('raw/sub')];
    const unclear = { ref: pair.ref, dis: 'b_64x48.yuv', ...size };
    const file = accept({ file: within('raw/sub/b_64x48.yuv') });
    const several = await asking(open, unclear, file, { allow });
    expect(several.forms[0]?.requestedSchema.properties.file?.enum).toEqual([
      within('raw/b_64x48.yuv'),
      within('raw/sub/b_64x48.yuv'),
    ]);
    expect(several.said.frame_count).toBe(1);
  });

  it.each(BOTH)('is never needed, and gives no right to files: %s', async (_, open) => {
    const refusal = (error: unknown) => ({ said: { error: String(error), frame_count: undefined } });
    const missing = '"width" is missing';
    for (const answer of [
      () => ({ action: 'decline' }),
      () => ({ action: 'cancel' }),
      accept({}),
      accept({ width: 'x' }),
      () => {
        throw new Error('no user');
      },
    ]) {
      // Which of these the client itself refuses depends on its version; the server survives.
      const { said } = await asking(open, pair, answer).catch(refusal);
      expect(said.error).toBeTypeOf('string');
    }
    const silent = await asking(open, pair, accept({}), { can: {} });
    expect(silent.forms).toEqual([]);
    expect(silent.said.error).toContain(missing);
    const secret = accept({ ref: within('out/secret.mp4') });
    const outside = await asking(open, { dis: pair.dis, ...size }, secret).catch(refusal);
    expect(outside.said.error).not.toContain('frame');
    expect(outside.said.frame_count).toBeUndefined();
    const whole = await asking(open, { ...pair, ...size }, accept({}));
    expect(whole.forms).toEqual([]);
    expect(whole.said.frame_count).toBe(1);
  });
});

describe('prompts', () => {
  it('say what is wrong with their arguments', async () => {
    const client = await first(await serve());
    const get = (name: string, args: Record<string, string> = {}) =>
      client.getPrompt({ name, arguments: args });
    await expect(get('compare_my_encode')).rejects.toThrow('did you mean compare_my_encodes?');
    await expect(get('constructor')).rejects.toThrow('Unknown prompt "constructor"');
    const message = 'The prompt choose_settings needs the argument source, the path of the video to encode.';
    await expect(get('choose_settings')).rejects.toThrow(message);
    await expect(get('choose_settings', { source: ' ' })).rejects.toThrow('needs the argument source');
    await expect(get('choose_settings', { sourc: 'a' })).rejects.toThrow('did you mean source?');
  });

  it('complete videos, models, features, encoders and results, and no files outside', async () => {
    const client = await first(await serve());
    const complete = async (name: string, value: string, prompt = 'find_what_is_wrong') =>
      (await client.complete({ ref: { type: 'ref/prompt', name: prompt }, argument: { name, value } }))
        .completion;
    const videos = ['source.mp4', 'sub/encode_1.mp4', 'sub/encode_2.mkv'];
    expect((await complete('reference', '')).values.sort()).toEqual(videos);
    expect((await complete('reference', 'SOU')).values).toEqual(['source.mp4']);
    expect((await complete('reference', within('in/sub/'))).values.sort()).toEqual([
      within('in/sub/encode_1.mp4'),
      within('in/sub/encode_2.mkv'),
    ]);
    expect((await complete('encodes', 'source.mp4, enc', 'compare_my_encodes')).values.sort()).toEqual([
      'source.mp4,sub/encode_1.mp4',
      'source.mp4,sub/encode_2.mkv',
    ]);
    expect((await complete('model', 'vmaf_4k')).values).toContain('vmaf_4k_v0.6.1');
    expect((await complete('metric', 'ssimu')).values).toEqual(['ssimulacra2']);
    expect((await complete('encoder', 'libx', 'choose_settings')).values).toEqual(['libx264', 'libx265']);
    const elsewhere = ['../', '../out/', 'link/', 'linked', 'secret', '/etc/', 'file:///', '\0', '%2e%2e/'];
    for (const typed of [...elsewhere, within('out/')])
      expect((await complete('reference', typed)).values, typed).toEqual([]);
    expect((await complete('reference', 'a'.repeat(100_000))).values).toEqual([]);
    expect((await complete('target', '9', 'choose_settings')).values).toEqual([]);
    expect((await complete('reference', '', 'toString')).values).toEqual([]);
    expect((await complete('constructor', '')).values).toEqual([]);
  });

  it('are listed only if their tools are offered', async () => {
    const names = async (set: string) => {
      const client = await first(await serve({ tools: toolsOf(set) }));
      return (await client.listPrompts()).prompts.map(({ name }) => name);
    };
    expect(await names('raw')).toEqual([]);
    expect(await names('explain')).toEqual(['compare_my_encodes', 'find_what_is_wrong']);
    expect(await names('encode')).toEqual(['choose_settings']);
  });
});
