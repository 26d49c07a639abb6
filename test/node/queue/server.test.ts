/**
 * @module test/node/queue/server
 * The server of a queue, which may be old, guarded or absent, and the place of results that are too large for it: lost and
 * damaged results are recognised.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { QueueConnection, queueAddress } from '../../../src/queue/connect.js';
import { type Stored, taskId } from '../../../src/queue/job.js';
import { LostFile, ResultsFolder } from '../../../src/queue/results-folder.js';
import { anyvmaf, anyvmafProcess, videos } from '../../support/cli.js';
import { FileServer } from '../../support/file-server.js';
import { privateFolder, testFolder } from '../../support/folders.js';
import { testJob } from '../../support/memory-queue.js';
import { redisIsAbsent, startRedis, startWorker } from '../../support/redis.js';
import { exhaustive } from '../../support/tier.js';

const key = 'a'.repeat(32);
const large = 'x'.repeat(200_000);

const server = await FileServer.forTests();
server.keeps = true;
const root = testFolder('results');

/** How a test sees and damages the content of a place. */
const places = {
  'a folder': {
    open: () => ResultsFolder.open(root),
    names: () =>
      readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.')),
    change: (name: string, how: (bytes: Buffer) => Buffer) =>
      writeFileSync(join(root, name), how(readFileSync(join(root, name)))),
    remove: (name: string) => rmSync(join(root, name)),
  },
  'a URL': {
    open: () => ResultsFolder.open(server.url('/results/'), [server.host]),
    names: () => [...server.files.keys()].map((path) => path.slice('/results/'.length)),
    change: (name: string, how: (bytes: Buffer) => Buffer) => {
      server.add(`/results/${name}`, how(Buffer.from(server.files.get(`/results/${name}`)?.bytes ?? [])));
    },
    remove: (name: string) => void server.files.delete(`/results/${name}`),
  },
};

describe.each(Object.entries(places))('results in %s', (_, place) => {
  const file = (stored: Stored) => `${key}/${'file' in stored ? stored.file : ''}`;

  it('are named by their content, and short ones are not written', async () => {
    const folder = await place.open();
    expect(await folder.keep(key, 'line', 'short')).toEqual({ text: 'short' });
    const stored = await folder.keep(key, 'part-1-2', large);
    const name = expect.stringMatching(/^part-1-2-[0-9a-f]{16}\.json$/);
    expect(stored).toMatchObject({ bytes: large.length, file: name });
    expect(place.names()).toEqual([file(stored)]);
    expect(await folder.read(key, stored)).toBe(large);
    await folder.discard(key, stored);
    expect(place.names()).toEqual([]);
  });

  it('are lost if they are gone, cut off or changed', async () => {
    const folder = await place.open();
    const stored = await folder.keep(key, 'part-1-2', large);
    const readAgain = () => expect(folder.read(key, stored)).rejects;
    place.change(file(stored), (bytes) => bytes.fill('y', 70_000, 70_001));
    await readAgain().toThrow('is not what was written');
    place.change(file(stored), (bytes) => bytes.subarray(0, -1));
    await readAgain().toThrow(LostFile);
    place.remove(file(stored));
    await readAgain().toThrow(LostFile);
  });

  it('are cleared with their job', async () => {
    const folder = await place.open();
    const [part, line] = [await folder.keep(key, 'part-1-2', large), await folder.keep(key, 'line', large)];
    await folder.clear(key, false, [part]);
    expect(place.names()).toEqual([file(line)]);
    await folder.clear(key, true, [line]);
    expect(place.names()).toEqual([]);
    await folder.clear('../../etc', true, [line]);
  });
});

it('results are not kept where there is no place', async () => {
  const none = await ResultsFolder.open(undefined);
  await expect(none.keep(key, 'part-1-2', large)).rejects.toThrow('--results DIR');
  await expect(ResultsFolder.open(join(root, 'none'))).rejects.toThrow('is not a folder');
  await expect(ResultsFolder.open('https://example.com/x', ['example.org'])).rejects.toThrow('not allowed');
});

it('results say why a folder accepts no more', async () => {
  const gone = privateFolder();
  const folder = await ResultsFolder.open(gone);
  rmSync(gone, { recursive: true });
  writeFileSync(gone, '');
  const kept = folder.keep(key, 'part-1-2', large);
  await expect(kept).rejects.toThrow(/cannot write a result into .*not a folder/);
});

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

const title = `the server of a queue${redisIsAbsent === undefined ? '' : ` (${redisIsAbsent})`}`;

describe.skipIf(redisIsAbsent !== undefined)(title, () => {
  const files = videos();

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
    const stderr = expect.stringMatching(/^anyvmaf: cannot use the queue at \S+: .*5\.0\.0.*4\.0\.9/);
    for (const args of ['queue --once', `work --allow ${root}`].map((words) => words.split(' ')))
      expect(await anyvmaf([...args, '--queue', url])).toMatchObject({ code: 2, stderr });
    old.close();
  });

  it('never shows its password', async () => {
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
    await using silent = await startWorker(['--queue', url, '--allow', root]);
    expect(silent.said()).not.toContain('s3cret');
    expect(readFileSync(`/proc/${silent.child.pid}/cmdline`, 'utf8')).not.toContain('s3cret');
  });

  const noOpenssl = spawnSync('openssl', ['version']).status !== 0;
  it.skipIf(noOpenssl)('speaks TLS to its own user (needs openssl)', async () => {
    const [certificate, secret] = [files.at('tls.crt'), files.at('tls.key')];
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', secret];
    const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const made = spawnSync('openssl', ['req', '-x509', '-days', '2', ...key, ...name, '-out', certificate]);
    expect(made.status, String(made.stderr)).toBe(0);
    const port = await freePort();
    await using secure = await startRedis([
      ...['--bind', '127.0.0.1', '--tls-port', `${port}`, '--tls-auth-clients', 'no'],
      ...['--tls-cert-file', certificate, '--tls-key-file', secret, '--tls-ca-cert-file', certificate],
    ]);
    const rights = 'on >pw ~{anyvmaf}:* &* +@all -@admin'.split(' ');
    await secure.client.call('ACL', 'SETUSER', 'scorer', ...rights);
    const url = `rediss://scorer@localhost:${port}`;
    const env = { ANYVMAF_QUEUE_PASSWORD: 'pw' };
    // Node reads its certificates once, at its start.
    const trusting = { env: { ...env, NODE_EXTRA_CA_CERTS: certificate } };
    const seen = await anyvmafProcess(['queue', '--json', '--queue', url], trusting);
    expect(seen).toMatchObject({ code: 0, stderr: '' });
    const unknown = await anyvmaf(['queue', '--queue', url], { env });
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringMatching(/self.signed certificate/) });
    if (!exhaustive) return;
    // This takes the ten seconds that a server has to come up.
    const plain = await anyvmaf(['queue', '--queue', url.replace('rediss', 'redis')], { env });
    expect(plain.code).toBe(2);
  });

  it('is used in no other database than its own', async () => {
    await using redis = await startRedis();
    const far = `${redis.url}?db=99`;
    const wrong = await anyvmaf(['queue', 'cancel', '--all', '--queue', far]);
    const stderr = `anyvmaf: cannot use the queue at ${far}: ERR DB index is out of range\n`;
    expect(wrong).toEqual({ code: 2, stdout: '', stderr });
    // Connections that lose their database later wait until they have it again.
    const connection = await QueueConnection.open(queueAddress(`${redis.url}?db=1`));
    const ran: unknown[] = [];
    const worker = connection.worker(async ({ id }) => void ran.push(id), {});
    await worker.waitUntilReady();
    await redis.client.call('ACL', 'SETUSER', 'default', '-select');
    await redis.client.call('CLIENT', 'KILL', 'TYPE', 'normal');
    await expect.poll(() => connection.lastError).toContain('NOPERM');
    const task = { kind: 'pair', job: testJob(1) } as const;
    const added = connection.add([task]);
    await redis.client.call('ACL', 'SETUSER', 'default', '+select');
    await added;
    await expect.poll(() => ran).toEqual([taskId(task)]);
    expect(await redis.client.dbsize()).toBe(0);
    const clients = async () =>
      String(await redis.client.client('LIST'))
        .match(/(?<= db=)\d/g)
        ?.sort();
    // The first is the test's own.
    await expect.poll(clients).toEqual(['0', '1', '1', '1']);
    await worker.close();
    await connection.close();
  });

  it('that does not answer is an error at once', async () => {
    const nowhere = ['--queue', 'redis://:pw@127.0.0.1:1'];
    const jobs = files.put('jobs.csv', 'reference,distorted\nr.y4m,d.y4m\n');
    const { code, stderr } = await anyvmaf(['batch', jobs, '-o', files.at('gone.jsonl'), ...nowhere]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/cannot use the queue at redis:\/\/:\*\*\*@127\.0\.0\.1:1: .*ECONNREFUSED/);
  });
});
