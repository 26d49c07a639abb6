/**
 * @module test/node/engine/raw-geometry
 * What scoring does with raw video that is no whole number of frames, or that shows another geometry than it was given.
 */
import { describe, expect, it } from 'vitest';
import { inspect, score } from '../../../src/index.js';
import { yuvFile } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';

const RAW = { width: 176, height: 144, bitDepth: 8, chroma: '420' } as const;
const clip = makeSample(RAW);
const [reference, distorted] = [yuvFile(clip, 'reference', 6), yuvFile(clip, 'distorted', 6)];
const cut = distorted.subarray(0, distorted.length - 1000);

describe('raw video that ends within a frame', () => {
  it('is refused however few frames are asked for, with the option that takes it', async () => {
    for (const options of [
      {},
      { frameCount: 2 },
      { scale: 'bicubic' },
      { range: { unit: 'frames', start: 0, end: 2 } },
    ] as const) {
      await expect(score({ reference, distorted: cut, raw: RAW }, options)).rejects.toThrow(
        /frame 5 of .* is incomplete: 38016 bytes expected, 37016 found; .*; check .*, or pass allowDamaged/,
      );
    }
  });

  it('is scored up to there when damage is allowed, with a warning', async () => {
    const report = await score({ reference, distorted: cut, raw: RAW }, { allowDamaged: true });
    expect(report.frameCount).toBe(5);
    expect(report.warnings).toContainEqual(
      expect.stringMatching(/ends within frame 5, of whose 38016 bytes 37016/),
    );
  });
});

describe('raw video of another geometry', () => {
  const turned = { ...RAW, width: 144, height: 176 };

  it('is refused, and the geometry that fits is named', async () => {
    await expect(score({ reference, distorted, raw: turned })).rejects.toThrow(
      /^Both videos cannot be 144x176 4:2:0 8 bit: .* Pass raw: \{ width: 176, height: 144, bitDepth: 8, chroma: '420' \}\.$/,
    );
    expect((await score({ reference, distorted, raw: turned }, { preflight: false })).frameCount).toBe(6);
  });

  it('is an error of an inspection, whose hint resolves it', async () => {
    const { findings } = await inspect({ reference, distorted, raw: turned });
    expect(findings[0]).toMatchObject({
      code: 'raw-geometry',
      severity: 'error',
      hint: { purpose: 'fix', option: 'raw', value: RAW },
    });
    const after = await inspect({ reference, distorted, raw: RAW });
    expect(after.findings.map(({ code }) => code)).not.toContain('raw-geometry');
  });
});
