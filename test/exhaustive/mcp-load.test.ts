/**
 * A hundred clients over HTTP, each with jobs of its own, while all cores score: every job ends with its result and memory
 * stays. How soon short calls are answered is printed, since that depends on what else the machine does.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { y4mFile } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { videos } from '../support/cli.js';
import { startHttp } from '../support/mcp-clients.js';

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

/** Megabytes of the server. */
function memory(): number {
  const [, kilobytes] = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

/** A client with a session of its own. */
class Client {
  #session = '';
  #id = 0;

  async open(): Promise<this> {
    const clientInfo = { name: 'load', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const { response } = await this.#post('initialize', params);
    this.#session = response.headers.get('mcp-session-id') ?? '';
    return this;
  }

  async call(name: string, args: object = {}) {
    const { answer } = await this.#post('tools/call', { name, arguments: args });
    expect(answer.error).toBeUndefined();
    const { isError, structuredContent, content } = answer.result;
    if (isError) throw new Error(content[0].text);
    return structuredContent;
  }

  async #post(method: string, params: object) {
    const response = await fetch(server.url, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...(this.#session !== '' && { 'mcp-session-id': this.#session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++this.#id, method, params }),
    });
    const text = await response.text();
    const json = text.startsWith('{') ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? '{}');
    return { response, answer: JSON.parse(json) };
  }
}

/** Calls that wait for nobody's turn. */
const SHORT_CALLS = ['list_jobs', 'list_models', 'list_extractors', 'job_status'];

it.skipIf(process.platform !== 'linux')(
  'a hundred clients with jobs: memory flat, nothing lost',
  async () => {
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => new Client().open()));
    const [watcher = await new Client().open()] = clients;
    const args = {
      reference_encoded: files.at('videos/reference.y4m'),
      distorted_encoded: files.at('videos/distorted.y4m'),
    };
    const { job_id } = await watcher.call('job_start', { tool: 'vmaf_score_encoded', arguments: args });
    const times: number[] = [];
    const peaks: number[] = [];
    const results: object[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      let peak = 0;
      let left = CLIENTS;
      const jobs = clients.map(async (client) => {
        let { next_action: next } = await client.call('job_start', {
          tool: 'vmaf_score_encoded',
          arguments: args,
        });
        while (next.tool === 'job_status')
          ({ next_action: next } = await client.call(next.tool, next.arguments));
        results.push((await client.call(next.tool, next.arguments)).pooled_metrics);
        left--;
      });
      const all = Promise.all(jobs);
      while (left > 0) {
        for (const name of SHORT_CALLS) {
          const began = performance.now();
          await watcher.call(name, name === 'job_status' ? { job_id, wait: 0 } : {});
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
    expect(new Set(results.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(Math.max(...peaks.slice(ROUNDS / 2))).toBeLessThan(1.1 * Math.max(...peaks.slice(0, ROUNDS / 2)));
  },
  600_000,
);
