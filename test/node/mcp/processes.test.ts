/**
 * @module test/node/mcp/processes
 * The built server as a process: it still answers while it reads files without end, is cancelled and killed, and asks an installed
 * program once.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'vitest';
import { built, root } from '../../support/built.js';
import { privateFolder } from '../../support/folders.js';
import { INITIALIZE, Lines } from '../../support/mcp-host.js';
import { linear } from '../../support/onnx.js';
import { fakeVmaf } from '../../support/programs.js';
import { exhaustive } from '../../support/tier.js';

/** A server process. */
class Server extends Lines {
  readonly child: ChildProcess;

  constructor(folder: string, env: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, [built('dist/bundle/js/main.js'), 'mcp', '--allow', folder], {
      cwd: folder,
      env: { ...process.env, ANYVMAF_CACHE: join(folder, 'cache'), ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    super(child.stdout, (text) => child.stdin.write(text));
    this.child = child;
    this.send(INITIALIZE);
    this.send({ method: 'notifications/initialized' });
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill(signal);
    await ended;
  }

  /** Ids of its parser processes. */
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

const EVALUATION = { model: 'model.onnx', features: 'endless-run-1.parquet', split: 'all' };
const VIDEO = 'endless-element-2.mkv';
const PAIR = { reference_encoded: VIDEO, distorted_encoded: VIDEO };

/** A server with its own folder of files without end, until the test is over. */
function serve(later: TestContext['onTestFinished']): Server {
  const folder = privateFolder();
  for (const name of [EVALUATION.features, VIDEO])
    copyFileSync(join(root, 'test/fixtures/hostile', name), join(folder, name));
  writeFileSync(join(folder, EVALUATION.model), linear([1, 2, 0, 0, 0, 0], 0));
  const server = new Server(folder);
  later(() => server.kill());
  return server;
}

// Both run at once: the first waits for the reader's timeout.
describe.skipIf(process.platform !== 'linux')(
  'a server that reads a file without end (looks at /proc)',
  { concurrent: true },
  () => {
    it('refuses a table and a video, answers others meanwhile, and stops reading when it is terminated', async ({
      expect,
      onTestFinished,
    }) => {
      const server = serve(onTestFinished);
      void server.call(1, 'eval_model_on_split', EVALUATION);
      await expect.poll(() => server.parsers().length).toBe(1);
      expect((await server.call(2, 'list_models')).result.isError ?? false).toBe(false);
      expect(server.heard.some(({ id }) => id === 1)).toBe(false);
      const calls = [
        server.answer(1),
        server.call(10, 'vmaf_score_encoded', { ...PAIR, decoder: 'mediabunny' }),
      ];
      if (exhaustive) {
        const pair = { reference: VIDEO, distorted: VIDEO, decoder: 'mediabunny' };
        calls.push(server.call(11, 'inspect_pair', pair));
        calls.push(server.call(12, 'describe_worst_frames', { ref: VIDEO, dis: VIDEO }));
      }
      for (const { id, result } of await Promise.all(calls)) {
        expect(result.isError).toBe(true);
        const { text } = result.content[0];
        expect(text).toMatch(id === 12 ? /endless-element-2\.mkv/ : /aborted after 4\.\d s without progress/);
        expect(text).not.toMatch(/\n\s+at /);
      }
      await expect.poll(() => server.parsers()).toEqual([]);
      void server.call(20, 'eval_model_on_split', EVALUATION);
      await expect.poll(() => server.parsers().length).toBe(1);
      const [parser = ''] = server.parsers();
      await server.kill('SIGTERM');
      await expect.poll(() => readdirSync('/proc').includes(parser)).toBe(false);
    });

    it('stops reading when the call is cancelled, and leaves no parser when it is killed', async ({
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
      // The parser is deep in its loop.
      await expect.poll(() => cpuTicks(parser)).toBeGreaterThan(30);
      await server.kill();
      await expect.poll(() => readdirSync('/proc').includes(parser)).toBe(false);
    });
  },
);

/** Processor time in hundredths of a second; infinite once the process is gone. */
function cpuTicks(pid: string): number {
  if (!existsSync(`/proc/${pid}/stat`)) return Number.POSITIVE_INFINITY;
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[12]);
}

it.skipIf(process.platform === 'win32')(
  'a fresh server that gets thirty calls at once asks the installed program once for its version',
  async ({ expect, onTestFinished }) => {
    const folder = privateFolder();
    const { path } = fakeVmaf(folder, 'good');
    const server = new Server(folder, { VMAF_BIN: path, ANYVMAF_FFMPEG: join(folder, 'no-ffmpeg') });
    onTestFinished(() => server.kill());
    const calls = Array.from({ length: 30 }, (_, i) => server.call(i + 1, 'vmaf_version'));
    for (const { result } of await Promise.all(calls))
      expect(result.structuredContent).toMatchObject({ binary_path: path, version: '3.2.0', error: null });
    const asked = readFileSync(join(folder, 'fake-good/runs'), 'utf8').trim().split('\n');
    expect(asked).toEqual(['["--help"]', '["--version"]']);
  },
);
