/**
 * @module test/node/mcp/hostile-files
 * The server while a tool reads a file that would be read for ever: it answers others, ends the call when it is cancelled,
 * refuses the file, and ends when it is told to.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { built, root } from '../../support/built.js';
import { linear } from '../../support/onnx.js';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: { readonly isError?: boolean; readonly content?: readonly { readonly text?: string }[] };
}

/** A server process, spoken to in lines. */
class Server {
  readonly child: ChildProcess;
  readonly heard: Message[] = [];
  #rest = '';

  constructor(folder: string) {
    this.child = spawn(process.execPath, [built('dist/bundle/js/main.js'), 'mcp', '--allow', folder], {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop() ?? '';
      this.heard.push(...lines.map((line): Message => JSON.parse(line)));
    });
    this.send({
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    });
    this.send({ method: 'notifications/initialized' });
  }

  send(message: object): void {
    this.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  call(id: number, name: string, args: object): void {
    this.send({ id, method: 'tools/call', params: { name, arguments: args } });
  }

  async answer(id: number): Promise<Message> {
    await expect.poll(() => this.heard.some((message) => message.id === id)).toBe(true);
    return this.heard.find((message) => message.id === id) ?? {};
  }

  /** Numbers of its parser processes. */
  parsers(): string[] {
    const { pid } = this.child;
    return readdirSync('/proc').filter((name) => {
      try {
        const parent = /\) \S (\d+) /.exec(readFileSync(`/proc/${name}/stat`, 'latin1'))?.[1];
        return (
          parent === String(pid) &&
          readFileSync(`/proc/${name}/cmdline`, 'latin1').includes('node-parser-worker')
        );
      } catch {
        return false;
      }
    });
  }
}

let folder: string;
let server: Server;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'anyvmaf-hostile-'));
  for (const name of ['endless-run-1.parquet', 'endless-element-2.mkv'])
    copyFileSync(join(root, 'test/fixtures/hostile', name), join(folder, name));
  writeFileSync(join(folder, 'model.onnx'), linear([1, 2, 0, 0, 0, 0], 0));
  server = new Server(folder);
});
afterEach(() => {
  server.child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const EVALUATION = { model: 'model.onnx', features: 'endless-run-1.parquet', split: 'all' };
const VIDEO = 'endless-element-2.mkv';

describe.skipIf(process.platform !== 'linux')(
  'a server that reads a file without end (looks at /proc)',
  () => {
    it('refuses the file and answers others meanwhile', async () => {
      server.call(1, 'eval_model_on_split', EVALUATION);
      await expect.poll(() => server.parsers().length).toBe(1);
      server.call(2, 'list_models', {});
      expect((await server.answer(2)).result?.isError ?? false).toBe(false);
      expect(server.heard.some(({ id }) => id === 1)).toBe(false);
      const { result } = await server.answer(1);
      expect(result?.isError).toBe(true);
      expect(result?.content?.[0]?.text).toContain('reading it got nowhere for 1.');
      await expect.poll(() => server.parsers()).toEqual([]);
    });

    it('refuses such a video with every tool that takes one', async () => {
      server.call(10, 'inspect_pair', { reference: VIDEO, distorted: VIDEO, decoder: 'mediabunny' });
      server.call(11, 'vmaf_score_encoded', {
        reference_encoded: VIDEO,
        distorted_encoded: VIDEO,
        decoder: 'mediabunny',
      });
      server.call(12, 'describe_worst_frames', { ref: VIDEO, dis: VIDEO });
      for (const id of [10, 11, 12]) {
        const { result } = await server.answer(id);
        expect(result?.isError).toBe(true);
        const text = result?.content?.[0]?.text ?? '';
        expect(text).toMatch(id === 12 ? /endless-element-2\.mkv/ : /reading it got nowhere for 1\./);
        expect(text).not.toMatch(/\n\s+at /);
      }
      await expect.poll(() => server.parsers()).toEqual([]);
    });

    it('ends the reading when the call is cancelled', async () => {
      server.call(1, 'eval_model_on_split', EVALUATION);
      await expect.poll(() => server.parsers().length).toBe(1);
      server.send({ method: 'notifications/cancelled', params: { requestId: 1 } });
      server.call(2, 'list_models', {});
      await server.answer(2);
      await expect.poll(() => server.parsers(), { interval: 20 }).toEqual([]);
      expect(server.heard.some(({ id }) => id === 1)).toBe(false);
    });

    it('ends within two seconds when it is told to, and its parsers with it', async () => {
      server.call(1, 'eval_model_on_split', EVALUATION);
      await expect.poll(() => server.parsers().length).toBe(1);
      const [parser = ''] = server.parsers();
      const sent = performance.now();
      server.child.kill('SIGTERM');
      await new Promise((resolve) => server.child.once('exit', resolve));
      expect(performance.now() - sent).toBeLessThan(2000 + 2000);
      await expect.poll(() => readdirSync('/proc').includes(parser)).toBe(false);
    });

    it('that is killed leaves no parser behind, though that hears nothing', async () => {
      server.call(1, 'eval_model_on_split', EVALUATION);
      await expect.poll(() => server.parsers().length).toBe(1);
      const [parser = ''] = server.parsers();
      await new Promise((resolve) => setTimeout(resolve, 400));
      server.child.kill('SIGKILL');
      await expect.poll(() => readdirSync('/proc').includes(parser)).toBe(false);
    });
  },
);
