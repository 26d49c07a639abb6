/**
 * @module test/exhaustive/mcp-load
 * A hundred clients over HTTP, each with its own jobs, while all cores score: every job returns its result, and memory does not
 * grow. Prints response times of short calls, which depend on the load of the machine.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { y4mFile } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { videos } from '../support/cli.js';
import { startHttp } from '../support/mcp-clients.js';
import { httpClient } from '../support/mcp-host.js';

const CLIENTS = 100;
const ROUNDS = 4;
const FORMAT = { width: 320, height: 180, bitDepth: 8, chroma: '420' } as const;

const files = videos();
let server: Awaited<ReturnType<typeof startHttp>>;

beforeAll(async () => {
  mkdirSync(files.at('videos'));
  for (const side of ['reference', 'distorted'] as const)
    writeFileSync(files.at(`videos/${side}.y4m`), y4mFile(makeSample(FORMAT, { seed: 4 }), side, 75));
  const env = { ...process.env, ANYVMAF_CACHE: files.at('cache') } as Record<string, string>;
  server = await startHttp(files.at('.'), env, ['--allow', files.at('videos')]);
});

afterAll(() => server.stop());

/** Resident megabytes of the server. */
function memory(): number {
  const [, kilobytes] = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

/** A client with a session of its own. */
async function open() {
  const client = await httpClient(server.url);
  return async (name: string, args: object = {}) => {
    const patient = { timeout: 600_000 };
    const call = { name, arguments: { ...args } };
    const { isError, structuredContent, content } = await client.callTool(call, undefined, patient);
    if (isError) throw new Error(JSON.stringify(content));
    return structuredContent as ReturnType<typeof JSON.parse>;
  };
}

/** Calls that are not queued. */
const SHORT_CALLS = ['list_jobs', 'list_models', 'list_extractors', 'job_status'];

it.skipIf(process.platform !== 'linux')(
  'a hundred clients with jobs: memory stays flat, no result is lost',
  async () => {
    const clients = await Promise.all(Array.from({ length: CLIENTS }, open));
    const [watcher = await open()] = clients;
    const args = {
      reference_encoded: files.at('videos/reference.y4m'),
      distorted_encoded: files.at('videos/distorted.y4m'),
    };
    const { job_id } = await watcher('job_start', { tool: 'vmaf_score_encoded', arguments: args });
    // The server runs as many jobs as there are clients, and no more.
    for (let status = ''; status !== 'completed'; ) ({ status } = await watcher('job_status', { job_id }));
    const times: number[] = [];
    const peaks: number[] = [];
    const results: object[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      let peak = 0;
      let left = CLIENTS;
      const jobs = clients.map(async (client) => {
        let { next_action: next } = await client('job_start', {
          tool: 'vmaf_score_encoded',
          arguments: args,
        });
        while (next.tool === 'job_status') ({ next_action: next } = await client(next.tool, next.arguments));
        results.push((await client(next.tool, next.arguments)).pooled_metrics);
        left--;
      });
      const all = Promise.all(jobs);
      while (left > 0) {
        for (const name of SHORT_CALLS) {
          const began = performance.now();
          await watcher(name, name === 'job_status' ? { job_id, wait: 0 } : {});
          times.push(performance.now() - began);
        }
        peak = Math.max(peak, memory());
        await Promise.race([all, new Promise((next) => setTimeout(next, 100))]);
      }
      await all;
      peaks.push(peak);
    }
    times.sort((a, b) => a - b);
    const at = (share: number) => Math.round(times[Math.floor(share * (times.length - 1))] ?? 0);
    console.info(
      `${CLIENTS} clients, ${availableParallelism()} cores, ${times.length} short calls: ${at(0.5)} ms (median), ` +
        `${at(0.95)} ms (95 %), ${at(1)} ms at most; ` +
        `megabytes in rounds: ${peaks.map(Math.round).join(', ')}`,
    );
    expect(results).toHaveLength(ROUNDS * CLIENTS);
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
    expect(Math.max(...peaks.slice(ROUNDS / 2))).toBeLessThan(1.1 * Math.max(...peaks.slice(0, ROUNDS / 2)));
  },
  600_000,
);
