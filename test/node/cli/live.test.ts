/**
 * @module test/node/cli/live
 * The command line's options for live runs.
 */

import type { ChildProcess } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { score } from '../../../src/index.js';
import { y4mFile } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { anyvmaf, anyvmafProcess } from '../../support/cli.js';
import { file } from '../../support/clips.js';
import { testFolder } from '../../support/folders.js';

const FRAMES = 110;
const folder = testFolder('cli-live');

const clip = makeSample({ width: 96, height: 64, bitDepth: 8, chroma: '420' }, { seed: 2 });
for (const side of ['reference', 'distorted'] as const)
  file(folder, `${side}.y4m`, y4mFile(clip, side, FRAMES));

/** The status that a shell shows, also if the process ends by the signal because threads do not end in time. */
const statusOf = ({ exitCode, signalCode }: ChildProcess): number =>
  exitCode ?? 128 + (signalCode ? constants.signals[signalCode] : 0);

const PAIR = ['reference.y4m', 'distorted.y4m'];
const run = (...args: string[]) => anyvmaf([...PAIR, ...args], { cwd: folder });

describe('--window and --alarm', () => {
  it('keep the last frames, report every second, and exit with their own status', async () => {
    const alarm = ['--window', '2s', '--alarm', 'max<101 for 2s'];
    const { code, stderr } = await run(...alarm, '--json', '-o', 'w.json', '--precision', 'max');
    expect(code).toBe(4);
    expect(stderr).toMatch(/2 s, frame 49: vmaf \d+\.\d\d, lowest \d+\.\d\d/);
    expect(stderr.match(/alarm: max<101 for 2s; vmaf is at [\d.]+ up to frame 49/g)).toHaveLength(1);
    const report = JSON.parse(readFileSync(join(folder, 'w.json'), 'utf8'));
    const [reference = '', distorted = ''] = PAIR.map((name) => join(folder, name));
    const whole = await score({ reference, distorted });
    const found = report.frames.map(({ frameNum }: { frameNum: number }) => frameNum);
    expect(found).toEqual(Array.from({ length: 50 }, (_, i) => FRAMES - 50 + i));
    expect(report.frames.at(-1).metrics).toEqual(whole.frames.at(-1)?.metrics);
    expect(report.pooled_metrics.vmaf).toEqual(whole.pooled_metrics.vmaf);
    expect(report.frame_count).toBe(FRAMES);
    expect(report.warnings.join()).toContain(`The report holds the last 50 of ${FRAMES} frames`);
  });

  it.each(['worst_second>=0', 'p5>=0', 'stddev<=100'])(
    'leave a limit on all frames undecided: %s',
    async (limit) => {
      const { code, stderr } = await run('--window', '2s', '--fail-under', limit, '-q');
      expect([code, stderr]).toEqual([3, expect.stringContaining('is that of the last 50 frames')]);
    },
  );

  it('compare with a baseline what covers all frames, and leave the rest undecided', async () => {
    await run('-o', 'whole.json', '-q');
    await run('--window', '2s', '-o', 'windowed.json', '-q');
    const held = (baseline: string, ...args: string[]) => run(...args, '--baseline', baseline, '-q');
    for (const baseline of ['whole.json', 'windowed.json']) {
      const windowed = (drop: string) => held(baseline, '--window', '2s', '--max-drop', drop);
      expect((await windowed('0,vmaf.min=0')).code, baseline).toBe(0);
      const { code, stderr } = await windowed('vmaf.p5=100');
      expect([code, stderr]).toEqual([3, expect.stringContaining('is that of the last 50 frames')]);
    }
    const { code, stderr } = await held('windowed.json', '--max-drop', 'vmaf.p5=100');
    expect([code, stderr]).toEqual([3, expect.stringContaining("--max-drop 'vmaf.p5=100'")]);
  });

  it('judge limits that cover all frames', async () => {
    expect((await run('--window', '2s', '--fail-under', 'min>=0', '-q')).code).toBe(0);
  });

  it('exit with 0 if no rule came true', async () => {
    expect((await run('--alarm', 'p5<1', '-q')).code).toBe(0);
  });

  it('measure the perceptual metrics of rules', async () => {
    const rules = ['ssimulacra2.min<101', 'butteraugli>0', 'xpsnr_weighted<200', 'cvvdp_q.max>0'];
    const alarms = rules.flatMap((rule) => ['--alarm', rule]);
    const { code, stderr } = await run('-n', '--frame_cnt', '30', ...alarms);
    expect(code).toBe(4);
    for (const rule of rules) expect(stderr).toContain(`alarm: ${rule}; `);
  });
});

describe('--live', () => {
  it('answers about a video from an open pipe, and changes nothing in the report of a window of it', async () => {
    const socket = join(folder, 'piped', 's');
    const distorted = readFileSync(join(folder, 'distorted.y4m'));
    const half = distorted.length >> 1;
    const asked: { frames: { measured: number; total: number | null }; state: string }[] = [];
    let page = '';
    const { code, stdout, stderr } = await anyvmafProcess(
      [
        ...['reference.y4m', '-', '--live', `unix:${socket}`, '--live', 'sse:0', '--dashboard'],
        ...['--window', '10f', '--json', '--threads', '1'],
      ],
      {
        cwd: folder,
        meanwhile: (child) => {
          let said = '';
          child.stderr?.on('data', async (text) => {
            said += String(text);
            const [, at] = /the dashboard is at (\S+)\n/.exec(said) ?? [];
            if (at === undefined || page !== '') return;
            page = 'asked for';
            page = await (await fetch(at, { headers: { accept: 'text/html' } })).text();
          });
          child.stdin?.write(distorted.subarray(0, half));
          child.stderr?.once('data', () => {
            const client = connect(socket).on('error', () => {});
            const question = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'vmaf.status' } };
            const ask = () => client.write(`${JSON.stringify(question)}\n`);
            client.on('data', (line) => {
              const status = JSON.parse(JSON.parse(String(line)).result.content[0].text);
              asked.push(status);
              if (status.frames?.measured < 20 || !page.startsWith('<')) setTimeout(ask, 20);
              else child.stdin?.end(distorted.subarray(half));
            });
            ask();
          });
        },
      },
    );
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/the live server listens at http:\/\/127\.0\.0\.1:\d+\/mcp\/sse/);
    // The printed address is that of the page.
    expect(page).toContain('<title>Live quality</title>');
    expect(asked.at(-1)?.frames.measured).toBeGreaterThanOrEqual(20);
    expect(asked.at(-1)?.frames.measured).toBeLessThan(FRAMES);
    expect(asked.at(-1)?.state).toBe('running');
    const report = JSON.parse(stdout);
    expect(report.frame_count).toBe(FRAMES);
    expect(report.frames).toHaveLength(10);
    const whole = JSON.parse((await run('--json')).stdout);
    expect(report.frames).toEqual(whole.frames.slice(-10));
    expect(report.pooled_metrics.vmaf.mean).toBe(whole.pooled_metrics.vmaf.mean);
    expect(existsSync(socket)).toBe(false);
  });

  it('leaves nothing after a signal while a client has a pair scored', async () => {
    const socket = join(folder, 'busy', 's');
    const frame = Buffer.alloc(1280 * 720, 128);
    for (let i = 0; i < 80; i++) appendFileSync(join(folder, 'long.yuv'), frame);
    const video = { reference_path: join(folder, 'long.yuv'), distorted_path: join(folder, 'long.yuv') };
    const call = (id: number, name: string, args: object) =>
      `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })}\n`;
    // From a pipe that stays open, so that the run cannot end before it is paused.
    const distorted = readFileSync(join(folder, 'distorted.y4m'));
    const args = ['reference.y4m', '-', '--live', `unix:${socket}`, '--threads', '1', '--allow', '.'];
    const ended: ChildProcess[] = [];
    const outcome = await anyvmafProcess(args, {
      cwd: folder,
      meanwhile: (child) => {
        ended.push(child);
        child.stdin?.write(distorted.subarray(0, distorted.length >> 1));
        child.stderr?.once('data', () => {
          const client = connect(socket).on('error', () => {});
          client.write(call(1, 'vmaf.pause', {}));
          client.write(call(2, 'compute_vmaf', { ...video, width: 1280, height: 720, pixel_format: '400' }));
          // Refused once the first runs.
          const ask = setInterval(() => client.write(call(3, 'compute_vmaf', video)), 50);
          client.on('close', () => clearInterval(ask));
          client.on('data', (text) => {
            // Once: a second signal ends the process at once.
            if (String(text).includes('busy') && !child.killed) child.kill('SIGTERM');
          });
        });
      },
    });
    expect(ended.map(statusOf)).toEqual([143]);
    expect(outcome.stderr).toMatch(/terminated/);
    expect(existsSync(socket)).toBe(false);
  });

  it.each([
    [['--live', 'nowhere'], /--live is "nowhere", but it must be sse:PORT, unix:PATH or stdio-fd:IN,OUT/],
    [['--alarm', 'bad'], /The alarm is "bad", but it must be a pooled value, a comparison and a time/],
    [
      ['--alarm', 'p5(psnr_u)<30'],
      /about "psnr_u", which this run does not measure; ask for its feature, or name one of/,
    ],
    [
      ['--alarm', 'p5<30', '--no_prediction', '--feature', 'psnr'],
      /is about the score, but this run has no model; name a metric, as in psnr_y.min<30; available: psnr_y/,
    ],
    [['--alarm', 'cvvdp<9'], /about "cvvdp", which has no value before the run ends; name one of .*cvvdp_q/],
    [['--window', '0s'], /--window is "0s", but it must be a time such as 10s/],
    [['--dashboard'], /--dashboard requires --live sse:PORT/],
    [['--allow', '.'], /--allow requires --live/],
    [['--also-model', 'neg'], /--also-model requires --live/],
    [['reference.y4m', '--live', 'sse:0'], /are for one pair, but 2 distorted videos are given/],
  ])('refuses %s', async (args, message) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
