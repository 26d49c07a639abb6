/**
 * @module test/node/cli/encoded
 * The command line on encoded video: one pair, several encodes, ranges, pages, inspect, align, interruption, and invalid files.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { anyvmaf, anyvmafProcess, passes, refuses, videos } from '../../support/cli.js';
import { encode, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { tier } from '../../support/tier.js';

const FRAMES = 20;
const MOVING = { codec: 'h264', size: '192x128', frames: FRAMES, source: 'testsrc2' } as const;

/** Decoders that have a file open by its name. */
function decodersOf(file: string): string[] {
  const list = execFileSync('ps', ['-eo', 'args='], { encoding: 'utf8' }).split('\n');
  return list.filter((line) => line.includes(file) && line.includes('-f rawvideo'));
}

describe.skipIf(!hasFfmpeg)(`encoded video (${needsFfmpeg})`, () => {
  const files = videos();
  /** `late` lacks the first five frames; `long` can be interrupted. */
  let [ref, good, poor, late, long] = ['', '', '', '', ''];
  /** The quickest of all metrics. */
  const PSNR = ['-n', '--feature', 'psnr'];
  /** Without preflight, which starts further decoders. */
  const ALONE = ['--no-preflight'];
  const QUICK = [...PSNR, ...ALONE];

  beforeAll(() => {
    ref = encode({ ...MOVING, extra: ['-crf', '4'] });
    good = encode({ ...MOVING, extra: ['-crf', '28'] });
    poor = encode({ ...MOVING, extra: ['-crf', '45'] });
    const cut = 'trim=start_frame=5,setpts=PTS-STARTPTS';
    late = ffmpeg(files.at('late.mp4'), ['-i', ref, '-vf', cut, '-crf', '4']);
    long = encode({ codec: 'h264', size: '640x360', frames: 1500, source: 'testsrc2' });
  });

  test('a pair: the plain line, and the same mean in JSON with the decoder and the chosen model', async () => {
    const { stdout } = await anyvmaf([ref, good, ...ALONE]);
    const report = JSON.parse((await anyvmaf([ref, good, '-m', 'auto', '--json'])).stdout);
    expect(stdout).toBe(`vmaf_v0.6.1: ${report.pooled_metrics.vmaf.mean.toFixed(6)}\n`);
    expect(report.frames).toHaveLength(FRAMES);
    const decoded = { decoder: 'ffmpeg', codec: 'h264', pixel_format: 'yuv420p' };
    expect(report.pairing.distorted).toMatchObject(decoded);
    expect(report.preflight).toBeInstanceOf(Array);
    expect(report.models[0].source).toBe('vmaf_v0.6.1');
    expect(report.models[0].chosen).toContain('192x128');
  });

  test('several encodes: one table or CSV records, and a page', async () => {
    const both = [good, poor];
    const page = files.at('page.html');
    const table = await passes([ref, ...both, '--html', page, '--no-pictures', ...ALONE]);
    expect(table.stdout).toMatch(/worst 1 % +bit rate +size\n/);
    const rows = table.stdout.split('\n').filter((line) => line.startsWith('h264'));
    expect(rows).toHaveLength(2);
    const csv = await anyvmaf([ref, ...both, '--csv', ...ALONE]);
    const [head = '', ...records] = csv.stdout.trimEnd().split('\n');
    expect(records).toHaveLength(2);
    for (const [i, record] of records.entries()) {
      const cells = Object.fromEntries(record.split(',').map((cell, n) => [head.split(',')[n], cell]));
      const size = String(readFileSync(both[i] ?? '').length);
      expect(cells).toMatchObject({ distorted: both[i], codec: 'h264', offset: '0', size });
      expect(rows[i]).toContain(` ${cells.vmaf_mean} `);
    }
    const text = readFileSync(page, 'utf8');
    expect(text).toMatch(/^<!doctype html>/);
    expect(text).toContain('2 encodes of');
    expect(text).toContain('--html');
  });

  test('the gate fails for a pair with an offset, however low the limit', async () => {
    const args = [ref, late, '--fail-under', '1', '-q'];
    const shut = await anyvmaf(args);
    expect(shut.code).toBe(3);
    expect(shut.stderr).toMatch(
      /anyvmaf: --fail-under fails because the score cannot be trusted: \[offset\] [^\n]*\(fix: --offset 5\)/,
    );
    expect(shut.stderr.split('\n')[0]).toMatch(/^anyvmaf: untrusted score: The pictures do not match/);
    const open = await passes([...args, '--accept-untrusted']);
    expect(open.stderr).toContain('--fail-under judges a score that is untrusted: [offset]');
    expect(open.stdout).toBe(shut.stdout);
  });

  test('the gate fails for an encode of few decodable frames, without advice about an offset', async () => {
    const whole = encode({ ...MOVING, frames: 48, extension: 'mkv' });
    const entries = ['-v', 'error', '-show_entries', 'packet=pos', '-of', 'csv=p=0', whole];
    const places = execFileSync('ffprobe', entries, { encoding: 'utf8' }).split('\n').map(Number.parseFloat);
    const bytes = readFileSync(whole);
    // Zeros from the block of the second frame on; the header still declares all frames.
    const at = (places[1] as number) - 2;
    const broken = files.at('broken.mkv');
    writeFileSync(broken, bytes.fill(0, at));
    const shut = await anyvmaf([whole, broken, ...PSNR, '--fail-under', 'psnr_y.mean>=1']);
    expect(shut.code).toBe(3);
    expect(shut.stderr).toMatch(/cannot be trusted: \[lost-frames\]/);
    expect(shut.stderr).toContain('it is damaged or incomplete');
    expect(shut.stderr).not.toContain('--offset');
  });

  test('--html to standard output prints only the page', async () => {
    const { stdout } = await anyvmaf([ref, good, ...QUICK, '--html', '-']);
    expect(stdout).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
  });

  describe('inspect', () => {
    test('shows both, marks differences, and reports an offset', async () => {
      const small = ffmpeg(files.at('small.mp4'), ['-i', late, '-vf', 'scale=96:64', '-crf', '10']);
      const { code, stdout } = await anyvmaf(['inspect', ref, small]);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^size +192x128 +≠ +96x64$/m);
      expect(stdout).toContain('[size]');
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
      const strict = await anyvmaf(['inspect', ref, small, '--strict', '--json']);
      expect(strict.code).toBe(2);
      const data = JSON.parse(strict.stdout);
      expect(data.distorted).toMatchObject({ width: 96, codec: 'h264' });
      expect(data.preflight.map(({ code }: { code: string }) => code)).toContain('size');
    });

    test('takes two videos', async () => {
      await refuses(['inspect', ref], 1, 'anyvmaf inspect REFERENCE DISTORTED');
      await refuses(['inspect', ref, good, poor], 1, 'one argument too many');
      await refuses(['inspect', ref, files.at('none.mp4')], 2, 'none.mp4');
    });
  });

  describe('align', () => {
    test('finds the offset', async () => {
      const { stdout } = await passes(['align', ref, late, '--window', '10', '--json']);
      expect(JSON.parse(stdout)).toMatchObject({ offset: 5, ambiguous: false });
    });

    test('refuses an invalid window', async () => {
      await refuses(['align', ref, good, '--window', '0'], 1, 'from 1 to 1000');
    });
  });

  test.each<NodeJS.Signals>(tier(['SIGTERM'], ['SIGINT', 'SIGTERM']))(
    '%s ends a run with one line, and leaves no process and no file',
    async (signal) => {
      const before = readdirSync(files.at('.'));
      const page = files.at('interrupted.html');
      const { code, stdout, stderr } = await anyvmafProcess([long, long, long, '--html', page], {
        meanwhile: async (child) => {
          // Polled slowly, because every poll starts a program.
          await expect.poll(() => decodersOf(long).length, { interval: 100 }).toBeGreaterThanOrEqual(2);
          child.kill(signal);
        },
      });
      expect([code, stdout]).toEqual(signal === 'SIGINT' ? [130, ''] : [143, '']);
      expect(stderr).toMatch(/^anyvmaf: (interrupted|terminated)\n$/);
      await expect.poll(() => decodersOf(long)).toEqual([]);
      expect(readdirSync(files.at('.'))).toEqual(before);
    },
  );

  describe('invalid input', () => {
    test.each(['ffmpeg', 'mediabunny', 'wasm'])('encrypted, for %s', async (decoder) => {
      const key = '0123456789abcdef0123456789abcdef';
      const encrypted = ffmpeg(files.at('secret.mp4'), [
        ...['-i', ref, '-c', 'copy', '-encryption_scheme', 'cenc-aes-ctr'],
        ...['-encryption_key', key, '-encryption_kid', key],
      ]);
      const message =
        /secret\.mp4 is encrypted, so its frames cannot be decoded; score the video before encryption\.$/m;
      await refuses([ref, encrypted, '--decoder', decoder], 2, message);
    });

    const halfOf = () => {
      const bytes = readFileSync(ffmpeg(files.at('whole.mkv'), ['-i', ref, '-c', 'copy']));
      return files.put('half.mkv', bytes.subarray(0, (bytes.length * 0.6) | 1));
    };

    test('half a file: an error with its time, or scores up to it on request', async () => {
      const args = [ref, halfOf(), ...QUICK, '--csv'];
      const error = /half\.mkv is (cut off|damaged) at frame \d+, after 0\.\d{3} s .*--allow-damaged/;
      await refuses(args, 2, error);
      const { stdout, stderr } = await passes([...args, '--allow-damaged']);
      const scored = stdout.trimEnd().split('\n').length - 1;
      expect(scored).toBeGreaterThan(0);
      expect(scored).toBeLessThan(FRAMES);
      expect(stderr).toMatch(/half\.mkv is (cut off|damaged) at frame \d+.*frames? before it (is|are) used/);
    });

    test('mediabunny reads only whole clusters of Matroska, and reports half a cluster', async () => {
      const half = halfOf();
      const message =
        /mediabunny finds no complete frame in .*half\.mkv; .*the file is cut off: found only \d+ of \d+ bytes of its segment/;
      await refuses([ref, half, '--decoder', 'mediabunny'], 2, message);
    });

    test('half a reference against itself, and against a video that ends earlier', async () => {
      const half = halfOf();
      await refuses([half, half], 2, 'half.mkv is cut off');
      // All frames compared are complete.
      await passes([half, half, '--range', '0-3', ...QUICK]);
      const short = ffmpeg(files.at('short.mkv'), ['-i', ref, '-frames:v', '4']);
      await passes([half, short, ...QUICK]);
    });

    test('URLs without a server, or without the file', async () => {
      const server = createServer((_, response) => response.writeHead(404).end());
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const url = `http://127.0.0.1:${port}/x.mp4`;
      try {
        const absent = /x\.mp4 could not be fetched: .*404.*; check the address and the network, or download/;
        await refuses([ref, url, '--allow-url'], 2, absent);
        const only = /is a URL, which only the ffmpeg decoder fetches; install ffmpeg, or download/;
        await refuses([ref, url, '--allow-url', '--decoder', 'wasm'], 1, only);
      } finally {
        server.close();
        server.closeAllConnections();
      }
      // The server is closed.
      await refuses([ref, url, '--allow-url'], 2, /x\.mp4 could not be fetched: .*refused/);
    });

    // The others are scored; each failure is in every output, and in the exit code.
    test('bad files among several', async () => {
      const [page, file] = [files.at('some.html'), files.at('some.json')];
      const bad = ['none1.mp4', 'none2.mp4', 'none3.mp4', 'none4.mp4', 'none5.mp4'].map(files.at);
      const outputs = ['--json', '-o', file, '--html', page, '--no-pictures'];
      const args = [ref, ...bad, good, '-q', ...ALONE, ...outputs, '--fail-under', '100'];
      const { code, stderr } = await anyvmaf(args);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^anyvmaf: cannot read [^\n]*none1\.mp4: there is no such file\.\n/);
      expect(stderr).toMatch(/anyvmaf: 5 of 6 encodes could not be scored: none1\.mp4, /);
      expect(stderr).toMatch(/the mean of vmaf_v0\.6\.1 for [^\n]* is [\d.]+, below --fail-under 100\n/);
      // Each run has its own abort signal.
      expect(stderr).not.toContain('MaxListeners');
      const list = JSON.parse(readFileSync(file, 'utf8'));
      expect(list).toHaveLength(6);
      expect(list[1].error).toEqual({ code: 'io', message: expect.stringContaining('none2.mp4') });
      expect(list[5].frames).toHaveLength(FRAMES);
      const none = await anyvmaf([ref, ...bad, '--json']);
      expect([none.code, JSON.parse(none.stdout).length]).toEqual([2, 5]);
      expect(readFileSync(page, 'utf8')).toMatch(/<h2>Not scored<\/h2>.*none5\.mp4/);
    });

    test('all of several, and no file is written', async () => {
      const bad = [files.at('none1.mp4'), files.at('none2.mp4')];
      const file = files.at('nothing.json');
      const { code, stdout, stderr } = await anyvmaf([ref, ...bad, '--json', '-o', file]);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr.trimEnd().split('\n')).toHaveLength(2);
      expect(existsSync(file)).toBe(false);
      // An error of the reference is reported once.
      await refuses([files.at('none.mp4'), good, poor], 2, 'none.mp4');
      const table = await anyvmaf([ref, good, files.at('none.mp4'), ...QUICK]);
      expect(table.stdout).toMatch(/^h264.*\nnone\.mp4 [ -]+$/m);
    });
  });

  describe('--ndjson', () => {
    test('has its first lines during the run, and ends with the run', async () => {
      let [seen, whole, interrupted] = ['', false, false];
      const { code, stdout } = await anyvmafProcess([long, long, '--ndjson', '--no-preflight'], {
        meanwhile: (child) => {
          child.stdout?.on('data', (text: string) => {
            seen += text;
            whole ||= seen.includes('"type":"summary"');
            // Once: a second signal ends the process at once.
            if (!whole && !interrupted && seen.includes('"frameNum":0,')) interrupted = child.kill('SIGINT');
          });
        },
      });
      expect([code, whole]).toEqual([130, false]);
      const lines = stdout.trimEnd().split('\n');
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ type: 'header', metrics: expect.any(Array) });
      expect(JSON.parse(lines[1] ?? '')).toMatchObject({ type: 'frame', frameNum: 0 });
    });
  });

  test('uncompressed frames have a size and a bit rate in the table', async () => {
    const stored = ffmpeg(files.at('stored.y4m'), ['-i', good]);
    const bytes = readFileSync(stored).length;
    const { stdout } = await anyvmaf([ref, stored, good, '--csv', ...QUICK]);
    const cells = stdout.split('\n')[1]?.split(',') ?? [];
    expect(cells.slice(-4, -2).map(Number)).toEqual([Math.round((bytes * 8 * 25) / FRAMES), bytes]);
  });

  test('different lengths are reported once', async () => {
    const short = ffmpeg(files.at('lengths.mp4'), ['-i', ref, '-frames:v', '12', '-crf', '20']);
    const { stderr } = await anyvmaf([ref, short]);
    expect(stderr.match(/\b20 frames/g)).toHaveLength(1);
    for (const line of stderr.trimEnd().split('\n')) expect(line).toMatch(/^anyvmaf: warning: [A-Z]/);
  });
});
