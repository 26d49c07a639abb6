/**
 * The tools of the live server: what they report about a measurement, and how they control it.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { VideoFormat } from '../../../../src/core/frame.js';
import { processMark } from '../../../../src/files/folders.js';
import { type Alarm, prepareRun, score } from '../../../../src/index.js';
import { openEmbeddedServer } from '../../../../src/live/embedded.js';
import type { Hub } from '../../../../src/mcp/live/hub.js';
import { COMPUTE_VMAF } from '../../../../src/mcp/live/tools.js';
import { listLiveTool } from '../../../../src/mcp/tools/lists.js';
import { ffmpeg, hasFfmpeg, needsFfmpeg } from '../../../support/encode.js';
import { privateFolder } from '../../../support/folders.js';
import {
  callOf,
  callTool,
  listening,
  listeningOf,
  openServed,
  pairOf,
  post,
  request,
  served,
  THREAD,
  TINY,
} from '../../../support/mcp-live.js';
import { fakeContext, videoFolder, writePair } from '../../../support/mcp-tools.js';
import { tier } from '../../../support/tier.js';

const PATHS = { reference_path: 'a', distorted_path: 'b' };
const sse = { transport: 'sse', port: 0 } as const;

describe('the live tools', () => {
  it('report progress and scores, which equal those of the final report', async () => {
    const { scorer, push, address } = await listening();
    await push(30);
    await expect.poll(async () => (await callTool(address, 'vmaf.status')).frames.measured).toBe(29);
    const status = await callTool(address, 'vmaf.status');
    expect(status).toMatchObject({
      measurement: 'main',
      state: 'running',
      model: 'vmaf',
      frames: { measured: 29, queued: 1, taken: 30, total: null },
      backends: { vif: 'wasm', adm: 'wasm', motion: 'wasm' },
      pressure: { commands: 0, depth: 64, share: 0 },
    });
    const report = await scorer.finish();
    await expect.poll(async () => (await callTool(address, 'vmaf.status')).state).toBe('finished');
    const { pooled } = await callTool(address, 'vmaf.score');
    expect(pooled.vmaf).toMatchObject({
      ...report.pooled_metrics.vmaf,
      ...report.distribution.vmaf,
      frames: 30,
    });
    const { frame } = await callTool(address, 'vmaf.score', { frame: 7 });
    expect(frame.metrics).toEqual(report.frames[7]?.metrics);
    const values = report.frames.map(({ metrics }) => metrics.vmaf ?? 0);
    const last = await callTool(address, 'vmaf.score', { last_frames: 4 });
    expect(last.range).toEqual({ first: 26, last: 29 });
    expect(last.pooled.vmaf.mean).toBe(values.slice(26).reduce((sum, one) => sum + one, 0) / 4);
    const { worst } = await callTool(address, 'vmaf.score', { worst: 1 });
    expect(worst).toEqual([
      { frame: values.indexOf(Math.min(...values)), metric: 'vmaf', value: Math.min(...values) },
    ]);
    for (const [args, error] of [
      [{ frame: 99 }, 'Frame 99 is not measured yet or no longer kept; available: frames 0 to 29.'],
      [{ first: 20, last: 10 }, 'first is 20 and last is 10, but first must not come after last.'],
    ] as const)
      expect(await callTool(address, 'vmaf.score', args)).toEqual({ isError: true, error });
  });

  it('pause and resume at a frame boundary, and stop with a report of the frames taken', async () => {
    const { scorer, push, address } = await listening();
    await push(3);
    expect(await callTool(address, 'vmaf.pause')).toMatchObject({ state: 'paused' });
    let arrived = false;
    const pushing = push(1).then(() => {
      arrived = true;
    });
    expect((await callTool(address, 'vmaf.status')).state).toBe('paused');
    expect(arrived).toBe(false);
    expect(await callTool(address, 'vmaf.resume')).toMatchObject({ state: 'running' });
    await pushing;
    expect(await callTool(address, 'vmaf.stop')).toMatchObject({ state: 'stopping' });
    expect(scorer.stopped).toBe(true);
    await push(1);
    expect((await scorer.finish()).frames).toHaveLength(4);
  });

  it.each([0, 1])(
    'score each frame of a pipe at once without threads, and stop a run whose video never delivers its next frame, with %i threads',
    async (threads) => {
      const { ref: reference, dis } = writePair({ ...TINY, content: 'sample', frames: 20 }, 'y4m');
      const bytes = readFileSync(dis);
      const distorted = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(bytes.subarray(0, bytes.length - 1000)),
      });
      const run = await prepareRun({ reference, distorted }, { threads });
      const server = openEmbeddedServer(run, {}, THREAD);
      const { address } = await server.listen(sse);
      const report = run.start();
      const counts = async () => (await callTool(address, 'vmaf.status')).frames;
      // The last frame's motion needs the next one.
      await expect.poll(counts).toMatchObject({ taken: 19, ...(threads === 0 && { measured: 18 }) });
      expect(await callTool(address, 'vmaf.stop')).toMatchObject({ state: 'stopping' });
      const { frames, warnings } = await report;
      expect([frames.length, warnings]).toEqual([19, []]);
      await server.close();
    },
  );

  it('pool ranges and latest seconds, and tell which frames are kept', async () => {
    const { scorer, push, address } = await listening({ keepFrames: 10 });
    await push(40);
    const { frames } = await scorer.finish();
    const mean = (first: number, last: number) =>
      frames.slice(first, last + 1).reduce((sum, { metrics }) => sum + (metrics.vmaf ?? 0), 0) /
      (last + 1 - first);
    const ask = (args: object) => callTool(address, 'vmaf.score', args);
    await expect.poll(async () => (await ask({})).frames).toBe(40);
    const { kept } =
      /available: frames (?<kept>\d+) to 39\./.exec((await ask({ frame: 0 })).error)?.groups ?? {};
    const oldest = Number(kept);
    expect(oldest).toBeGreaterThan(0);
    expect(oldest).toBeLessThanOrEqual(30);
    const cases = [
      [{ first: 0, last: 35 }, oldest, 35],
      [{ first: 33 }, 33, 39],
      [{ last_seconds: 0.2 }, 35, 39],
      [{ last_seconds: 100 }, oldest, 39],
    ] as const;
    for (const [args, first, last] of cases) {
      const { range, pooled } = await ask(args);
      expect(range, JSON.stringify(args)).toEqual({ first, last });
      expect(pooled.vmaf.frames).toBe(last + 1 - first);
      expect(pooled.vmaf.mean).toBeCloseTo(mean(first, last), 10);
    }
    const whole = await ask({});
    expect(whole.pooled.vmaf.frames).toBe(40);
    expect(whole.pooled.vmaf.mean).toBeCloseTo(mean(0, 39), 10);
  });

  it('can pause before the start, and closing the server resumes the run', async () => {
    const { ref: reference, dis: distorted } = writePair({ ...TINY, content: 'sample', frames: 5 }, 'y4m');
    const run = await prepareRun({ reference, distorted }, { threads: 0 });
    const server = openEmbeddedServer(run, {}, THREAD);
    const { address } = await server.listen(sse);
    expect(await callTool(address, 'vmaf.pause')).toMatchObject({ state: 'paused', frame: 0 });
    const report = run.start();
    await expect.poll(async () => (await callTool(address, 'vmaf.status')).frames.total).toBe(5);
    const status = await callTool(address, 'vmaf.status');
    expect(status).toMatchObject({ state: 'paused', frames: { measured: 0 } });
    await server.close();
    expect((await report).frames).toHaveLength(5);
  });

  it('read, and are busy at once when the queue is full, while the measuring thread is blocked', async () => {
    const { push, address } = await listening({ queueDepth: 2, maxDrainPerFrame: 1 });
    await push(2);
    // Blocks this thread, which measures, while another process asks twelve times and gets ten answers.
    const script = `
      let busy = 0;
      const read = await fetch(${JSON.stringify(address)}, { method: 'POST', body: ${JSON.stringify(callOf('vmaf.status'))} });
      if ((await read.json()).result.structuredContent.state !== 'running') process.exit(2);
      for (let i = 0; i < 12; i++) {
        fetch(${JSON.stringify(address)}, { method: 'POST', body: ${JSON.stringify(callOf('vmaf.resume'))} })
          .then((response) => response.json())
          .then(({ result }) => {
            if (result.isError && JSON.parse(result.content[0].text).error.startsWith('busy')) busy++;
            if (busy === 10) process.exit(0);
          });
      }`;
    const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 30_000,
    });
    expect(status).toBe(0);
    const resumed = { isError: false, state: 'running' };
    await expect.poll(() => callTool(address, 'vmaf.resume')).toMatchObject(resumed);
  });

  it('raise alarms once, and clear them once', async () => {
    const alarms: Alarm[] = [];
    const { scorer, server, push, address } = await listening({
      alarms: ['max<97 for 2f', 'p50(integer_adm2)>2'],
      onAlarm: (alarm) => alarms.push(alarm),
    });
    await push(6);
    const [same] = await pairOf(0);
    for (let i = 0; i < 8; i++) await scorer.push(same, same);
    const { frames } = await scorer.finish();
    const score = (frame: number) => frames[frame]?.metrics.vmaf ?? 0;
    expect(alarms.map(({ raised }) => raised)).toEqual([true, false]);
    expect(alarms[0]).toMatchObject({ rule: 'max<97 for 2f', metric: 'vmaf', frame: 1 });
    expect(alarms[0]?.value).toBe(Math.max(score(0), score(1)));
    expect(server.alarmsRaised).toBe(1);
    await expect.poll(async () => (await callTool(address, 'vmaf.status')).alarms).toEqual(alarms);
  });

  it('wait for an alarm of a rule, at once if it is true, and continue without a gap', async () => {
    const { scorer, push, address } = await listening();
    const watch = (args: object) => callTool(address, 'vmaf.watch', args);
    await push(4);
    const rule = 'max<97 for 2f';
    // True since the second frame.
    await expect.poll(async () => (await callTool(address, 'vmaf.status')).frames.measured).toBe(3);
    const first = await watch({ rule });
    expect(first).toMatchObject({
      ...{ isError: false, rule, raised: true, alarm: { metric: 'vmaf', frame: 1 } },
      next_action: { tool: 'vmaf.score', arguments: { measurement: 'main', first: 0, last: 1 } },
    });
    const { next_action: shown } = first;
    const score = await callTool(address, shown.tool, shown.arguments);
    expect(score.pooled.vmaf.frames).toBe(2);
    expect(first.alarm.value).toBe(score.pooled.vmaf.max);
    expect(first.summary).toBe(
      `Alarm raised at frame 1: vmaf is ${first.alarm.value}. To wait for the next one, pass after: 1.`,
    );
    // It ends, and begins again while no call waits.
    const [same] = await pairOf(0);
    const early = await watch({ rule, after: 1, wait: 0 });
    expect(early).toMatchObject({
      ...{ summary: 'No alarm yet; next_action keeps waiting.', raised: false },
      next_action: { tool: 'vmaf.watch' },
    });
    for (let i = 0; i < 4; i++) await scorer.push(same, same);
    await push(6);
    const next = early.next_action;
    const waiting = watch({ ...next.arguments, wait: 30 });
    await push(4);
    const second = await waiting;
    expect(second.raised).toBe(true);
    expect(second.alarm.frame).toBeGreaterThan(6);
    const nothing = watch({ rule: 'max>101', wait: 30 });
    await scorer.finish();
    expect(await nothing).toMatchObject({
      ...{ raised: false, state: 'finished', frames: 18 },
      summary: 'The measurement has ended; the rule raised no new alarm.',
      next_action: { tool: 'vmaf.score', arguments: { measurement: 'main' } },
    });
    // After the end, from the frames kept.
    expect(await watch({ rule, after: 1 })).toMatchObject({ alarm: second.alarm });
    const error = expect.stringMatching('must be a pooled value');
    expect(await watch({ rule: 'p5~80' })).toMatchObject({ isError: true, error });
    expect(await watch({ rule: 'psnr_y<30' })).toMatchObject({ isError: true });
  });

  it('report progress and can be cancelled, as those of the file server', async () => {
    const { server, push } = await served();
    const path = join(privateFolder(), 's');
    await server.listen({ transport: 'unix', path });
    await push(3);
    const socket = connect(path);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    const params = { name: 'vmaf.watch', arguments: { rule: 'min<0' }, _meta: { progressToken: 'p' } };
    socket.write(`${request('tools/call', params, 7)}\n`);
    await expect.poll(() => text).toContain('notifications/progress');
    const [notice = ''] = text.split('\n');
    expect(JSON.parse(notice).params).toMatchObject({ progressToken: 'p', message: expect.any(String) });
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    socket.write(`${JSON.stringify(cancelled)}\n${request('ping', undefined, 8)}\n`);
    await expect.poll(() => text).toContain('"id":8');
    // A connection whose client has closed its side ends once all is answered.
    const over = new Promise((resolve) => socket.once('close', resolve));
    socket.end();
    await over;
    expect(text).not.toContain('"id":7');
  });

  it('control a measurement after its first server was closed, and keep its changes', async () => {
    const { scorer, server, push, address } = await listening();
    await push(3);
    expect(() => openEmbeddedServer(scorer, {}, THREAD)).toThrow('has a server already');
    const model = 'version=vmaf_v0.6.1:name=other';
    const { to } = await callTool(address, 'vmaf.request_model_swap', { model });
    expect(to).toBe('other');
    await push(3);
    await callTool(address, 'vmaf.pause');
    const closed = server.close();
    await using second = openEmbeddedServer(scorer, {}, THREAD);
    await closed;
    const { address: where } = await second.listen({ transport: 'sse', port: 0 });
    await push(3);
    await expect.poll(async () => (await callTool(where, 'vmaf.status')).frames.taken).toBe(9);
    const status = await callTool(where, 'vmaf.status');
    expect(status).toMatchObject({ model: 'other', swaps: [{ to: 'other' }] });
    expect((await scorer.finish()).swaps).toMatchObject([{ from: 'vmaf', to: 'other' }]);
  });

  it('keep frames for a positive number of seconds, which may be infinite', async () => {
    await served({ keepSeconds: Number.POSITIVE_INFINITY });
    for (const keepSeconds of [0, Number.NaN])
      await expect(served({ keepSeconds })).rejects.toThrow(/^keepSeconds is .* must be a number above 0/);
  });

  it('refuse unknown options, and alarms that could never be raised', async () => {
    const options = { host: '0.0.0.0' };
    const wanted = 'unknown server option "host"; available: queueDepth, maxDrainPerFrame, folders';
    await expect(served(options as object)).rejects.toThrow(wanted);
    const { server } = await served();
    for (const [where, message] of [
      [{ ...sse, ...options }, 'from this machine only'],
      [
        { transport: 'unix', path: '/x', mode: 0o777 },
        'unknown option of the transport unix: "mode"; available: transport, path.',
      ],
    ] as const)
      await expect(server.listen(where as typeof sse)).rejects.toThrow(message);
    await expect(served({ alarms: ['p5(psnr_y)<30'] })).rejects.toThrow(
      /The alarm "p5\(psnr_y\)<30" is about "psnr_y", which this run does not measure; .* name one of .*vmaf/,
    );
  });

  it.each(['onAlarm', 'onSecond'] as const)('fail the measurement when %s throws', async (name) => {
    const callback = () => {
      throw new Error('mine');
    };
    const { scorer, push } = await served({ alarms: ['max<101'], [name]: callback });
    await expect(push(40)).rejects.toThrow('mine');
    await expect(push(1)).rejects.toThrow('mine');
    await expect(scorer.finish()).rejects.toThrow('mine');
  });

  it('answer invalid arguments with results that name them, as the file server does', async () => {
    const { address } = await listening();
    const cases = [
      ['vmaf.score', { frame: -1 }, /frame is -1, but it must be a whole number from 0/],
      ['vmaf.score', { nope: 1 }, /unknown argument "nope"; it takes measurement, metric/],
      ['list_features', { a: 1 }, /unknown argument "a"; it takes none/],
      ['compute_vmaf', { reference_path: 'a' }, /distorted_path is missing/],
      ['compute_vmaf', { ...PATHS, width: 0 }, /width is 0/],
      ['compute_vmaf', { ...PATHS, height: 0 }, /height is 0/],
      ['compute_vmaf', { ...PATHS, bitdepth: 7 }, /bitdepth is 7/],
      ['compute_vmaf', PATHS, /no folder is allowed/],
    ] as const;
    for (const [name, args, sentence] of cases) {
      const { isError, error, ...more } = await callTool(address, name, args);
      expect({ isError, more }, name).toEqual({ isError: true, more: {} });
      expect(error, name).toMatch(sentence);
    }
    const { error } = await post(address, callOf('vmaf.nope'));
    expect(error.code).toBe(-32602);
    expect(error.message).toMatch(/Unknown tool "vmaf.nope"; available: list_features, compute_vmaf/);
  });
});

describe('list_live', () => {
  afterEach(() => vi.unstubAllEnvs());

  const list = async () => {
    const { document } = await listLiveTool.call({}, fakeContext(privateFolder()));
    return document as { summary: string; sessions: { addresses: string[]; mcp?: string; pid: number }[] };
  };

  it('lists running servers and the progress of their measurements until they end', async () => {
    const cache = privateFolder();
    vi.stubEnv('ANYVMAF_CACHE', cache);
    const found = (await list()).summary;
    expect(found).toMatch(/^No running measurement of this user has a live server; start one with 'anyvmaf /);
    expect(readdirSync(cache)).toEqual([]);
    const { server, push, address } = await listening();
    const path = join(privateFolder(), 's');
    await server.listen({ transport: 'unix', path });
    await push(5);
    await expect.poll(async () => (await callTool(address, 'vmaf.status')).frames.measured).toBe(4);
    const one = { addresses: [address, path], mcp: address.replace('/mcp/sse', '/mcp'), pid: process.pid };
    const videos = { reference: 'reference', distorted: 'distorted' };
    const status = { model: 'vmaf', frames: { measured: 4, total: null } };
    const stream = await fetch(address);
    await expect
      .poll(async () => (await list()).sessions)
      .toMatchObject([{ ...one, measurements: [{ name: 'main', state: 'running', ...videos, status }] }]);
    await server.close();
    // Its queries are not for others to read.
    expect(await stream.text()).not.toContain('event: message');
    expect((await list()).sessions).toEqual([]);
    expect(readdirSync(join(cache, 'live'))).toEqual([]);
  });

  it.skipIf(process.platform === 'win32')(
    'trusts no file of a process that has ended, and no foreign file',
    async () => {
      const cache = privateFolder();
      vi.stubEnv('ANYVMAF_CACHE', cache);
      const { server } = await listening();
      const folder = join(cache, 'live');
      const mark = await processMark();
      const [machine = ''] = mark.split('-');
      const record = { started: '2026-01-01T00:00:00.000Z', addresses: ['/s'], measurements: [] };
      const file = (name: string, text: string) => writeFileSync(join(folder, name), text);
      file(`${machine}-${process.pid}-1-dead.json`, JSON.stringify(record));
      file(`elsewhere-${process.pid}-1-far.json`, JSON.stringify(record));
      const elsewhere = { ...record, addresses: ['http://10.0.0.1:80/mcp/sse'] };
      for (const [name, text] of [
        ['other', JSON.stringify(elsewhere)],
        ['half', '{'],
        ['long', JSON.stringify({ ...record, more: 'x'.repeat(70_000) })],
      ] as const)
        file(`${mark}-${name}.json`, text);
      const outside = join(privateFolder(), 'outside.json');
      writeFileSync(outside, JSON.stringify(record));
      symlinkSync(outside, join(folder, `${mark}-link.json`));
      chmodSync(folder, 0o777);
      expect((await list()).sessions).toHaveLength(1);
      const left = readdirSync(folder);
      expect(left.some((name) => name.endsWith('-dead.json'))).toBe(false);
      expect(left.some((name) => name.endsWith('-far.json'))).toBe(true);
      await server.close();
      expect((await list()).sessions).toEqual([]);
    },
  );
});

describe('compute_vmaf', () => {
  let opened: Awaited<ReturnType<typeof listening>>;
  beforeAll(async () => {
    opened = await listeningOf(openServed({ folders: [videoFolder()] }));
  });
  afterAll(async () => {
    await opened.scorer.close();
    await opened.server.close();
  });

  type Paths = ReturnType<typeof writePair>;
  const named = ({ ref, dis }: Paths) => ({ reference_path: ref, distorted_path: dis });
  const compute = (paths: Paths, args: object = {}) =>
    callTool(opened.address, 'compute_vmaf', { ...named(paths), ...args });
  const meanOf = async ({ ref, dis }: Paths, raw?: VideoFormat) => {
    const request = { reference: ref, distorted: dis, ...(raw && { raw }) };
    const { pooled_metrics } = await score(request, { threads: 0 });
    return pooled_metrics.vmaf?.mean;
  };
  const clip = { content: 'sample', width: 64, height: 48, bitDepth: 10, chroma: '422', frames: 3 } as const;

  it('scores stored pairs of an open folder as score does, and no others', async () => {
    const paths = writePair(clip, 'y4m');
    expect(await compute(paths)).toMatchObject({
      ...named(paths),
      ...{ score: await meanOf(paths), frames_scored: 3, bitdepth: 10, pool_method: 'mean' },
      model_version: 'vmaf_v0.6.1',
    });
    expect(await compute({ ref: '/etc/passwd', dis: '/etc/passwd' })).toMatchObject({
      isError: true,
      error: expect.stringMatching(
        /^compute_vmaf: .* is not under an allowed folder; start the server with --allow DIR, or the option folders of the API, to allow one/,
      ),
    });
    // The answer does not tell whether a file outside exists.
    const told = async (asked: Promise<unknown>) =>
      JSON.stringify(await asked.catch((error: Error) => error.message)).replaceAll(/passwd|nothing/g, 'IT');
    const swap = (model: string) => told(callTool(opened.address, 'vmaf.request_model_swap', { model }));
    const scored = (model_version: string) => told(compute(paths, { model_version }));
    expect(await compute(paths, { model_version: 'nope' })).toMatchObject({
      error: expect.stringContaining('nope'),
    });
    for (const way of ['', 'path=', 'version=vmaf_v0.6.1:path=']) {
      const answers: string[] = [];
      for (const asked of [swap, scored])
        for (const name of ['passwd', 'nothing']) answers.push(await asked(`${way}/etc/${name}`));
      expect(answers[0]).toContain(way.startsWith('version') ? '' : 'leads out of the allowed folders');
      expect(answers[1]).toBe(answers[0]);
      expect(answers[2]).toContain('not under an allowed folder');
      expect(answers[3]).toBe(answers[2]);
    }
  });

  const CHROMA = ['400', '420', '422', '444'] as const;
  it.each(
    tier<readonly (readonly [(typeof CHROMA)[number], number])[]>(
      [
        ['400', 16],
        ['422', 10],
      ],
      [8, 10, 12, 14, 16].flatMap((bits) => CHROMA.map((one) => [one, bits] as const)),
    ),
  )('takes raw video of %s, %d bits', async (chroma, bitDepth) => {
    const raw = { width: 64, height: 48, bitDepth, chroma };
    const paths = writePair({ ...clip, ...raw }, 'yuv');
    const geometry = { width: 64, height: 48, bitdepth: bitDepth, pixel_format: chroma };
    expect(await compute(paths, geometry)).toMatchObject({
      ...{ isError: false, score: await meanOf(paths, raw), frames_scored: 3, bitdepth: bitDepth },
    });
  });

  it.skipIf(!hasFfmpeg)(`takes encoded videos (${needsFfmpeg})`, async () => {
    const { ref } = writePair({ ...clip, bitDepth: 8 }, 'y4m');
    const dis = ffmpeg(join(videoFolder(), 'distorted.mkv'), ['-i', ref, '-c:v', 'ffv1']);
    const mean = await meanOf({ ref, dis: ref });
    expect(await compute({ ref, dis })).toMatchObject({ score: mean, frames_scored: 3 });
  });

  it('stops if a pair takes too long, and scores the next pair', async () => {
    const hub = {} as Hub;
    const within = (maxSeconds: number, frames: number) =>
      COMPUTE_VMAF.call(
        named(writePair({ ...clip, width: 320, height: 180, frames }, 'y4m')),
        Object.assign(hub, { settings: { folders: [videoFolder()], maxSeconds } }),
        { signal: new AbortController().signal, progress: () => {} },
      );
    const run = within(0.05, 40);
    await expect(run).rejects.toThrow('compute_vmaf: the pair took longer than 0.05 s and was stopped');
    expect(await within(60, 1)).toMatchObject({ frames_scored: 1 });
  });

  it('is ended and answered when the server closes', async () => {
    // A sparse file of far more frames than the thread can score before it is ended.
    const path = join(videoFolder(), 'long.yuv');
    writeFileSync(path, '');
    truncateSync(path, 300 * 1280 * 720);
    const { server, address } = await listening({ folders: [videoFolder()] });
    const video = { reference_path: path, distorted_path: path };
    const size = { width: 1280, height: 720, pixel_format: '400' };
    const asked = post(address, callOf('compute_vmaf', { ...video, ...size }));
    // It runs once another is refused.
    await expect.poll(async () => (await callTool(address, 'compute_vmaf', video)).error).toMatch(/busy/);
    await server.close();
    const { isError, content } = (await asked).result;
    expect({ isError, ...JSON.parse(content[0].text) }).toEqual({
      isError: true,
      error: 'compute_vmaf: The server is closing.',
    });
  });
});

describe('the report so far', () => {
  it('is announced to subscribers at most twice a second, also on pause and resume', async () => {
    const { server, push, address } = await listening();
    const path = join(privateFolder(), 's');
    await server.listen({ transport: 'unix', path });
    let text = '';
    const socket = connect(path).on('data', (chunk) => {
      text += chunk;
    });
    const uri = 'vmaf://measurement/main/report';
    socket.write(`${request('resources/subscribe', { uri })}\n`);
    await expect.poll(() => text).toContain('"id":1,"result":{}');
    const told = () => text.split('\n').filter((line) => line.includes('resources/updated'));
    const began = performance.now();
    while (told().length < 2) {
      await push(2);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const seconds = (performance.now() - began) / 1000;
    // The first comes at once, the next half a second later.
    expect(seconds).toBeGreaterThan(0.4);
    expect(told().length).toBeLessThanOrEqual(1 + 2 * seconds + 0.2);
    expect(JSON.parse(told()[0] ?? '')).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri },
    });
    // Wait for notifications about frames measured so far.
    await new Promise((resolve) => setTimeout(resolve, 600));
    for (const name of ['vmaf.pause', 'vmaf.resume']) {
      text = '';
      await callTool(address, name);
      await expect.poll(() => text).toContain('resources/updated');
    }
    socket.write(`${request('resources/unsubscribe', { uri }, 2)}\n`);
    await expect.poll(() => text).toContain('"id":2,"result":{}');
    const before = told().length;
    await push(5);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(told().length).toBe(before);
    socket.destroy();
  });

  it('is a resource', async () => {
    const { address, push } = await listening();
    await push(5);
    const { result } = await post(address, request('resources/list'));
    expect(result.resources).toHaveLength(1);
    const { uri } = result.resources[0];
    await expect
      .poll(async () => {
        const read = await post(address, request('resources/read', { uri }));
        return JSON.parse(read.result.contents[0].text).frames.length;
      })
      .toBe(4);
    expect((await post(address, request('resources/read', { uri: 'vmaf://nope' }))).error.code).toBe(-32602);
  });
});
