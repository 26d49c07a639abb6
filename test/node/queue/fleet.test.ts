/**
 * @module test/node/queue/fleet
 * A queue as its users run it: a real Redis server, workers, and a batch that follows them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queueAddress } from '../../../src/queue/address.js';
import { QueueConnection } from '../../../src/queue/connect.js';
import { root } from '../../support/built.js';
import { anyvmaf, run, videos } from '../../support/cli.js';
import { encode, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { FileServer } from '../../support/file-server.js';
import { redisIsAbsent, startRedis, startWorker, type TestRedis } from '../../support/redis.js';

interface Line {
  readonly job: { readonly id: string; readonly line: number };
  readonly error?: { readonly code: string; readonly message: string };
  readonly frames_file?: string;
}

/** Lines in the order of the table, without what a machine decides. */
function linesOf(path: string): readonly Line[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines
    .map((text) => {
      const { fps: _, threads: __, frames_file: ___, ...line } = JSON.parse(text);
      return line as Line;
    })
    .sort((a, b) => a.job.line - b.job.line);
}

/** Waits until something is so. */
async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 600; i++) {
    if (await condition()) return;
    await sleep(50);
  }
  throw new Error('it has not come to that in 30 seconds');
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

const title = redisIsAbsent === undefined ? 'a queue' : `a queue (${redisIsAbsent})`;

describe.skipIf(redisIsAbsent !== undefined)(title, () => {
  const files = videos();
  const media = files.at('media');
  const results = files.at('results');
  mkdirSync(media);
  mkdirSync(results);
  files.pair(['media/r.y4m', 'media/d.y4m'], 40);
  /** Long enough that something can happen to it. */
  files.pair(['media/long-r.y4m', 'media/long-d.y4m'], 400, { width: 320, height: 180 });
  const table = files.put(
    'media/jobs.csv',
    'reference,distorted,feature,subsample,fail-under\n' +
      'r.y4m,d.y4m,,,\nr.y4m,d.y4m,psnr,3,100\nr.y4m,missing.y4m,,,\nd.y4m,r.y4m,,,\n',
  );
  const long = files.put('media/long.csv', 'reference,distorted\nlong-r.y4m,long-d.y4m\n');
  let redis: TestRedis;
  let connection: QueueConnection;
  const key = (name: string) => `{anyvmaf}:${name}`;

  beforeAll(async () => {
    redis = await startRedis();
    connection = await QueueConnection.open(queueAddress(redis.url));
  });
  afterAll(async () => {
    await connection.close();
    await redis[Symbol.asyncDispose]();
    files[Symbol.dispose]();
  });

  const work = (...args: string[]) =>
    startWorker(['--queue', redis.url, '--allow', media, '--results', results, ...args]);
  const batch = (name: string, out: string, ...args: string[]) =>
    anyvmaf(['batch', name, '-o', out, '--queue', redis.url, '--results', results, ...args]);
  const state = async () => connection.counts();

  it('gives the lines of a batch on one machine, cuts what is long, and goes on where it ended', async () => {
    const [alone, there] = [files.at('alone.jsonl'), files.at('there.jsonl')];
    const local = await anyvmaf(['batch', table, '-o', alone, '--precision', 'max', '--frames']);
    expect(local.code).toBe(2);
    await using _ = await work('--concurrency', '2');
    const args = ['--precision', 'max', '--frames', '--part-length', '15f', '--attempts', '1'];
    const ran = await batch(table, there, ...args);
    expect(ran, ran.stderr).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('4 jobs; 1 failed, 1 below the limit'),
    });
    const [expected, found] = [linesOf(alone), linesOf(there)];
    expect(found.map(({ error, ...line }) => (error ? line.job : line))).toEqual(
      expected.map(({ error, ...line }) => (error ? line.job : line)),
    );
    expect(found[2]?.error).toMatchObject({ code: 'io', message: expect.stringContaining('missing.y4m') });
    // Values per frame are the same bytes.
    const frames = (path: string) =>
      readdirSync(`${path}.frames`).map((name) => [
        name,
        readFileSync(`${path}.frames/${name}`).toString('hex'),
      ]);
    expect(frames(there)).toEqual(frames(alone));
    expect(readdirSync(results)).toEqual([]);

    const before = readFileSync(there, 'utf8');
    const again = await batch(table, there, ...args);
    expect(again).toMatchObject({ code: 2, stdout: expect.stringContaining('4 of them before') });
    expect(readFileSync(there, 'utf8')).toBe(before);
    expect(await redis.client.scard(key('cut'))).toBe(0);

    // Dead jobs are listed with their errors, put back with one command, and asked for again.
    const dead = await anyvmaf(['queue', 'dead', '--json', '--queue', redis.url]);
    expect(JSON.parse(dead.stdout).dead).toMatchObject([
      { error: expect.stringMatching(/^io: .*missing/), line: 4 },
    ]);
    putMissing();
    const retried = await anyvmaf(['queue', 'retry', '--queue', redis.url]);
    expect(retried).toMatchObject({ code: 0, stdout: '1 job put back\n' });
    await until(async () => (await state()).failed === 0 && (await state()).active === 0);
    const last = await batch(table, there, ...args, '--retry-failed');
    expect(last, last.stderr).toMatchObject({ code: 3, stdout: expect.stringContaining('0 failed') });
  });

  it('gives a task back at once when its worker is told to end, which is no failure', async () => {
    const out = files.at('back.jsonl');
    const following = batch(long, out, '--attempts', '1');
    const worker = await work('--lease', '3600', '--threads', '1');
    await until(async () => (await state()).active === 1);
    await sleep(300);
    expect(await worker.stop('SIGTERM')).toBe(0);
    expect(await state()).toMatchObject({ active: 0, waiting: 1, failed: 0 });
    await using _ = await work();
    expect(await following).toMatchObject({ code: 0 });
  });

  it('takes the task of a silent worker, whose late result does no harm', async () => {
    const out = files.at('wedged.jsonl');
    await using silent = await work('--lease', '2');
    const following = batch(long, out, '--part-length', '150f', '--precision', '5');
    await until(async () => (await state()).active === 1);
    silent.child.kill('SIGSTOP');
    await using _ = await work('--lease', '2');
    expect(await following).toMatchObject({ code: 0 });
    silent.child.kill('SIGCONT');
    await sleep(1000);
    expect(await silent.stop()).toBe(0);
    expect(linesOf(out)).toHaveLength(1);
    expect(await state()).toEqual({ waiting: 0, delayed: 0, active: 0, failed: 0 });
    expect(await redis.client.keys(key('parts:*'))).toEqual([]);
  });

  it('lets a job that kills what scores it fail alone', async () => {
    const out = files.at('poison.jsonl');
    const jobs = files.put('media/poison.csv', 'reference,distorted\nlong-r.y4m,long-d.y4m\nr.y4m,d.y4m\n');
    await using worker = await work();
    let killed = 0;
    const poison = setInterval(() => {
      // The process of the long pair, which is the worker's only child.
      const children = readFileSync(`/proc/${worker.child.pid}/task/${worker.child.pid}/children`, 'utf8');
      const [child] = children.trim().split(' ').filter(Boolean);
      if (child === undefined || killed >= 2) return;
      process.kill(Number(child), 'SIGKILL');
      killed++;
    }, 700);
    try {
      const ran = await batch(jobs, out, '--attempts', '2', '--precision', '6');
      expect(ran.stderr + ran.stdout).toContain('2 jobs');
      expect(killed).toBeGreaterThan(0);
    } finally {
      clearInterval(poison);
    }
    // What a crash ends is tried again, and what fails says why; the worker goes on.
    for (const { error } of linesOf(out))
      if (error)
        expect(error).toMatchObject({ code: 'internal', message: expect.stringContaining('SIGKILL') });
    expect(worker.child.exitCode).toBe(null);
    await anyvmaf(['queue', 'cancel', ...(await deadIds()), '--queue', redis.url]);
  });

  const deadIds = async () => (await connection.dead(100)).map(({ taskId }) => taskId);

  it('cancels jobs that wait and that run', async () => {
    const out = files.at('cancelled.jsonl');
    const jobs = files.put(
      'media/cancel.csv',
      `reference,distorted,subsample\n${Array.from({ length: 6 }, (_, i) => `long-r.y4m,long-d.y4m,${i + 1}\n`).join('')}`,
    );
    await using _ = await work('--threads', '1');
    const following = batch(jobs, out, '--precision', '7', '--priority', '1');
    await until(async () => (await state()).active === 1);
    const cancelled = await anyvmaf(['queue', 'cancel', '--all', '--results', results, '--queue', redis.url]);
    expect(cancelled).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d jobs? cancelled\n$/) });
    expect(await following).toMatchObject({ code: 2 });
    const errors = linesOf(out).flatMap(({ error }) => error ?? []);
    expect(errors.length).toBeGreaterThan(3);
    for (const error of errors) expect(error).toEqual({ code: 'aborted', message: 'cancelled' });
    await until(async () => (await state()).active === 0);
    expect(readdirSync(results)).toEqual([]);
  });

  /** Makes the job pass that failed for lack of its file. */
  const putMissing = () => files.put('media/missing.y4m', readFileSync(`${media}/d.y4m`));

  it('refuses what somebody else put into Redis', async () => {
    putMissing();
    const outside = files.put('outside.y4m', readFileSync(`${media}/d.y4m`));
    symlinkSync(outside, `${media}/link.y4m`);
    const good = { reference: `--reference=${media}/r.y4m`, distorted: `--distorted=${media}/d.y4m` };
    const hex = (n: number) => n.toString(16).padStart(32, 'a');
    const job = (n: number, runs: readonly string[], more = {}) => ({
      ...{ key: hex(n), id: hex(n), line: 1, args: runs, run: runs, precision: 'legacy' },
      ...{ part: { unit: 'seconds', length: 60 }, priority: 1, attempts: 1, ...more },
    });
    const pair = (n: number, runs: readonly string[]) => ({ kind: 'pair', job: job(n, runs) });
    const marker = files.at('written');
    const hostile: readonly (readonly [string, unknown, RegExp])[] = [
      ['array', [1, 2], /no object/],
      ['text', 'rm -rf', /no object/],
      ['prototype', JSON.parse(`{"kind":"pair","__proto__":{"a":1},"job":{}}`), /__proto__/],
      ['kind', { kind: 'shell', job: job(3, Object.values(good)) }, /kind is not known/],
      ['many', { kind: 'pair', job: job(4, Array(9999).fill('--quiet')) }, /run|args/],
      ['parts', { kind: 'part', job: job(5, Object.values(good)), number: 7, count: 3 }, /number/],
      ['key', { kind: 'pair', job: { ...job(6, Object.values(good)), key: '../../../etc' } }, /key/],
      ['outside', pair(7, [good.reference, `--distorted=${outside}`]), /not under an allowed folder/],
      ['link', pair(8, [good.reference, `--distorted=${media}/link.y4m`]), /not under an allowed folder/],
      ['up', pair(9, [good.reference, `--distorted=${media}/../outside.y4m`]), /not under an allowed/],
      [
        'program',
        pair(10, [...Object.values(good), '--vmaf-bin=/bin/sh', '--backend=native-cpu']),
        /vmafBin/,
      ],
      [
        'address',
        pair(11, [good.reference, '--distorted=http://127.0.0.1/x.mp4', '--allow-url']),
        /allowUrl/,
      ],
      [
        'model',
        pair(12, [...Object.values(good), '--model=path=/etc/passwd']),
        /not under an allowed folder/,
      ],
      ['writes', pair(13, [...Object.values(good), `--output=${marker}`]), /report of its own/],
      [
        'heatmaps',
        pair(14, [...Object.values(good), `--feature=cambi=heatmaps_path=${marker}`]),
        /heatmaps_path/,
      ],
      ['listens', pair(15, [...Object.values(good), '--live=sse:0']), /watched/],
      ...[
        `--junit=${marker}`,
        `--summary=${marker}`,
        '--github-summary',
        `--html=${marker}`,
        '--csv',
        `--baseline=${media}/r.y4m`,
      ].map(
        (arg, i) =>
          [
            `report-${i}`,
            pair(20 + i, [...Object.values(good), arg, ...(/baseline/.test(arg) ? ['--max-drop=1'] : [])]),
            /neither watched, nor a part.*(junit|summary|githubSummary|html|format|baseline) asks/,
          ] as const,
      ),
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
          (side, j) =>
            [
              `filter-${i}-${side}`,
              pair(100 + 2 * i + j, [...Object.values(good), `--vf-${side}=${chain}`]),
              /usage: --vf-(ref|dis) (names|lets|is) /,
            ] as const,
        ),
      ),
    ];
    const { Queue } = await import('bullmq');
    const queue = new Queue('tasks', { connection: redis.client, prefix: '{anyvmaf}' });
    for (const [name, data] of hostile)
      await queue.add('pair', data, { jobId: `hostile-${name}`, attempts: 1 });
    // What BullMQ itself cannot read.
    await queue.add('pair', {}, { jobId: 'hostile-torn', delay: 50 });
    await redis.client.hset(key('tasks:hostile-torn'), 'data', '{"torn');
    await using worker = await work();
    await until(async () => (await state()).failed >= hostile.length);
    const dead = await queue.getFailed(0, 100);
    for (const [name, , why] of hostile)
      expect(dead.find(({ id }) => id === `hostile-${name}`)?.failedReason, name).toMatch(why);
    expect(existsSync(marker)).toBe(false);
    // The worker is as before.
    const out = files.at('after.jsonl');
    expect(await batch(table, out, '--precision', '4', '--attempts', '1')).toMatchObject({ code: 3 });
    expect(worker.child.exitCode).toBe(null);
    const listed = await anyvmaf(['queue', 'dead', '--queue', redis.url]);
    expect(listed.stdout.split('\n').length).toBeGreaterThan(hostile.length);
    expect(await anyvmaf(['queue', 'retry', '--queue', redis.url])).toMatchObject({ code: 0 });
  });

  it('reads videos by URL where the worker may, and keeps large results behind one', async () => {
    await using server = await FileServer.start();
    server.keeps = true;
    for (const name of ['r.y4m', 'd.y4m', 'long-r.y4m', 'long-d.y4m'])
      server.add(`/${name}`, readFileSync(`${media}/${name}`));
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
    const place = `${server.url('/scores')}?X-Signature=SECRET`;
    const common = ['--queue', url, '--results', place, host];
    await using worker = await startWorker([...common, '--allow', media]);
    const args = ['--precision', 'max', '--frames', '--part-length', '150f', '--attempts', '1'];
    const ran = await anyvmaf(['batch', jobs, '-o', there, ...common, ...args]);
    expect(ran, ran.stderr).toMatchObject({ code: 2, stdout: expect.stringContaining('4 jobs; 1 failed') });
    const [expected, found] = [linesOf(alone), linesOf(there)];
    const plain = ({ error, job, ...line }: Line) => (error ? error.code : { ...line, line: job.line });
    expect(found.map(plain)).toEqual(expected.map(plain));
    // Its parts were put there, and nothing of it is left.
    expect(server.requests.filter((line) => /^PUT \/scores\/[0-9a-f]{32}\/part-/.test(line)).length).toBe(3);
    expect([...server.files.keys()].filter((path) => path.startsWith('/scores'))).toEqual([]);
    const frames = (path: string) =>
      readdirSync(`${path}.frames`).map((name) => readFileSync(`${path}.frames/${name}`));
    expect(frames(there)).toEqual(frames(alone));
    const said = ran.stdout + ran.stderr + worker.said() + readFileSync(there, 'utf8');
    expect(said).not.toContain('SECRET');
    expect(readFileSync(`/proc/${worker.child.pid}/cmdline`, 'utf8')).not.toContain('SECRET');
    // Signed anew, it is the same job.
    files.put('media/urls.csv', text('SECRET2'));
    const again = await anyvmaf(['batch', jobs, '-o', there, ...common, ...args]);
    expect(again, again.stderr).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('4 of them before'),
    });
    const dead = await anyvmaf(['queue', 'dead', '--json', '--queue', url]);
    expect(dead.stdout).toContain('169.254.169.254');
    expect(dead.stdout).not.toContain('SECRET');
  });

  it.skipIf(!hasFfmpeg)(
    `does not cut what each part would have to fetch whole (${needsFfmpeg})`,
    async () => {
      await using server = await FileServer.start();
      const film = { codec: 'h264', frames: 120, size: '160x120' } as const;
      const bytes = ['mp4', 'mkv', 'ts'].map((extension) => readFileSync(encode({ ...film, extension })));
      const names = ['/a.mp4', '/a.mkv', '/a.ts', '/scattered'];
      for (const [i, name] of names.entries()) server.add(name, bytes[i] ?? bytes[1] ?? Buffer.alloc(0));
      const url = `${redis.url}?queue=scattered`;
      const common = ['--queue', url, '--results', results, `--allow-url=${server.host}`];
      await using worker = await startWorker([...common, '--metrics', '0']);
      const [, port] = await worker.says(/http:\/\/127\.0\.0\.1:(\d+)\/metrics/);
      const parts = async () => {
        const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
        return Number(/kind="part",outcome="done"\} (\d+)/.exec(text)?.[1] ?? 0);
      };
      for (const [i, name] of names.entries()) {
        const before = await parts();
        const table = files.put(
          `media/scattered-${i}.csv`,
          `reference,distorted\n${server.url('/a.mp4')},${server.url(name)}\n`,
        );
        const out = files.at(`scattered-${i}.jsonl`);
        const ran = await anyvmaf(['batch', table, '-o', out, ...common, '--part-length', '60f']);
        expect(ran, ran.stderr).toMatchObject({ code: 0 });
        expect((await parts()) - before, name).toBe(name === '/a.mp4' ? 2 : 0);
      }
    },
    120_000,
  );

  it('leaves URLs alone where the worker was not told of a host', async () => {
    await using server = await FileServer.start();
    server.add('/d.y4m', readFileSync(`${media}/d.y4m`));
    const jobs = files.put('media/no-urls.csv', `reference,distorted\nr.y4m,${server.url('/d.y4m')}\n`);
    const url = `${redis.url}?queue=no-urls`;
    await using _ = await startWorker(['--queue', url, '--allow', media]);
    const out = files.at('no-urls.jsonl');
    expect(await anyvmaf(['batch', jobs, '-o', out, '--queue', url])).toMatchObject({ code: 2 });
    expect(linesOf(out)[0]?.error).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('this worker reads files only'),
    });
    expect(server.requests).toEqual([]);
    const refused: readonly (readonly [readonly string[], string])[] = [
      [[], 'name one with --allow DIR or --allow-url HOST'],
      [['--allow-url', 'http://x'], 'must be a host'],
      [['--allow', media, '--results', server.url('/scores')], 'on a host that is not allowed'],
    ];
    for (const [args, why] of refused)
      expect(await anyvmaf(['work', '--queue', url, ...args])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(why),
      });
  });

  it('shows itself, to people and to programs', async () => {
    putMissing();
    const url = `${redis.url}?queue=shown`;
    await using worker = await startWorker(['--queue', url, '--allow', media, '--metrics', '0']);
    const [, port] = await worker.says(/http:\/\/127\.0\.0\.1:(\d+)\/metrics/);
    const view = await anyvmaf(['queue', '--json', '--queue', url]);
    expect(JSON.parse(view.stdout)).toMatchObject({ active: 0, workers: [expect.stringContaining('-')] });
    expect((await anyvmaf(['queue', '--queue', url])).stdout).toMatch(/^workers {2}1 /m);
    const out = files.at('metrics.jsonl');
    await anyvmaf(['batch', table, '-o', out, '--queue', url, '--attempts', '1']);
    const scrape = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect(scrape.headers.get('content-type')).toContain('version=0.0.4');
    const text = await scrape.text();
    expect(text).toContain('anyvmaf_worker_tasks_total{kind="pair",outcome="done"} 4\n');
    expect(text).toMatch(/^anyvmaf_worker_frames_total [1-9]\d+$/m);
    expect(text).toContain('anyvmaf_queue_up 1\n');
    for (const line of text.trimEnd().split('\n'))
      expect(line).toMatch(
        /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [\d.e+-]+)$/,
      );
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'POST' })).status).toBe(405);
  });

  it('refuses a name that the queue does not take, before anything is submitted', async () => {
    const url = `${redis.url}?queue=names`;
    for (const [i, name] of ['a\\u0000b.y4m', 'a\\nb.y4m', 'x'.repeat(5000)].entries()) {
      const jobs = files.put(
        `media/names-${i}.jsonl`,
        `{"reference":"r.y4m","distorted":"d.y4m"}\n{"reference":"r.y4m","distorted":"${name}"}\n`,
      );
      const ran = await anyvmaf(['batch', jobs, '-o', files.at(`names-${i}.jsonl`), '--queue', url]);
      expect(ran).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^anyvmaf: line 2: a name or option has more than 4096 .*\n$/),
      });
      expect(await redis.client.keys('{names}:*')).toEqual([]);
    }
  });

  it('that takes nothing says why, once, and is used again when it takes jobs', {
    timeout: 120_000,
  }, async () => {
    await using replica = await startRedis();
    const args = ['--queue', replica.url];
    await using worker = await startWorker([...args, '--allow', media]);
    const small = files.put('media/small.csv', 'reference,distorted\nr.y4m,d.y4m\n');
    const submit = (out: string) => anyvmaf(['batch', small, '-o', files.at(out), ...args]);
    // A replica without a master takes no writes.
    await replica.client.call('REPLICAOF', '127.0.0.1', '1');
    const readOnly = await submit('replica.jsonl');
    expect(readOnly).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/the server of the queue at \S+ refuses: .*READONLY/),
    });
    await worker.says(/trouble with the queue at \S+, which is tried again: /);
    await replica.client.call('REPLICAOF', 'NO', 'ONE');
    await replica.client.config('SET', 'maxmemory', '1mb');
    const full = await submit('memory.jsonl');
    expect(full).toMatchObject({ code: 2, stderr: expect.stringMatching(/refuses: .*OOM/) });
    for (const { stderr } of [readOnly, full]) expect(stderr.split('\n').length).toBeLessThan(4);
    await replica.client.config('SET', 'maxmemory', '0');
    expect(await submit('again.jsonl')).toMatchObject({ code: 0 });
    // A result that cannot be told is found again once it can.
    await worker.stop();
    await using patient = await startWorker([...args, '--allow', media, '--lease', '2', '--threads', '1']);
    const following = anyvmaf(['batch', long, '-o', files.at('full-redis.jsonl'), ...args]);
    await until(async () => Number(await replica.client.llen('{anyvmaf}:tasks:active')) === 1);
    await replica.client.config('SET', 'maxmemory', '1mb');
    await patient.says(/OOM/);
    await replica.client.config('SET', 'maxmemory', '0');
    const followed = await following;
    expect(followed, followed.stderr + patient.said()).toMatchObject({ code: 0 });
    expect(await patient.stop()).toBe(0);
    expect(worker.said().split('\n').length).toBeLessThan(10);
    expect(await worker.stop()).toBe(0);
  });

  it('is refused if it is older than what the queue needs', async () => {
    const old = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (data) => {
        for (const [, name] of data.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g)) {
          const info = 'redis_version:4.0.9\r\nredis_mode:standalone\r\n';
          const isInfo = name?.toLowerCase() === 'info';
          socket.write(isInfo ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n');
        }
      });
    });
    await new Promise<void>((resolve) => old.listen(0, '127.0.0.1', resolve));
    const url = `redis://127.0.0.1:${(old.address() as AddressInfo).port}`;
    for (const args of [
      ['queue', '--once'],
      ['work', '--allow', media],
    ])
      expect(await anyvmaf([...args, '--queue', url])).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^anyvmaf: cannot use the queue at \S+: .*5\.0\.0.*4\.0\.9/),
      });
    old.close();
  });

  it('fails jobs, and no worker, when a folder is gone or the disk is full', {
    timeout: 120_000,
  }, async () => {
    const [own, place] = [files.at('own'), files.at('place')];
    mkdirSync(own);
    mkdirSync(place);
    const put = () => {
      for (const name of ['r.y4m', 'd.y4m']) files.put(`own/${name}`, readFileSync(`${media}/${name}`));
    };
    put();
    const url = `${redis.url}?queue=gone`;
    await using worker = await startWorker(['--queue', url, '--allow', own, '--allow', media]);
    const one = files.put('own.csv', 'reference,distorted\nown/r.y4m,own/d.y4m\n');
    const args = ['--queue', url, '--attempts', '1'];
    renameSync(own, files.at('own-away'));
    expect(await anyvmaf(['batch', one, '-o', files.at('own-1.jsonl'), ...args])).toMatchObject({ code: 2 });
    expect(linesOf(files.at('own-1.jsonl'))[0]?.error?.message).toContain('not under an allowed folder');
    renameSync(files.at('own-away'), own);
    expect(
      await anyvmaf(['batch', one, '-o', files.at('own-2.jsonl'), ...args, '--retry-failed']),
    ).toMatchObject({ code: 0 });
    expect(await worker.stop()).toBe(0);

    await using poor = await startWorker(
      ['--queue', url, '--allow', media, '--results', place],
      {},
      // Files may have 64 KiB: less than a part needs.
      ['/bin/sh', '-c', `ulimit -f 128; exec "$0" "$@"`],
    );
    const cut = [...args, '--results', place, '--part-length', '150f'];
    const full = await anyvmaf(['batch', long, '-o', files.at('full.jsonl'), ...cut]);
    expect(full).toMatchObject({ code: 2 });
    expect(linesOf(files.at('full.jsonl'))[0]?.error).toMatchObject({
      code: 'io',
      message: expect.stringMatching(/cannot write a result into .*larger than files may be here/),
    });
    expect(poor.child.exitCode).toBe(null);
    const left = readdirSync(place, { recursive: true, encoding: 'utf8' });
    expect(left.filter((name) => /tmp|part/.test(name))).toEqual([]);
    // On another machine there is room.
    expect(await poor.stop()).toBe(0);
    await using _ = await startWorker(['--queue', url, '--allow', media, '--results', place]);
    const again = await anyvmaf(['batch', long, '-o', files.at('full.jsonl'), ...cut, '--retry-failed']);
    expect(again, again.stderr).toMatchObject({ code: 0 });
  });

  it('keeps its password to itself', async () => {
    await using guarded = await startRedis(['--requirepass', 's3cret/ö@x']);
    const encoded = encodeURIComponent('s3cret/ö@x');
    const url = guarded.url.replace('redis+unix://', `redis+unix://:${encoded}@localhost`);
    const args = ['queue', '--json', '--queue'];
    const wrong = await anyvmaf([...args, url.replace('s3cret', 'wr0ng')]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringMatching(/WRONGPASS/) });
    const none = await anyvmaf([...args, guarded.url]);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringMatching(/NOAUTH/) });
    for (const { stderr } of [wrong, none]) expect(stderr).not.toMatch(/s3cret|wr0ng/);
    const env = { ANYVMAF_QUEUE_PASSWORD: 's3cret/ö@x', ANYVMAF_QUEUE: guarded.url };
    expect(await anyvmaf(['queue', '--json'], { env })).toMatchObject({ code: 0 });
    await using worker = await startWorker(['--queue', url, '--allow', media]);
    expect(worker.said()).not.toContain('s3cret');
    expect(readFileSync(`/proc/${worker.child.pid}/cmdline`, 'utf8')).not.toContain('s3cret');
  });

  const noOpenssl = spawnSync('openssl', ['version']).status !== 0;
  it.skipIf(noOpenssl)('speaks TLS to a user of its own (needs openssl)', async () => {
    const [certificate, secret] = [files.at('tls.crt'), files.at('tls.key')];
    const made = spawnSync('openssl', [
      ...[
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
      ],
      ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
      ...['-keyout', secret, '-out', certificate],
    ]);
    expect(made.status, String(made.stderr)).toBe(0);
    const port = await freePort();
    await using server = await startRedis([
      ...['--bind', '127.0.0.1', '--tls-port', `${port}`, '--tls-auth-clients', 'no'],
      ...['--tls-cert-file', certificate, '--tls-key-file', secret, '--tls-ca-cert-file', certificate],
    ]);
    await server.client.call(
      'ACL',
      'SETUSER',
      'scorer',
      'on',
      '>pw',
      '~{anyvmaf}:*',
      '&*',
      '+@all',
      '-@admin',
    );
    const url = `rediss://scorer@localhost:${port}`;
    const env = { ANYVMAF_QUEUE_PASSWORD: 'pw', NODE_EXTRA_CA_CERTS: certificate };
    expect(await anyvmaf(['queue', '--json', '--queue', url], { env })).toMatchObject({
      code: 0,
      stderr: '',
    });
    const unknown = await anyvmaf(['queue', '--queue', url], { env: { ANYVMAF_QUEUE_PASSWORD: 'pw' } });
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringMatching(/self.signed certificate/) });
    const plain = await anyvmaf(['queue', '--queue', url.replace('rediss', 'redis')], { env });
    expect(plain.code).toBe(2);
  });

  it('that is not there is an error at once', async () => {
    const gone = await anyvmaf([
      'batch',
      table,
      '-o',
      files.at('gone.jsonl'),
      '--queue',
      'redis://:pw@127.0.0.1:1',
    ]);
    expect(gone).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /cannot use the queue at redis:\/\/:\*\*\*@127\.0\.0\.1:1: .*ECONNREFUSED/,
      ),
    });
  });
});

describe.skipIf(redisIsAbsent !== undefined || process.platform !== 'linux')(
  `an endurance run, short (${redisIsAbsent ?? 'needs Linux'})`,
  () => {
    it('loses and doubles nothing', { timeout: 400_000 }, async () => {
      const args = '--jobs 8 --workers 2 --kills 3 --restarts 1'.split(' ');
      const { code, stdout, stderr } = await run(process.execPath, ['scripts/queue-endurance.mjs', ...args], {
        cwd: root,
      });
      expect(code, stdout + stderr).toBe(0);
      expect(stdout).toMatch(/^8 jobs, 2 workers, 3 kills, 1 restarts of Redis: 0 problems$/m);
    });
  },
);
