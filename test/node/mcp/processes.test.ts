/**
 * @module test/node/mcp/processes
 * The built server as a process: it reads files without end and still answers, is cancelled and killed, asks an installed
 * program once, and removes what a killed server left.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, it, type TestContext } from 'vitest';
import { built, root } from '../../support/built.js';
import { privateFolder } from '../../support/folders.js';
import { INITIALIZE, Lines } from '../../support/mcp-host.js';
import { linear } from '../../support/onnx.js';
import { fakeVmaf } from '../../support/programs.js';

/** A server process, spoken to in lines. */
class Server extends Lines {
  readonly child: ChildProcess;

  constructor(folder: string) {
    const child = spawn(process.execPath, [built('dist/bundle/js/main.js'), 'mcp', '--allow', folder], {
      cwd: folder,
      env: { ...process.env, ANYVMAF_CACHE: join(folder, 'cache') },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    super(child.stdout, (text) => child.stdin.write(text));
    this.child = child;
    this.send(INITIALIZE);
    this.send({ method: 'notifications/initialized' });
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
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

/** What is left to do when a test is over, the last first. */
type Later = TestContext['onTestFinished'];

const EVALUATION = { model: 'model.onnx', features: 'endless-run-1.parquet', split: 'all' };
const VIDEO = 'endless-element-2.mkv';

/** A server with a folder of its own, which holds files without end. */
function serve(later: Later): Server {
  const folder = privateFolder();
  for (const name of ['endless-run-1.parquet', 'endless-element-2.mkv'])
    copyFileSync(join(root, 'test/fixtures/hostile', name), join(folder, name));
  writeFileSync(join(folder, 'model.onnx'), linear([1, 2, 0, 0, 0, 0], 0));
  const server = new Server(folder);
  later(() => server.kill());
  return server;
}

// All run at once, each in a folder of its own: the first waits for the reader's patience, and the others meanwhile.
describe.skipIf(process.platform !== 'linux')(
  'a server that reads a file without end (looks at /proc)',
  { concurrent: true },
  () => {
    it('refuses the file with every tool that takes one, and answers others meanwhile', async ({
      expect,
      onTestFinished,
    }) => {
      const server = serve(onTestFinished);
      void server.call(1, 'eval_model_on_split', EVALUATION);
      await expect.poll(() => server.parsers().length).toBe(1);
      expect((await server.call(2, 'list_models')).result.isError ?? false).toBe(false);
      expect(server.heard.some(({ id }) => id === 1)).toBe(false);
      const byMediabunny = { decoder: 'mediabunny' };
      void server.call(10, 'inspect_pair', { reference: VIDEO, distorted: VIDEO, ...byMediabunny });
      const pair = { reference_encoded: VIDEO, distorted_encoded: VIDEO };
      void server.call(11, 'vmaf_score_encoded', { ...pair, ...byMediabunny });
      void server.call(12, 'describe_worst_frames', { ref: VIDEO, dis: VIDEO });
      for (const id of [1, 10, 11, 12]) {
        const { result } = await server.answer(id);
        expect(result.isError).toBe(true);
        const { text } = result.content[0];
        expect(text).toMatch(id === 12 ? /endless-element-2\.mkv/ : /aborted after 4\.\d s without progress/);
        expect(text).not.toMatch(/\n\s+at /);
      }
      await expect.poll(() => server.parsers()).toEqual([]);
    });

    it('ends the reading when the call is cancelled, and with itself when it is told to end', async ({
      expect,
      onTestFinished,
    }) => {
      const server = serve(onTestFinished);
      void server.call(1, 'eval_model_on_split', EVALUATION);
      await expect.poll(() => server.parsers().length).toBe(1);
      server.cancel(1);
      await server.call(2, 'list_models');
      await expect.poll(() => server.parsers(), { interval: 20 }).toEqual([]);
      expect(server.heard.some(({ id }) => id === 1)).toBe(false);
      void server.call(3, 'eval_model_on_split', EVALUATION);
      await expect.poll(() => server.parsers().length).toBe(1);
      const [parser = ''] = server.parsers();
      const ended = new Promise((resolve) => server.child.once('exit', resolve));
      server.child.kill('SIGTERM');
      await ended;
      await expect.poll(() => readdirSync('/proc').includes(parser)).toBe(false);
    });

    it('that is killed leaves no parser behind, though that hears nothing', async ({
      expect,
      onTestFinished,
    }) => {
      const server = serve(onTestFinished);
      void server.call(1, 'eval_model_on_split', EVALUATION);
      await expect.poll(() => server.parsers().length).toBe(1);
      const [parser = ''] = server.parsers();
      // Deep in its loop.
      await expect.poll(() => cpuTicks(parser)).toBeGreaterThan(30);
      server.child.kill('SIGKILL');
      await expect.poll(() => readdirSync('/proc').includes(parser)).toBe(false);
    });
  },
);

/** Hundredths of a second that a process has computed; no end to them once it is gone. */
function cpuTicks(pid: string): number {
  if (!existsSync(`/proc/${pid}/stat`)) return Number.POSITIVE_INFINITY;
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[12]);
}

async function start(
  later: Later,
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<[Client, number]> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [built('dist/bundle/js/main.js'), 'mcp', '--allow', folder],
    env: { PATH: process.env.PATH ?? '', ANYVMAF_CACHE: join(folder, 'cache'), ...env },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  later(() => client.close());
  return [client, transport.pid ?? 0];
}

describe.skipIf(process.platform === 'win32')('a server', () => {
  it('that is cold and gets thirty calls at once asks the installed program once what it is', async ({
    expect,
    onTestFinished,
  }) => {
    const folder = privateFolder();
    const { path } = fakeVmaf(folder, 'good');
    const [client] = await start(onTestFinished, folder, {
      VMAF_BIN: path,
      ANYVMAF_FFMPEG: join(folder, 'no-ffmpeg'),
    });
    const calls = Array.from({ length: 30 }, () => client.callTool({ name: 'vmaf_version', arguments: {} }));
    for (const { structuredContent } of await Promise.all(calls))
      expect(structuredContent).toMatchObject({ binary_path: path, version: '3.2.0', error: null });
    const asked = readFileSync(join(folder, 'fake-good/runs'), 'utf8').trim().split('\n');
    expect(asked).toEqual(['["--help"]', '["--version"]']);
  });

  it('that was killed leaves its folder to the next one, which removes it and not that of a living one', async ({
    expect,
    onTestFinished,
  }) => {
    const folder = privateFolder();
    const temporary = join(folder, 'tmp');
    mkdirSync(temporary);
    const open = async () => {
      const [client, pid] = await start(onTestFinished, folder, { TMPDIR: temporary });
      // The file is made, and then too big for a message.
      await client.readResource({ uri: 'anyvmaf://samples/reference_576x324.yuv' }).catch(() => {});
      return { client, pid };
    };
    const folders = () => readdirSync(temporary).filter((name) => name.startsWith('anyvmaf-mcp-'));
    const living = await open();
    const [kept = ''] = folders();
    const killed = await open();
    expect(folders()).toHaveLength(2);
    process.kill(killed.pid, 'SIGKILL');
    const gone = folders().find((name) => name !== kept) ?? '';
    await expect.poll(() => existsSync(`/proc/${killed.pid}`)).toBe(false);
    const next = await open();
    await expect.poll(() => folders().includes(gone)).toBe(false);
    expect(folders()).toContain(kept);
    await next.client.close();
    await living.client.close();
    await expect.poll(folders).toEqual([]);
  });
});
