/**
 * @module test/node/cli/process
 * The built program as a process: streams, terminals, signals, kills, limits of the system, and files that keep a reader busy
 * forever.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { nodeMediabunnyDecoder } from '../../../src/platform/node/decoders.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import { built, root } from '../../support/built.js';
import { anyvmaf, anyvmafProcess, atRest, expectFailure, PROGRAM, run, videos } from '../../support/cli.js';
import { privateFolder } from '../../support/folders.js';
import { linear } from '../../support/onnx.js';
import { tier } from '../../support/tier.js';
import { parquet } from '../../support/tiny.js';

const linux = process.platform === 'linux';

const files = videos();
const [ref, dis] = files.pair(['ref.y4m', 'dis.y4m'], 3);
/** The pair's plain result; see test/fixtures/reports. */
const SCORE = /^vmaf_v0\.6\.1: \d+\.\d{6}\n$/;

/** Runs the program below a command of the shell, such as a limit. */
const below = (command: string, ...args: readonly string[]) =>
  run('/bin/sh', ['-c', `${command}; exec "$@"`, 'sh', process.execPath, PROGRAM, ...args]);

/** The stat file of a process; empty once it has ended. */
function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return '';
  }
}

/** Processor seconds of a process and its children. */
function computed(pid: number): number {
  let ticks = 0;
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    const text = statOf(name);
    const [, parent, ...rest] = text.slice(text.lastIndexOf(') ') + 2).split(' ');
    if (Number(name) === pid || Number(parent) === pid) ticks += Number(rest[9]) + Number(rest[10]);
  }
  return ticks / 100;
}

/** Waits until a process and its children have used so many processor seconds, or it has ended. */
async function worked(pid: number | undefined, seconds: number): Promise<void> {
  if (!linux || pid === undefined) return sleep(1000 * (seconds + 1));
  while (existsSync(`/proc/${pid}`) && computed(pid) < seconds) await sleep(50);
}

describe('the process', () => {
  it('reads a video from a pipe and writes the score to another', async () => {
    const { code, stdout, stderr } = await anyvmafProcess(['-', dis], { input: readFileSync(ref) });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(SCORE);
    expect(stdout).toBe((await anyvmaf([ref, dis])).stdout);
  });

  it('ends quietly when its reader closes the pipe', async () => {
    const outcome = await anyvmafProcess([ref, dis, '--json'], {
      meanwhile: (child) => {
        child.stdin?.end();
        child.stdout?.destroy();
      },
    });
    expect(outcome).toEqual({ code: 141, stdout: '', stderr: '' });
  });

  it.runIf(existsSync('/dev/full'))('reports that standard output is full', async () => {
    const { code, stderr } = await run('sh', [
      ...['-c', '"$0" "$@" > /dev/full', process.execPath, PROGRAM, ref, dis, '--json'],
    ]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^anyvmaf: cannot write to standard output: [^\n]*\n$/);
  });

  it('refuses an old Node.js in a sentence', async () => {
    const pretend = "Object.defineProperty(process.versions, 'node', { value: '18.20.4' })";
    const node = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
    const sentence = 'this is Node.js 18.20.4, but anyvmaf needs 20.19 or newer';
    expectFailure(await anyvmafProcess(['--help'], { node }), 2, sentence);
  });

  const script = ['/usr/bin/script', '/bin/script'].find((path) => existsSync(path));
  it.skipIf(script === undefined || !linux)('draws on a terminal (needs script of util-linux)', async () => {
    const { code, stdout } = await run(
      script ?? '',
      ['-qec', `'${process.execPath}' '${PROGRAM}' '${ref}' '${dis}'`, '/dev/null'],
      { env: { TERM: 'xterm' } },
    );
    expect(code).toBe(0);
    expect(stdout).toContain('3/3 frames');
    const afterBar = stdout.slice(stdout.lastIndexOf('\u001b[K') + 3);
    expect(afterBar).not.toContain('3/3 frames');
    expect(afterBar).toContain('\u001b[1m');
  });

  it('prints command lines that a shell reads back unchanged', async () => {
    const { commandLine } = await import('../../../src/cli/options.js');
    const args = ['a b.mp4', "it's", '$HOME', '--x=1', '', 'a"b', '-', '*', 'über', 'a\nb'];
    const { stdout } = await run('sh', ['-c', commandLine('printf', ['%s|', ...args])]);
    expect(stdout).toBe(`${args.join('|')}|`);
  });
});

const SIGNALS = [
  ['SIGINT', 130, 'interrupted'],
  ['SIGTERM', 143, 'terminated'],
] as const;

it.each(SIGNALS)('%s ends a run that waits for its input', async (signal, code, word) => {
  const output = files.at('interrupted.json');
  const outcome = await anyvmafProcess(['-', dis, '--json', '-o', output], {
    meanwhile: (child) => {
      child.stdin?.write(readFileSync(ref).subarray(0, -200), () =>
        atRest(child.pid).then(() => child.kill(signal)),
      );
    },
  });
  expect(outcome).toEqual({ code, stdout: '', stderr: `anyvmaf: ${word}\n` });
  expect(existsSync(output)).toBe(false);
});

// One signal is enough: both take the same path.
describe.each(tier(SIGNALS.slice(1), [...SIGNALS]))('%s, at work', (signal, code, word) => {
  beforeAll(() => {
    const names = ['adm2', 'vif_scale0', 'vif_scale1', 'vif_scale2', 'vif_scale3', 'motion2'];
    const column = (step: number) => Array.from({ length: 20_000 }, (_, i) => ((i * step) % 97) / 97);
    const features = Object.fromEntries(names.map((name, i) => [name, column(i + 2)]));
    files.put('model.onnx', linear([1, 2, 0, 0, 0, 0], 0));
    files.put('features.parquet', parquet({ mos: column(7), ...features }));
  });

  const signalled = (args: readonly string[], seconds: number) =>
    anyvmafProcess(args, {
      meanwhile: async (child) => {
        await worked(child.pid, seconds);
        child.kill(signal);
      },
    });

  it('ends an evaluation that would take minutes', async () => {
    const inputs = [files.at('model.onnx'), files.at('features.parquet')];
    const outcome = await signalled(['tiny', 'eval', '--resamples', '100000', ...inputs], 1.2);
    expect(outcome).toEqual({ code, stdout: '', stderr: `anyvmaf: ${word}\n` });
  });

  it('ends a command that reads an endless table', async () => {
    const table = join(root, 'test/fixtures/hostile/endless-run-1.parquet');
    const { code: ended } = await signalled(['tiny', 'eval', files.at('model.onnx'), table], 1);
    // On a slow machine the signal may come before the command starts, on a fast one after the refusal.
    expect([code, null, 2]).toContain(ended);
  });

  it('ends a process with a thread in native code', async () => {
    const begun = files.at(`${signal}.begun`);
    const work = `require('fs').writeFileSync('${begun}', ''); require('crypto').pbkdf2Sync('a', 'b', 1e9, 64, 'sha512')`;
    const busy = `import { Worker } from 'node:worker_threads';
      const wait = setInterval(() => {
        if (process.listenerCount('${signal}') === 0) return;
        clearInterval(wait);
        new Worker(${JSON.stringify(work)}, { eval: true });
      }, 20);`;
    const node = ['--import', `data:text/javascript,${encodeURIComponent(busy)}`];
    const { code: ended, stderr } = await anyvmafProcess(['-', dis], {
      node,
      meanwhile: async (child) => {
        while (!existsSync(begun) && child.exitCode === null) await sleep(20);
        // By then only the native code computes, which takes far longer.
        await worked(child.pid, 1 + (linux && child.pid !== undefined ? computed(child.pid) : 0));
        child.kill(signal);
      },
    });
    // By the signal itself, which shells show as the same status.
    expect(ended).toBeNull();
    expect(stderr).toBe(`anyvmaf: ${word}\n`);
  });
});

// Pictures are complete or absent.
const KILLS = tier(1, 15);
const KILLED = tier(['--only', 'pictures'], []);
it.skipIf(!linux)(
  'kills leave complete files or none, and the next start removes the rest (needs Linux)',
  { timeout: 600_000 },
  async () => {
    const script = ['scripts/kill-test.mjs', '--runs', String(KILLS), ...KILLED];
    const { code, stdout, stderr } = await run(process.execPath, script, { cwd: root });
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^${KILLS} kills, \\d+ left something that the next start removed, 0 problems$`, 'm'),
    );
  },
);

describe.skipIf(!linux)('limits of the system', () => {
  it('too few open files are reported with the limit, whenever they run out', async () => {
    const limits = tier([22, 36], [22, 26, 32, 40, 48, 56]);
    let told = 0;
    for (const limit of limits) {
      const { code, stdout, stderr } = await below(`ulimit -n ${limit}`, ref, dis);
      if (code === 0) continue;
      told++;
      expect([code, stdout], `ulimit -n ${limit}: ${stderr}`).toEqual([2, '']);
      expect(stderr).toMatch(/^anyvmaf: .*too many files are open.*raise the limit.*ulimit -n.*\n$/i);
    }
    // The lower half of the limits is never enough.
    expect(told).toBeGreaterThanOrEqual(limits.length / 2);
  });

  it('too little address space is reported with the limit and a workaround', async () => {
    const { code, stdout, stderr } = await below('ulimit -v 12000000', ref, dis, '--threads', '2');
    expect([code, stdout], stderr).toEqual([2, '']);
    expect(stderr).toMatch(/^anyvmaf: Memory ran out, .* limited to 11718 MiB \(ulimit -v\).*\n$/);
    expect(/NODE_OPTIONS=(\S+),/.exec(stderr)?.[1]).toBe('--disable-wasm-trap-handler');
  });
});

// A limit on file sizes simulates a full disk: in both cases the system refuses a write.
const HEATMAPS = [
  ['0', 'old'],
  ['2', 'new/deep'],
  ['0', 'new/deep'],
  ['2', 'old'],
] as const;
it.skipIf(process.platform === 'win32').each(tier(HEATMAPS.slice(0, 2), [...HEATMAPS]))(
  'a full disk leaves no partial heatmap, with %s workers in the folder %s',
  async (threads, folder) => {
    const own = videos(privateFolder());
    const pair = own.pair(['r.y4m', 'd.y4m'], 3, { width: 320, height: 216 });
    mkdirSync(own.at('old'));
    const old = own.put('old/cambi_heatmap_scale_0_320x216_16b.gray', 'of an earlier run');
    const feature = `cambi=heatmaps_path=${own.at(folder)}`;
    const args = [...pair, '-n', '-q', '--threads', threads, '--feature', feature];
    const { code, stderr } = await below('ulimit -f 64', ...args);
    expect(stderr).toMatch(
      /^anyvmaf: Heatmaps cannot be written into \S+(old|new.deep): it would exceed the size limit of files; name another folder with heatmaps_path\.\n$/,
    );
    expect(code).toBe(2);
    expect(readFileSync(old, 'utf8')).toBe('of an earlier run');
    expect(readdirSync(own.at('old'))).toHaveLength(1);
    expect(existsSync(own.at('new'))).toBe(false);
  },
);

const { usable } = await nodeMediabunnyDecoder({
  script: () => new URL(`file://${built('dist/bundle/js/node-parser-worker.js')}`),
}).availability();

// Found by changing one to three random bytes of files that hyparquet-writer and ffmpeg wrote. They run concurrently, because
// each waits for the reader's timeout.
describe.concurrent('a file that keeps a reader busy forever', () => {
  const FOLDER = join(root, 'test/fixtures/hostile');
  const hostile = (ending: string) => {
    const all = readdirSync(FOLDER).filter((file) => file.endsWith(ending));
    return tier(all.slice(0, 1), all);
  };
  const NOWHERE = /aborted after 4\.\d s without progress; the file is damaged/;

  it.each(hostile('.parquet'))('is refused: the table %s', async (name) => {
    const model = files.put('linear.onnx', linear([1, 2, 0, 0, 0, 0], 0));
    const args = ['tiny', 'eval', '--split', 'all', model, join(FOLDER, name)];
    expectFailure(await anyvmafProcess(args), 2, NOWHERE);
  });

  describe.skipIf(!usable)('with mediabunny (needs mediabunny and @mediabunny/server)', () => {
    // The next test and the server's tools cover it too.
    it.each(tier([], hostile('.mkv')))('is refused: the video %s', async (name) => {
      const video = join(FOLDER, name);
      expectFailure(await anyvmafProcess(['--decoder', 'mediabunny', video, video]), 2, NOWHERE);
    });

    it('is not passed to the next decoder', async () => {
      const [name = ''] = hostile('.mkv');
      const decoders = await nodePlatform.decoders({ urls: false });
      const { chooseDecoder } = await import('../../../src/media/decoders.js');
      const asked: string[] = [];
      const watched = decoders
        .filter(({ id }) => id !== 'ffmpeg')
        .map((decoder) => ({
          ...decoder,
          probe(...args: Parameters<typeof decoder.probe>) {
            asked.push(decoder.id);
            return decoder.probe(...args);
          },
        }));
      const input = join(FOLDER, name);
      const encoded = { kind: 'encoded', name, input, looksLike: 'a Matroska or WebM video' } as const;
      await expect(chooseDecoder(encoded, { choice: 'auto', decoders: watched })).rejects.toThrow(NOWHERE);
      expect(asked).toEqual(['mediabunny']);
    });
  });
});
