/**
 * @module web/sample/functions
 * Makes a short pair of videos, as Y4M in memory: moving texture and objects, and an encode that is blurred and blocky, for a
 * second much more so.
 */
import { y4mFrame, y4mHeader } from 'anyvmaf/sample/files';
import { makeSample, type SampleSide } from 'anyvmaf/sample/generator';

const FORMAT = { width: 480, height: 270, bitDepth: 8, chroma: '420' } as const;
const FRAMES = 75;
/** Frames of the encode that are worse than the others. */
const BAD = { from: 34, to: 46 } as const;

const CONTENT = { seed: 11, cut: 52 } as const;

export interface SamplePair {
  readonly reference: Blob;
  readonly distorted: Blob;
}

export const sampler = {
  async make(_: null): Promise<SamplePair> {
    const mild = makeSample(FORMAT, { ...CONTENT, distortion: { blur: 2, quantiser: 6 } });
    const bad = makeSample(FORMAT, { ...CONTENT, distortion: { blur: 7, quantiser: 12 } });
    const file = (side: SampleSide): Blob => {
      const parts: BlobPart[] = [y4mHeader(FORMAT)];
      for (let i = 0; i < FRAMES; i++)
        parts.push(y4mFrame(i >= BAD.from && i < BAD.to ? bad : mild, side, i));
      return new Blob(parts);
    };
    return { reference: file('reference'), distorted: file('distorted') };
  },
};

export type Sampler = typeof sampler;
