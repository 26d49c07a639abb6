/**
 * @module test/node/wasm/narrow
 * The smallest pictures, in the module that ships: every metric of the default model measures them again and again, and
 * SIMD gives what portable C gives. (guards.test.ts looks at the memory itself, where a compiler is installed.)
 */
import { describe, expect, it } from 'vitest';
import { score } from '../../../src/index.js';
import { sampleSource } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';

describe('pictures of 17 to 20 columns', () => {
  it.each([17, 18, 19, 20])('%i columns, 17 to 24 rows', async (width) => {
    for (let height = 17; height <= 24; height++) {
      const clip = makeSample({ width, height, bitDepth: 8, chroma: '420' }, { seed: height });
      const pair = () => ({
        reference: sampleSource(clip, 'reference', 3),
        distorted: sampleSource(clip, 'distorted', 3),
      });
      const [simd, portable] = await Promise.all(
        (['simd128', 'portable'] as const).map((implementation) =>
          score(pair(), { threads: 0, implementation }),
        ),
      );
      expect(simd?.frames, `${width}x${height}`).toEqual(portable?.frames);
    }
  });
});
