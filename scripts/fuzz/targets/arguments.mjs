/**
 * @module scripts/fuzz/targets/arguments
 * Hostile arguments from grammars: filters, options of encoders, models and paths, quoted, escaped, nested, with links,
 * devices and protocols. Through the MCP server, the queue and the live server, each call ends in time, and nothing outside
 * the allowed folder is opened, written or disclosed.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { loadBuilt } from '../../lib/project.mjs';
import { messageFault } from '../contract.mjs';
import { HELLO } from './mcp.mjs';

/** Seconds that a call may take, and milliseconds of grace after it. */
const LIMIT = 3;
const GRACE = 2000;

const SECRET = 'canary-5f1d8c';

const words = (text) => text.trim().split(/\s+/);
const FILTERS = words(`
  scale zscale pad crop fps yadif bwdif format null setsar tonemap unsharp fieldmatch decimate pullup hqdn3d eq
  loop tpad tile zoompan minterpolate framerate select geq movie amovie subtitles ass drawtext lut3d frei0r sendcmd zmq metadata
  curves removelogo signature concat split`);
const KEYS = words(
  'w h width height x y fps start_time size s flags filename file f path log_path textfile psfile plot eval aspect mode',
);
const OPTIONS = words(`
  preset tune crf qp x264-params x264opts x265-params svtav1-params stats passlogfile vstats_file pass flags g bf threads f i y vf
  omx_libname init_hw_device filter_complex_script attach report`);
const PARAMS = words(`
  keyint bframes dump-yuv stats qpfile cqmfile csv analysis-save analysis-load log-file recon zonefile lambda-file crf qp bitrate
  aq-mode deblock no-scenecut opencl-clbin`);
const ENCODERS = words(
  'libx264 libx264 libx264 libx265 h264_omx h264_v4l2m2m rawvideo copy wrapped_avframe libx264rgb',
);
const NUMBERS = words(
  '0 1 2 25 64 -1 16384 99999 1000000000 0x7fffffff 1e9 9k 9Gi 1/0 30000/1001 .5 NaN inf -2',
);

/** A number, or an expression of some depth. */
function number(random, depth = 0) {
  if (depth > 3 || random.oneIn(2)) return random.pick([...NUMBERS, 'iw', 'ih', 'sar', 'n', 't']);
  const inner = () => number(random, depth + 1);
  return random.pick([
    () => `${inner()}*${inner()}`,
    () => `${inner()}+${inner()}`,
    () => `${inner()}/${inner()}`,
    () => `(${inner()})`,
    () => `pow(${inner()},${inner()})`,
    () => `st(0,${inner()})`,
    () => `while(1,${inner()})`,
    () => `trunc(${inner()}/2)*2`,
  ])();
}

/** A text disguised by quoting and escaping. */
function disguised(random, text) {
  switch (random.int(0, 6)) {
    case 0:
      return `'${text}'`;
    case 1:
      return text.replaceAll(/[:,=]/g, '\\$&');
    case 2:
      return text.replace(/^./s, '\\$&');
    case 3:
      return text.replace(/^(.)(.)/s, "'$1'$2");
    case 4:
      return ` ${text} `;
    default:
      return text;
  }
}

/** Grammars, with the paths of one place. */
class Grammar {
  constructor(place) {
    this.place = place;
  }

  path(random) {
    const { outside, allowed, port } = this.place;
    const file = random.pick(['secret.json', 'secret.y4m', 'secret.mkv', 'secret.onnx', 'pipe.ts']);
    const at = random.pick([
      `${outside}/${file}`,
      `${allowed}/../outside/${file}`,
      `${allowed}/way/${file}`,
      `${allowed}/link-${file}`,
      `way/../../outside/${file}`,
      '/etc/passwd',
      '/proc/self/environ',
      `/proc/self/cwd/${file}`,
      join('/proc/self', 'root', 'etc/passwd'),
      '/dev/zero',
      '/dev/stdin',
      '/dev/fd/0',
      `http://127.0.0.1:${port}/${file}`,
      `${allowed}/good.mkv`,
    ]);
    return random.pick([
      at,
      at,
      at,
      `file:${at}`,
      `file://${at}`,
      `concat:${allowed}/good.mkv|${at}`,
      `subfile,,start,0,end,0,,:${at}`,
      `cache:${at}`,
      `tcp://127.0.0.1:${port}`,
      `${at}/`,
      `./${at}`,
      at.replaceAll('/', '//'),
      encodeURI(at).replace('e', '%65'),
      `${at}\0.mkv`,
      `${at}%00`,
      `$(cat ${at})`,
    ]);
  }

  value(random) {
    return disguised(random, random.oneIn(4) ? this.path(random) : number(random));
  }

  filters(random) {
    const filter = () => {
      const args = Array.from({ length: random.int(0, 3) }, () =>
        random.oneIn(2)
          ? `${disguised(random, random.pick(KEYS))}=${this.value(random)}`
          : this.value(random),
      );
      if (random.oneIn(12)) args.push(`/${random.pick(KEYS)}=${this.path(random)}`);
      return `${disguised(random, random.pick(FILTERS))}${args.length > 0 ? '=' : ''}${args.join(':')}`;
    };
    return Array.from({ length: random.pick([1, 1, 2, 4, 40]) }, filter).join(
      random.pick([',', ',', ',', ';', '[a];[a]']),
    );
  }

  encoderOptions(random) {
    const list = () =>
      Array.from({ length: random.int(1, 3) }, () =>
        disguised(random, `${disguised(random, random.pick(PARAMS))}=${this.value(random)}`),
      ).join(random.pick([':', ':', ',', '\\:']));
    return Object.fromEntries(
      Array.from({ length: random.int(1, 2) }, () => {
        const name = random.pick(OPTIONS);
        return [name, /param|opts/.test(name) ? list() : random.oneIn(2) ? this.value(random) : 'ultrafast'];
      }).map(([name, value]) => [name, value.slice(0, 400)]),
    );
  }

  model(random) {
    const item = () =>
      random.pick([
        () => `path=${this.path(random)}`,
        () => this.path(random),
        () => 'version=vmaf_v0.6.1',
        () => `version=${this.path(random)}`,
        () => `name=${random.pick(['a', '../x', '\n'])}`,
        () => `cambi.heatmaps_path=${this.path(random)}`,
        () => disguised(random, `path=${this.path(random)}`),
      ])();
    return Array.from({ length: random.pick([1, 1, 2, 3]) }, item).join(':');
  }

  feature(random) {
    return random.pick([
      `cambi=heatmaps_path=${this.path(random)}`,
      `psnr=${random.pick(KEYS)}=${this.value(random)}`,
      `cambi=full_ref=true:heatmaps_path='${this.path(random)}'`,
      this.path(random),
    ]);
  }
}

/** The same text about missing files. */
const absent = (text) => text.replaceAll('secret.', 'absent.');

/** An allowed folder with a good video and links, and files beside it that must not be touched. */
function makePlace() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'anyvmaf-fuzz-arguments-')));
  const [allowed, outside] = ['allowed', 'outside'].map((name) => join(home, name));
  for (const folder of [allowed, outside]) mkdirSync(folder);
  const source = ['-f', 'lavfi', '-i', 'testsrc2=size=64x64:rate=25:duration=0.24', '-pix_fmt', 'yuv420p'];
  const video = join(allowed, 'good.mkv');
  const { status } = spawnSync('ffmpeg', ['-v', 'error', ...source, '-c:v', 'ffv1', video]);
  if (status !== 0) throw new Error('ffmpeg made no video');
  copyFileSync(video, join(outside, 'secret.mkv'));
  for (const end of ['y4m', 'onnx']) writeFileSync(join(outside, `secret.${end}`), SECRET);
  const model = JSON.stringify({ model_dict: { model_type: SECRET, feature_names: [SECRET] } });
  writeFileSync(join(outside, 'secret.json'), model);
  execFileSync('mkfifo', [join(outside, 'pipe.ts')]);
  symlinkSync(outside, join(allowed, 'way'));
  for (const name of readdirSync(outside).flatMap((there) => [there, absent(there)]))
    if (!existsSync(join(allowed, `link-${name}`)))
      symlinkSync(join(outside, name), join(allowed, `link-${name}`));
  return { home, allowed, outside, video };
}

/** Names, sizes and times of all files that must not change. */
function stateOf(folders) {
  return JSON.stringify(
    folders.flatMap((folder) =>
      readdirSync(folder).map((name) => {
        const { size, mtimeMs, ctimeMs } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {};
        return [folder, name, size, mtimeMs, ctimeMs];
      }),
    ),
  );
}

/** Whether a process waits to read the pipe. */
function isPipeRead(path) {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}

/** The answer of a door, and what is wrong with it. */
async function ask(door, given) {
  const start = performance.now();
  const ended = (refused, text, fault) => {
    const took = performance.now() - start;
    const late = took > LIMIT * 1000 + GRACE ? `took ${Math.round(took)} ms` : undefined;
    return { refused, text, fault: fault ?? late };
  };
  try {
    return ended(false, JSON.stringify(await door(given)));
  } catch (error) {
    const foreseen = error?.name === 'Refused' || /^(?:string|number)$/.test(typeof error?.code);
    if (!foreseen || error.code === 'internal') return ended(true, '', `a defect: ${error?.stack ?? error}`);
    return ended(true, error.message, messageFault(error.message));
  }
}

/** A client of the MCP server over lines. @returns a function that calls a tool */
function connect(host, serveLines) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const waiting = new Map();
  createInterface({ input: output }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  serveLines(host, input, output, new AbortController().signal);
  const send = (message) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  send(HELLO);
  send({ method: 'notifications/initialized' });
  let calls = 0;
  return (name, args) => {
    const id = ++calls;
    send({ id, method: 'tools/call', params: { name, arguments: args } });
    return new Promise((resolve) => waiting.set(id, resolve)).finally(() => waiting.delete(id));
  };
}

/** An error from the MCP server. */
class Refused extends Error {
  code = 'refused';
}

/** Hostile arguments through every door. */
export async function hostileArguments() {
  const place = makePlace();
  const { home, allowed, outside, video } = place;
  const heard = [];
  const server = createServer((socket) => {
    heard.push('a port');
    socket.destroy();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  place.port = server.address().port;
  const pipe = join(outside, 'pipe.ts');
  const timer = setInterval(() => isPipeRead(pipe) && heard.push('a pipe'), 5).unref();
  const [{ McpHost }, { TOOLS }, { serveLines }, { queuedRun }, { COMPUTE_VMAF }, { score }] =
    await Promise.all([
      loadBuilt('mcp/host.js'),
      loadBuilt('mcp/tools/index.js'),
      loadBuilt('mcp/stdio.js'),
      loadBuilt('cli/queue/queue-run.js'),
      loadBuilt('mcp/live/tools.js'),
      loadBuilt('index.js'),
    ]);
  const host = await McpHost.open({
    allow: [allowed],
    env: {},
    cwd: allowed,
    log() {},
    tools: TOOLS,
    maxSeconds: LIMIT,
  });
  const client = connect(host, serveLines);
  const grammar = new Grammar(place);
  const pair = { reference_encoded: video, distorted_encoded: video };
  const MCP = [
    (random) => ['vmaf_score_encoded', { ...pair, filters: { vf_distorted: grammar.filters(random) } }],
    (random) => ['vmaf_score_encoded', { ...pair, model: grammar.model(random) }],
    (random) => ['vmaf_score_encoded', { ...pair, feature: [grammar.feature(random)] }],
    (random) => ['vmaf_score_encoded', { ...pair, tiny_model: grammar.path(random) }],
    (random) => ['inspect_pair', { reference: video, distorted: grammar.path(random) }],
    (random) => ['describe_model', { name: grammar.path(random) }],
    (random) => [
      'find_quality',
      {
        source: video,
        encoder: random.pick(ENCODERS),
        encoder_options: grammar.encoderOptions(random),
        max_temp_gb: 0.1,
      },
    ],
    (random) => ['run_ladder', { src: grammar.path(random), resolutions: ['32'] }],
  ];
  const QUEUE = [
    (random) => [video, video, '--vf-dis', grammar.filters(random)],
    (random) => [video, video, '--model', grammar.model(random)],
    (random) => [video, video, '--feature', grammar.feature(random)],
    (random) => [video, video, '--tiny-model', grammar.path(random)],
    (random) => [grammar.path(random), video],
    (random) => [video, grammar.path(random)],
    (random) => [video, video, '--output', grammar.path(random)],
  ];
  const LIVE = [
    (random) => ({ reference_path: video, distorted_path: grammar.path(random) }),
    (random) => ({ reference_path: video, distorted_path: video, model_version: grammar.model(random) }),
  ];
  const never = new AbortController().signal;
  const doors = {
    async mcp([name, args]) {
      const { result, error } = await client(name, args);
      if (error || result.isError)
        throw new Refused(error?.message ?? JSON.parse(result.content[0].text).error);
      return result;
    },
    async queue(run) {
      const { request, options } = await queuedRun({ run }, { allow: [allowed], hosts: [] });
      return score(request, { ...options, maxSeconds: LIMIT, threads: 1 });
    },
    live: (args) =>
      COMPUTE_VMAF.call(
        args,
        { settings: { folders: [allowed], maxSeconds: LIMIT } },
        { signal: never, progress() {} },
      ),
  };
  return {
    make(random) {
      const door = random.pick(['mcp', 'mcp', 'queue', 'live']);
      return { door, given: random.pick({ mcp: MCP, queue: QUEUE, live: LIVE }[door])(random) };
    },
    async run({ door, given }) {
      const before = stateOf([outside, allowed]);
      heard.length = 0;
      const first = await ask(doors[door], given);
      if (first.fault) return first.fault;
      await new Promise((resolve) => setTimeout(resolve, 6));
      if (heard.length > 0) return `opened ${heard[0]}`;
      if (first.text.includes(SECRET) || /:x:0:0:|PATH=\//.test(first.text))
        return `told of a file outside: ${first.text.slice(0, 300)}`;
      if (stateOf([outside, allowed]) !== before) return 'wrote a file';
      const text = JSON.stringify(given);
      if (!text.includes('secret.')) return undefined;
      const second = await ask(doors[door], JSON.parse(absent(text)));
      const same =
        first.refused && second.refused
          ? absent(first.text) === second.text
          : first.refused === second.refused;
      return same
        ? undefined
        : `told what is there: ${first.text.slice(0, 300)}; absent: ${second.text.slice(0, 300)}`;
    },
    close() {
      clearInterval(timer);
      server.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
