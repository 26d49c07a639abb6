/**
 * @module mcp/samples
 * A pair of sample videos to try the tools with. Each file is generated on first use, so that no video ships.
 */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { VideoFormat } from '../core/frame.js';
import type { SamplePlane } from '../sample/generator.js';
import type { ResourceEntry } from './context.js';

const ADDRESS = 'anyvmaf://samples';

/** Raw files first. */
const NAMES = [
  'reference_576x324.yuv',
  'distorted_576x324.yuv',
  'reference_576x324.y4m',
  'distorted_576x324.y4m',
] as const;

type SampleName = (typeof NAMES)[number];

const FORMAT: VideoFormat = { width: 576, height: 324, bitDepth: 8, chroma: '420' };

/** Frames of each sample; the scene changes in the middle. */
const FRAMES = 24;

export const SAMPLES: ResourceEntry = {
  uri: ADDRESS,
  name: 'samples',
  mimeType: 'application/json',
  description:
    'A generated pair of videos to try the tools with: paths, format, and the arguments to score it.',
};

export function describeSamples(): object {
  const { width, height, chroma, bitDepth } = FORMAT;
  const geometry = { width, height, pixfmt: chroma, bitdepth: bitDepth };
  const [ref, dis] = NAMES.map((name) => `${ADDRESS}/${name}`);
  return {
    about:
      'A generated pair, the distorted video blurred, quantised in blocks and noisy. Every name is also a path.',
    format: { ...geometry, frames: FRAMES },
    files: NAMES.map((name) => `${ADDRESS}/${name}`),
    example: { name: 'vmaf_score', arguments: { ref, dis, ...geometry } },
  };
}

export class Samples {
  readonly #folder: () => Promise<string>;
  readonly #made = new Map<SampleName, Promise<string>>();

  constructor(folder: () => Promise<string>) {
    this.#folder = folder;
  }

  pathOf(uri: string): Promise<string> | undefined {
    const name = NAMES.find((one) => uri === `${ADDRESS}/${one}`);
    if (name === undefined) return undefined;
    const known = this.#made.get(name);
    if (known) return known;
    const made = this.#folder().then((folder) => writeSample(name, folder));
    made.catch(() => this.#made.delete(name));
    this.#made.set(name, made);
    return made;
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#made.values());
  }
}

async function writeSample(name: SampleName, folder: string): Promise<string> {
  const [{ makeSample }, { sampleBytes, y4mHeader }] = await Promise.all([
    import('../sample/generator.js'),
    import('../sample/files.js'),
  ]);
  const side = name.startsWith('reference') ? 'reference' : 'distorted';
  const y4m = name.endsWith('.y4m');
  const clip = makeSample(FORMAT, { seed: 2026, cut: FRAMES / 2 });
  const path = join(folder, name);
  const file = await open(path, 'w', 0o600);
  try {
    if (y4m) await file.write(y4mHeader(FORMAT));
    for (let index = 0; index < FRAMES; index++) {
      if (y4m) await file.write('FRAME\n');
      for (const plane of clip.frame(side, index) satisfies SamplePlane[])
        await file.write(sampleBytes(plane));
    }
  } finally {
    await file.close();
  }
  return path;
}
