/**
 * @module test/node/web/frames-reader
 * Reading pairs in any order gives the pairs that reading each by itself gives, opens the files once, and waiting can be ended.
 */
import { createHash } from 'node:crypto';
import { extractFrames, type FramePair } from 'anyvmaf';
import { describe, expect, it, vi } from 'vitest';
import { PairReader } from '../../../web/src/frames/reader.js';
import { encode, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';

const FRAMES = 60;

const hash = ({ reference, distorted }: FramePair) => {
  const all = createHash('sha256');
  for (const { planes } of [reference, distorted])
    for (const plane of [planes.y, planes.cb, planes.cr]) all.update(plane ?? '');
  return all.digest('hex');
};

describe.skipIf(!hasFfmpeg)(`pairs in any order${hasFfmpeg ? '' : ` (${needsFfmpeg})`}`, () => {
  const request = () => ({
    reference: encode({ codec: 'h264', frames: FRAMES, size: '64x48' }),
    distorted: encode({ codec: 'h264', frames: FRAMES, size: '64x48', extra: ['-crf', '40'] }),
  });
  const never = new AbortController().signal;

  it('are the pairs with these numbers: forwards, backwards, near and far', async () => {
    const expected: string[] = [];
    const all = Array.from({ length: FRAMES }, (_, i) => i);
    for await (const pair of extractFrames(request(), all, {})) expected.push(hash(pair));
    // Counts how often files are opened.
    const opens = vi.fn(extractFrames);
    const reader = new PairReader(request(), {}, opens);
    const order = [10, 11, 12, 9, 40, 41, 59, 0, 2, 2, 58, 30];
    for (const index of order) {
      const pair = await reader.get(index, never);
      expect([pair.index, hash(pair)]).toEqual([index, expected[index]]);
    }
    // Jumps of seconds in long files came from opening them again.
    expect(opens).toHaveBeenCalledOnce();
    reader.close();
  });

  it('come when asked for at once, those that are given up included', async () => {
    const reader = new PairReader(request(), {});
    const stop = new AbortController();
    const given = reader.get(50, stop.signal);
    const wanted = [3, 45, 4].map((index) => reader.get(index, never));
    stop.abort(new Error('given up'));
    await expect(given).rejects.toThrow('given up');
    const pairs = await Promise.all(wanted);
    expect(pairs.map(({ index }) => index)).toEqual([3, 45, 4]);
    expect((await reader.get(50, never)).index).toBe(50);
    reader.close();
  });

  it('that are not there are refused, and others still come', async () => {
    const reader = new PairReader(request(), {});
    await expect(reader.get(FRAMES, never)).rejects.toThrow(`frame ${FRAMES} was asked for`);
    expect((await reader.get(1, never)).index).toBe(1);
    reader.close();
  });
});
