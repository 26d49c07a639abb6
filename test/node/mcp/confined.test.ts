/**
 * @module test/node/mcp/confined
 * Nothing outside of the allowed folders is opened because of what a file in them holds, or because of what its name
 * becomes after it was looked at. ANYVMAF_PLAYLISTS=all sends every attack through every tool; the suite sends each
 * through one.
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import type { ToolContext } from '../../../src/mcp/context.js';
import { AllowedFiles } from '../../../src/mcp/files.js';
import type { Tool } from '../../../src/mcp/tool.js';
import { TOOLS } from '../../../src/mcp/tools/index.js';
import { encode, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { FileServer } from '../../support/file-server.js';
import { fakeContext, writePair } from '../../support/mcp-tools.js';
import { linear } from '../../support/onnx.js';
import { type Attack, attacks } from '../../support/playlists.js';
import { parquet } from '../../support/tables.js';

const ALL = process.env.ANYVMAF_PLAYLISTS === 'all';
/** Calls at a time. */
const TOGETHER = 4;

const home = realpathSync(mkdtempSync(join(tmpdir(), 'anyvmaf-confined-')));
const allowed = join(home, 'allowed');
const outside = join(home, 'outside');
mkdirSync(allowed);
mkdirSync(outside);
afterAll(() => rmSync(home, { recursive: true, force: true }));

const CLIP = { content: 'T', width: 64, height: 64, bitDepth: 8, chroma: '420', frames: 3 } as const;
const GEOMETRY = { width: 64, height: 64, pixfmt: '420', bitdepth: 8 };
const SIX = ['adm2', 'vif_scale0', 'vif_scale1', 'vif_scale2', 'vif_scale3', 'motion2'];

/** Files that every tool takes, in a folder. */
function goodFiles(folder: string) {
  const { ref, dis } = writePair(CLIP, 'y4m');
  const raw = writePair(CLIP, 'yuv');
  const put = (name: string, content: Uint8Array | string) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  return {
    video: put('good.y4m', readFileSync(ref)),
    other: put('other.y4m', readFileSync(dis)),
    raw: put('good.yuv', readFileSync(raw.ref)),
    json: put('good.json', readFileSync(new URL('../../../model/vmaf_v0.6.1.json', import.meta.url))),
    onnx: put('good.onnx', linear([1, 0, 0, 0, 0, 0], 0)),
    table: put(
      'good.parquet',
      parquet({
        key: ['clip_0000', 'clip_0000', 'clip_0019', 'clip_0019'],
        mos: [1, 2, 3, 4],
        ...Object.fromEntries(SIX.map((name, i) => [name, i === 0 ? [1, 3, 2, 4] : [0, 0, 0, 0]])),
      }),
    ),
  };
}

const good = goodFiles(allowed);
type Kind = keyof typeof good;

/** A way for a path into a tool. */
interface Door {
  readonly title: string;
  readonly tool: Tool;
  /** Of the file that it wants. */
  readonly kind: Kind;
  args(path: string, decoder?: string): Record<string, unknown>;
}

function door(name: string, parameter: string, kind: Kind, args: Door['args']): Door {
  const tool = TOOLS.find((one) => one.name === name);
  if (!tool) throw new Error(`there is no tool ${name}`);
  return { title: `${name} ${parameter}`, tool, kind, args };
}

const by = (decoder: string | undefined) => (decoder === undefined ? {} : { decoder });
const { video, table, onnx } = good;

const DOORS: readonly Door[] = [
  door('vmaf_score', 'ref', 'raw', (ref) => ({ ref, dis: good.raw, ...GEOMETRY })),
  door('vmaf_score', 'dis', 'raw', (dis) => ({ ref: good.raw, dis, ...GEOMETRY })),
  door('vmaf_score_encoded', 'reference_encoded', 'video', (path, decoder) => ({
    reference_encoded: path,
    distorted_encoded: video,
    ...by(decoder),
  })),
  door('vmaf_score_encoded', 'distorted_encoded', 'video', (path, decoder) => ({
    reference_encoded: video,
    distorted_encoded: path,
    ...by(decoder),
  })),
  door('vmaf_score_encoded', 'model', 'json', (path) => ({
    reference_encoded: video,
    distorted_encoded: video,
    model: `path=${path}`,
  })),
  door('vmaf_score_encoded', 'tiny_model', 'onnx', (path) => ({
    reference_encoded: video,
    distorted_encoded: video,
    tiny_model: path,
  })),
  door('compare_encodes', 'reference', 'video', (path, decoder) => ({
    reference: path,
    distorted: [video],
    ...by(decoder),
  })),
  door('compare_encodes', 'distorted', 'video', (path, decoder) => ({
    reference: video,
    distorted: [path],
    ...by(decoder),
  })),
  door('score_batch', 'references', 'video', (path, decoder) => ({
    references: [path],
    distorted: [video],
    ...by(decoder),
  })),
  door('score_batch', 'distorted', 'video', (path, decoder) => ({
    references: [video],
    distorted: [path],
    ...by(decoder),
  })),
  door('inspect_pair', 'distorted', 'video', (path, decoder) => ({
    reference: video,
    distorted: path,
    ...by(decoder),
  })),
  door('find_alignment', 'reference', 'video', (path, decoder) => ({
    reference: path,
    distorted: video,
    ...by(decoder),
  })),
  door('explain_score', 'distorted', 'video', (path, decoder) => ({
    reference: video,
    distorted: path,
    ...by(decoder),
  })),
  door('explain_score', 'model', 'json', (path) => ({
    reference: video,
    distorted: video,
    model: `path=${path}`,
  })),
  door('find_quality', 'source', 'video', (source) => ({ source, encoder: 'libx264', verify: true })),
  door('find_quality', 'model', 'json', (path) => ({
    source: video,
    encoder: 'libx264',
    model: `path=${path}`,
  })),
  door('run_compare', 'src', 'video', (src) => ({ src, encoders: ['libx264', 'libx264:preset=fast'] })),
  door('run_compare', 'model', 'json', (path) => ({ src: video, model: `path=${path}` })),
  door('run_ladder', 'src', 'video', (src) => ({ src, resolutions: ['32'] })),
  door('run_ladder', 'model', 'json', (path) => ({ src: video, resolutions: ['32'], model: `path=${path}` })),
  door('run_tune_per_shot', 'src', 'video', (src) => ({ src })),
  door('run_tune_per_shot', 'model', 'json', (path) => ({ src: video, model: `path=${path}` })),
  door('describe_worst_frames', 'dis', 'video', (dis) => ({ ref: video, dis, describe: false })),
  door('eval_model_on_split', 'model', 'onnx', (model) => ({ model, features: table })),
  door('eval_model_on_split', 'features', 'table', (features) => ({ model: onnx, features })),
  door('compare_models', 'models', 'onnx', (model) => ({ models: [model], features: table })),
  door('compare_models', 'features', 'table', (features) => ({ models: [onnx], features })),
  door('describe_model', 'name', 'json', (name) => ({ name })),
];

/** Tools with the real gate. @param meanwhile is called when a path was found to be allowed */
function context(meanwhile: (path: string) => void = () => {}): ToolContext {
  const files = new AllowedFiles([allowed], allowed);
  return {
    ...fakeContext(allowed),
    files: {
      get origin() {
        return files.origin;
      },
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

/** What a call came to: its answer as text, or its refusal. */
async function outcome(
  { tool, args }: Door,
  path: string,
  given: ToolContext,
  decoder?: string,
): Promise<{ readonly refused: boolean; readonly text: string }> {
  try {
    const { document } = await tool.call(args(path, decoder), given);
    const text = JSON.stringify(document);
    // Tools that take several files answer with what became of each.
    return { refused: /"ranked":\[\],"errors":\[\{/.test(text), text };
  } catch (error) {
    if (error instanceof AnyvmafError) return { refused: true, text: error.message };
    throw error;
  }
}

/** A named pipe and a port: whoever opens one of them is counted. */
class Watch {
  readonly path = join(outside, 'private.ts');
  readonly server: Server = createServer((socket) => {
    this.opened.push('port');
    socket.destroy();
  });
  readonly opened: string[] = [];
  #timer: NodeJS.Timeout | undefined;

  async start(): Promise<void> {
    execFileSync('mkfifo', [this.path]);
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    // A reader waits for a writer, so that none is missed.
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
      const movie = readFileSync(
        encode({ codec: 'prores', pixelFormat: 'yuv422p10le', size: '64x64', frames: 3 }),
      );
      const list = attacks(watch, movie);
      const written = new Map(list.map((attack, i) => [attack, attack.write(join(allowed, `attack${i}`))]));
      const calls = list.flatMap((attack, i): [Attack, Door][] =>
        ALL ? DOORS.map((one) => [attack, one]) : [[attack, DOORS[(i * 5 + 3) % DOORS.length] as Door]],
      );
      const answered = new Map<string, number>();
      const wrong: string[] = [];
      await each(calls, async ([attack, one], i) => {
        const before = watch.opened.length;
        const decoder = ALL ? undefined : ({ 4: 'mediabunny', 9: 'wasm' }[i % 10] ?? 'ffmpeg');
        const { refused, text } = await outcome(one, written.get(attack) ?? '', context(), decoder);
        const [kind = ''] = attack.title.split(' ');
        if (!refused) answered.set(kind, (answered.get(kind) ?? 0) + 1);
        if (watch.opened.length > before) wrong.push(`${attack.title}, ${one.title}: ${watch.opened.at(-1)}`);
        if (/playlist|^.* is not a video but/.test(text)) expect(text).not.toContain('\n');
      });
      if (ALL)
        console.info(
          `${list.length} files, ${calls.length} calls; answered: ${JSON.stringify([...answered])}`,
        );
      expect(wrong).toEqual([]);
      expect(watch.opened).toEqual([]);
      // A movie has its own samples as well, which some decoder may read; all others are no videos.
      expect([...answered.keys()].filter((kind) => kind !== 'mov')).toEqual([]);
      expect(list.length).toBe(140);
    },
    ALL ? 3_600_000 : 300_000,
  );

  it('are refused in a sentence that says so', async () => {
    const path = join(allowed, 'upload.mp4');
    writeFileSync(path, `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${outside}/x.ts\n#EXT-X-ENDLIST\n`);
    const inspect = DOORS.find(({ title }) => title === 'inspect_pair distorted') as Door;
    expect(await outcome(inspect, path, context())).toEqual({
      refused: true,
      text:
        `${path} is not a video but makes ffmpeg open other files (hls), which is not allowed here; give the video itself, ` +
        'in one file.',
    });
  });

  it('URLs are fetched by no tool', { timeout: 120_000 }, async () => {
    await using server = await FileServer.start();
    const wrong: string[] = [];
    for (const one of DOORS) {
      const url = server.add(`/${one.kind}.mp4`, readFileSync(good[one.kind]));
      const { refused } = await outcome(one, url, context());
      if (!refused) wrong.push(one.title);
    }
    expect(wrong).toEqual([]);
    expect(server.requests).toEqual([]);
  });

  it('leave files that hold their own video as they were', { timeout: 300_000 }, async () => {
    const source = [
      '-f',
      'lavfi',
      '-i',
      'testsrc2=size=64x64:rate=25',
      '-frames:v',
      '3',
      '-pix_fmt',
      'yuv420p',
    ];
    const encoders: Readonly<Record<string, readonly string[]>> = {
      mp4: ['libx264', '-preset', 'ultrafast'],
      mkv: ['libx264', '-preset', 'ultrafast'],
      mov: ['libx264', '-preset', 'ultrafast'],
      ts: ['libx264', '-preset', 'ultrafast'],
      webm: ['libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8'],
      ivf: ['libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8'],
      avi: ['mjpeg'],
      mxf: ['mpeg2video'],
      y4m: ['wrapped_avframe'],
      h264: ['libx264', '-preset', 'ultrafast'],
      m2v: ['mpeg2video'],
      jpg: ['mjpeg', '-update', '1'],
    };
    const failed: string[] = [];
    await each(Object.entries(encoders), async ([extension, [codec = '', ...options]]) => {
      const made = ffmpeg(join(allowed, `plain.${extension}`), [...source, '-c:v', codec, ...options]);
      // A picture has no second frame that its times could be told by.
      const tool = extension === 'jpg' ? 'inspect_pair' : 'vmaf_score_encoded';
      const sides =
        extension === 'jpg' ? ['reference', 'distorted'] : ['reference_encoded', 'distorted_encoded'];
      const args = (path: string) => Object.fromEntries(sides.map((side) => [side, path]));
      const given = door(tool, 'both', 'video', args);
      const { refused, text } = await outcome(given, made, context());
      if (refused) failed.push(`${extension}: ${text}`);
    });
    expect(failed).toEqual([]);
  });
});

describe.runIf(process.platform !== 'win32')(
  'a name that becomes a link after it was found to be allowed',
  () => {
    const there = goodFiles(outside);

    it.each(DOORS.map((one) => [one.title, one] as const))('is not followed by %s', async (_, one) => {
      const folder = mkdtempSync(join(allowed, 'swap-'));
      const path = join(folder, `it.${good[one.kind].split('.').at(-1)}`);
      copyFileSync(good[one.kind], path);
      const taken = (real: string) => {
        if (real !== path) return;
        rmSync(path);
        symlinkSync(there[one.kind], path);
      };
      const { refused, text } = await outcome(one, path, context(taken));
      expect(text).toMatch(/leads out of (the folders|its folder)/);
      expect(refused).toBe(true);
    });

    it.each(DOORS.map((one) => [one.title, one] as const))(
      'nor by way of its folder by %s',
      async (_, one) => {
        const folder = mkdtempSync(join(allowed, 'swap-'));
        const name = there[one.kind].split('/').at(-1) ?? '';
        const path = join(folder, name);
        copyFileSync(good[one.kind], path);
        const taken = (real: string) => {
          if (real !== path) return;
          renameSync(dirname(path), `${dirname(path)}-away`);
          symlinkSync(outside, dirname(path));
        };
        const { refused, text } = await outcome(one, path, context(taken));
        expect(text).toMatch(/leads out of (the folders|its folder)/);
        expect(refused).toBe(true);
      },
    );
  },
);
