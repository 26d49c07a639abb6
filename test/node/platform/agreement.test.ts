/**
 * @module test/node/platform/agreement
 * Awkward containers: each decoder gives the frames that ffmpeg gives, counts them alike, reads the same track, or refuses the
 * file in words.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Decoder } from '../../../src/media/decoder.js';
import type { TrackRequest } from '../../../src/media/evidence/track.js';
import { createFfmpegDecoder } from '../../../src/platform/node/ffmpeg/decoder.js';
import { nodeMediabunnyDecoder } from '../../../src/platform/node/mediabunny-decoder.js';
import { nodeWasmDecoder } from '../../../src/platform/node/wasm-decoder.js';
import { built } from '../../support/built.js';
import { anyvmaf } from '../../support/cli.js';
import { decodeAll, ffmpegHashes } from '../../support/decoded.js';
import { encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { tier } from '../../support/tier.js';

const script = (name: string) => () => pathToFileURL(built(`dist/bundle/js/${name}`));
const decodersOf = (track?: TrackRequest): readonly Decoder[] => [
  createFfmpegDecoder({ track }),
  nodeMediabunnyDecoder({ parser: script('node-parser-worker.js') }, undefined, track),
  nodeWasmDecoder({ worker: script('node-ffmpeg-worker.js'), track }),
];
const DECODERS = decodersOf();

const FRAMES = 12;
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '2', '-g', '6'];

/** A short film of two hundred samples across. */
function film(name: string, ...options: readonly string[]): string {
  const source = ['-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=25', '-frames:v', String(FRAMES)];
  return ffmpeg(join(encodeFolder(), name), [...source, ...X264, ...options]);
}

/** A preview first, which no player takes by itself, and the film. */
function twoTracks(name: string, ...options: readonly string[]): string {
  const source = (size: string, look: string) => [
    '-f',
    'lavfi',
    '-i',
    `${look}=size=${size}:rate=25:duration=0.48`,
  ];
  return ffmpeg(join(encodeFolder(), name), [
    ...[...source('160x90', 'smptebars'), ...source('320x180', 'testsrc2')],
    ...['-map', '0', '-map', '1', ...X264, ...options],
  ]);
}

interface Case {
  readonly title: string;
  readonly path: () => string;
  /** Options of ffmpeg that give the frames that are meant. */
  readonly meant?: readonly string[];
  readonly frames?: number;
  /** Times from the first frame, milliseconds; `null` where the container has none. */
  readonly times?: readonly number[] | null;
  /** Decoders that refuse the file, and their words. */
  readonly refused?: Readonly<Record<string, string>>;
}

const NO_CONTAINER = { mediabunny: 'is in no container that mediabunny reads' };
const steady = Array.from({ length: FRAMES }, (_, n) => 40 * n);
/** Every third frame within the millisecond of the one before. */
const UNEVEN = [
  '-vf',
  'setpts=if(eq(mod(N\\,3)\\,2)\\,(N-1)/25/TB+0.0003/TB\\,N/25/TB)',
  '-enc_time_base',
  '1:100000',
];

const CASES: readonly Case[] = [
  { title: 'AVI with B-frames', path: () => film('b.avi'), times: null, refused: NO_CONTAINER },
  {
    title: 'Matroska with two frames in one millisecond',
    path: () => film('uneven.mkv', ...UNEVEN, '-fps_mode', 'passthrough', '-bf', '0'),
    times: steady.map((time, n) => (n % 3 === 2 ? time - 40 : time)),
  },
  { title: 'a bare stream', path: () => film('bare.264'), times: null, refused: NO_CONTAINER },
  {
    title: 'two tracks, of which the second is the default one',
    path: () => twoTracks('two.mkv', '-disposition:v:0', '0', '-disposition:v:1', 'default'),
    meant: ['-map', '-0:v', '-map', '0:V:1'],
    times: steady,
  },
  {
    title: 'an edit list',
    path: () =>
      ffmpeg(join(encodeFolder(), 'edit.mp4'), ['-ss', '0.12', '-i', film('whole.mp4'), '-c', 'copy']),
    frames: FRAMES - 3,
    times: steady.slice(0, FRAMES - 3),
  },
  // Other tests decode these as well.
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
  it.each(CASES)('on $title', async ({ path, meant = [], frames = FRAMES, times, refused = {} }) => {
    const file = path();
    const expected = ffmpegHashes(file, meant);
    expect(expected).toHaveLength(frames);
    for (const decoder of DECODERS) {
      if (!(await decoder.availability()).usable) continue;
      const words = refused[decoder.id];
      if (words !== undefined) {
        await expect(decoder.probe(file)).rejects.toThrow(words);
        continue;
      }
      const facts = await decoder.probe(file);
      const found = await decoder.timestamps(file, undefined, facts.track?.index);
      expect([decoder.id, found && Array.from(found, (time) => Math.round(1000 * time))]).toEqual([
        decoder.id,
        times,
      ]);
      const { hashes, source } = await decodeAll(decoder, file, {}, facts);
      expect([decoder.id, hashes]).toEqual([decoder.id, expected]);
      expect([decoder.id, source.info.warnings]).toEqual([decoder.id, []]);
      // A start of WebAssembly for each file is enough.
      if (decoder.id === 'wasm') continue;
      const part = await decodeAll(decoder, file, { frames: { start: 5, end: 8 } }, facts);
      expect([decoder.id, part.hashes]).toEqual([decoder.id, expected.slice(5, 8)]);
    }
  });

  it('on the track that is asked for, and on one that is not there', async () => {
    const file = twoTracks('two.mkv', '-disposition:v:0', '0', '-disposition:v:1', 'default');
    for (const decoder of decodersOf({ index: 0, option: 'trackDistorted' })) {
      if (!(await decoder.availability()).usable) continue;
      const { facts, hashes } = await decodeAll(decoder, file);
      expect([decoder.id, facts.width, facts.track]).toMatchObject([
        decoder.id,
        160,
        { index: 0, asked: true },
      ]);
      expect([decoder.id, hashes]).toEqual([decoder.id, ffmpegHashes(file)]);
    }
    const refusal =
      'trackDistorted is 2, but .* has 2 video tracks: track 0 .160x90., track 1 .320x180, default.';
    for (const decoder of decodersOf({ index: 2, option: 'trackDistorted' })) {
      if (!(await decoder.availability()).usable) continue;
      await expect(decoder.probe(file)).rejects.toThrow(new RegExp(refusal));
    }
  });

  it('and the command line says which track was read', async () => {
    const file = twoTracks('two.mkv', '-disposition:v:0', '0', '-disposition:v:1', 'default');
    const master = ffmpeg(join(encodeFolder(), 'second.mkv'), ['-i', file, '-map', '0:V:1', '-c', 'copy']);
    const same = await anyvmaf([
      '-r',
      master,
      '-d',
      file,
      '--feature',
      'psnr',
      '--no_prediction',
      '-o',
      '-',
      '--json',
      '-q',
    ]);
    expect(same.stderr).toBe('');
    const report = JSON.parse(same.stdout);
    expect(report.pairing.distorted).toMatchObject({ track: 1, tracks: 2, width: 320 });
    expect(report.pooled_metrics.psnr_y.min).toBe(60);
    expect(report.preflight).toMatchObject([{ code: 'tracks', severity: 'info', distorted: '1 of 2' }]);
    const none = await anyvmaf(['-r', master, '-d', file, '--track-dis', '2']);
    expect(none.stderr).toContain('--track-dis is 2, but');
  });
});
