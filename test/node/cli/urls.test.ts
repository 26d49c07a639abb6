/**
 * @module test/node/cli/urls
 * Videos by URL as a user runs it: the same numbers as of files, parts that fetch little else, no credentials in what is printed
 * or written, and errors for URLs that must not be fetched.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Report, score } from '../../../src/index.js';
import { anyvmaf, ends, passes, videos } from '../../support/cli.js';
import { comparable, inParts } from '../../support/clips.js';
import { encode, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { FileServer } from '../../support/file-server.js';
import { tier } from '../../support/tier.js';

const files = videos();
const SIGNED = '?X-Amz-Credential=ME&X-Amz-Signature=SECRET';

const server = await FileServer.forTests();

const serve = (path: string, file: string) => server.add(path, readFileSync(file)) + SIGNED;

/** The numbers of a report, without names and times. */
function numbers(path: string) {
  const { pooled_metrics, frames, metrics } = JSON.parse(readFileSync(path, 'utf8'));
  return { pooled_metrics, frames, metrics };
}

describe('videos by URL', () => {
  const SIZE = { width: 160, height: 120 };
  const FRAMES = 12;
  const [reference, distorted] = files.pair(['r.y4m', 'd.y4m'], FRAMES, SIZE);
  const [rawReference, rawDistorted] = files.pair(['r.yuv', 'd.yuv'], FRAMES, SIZE);
  const RAW = ['-w', '160', '-h', '120', '-p', '420', '-b', '8'];

  it('are scored like files, Y4M and raw, and named without credentials', async () => {
    const [r, d] = [serve('/r.y4m', reference), serve('/d.y4m', distorted)];
    const [remote, local, page] = [files.at('remote.json'), files.at('local.json'), files.at('page.html')];
    const run = await passes([r, d, `--allow-url=${server.host}`, '-o', remote, '--html', page]);
    await passes([reference, distorted, '-o', local]);
    expect(numbers(remote)).toEqual(numbers(local));
    expect(JSON.parse(readFileSync(remote, 'utf8')).reference.name).toBe(`${server.url('/r.y4m')}?...`);
    const written = readFileSync(remote, 'utf8') + readFileSync(page, 'utf8') + run.stdout + run.stderr;
    expect(written).not.toMatch(/SECRET|Credential=ME/);
    const raw = [serve('/r.yuv', rawReference), serve('/d.yuv', rawDistorted)];
    const both = files.at('raw.json');
    await passes([...raw, ...RAW, `--allow-url=${server.host}`, '-o', both, '--json']);
    expect(numbers(both).pooled_metrics).toEqual(numbers(local).pooled_metrics);
    // One may be a file.
    const half = files.at('half.json');
    await passes([reference, d, `--allow-url=${server.host}`, '-o', half]);
    expect(numbers(half)).toEqual(numbers(local));
  });

  it('are refused unless allowed, also by host', async () => {
    const url = serve('/r.y4m', reference);
    const refused: readonly (readonly [readonly string[], string])[] = [
      [[], `which is not fetched by default; pass --allow-url ${server.host}, or download`],
      [['--allow-url=example.com'], 'on a host that is not allowed'],
      [
        ['--allow-url=127.0.0.1'],
        `a host that is not allowed; pass --allow-url ${server.host} if you trust it.`,
      ],
      [['--allow-url=http://127.0.0.1'], 'must be a host'],
      [['--allow-url', `--allow-url=${server.host}`], 'with a host and without one'],
    ];
    for (const [args, why] of refused) {
      const run = await ends([reference, url, ...args], 1, why);
      expect(run.stderr).not.toContain('SECRET');
    }
    expect(server.sent.size).toBe(0);
    await ends(['--allow-url', 'some.name', reference, distorted], 1, 'nothing here is a URL');
    // Without a host, the arguments after it are files.
    const psnr = ['-n', '--feature', 'psnr', '-q', '--json'];
    await passes(['--allow-url', reference, distorted, ...psnr]);
  });

  it('are inspected and aligned, and refused by commands that do not read them', async () => {
    const [r, d] = [serve('/r.y4m', reference), serve('/d.y4m', distorted)];
    const inspected = await passes(['inspect', r, d, '--allow-url', server.host, '--json']);
    expect(inspected.stdout).toContain('/r.y4m?...');
    await passes(['align', r, d, '--allow-url', server.host]);
    const search = await anyvmaf(['search', r]);
    expect(search.code).toBeGreaterThan(0);
    expect(inspected.stdout + search.stdout + search.stderr).not.toContain('SECRET');
  });

  it('are jobs of a batch, recognised under any signature', async () => {
    serve('/r.y4m', reference);
    serve('/d.y4m', distorted);
    const out = files.at('batch.jsonl');
    const table = (query: string) =>
      files.put(
        'urls.csv',
        `reference,distorted,feature\n${server.url('/r.y4m')}?${query},${server.url('/d.y4m')}?${query},psnr\n` +
          `${server.url('/r.y4m')}?${query},${server.url('/none.y4m')}?${query},\nr.y4m,d.y4m,ciede\n`,
      );
    const batch = (jobs: string) => anyvmaf(['batch', jobs, '-o', out, `--allow-url=${server.host}`]);
    const run = await batch(table('X-Amz-Signature=SECRET1'));
    expect(run, run.stderr).toMatchObject({ code: 2, stdout: expect.stringContaining('3 jobs; 1 failed') });
    expect(run.stderr).toContain('there is no such file');
    const again = await batch(table('X-Amz-Signature=SECRET2'));
    expect(again.stdout).toContain('2 from earlier runs');
    server.files.set('/d.y4m', { bytes: readFileSync(distorted), etag: '"2"' });
    const changed = await batch(table('X-Amz-Signature=SECRET2'));
    expect(changed.stdout).toContain('2 from earlier runs');
    const text = readFileSync(out, 'utf8') + run.stdout + run.stderr + again.stderr;
    expect(text).not.toContain('SECRET');
    const own = files.put(
      'own.csv',
      `reference,distorted,allow_url\nr.y4m,${server.url('/d.y4m')},${server.host}\n`,
    );
    await ends(['batch', own, '-o', files.at('own.jsonl')], 1, 'only the command line may allow hosts');
  });

  it('take results by PUT; a refused one is kept locally', async () => {
    const pair = [reference, distorted, '-n', '--feature', 'psnr', '-q'];
    const put = `${server.url('/out/report.json')}${SIGNED}`;
    const allow = ['--allow-url', server.host];
    await passes([...pair, '-o', put, ...allow, '--html', server.url('/page.html')]);
    const report = JSON.parse(server.put.get('/out/report.json')?.toString() ?? '');
    expect(report.frames).toHaveLength(FRAMES);
    expect(server.requests).toContain(`PUT /out/report.json${SIGNED}`);
    expect(server.put.get('/page.html')?.toString()).not.toContain('SECRET');
    await passes([...pair, '--shard', '1/2', '-o', server.url('/part.json'), ...allow]);
    expect(JSON.parse(server.put.get('/part.json')?.toString() ?? '').format).toBe('anyvmaf-shard');
    const cwd = files.at('here');
    mkdirSync(cwd);
    for (const [status, headers, why] of [
      [403, {}, 'answered 403'],
      [307, { location: 'http://169.254.169.254/' }, 'on a host that is not allowed'],
      [301, { location: put }, 'answered 301, which a PUT does not follow'],
    ] as const) {
      server.behave = (request, response) => {
        request.resume();
        response.writeHead(status, headers).end();
        return true;
      };
      const failed = await ends([...pair, '-o', put, '--allow-url', server.host], 2, why, { cwd });
      const kept = /the result is in (\S+)\./.exec(failed.stderr)?.[1] ?? '';
      expect(JSON.parse(readFileSync(kept, 'utf8')).frames).toHaveLength(FRAMES);
      expect(failed.stderr).not.toContain('SECRET');
    }
    expect(readdirSync(cwd).sort()).toEqual(['report-1.json', 'report-2.json', 'report.json']);
    for (const args of [[], ['--allow-url'], ['--allow-url=example.com']])
      expect((await anyvmaf([...pair, '-o', put, ...args], { cwd })).code).toBe(1);
    const batch = ['batch', files.put('b.csv', 'reference,distorted\nr.y4m,d.y4m\n'), '-o', put];
    expect(await anyvmaf([...batch, '--allow-url', server.host])).toMatchObject({ code: 1 });
  });

  it('may be the parts that merge reads, each with its limits and checks', async () => {
    const pair = [reference, distorted, '-n', '--feature', 'psnr', '-q', '--precision', 'max'];
    const parts = [1, 2].map((number) => files.at(`m-${number}.json`));
    for (const [i, part] of parts.entries()) await passes([...pair, '--shard', `${i + 1}/2`, '-o', part]);
    const [first, second] = parts.map((part, i) => serve(`/m-${i + 1}.json`, part));
    const [merged, local] = [files.at('m-remote.json'), files.at('m-local.json')];
    const allow = ['--allow-url', server.host, '--precision', 'max'];
    // One may be a file, and the report may go to a URL.
    await passes(['merge', first ?? '', parts[1] ?? '', ...allow, '-o', merged]);
    await passes(['merge', ...parts, '--precision', 'max', '-o', local]);
    expect(numbers(merged)).toEqual(numbers(local));
    const there = server.url('/merged.json');
    await passes(['merge', first ?? '', second ?? '', ...allow, '-o', there]);
    expect(JSON.parse(server.put.get('/merged.json')?.toString() ?? '').frames).toHaveLength(FRAMES);
    const video = serve('/r.y4m', reference);
    const refused: readonly (readonly [readonly string[], number, string])[] = [
      [[first ?? ''], 1, 'on a host that is not allowed'],
      [[first ?? '', '--allow-url=example.com'], 1, 'on a host that is not allowed'],
      [[...parts, '--allow-url=example.com'], 1, 'nothing here is a URL'],
      [[server.url('/none.json'), ...allow], 2, 'there is no such file'],
      [[video, ...allow], 2, 'it is not JSON'],
    ];
    for (const [args, code, why] of refused) {
      const failed = await anyvmaf(['merge', ...args, '-o', files.at('m-none.json')]);
      expect(failed).toMatchObject({ code, stderr: expect.stringContaining(why) });
      expect(failed.stderr).not.toContain('SECRET');
    }
    // Files that are too large are not fetched.
    server.behave = (request, response) => {
      const [, from = '0', to = '0'] = /(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? [];
      const piece = Buffer.alloc(Number(to) - Number(from) + 1);
      response.writeHead(206, { 'content-range': `bytes ${from}-${to}/${500 * 1024 * 1024}`, etag: '"1"' });
      response.end(piece);
      return true;
    };
    server.requests.length = 0;
    await ends(['merge', first ?? '', ...allow], 2, 'has 524288000 bytes, more than');
    expect(server.requests).toHaveLength(1);
    expect(() => readFileSync(files.at('m-none.json'))).toThrow('ENOENT');
  });
});

describe.runIf(hasFfmpeg)(`encoded videos by URL (${needsFfmpeg})`, () => {
  const small = { size: '96x64', frames: 12 };
  const noisy = (frames: number) => ({
    frames,
    extra: ['-vf', 'noise=alls=40:allf=t', '-movflags', '+faststart'],
  });

  it('are scored like files, by every decoder', async () => {
    const master = encode({ codec: 'h264', ...noisy(12), ...small });
    const file = encode({ codec: 'h264', ...small });
    const r = serve('/master.mp4', master);
    const [remote, local] = [files.at('e-remote.json'), files.at('e-local.json')];
    const args = ['-n', '--feature', 'psnr', '--no-preflight', '-q', '--json'];
    await passes([master, file, ...args, '-o', local]);
    for (const decoder of ['ffmpeg', 'mediabunny', 'wasm']) {
      const d = serve(`/dis-${decoder}.mp4`, file);
      const asked = [...args, '--decoder', decoder, `--allow-url=${server.host}`, '-o', remote];
      await passes([r, d, ...asked]);
      expect(numbers(remote), decoder).toEqual(numbers(local));
      const text = readFileSync(remote, 'utf8');
      expect(JSON.parse(text).distorted.name).toBe(`${d.replace(SIGNED, '')}?...`);
      expect(text).not.toContain('SECRET');
    }
  });

  const filtered: [string, number][] = [
    ['--vf-ref fps=50 --vf-dis fps=50', 24],
    ['--crop-ref 48:32:8:8 --crop-dis 48:32:8:8', 12],
  ];
  it.each(tier(filtered.slice(0, 1), filtered))('are filtered like files by %s', async (filters, frames) => {
    const master = encode({ codec: 'h264', ...noisy(12), ...small });
    const file = encode({ codec: 'hevc', ...small });
    const [remote, local] = [files.at('f-remote.json'), files.at('f-local.json')];
    const args = ['-n', '--feature', 'psnr', '--no-preflight', '-q', ...filters.split(' ')];
    const urls = [serve('/whole.mp4', master), serve('/whole-dis.mp4', file)];
    await passes([...urls, ...args, `--allow-url=${server.host}`, '-o', remote]);
    await passes([master, file, ...args, '-o', local]);
    expect(numbers(remote)).toEqual(numbers(local));
    expect(numbers(remote).frames).toHaveLength(frames);
  });

  it('in parts read their share, and merge to a whole run', async () => {
    const film = { size: '320x180', frames: 900 };
    const key = ['-g', '12', '-movflags', '+faststart'];
    const extra = ['-vf', 'noise=alls=40:allf=t', '-qp', '24', ...key];
    const master = encode({ codec: 'h264', ...film, extra });
    const url = serve('/big.mp4', master);
    const size = readFileSync(master).length;
    const poor = encode({ codec: 'h264', ...film, extra: key });
    const args = ['-n', '--feature', 'psnr', `--allow-url=${server.host}`, '-q'];
    await passes([url, poor, ...args, '--shard', '5/10', '-o', files.at('big.json')]);
    const share = (server.sent.get('/big.mp4') ?? 0) / size;
    expect(share, `a tenth of ${size} bytes`).toBeLessThan(0.18);
    const first = encode({ codec: 'h264', ...small });
    const other = encode({ codec: 'hevc', ...small });
    const request = { reference: first, distorted: other };
    const options = { models: [], features: ['psnr'] };
    const remote = { reference: serve('/small.mp4', first), distorted: serve('/other.mp4', other) };
    const merged = await inParts(remote, 2, { ...options, allowUrl: [server.host] });
    const whole = await score(request, options);
    const unnamed = (report: Report) => ({
      ...comparable(report),
      ...{ reference: undefined, distorted: undefined, warnings: undefined },
    });
    expect(unnamed(merged)).toEqual(unnamed(whole));
  });

  it('that change or disappear give errors of fetching, not of the video', async () => {
    const file = encode({ codec: 'h264', size: '640x360', ...noisy(200) });
    const url = serve('/m.mp4', file);
    const run = (how: (range: number) => 'ok' | 'changed' | 'gone') => {
      server.behave = (request, response, found) => {
        const state = how(Number(/=(\d+)/.exec(request.headers.range ?? '')?.[1]));
        if (state === 'ok' || !found) return false;
        if (state === 'gone') response.writeHead(404).end();
        else server.send(request, response, { ...found, etag: '"2"' });
        return true;
      };
      return anyvmaf([file, url, '-n', '--feature', 'psnr', `--allow-url=${server.host}`, '--allow-damaged']);
    };
    const size = readFileSync(file).length;
    const changed = await run((at) => (at > size / 2 && at < size * 0.9 ? 'changed' : 'ok'));
    expect(changed.code).toBe(2);
    expect(changed.stderr).toContain('m.mp4?... changed while it was read');
    const gone = await run((at) => (at > size / 2 && at < size * 0.9 ? 'gone' : 'ok'));
    expect(gone).toMatchObject({ code: 2, stderr: expect.stringContaining('answered 404') });
    expect(changed.stderr + gone.stderr).not.toMatch(/SECRET|damaged|127\.0\.0\.1:\d+\/[0-9a-f]{20}/);
  });

  it('that are playlists fetch no other file', async () => {
    const secret = encode({ codec: 'h264', frames: 5 });
    server.add('/inner.mp4', readFileSync(secret));
    const list = `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${server.url('/inner.mp4')}\n#EXTINF:1,\nfile:${secret}\n#EXT-X-ENDLIST\n`;
    const url = server.add('/list.m3u8', Buffer.from(list));
    const run = await anyvmaf([secret, url, `--allow-url=${server.host}`]);
    expect(run.code).toBe(2);
    expect(server.sent.get('/inner.mp4')).toBeUndefined();
  });
});
