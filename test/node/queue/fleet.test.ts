/**
 * @module test/node/queue/fleet
 * A queue as its users run it: a Redis server, workers that are processes, and batches that follow their jobs. Videos behind a
 * gate keep a task running while the test acts on it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { QueueConnection, queueAddress } from '../../../src/queue/connect.js';
import { root } from '../../support/built.js';
import { anyvmaf, run, videos } from '../../support/cli.js';
import { encode, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { FileServer } from '../../support/file-server.js';
import {
  redisIsAbsent,
  startRedis,
  startWorker,
  type TestRedis,
  type TestWorker,
} from '../../support/redis.js';
import { exhaustive, tier } from '../../support/tier.js';

interface Line {
  readonly job: { readonly id: string; readonly line: number };
  readonly error?: { readonly code: string; readonly message: string };
  readonly frames_file?: string;
}

/** Lines in the order of the table, without values that depend on the machine. */
function linesOf(path: string): readonly Line[] {
  const parsed = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((text) => {
      const { fps: _, threads: __, frames_file: ___, ...line } = JSON.parse(text);
      return line as Line;
    });
  return parsed.sort((a, b) => a.job.line - b.job.line);
}

/** A server whose answers can be held, so that a test sees a request and decides when it goes on. */
class Gate implements AsyncDisposable {
  readonly server: FileServer;
  readonly #held: (() => void)[] = [];

  constructor(server: FileServer) {
    this.server = server;
  }

  /** Holds all further answers, or those for which `holds` is true. */
  shut(holds: (url: string) => boolean = () => true): void {
    this.#held.length = 0;
    this.server.behave = (request, response, file) => {
      if (!file || !holds(request.url ?? '')) return false;
      this.#held.push(() => this.server.send(request, response, file));
      return true;
    };
  }

  /** The option that lets workers fetch through it. */
  get way(): string {
    return `--allow-url=${this.server.host}`;
  }

  open(): void {
    this.server.behave = () => false;
    for (const answer of this.#held.splice(0)) answer();
  }

  waits(count: number): Promise<void> {
    // Not by `expect.poll`, which needs the current test, and several run at once.
    return vi.waitFor(() => expect(this.#held.length).toBe(count), { timeout: 30_000 });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server[Symbol.asyncDispose]();
  }
}

/** Values per frame that a batch wrote, by name of their file. */
function framesOf(path: string): readonly (readonly [string, string])[] {
  const names = readdirSync(`${path}.frames`).sort();
  return names.map((name) => [name, readFileSync(`${path}.frames/${name}`, 'utf8')]);
}

const title = redisIsAbsent === undefined ? 'a queue' : `a queue (${redisIsAbsent})`;

describe.skipIf(redisIsAbsent !== undefined)(title, { timeout: 120_000 }, () => {
  const files = videos();
  const [media, results] = ['media', 'results'].map((name) => {
    mkdirSync(files.at(name));
    return files.at(name);
  }) as [string, string];
  files.pair(['media/r.y4m', 'media/d.y4m'], 40);
  // With so many frames the values of a part are too large for Redis.
  files.pair(['media/long-r.y4m', 'media/long-d.y4m'], 400);
  const table = files.put(
    'media/jobs.csv',
    'reference,distorted,feature,subsample,fail-under\n' +
      'r.y4m,d.y4m,,,\nr.y4m,d.y4m,psnr,3,100\nr.y4m,missing.y4m,,,\nd.y4m,r.y4m,,,\n',
  );
  const long = files.put('media/long.csv', 'reference,distorted\nlong-r.y4m,long-d.y4m\n');
  const putMissing = () => files.put('media/missing.y4m', readFileSync(`${media}/d.y4m`));

  let redis: TestRedis;
  let connection: QueueConnection;
  let server: FileServer;
  let worker: TestWorker;
  const key = (name: string) => `{anyvmaf}:${name}`;

  /** A server of the pairs, which keeps what is put. */
  const serve = async () => {
    const started = await FileServer.start();
    started.keeps = true;
    for (const name of ['r.y4m', 'd.y4m', 'long-r.y4m', 'long-d.y4m'])
      started.add(`/${name}`, readFileSync(`${media}/${name}`));
    return started;
  };

  beforeAll(async () => {
    [redis, server] = [await startRedis(), await serve()];
    connection = await QueueConnection.open(queueAddress(redis.url));
    worker = await startWorker([
      ...['--queue', redis.url, '--allow', media, `--allow-url=${server.host}`],
      ...['--results', results, '--concurrency', '2', '--threads', '1', '--metrics', '0'],
    ]);
  });
  afterAll(async () => {
    await worker?.[Symbol.asyncDispose]();
    await connection?.close();
    await server?.[Symbol.asyncDispose]();
    await redis?.[Symbol.asyncDispose]();
  });

  /** A worker at its own queue. */
  const workAt = (url: string, ...args: string[]) =>
    startWorker(['--queue', url, '--allow', media, `--allow-url=${server.host}`, '--threads', '1', ...args]);
  const batch = (name: string, out: string, ...args: string[]) =>
    anyvmaf(['batch', name, '-o', out, '--queue', redis.url, '--results', results, ...args]);
  const state = async () => connection.counts();
  const metricsOf = async (of: TestWorker, method = 'GET') => {
    const [, url = ''] = await of.says(/metrics at (http:\S+\/metrics)/);
    return fetch(url, { method });
  };
  const metric = async (of: TestWorker, name: RegExp) =>
    Number(new RegExp(`${name.source} (\\d+)`).exec(await (await metricsOf(of)).text())?.[1] ?? 0);
  /** A gate for one test. */
  const openGate = async () => {
    const gate = new Gate(await FileServer.start());
    gate.server.add('/d.y4m', readFileSync(`${media}/d.y4m`));
    return gate;
  };
  const heldJob = (gate: Gate, name: string, rows = ['']) => {
    const lines = rows.map((row) => `r.y4m,${gate.server.url('/d.y4m')},${row}\n`);
    return files.put(`media/${name}.csv`, `reference,distorted,subsample\n${lines.join('')}`);
  };

  // The two groups run at the same time, because mostly they wait.
  describe.concurrent('by one worker', () => {
    it.sequential('gives the lines of a local batch, cuts long videos and resumes', async ({ expect }) => {
      const [alone, there] = [files.at('alone.jsonl'), files.at('there.jsonl')];
      const local = await anyvmaf(['batch', table, '-o', alone, '--precision', 'max', '--frames']);
      expect(local.code).toBe(2);
      const args = ['--precision', 'max', '--frames', '--part-length', '15f', '--attempts', '1'];
      const ran = await batch(table, there, ...args);
      const summary = expect.stringContaining('4 jobs; 1 failed, 1 below the limit');
      expect(ran, ran.stderr).toMatchObject({ code: 2, stdout: summary });
      const [expected, found] = [linesOf(alone), linesOf(there)];
      const plain = ({ error, ...line }: Line) => (error ? line.job : line);
      expect(found.map(plain)).toEqual(expected.map(plain));
      expect(found[2]?.error).toMatchObject({ code: 'io', message: expect.stringContaining('missing.y4m') });
      expect(framesOf(there)).toEqual(framesOf(alone));
      expect(readdirSync(results)).toEqual([]);

      const before = readFileSync(there, 'utf8');
      const again = await batch(table, there, ...args);
      expect(again).toMatchObject({ code: 2, stdout: expect.stringContaining('4 from earlier runs') });
      expect(readFileSync(there, 'utf8')).toBe(before);
      expect(await redis.client.scard(key('cut'))).toBe(0);

      // Dead jobs are listed with their errors, put back with one command, and requested again.
      const dead = await anyvmaf(['queue', 'dead', '--json', '--queue', redis.url]);
      const missing = { error: expect.stringMatching(/^io: .*missing/), line: 4 };
      expect(JSON.parse(dead.stdout).dead).toMatchObject([missing]);
      putMissing();
      const retried = await anyvmaf(['queue', 'retry', '--queue', redis.url]);
      expect(retried).toMatchObject({ code: 0, stdout: '1 job put back\n' });
      await expect.poll(state).toMatchObject({ failed: 0, active: 0 });
      const last = await batch(table, there, ...args, '--retry-failed');
      expect(last, last.stderr).toMatchObject({ code: 3, stdout: expect.stringContaining('0 failed') });
    });

    it.sequential('shows its state to people and programs', async ({ expect }) => {
      putMissing();
      const url = `${redis.url}?queue=shown`;
      const loopback = Object.values(networkInterfaces()).flat();
      const six = loopback.some((one) => one?.address === '::1');
      await using own = await workAt(url, '--metrics', six ? '[::1]:0' : '0');
      // BullMQ names a worker's connection a moment after it is open.
      const view = async () => JSON.parse((await anyvmaf(['queue', '--json', '--queue', url])).stdout);
      const shown = { active: 0, workers: [expect.stringContaining('-')] };
      await expect.poll(view, { timeout: 10_000 }).toMatchObject(shown);
      expect((await anyvmaf(['queue', '--queue', url])).stdout).toMatch(/^workers {2}1 /m);
      await anyvmaf(['batch', table, '-o', files.at('metrics.jsonl'), '--queue', url, '--attempts', '1']);
      const scrape = await metricsOf(own);
      expect(scrape.headers.get('content-type')).toContain('version=0.0.4');
      const text = await scrape.text();
      expect(text).toContain('anyvmaf_worker_tasks_total{kind="pair",outcome="done"} 4\n');
      expect(text).toMatch(/^anyvmaf_worker_frames_total [1-9]\d+$/m);
      expect(text).toContain('anyvmaf_queue_up 1\n');
      const metricLine =
        /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [\d.e+-]+)$/;
      for (const line of text.trimEnd().split('\n')) expect(line).toMatch(metricLine);
      expect((await fetch(scrape.url.replace('metrics', ''))).status).toBe(404);
      expect((await metricsOf(own, 'POST')).status).toBe(405);
      expect(worker.said()).toContain(', 2 at a time');
      expect(await metric(worker, /worker_concurrency/)).toBe(2);
    });

    it.sequential('cancels jobs that wait or run', async ({ expect }) => {
      const out = files.at('cancelled.jsonl');
      const gate = new Gate(server);
      gate.shut();
      const following = batch(heldJob(gate, 'cancel', [...'123456']), out, '--priority', '1');
      await gate.waits(2);
      const cancel = ['queue', 'cancel', '--all', '--results', results, '--queue', redis.url];
      const cancelled = await anyvmaf(cancel);
      expect(cancelled).toMatchObject({ code: 0, stdout: '6 jobs cancelled\n' });
      expect(await following).toMatchObject({ code: 2 });
      const errors = linesOf(out).map(({ error }) => error);
      expect(errors).toEqual(Array(6).fill({ code: 'aborted', message: 'cancelled' }));
      // Running jobs are stopped within seconds, although no video arrives.
      await expect.poll(state).toMatchObject({ active: 0 });
      gate.open();
      expect(readdirSync(results)).toEqual([]);
      for (const action of ['cancel', 'retry']) {
        const unknown = await anyvmaf(['queue', action, 'deadbeef', '--queue', redis.url]);
        const stderr = expect.stringMatching(
          /^anyvmaf: no (dead )?job has an ID that begins with deadbeef.*\n$/,
        );
        expect(unknown).toMatchObject({ code: 2, stderr });
      }
    });

    it.sequential('refuses what somebody else put into Redis', async ({ expect }) => {
      putMissing();
      const outside = files.put('outside.y4m', readFileSync(`${media}/d.y4m`));
      symlinkSync(outside, `${media}/link.y4m`);
      const marker = files.at('written');
      const against = (distorted: string) => [`--reference=${media}/r.y4m`, `--distorted=${distorted}`];
      const good = against(`${media}/d.y4m`);
      let jobs = 0;
      const job = (runs: readonly string[], more = {}) => {
        const hex = (++jobs).toString(16).padStart(32, 'a');
        return {
          ...{ key: hex, id: hex, line: 1, args: runs, run: runs, precision: 'legacy' },
          ...{ part: { unit: 'seconds', length: 60 }, priority: 1, attempts: 1, ...more },
        };
      };
      const pair = (...runs: string[]) => ({ kind: 'pair', job: job([...good, ...runs]) });
      const [elsewhere, report] = [/not under an allowed folder/, /cannot run live, be a part.* asks/];
      const web = against('http://127.0.0.1/x.mp4');
      const filters = /usage: --vf-(ref|dis) (names|lets|is|makes) /;
      const hostile: readonly (readonly [string, unknown, RegExp])[] = [
        ['array', [1, 2], /is not an object/],
        ['text', 'rm -rf', /is not an object/],
        ['prototype', JSON.parse(`{"kind":"pair","__proto__":{"a":1},"job":{}}`), /__proto__/],
        ['kind', { kind: 'shell', job: job(good) }, /kind is not one of pair, part, merge/],
        ['many', { kind: 'pair', job: job(Array(9999).fill('--quiet')) }, /run|args/],
        ['parts', { kind: 'part', job: job(good), number: 7, count: 3 }, /number/],
        ['key', { kind: 'pair', job: job(good, { key: '../../../etc' }) }, /key/],
        ...[outside, `${media}/link.y4m`, `${media}/../outside.y4m`].map(
          (path, i) => [`outside-${i}`, { kind: 'pair', job: job(against(path)) }, elsewhere] as const,
        ),
        ['address', { kind: 'pair', job: job([...web, '--allow-url']) }, /allowUrl/],
        ['program', pair('--vmaf-bin=/bin/sh', '--backend=native-cpu'), /vmafBin/],
        ['model', pair('--model=path=/etc/passwd'), elsewhere],
        ['writes', pair(`--output=${marker}`), /write its own files/],
        ['heatmaps', pair(`--feature=cambi=heatmaps_path=${marker}`), /heatmaps_path/],
        ['listens', pair('--live=sse:0'), /run live/],
        ['junit', pair(`--junit=${marker}`), report],
        ['summary', pair(`--summary=${marker}`), report],
        ['github-summary', pair('--github-summary'), report],
        ['html', pair(`--html=${marker}`), report],
        ['csv', pair('--csv'), /cannot run live, be a part.*format asks/],
        ['baseline', pair(`--baseline=${media}/r.y4m`, '--max-drop=1'), report],
        // Filters of ffmpeg that open files or the network, take commands, or name a file for an option.
        ...[
          `movie=${outside}`,
          `null,amovie=${outside}`,
          `lut3d=file=${outside}`,
          `subtitles=${outside}`,
          `drawtext=textfile=${outside}`,
          'zmq=bind_address=tcp\\://127.0.0.1\\:5555',
          `sendcmd=filename=${outside}`,
          `metadata=print:file=${marker}`,
          `libvmaf=log_path=${marker}`,
          `psnr=stats_file=${marker}`,
          `curves=psfile=${outside}`,
          `scale=/w=${outside}`,
          `null[x];movie=${outside}`,
        ].flatMap((chain, i) =>
          ['ref', 'dis'].map(
            (side) => [`filter-${i}-${side}`, pair(`--vf-${side}=${chain}`), filters] as const,
          ),
        ),
      ];
      const { Queue } = await import('bullmq');
      const queue = new Queue('tasks', { connection: redis.client, prefix: '{anyvmaf}' });
      const dead = async () => (await queue.getFailed(0, 100)).filter(({ id }) => id?.startsWith('hostile-'));
      for (const [name, data] of hostile)
        await queue.add('pair', data, { jobId: `hostile-${name}`, attempts: 2 });
      // A task that BullMQ itself cannot read.
      await queue.add('pair', {}, { jobId: 'hostile-torn', delay: 50 });
      await redis.client.hset(key('tasks:hostile-torn'), 'data', '{"torn');
      await expect.poll(async () => (await dead()).length).toBeGreaterThanOrEqual(hostile.length);
      const reasons = new Map((await dead()).map(({ id, failedReason }) => [id, failedReason]));
      for (const [name, , why] of hostile) expect(reasons.get(`hostile-${name}`), name).toMatch(why);
      // Without a retry.
      expect(new Set((await dead()).map(({ attemptsMade }) => attemptsMade))).toEqual(new Set([1]));
      expect(existsSync(marker)).toBe(false);
      // The worker still works.
      const out = files.at('after.jsonl');
      expect(await batch(table, out, '--precision', '4', '--attempts', '1')).toMatchObject({ code: 3 });
      expect(worker.child.exitCode).toBe(null);
      // A relative path is one of the submitter.
      const refused = await batch(table, files.at('model.jsonl'), '--attempts', '1', '--model', 'own.json');
      expect(refused.stderr).toContain(`"${resolve('own.json')}" is not under an allowed folder`);
      const listed = await anyvmaf(['queue', 'dead', '--queue', redis.url]);
      expect(listed.stdout.split('\n').length).toBeGreaterThan(hostile.length);
      expect(await anyvmaf(['queue', 'retry', '--queue', redis.url])).toMatchObject({ code: 0 });
    });

    const parted = `does not cut what each part would have to fetch whole (${needsFfmpeg})`;
    it.skipIf(!hasFfmpeg)(parted, { sequential: true }, async ({ expect }) => {
      const film = { codec: 'h264', frames: 60, size: '96x64' } as const;
      const read = (extension: string) => readFileSync(encode({ ...film, extension }));
      const [mp4, mkv, ts] = [read('mp4'), read('mkv'), read('ts')];
      const videosOf = { '/a.mp4': mp4, '/a.ts': ts, '/scattered': mkv, ...tier({}, { '/a.mkv': mkv }) };
      for (const [name, bytes] of Object.entries(videosOf)) server.add(name, bytes);
      const parts = () => metric(worker, /kind="part",outcome="done"\}/);
      const [seekable = '', ...others] = Object.keys(videosOf);
      for (const [i, names] of [[seekable], others].entries()) {
        const before = await parts();
        const rows = names.map((name) => `${server.url('/a.mp4')},${server.url(name)}\n`);
        const jobs = files.put(`media/cut-${i}.csv`, `reference,distorted\n${rows.join('')}`);
        const ran = await batch(jobs, files.at(`cut-${i}.jsonl`), '--part-length', '30f');
        expect(ran, ran.stderr).toMatchObject({ code: 0 });
        expect((await parts()) - before, names.join()).toBe(i === 0 ? 2 : 0);
      }
    });
  });

  describe.concurrent('by its own workers', () => {
    // The longest test first.
    it('fails a job that exceeds the limit of its worker or its own, at once', async ({ expect }) => {
      await using gate = await openGate();
      const url = `${redis.url}?queue=late`;
      const out = files.at('late.jsonl');
      // Long enough for the third job on a busy machine.
      await using _ = await workAt(url, gate.way, '--max-seconds', '20');
      gate.shut();
      const held = gate.server.url('/d.y4m');
      const rows = `r.y4m,${held},,\nr.y4m,${held},0.5,2\nr.y4m,d.y4m,,\n`;
      const jobs = files.put('media/late.csv', `reference,distorted,max_seconds,subsample\n${rows}`);
      const ran = await anyvmaf(['batch', jobs, '-o', out, '--queue', url, '--attempts', '3']);
      gate.open();
      expect(ran).toMatchObject({ code: 2, stdout: expect.stringContaining('3 jobs; 2 failed') });
      expect(linesOf(out).map(({ error }) => error && [error.code, error.message])).toEqual([
        ['resource', 'it took longer than 20 s, the limit of this worker (--max-seconds)'],
        ['resource', expect.stringContaining('--max-seconds is 0.5, but scoring took longer')],
        undefined,
      ]);
    });

    it.for<[string[], string]>([
      [[], 'name one with --allow DIR or --allow-url HOST'],
      [['--allow-url', 'http://x'], 'must be a host'],
      [['--allow', tmpdir(), '--results', 'http://127.0.0.1:1/scores'], 'on a host that is not allowed'],
    ])('refuses to start a worker with %j', async ([args, why], { expect }) => {
      const refused = { code: 1, stderr: expect.stringContaining(why) };
      expect(await anyvmaf(['work', '--queue', redis.url, ...args])).toMatchObject(refused);
    });

    it('refuses a name that the queue cannot take, before anything is submitted', async ({ expect }) => {
      const url = `${redis.url}?queue=names`;
      for (const [i, name] of ['a\\u0000b.y4m', 'a\\nb.y4m', 'x'.repeat(5000)].entries()) {
        const row = (distorted: string) => `{"reference":"r.y4m","distorted":"${distorted}"}\n`;
        const jobs = files.put(`media/names-${i}.jsonl`, row('d.y4m') + row(name));
        const ran = await anyvmaf(['batch', jobs, '-o', files.at(`names-${i}.jsonl`), '--queue', url]);
        const stderr = expect.stringMatching(/^anyvmaf: line 2: a name or option has more than 4096 .*\n$/);
        expect(ran).toMatchObject({ code: 1, stderr });
        expect(await redis.client.keys('{names}:*')).toEqual([]);
      }
    });

    it('takes the task of a silent worker, whose late result does no harm', async ({ expect }) => {
      await using gate = await openGate();
      const url = `${redis.url}?queue=silent`;
      const out = files.at('silent.jsonl');
      const results = files.at('results-silent');
      mkdirSync(results);
      const at = ['--queue', url, '--results', results];
      await using silent = await workAt(
        url,
        gate.way,
        '--results',
        results,
        '--lease',
        '2',
        '--metrics',
        '0',
      );
      const following = anyvmaf(['batch', heldJob(gate, 'silent'), '-o', out, ...at, '--part-length', '15f']);
      // The pair is cut first; then its parts are fetched.
      let opens = 0;
      gate.shut((path) => path === '/d.y4m' && ++opens > 1);
      await gate.waits(1);
      silent.child.kill('SIGSTOP');
      gate.server.behave = () => false;
      await using _ = await workAt(url, gate.way, '--results', results, '--lease', '2');
      expect(await following).toMatchObject({ code: 0 });
      gate.open();
      silent.child.kill('SIGCONT');
      await expect.poll(() => metric(silent, /worker_tasks_active/)).toBe(0);
      expect(await silent.stop()).toBe(0);
      expect(linesOf(out)).toHaveLength(1);
      const own = await QueueConnection.open(queueAddress(url));
      expect(await own.counts()).toEqual({ waiting: 0, delayed: 0, active: 0, failed: 0 });
      await own.close();
      expect(await redis.client.keys('{silent}:parts:*')).toEqual([]);
      expect(readdirSync(results)).toEqual([]);
    });

    it('that accepts nothing says why, once, and is used again once it accepts jobs', async ({ expect }) => {
      await using gate = await openGate();
      await using replica = await startRedis();
      const args = ['--queue', replica.url];
      await using patient = await workAt(replica.url, gate.way, '--lease', '2');
      const small = files.put('media/small.csv', 'reference,distorted\nr.y4m,d.y4m\n');
      const submit = (out: string) => anyvmaf(['batch', small, '-o', files.at(out), ...args]);
      // A replica without a master accepts no writes.
      await replica.client.call('REPLICAOF', '127.0.0.1', '1');
      const readOnly = await submit('replica.jsonl');
      const stderr = expect.stringMatching(/the queue server at \S+ refused: .*READONLY/);
      expect(readOnly).toMatchObject({ code: 2, stderr });
      await patient.says(/lost the queue at \S+; retrying: /);
      await replica.client.call('REPLICAOF', 'NO', 'ONE');
      await replica.client.config('SET', 'maxmemory', '1mb');
      const full = await submit('memory.jsonl');
      expect(full).toMatchObject({ code: 2, stderr: expect.stringMatching(/refused: .*OOM/) });
      for (const { stderr } of [readOnly, full]) expect(stderr.split('\n').length).toBeLessThan(4);
      await replica.client.config('SET', 'maxmemory', '0');
      expect(await submit('again.jsonl')).toMatchObject({ code: 0 });
      expect(patient.said().split('\n').length).toBeLessThan(10);
      // A result that cannot be reported is reported once it can.
      gate.shut();
      const follow = (name: string, rows?: string[]) =>
        anyvmaf(['batch', heldJob(gate, name, rows), '-o', files.at(`${name}.jsonl`), ...args]);
      const following = follow('full-redis');
      await gate.waits(1);
      const before = patient.said().length;
      await replica.client.config('SET', 'maxmemory', '1mb');
      gate.open();
      await expect.poll(() => patient.said().slice(before)).toMatch(/OOM/);
      await replica.client.config('SET', 'maxmemory', '0');
      const followed = await following;
      expect(followed, followed.stderr + patient.said()).toMatchObject({ code: 0 });
      // The same holds after the server was killed and restarted with its data.
      gate.shut();
      const resumed = follow('restarted', ['2']);
      await gate.waits(1);
      await replica.restart();
      gate.open();
      expect(await resumed).toMatchObject({ code: 0 });
      expect(linesOf(files.at('restarted.jsonl'))).toHaveLength(1);
      expect(await patient.stop()).toBe(0);
    });

    it('gives a task back at once when its worker is told to end', async ({ expect }) => {
      await using gate = await openGate();
      const url = `${redis.url}?queue=back`;
      const own = await QueueConnection.open(queueAddress(url));
      gate.shut();
      const out = files.at('back.jsonl');
      const job = heldJob(gate, 'back');
      const following = anyvmaf(['batch', job, '-o', out, '--queue', url, '--attempts', '1']);
      const first = await workAt(url, gate.way, '--lease', '3600');
      await gate.waits(1);
      expect(await own.counts()).toMatchObject({ active: 1 });
      expect(await first.stop('SIGTERM')).toBe(0);
      expect(await own.counts()).toMatchObject({ active: 0, waiting: 1, failed: 0 });
      await own.close();
      gate.open();
      await using _ = await workAt(url, gate.way);
      expect(await following).toMatchObject({ code: 0 });
    });

    it('fails only the job that kills the process that scores it', async ({ expect }) => {
      await using gate = await openGate();
      const url = `${redis.url}?queue=poison`;
      const out = files.at('poison.jsonl');
      await using poisoned = await workAt(url, gate.way);
      const { pid } = poisoned.child;
      gate.shut();
      const rows = [gate.server.url('/d.y4m'), 'd.y4m'].map((distorted) => `r.y4m,${distorted}\n`);
      const jobs = files.put('media/poison.csv', `reference,distorted\n${rows.join('')}`);
      const following = anyvmaf(['batch', jobs, '-o', out, '--queue', url, '--attempts', '2']);
      for (let attempt = 1; attempt <= 2; attempt++) {
        await gate.waits(attempt);
        // The process that scores is the worker's only child.
        const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
        process.kill(Number(child), 'SIGKILL');
      }
      const ran = await following;
      gate.open();
      expect(ran).toMatchObject({ code: 2, stdout: expect.stringContaining('2 jobs; 1 failed') });
      const [bad, good] = linesOf(out);
      expect(bad?.error).toMatchObject({ code: 'internal', message: expect.stringContaining('SIGKILL') });
      expect(good?.error).toBeUndefined();
      expect(poisoned.child.exitCode).toBe(null);
    });

    it('reads videos from allowed URLs and keeps large results behind a URL', async ({ expect }) => {
      await using server = await serve();
      const signed = (name: string, signature = 'SECRET') =>
        `${server.url(`/${name}`)}?X-Signature=${signature}`;
      const text = (signature?: string) =>
        'reference,distorted,feature\n' +
        `${signed('long-r.y4m', signature)},${signed('long-d.y4m', signature)},\n` +
        `r.y4m,${signed('d.y4m', signature)},psnr\nr.y4m,http://169.254.169.254/d.y4m,\nr.y4m,d.y4m,\n`;
      const jobs = files.put('media/urls.csv', text());
      const [alone, there] = [files.at('urls-alone.jsonl'), files.at('urls-there.jsonl')];
      const host = `--allow-url=${server.host}`;
      const local = await anyvmaf(['batch', jobs, '-o', alone, '--precision', 'max', '--frames', host]);
      expect(local, local.stderr).toMatchObject({ code: 2 });
      const url = `${redis.url}?queue=urls`;
      const common = ['--queue', url, '--results', `${server.url('/scores')}?X-Signature=SECRET`, host];
      await using remote = await startWorker([...common, '--allow', media]);
      const args = ['--precision', 'max', '--frames', '--part-length', '150f', '--attempts', '1'];
      const ran = await anyvmaf(['batch', jobs, '-o', there, ...common, ...args]);
      expect(ran, ran.stderr).toMatchObject({ code: 2, stdout: expect.stringContaining('4 jobs; 1 failed') });
      const plain = ({ error, job, ...line }: Line) => (error ? error.code : { ...line, line: job.line });
      expect(linesOf(there).map(plain)).toEqual(linesOf(alone).map(plain));
      // Its parts were put there, and all were removed.
      const puts = server.requests.filter((line) => /^PUT \/scores\/[0-9a-f]{32}\/part-/.test(line));
      expect(puts.length).toBe(3);
      expect([...server.files.keys()].filter((path) => path.startsWith('/scores'))).toEqual([]);
      const values = (path: string) => framesOf(path).map(([, text]) => text);
      expect(values(there)).toEqual(values(alone));
      const said = ran.stdout + ran.stderr + remote.said() + readFileSync(there, 'utf8');
      expect(said).not.toContain('SECRET');
      expect(readFileSync(`/proc/${remote.child.pid}/cmdline`, 'utf8')).not.toContain('SECRET');
      // With another signature it is the same job.
      files.put('media/urls.csv', text('SECRET2'));
      const again = await anyvmaf(['batch', jobs, '-o', there, ...common, ...args]);
      const same = { code: 2, stdout: expect.stringContaining('4 from earlier runs') };
      expect(again, again.stderr).toMatchObject(same);
      const dead = await anyvmaf(['queue', 'dead', '--json', '--queue', url]);
      expect(dead.stdout).toContain('169.254.169.254');
      expect(dead.stdout).not.toContain('SECRET');
    });

    it('fails only the jobs when the disk is full or no host is allowed', async ({ expect }) => {
      const place = files.at('place');
      mkdirSync(place);
      const url = `${redis.url}?queue=full`;
      const work = ['--queue', url, '--allow', media, '--results', place];
      // Files may have 64 KiB: less than a part needs.
      const poor = await startWorker(work, {}, ['/bin/sh', '-c', `ulimit -f 128; exec "$0" "$@"`]);
      const args = ['--queue', url, '--attempts', '1', '--results', place, '--part-length', '150f'];
      const full = await anyvmaf(['batch', long, '-o', files.at('full.jsonl'), ...args]);
      expect(full).toMatchObject({ code: 2 });
      const unwritten = /cannot write a result into .*it would exceed the size limit of files/;
      const tooLarge = { code: 'io', message: expect.stringMatching(unwritten) };
      expect(linesOf(files.at('full.jsonl'))[0]?.error).toMatchObject(tooLarge);
      expect(poor.child.exitCode).toBe(null);
      const left = readdirSync(place, { recursive: true, encoding: 'utf8' });
      expect(left.filter((name) => /tmp|part/.test(name))).toEqual([]);
      // Another machine has room.
      expect(await poor.stop()).toBe(0);
      await using _ = await startWorker(work);
      const again = await anyvmaf(['batch', long, '-o', files.at('full.jsonl'), ...args, '--retry-failed']);
      expect(again, again.stderr).toMatchObject({ code: 0 });
      await using gate = await openGate();
      const out = files.at('no-urls.jsonl');
      const ran = await anyvmaf(['batch', heldJob(gate, 'no-urls'), '-o', out, ...args]);
      expect(ran).toMatchObject({ code: 2 });
      const filesOnly = expect.stringContaining('this worker reads files only');
      expect(linesOf(out)[0]?.error).toMatchObject({ code: 'usage', message: filesOnly });
      expect(gate.server.requests).toEqual([]);
    });
  });

  const endures = 'loses and doubles nothing when processes are killed (needs Linux and an exhaustive run)';
  it.runIf(exhaustive && process.platform === 'linux')(endures, { timeout: 400_000 }, async () => {
    const args = '--jobs 8 --workers 2 --kills 3 --restarts 1'.split(' ');
    const script = ['scripts/queue-endurance.mjs', ...args];
    const { code, stdout, stderr } = await run(process.execPath, script, { cwd: root });
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toMatch(/^8 jobs, 2 workers, 3 kills, 1 restarts of Redis: 0 problems$/m);
  });
});
