/** Frames lost in the middle (src/engine/inputs/continuity.ts): told however the frames are read, and where they were not watched. */
import { describe, expect, it } from 'vitest';
import { formatReport, inspect, score, trustOf } from '../../../src/index.js';
import { readReport } from '../../../src/report/read.js';
import { summarize } from '../../../src/report/summary.js';
import { y4mFrame, y4mHeader } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { file, scratchFolder, streamOf } from '../../support/clips.js';

const QUICK = { noPrediction: true, features: ['psnr'] } as const;
const FORMAT = { width: 128, height: 96, bitDepth: 8, chroma: '420' } as const;
const FRAMES = 120;

describe('frames lost in the middle', () => {
  const clip = makeSample(FORMAT, { seed: 5 });
  const video = (side: 'reference' | 'distorted', order: (n: number) => number) =>
    Buffer.concat([
      Buffer.from(y4mHeader(FORMAT)),
      ...Array.from({ length: FRAMES }, (_, n) =>
        Buffer.from(y4mFrame(clip, side, Math.min(FRAMES - 1, order(n)))),
      ),
    ]);
  const folder = scratchFolder();
  const reference = file(
    folder,
    'r.y4m',
    video('reference', (n) => n),
  );
  const whole = file(
    folder,
    'whole.y4m',
    video('distorted', (n) => n),
  );
  const lossy = video('distorted', (n) => (n < 60 ? n : n + 10));
  const distorted = file(folder, 'd.y4m', lossy);
  const slip = {
    code: 'slip',
    severity: 'error',
    message: expect.stringContaining('From frame 60 on distorted runs 10 frames ahead of reference'),
    places: [{ frame: 60, frames: 10 }],
  };

  it.each([0, 1, 2])('are told with %i workers that read files', async (threads) => {
    const { preflight = [] } = await score({ reference, distorted }, { ...QUICK, threads });
    expect(preflight).toContainEqual(expect.objectContaining(slip));
    const good = await score({ reference, distorted: whole }, { ...QUICK, threads });
    expect(good.preflight?.map(({ code }) => code)).not.toContain('slip');
  });

  it.each([0, 2])('are told with %i workers that are sent frames', async (threads) => {
    const request = { reference, distorted: streamOf(Uint8Array.from(lossy)) };
    const { preflight = [] } = await score(request, { ...QUICK, threads });
    expect(preflight).toContainEqual(expect.objectContaining(slip));
  });

  it('do not change the values', async () => {
    const [watched, not] = await Promise.all(
      [true, false].map((preflight) => score({ reference, distorted }, { ...QUICK, preflight, threads: 1 })),
    );
    expect(watched?.frames).toEqual(not?.frames);
    expect(not?.preflight).toBeUndefined();
  });

  it('stand in the report with their places, and near the score', async () => {
    const report = await score({ reference, distorted }, { ...QUICK, threads: 1 });
    const read = readReport(formatReport(report, 'json'));
    expect(read.preflight).toContainEqual(expect.objectContaining({ code: 'slip', places: slip.places }));
    expect(summarize(report)).toContain('From frame 60 on distorted runs');
  });

  it('refuse a pair that must be without objection', async () => {
    const strict = score({ reference, distorted }, { ...QUICK, strict: true, threads: 1 });
    await expect(strict).rejects.toThrow('From frame 60 on distorted runs 10 frames ahead');
  });

  it('are not looked for where only some frames are scored, which is said', async () => {
    const { preflight = [] } = await score({ reference, distorted }, { ...QUICK, subsample: 2, threads: 1 });
    const said = preflight.find(({ code }) => code === 'unwatched');
    expect(said).toMatchObject({ severity: 'info' });
    expect(said?.message).toContain('only one frame in 2 is scored');
  });
});

describe('an offset that is searched', () => {
  const folder = scratchFolder();
  /** Scenes of a film, each moving. */
  const scenes = [70, 50, 60, 60].map((frames, n) => ({
    frames,
    clip: makeSample(FORMAT, { seed: n + 21 }),
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

  it('is found beyond the first window, by looking further', async () => {
    const { pairing } = await score({ reference, distorted: late }, { ...QUICK, offset: 'auto' });
    expect(pairing?.frames).toMatchObject({ offset: 75, offsetState: 'found' });
  });

  it('is not called found where the window that was asked for does not reach it', async () => {
    const options = { ...QUICK, offset: 'auto', window: 50 } as const;
    const report = await score({ reference, distorted: late }, options);
    expect(report.pairing?.frames.offsetState).not.toBe('found');
    // A wrong pair stays one: a search that found nothing is no reason to believe the score more.
    expect(trustOf(report).verdict).toBe('untrusted');
    const doubt = report.preflight?.find(({ code }) => code === trustOf(report).codes[0]);
    expect(doubt).toMatchObject({ severity: 'warning', hint: { option: 'window', value: 500 } });
    expect(doubt?.message).toContain(
      `The offset was searched and not found; ${report.pairing?.frames.offset} is used`,
    );
    expect(summarize(report)).toMatch(/offset -?\d+ \((not found|ambiguous), a guess/);
    await expect(score({ reference, distorted: late }, { ...options, strict: true })).rejects.toThrow(
      'The offset was searched and not found',
    );
    const { warnings } = await score({ reference, distorted: late }, { ...options, preflight: false });
    expect(warnings.join(' ')).toContain('The offset was searched and not found');
  });

  it('is not called found where nothing moves', async () => {
    const report = await score({ reference: standing, distorted: standingToo }, { ...QUICK, offset: 'auto' });
    expect(report.pairing?.frames).toMatchObject({ offset: 0, offsetState: 'ambiguous' });
    const doubt = report.preflight?.find(({ code }) => code === 'offset-unclear');
    expect(doubt).toMatchObject({ severity: 'warning', message: expect.stringContaining('0 is used') });
  });

  it('says how far to search only where it is searched', async () => {
    await expect(inspect({ reference, distorted: late }, { window: 100 })).rejects.toThrow('window is 100');
    await expect(score({ reference, distorted: late }, { offset: 'auto', window: 0 })).rejects.toThrow(
      'window is 0',
    );
  });
});
