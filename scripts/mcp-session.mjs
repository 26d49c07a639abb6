/**
 * @module scripts/mcp-session
 * `npm run mcp:session`: writes docs/mcp-session.md, a real session of a client with the built server. It finds the worst
 * moment of an encode and a better setting for it, scores it with tiny models and evaluates these. Needs ffmpeg with libx264 and onnxruntime-node.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { builtCommand, loadBuilt, ROOT } from './lib/project.mjs';

const FORMAT = { width: 576, height: 324, bitDepth: 8, chroma: '420' };
const FRAMES = 150;
const CUT = 90;

/** The table of features: clips by key, which selects the split, and their frames. */
const CLIPS = ['clip_0000', 'clip_0019', 'clip_0029', 'clip_0001', 'clip_0007'];
const CLIP_FORMAT = { ...FORMAT, width: 320, height: 180 };
const CLIP_FRAMES = 24;

/** Milliseconds that a call may take, on a busy machine too. */
const LONGEST = 600_000;

/** Maximum bytes of a result to show. */
const SHOWN = 3000;

const { makeSample } = await loadBuilt('sample/generator.js');
const { y4mHeader } = await loadBuilt('core/frame.js');
const { y4mFrame } = await loadBuilt('sample/files.js');

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'anyvmaf-session-')));
try {
  makeVideos();
  makeTable();
  writeFileSync(join(ROOT, 'docs/mcp-session.md'), await converse());
  console.log('wrote docs/mcp-session.md');
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A lossless master with a cut, and an encode with too low a bit rate. */
function makeVideos() {
  const clip = makeSample(FORMAT, { seed: 7, cut: CUT });
  const file = openSync(join(folder, 'master.y4m'), 'w');
  writeSync(file, y4mHeader(FORMAT));
  for (let index = 0; index < FRAMES; index++) writeSync(file, y4mFrame(clip, 'reference', index));
  closeSync(file);
  const rate = [
    '-b:v',
    '700k',
    '-maxrate',
    '700k',
    '-bufsize',
    '90k',
    '-g',
    '250',
    '-bf',
    '2',
    '-threads',
    '1',
  ];
  ffmpeg('-i', 'master.y4m', '-c:v', 'libx264', '-preset', 'medium', ...rate, 'encode.mp4');
  ffmpeg('-i', 'master.y4m', '-c:v', 'libx264', '-crf', '0', '-pix_fmt', 'yuv420p', 'master.mkv');
}

/** A table of features with VMAF as the opinion: each clip as generated, and blurred. */
function makeTable() {
  const pairs = CLIPS.flatMap((key, i) => {
    const clip = makeSample(CLIP_FORMAT, { seed: 20 + i });
    for (const side of ['reference', 'distorted']) {
      const frames = Array.from({ length: CLIP_FRAMES }, (_, index) => y4mFrame(clip, side, index));
      const file = openSync(join(folder, `${key}-${side}.y4m`), 'w');
      for (const part of [y4mHeader(CLIP_FORMAT), ...frames]) writeSync(file, part);
      closeSync(file);
    }
    ffmpeg(
      '-i',
      `${key}-reference.y4m`,
      '-vf',
      'gblur=sigma=1.2',
      '-pix_fmt',
      'yuv420p',
      `${key}-blurred.y4m`,
    );
    return ['distorted', 'blurred'].map(
      (encode) => `${key}-reference.y4m,${key}-${encode}.y4m,${key},${encode}`,
    );
  });
  writeFileSync(join(folder, 'pairs.csv'), `reference,distorted,key,clip\n${pairs.join('\n')}\n`);
  const { status, stderr } = spawnSync(
    process.execPath,
    [builtCommand(), 'features', '--pairs', 'pairs.csv', '--parquet', 'features.parquet'].concat([
      '--teacher',
      'vmaf_v0.6.1',
      '--quiet',
    ]),
    { cwd: folder, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`features failed: ${stderr}`);
}

function ffmpeg(...args) {
  const { status, stderr } = spawnSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`ffmpeg failed: ${stderr}`);
}

/** Runs the session and records it. */
async function converse() {
  const client = new Client({ name: 'session', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      // A slow machine's calls must not become jobs.
      args: [builtCommand(), 'mcp', '--allow', folder, '--call-limit', '0'],
      cwd: folder,
      env: { ...process.env, ANYVMAF_CACHE: join(folder, 'cache') },
      stderr: 'inherit',
    }),
  );
  const pages = [];
  const ask = async (thought, name, args, keys) => {
    const notices = [];
    const result = await client.callTool(
      { name, arguments: args },
      { timeout: LONGEST, onprogress: ({ message }) => notices.push(message) },
    );
    if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
    pages.push(step(thought, name, args, result, notices, keys));
    return result.structuredContent;
  };
  try {
    const { tools } = await client.listTools();
    const [reference, distorted] = ['master.mkv', 'encode.mp4'];
    await ask(
      'A user asks: *this encode looks bad somewhere; where, and what is wrong there?* The agent first checks that ' +
        'the two files can be compared.',
      'inspect_pair',
      { reference, distorted },
      ['summary', 'comparable', 'findings'],
    );
    await ask(
      'There are no problems, so it scores the pair.',
      'vmaf_score_encoded',
      { reference_encoded: reference, distorted_encoded: distorted },
      ['summary', 'worst_frames', 'backend_requested', 'backend_used', 'distribution'],
    );
    await ask(
      'The lowest frames are well below the mean. The agent asks what caused the loss, and when.',
      'explain_score',
      { reference, distorted },
      ['explanation', 'segments'],
    );
    const { frames } = await ask(
      'It looks at the worst moments. The answer contains the pictures, for the model to see.',
      'describe_worst_frames',
      { images: 'all', ref: reference, dis: distorted, n: 2 },
      ['model_id', 'frames'],
    );
    const [worst] = frames;
    pages.push(`It answers in the words of the result: *${worst.summary ?? worst.description}*`);
    await settings(ask);
    await tinyModels(ask);
    return document(tools, pages);
  } finally {
    await client.close();
  }
}

/** A better encode: the setting for a quality, and whether another encoder needs less. */
async function settings(ask) {
  const fast = { preset: 'medium' };
  const { value, parameter } = await ask(
    '*What should I have encoded with?* The agent asks for the setting with which the same encoder reaches a mean of 93, with its ' +
      'worst frames at 85 or above. The server encodes and scores a few settings, and writes no encode.',
    'find_quality',
    { source: 'master.mkv', encoder: 'libx264', encoder_options: fast, targets: ['93', 'p5>=85'] },
    ['summary', 'parameter', 'value', 'predicted', 'interval_99', 'points', 'encodes', 'command'],
  );
  await ask(
    `It answers ${parameter} ${value} and passes on the command. *Would x265 need less?*`,
    'run_compare',
    {
      src: 'master.mkv',
      encoders: ['libx264:preset=medium', 'libx265:preset=medium'],
      target_vmafs: [93],
    },
    ({ summary, encoders, deltas }) => ({
      summary,
      encoders: encoders.map(({ name, at_targets }) => ({ name, at_targets })),
      deltas,
    }),
  );
}

/** The second half: tiny models with a reference and without, and their evaluation. */
async function tinyModels(ask) {
  const [reference, distorted] = ['master.mkv', 'encode.mp4'];
  const [fr, nr] = ['fr_vmaf_v0.6.1', 'nr_vmaf_v0.6.1'];
  await ask(
    '*Would a small model have seen that as well?* A tiny model that imitates VMAF scores beside it, in one run.',
    'vmaf_score_encoded',
    { reference_encoded: reference, distorted_encoded: distorted, tiny_model: fr },
    ['summary', 'tiny'],
  );
  await ask(
    '*And without the master?* A no-reference model looks at the encode alone; the agent says that this is an estimate.',
    'vmaf_score_encoded',
    { distorted_encoded: distorted, tiny_model: nr, no_reference: true },
    ['summary', 'no_reference', 'pooled_metrics'],
  );
  const table = { features: 'features.parquet', split: 'test' };
  await ask(
    'How far can the first model be trusted? `anyvmaf features --parquet` made a table of features with VMAF as the ' +
      'opinion score. It holds clips of five sources, three of which are in the split `test` by their keys.',
    'eval_model_on_split',
    { model: fr, ...table },
    ['n', 'plcc', 'srocc', 'krocc', 'rmse', 'intervals', 'columns', 'notes'],
  );
  await ask(
    'It ranks models on the same rows. One needs features that this table lacks, another needs pictures: their ' +
      'errors do not stop the others.',
    'compare_models',
    { models: ['fr_vmaf_v1.0.16_3d0h', fr, nr], ...table },
    ({ ranked, errors }) => ({
      ranked: ranked.map(({ model, n, plcc, srocc, rmse }) => ({ model, n, plcc, srocc, rmse })),
      errors,
    }),
  );
}

/** One call as Markdown; `keys` names the members of the result to show, or computes them. */
function step(thought, name, args, { content, structuredContent }, notices, keys) {
  const part =
    typeof keys === 'function'
      ? keys(structuredContent)
      : Object.fromEntries(keys.map((key) => [key, structuredContent[key]]));
  const rest = content.slice(1).map((item) => {
    if (item.type === 'image')
      return `* an image, ${item.mimeType}, ${Math.round((item.data.length * 3) / 4096)} KiB`;
    return `* a link to \`${item.name}\`${item.description ? `: ${item.description}` : ''}`;
  });
  const last = notices.at(-1);
  return [
    thought,
    `\`${name}\``,
    fence('json', JSON.stringify(args, null, 2)),
    ...(last ? [`Progress, ${notices.length} notices; the last: \`${last}\``] : []),
    fence('json', tidy(JSON.stringify(part, shorten, 2))),
    ...(rest.length > 0 ? [`Beside the document:\n\n${tidy(rest.join('\n'))}`] : []),
  ].join('\n\n');
}

/** Rounds numbers and shortens lists to three. */
function shorten(_key, value) {
  if (typeof value === 'number' && !Number.isInteger(value))
    return Number(value.toFixed(Math.abs(value) < 1 ? 5 : 3));
  if (Array.isArray(value) && value.length > 3 && typeof value[0] === 'object')
    return [...value.slice(0, 3), `... and ${value.length - 3} more`];
  return value;
}

/** Removes this machine's paths and shortens the text. */
function tidy(text) {
  const clean = text
    .replaceAll(folder, '/videos')
    .replace(/[^\s"]*anyvmaf-mcp-[\w-]+/g, '/tmp/anyvmaf-mcp')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => id.slice(0, 8));
  return clean.length > SHOWN ? `${clean.slice(0, clean.lastIndexOf('\n', SHOWN))}\n  ...` : clean;
}

function fence(language, text) {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

function document(tools, pages) {
  return `# A session

<!-- Made by \`npm run mcp:session\`; do not edit. -->

A real session over standard input and output. The videos are generated: a lossless master of ${FRAMES} frames with a cut
at frame ${CUT}, an encode with too few bits and a small buffer, and clips for a table of features. The
page shows only some members of results; \`...\` stands for omitted parts.

The server offers ${tools.length} tools: ${tools.map(({ name }) => `\`${name}\``).join(', ')}.

${pages.map((page, i) => `## ${i + 1}\n\n${page}`).join('\n\n')}
`;
}
