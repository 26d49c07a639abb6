/**
 * @module test/node/mcp/jobs
 * Jobs: a store that outlives its server and does not trust its files, calls that turn into jobs, who sees which, and clients of
 * the built server that disconnect, restart it and ask again.
 */
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/v4';
import { machineMark, processMark } from '../../../src/files/folders.js';
import type { HostOptions } from '../../../src/mcp/host.js';
import { type JobRecord, JobStore } from '../../../src/mcp/job-store.js';
import { defineTool, type JobDocument } from '../../../src/mcp/tool.js';
import { JOB_TOOL_LIST } from '../../../src/mcp/tools/jobs.js';
import { ownFolder } from '../../support/folders.js';
import { type Answer, type Connection, connect } from '../../support/mcp-clients.js';
import { about, FAKE_TOOLS, fakeHost, fakeHttp, httpClient, post, seen } from '../../support/mcp-host.js';
import { seeded } from '../../support/random.js';
import { exhaustive } from '../../support/tier.js';

const DAY = 86_400_000;

const at = ownFolder('jobs');
let later: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const end of later.reverse()) await end();
  later = [];
});

const jobsFolder = () => at('cache/mcp-jobs');

async function recordWith(changes: Partial<JobRecord> = {}): Promise<JobRecord> {
  return {
    ...{ format: 1, id: randomUUID(), tool: 'echo', arguments: { text: 'a' }, status: 'completed', bytes: 0 },
    ...{ created: Date.now(), updated: Date.now(), server: await processMark(), owner: 'local', folders: [] },
    ...changes,
  };
}

/** The mark of a server that has ended: a process id in use, with another start time. */
const deadServer = async (): Promise<string> => `${await machineMark()}-${process.pid}-zzzz`;

describe('the store', () => {
  it('keeps records and answers that only this user can read', async () => {
    const store = new JobStore(jobsFolder());
    const record = await recordWith();
    expect(await store.read(record.id)).toBeUndefined();
    expect(existsSync(jobsFolder())).toBe(false);
    await store.write({ ...record, status: 'working' });
    const answer = { content: [{ type: 'text', text: '{}' }], structuredContent: {} } as const;
    await store.finish(record, answer);
    const { length: bytes } = JSON.stringify(answer);
    expect(await new JobStore(jobsFolder()).read(record.id)).toEqual({ ...record, bytes });
    expect(await store.answer(record.id)).toEqual(answer);
    expect(readdirSync(join(jobsFolder(), record.id)).sort()).toEqual(['answer.json', 'job.json']);
    if (process.platform === 'win32') return;
    const mode = (path: string) => (statSync(join(jobsFolder(), path)).mode & 0o777).toString(8);
    expect([mode(''), mode(record.id), mode(`${record.id}/job.json`)]).toEqual(['700', '700', '600']);
  });

  it('tells jobs of killed servers from those that run', async () => {
    const store = new JobStore(jobsFolder());
    const elsewhere = { server: 'other-1-1' };
    const cases: readonly (readonly [Partial<JobRecord>, JobRecord['status']])[] = [
      [{}, 'working'],
      [{ server: await deadServer() }, 'interrupted'],
      [elsewhere, 'working'],
      [{ ...elsewhere, updated: Date.now() - 600_000 }, 'interrupted'],
    ];
    for (const [changes, status] of cases) {
      const record = await recordWith({ status: 'working', ...changes });
      await store.write(record);
      expect((await store.read(record.id))?.status, JSON.stringify(changes)).toBe(status);
    }
  });

  it('refuses forged files, and still lists the others', async () => {
    const store = new JobStore(jobsFolder());
    const good = await recordWith();
    await store.write(good);
    const secret = at('secret.json');
    const text = JSON.stringify(await recordWith());
    writeFileSync(secret, text);
    const texts = ['{"format":1,', '', text, text.replace('"completed"', '"done"')];
    const lies: readonly ((path: string) => void)[] = [
      (path) => symlinkSync(secret, path),
      (path) => mkdirSync(path),
      ...texts.map((lie) => (path: string) => writeFileSync(path, lie)),
      (path) => {
        writeFileSync(path, text);
        truncateSync(path, 2 ** 33);
      },
    ];
    for (const lie of lies) {
      const id = randomUUID();
      mkdirSync(join(jobsFolder(), id));
      lie(join(jobsFolder(), id, 'job.json'));
      await expect(store.read(id), String(lie)).rejects.toThrow(
        `The job ${id} cannot be used: its job.json is missing, damaged or not a file of the store`,
      );
    }
    // A job that links to a folder elsewhere.
    const linked = randomUUID();
    mkdirSync(at('elsewhere'));
    writeFileSync(at('elsewhere/job.json'), JSON.stringify(await recordWith({ id: linked })));
    symlinkSync(at('elsewhere'), join(jobsFolder(), linked));
    await expect(store.read(linked)).rejects.toThrow('cannot be used');
    const { jobs, problems } = await store.list();
    expect(jobs).toEqual([good]);
    expect(problems).toHaveLength(lies.length + 1);
    // Answers and results are checked too.
    await expect(store.answer(good.id)).rejects.toThrow('its answer.json is missing, damaged');
    symlinkSync(secret, join(jobsFolder(), good.id, 'answer.json'));
    await expect(store.answer(good.id)).rejects.toThrow('its answer.json is missing, damaged');
    const { folder: place } = await store.resultFolder(good.id, 1);
    symlinkSync(secret, join(place, 'report.json'));
    expect(await store.result(good.id, 1)).toBeUndefined();
    expect(await store.result(good.id, 2)).toBeUndefined();
    expect(await store.read('../../secret')).toBeUndefined();
  });

  it('finds no job by a name that is not an id, whatever is stored there', async () => {
    const store = new JobStore(jobsFolder());
    const record = await recordWith();
    await store.write(record);
    const outside = at('outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'answer.json'), JSON.stringify({ content: [] }));
    for (const id of [`../../${basename(outside)}`, `./${record.id}`, record.id.toUpperCase(), '..', '']) {
      writeFileSync(join(outside, 'job.json'), JSON.stringify({ ...record, id }));
      expect(await store.read(id), id).toBeUndefined();
      await expect(store.answer(id), id).rejects.toThrow(/start it again with job_start/);
    }
  });

  it('refuses a folder that is a link or a file, with advice', async () => {
    mkdirSync(at('cache'));
    mkdirSync(at('target'));
    symlinkSync(at('target'), jobsFolder());
    const write = async () => new JobStore(jobsFolder()).write(await recordWith());
    await expect(write()).rejects.toThrow(
      /mcp-jobs", where jobs are kept, is not a folder of this user; remove it, or name another with ANYVMAF_CACHE/,
    );
    rmSync(jobsFolder());
    rmSync(at('cache'), { recursive: true });
    writeFileSync(at('cache'), '');
    await expect(write()).rejects.toThrow(/Jobs cannot be kept in .*mcp-jobs": a part of its path is a file/);
  });

  it('removes what is old or over the limit, calls before jobs, the oldest first, and nothing that runs', async () => {
    const store = new JobStore(jobsFolder());
    const [now, big] = [Date.now(), 2 ** 30];
    const old = { created: now - 9 * DAY, updated: now - 8 * DAY };
    const kept = [
      await recordWith({ created: now, bytes: big }),
      await recordWith({ created: now - 3, bytes: big, kept: true }),
      await recordWith({ status: 'working', ...old }),
    ];
    const gone = [
      await recordWith({ created: now - 2, bytes: 1 }),
      await recordWith(old),
      await recordWith({ status: 'working', ...old, server: await deadServer() }),
    ];
    for (const one of [...gone, ...kept]) await store.write(one);
    const damaged = join(jobsFolder(), randomUUID());
    const points = [await store.points('old'), await store.points('new')] as const;
    const orphan = join(jobsFolder(), 'results', randomUUID());
    for (const { id } of [...gone.slice(0, 1), ...kept]) await store.resultFolder(id, 1);
    for (const made of [damaged, orphan, ...points]) mkdirSync(made);
    for (const made of [damaged, orphan, points[0]])
      utimesSync(made, new Date(old.updated), new Date(old.updated));
    await store.sweep();
    expect((await store.list()).jobs.map(({ id }) => id)).toEqual(kept.map(({ id }) => id));
    const left = [...kept.map(({ id }) => id), 'results', basename(points[1])];
    expect(readdirSync(jobsFolder()).sort()).toEqual(left.sort());
    expect(readdirSync(join(jobsFolder(), 'results')).sort()).toEqual(kept.map(({ id }) => id).sort());
  });
});

const measure = defineTool({
  ...about('measure', 'Tells where it keeps measured points.'),
  inputSchema: z.object({}),
  outputSchema: z.object({ folder: z.string() }),
  handler: async (_, { resources }) => ({ document: { folder: await resources.points('{}') } }),
});

/** A server in this process, a client of it, and further ones. */
async function serve(options: Partial<HostOptions> = {}) {
  const log: string[] = [];
  const tools = [...FAKE_TOOLS, measure, ...JOB_TOOL_LIST];
  mkdirSync(at('videos'), { recursive: true });
  const told = { allow: [at('videos')], tools, jobs: jobsFolder(), ...options };
  const { host, url, close: end } = await fakeHttp(await fakeHost({}, (line) => log.push(line), told));
  const clients: Client[] = [];
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    for (const client of clients) await client.close();
    await end();
  };
  later.push(close);
  const enter = async () => {
    const client = await httpClient(url);
    clients.push(client);
    return client;
  };
  return { host, url, log, close, client: await enter(), join: enter };
}

const ask = async (client: Client, name: string, args: object = {}): Promise<Answer> =>
  (await client.callTool({ name, arguments: { ...args } })) as unknown as Answer;

async function job(client: Client, name: string, args: object): Promise<JobDocument> {
  const answer = await ask(client, name, args);
  expect(answer.isError, JSON.stringify(answer.content)).toBeUndefined();
  return answer.structuredContent as unknown as JobDocument;
}

/** Sends the next call that an answer names. */
const next = (client: Client, { next_action }: JobDocument): Promise<Answer> =>
  ask(client, next_action.tool, next_action.arguments);
const nextJob = async (client: Client, before: JobDocument) =>
  (await next(client, before)).structuredContent as unknown as JobDocument;

/** Awaits work while fake timers run ten times as fast as real ones. */
async function hurried<T>(work: Promise<T>): Promise<T> {
  const clock = setInterval(() => void vi.advanceTimersByTimeAsync(200), 20);
  return work.finally(() => clearInterval(clock));
}

const reportOf = ({ content }: Answer) => content.find(({ name }) => name === 'report.json')?.uri ?? '';

async function expectReport(client: Client, uri: string): Promise<void> {
  expect((await client.readResource({ uri })).contents).toMatchObject([{ text: '{"frames":[]}' }]);
}

describe('a job', () => {
  it('gives the answer of the call, through the calls that its answers name', async () => {
    const { client } = await serve();
    // Half a second of work: a busy machine needs part of it to store the job and answer.
    const frames = 100;
    const started = await job(client, 'job_start', { tool: 'work', arguments: { frames } });
    expect(started).toMatchObject({ tool: 'work', status: 'working' });
    expect(Date.parse(started.kept_until) - Date.now()).toBeGreaterThan(6.9 * DAY);
    const done = await nextJob(client, started);
    expect(done).toMatchObject({ status: 'completed', progress: { frames, total_frames: frames } });
    expect(await next(client, done)).toEqual(await ask(client, 'work', { frames }));
    const { structuredContent: list } = await ask(client, 'list_jobs');
    expect(list).toMatchObject({ jobs: [{ job_id: started.job_id, status: 'completed' }], problems: [] });
    const record = readFileSync(join(jobsFolder(), started.job_id, 'job.json'), 'utf8');
    expect(JSON.parse(record)).toMatchObject({ kept: true });
  });

  it('reports progress while it works, also through job_result', async () => {
    const { client } = await serve();
    const { job_id } = await job(client, 'job_start', { tool: 'work', arguments: { frames: 4000 } });
    const status = await job(client, 'job_status', { job_id, wait: 0.3 });
    expect(status.progress).toMatchObject({ total_frames: 4000, fps: 200 });
    expect(status.progress?.frames).toBeGreaterThan(0);
    expect(status.progress?.seconds_left).toBeGreaterThan(3);
    expect(status.next_action).toEqual({ tool: 'job_status', arguments: { job_id } });
    expect(await job(client, 'job_result', { job_id, wait: 0 })).toMatchObject({ job_id, status: 'working' });
  });

  it('has its arguments checked by its tool before it starts, with the same messages', async () => {
    const { client } = await serve();
    for (const args of [{ text: 'a', widht: 3 }, { text: 'a', width: 0 }, {}]) {
      const refused = await ask(client, 'job_start', { tool: 'echo', arguments: args });
      expect(refused).toEqual(await ask(client, 'echo', args));
      expect(refused.isError).toBe(true);
    }
    for (const tool of ['wrok', 'job_start']) {
      const { content } = await ask(client, 'job_start', { tool, arguments: {} });
      expect(content[0]?.text).toContain(`No tool \\"${tool}\\" can run as a job`);
    }
    expect(existsSync(jobsFolder())).toBe(false);
  });

  it('is refused beside a hundred others, also if all start at once', async () => {
    const { host } = await serve();
    const jobs = host.jobs.of(host.resources.scope('local'));
    const starts = Array.from({ length: 102 }, () => jobs.start('work', {}));
    const refused = (await Promise.allSettled(starts)).flatMap((start) =>
      start.status === 'rejected' ? [String(start.reason)] : [],
    );
    expect(refused).toEqual(Array(2).fill(expect.stringContaining('already runs 100 jobs, its limit')));
  });

  it('that fails gives the reason, as the call does', async () => {
    const { client } = await serve();
    const args = { how: 'sentence' };
    const { job_id } = await job(client, 'job_start', { tool: 'fail', arguments: args });
    expect(await job(client, 'job_status', { job_id })).toMatchObject({ status: 'failed' });
    expect(await ask(client, 'job_result', { job_id })).toEqual(await ask(client, 'fail', args));
  });

  it('stops when it is cancelled, and can be restarted as its answer says', async () => {
    const { host, client } = await serve();
    const before = { ...seen };
    const { job_id } = await job(client, 'job_start', { tool: 'work', arguments: {} });
    await expect.poll(() => seen.started).toBe(before.started + 1);
    const cancelled = await job(client, 'job_cancel', { job_id });
    expect(cancelled).toMatchObject({ status: 'cancelled', next_action: { tool: 'job_start' } });
    expect(seen.stopped).toBe(before.stopped + 1);
    expect(host.pool.load).toEqual({ running: 0, waiting: 0 });
    const again = await nextJob(client, cancelled);
    expect(again.status).toBe('working');
    expect(again.job_id).not.toBe(job_id);
    expect(await job(client, 'job_cancel', { job_id })).toMatchObject({ status: 'cancelled' });
  });

  it('that ends while jobs are listed is listed with its end', async () => {
    const { list } = JobStore.prototype;
    const { client } = await serve();
    const { job_id } = await job(client, 'job_start', { tool: 'work', arguments: {} });
    const ended = vi.spyOn(JobStore.prototype, 'finish');
    later.push(() => void vi.restoreAllMocks());
    vi.spyOn(JobStore.prototype, 'list').mockImplementationOnce(async function (this: JobStore) {
      const found = await list.call(this);
      await job(client, 'job_cancel', { job_id });
      return found;
    });
    const { structuredContent } = await ask(client, 'list_jobs');
    expect(ended).toHaveBeenCalledOnce();
    expect(structuredContent).toMatchObject({ jobs: [{ job_id, status: 'cancelled' }] });
  });

  it('that does not stop does not keep its server from stopping', async () => {
    const { host, client, close } = await serve();
    const { job_id } = await job(client, 'job_start', { tool: 'stuck', arguments: {} });
    later.push(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    expect(await hurried(job(client, 'job_cancel', { job_id }))).toMatchObject({ status: 'working' });
    await hurried(close());
    expect(host.closing.aborted).toBe(true);
    // This process still runs.
    expect((await new JobStore(jobsFolder()).read(job_id))?.status).toBe('working');
  });

  it('is not waited for once its client disconnects', async () => {
    const { host, client } = await serve();
    const { job_id } = await job(client, 'job_start', { tool: 'work', arguments: {} });
    const stop = new AbortController();
    const params = { name: 'job_status', arguments: { job_id } };
    const waiting = client.callTool(params, undefined, { signal: stop.signal }).catch(() => {});
    await expect.poll(() => host.calls).toBe(1);
    stop.abort();
    await waiting;
    await expect.poll(() => host.calls).toBe(0);
    expect(await job(client, 'job_status', { job_id, wait: 0 })).toMatchObject({ status: 'working' });
  });
});

describe('a call that takes longer than the limit', () => {
  it('continues as a job without losing work', async () => {
    const { client } = await serve({ callLimit: 0.5 });
    const before = { ...seen };
    const going = await job(client, 'work', { frames: 200 });
    expect(going.summary).toMatch(/^This takes longer than 0\.5 s and continues as a job\. work is running/);
    expect(going.progress?.frames).toBeGreaterThan(0);
    expect(going.next_action).toEqual({ tool: 'job_status', arguments: { job_id: going.job_id } });
    const done = await nextJob(client, going);
    expect((await next(client, done)).structuredContent).toMatchObject({ frames: 200 });
    expect(seen.started).toBe(before.started + 1);
  });

  it('stays a call below a limit that no timer can wait for', async () => {
    const { client } = await serve({ callLimit: 3_000_000 });
    expect((await ask(client, 'work', { frames: 20 })).structuredContent).toMatchObject({ frames: 20 });
  });

  it('stays a call if the limit is 0 or jobs cannot be kept', async () => {
    const { client: never } = await serve({ callLimit: 0 });
    expect((await ask(never, 'work', { frames: 20 })).structuredContent).toMatchObject({ frames: 20 });
    writeFileSync(at('cache'), '');
    const { client, log } = await serve({ callLimit: 0.05 });
    expect((await ask(client, 'work', { frames: 30 })).structuredContent).toMatchObject({ frames: 30 });
    expect(log.join()).toContain('Jobs cannot be kept in');
    const refused = await ask(client, 'job_start', { tool: 'work', arguments: {} });
    expect(refused.content[0]?.text).toMatch(/Jobs cannot be kept in .*ANYVMAF_CACHE/);
    // Measured points are kept until the server stops.
    const { structuredContent } = await ask(client, 'measure');
    expect(existsSync(dirname(String(structuredContent?.folder)))).toBe(true);
  });

  it('continues if its client disconnects afterwards, and ends if it does before', async () => {
    const { client } = await serve({ callLimit: 0.2 });
    const before = { ...seen };
    const { job_id } = await job(client, 'work', { frames: 80 });
    await client.close();
    const { host, client: other } = await serve({ callLimit: 60 });
    const stop = new AbortController();
    const params = { name: 'work', arguments: {} };
    const asked = other.callTool(params, undefined, { signal: stop.signal }).catch(() => {});
    await expect.poll(() => seen.started).toBe(before.started + 2);
    stop.abort();
    await asked;
    await expect.poll(() => seen.stopped).toBe(before.stopped + 2);
    expect(host.calls).toBe(0);
    const status = async () => (await new JobStore(jobsFolder()).read(job_id))?.status;
    await expect.poll(status).toBe('completed');
    expect(readdirSync(jobsFolder())).toHaveLength(1);
  });
});

describe('a job as a task of the protocol of 2026-07-28', () => {
  /** A request of a client that supports tasks. */
  async function send(
    url: string,
    method: string,
    params: Readonly<Record<string, unknown>>,
    extensions: object = { 'io.modelcontextprotocol/tasks': {} },
  ) {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { extensions },
    };
    const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } };
    const name = String(params.taskId ?? params.name ?? '');
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': name };
    const response = await post(url, body, headers);
    const text = await response.text();
    const { result, error } = JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
    return { result, error };
  }

  it('is what a call becomes, with its result, and is the job of the same id', async () => {
    const { url } = await serve({ callLimit: 0.2 });
    const { result: discovered } = await send(url, 'server/discover', {});
    expect(discovered.capabilities.extensions).toEqual({ 'io.modelcontextprotocol/tasks': {} });
    const { result: task } = await send(url, 'tools/call', { name: 'work', arguments: { frames: 80 } });
    expect(task).toMatchObject({ resultType: 'task', status: 'working', pollIntervalMs: 2000 });
    expect(task.ttlMs).toBeGreaterThan(6.9 * DAY);
    const { taskId } = task;
    const get = async () => (await send(url, 'tasks/get', { taskId })).result;
    await expect.poll(async () => (await get()).status).toBe('completed');
    const asked = { name: 'job_result', arguments: { job_id: taskId } };
    const { result: same } = await send(url, 'tools/call', asked);
    expect(same.structuredContent).toMatchObject({ frames: 80 });
    expect(await get()).toMatchObject({
      resultType: 'complete',
      taskId,
      result: { resultType: 'complete', structuredContent: same.structuredContent, content: same.content },
    });
    expect((await send(url, 'tasks/update', { taskId, inputResponses: {} })).error).toBeUndefined();
  });

  it('can be cancelled, and an unknown one is refused', async () => {
    const { url } = await serve({ callLimit: 0.2 });
    const { result } = await send(url, 'tools/call', { name: 'work', arguments: {} });
    const { taskId } = result;
    expect((await send(url, 'tasks/cancel', { taskId })).error).toBeUndefined();
    expect((await send(url, 'tasks/get', { taskId })).result).toMatchObject({ status: 'cancelled' });
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
      const { error } = await send(url, method, { taskId: randomUUID() });
      expect(error, method).toMatchObject({ code: -32602, message: expect.stringContaining('no job') });
      const { error: refusal } = await send(url, method, { taskId }, {});
      const requiredCapabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
      expect(refusal, method).toMatchObject({ code: -32021, data: { requiredCapabilities } });
    }
  });
});

describe('jobs', () => {
  it('of one session are hidden from others until it ends; then anyone who knows the id has them', async () => {
    const { client: mine, join: enter, url } = await serve();
    const theirs = await enter();
    const { job_id } = await job(mine, 'job_start', { tool: 'publish', arguments: {} });
    const answer = await ask(mine, 'job_result', { job_id });
    const uri = reportOf(answer);
    expect((await ask(theirs, 'list_jobs')).structuredContent).toEqual({ jobs: [], problems: [] });
    for (const name of ['job_status', 'job_result', 'job_cancel']) {
      const { content, isError } = await ask(theirs, name, { job_id });
      expect(isError).toBe(true);
      expect(content[0]?.text).toContain('This client has no job');
    }
    const stateless = async (name: string, args: object) => {
      const params = { name, arguments: args };
      return (await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params })).text();
    };
    expect(await stateless('job_status', { job_id })).toContain('This client has no job');
    // Clients without a session cannot be told apart.
    expect(await stateless('list_jobs', {})).toMatch(/"jobs":\[\].*query one by its job_id/);
    await expect(theirs.readResource({ uri })).rejects.toThrow('Unknown resource anyvmaf://');
    const transport = mine.transport as StreamableHTTPClientTransport;
    await transport.terminateSession();
    expect(await ask(theirs, 'job_result', { job_id })).toEqual(answer);
    await expectReport(theirs, uri);
    expect((await ask(theirs, 'list_jobs')).structuredContent).toEqual({ jobs: [], problems: [] });
  });

  it('answer with lasting paths, also while their answer is being stored', async () => {
    const { sweep, finish } = JobStore.prototype;
    // The tool publishes before its call is stored, and ends afterwards.
    vi.spyOn(JobStore.prototype, 'sweep').mockImplementation(async function (this: JobStore) {
      await pause(100);
      await sweep.call(this);
    });
    vi.spyOn(JobStore.prototype, 'finish').mockImplementation(async function (this: JobStore, ...given) {
      await pause(200);
      await finish.apply(this, given);
    });
    later.push(() => void vi.restoreAllMocks());
    const { client } = await serve();
    const { job_id } = await job(client, 'job_start', { tool: 'publish', arguments: { milliseconds: 300 } });
    const status = async () => (await job(client, 'job_status', { job_id, wait: 0 })).status;
    await expect.poll(status).toBe('completed');
    const { structuredContent } = await ask(client, 'job_result', { job_id });
    expect(String(structuredContent?.path)).toContain(join(jobsFolder(), 'results', job_id));
  });

  it('and their results survive a restart, with the paths that answers name', async () => {
    const { client, close } = await serve();
    const { job_id } = await job(client, 'job_start', { tool: 'publish', arguments: {} });
    const answer = await ask(client, 'job_result', { job_id });
    await close();
    const { client: again } = await serve();
    expect(await ask(again, 'job_result', { job_id })).toEqual(answer);
    const links = answer.content.filter(({ type }) => type === 'resource_link');
    expect(links.map(({ name }) => name)).toEqual(['report.json', 'frame.png']);
    for (const { uri = '' } of links) {
      const [read] = (await again.readResource({ uri })).contents;
      const [json, png] = [{ mimeType: 'application/json' }, { mimeType: 'image/png', blob: 'iVBORw==' }];
      expect(read).toMatchObject(uri.endsWith('json') ? { ...json, text: '{"frames":[]}' } : png);
      const { structuredContent } = await ask(again, 'locate', { path: uri });
      expect(existsSync(String(structuredContent?.path))).toBe(true);
    }
    expect(existsSync(String(answer.structuredContent?.path))).toBe(true);
    // Only results can be read, and no name leads outside.
    for (const path of [join(jobsFolder(), job_id, 'job.json'), `anyvmaf://results/${job_id}-1/../job.json`])
      expect((await ask(again, 'locate', { path })).isError, path).toBe(true);
  });

  it('are also calls that published results at once, and failed ones leave nothing', async () => {
    const { client, close } = await serve();
    const answer = await ask(client, 'publish');
    expect((await ask(client, 'fail', { how: 'sentence' })).isError).toBe(true);
    await ask(client, 'echo', { text: 'nothing to keep' });
    const kept = (await ask(client, 'list_jobs')).structuredContent as { jobs: { job_id: string }[] };
    expect(kept.jobs).toMatchObject([{ tool: 'publish', status: 'completed' }]);
    await close();
    const { client: again } = await serve();
    await expectReport(again, reportOf(answer));
    const [{ job_id } = { job_id: '' }] = kept.jobs;
    expect(await ask(again, 'job_result', { job_id })).toEqual(answer);
    expect(readdirSync(join(jobsFolder(), 'results'))).toEqual([job_id]);
  });

  it('whose results have expired have no pages either', async () => {
    const { client } = await serve();
    const report = reportOf(await ask(client, 'publish'));
    rmSync(join(jobsFolder(), 'results'), { recursive: true });
    expect((await client.listResources()).resources.map(({ name }) => name)).toEqual(['samples']);
    for (const uri of [report, report.replace('report.json', 'frames'), report.replace('json', 'html')])
      await expect(client.readResource({ uri })).rejects.toThrow('Unknown resource');
  });

  it('whose results cannot be stored keep them until the server stops', async () => {
    writeFileSync(at('file'), '');
    const { client, close } = await serve({ jobs: at('file', 'jobs') });
    const answer = await ask(client, 'publish');
    await expectReport(client, reportOf(answer));
    await close();
    expect(existsSync(String(answer.structuredContent?.path))).toBe(false);
  });

  it('of folders that are no longer allowed are hidden', async () => {
    const [one, two] = [at('one'), at('two')];
    for (const made of [one, two]) mkdirSync(made);
    const first = await serve({ allow: [one, two] });
    const { job_id } = await job(first.client, 'job_start', { tool: 'publish', arguments: {} });
    await first.host.idle(2000);
    await first.close();
    const { client: narrow } = await serve({ allow: [one] });
    expect((await ask(narrow, 'job_status', { job_id })).isError).toBe(true);
    const { client: wide } = await serve({ allow: [at()] });
    expect((await ask(wide, 'job_status', { job_id })).isError).toBeUndefined();
    // However many there are.
    const folders = [at('one')];
    const own = await recordWith({ folders, created: 1 });
    const store = new JobStore(jobsFolder());
    for (const record of [own, ...Array(60)])
      await store.write(record ?? (await recordWith({ folders: [at('two')] })));
    const { host } = await serve({ allow: [at('one')] });
    const { jobs } = await host.jobs.of(host.resources.scope('local')).list();
    expect(jobs.map((listed) => listed.job_id)).toEqual([own.id]);
  });

  it('that still run when their server stops are interrupted', async () => {
    const first = await serve();
    const long = { tool: 'work', arguments: { frames: 9e6 } };
    const { job_id } = await job(first.client, 'job_start', long);
    await first.close();
    expect((await new JobStore(jobsFolder()).read(job_id))?.status).toBe('interrupted');
    const again = await job((await serve()).client, 'job_status', { job_id });
    const next_action = { tool: 'job_start', arguments: long };
    expect(again).toMatchObject({ status: 'interrupted', next_action });
  });
});

/** Writes sparse videos of this many frames. */
function writeHoles(frames: number): Readonly<Record<string, unknown>> {
  for (const name of ['ref.yuv', 'dis.yuv']) {
    writeFileSync(at(name), '');
    truncateSync(at(name), 352 * 288 * 1.5 * frames);
  }
  return { ref: 'ref.yuv', dis: 'dis.yuv', width: 352, height: 288, pixfmt: '420', bitdepth: 8 };
}

async function open(...args: readonly string[]): Promise<Connection> {
  const env = { ANYVMAF_CACHE: at('cache') };
  const connection = await connect({ generation: 1, transport: 'stdio' }, { cwd: at(), env, args });
  let ended: Promise<readonly string[]> | undefined;
  const end = () => {
    ended ??= connection.end();
    return ended;
  };
  later.push(async () => void (await end().catch(() => {})));
  return { ...connection, end };
}

async function told(client: Connection, name: string, args: object): Promise<JobDocument> {
  const { structuredContent, isError, content } = await client.call(name, { ...args });
  expect(isError ?? false, JSON.stringify(content)).toBe(false);
  return structuredContent as unknown as JobDocument;
}

async function killed({ pid, end }: Connection): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await end().catch(() => {});
}

it('a client whose server is killed gets finished jobs, and restarts the others as their answers say', async () => {
  const first = await open('--call-limit', '0.5');
  const short = { ...writeHoles(100_000), frame_cnt: 24 };
  const { job_id } = await told(first, 'job_start', { tool: 'vmaf_score', arguments: short });
  expect(await told(first, 'job_status', { job_id })).toMatchObject({ status: 'completed' });
  const going = await told(first, 'vmaf_score', writeHoles(100_000));
  expect(going).toMatchObject({ status: 'working', next_action: { tool: 'job_status' } });
  await killed(first);
  const second = await open();
  const { structuredContent, content } = await second.call('job_result', { job_id });
  expect(structuredContent).toMatchObject({ frame_count: 24 });
  const report = content.find(({ name }) => name === 'report.json')?.uri ?? '';
  expect(JSON.parse(await second.read(report)).frames).toHaveLength(24);
  const page = report.replace('report.json', 'frames?metric=vmaf&from=3&to=4');
  expect(JSON.parse(await second.read(page)).rows).toHaveLength(2);
  const left = await told(second, 'job_status', { job_id: going.job_id });
  expect(left).toMatchObject({ status: 'interrupted', tool: 'vmaf_score' });
  const { tool, arguments: again } = left.next_action;
  const restarted = await told(second, tool, again);
  expect(restarted).toMatchObject({ status: 'working', tool: 'vmaf_score' });
  const cancelled = await told(second, 'job_cancel', { job_id: restarted.job_id });
  // On a busy machine the answer does not wait for the end.
  if (cancelled.status === 'working') await told(second, 'job_status', { job_id: restarted.job_id });
  const { structuredContent: list } = await second.call('list_jobs', {});
  const states = (Object(list).jobs as JobDocument[]).map(({ status }) => status);
  expect(states).toEqual(['cancelled', 'interrupted', 'completed']);
});

it.runIf(exhaustive)(
  'a server killed at random keeps the state of 200 jobs',
  async () => {
    const random = seeded(20261127);
    const [wanted, kills] = [200, 40];
    const args = writeHoles(60);
    const ids = new Set<string>();
    const stages = kills + 1;
    for (let stage = 0; stage < stages; stage++) {
      const client = await open();
      const isLast = stage === stages - 1;
      const many = isLast ? wanted - ids.size : Math.floor(wanted / stages);
      const started = Array.from({ length: many }, async () => {
        const { job_id } = await told(client, 'job_start', { tool: 'vmaf_score', arguments: args });
        ids.add(job_id);
      });
      if (isLast) {
        await Promise.all(started);
        for (const job_id of ids) await client.call('job_status', { job_id });
        await client.end();
      } else {
        await Promise.race([Promise.allSettled(started), pause(random.next() * 1500)]);
        await pause(random.next() * 400);
        await killed(client);
        await Promise.allSettled(started);
      }
    }
    expect(ids.size).toBe(wanted);
    const { jobs, problems } = await new JobStore(jobsFolder()).list();
    expect(problems).toEqual([]);
    const states = new Map(jobs.map(({ id, status }) => [id, status]));
    for (const id of ids) expect(['completed', 'interrupted']).toContain(states.get(id));
    const client = await open();
    for (const { id, status } of jobs) {
      const answer = await client.call('job_result', { job_id: id });
      const document = answer.structuredContent;
      if (status === 'completed') expect(document).toMatchObject({ frame_count: 60 });
      else expect(document).toMatchObject({ status: 'interrupted', next_action: { tool: 'job_start' } });
    }
    // No half-written file has the name of a whole one.
    for (const { id } of jobs)
      for (const name of readdirSync(join(jobsFolder(), id)).filter((one) => one.endsWith('.json')))
        expect(() => JSON.parse(readFileSync(join(jobsFolder(), id, name), 'utf8'))).not.toThrow();
  },
  900_000,
);
