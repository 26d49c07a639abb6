/**
 * Reading in blocks gives the bytes that reading without gives, and asks for few.
 */
import { describe, expect, it } from 'vitest';
import { BlockReader } from '../../../src/media/block-reader.js';
import { bytesReader } from '../../../src/media/readers.js';
import { seeded } from '../../support/random.js';

const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 89 + (i >> 3)) & 255);

describe('a reader of blocks', () => {
  it('fills parts anywhere with what is there, and no more at the end', async () => {
    const random = seeded(Date.now());
    const plain = bytesReader(bytes);
    const blocks = new BlockReader(bytesReader(bytes), { bytes: 64, kept: 3 });
    for (let i = 0; i < 500; i++) {
      const position = random.int(0, 1050);
      const lengths = [random.int(0, 200), random.int(0, 200)];
      const parts = () => lengths.map((length) => new Uint8Array(length));
      const [wanted, got] = [parts(), parts()];
      const count = await blocks.read(position, got);
      expect(count, `seed ${random.seed}, ${position}: ${lengths}`).toBe(await plain.read(position, wanted));
      expect(got).toEqual(wanted);
    }
  });

  it('reads each block once while it is kept', async () => {
    const fetched: number[] = [];
    const blocks = new BlockReader(bytesReader(bytes), { bytes: 100, kept: 2 }, (block) =>
      fetched.push(block),
    );
    const read = (position: number) => blocks.read(position, [new Uint8Array(10)]);
    for (const position of [0, 50, 95, 0, 150, 250, 10]) await read(position);
    // 95 reaches into the second; the third puts out the first, which was used before the second.
    expect(fetched).toEqual([0, 1, 2, 0]);
  });
});
