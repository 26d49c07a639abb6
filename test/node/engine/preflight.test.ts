/**
 * @module test/node/engine/preflight
 * Findings of a run about its pair while it scores: frames lost in the middle, offsets, pictures; a defect of preflight never
 * ends a run.
 */

import { afterEach, describe, expect, it, vi } from 'vitest';
import { y4mHeader } from '../../../src/core/frame.js';
import { scorePair } from '../../../src/engine/score.js';
import { formatReport, inspect, score, trustOf } from '../../../src/index.js';
import { PassingThumbs } from '../../../src/media/align/thumbs.js';
import { FrameMeter } from '../../../src/media/preflight/measure.js';
import type { VideoInput } from '../../../src/media/types.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import { readReport } from '../../../src/report/read/index.js';
import { summarize } from '../../../src/report/summary.js';
import { y4mFrame } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { file, PSNR, SMALL, storedPair, streamOf, watchedPlatform, y4mPair } from '../../support/clips.js';
import { copyOf, encode, film, hasFfmpeg, makeFile, needsFfmpeg } from '../../support/encode.js';
import { framesOnce } from '../../support/fixtures.js';
import { testFolder } from '../../support/folders.js';
import { exhaustive, tier } from '../../support/tier.js';

const FORMAT = { width: 64, height: 48, bitDepth: 8, chroma: '420' } as const;
const FRAMES = 120;

describe('frames lost in the middle', () => {
  const clip = framesOnce(makeSample(FORMAT, { seed: 5 }));
  const video = (side: 'reference' | 'distorted', order: (n: number) => number) =>
    Buffer.concat([
      Buffer.from(y4mHeader(FORMAT)),
      ...Array.from({ length: FRAMES }, (_, n) =>
        Buffer.from(y4mFrame(clip, side, Math.min(FRAMES - 1, order(n)))),
      ),
    ]);
  const folder = testFolder();
  const asIs = (n: number) => n;
  const reference = file(folder, 'r.y4m', video('reference', asIs));
  const whole = file(folder, 'whole.y4m', video('distorted', asIs));
  const lossy = video('distorted', (n) => (n < 60 ? n : n + 10));
  const distorted = file(folder, 'd.y4m', lossy);
  const slip = {
    code: 'slip',
    severity: 'error',
    message: expect.stringContaining('From frame 60 on, distorted runs 10 frames ahead of reference'),
    places: [{ frame: 60, frames: 10 }],
  };

  const kinds: readonly (readonly [number, string, () => VideoInput])[] = [
    [2, 'read files', () => distorted],
    [2, 'get frames', () => streamOf(Uint8Array.from(lossy))],
    [0, 'get frames', () => streamOf(Uint8Array.from(lossy))],
    [1, 'read files', () => distorted],
  ];
  it.each(kinds.slice(0, tier(3, 4)))('are reported with %i workers that %s', async (threads, _, input) => {
    const { preflight = [] } = await score({ reference, distorted: input() }, { ...PSNR, threads });
    expect(preflight).toContainEqual(expect.objectContaining(slip));
  });

  it('are in the report with their places, and near the score, whose values they do not change', async () => {
    const report = await score({ reference, distorted }, { ...PSNR, threads: 0 });
    const unwatched = await score({ reference, distorted }, { ...PSNR, preflight: false, threads: 0 });
    expect(report.frames).toEqual(unwatched.frames);
    expect(unwatched.preflight).toBeUndefined();
    const read = readReport(formatReport(report, 'json'));
    expect(read.preflight).toContainEqual(expect.objectContaining({ code: 'slip', places: slip.places }));
    expect(summarize(report)).toContain('From frame 60 on, distorted runs');
    const good = await score({ reference, distorted: whole }, { ...PSNR, threads: 0 });
    expect(good.preflight?.map(({ code }) => code)).not.toContain('slip');
  });

  it('make a strict run refuse the pair', async () => {
    const strict = score({ reference, distorted }, { ...PSNR, strict: true, threads: 0 });
    await expect(strict).rejects.toThrow('From frame 60 on, distorted runs 10 frames ahead');
  });

  it('are not searched for if only some frames are scored, as the report tells', async () => {
    const { preflight = [] } = await score({ reference, distorted }, { ...PSNR, subsample: 2, threads: 0 });
    const said = preflight.find(({ code }) => code === 'unwatched');
    expect(said).toMatchObject({ severity: 'info' });
    expect(said?.message).toContain('only one frame in 2 is scored');
  });
});

describe('offset search', () => {
  const folder = testFolder();
  /** Scenes of a film, each moving. */
  const scenes = [70, 50, 60, 60].map((frames, n) => ({
    frames,
    clip: framesOnce(makeSample(FORMAT, { seed: n + 21 })),
  }));
  const frames = scenes.flatMap(({ frames: count, clip }) =>
    Array.from({ length: count }, (_, n) => ({ clip, n })),
  );
  const film = (side: 'reference' | 'distorted', from: number, still = false) =>
    Buffer.concat([
      Buffer.from(y4mHeader(FORMAT)),
      ...frames
        .slice(from)
        .map(({ clip, n }) =>
          Buffer.from(y4mFrame(still ? (scenes[0]?.clip ?? clip) : clip, side, still ? 0 : n)),
        ),
    ]);
  const reference = file(folder, 'film.y4m', film('reference', 0));
  const late = file(folder, 'late.y4m', film('distorted', 75));
  const standing = file(folder, 'standing.y4m', film('reference', 0, true));
  const standingToo = file(folder, 'standing-d.y4m', film('distorted', 75, true));

  it('finds an offset beyond the first window by widening it', async () => {
    const { pairing } = await score({ reference, distorted: late }, { ...PSNR, offset: 'auto' });
    expect(pairing?.frames).toMatchObject({ offset: 75, offsetState: 'found' });
  });

  it('does not claim an offset beyond the requested window', async () => {
    const options = { ...PSNR, offset: 'auto', window: 50 } as const;
    const report = await score({ reference, distorted: late }, options);
    expect(report.pairing?.frames.offsetState).not.toBe('found');
    // A search without result does not make the score more trustworthy.
    expect(trustOf(report).verdict).toBe('untrusted');
    const doubt = report.preflight?.find(({ code }) => code === trustOf(report).codes[0]);
    expect(doubt).toMatchObject({ severity: 'warning', hint: { option: 'window', value: 500 } });
    expect(doubt?.message).toContain(
      `The offset search found no clear answer; ${report.pairing?.frames.offset} is used`,
    );
    expect(summarize(report)).toMatch(/offset +-?\d+ frames, (not found|ambiguous), a guess/);
    const run = score({ reference, distorted: late }, { ...options, strict: true });
    await expect(run).rejects.toThrow('The offset search found no clear answer');
    const { warnings } = await score({ reference, distorted: late }, { ...options, preflight: false });
    expect(warnings.join(' ')).toContain('The offset search found no clear answer');
  });

  it('does not claim an offset if nothing moves', async () => {
    const report = await score({ reference: standing, distorted: standingToo }, { ...PSNR, offset: 'auto' });
    expect(report.pairing?.frames).toMatchObject({ offset: 0, offsetState: 'ambiguous' });
    const doubt = report.preflight?.find(({ code }) => code === 'offset-unclear');
    expect(doubt).toMatchObject({ severity: 'warning', message: expect.stringContaining('0 is used') });
  });

  it('takes a window only for a search', async () => {
    await expect(inspect({ reference, distorted: late }, { window: 100 })).rejects.toThrow('window is 100');
    const work = score({ reference, distorted: late }, { offset: 'auto', window: 0 });
    await expect(work).rejects.toThrow('window is 0');
  });
});

describe.runIf(hasFfmpeg)(`pictures checked during a run, ${needsFfmpeg}`, () => {
  const master = () => encode({ codec: 'ffv1', source: 'mandelbrot', frames: 75, size: '128x96' });
  const copy = (name: string, filter: string) => copyOf(master(), name, ['-vf', filter], 20);

  const CHANGES: readonly (readonly [string, string, Record<string, string | undefined>])[] = [
    ['late', 'trim=start_frame=6,setpts=PTS-STARTPTS', { offset: 'offset: 6' }],
    ['barred and smaller', 'drawbox=w=iw:h=16:c=black:t=fill,scale=96:72', { 'black-borders': undefined }],
    ['blurred', 'gblur=sigma=3', {}],
    ['barred', 'drawbox=w=iw:h=16:c=black:t=fill', { 'black-borders': undefined }],
  ];
  it.each(CHANGES.slice(0, tier(2, 4)))('agree with inspect: %s', async (name, filter, expected) => {
    const request = { reference: master(), distorted: copy(`${name}.mp4`, filter) };
    // inspect knows no model either.
    const { preflight = [] } = await score(request, { models: [], features: ['psnr'] });
    const told = (findings: typeof preflight) => findings.map(({ code, severity }) => `${severity} ${code}`);
    expect(told(preflight)).toEqual(told((await inspect(request, { models: [] })).findings));
    for (const [code, fix] of Object.entries(expected)) {
      const found = preflight.find((finding) => finding.code === code);
      expect(found, code).toBeDefined();
      if (fix !== undefined) expect(found?.fix).toBe(fix);
    }
  });

  it('give offsets from the first frames of the files, whatever the offset in use', async () => {
    const distorted = copy('late.mp4', CHANGES[0]?.[1] ?? '');
    const used = async (offset: number) => {
      const { preflight = [] } = await score({ reference: master(), distorted }, { ...PSNR, offset });
      return preflight.find(({ code }) => code === 'offset')?.fix;
    };
    for (const offset of tier([-3], [-3, 2])) expect(await used(offset)).toBe('offset: 6');
    expect(await used(6)).toBeUndefined();
  });

  it('need no second opening of a video, unless the run is strict', async () => {
    const { platform, opened } = watchedPlatform(nodePlatform);
    const request = { reference: master(), distorted: copy('same.mp4', 'null') };
    await scorePair(platform, request, PSNR);
    expect(opened.map(({ input }) => input)).toEqual([request.reference, request.distorted]);
    await scorePair(platform, request, { ...PSNR, strict: true });
    expect(opened.length).toBeGreaterThan(4);
  });
});

it('two stored videos of one format are checked by what they declare', async () => {
  const request = storedPair(testFolder(), 'small', y4mPair(SMALL, 4));
  for (const threads of [0, 1]) {
    const { preflight } = await score(request, { models: ['version=vmaf_4k_v0.6.1'], threads });
    const warning = { code: 'model-size', severity: 'warning', fix: "models: ['auto']" };
    expect(preflight).toContainEqual(expect.objectContaining(warning));
  }
});

afterEach(() => vi.restoreAllMocks());

function broken(): never {
  throw new TypeError('table is undefined');
}

describe.runIf(hasFfmpeg)(`a defect of preflight, ${needsFfmpeg}`, () => {
  const request = () => ({
    reference: encode({ codec: 'ffv1', source: 'mandelbrot', size: '96x64', frames: 30 }),
    distorted: encode({ codec: 'h264', source: 'mandelbrot', size: '96x64', frames: 30 }),
  });
  let known: ReturnType<typeof score> | undefined;
  const unbroken = () => {
    known ??= score(request(), PSNR);
    return known;
  };
  const breaks = {
    'in a frame that is checked': () => vi.spyOn(FrameMeter.prototype, 'add').mockImplementation(broken),
    'in a thumbnail': () => vi.spyOn(PassingThumbs.prototype, 'add').mockImplementation(broken),
    'in the search': () => vi.spyOn(PassingThumbs.prototype, 'readTo').mockImplementation(broken),
  };

  type Place = keyof typeof breaks;
  it.each(Object.keys(breaks) as Place[])('is reported, and the pair scored: %s', async (where) => {
    const whole = await unbroken();
    breaks[where]();
    const { preflight = [], frames } = await score(request(), PSNR);
    expect(frames).toEqual(whole.frames);
    expect(preflight[0]).toMatchObject({ code: 'unchecked', severity: 'warning' });
    expect(preflight[0]?.message).toContain('Preflight could not check the pictures');
    expect(preflight[0]?.message).toContain('table is undefined.');
  });

  it('makes a strict run refuse the pair', async () => {
    breaks['in a frame that is checked']();
    await expect(score(request(), { ...PSNR, strict: true })).rejects.toThrow('table is undefined');
  });
});

const moving = { source: 'testsrc2', frames: 400 };
const size = '96x64';
const request = () => ({
  reference: film({ size, parts: [moving] }),
  distorted: film({ size, parts: [{ ...moving, filter: 'trim=start_frame=340,setpts=PTS-STARTPTS' }] }),
});
const codesOf = (findings: readonly { readonly code: string }[] = []) => findings.map(({ code }) => code);
it.runIf(hasFfmpeg)(
  `an offset of many seconds is found before and during a run, ${needsFfmpeg}`,
  async () => {
    const aligned = expect.not.arrayContaining(['offset']);
    for (const [offset, expected] of [
      [340, aligned],
      [330, expect.arrayContaining(['offset'])],
    ] as const) {
      const found = [codesOf((await score(request(), { ...PSNR, offset })).preflight)];
      if (exhaustive || offset === 330) found.push(codesOf((await inspect(request(), { offset })).findings));
      for (const codes of found) {
        expect(codes).not.toContain('unchecked');
        expect(codes).toEqual(expected);
      }
    }
  },
);

describe.runIf(hasFfmpeg)(`videos of a single frame, ${needsFfmpeg}`, () => {
  const first = (name: string, ...options: readonly string[]) =>
    makeFile(
      name,
      ...['-f', 'lavfi', '-i', 'mandelbrot=s=128x96:r=25', '-frames:v', '1', '-pix_fmt', 'yuv420p'],
      ...options,
    );
  const y4m = () => first('one.y4m');
  const mp4 = () => first('one.mp4', '-c:v', 'libx264', '-crf', '30');

  it('are compared in colour', async () => {
    const grey = first('one-grey.mp4', '-vf', 'hue=s=0');
    const { findings } = await inspect({ reference: mp4(), distorted: grey });
    expect(findings).toContainEqual(expect.objectContaining({ code: 'chroma', distorted: 'grey' }));
  });

  it('are a pair if Y4M is paired by times', async () => {
    const request = { reference: y4m(), distorted: y4m() };
    expect((await score(request, { ...PSNR, frameRatePolicy: 'nearest' })).frameCount).toBe(1);
  });

  it('are refused with a reason if nothing is left to compare', async () => {
    const request = { reference: mp4(), distorted: mp4() };
    await expect(score(request, { ...PSNR, offset: 5 })).rejects.toThrow(/no frames to score: .+ the offset/);
  });
});

it.runIf(hasFfmpeg)(
  `colours of a stream of unknown length are compared at the same moments, ${needsFfmpeg}`,
  async () => {
    const picture = 'testsrc2=s=96x54:r=25:d=2,hue=h=360*t';
    const distorted = makeFile('hues.mp4', '-f', 'lavfi', '-i', picture, '-pix_fmt', 'yuv420p');
    const copy = ['-i', distorted, '-c', 'copy', '-bsf:v', 'h264_mp4toannexb', '-f', 'h264'];
    const reference = makeFile('hues.264', ...copy);
    const { findings } = await inspect({ reference, distorted });
    expect(findings.map(({ code }) => code)).not.toContain('chroma');
    const grey = makeFile('hues-gone.mp4', '-i', distorted, '-vf', 'hue=s=0');
    const lost = await inspect({ reference, distorted: grey });
    expect(lost.findings).toContainEqual(expect.objectContaining({ code: 'chroma', distorted: 'grey' }));
  },
);
