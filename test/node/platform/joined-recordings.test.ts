/**
 * @module test/node/platform/joined-recordings
 * Two recordings in one transport stream, whose clock begins anew in the middle: through every decoder and door, each
 * frame counts, and the place is told.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { inspect, type ScoreOptions, score } from '../../../src/index.js';
import type { Decoder } from '../../../src/media/decoder.js';
import { createFfmpegDecoder } from '../../../src/platform/node/ffmpeg/decoder.js';
import { nodeWasmDecoder } from '../../../src/platform/node/wasm-decoder.js';
import { built } from '../../support/built.js';
import { anyvmaf } from '../../support/cli.js';
import { decodeAll } from '../../support/decoded.js';
import { encode, encodeFolder, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { tier } from '../../support/tier.js';
import { joined } from '../../support/transport-stream.js';

const wasm = nodeWasmDecoder({ worker: () => pathToFileURL(built('dist/bundle/js/node-ffmpeg-worker.js')) });
const decoders: readonly Decoder[] = [createFfmpegDecoder({ origin: { by: 'user' } }), wasm];
const hasWasm = (await wasm.availability()).usable;

/** 40 frames and 30 others, each with B-frames and from the same time on. */
function parts(quality: number): readonly [string, string] {
  const part = (frames: number, source: string) =>
    encode({
      codec: 'h264',
      size: '160x96',
      frames,
      source,
      extension: 'ts',
      extra: ['-crf', String(quality)],
    });
  return [part(40, 'mandelbrot'), part(30, 'testsrc2')];
}

/** Both in one file. */
function recording(quality: number): string {
  const [first, second] = parts(quality);
  const path = join(encodeFolder(), `joined-${quality}.ts`);
  writeFileSync(path, joined(readFileSync(first), readFileSync(second)));
  return path;
}

const PSNR = { noPrediction: true, features: ['psnr'] } as const satisfies ScoreOptions;

let known: Promise<readonly number[]> | undefined;

/** PSNR of every pair, from the recordings before they were joined. */
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
  'Time stamps go back, as where recordings are joined: of reference after 40 of 70 frames (1.600 s), of distorted ' +
  'after 40 of 70 frames (1.600 s); all frames are used, as if the clock had gone on.';

describe.runIf(hasFfmpeg && hasWasm)(`joined recordings (${needsFfmpeg} and @ffmpeg/core)`, () => {
  it.each(decoders)('give all their frames, at times that go on: $id', async (decoder) => {
    const [first, second] = parts(34);
    const path = recording(34);
    const times = await decoder.timestamps(path);
    expect([...(times ?? [])].map((time) => Math.round(25 * time))).toEqual([...Array(70).keys()]);
    const setBacks = (await decoder.setBacks?.(path)) ?? [];
    expect(setBacks.map((time) => time.toFixed(3))).toEqual(['1.600']);
    const whole = await decodeAll(decoder, path);
    const each = [await decodeAll(decoder, first), await decodeAll(decoder, second)];
    expect(whole.hashes).toEqual(each.flatMap(({ hashes }) => hashes));
    expect(whole.times.map((time) => Math.round(25 * (time ?? -1)))).toEqual([...Array(70).keys()]);
    // Parts on either side of the place, where one time on the clock names two frames.
    const sides = [
      { frames: { start: 35, end: 52 } },
      { time: { start: 1.4, end: 2.08 } },
      { frames: { start: 0, end: 52 } },
    ];
    for (const request of sides.slice(0, tier(2, sides.length))) {
      const from = 'frames' in request ? (request.frames?.start ?? 0) : 35;
      const part = await decodeAll(decoder, path, request);
      expect(part.hashes).toEqual(whole.hashes.slice(from, 52));
      expect(part.times).toEqual(whole.times.slice(from, 52));
    }
  });

  it('are scored through the library as they would be before they were joined', async () => {
    const report = await score({ reference: recording(10), distorted: recording(34) }, PSNR);
    expect(report.frameCount).toBe(70);
    expect(report.frames.map(({ metrics }) => metrics.psnr_y)).toEqual(await expected());
    const found = report.preflight?.find(({ code }) => code === 'clock-set-back');
    expect(found).toMatchObject({ severity: 'warning', message: MESSAGE, reference: 1, distorted: 1 });
  });

  it.each(tier(['ffmpeg'], ['ffmpeg', 'wasm']))(
    'are scored alike on the command line, and told of even without preflight: %s',
    async (decoder) => {
      const args = ['--decoder', decoder, '--no_prediction', '--feature', 'psnr', '--no-preflight'];
      const { code, stdout, stderr } = await anyvmaf([
        ...[recording(10), recording(34), ...args],
        ...['--json', '--output', '-'],
      ]);
      expect(code, stderr).toBe(0);
      expect(stderr).toContain(MESSAGE);
      const { frames } = JSON.parse(stdout) as { frames: { metrics: { psnr_y: number } }[] };
      const each = await expected();
      expect(frames).toHaveLength(70);
      for (const [n, { metrics }] of frames.entries()) expect(metrics.psnr_y).toBeCloseTo(each[n] ?? 0, 5);
    },
  );

  it.each(tier(['wasm'], ['ffmpeg', 'wasm']))(
    'are told of by inspect, and refused under --strict: %s',
    async (decoder) => {
      const args = ['inspect', recording(10), recording(34), '--json', '--decoder'];
      const plain = await anyvmaf([...args, decoder]);
      expect(plain.code, plain.stderr).toBe(0);
      const { preflight } = JSON.parse(plain.stdout) as { preflight: { code: string; message: string }[] };
      expect(preflight.find(({ code }) => code === 'clock-set-back')?.message).toBe(MESSAGE);
      // Whoever decodes: ffmpeg does so in less time.
      expect((await anyvmaf([...args, tier('ffmpeg', decoder), '--strict'])).code).toBe(2);
    },
  );

  it('are refused by mediabunny, which would mix their frames', async () => {
    const pair = [recording(10), recording(34)];
    const { code, stdout, stderr } = await anyvmaf([...pair, '--decoder', 'mediabunny']);
    expect(code).toBe(2);
    expect(stdout).not.toMatch(/\d\d\.\d/);
    expect(stderr).toMatch(/the time stamps of .*joined-10\.ts go back after 40 frames, as where recordings/);
  });

  it('are decoded by what is left where mediabunny gives up', async () => {
    const quick = ['--no_prediction', '--feature', 'psnr', '--no-preflight'];
    const args = [recording(10), recording(34), ...quick, '--json', '--output', '-'];
    const { code, stdout, stderr } = await anyvmaf(args, { env: { PATH: '/nowhere' } });
    expect(code, stderr).toBe(0);
    expect((JSON.parse(stdout) as { frames: unknown[] }).frames).toHaveLength(70);
  });

  it('are told of where only one of the two is joined', async () => {
    const { findings } = await inspect({ reference: recording(10), distorted: parts(34)[0] });
    const found = findings.find(({ code }) => code === 'clock-set-back');
    expect(found?.message).toContain('of reference after 40 of 70 frames (1.600 s); all frames');
  });
});
