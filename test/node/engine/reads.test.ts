/**
 * @module test/node/engine/reads
 * What a run reads: pictures that no metric looks at are only looked for, and results are those of reading all.
 */
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import type { ScoreOptions } from '../../../src/engine/contract/types.js';
import { scorePair } from '../../../src/engine/score.js';
import type { FrameSource } from '../../../src/media/types.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import { file, ownSource, results, SMALL, scratchFolder, y4mPair } from '../../support/clips.js';
import { failure } from '../../support/media.js';

const FRAMES = 7;
/** Large enough for every metric that is asked for. */
const FORMAT: VideoFormat = { ...SMALL, width: 216, height: 176 };
const pair = y4mPair(FORMAT, FRAMES);
const folder = scratchFolder();

/** A side that can be asked for a frame without reading it, and the numbers of frames that were read. */
function watched(side: 'reference' | 'distorted') {
  const read: number[] = [];
  const plain = ownSource(pair.clip, side, FRAMES, {
    seekable: true,
    frameCount: FRAMES,
    onRead: (index) => void read.push(index),
  });
  const source: FrameSource = { ...plain, checkFrame: (index) => index < FRAMES };
  return { read, plain, source };
}

async function reads(options: ScoreOptions) {
  const run = { noPrediction: true, threads: 0, ...options };
  const [reference, distorted] = [watched('reference'), watched('distorted')];
  const report = await scorePair(
    nodePlatform,
    { reference: reference.source, distorted: distorted.source },
    run,
  );
  const found = { reference: reference.read.slice(), distorted: distorted.read.slice() };
  // Sources without that way are read.
  const all = await scorePair(nodePlatform, { reference: reference.plain, distorted: distorted.plain }, run);
  expect(distorted.read.length - found.distorted.length).toBe(FRAMES);
  expect(results(report)).toEqual(results(all));
  return found;
}

const every = Array.from({ length: FRAMES }, (_, i) => i);

describe('a run reads', () => {
  it.each(['motion', 'motion=motion_five_frame_window=true', 'float_motion'])(
    'no distorted frame for %s',
    async (feature) => {
      expect(await reads({ features: [feature] })).toEqual({ reference: every, distorted: [] });
    },
  );

  it.each(['psnr', 'vif', 'adm', 'cambi', 'speed_temporal', 'speed_chroma'])(
    'both videos for %s',
    async (feature) => {
      expect(await reads({ features: [feature] })).toEqual({ reference: every, distorted: every });
    },
  );

  it('of pairs that subsampling leaves out what works on every frame', async () => {
    const listed = [0, 3, 6];
    const subsample = 3;
    expect(await reads({ features: ['vif'], subsample })).toEqual({ reference: listed, distorted: listed });
    expect(await reads({ features: ['adm', 'motion'], subsample })).toEqual({
      reference: every,
      distorted: listed,
    });
    expect(await reads({ features: ['psnr'], subsample })).toEqual({ reference: every, distorted: every });
    expect(await reads({ features: ['speed_temporal'], subsample })).toEqual({
      reference: every,
      distorted: every,
    });
  });
});

describe('a distorted video of which nothing is read', () => {
  const options = { noPrediction: true, features: ['motion'] };
  const reference = file(folder, 'reference.y4m', pair.reference);
  const damagedAt = pair.distorted.slice();
  const frame = 6 + (3 * FORMAT.width * FORMAT.height) / 2;

  it.each([0, 1, 2])('is refused where it is cut, %i threads', async (threads) => {
    for (const cut of [1, 500, frame - 7]) {
      const distorted = file(folder, `cut-${cut}.y4m`, pair.distorted.slice(0, -cut));
      const run = () => scorePair(nodePlatform, { reference, distorted }, { ...options, threads });
      expect(await failure(run, 'media'), `${cut} bytes`).toMatch(/frame 6 of .* is incomplete/);
    }
  });

  it.each([0, 1, 2])('ends the run where it ends, %i threads', async (threads) => {
    const distorted = file(folder, 'short.y4m', pair.distorted.slice(0, -2 * frame));
    const report = await scorePair(nodePlatform, { reference, distorted }, { ...options, threads });
    expect(report.frameCount).toBe(FRAMES - 2);
  });

  it('is refused where frames are not where they should be', async () => {
    damagedAt.set([0x58], damagedAt.length - 3 * frame);
    const distorted = file(folder, 'damaged.y4m', damagedAt);
    const run = () => scorePair(nodePlatform, { reference, distorted }, { ...options, threads: 1 });
    expect(await failure(run, 'media')).toMatch(/frame 4 of/);
  });
});
