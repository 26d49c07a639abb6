/**
 * @module web/sample/functions
 * Makes a short pair of videos, as Y4M in memory: a film, and an encode of it that lacks bits for a while, as where an encoder
 * met a scene that it had not reckoned with.
 */
import { y4mFrame, y4mHeader } from 'anyvmaf/sample/files';
import { makeSample, type SampleSide } from 'anyvmaf/sample/generator';
import { makeFilm } from './film.js';

const FORMAT = { width: 480, height: 270, bitDepth: 8, chroma: '420' } as const;
/** Two seconds. */
const FRAMES = 50;
/** Frames of the encode that fall into blocks. */
const BAD = { from: 28, to: 38 } as const;

export interface SamplePair {
  readonly reference: Blob;
  readonly distorted: Blob;
}

export const sampler = {
  async make(_: null): Promise<SamplePair> {
    const paint = makeFilm(FORMAT.width, FORMAT.height);
    const mild = makeSample(FORMAT, { paint, distortion: { quantiser: 14 } });
    const bad = makeSample(FORMAT, { paint, distortion: { blur: 2, quantiser: 56 } });
    const header = y4mHeader(FORMAT);
    const files: Record<SampleSide, BlobPart[]> = { reference: [header], distorted: [header] };
    for (let i = 0; i < FRAMES; i++)
      for (const side of ['reference', 'distorted'] as const)
        files[side].push(y4mFrame(i >= BAD.from && i < BAD.to ? bad : mild, side, i));
    return { reference: new Blob(files.reference), distorted: new Blob(files.distorted) };
  },
};

export type Sampler = typeof sampler;
