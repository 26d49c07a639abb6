/**
 * @module test/node/mcp/confined
 * Nothing outside of the allowed folders is opened because of a file's content, or because a path is swapped after the check,
 * also by another process. `npm run test:exhaustive` sends every attack through every tool, `npm test` through one.
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { queuedRun } from '../../../src/cli/queue/queue-run.js';
import { AnyvmafError } from '../../../src/core/errors.js';
import { AllowedPaths } from '../../../src/files/allowed-paths.js';
import { openChecked } from '../../../src/files/checked-file.js';
import { HOW_TO_ALLOW } from '../../../src/mcp/files.js';
import type { Tool, ToolContext } from '../../../src/mcp/tool.js';
import { describeModelTool } from '../../../src/mcp/tools/models.js';
import { vmafScoreEncoded } from '../../../src/mcp/tools/vmaf-score.js';
import type { QueueJob } from '../../../src/queue/job.js';
import { file } from '../../support/clips.js';
import { encode, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { FileServer } from '../../support/file-server.js';
import { testFolder } from '../../support/folders.js';
import { evaluationFiles, fakeContext, toolNamed, writePair } from '../../support/mcp-tools.js';
import { type Attack, attacks } from '../../support/playlists.js';
import { exhaustive, tier } from '../../support/tier.js';

const TOGETHER = 4;

const home = testFolder('confined');
const allowed = join(home, 'allowed');
const outside = join(home, 'outside');
mkdirSync(allowed);
mkdirSync(outside);

const CLIP = { content: 'T', width: 64, height: 64, bitDepth: 8, chroma: '420', frames: 3 } as const;
const GEOMETRY = { width: 64, height: 64, pixfmt: '420', bitdepth: 8 };

/** Writes files that suit every tool. */
function goodFiles(folder: string) {
  const { ref, dis } = writePair(CLIP, 'y4m');
  const raw = writePair(CLIP, 'yuv');
  const { features, good } = evaluationFiles(folder);
  const put = (name: string, content: Uint8Array) => file(folder, name, content);
  return {
    video: put('good.y4m', readFileSync(ref)),
    other: put('other.y4m', readFileSync(dis)),
    raw: put('good.yuv', readFileSync(raw.ref)),
    json: put('good.json', readFileSync(new URL('../../../model/vmaf_v0.6.1.json', import.meta.url))),
    onnx: good,
    table: features,
  };
}

const good = goodFiles(allowed);
type Kind = keyof typeof good;

/** A parameter that takes a path. */
interface Door {
  readonly title: string;
  readonly tool: Tool;
  /** Of file. */
  readonly kind: Kind;
  args(path: string, decoder?: string): Record<string, unknown>;
}

const TEXTS = {
  path: (path: string) => path,
  list: (path: string) => [path],
  model: (path: string) => `path=${path}`,
};

/** @param others arguments beside the path. @param text how the parameter spells the path */
function door(
  name: string,
  parameter: string,
  kind: Kind,
  others: Readonly<Record<string, unknown>>,
  text: keyof typeof TEXTS = 'path',
): Door {
  const tool = toolNamed(name);
  const decodes = kind === 'video' && 'decoder' in tool.inputSchema.shape;
  return {
    title: `${name} ${parameter}`,
    tool,
    kind,
    args: (path, decoder) => ({
      ...others,
      [parameter]: TEXTS[text](path),
      ...(decodes && decoder !== undefined && { decoder }),
    }),
  };
}

const { video, raw, table, onnx } = good;
const encoded = { reference_encoded: video, distorted_encoded: video };
const pair = { reference: video, distorted: video };
const search = { source: video, encoder: 'libx264' };

const DOORS: readonly Door[] = [
  door('vmaf_score', 'ref', 'raw', { dis: raw, ...GEOMETRY }),
  door('vmaf_score', 'dis', 'raw', { ref: raw, ...GEOMETRY }),
  door('vmaf_score_encoded', 'reference_encoded', 'video', encoded),
  door('vmaf_score_encoded', 'distorted_encoded', 'video', encoded),
  door('vmaf_score_encoded', 'model', 'json', encoded, 'model'),
  door('vmaf_score_encoded', 'tiny_model', 'onnx', encoded),
  door('compare_encodes', 'reference', 'video', { distorted: [video] }),
  door('compare_encodes', 'distorted', 'video', { reference: video }, 'list'),
  door('score_batch', 'references', 'video', { distorted: [video] }, 'list'),
  door('score_batch', 'distorted', 'video', { references: [video] }, 'list'),
  door('inspect_pair', 'distorted', 'video', pair),
  door('find_alignment', 'reference', 'video', pair),
  door('explain_score', 'distorted', 'video', pair),
  door('explain_score', 'model', 'json', pair, 'model'),
  door('find_quality', 'source', 'video', { ...search, verify: true }),
  door('find_quality', 'model', 'json', search, 'model'),
  door('run_compare', 'src', 'video', { encoders: ['libx264', 'libx264:preset=fast'] }),
  door('run_compare', 'model', 'json', { src: video }, 'model'),
  door('run_ladder', 'src', 'video', { resolutions: ['32'] }),
  door('run_ladder', 'model', 'json', { src: video, resolutions: ['32'] }, 'model'),
  door('run_tune_per_shot', 'src', 'video', {}),
  door('run_tune_per_shot', 'model', 'json', { src: video }, 'model'),
  door('describe_worst_frames', 'dis', 'video', { ref: video, describe: false }),
  door('eval_model_on_split', 'model', 'onnx', { features: table }),
  door('eval_model_on_split', 'features', 'table', { model: onnx }),
  door('compare_models', 'models', 'onnx', { features: table }, 'list'),
  door('compare_models', 'features', 'table', { models: [onnx] }),
  door('describe_model', 'name', 'json', {}),
];

/** Tools with the real gate. @param meanwhile is called once a path was allowed */
function context(meanwhile: (path: string) => void = () => {}): ToolContext {
  const files = new AllowedPaths([allowed], allowed, HOW_TO_ALLOW);
  return {
    ...fakeContext(allowed),
    files: {
      get origin() {
        return files.origin;
      },
      allowed: files.allowed,
      sizeOf: (path) => files.sizeOf(path),
      resolveOutput: (path) => files.resolveOutput(path),
      async resolveInput(path) {
        const real = await files.resolveInput(path);
        meanwhile(real);
        return real;
      },
    },
  };
}

/** The answer of a call as text, or its refusal. */
async function outcome({ tool, args }: Door, path: string, given = context(), decoder?: string) {
  try {
    const { document } = await tool.call(args(path, decoder), given);
    const text = JSON.stringify(document);
    // Tools that take several files report on each.
    return { refused: /"ranked":\[\],"errors":\[\{/.test(text), text };
  } catch (error) {
    if (error instanceof AnyvmafError) return { refused: true, text: error.message };
    throw error;
  }
}

/** Counts who opens a named pipe or connects to a port. */
class Watch {
  readonly path = join(outside, 'private.ts');
  readonly opened: string[] = [];
  readonly server: Server = createServer((socket) => {
    this.opened.push('port');
    socket.destroy();
  });
  #timer: NodeJS.Timeout | undefined;

  async start(): Promise<void> {
    execFileSync('mkfifo', [this.path]);
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    // A reader blocks until a writer opens the pipe, so none is missed.
    this.#timer = setInterval(() => this.#look(), 5);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/x.ts`;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.server.close();
    rmSync(this.path, { force: true });
  }

  #look(): void {
    try {
      closeSync(openSync(this.path, constants.O_WRONLY | constants.O_NONBLOCK));
      this.opened.push('pipe');
    } catch {
      // Nobody reads.
    }
  }
}

/** Every kind of attack with four of the twenty references, and every reference with one kind or two. */
const some = (list: readonly Attack[]) => list.filter((_, i) => (Math.floor(i / 7) + 3 * (i % 7)) % 5 === 0);

/** `work` on all, some at a time. */
async function each<T>(all: readonly T[], work: (one: T, i: number) => Promise<void>): Promise<void> {
  const queue = [...all.entries()];
  const lane = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) await work(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: TOGETHER }, lane));
}

describe.runIf(hasFfmpeg && process.platform === 'linux')(`files that name others, ${needsFfmpeg}`, () => {
  const watch = new Watch();
  beforeAll(() => watch.start());
  afterAll(() => watch.stop());

  it(
    'lead nowhere: no pipe and no port outside is opened',
    async () => {
      const movie = encode({ codec: 'prores', pixelFormat: 'yuv422p10le', size: '64x64', frames: 3 });
      const list = attacks(watch, readFileSync(movie));
      const written = new Map(list.map((attack, i) => [attack, attack.write(join(allowed, `attack${i}`))]));
      const calls = exhaustive
        ? list.flatMap((attack) => DOORS.map((one): [Attack, Door] => [attack, one]))
        : some(list).map((attack, i): [Attack, Door] => [attack, DOORS[(i * 5 + 3) % DOORS.length] as Door]);
      const answered = new Map<string, number>();
      const wrong: string[] = [];
      await each(calls, async ([attack, one], i) => {
        const before = watch.opened.length;
        const decoder = exhaustive ? undefined : ({ 4: 'mediabunny', 9: 'wasm' }[i % 10] ?? 'ffmpeg');
        const { refused, text } = await outcome(one, written.get(attack) ?? '', context(), decoder);
        const [kind = ''] = attack.title.split(' ');
        if (!refused) answered.set(kind, (answered.get(kind) ?? 0) + 1);
        if (watch.opened.length > before) wrong.push(`${attack.title}, ${one.title}: ${watch.opened.at(-1)}`);
        if (/playlist|^.* is not a video but/.test(text)) expect(text).not.toContain('\n');
      });
      expect(wrong).toEqual([]);
      expect(watch.opened).toEqual([]);
      // Some decoder may read the samples that a movie has itself; the others are not videos.
      expect([...answered.keys()].filter((kind) => kind !== 'mov')).toEqual([]);
      expect(list.length).toBe(140);
    },
    tier(180_000, 3_600_000),
  );

  it('are refused with a message that says why', async () => {
    const path = join(allowed, 'upload.mp4');
    writeFileSync(path, `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${outside}/x.ts\n#EXT-X-ENDLIST\n`);
    const inspect = DOORS.find(({ title }) => title === 'inspect_pair distorted') as Door;
    expect(await outcome(inspect, path)).toEqual({
      refused: true,
      text:
        `${path} is not a video but makes ffmpeg open other files (hls), which is not allowed here; give the video itself, ` +
        'in one file.',
    });
  });

  it('URLs are fetched by no tool', async () => {
    await using server = await FileServer.start();
    const wrong: string[] = [];
    for (const one of DOORS) {
      const url = server.add(`/${one.kind}.mp4`, readFileSync(good[one.kind]));
      const { refused } = await outcome(one, url);
      if (!refused) wrong.push(one.title);
    }
    expect(wrong).toEqual([]);
    expect(server.requests).toEqual([]);
  });

  it('do not affect files that hold their own video', async () => {
    const source = '-f lavfi -i testsrc2=size=64x64:rate=25 -frames:v 3 -pix_fmt yuv420p'.split(' ');
    const x264 = ['libx264', '-preset', 'ultrafast'];
    const vp9 = ['libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8'];
    const encoders: Readonly<Record<string, readonly string[]>> = {
      ...{ mp4: x264, mkv: x264, ts: x264, h264: x264, ivf: vp9, avi: ['mjpeg'], mxf: ['mpeg2video'] },
      ...{ m2v: ['mpeg2video'], jpg: ['mjpeg', '-update', '1'] },
      // They share a demuxer with another one, or have none.
      ...(exhaustive && { mov: x264, webm: vp9, y4m: ['wrapped_avframe'] }),
    };
    const failed: string[] = [];
    await each(Object.entries(encoders), async ([extension, [codec = '', ...options]]) => {
      const made = ffmpeg(join(allowed, `plain.${extension}`), [...source, '-c:v', codec, ...options]);
      // A picture has no second frame to tell a frame rate by.
      const way =
        extension === 'jpg'
          ? door('inspect_pair', 'distorted', 'video', { reference: made })
          : door('vmaf_score_encoded', 'distorted_encoded', 'video', {
              reference_encoded: made,
              preflight: false,
            });
      const { refused, text } = await outcome(way, made);
      if (refused) failed.push(`${extension}: ${text}`);
    });
    expect(failed).toEqual([]);
  });
});

describe.runIf(process.platform !== 'win32')('whether a file outside is there', () => {
  const there = goodFiles(outside);
  const gone = (path: string) => path.replace(/good(?=\.\w+$)/, 'gone');
  const links = Object.entries(there).map(([kind, path]) => {
    const ways = [path, gone(path)].map((target, i) =>
      join(allowed, `link${i}-${kind}${target.slice(target.lastIndexOf('.'))}`),
    );
    for (const [i, way] of ways.entries()) symlinkSync(i === 0 ? path : gone(path), way);
    return [kind, ways] as const;
  });
  const linked = new Map<string, readonly string[]>(links);
  /** An answer without the name that the call gave. */
  const told = async (one: Door, path: string) => {
    const { refused, text } = await outcome(one, path);
    return refused ? text.replaceAll(path, 'PATH').replaceAll(basename(path), 'NAME') : `answered: ${text}`;
  };
  const models = DOORS.filter(({ kind }) => kind === 'json').map(
    ({ title, tool, kind, args }): Door => ({
      ...{ title: `${title}, bare`, tool, kind },
      args: (path) =>
        Object.fromEntries(
          Object.entries(args(path)).map(([key, value]) => [key, value === `path=${path}` ? path : value]),
        ),
    }),
  );
  const all = [...DOORS, ...models];

  it.each(all.map((one) => [one.title, one] as const))('is not told by %s', async (_, one) => {
    const here = there[one.kind];
    const pairs = [
      [here, gone(here)],
      [join(allowed, '..', 'outside', basename(here)), join(allowed, '..', 'outside', basename(gone(here)))],
      linked.get(one.kind) ?? [],
    ];
    for (const [present = '', absent = ''] of pairs) {
      const answer = await told(one, present);
      expect(answer).toMatch(/not under an allowed folder/);
      expect(await told(one, absent)).toBe(answer);
    }
  });

  const open = ([path, folders]: readonly [string, readonly string[]]) => {
    try {
      closeSync(openChecked(path, { by: 'foreign', folders }));
      return 'opened';
    } catch (error) {
      return (error as Error).message.replaceAll(path, 'PATH');
    }
  };

  it('is not told by the opening of a file either, whatever the path', () => {
    symlinkSync(outside, join(allowed, 'way'));
    const ways = [
      [there.json, gone(there.json)],
      [`${allowed}/../outside/good.json`, `${allowed}/../outside/gone.json`],
      [`${allowed}/way/good.json`, `${allowed}/way/gone.json`],
      [`${allowed}/way/../outside/good.json`, `${allowed}/way/../outside/gone.json`],
      [`${allowed}/way/..`, `${allowed}/way/../gone`],
      ['/etc/shadow', '/etc/shadow/x'],
      [outside, join(outside, 'gone')],
      linked.get('json') ?? [],
    ];
    for (const [present = '', absent = ''] of ways) {
      expect(open([present, [allowed]])).toMatch(/^PATH leads out of the allowed folders/);
      expect(open([absent, [allowed]])).toBe(open([present, [allowed]]));
    }
    expect(open([join(allowed, 'gone.json'), [allowed]])).toContain('ENOENT');
  });

  it('is not told by a job of a queue', async () => {
    const ask = (run: readonly string[]) =>
      queuedRun({ run } as QueueJob, { allow: [allowed], hosts: [] }).then(
        () => 'taken',
        (error: Error) => error.message.replaceAll(/(good|gone)(?=\.\w+)/g, 'IT'),
      );
    const both = [video, video];
    for (const run of [
      (path: string) => [path.replace('.json', '.y4m'), video],
      (path: string) => [video, path.replace('.json', '.y4m')],
      (path: string) => [...both, '--model', path],
      (path: string) => [...both, '--model', `path=${path}`],
      (path: string) => [...both, '--model', `version=vmaf_v0.6.1:path=${path}`],
      (path: string) => [...both, '--tiny-model', path.replace('.json', '.onnx')],
    ]) {
      const answer = await ask(run(there.json));
      expect(answer).toMatch(/not under an allowed folder/);
      expect(await ask(run(gone(there.json)))).toBe(answer);
    }
  });
});

const LINKED = 'a name that becomes a link after it was allowed';

describe.runIf(process.platform !== 'win32')(LINKED, () => {
  const there = goodFiles(outside);

  /** Calls with a file in a folder of its own, which `swap` replaces once it was allowed. */
  async function swapped(one: Door, name: string, swap: (path: string) => void) {
    const path = join(mkdtempSync(join(allowed, 'swap-')), name);
    copyFileSync(good[one.kind], path);
    const taken = (real: string) => {
      if (real === path) swap(path);
    };
    const { refused, text } = await outcome(one, path, context(taken));
    expect(text).toMatch(/leads out of (the allowed folders|its folder)/);
    expect(refused).toBe(true);
  }

  /** Models of searches are read after an encode: one of them is enough. */
  const quick = DOORS.filter(
    ({ kind, tool }) => exhaustive || kind !== 'json' || !/^run_(compare|ladder|tune)/.test(tool.name),
  );
  it.each(quick.map((one) => [one.title, one] as const))('is not followed by %s', (_, one) =>
    swapped(one, `it.${good[one.kind].split('.').at(-1)}`, (path) => {
      rmSync(path);
      symlinkSync(there[one.kind], path);
    }),
  );

  const doors = quick.filter((_, i) => exhaustive || i % 3 === 1);
  it.each(doors.map((one) => [one.title, one] as const))('nor by way of its folder by %s', (_, one) =>
    swapped(one, basename(there[one.kind]), (path) => {
      renameSync(dirname(path), `${dirname(path)}-away`);
      symlinkSync(outside, dirname(path));
    }),
  );
});

const CALLS = tier(40, 1000);

const field = join(home, 'field');
mkdirSync(field);

/** Swaps each name for a link to its namesake outside and back, each time for a moment of another length. */
const ATTACKER = `
  import { linkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
  const [allowed, outside, ...names] = process.argv.slice(1);
  const wait = new Int32Array(new SharedArrayBuffer(4));
  for (let n = 0; ; n++) {
    for (const name of names) {
      const at = allowed + '/' + name;
      rmSync(at + '.next', { force: true });
      if (n % 2 === 0) symlinkSync(outside + '/' + name, at + '.next');
      else linkSync(allowed + '/kept-' + name, at + '.next');
      renameSync(at + '.next', at);
    }
    Atomics.wait(wait, 0, 0, [0.2, 1, 3, 8, 20][n % 5]);
  }`;

/** Two files of one name: the allowed one, kept under another name as well, and the one outside. */
function plant(name: string, inside: string | Uint8Array, other: string | Uint8Array): void {
  for (const path of [join(field, `kept-${name}`), join(field, name)]) writeFileSync(path, inside);
  writeFileSync(join(outside, name), other);
}

/** A name that is swapped, and a call that tells which file was read. */
interface Target {
  readonly name: string;
  readonly inside: string | Uint8Array;
  readonly other: string | Uint8Array;
  /** @returns what differs between the two files */
  ask(path: string, given: ToolContext): Promise<string>;
}

const modelText = readFileSync(good.json, 'utf8');
const still = join(field, 'still.y4m');
copyFileSync(good.video, still);
const scored =
  (reference: string): Target['ask'] =>
  async (path, given) => {
    const args = { reference_encoded: reference, distorted_encoded: path, decoder: 'auto', preflight: false };
    const { document } = await vmafScoreEncoded.call(args, given);
    return JSON.stringify((document as { pooled_metrics: unknown }).pooled_metrics);
  };

const swapTargets: Target[] = [
  { name: 'a.y4m', inside: readFileSync(good.video), other: readFileSync(good.other), ask: scored(still) },
  {
    name: 'b.json',
    inside: modelText,
    other: modelText.replace(/"score_clip": *\[[^\]]*\]/, '"score_clip": [0, 77]'),
    async ask(path, given) {
      const { document } = await describeModelTool.call({ name: path }, given);
      const { clip, size_bytes: size } = document as { clip: unknown; size_bytes: unknown };
      return JSON.stringify({ clip, size });
    },
  },
];
if (hasFfmpeg) {
  const one = encode({ codec: 'h264', size: '64x64', frames: 3 });
  const two = encode({ codec: 'h264', size: '64x64', frames: 3, source: 'mandelbrot' });
  const kept = join(field, 'still.mp4');
  copyFileSync(one, kept);
  swapTargets.push({ name: 'c.mp4', inside: readFileSync(one), other: readFileSync(two), ask: scored(kept) });
}

const SWAPPED = `a name that another process keeps swapping${hasFfmpeg ? '' : `, MP4 ${needsFfmpeg}`}`;

it.runIf(process.platform !== 'win32')(
  `${SWAPPED} never gets an answer about a file outside`,
  { timeout: Math.max(240_000, CALLS * 4000) },
  async () => {
    const given = () => ({ ...fakeContext(field), files: new AllowedPaths([field], field, HOW_TO_ALLOW) });
    for (const { name, inside, other } of swapTargets) plant(name, inside, other);
    const right = await Promise.all(swapTargets.map(({ name, ask }) => ask(join(field, name), given())));
    const args = ['--input-type=module', '-e', ATTACKER, field, outside];
    const attacker = spawn(process.execPath, [...args, ...swapTargets.map(({ name }) => name)], {
      stdio: 'ignore',
    });
    onTestFinished(() => {
      attacker.kill('SIGKILL');
    });
    const counts = { right: 0, refused: 0, wrong: 0 };
    for (let call = 0; call < CALLS; call++) {
      // Nine of ten calls are of the quick kinds.
      const which = call % 10 === 9 ? swapTargets.length - 1 : call % 2;
      const { name, ask } = swapTargets[which] as Target;
      const answer = await ask(join(field, name), given()).catch((error: unknown) => {
        if (error instanceof AnyvmafError) return undefined;
        throw error;
      });
      counts[answer === undefined ? 'refused' : answer === right[which] ? 'right' : 'wrong']++;
    }
    expect(counts.wrong).toBe(0);
    expect(counts.right).toBeGreaterThan(0);
  },
);
