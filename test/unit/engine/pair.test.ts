/**
 * @module test/unit/engine/pair
 * One pair of frames that cannot be read: the error is told once, and nothing of the other read is left over.
 */
import { describe, expect, it } from 'vitest';
import type { FramePlanes } from '../../../src/core/frame.js';
import { readPair } from '../../../src/engine/inputs/pair.js';
import type { FrameSource } from '../../../src/media/types.js';

const planes = {} as FramePlanes;
const source = (readFrame: FrameSource['readFrame']) =>
  ({ readFrame, seekable: true }) as unknown as FrameSource;
const later = (what: string) => new Promise<boolean>((_, reject) => setTimeout(reject, 5, new Error(what)));

describe('a pair that cannot be read', () => {
  it('leaves no rejection behind where one read fails at once and the other later', async () => {
    const left: unknown[] = [];
    const note = (reason: unknown) => left.push(reason);
    process.on('unhandledRejection', note);
    try {
      const pair = {
        reference: source(() => later('late')),
        distorted: source(() => {
          throw new Error('at once');
        }),
        skipReference: 0,
        skipDistorted: 0,
      };
      expect(() => readPair(pair, 0, planes, planes)).toThrow('at once');
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(left).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
    }
  });
});
