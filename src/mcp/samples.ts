/**
 * @module mcp/samples
 * The pair of videos that comes with the server: computed when it is first asked for, so that no video ships.
 */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { VideoFormat } from '../core/frame.js';
import type { SamplePlane } from '../sample/generator.js';

/** The files, the raw pair first. */
export const SAMPLE_NAMES = [
  'reference_576x324.yuv',
  'distorted_576x324.yuv',
  'reference_576x324.y4m',
  'distorted_576x324.y4m',
] as const;

/** One of them. */
export type SampleName = (typeof SAMPLE_NAMES)[number];

/** What they are. */
export const SAMPLE_FORMAT: VideoFormat = { width: 576, height: 324, bitDepth: 8, chroma: '420' };

/** Frames of each; the scene changes in the middle. */
export const SAMPLE_FRAMES = 24;

/**
 * Writes one, frame by frame.
 * @returns its path
 */
export async function writeSample(name: SampleName, folder: string): Promise<string> {
  const [{ makeSample }, { sampleBytes, y4mHeader }] = await Promise.all([
    import('../sample/generator.js'),
    import('../sample/files.js'),
  ]);
  const side = name.startsWith('reference') ? 'reference' : 'distorted';
  const y4m = name.endsWith('.y4m');
  const clip = makeSample(SAMPLE_FORMAT, { seed: 2026, cut: SAMPLE_FRAMES / 2 });
  const path = join(folder, name);
  const file = await open(path, 'w', 0o600);
  try {
    if (y4m) await file.write(y4mHeader(SAMPLE_FORMAT));
    for (let index = 0; index < SAMPLE_FRAMES; index++) {
      if (y4m) await file.write('FRAME\n');
      for (const plane of clip.frame(side, index) satisfies SamplePlane[])
        await file.write(sampleBytes(plane));
    }
  } finally {
    await file.close();
  }
  return path;
}
