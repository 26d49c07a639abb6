/**
 * @module test/node/mcp/clients
 * The built MCP server with the clients of both generations of the official SDK over both transports: what hosts do.
 */
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../support/built.js';
import { anyvmaf, expectFailure } from '../../support/cli.js';
import { testFolder } from '../../support/folders.js';
import { type Connection, connect, type ProgressNotice, startHttp, WAYS } from '../../support/mcp-clients.js';
import { post } from '../../support/mcp-host.js';
import { tier } from '../../support/tier.js';

const GEOMETRY = { width: 576, height: 324, pixfmt: '420', bitdepth: 8 };
const SAMPLE = {
  ref: 'anyvmaf://samples/reference_576x324.yuv',
  dis: 'anyvmaf://samples/distorted_576x324.yuv',
  ...GEOMETRY,
};
/** Frames of a video that takes far longer to score than any test waits. */
const LONG = 6000;
const FRAME_BYTES = (576 * 324 * 3) / 2;

const folder = testFolder('e2e-files');
const TOOLS: unknown = JSON.parse(readFileSync(join(root, 'test/fixtures/mcp-tools.json'), 'utf8'));

// Sparse files.
for (const name of ['long_ref.yuv', 'long_dis.yuv']) {
  writeFileSync(join(folder, name), '');
  truncateSync(join(folder, name), LONG * FRAME_BYTES);
}

const PAIR = { ref: 'long_ref.yuv', dis: 'long_dis.yuv', ...GEOMETRY };

/** Starts a call that takes minutes; resolves once it measures frames. */
async function startLong({ call }: Connection, signal: AbortSignal): Promise<{ outcome: Promise<unknown> }> {
  let outcome: Promise<unknown> = Promise.resolve();
  await new Promise<unknown>((scores) => {
    const options = { signal, onprogress: scores };
    outcome = call('vmaf_score', { ...PAIR, backend: 'cpu' }, options).catch((error: unknown) => error);
    void outcome.then(scores);
  });
  return { outcome };
}

/** Each client, and each transport, once; in the exhaustive run each with each. */
const CROSSED = WAYS.filter(({ generation, transport }) => (generation === 1) === (transport === 'stdio'));

describe.each(tier(CROSSED, WAYS))('client of generation $generation over $transport', (way) => {
  let connection: Connection;
  beforeAll(async () => {
    connection = await connect(way, { cwd: folder, env: { VMAF_MCP_MAX_CONCURRENT: '1' } });
  });
  // Servers end with their clients or on a signal, and leave no files.
  afterAll(async () => {
    expect(await connection.end()).toEqual([]);
  });

  it('lists the tools that the reference page and the snapshot show', async () => {
    expect(connection.protocol ?? '2025-11-25').toBe(way.generation === 1 ? '2025-11-25' : '2026-07-28');
    expect(await connection.listTools(), 'npm run mcp:docs').toEqual(TOOLS);
  });

  it('scores, tells progress, and reads the whole report behind the summary', async () => {
    const told: ProgressNotice[] = [];
    const onprogress = (notice: ProgressNotice) => told.push(notice);
    const answer = await connection.call('vmaf_score', { ...PAIR, frame_cnt: 3 }, { onprogress });
    expect(answer.isError, answer.content[0]?.text).toBeFalsy();
    expect(JSON.parse(answer.content[0]?.text ?? '')).toEqual(answer.structuredContent);
    expect(answer.structuredContent).toMatchObject({ backend_requested: 'auto', backend_used: 'cpu' });
    expect(told.at(-1)).toMatchObject({ progress: 3, total: 3 });
    for (const [i, { progress }] of told.entries())
      expect(progress).toBeGreaterThan(told[i - 1]?.progress ?? -1);
    const link = answer.content.find(({ type }) => type === 'resource_link');
    const report = JSON.parse(await connection.read(link?.uri ?? ''));
    expect(report.frames).toHaveLength(3);
    expect(await connection.listResources()).toContain('anyvmaf://samples');
    await expect(connection.read('anyvmaf://results/none/report.json')).rejects.toThrow('Unknown resource');
  });

  it('cancels: the work stops and its place is free', async () => {
    const cancel = new AbortController();
    const { outcome } = await startLong(connection, cancel.signal);
    // A light call answers beside it.
    expect((await connection.call('list_models', {})).isError).toBeFalsy();
    const waits: ProgressNotice[] = [];
    const onprogress = (notice: ProgressNotice) => waits.push(notice);
    const next = connection.call('vmaf_score', { ...SAMPLE, frame_cnt: 1 }, { onprogress });
    await expect.poll(() => waits.length, { interval: 5 }).toBeGreaterThan(0);
    expect(waits[0]?.message).toBe('vmaf_score is queued: 1 running, next in line');
    cancel.abort();
    expect(await outcome).toBeInstanceOf(Error);
    expect((await next).isError).toBeFalsy();
  });

  it('may disconnect while a call runs, and nothing is left of it', async () => {
    const { outcome } = await startLong(connection, new AbortController().signal);
    await connection.close();
    expect(await outcome).toBeInstanceOf(Error);
    // afterAll finds processes and files that are left.
  });
});

describe('the command', () => {
  it('listens with the token of the environment and ends on SIGTERM', async () => {
    const env = { PATH: process.env.PATH ?? '', ANYVMAF_MCP_TOKEN: 'secret' };
    const { child, url, stop } = await startHttp(folder, env);
    const ask = (headers: Record<string, string>) =>
      post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers);
    expect((await ask({})).status).toBe(401);
    const answered = await ask({ authorization: 'Bearer secret' });
    expect(answered.status).toBe(200);
    expect(await answered.text()).toContain('vmaf_score');
    await stop();
    expect(child.exitCode).toBe(0);
  });

  it('refuses to listen for other machines without a token, and to allow something that is not a folder', async () => {
    const mcp = (...args: string[]) => anyvmaf(['mcp', ...args], { cwd: folder });
    expectFailure(await mcp('--http', '0.0.0.0:0'), 1, 'set a token with --token or ANYVMAF_MCP_TOKEN');
    expectFailure(await mcp('--allow', 'nothing'), 1, '--allow "nothing" is not a readable folder');
  });
});
