/**
 * @module test/exhaustive/runtimes
 * The built package in other runtimes: other releases of Node.js, Bun and Deno. Runtimes come from PATH, or from
 * ANYVMAF_TEST_BUN, ANYVMAF_TEST_DENO and ANYVMAF_TEST_NODE (several, with the separator of PATH); tests of absent ones are
 * skipped.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it } from 'vitest';
import { score } from '../../src/index.js';
import { built, root } from '../support/built.js';
import { anyvmaf, PROGRAM, run, videos } from '../support/cli.js';
import { encode, hasFfmpeg } from '../support/encode.js';

interface Runtime {
  readonly name: string;
  /** `undefined` if absent. */
  readonly program: string | undefined;
  /** Arguments before the script. */
  readonly before: readonly string[];
}

function inPath(name: string): string | undefined {
  const files = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
  return files.find((file) => existsSync(file));
}

function versionOf(program: string): string {
  return spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout.split('\n')[0]?.trim() ?? '';
}

const { ANYVMAF_TEST_BUN, ANYVMAF_TEST_DENO, ANYVMAF_TEST_NODE = '' } = process.env;
const nodes = ANYVMAF_TEST_NODE.split(delimiter).filter((file) => file !== '');
const RUNTIMES: readonly Runtime[] = [
  { name: 'Bun', program: ANYVMAF_TEST_BUN ?? inPath('bun'), before: [] },
  { name: 'Deno', program: ANYVMAF_TEST_DENO ?? inPath('deno'), before: ['run', '--allow-all'] },
  ...(nodes.length > 0 ? nodes : [undefined]).map((program) => ({ name: 'Node.js', program, before: [] })),
];

const hasTiny = existsSync(join(root, 'node_modules/onnxruntime-node'));

const files = videos();
const [reference, distorted] = files.pair(['r.y4m', 'd.y4m'], 12, { width: 160, height: 96 });

for (const { name, program = '', before } of RUNTIMES) {
  const absent = name === 'Node.js' ? 'ANYVMAF_TEST_NODE is not set' : 'not in PATH';
  const how = program === '' ? `skipped: ${absent}` : versionOf(program);
  describe.skipIf(program === '')(`${name} (${how})`, () => {
    const start = (args: readonly string[]) =>
      run(program, [...before, PROGRAM, ...args], { cwd: files.at('.') });

    it('runs the command line with the numbers of Node.js', async () => {
      const args = [reference, distorted, '--csv', '--precision', 'max', '--feature', 'psnr'];
      expect(await start(args)).toEqual(await anyvmaf(args));
      expect((await start([reference, distorted, '--threads', '0', '--csv'])).stdout).toBe(
        (await anyvmaf([reference, distorted, '--csv'])).stdout,
      );
    });

    it('names the runtime in doctor', async () => {
      const { code, stdout } = await start(['doctor']);
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`^ +${name} +[1-9]`, 'm'));
      expect(stdout).toMatch(/mediabunny +works/);
    });

    it('exits with an error in one line', async () => {
      const { code, stdout, stderr } = await start([reference, files.at('missing.y4m')]);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/^anyvmaf: [^\n]*missing\.y4m[^\n]*\n$/);
    });

    it.skipIf(!hasFfmpeg).each(['ffmpeg', 'mediabunny', 'wasm'])(
      'scores encoded video through %s',
      async (decoder) => {
        const make = (crf: string) =>
          encode({ codec: 'h264', frames: 20, size: '160x96', extra: ['-crf', crf] });
        const args = [make('5'), make('40'), '--csv', '--decoder', decoder];
        expect(await start(args)).toEqual(await anyvmaf(args));
      },
    );

    it.skipIf(!hasTiny)('runs tiny models', async () => {
      const args = [reference, distorted, '--tiny-model', 'fr_vmaf_v0.6.1', '--csv'];
      expect(await start(args)).toEqual(await anyvmaf(args));
    });

    it('serves live runs over HTTP, and can be interrupted', async () => {
      const long = files.pair(['long-r.y4m', 'long-d.y4m'], 400, { width: 320, height: 180 });
      const args = [...before, PROGRAM, ...long, '--live', 'sse:0', '--threads', '1', '-q'];
      const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
      const ended = new Promise((resolve) => child.once('close', resolve));
      let stderr = '';
      child.stderr.setEncoding('utf8').on('data', (text) => {
        stderr += text;
      });
      try {
        await expect.poll(() => stderr, { timeout: 30_000 }).toMatch(/http:\S+/);
        const [address = ''] = /http:\S+/.exec(stderr) ?? [];
        const call = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'vmaf.pause', arguments: {} } };
        // Pause, so that the run does not end before the interrupt.
        for (let id = 1; id < 4; id++) {
          const answer = await fetch(address, { method: 'POST', body: JSON.stringify({ ...call, id }) });
          expect(await answer.json()).toMatchObject({ id, result: expect.anything() });
        }
        child.kill('SIGINT');
        expect(await ended).toBe(130);
      } finally {
        child.kill('SIGKILL');
      }
    });

    it('loads the API', async () => {
      const script = files.put(
        'api.mjs',
        `import { score } from ${JSON.stringify(pathToFileURL(built('dist/bundle/js/index.js')).href)};\n` +
          `const report = await score({ reference: ${JSON.stringify(reference)}, distorted: ${JSON.stringify(distorted)} });\n` +
          'console.log(JSON.stringify(report.frames));\n',
      );
      const { code, stdout, stderr } = await run(program, [...before, script]);
      expect(code, stderr).toBe(0);
      const report = await score({ reference, distorted }, { threads: 0 });
      expect(JSON.parse(stdout)).toEqual(report.frames);
    });

    it('serves agents over standard input and output', async () => {
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(
        new StdioClientTransport({
          command: program,
          args: [...before, PROGRAM, 'mcp', '--allow', files.at('.')],
          stderr: 'ignore',
        }),
      );
      try {
        const { tools } = await client.listTools();
        const listed: { name: string }[] = JSON.parse(
          readFileSync(join(root, 'test/fixtures/mcp-tools.json'), 'utf8'),
        );
        expect(tools.map((tool) => tool.name)).toEqual(listed.map((tool) => tool.name));
        const { structuredContent } = await client.callTool({
          name: 'vmaf_score_encoded',
          arguments: { reference_encoded: reference, distorted_encoded: distorted },
        });
        const report = await score({ reference, distorted }, { threads: 0 });
        const { pooled_metrics: pooled } = structuredContent as {
          pooled_metrics: { vmaf: { mean: number } };
        };
        expect(pooled.vmaf.mean).toBeCloseTo(report.pooled_metrics.vmaf?.mean ?? Number.NaN, 6);
      } finally {
        await client.close();
      }
    });
  });
}
