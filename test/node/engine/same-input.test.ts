/**
 * @module test/node/engine/same-input
 * One file that is given twice is scored, and said to be one.
 */
import { describe, expect, it } from 'vitest';
import { inspect, score } from '../../../src/index.js';
import { y4mFile } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { file, scratchFolder } from '../../support/clips.js';

const QUICK = { noPrediction: true, features: ['psnr'], threads: 1 } as const;

describe('a file that is compared with itself', () => {
  const clip = makeSample({ width: 64, height: 64, bitDepth: 8, chroma: '420' }, { seed: 3 });
  const folder = scratchFolder();
  const bytes = y4mFile(clip, 'reference', 12);
  const reference = file(folder, 'a.y4m', bytes);
  const copy = file(folder, 'copy.y4m', bytes);
  const encode = file(folder, 'd.y4m', y4mFile(clip, 'distorted', 12));

  it('is warned of', async () => {
    const { preflight = [] } = await score({ reference, distorted: reference }, QUICK);
    const found = preflight.find(({ code }) => code === 'identical');
    expect(found?.severity).toBe('warning');
    expect(found?.message).toContain(`are the same file, ${reference}`);
  });

  it('is warned of under another name', async () => {
    const { findings } = await inspect({ reference, distorted: copy });
    expect(findings.find(({ code }) => code === 'identical')?.message).toContain('hold the same bytes');
  });

  it('is said to be so only as far as it was compared', async () => {
    const large = new Uint8Array(4 << 20).map((_, i) => i % 251);
    const raw = { width: 1024, height: 1024, bitDepth: 8, chroma: '400' } as const;
    const found = async (other: Uint8Array) => {
      const files = { reference: file(folder, 'l.yuv', large), distorted: file(folder, 'm.yuv', other), raw };
      const { findings } = await inspect(files);
      return findings.find(({ code }) => code === 'identical')?.message;
    };
    expect(await found(large)).toContain('at all 64 places that were compared');
    // Between two of the places.
    expect(await found(large.with(40_000, 0))).toContain('at all 64 places that were compared');
    expect(await found(large.with(large.length - 1, 0))).toBeUndefined();
  });

  it('is no other file of the same size', async () => {
    const { findings } = await inspect({ reference, distorted: encode });
    expect(findings.map(({ code }) => code)).not.toContain('identical');
  });
});
