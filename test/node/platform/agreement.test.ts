/**
 * @module test/node/platform/agreement
 * Awkward containers: each decoder gives ffmpeg's frames and frame count and reads the same track, or refuses the file with a
 * reason. Every frame of two recordings in one transport stream counts, with every decoder.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { inspect, type ScoreOptions, score } from '../../../src/index.js';
import type { Decoder, TrackRequest } from '../../../src/media/decoder.js';
import { nodeMediabunnyDecoder, nodeWasmDecoder } from '../../../src/platform/node/decoders.js';
import { createFfmpegDecoder } from '../../../src/platform/node/ffmpeg/decoder.js';
import { built } from '../../support/built.js';
import { anyvmaf } from '../../support/cli.js';
import { decodeAll, ffmpegHashes, joined } from '../../support/decoded.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { tier } from '../../support/tier.js';

const script = (name: string) => () => pathToFileURL(built(`dist/bundle/js/${name}`));
const decodersOf = (track?: TrackRequest): readonly Decoder[] => [
  createFfmpegDecoder({ track }),
  nodeMediabunnyDecoder({ script: script('node-parser-worker.js'), track }),
  nodeWasmDecoder({ script: script('node-ffmpeg-worker.js'), track }),
];
const DECODERS = decodersOf();

const FRAMES = 12;
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '2', '-g', '6'];

/** Frames 0 to 3 and 6 to 9, by two edits. */
function joining(name: string): string {
  const bytes = readFileSync(film('unjoined.mp4', '-bf', '0'));
  for (const type of ['moov', 'trak', 'edts', 'elst']) {
    const at = bytes.lastIndexOf(type) - 4;
    bytes.writeUInt32BE(bytes.readUInt32BE(at) + 12, at);
  }
  const list = bytes.lastIndexOf('elst') - 4;
  bytes.writeUInt32BE(2, list + 12);
  bytes.writeUInt32BE(160, list + 16);
  const second = Buffer.alloc(12);
  [160, 3072, 0x10000].forEach((value, i) => {
    second.writeUInt32BE(value, 4 * i);
  });
  const path = join(encodeFolder(), name);
  writeFileSync(path, Buffer.concat([bytes.subarray(0, list + 28), second, bytes.subarray(list + 28)]));
  return path;
}

function film(name: string, ...options: readonly string[]): string {
  const source = ['-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=25', '-frames:v', String(FRAMES)];
  return ffmpeg(join(encodeFolder(), name), [...source, ...X264, ...options]);
}

/** A preview first, which players do not choose, then the film. */
function twoTracks(name: string, ...options: readonly string[]): string {
  const source = (look: string) => ['-f', 'lavfi', '-i', `${look}:rate=25:duration=0.48`];
  return ffmpeg(join(encodeFolder(), name), [
    ...[...source('smptebars=size=160x90'), ...source('testsrc2=size=320x180')],
    ...['-map', '0', '-map', '1', ...X264, ...options],
  ]);
}

interface Case {
  readonly title: string;
  readonly path: () => string;
  /** Options of ffmpeg that give the expected frames. */
  readonly meant?: readonly string[];
  readonly frames?: number;
  /** Times from the first frame, milliseconds; `null` if the container has none. */
  readonly times?: readonly number[] | null;
  /** ffmpeg.wasm decodes it only in the exhaustive run: it runs the same code as ffmpeg. */
  readonly native?: true;
  /** Decoders that refuse the file, and their messages. */
  readonly refused?: Readonly<Record<string, string>>;
}

const NO_CONTAINER = { mediabunny: 'is not in a container that mediabunny reads' };
const steady = Array.from({ length: FRAMES }, (_, n) => 40 * n);
/** Every third frame within the millisecond of the one before. */
const UNEVEN = [
  '-vf',
  'setpts=if(eq(mod(N\\,3)\\,2)\\,(N-1)/25/TB+0.0003/TB\\,N/25/TB)',
  '-enc_time_base',
  '1:100000',
];

const RATED = ['-enc_time_base', '1:1000', '-fps_mode', 'passthrough', '-bf', '0'];

const CASES: readonly Case[] = [
  { title: 'AVI with B-frames', path: () => film('b.avi'), times: null, refused: NO_CONTAINER },
  {
    title: 'Matroska with two frames in one millisecond',
    path: () => film('uneven.mkv', ...UNEVEN, '-fps_mode', 'passthrough', '-bf', '0'),
    times: steady.map((time, n) => (n % 3 === 2 ? time - 40 : time)),
    native: true,
  },
  { title: 'a bare stream', path: () => film('bare.264'), times: null, native: true, refused: NO_CONTAINER },
  {
    title: 'two tracks, the second of which is the default',
    path: () => twoTracks('two.mkv', '-disposition:v:0', '0', '-disposition:v:1', 'default'),
    meant: ['-map', '-0:v', '-map', '0:V:1'],
    times: steady,
    native: true,
  },
  {
    title: 'an edit list of two parts',
    path: () => joining('parts.mp4'),
    frames: 8,
    times: steady.slice(0, 8),
    native: true,
    refused: { mediabunny: 'joins several parts by its edit list' },
  },
  {
    title: 'an edit list',
    path: () =>
      ffmpeg(join(encodeFolder(), 'edit.mp4'), ['-ss', '0.12', '-i', film('whole.mp4'), '-c', 'copy']),
    frames: FRAMES - 3,
    times: steady.slice(0, FRAMES - 3),
  },
  {
    title: 'an edit list that begins before a frame, and faster frames later',
    path: () => {
      const faster = film(
        'faster.mp4',
        '-vf',
        'settb=1/1000,setpts=if(lt(N\\,4)\\,40*N\\,120+10*N)',
        ...RATED,
      );
      return ffmpeg(join(encodeFolder(), 'between.mp4'), ['-ss', '0.13', '-i', faster, '-c', 'copy']);
    },
    frames: FRAMES - 4,
    times: Array.from({ length: FRAMES - 4 }, (_, n) => 10 * n),
    native: true,
  },
  ...tier(
    [],
    [
      {
        title: 'fragments',
        path: () => film('f.mp4', '-movflags', 'frag_keyframe+empty_moov'),
        times: steady,
      },
      { title: 'a transport stream', path: () => film('t.ts'), times: steady },
    ],
  ),
];

describe.skipIf(!hasFfmpeg)(`decoders agree (${needsFfmpeg}, some mediabunny and @ffmpeg/core)`, () => {
  it.each(CASES)('on $title', async ({ path, meant = [], frames = FRAMES, times, native, refused = {} }) => {
    const file = path();
    const expected = ffmpegHashes(file, meant);
    expect(expected).toHaveLength(frames);
    for (const decoder of DECODERS) {
      if (native && decoder.id === 'wasm' && tier(true, false)) continue;
      if (!(await decoder.availability()).usable) continue;
      const words = refused[decoder.id];
      if (words !== undefined) {
        await expect(decoder.probe(file)).rejects.toThrow(words);
        continue;
      }
      const facts = await decoder.probe(file);
      const found = (await decoder.timestamps(file, undefined, facts.track?.index))?.times;
      const rounded = found && Array.from(found, (time) => Math.round(1000 * time));
      expect(rounded ?? null, decoder.id).toEqual(times);
      const { hashes, source } = await decodeAll(decoder, file, {}, facts);
      expect(hashes, decoder.id).toEqual(expected);
      expect(source.info.warnings, decoder.id).toEqual([]);
      // One start of ffmpeg.wasm per file is enough.
      if (decoder.id === 'wasm') continue;
      const at = times?.[5] === times?.[4] ? undefined : found?.[5];
      const frames = { start: 5, end: 8, ...(at !== undefined && { at }) };
      const part = await decodeAll(decoder, file, { frames }, facts);
      expect(part.hashes, decoder.id).toEqual(expected.slice(5, 8));
    }
  });

  it('on a requested track, and on a missing one', async () => {
    const file = twoTracks('two.mkv', '-disposition:v:0', '0', '-disposition:v:1', 'default');
    for (const decoder of decodersOf({ index: 0, option: 'trackDistorted' })) {
      if (!(await decoder.availability()).usable) continue;
      const { facts, hashes } = await decodeAll(decoder, file);
      expect(facts, decoder.id).toMatchObject({ width: 160, track: { index: 0, asked: true } });
      expect(hashes, decoder.id).toEqual(ffmpegHashes(file));
    }
    const refusal =
      'trackDistorted is 2, but .* has 2 video tracks: track 0 .160x90., track 1 .320x180, default.';
    for (const decoder of decodersOf({ index: 2, option: 'trackDistorted' })) {
      if (decoder.id === 'wasm' || !(await decoder.availability()).usable) continue;
      await expect(decoder.probe(file)).rejects.toThrow(new RegExp(refusal));
    }
  });

  it('and the command line reports the track', async () => {
    const file = twoTracks('two.mkv', '-disposition:v:0', '0', '-disposition:v:1', 'default');
    const master = ffmpeg(join(encodeFolder(), 'second.mkv'), ['-i', file, '-map', '0:V:1', '-c', 'copy']);
    const asked = '--feature psnr --no_prediction -o - --json -q'.split(' ');
    const same = await anyvmaf(['-r', master, '-d', file, ...asked]);
    expect(same.stderr).toBe('');
    const report = JSON.parse(same.stdout);
    expect(report.pairing.distorted).toMatchObject({ track: 1, tracks: 2, width: 320 });
    expect(report.pooled_metrics.psnr_y.min).toBe(60);
    expect(report.preflight).toMatchObject([{ code: 'tracks', severity: 'info', distorted: '1 of 2' }]);
    const none = await anyvmaf(['-r', master, '-d', file, '--track-dis', '2']);
    expect(none.stderr).toContain('--track-dis is 2, but');
  });
});

const wasm = nodeWasmDecoder({ script: script('node-ffmpeg-worker.js') });
const decoders: readonly Decoder[] = [createFfmpegDecoder({ origin: { by: 'user' } }), wasm];
const hasWasm = (await wasm.availability()).usable;

/** Clips of 40 and 30 frames with B-frames, both starting at the same time. */
function parts(quality: number): readonly [string, string] {
  const extra = ['-crf', String(quality)];
  const part = (frames: number, source: string) =>
    encode({ codec: 'h264', size: '160x96', frames, source, extension: 'ts', extra });
  return [part(40, 'mandelbrot'), part(30, 'testsrc2')];
}

/** Both clips in one file. */
function recording(quality: number): string {
  const [first, second] = parts(quality);
  const path = join(encodeFolder(), `joined-${quality}.ts`);
  writeFileSync(path, joined(readFileSync(first), readFileSync(second)));
  return path;
}

const PSNR = { noPrediction: true, features: ['psnr'] } as const satisfies ScoreOptions;

let known: Promise<readonly number[]> | undefined;

/** PSNR of every pairof the separate recordings. */
function expected(): Promise<readonly number[]> {
  known ??= scored();
  return known;
}

async function scored(): Promise<readonly number[]> {
  const [references, encodes] = [parts(10), parts(34)];
  const reports = [0, 1].map((i) =>
    score({ reference: references[i] ?? '', distorted: encodes[i] ?? '' }, PSNR),
  );
  return (await Promise.all(reports)).flatMap(({ frames }) =>
    frames.map(({ metrics }) => metrics.psnr_y ?? 0),
  );
}

const MESSAGE =
  'Timestamps jump back, as in joined recordings: reference after 40 of 70 frames (1.600 s), distorted after 40 of 70 ' +
  'frames (1.600 s); all frames are used, with continuous times.';

describe.runIf(hasFfmpeg && hasWasm)(`joined recordings (${needsFfmpeg} and @ffmpeg/core)`, () => {
  it.each(decoders)('give all their frames, with continuous times: $id', async (decoder) => {
    const [first, second] = parts(34);
    const path = recording(34);
    const { times, setBacks = [] } = (await decoder.timestamps(path)) ?? {};
    expect([...(times ?? [])].map((time) => Math.round(25 * time))).toEqual([...Array(70).keys()]);
    expect(setBacks.map((time) => time.toFixed(3))).toEqual(['1.600']);
    const facts = await decoder.probe(path);
    const whole = await decodeAll(decoder, path, {}, facts);
    expect(whole.hashes).toEqual([first, second].flatMap((part) => ffmpegHashes(part)));
    expect(whole.times.map((time) => Math.round(25 * (time ?? -1)))).toEqual([...Array(70).keys()]);
    // Ranges around the jump, where one timestamp names two frames.
    const sides = [
      { frames: { start: 35, end: 52 } },
      { time: { start: 1.4, end: 2.08 } },
      { frames: { start: 0, end: 52 } },
    ];
    for (const request of sides.slice(0, tier(2, sides.length))) {
      const from = 'frames' in request ? (request.frames?.start ?? 0) : 35;
      const part = await decodeAll(decoder, path, request, facts);
      expect(part.hashes).toEqual(whole.hashes.slice(from, 52));
      expect(part.times).toEqual(whole.times.slice(from, 52));
    }
  });

  it('get the scores of the separate recordings through the API', async () => {
    const report = await score({ reference: recording(10), distorted: recording(34) }, PSNR);
    expect(report.frameCount).toBe(70);
    expect(report.frames.map(({ metrics }) => metrics.psnr_y)).toEqual(await expected());
    const found = report.preflight?.find(({ code }) => code === 'clock-set-back');
    expect(found).toMatchObject({ severity: 'warning', message: MESSAGE, reference: 1, distorted: 1 });
  });

  it('are refused by mediabunny, which would mix their frames', async () => {
    const wanted = /the timestamps of .*joined-10\.ts go back after 40 frames, as in joined recordings/;
    const run = score({ reference: recording(10), distorted: recording(34) }, { decoder: 'mediabunny' });
    await expect(run).rejects.toThrow(wanted);
  });

  it('are decoded by the next decoder if mediabunny refuses, with a warning without preflight', async () => {
    const quick = ['--no_prediction', '--feature', 'psnr', '--no-preflight'];
    const args = [recording(10), recording(34), ...quick, '--json', '--output', '-'];
    const { code, stdout, stderr } = await anyvmaf(args, { env: { PATH: '/nowhere' } });
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(MESSAGE);
    expect((JSON.parse(stdout) as { frames: unknown[] }).frames).toHaveLength(70);
  });

  it('are reported if only one of the two is joined', async () => {
    const { findings } = await inspect({ reference: recording(10), distorted: parts(34)[0] });
    const found = findings.find(({ code }) => code === 'clock-set-back');
    expect(found?.message).toContain('reference after 40 of 70 frames (1.600 s); all frames');
  });
});
