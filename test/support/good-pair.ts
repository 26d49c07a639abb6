/**
 * @module test/support/good-pair
 * Facts of a pair of which preflight has nothing to say, to change in what a test is about; times of frames, and colours.
 */
import type { AlignResult } from '../../src/media/align/types.js';
import type { TrackFacts } from '../../src/media/decoder.js';

export const REFERENCE: TrackFacts = {
  name: 'master.mov',
  container: 'mov,mp4,m4a,3gp,3g2,mj2',
  codec: 'h264',
  pixelFormat: 'yuv420p',
  width: 1920,
  height: 1080,
  bitDepth: 8,
  chroma: '420',
  frameRate: { num: 25, den: 1 },
  frameCount: 250,
  duration: 10,
  startTime: 0,
  bitrate: 20_000_000,
  fileSize: 25_000_000,
  rotation: 0,
  fieldOrder: 'progressive',
};

export const DISTORTED: TrackFacts = {
  ...REFERENCE,
  ...{ name: 'encode.mp4', bitrate: 4_000_000, fileSize: 5_000_000 },
};

/** Pictures that go together from the first on. */
export const ALIGNED: AlignResult = {
  offset: 0,
  confidence: 1,
  candidates: [{ offset: 0, similarity: 0.999 }],
  compared: 100,
  ambiguous: false,
  reason: 'clear',
  explanation: 'Distorted frame 0 shows reference frame 0, over 100 pairs.',
  similarity: 0.999,
  levels: { gain: 1, bias: 0 },
  repeated: { reference: 0, distorted: 0 },
};

/** Numbers in order. */
export const upTo = (count: number, first = 0) => Array.from({ length: count }, (_, n) => first + n);

/** Times of frames at a constant rate, of those that are left, and on a clock. */
export const cfr = (frames: number, rate: number) =>
  Float64Array.from({ length: frames }, (_, n) => n / rate);
export const without = (times: Float64Array, ...frames: readonly number[]) =>
  times.filter((_, n) => !frames.includes(n));
export const rounded = (times: Float64Array, clock = 0.001) =>
  times.map((time) => Math.round(time / clock) / Math.round(1 / clock));

const WEIGHTS = { 601: [0.299, 0.114], 709: [0.2126, 0.0722] } as const;

/** Colours of a picture by a matrix, as ITU-R defines it. */
export function coloursBy(matrix: keyof typeof WEIGHTS, saturation: number, noise = 0) {
  const [kr, kb] = WEIGHTS[matrix];
  const boxes = Array.from({ length: 256 }, (_, i) => {
    const grey = 0.2 + (0.6 * ((i * 37) % 256)) / 256;
    const [r = 0, g = 0, b = 0] = [7, 11, 13].map((by) => grey + saturation * Math.sin(i * by));
    const y = kr * r + (1 - kr - kb) * g + kb * b;
    const jitter = noise * Math.sin(i * 97);
    return [
      16 + 219 * y + jitter,
      128 + (112 * (b - y)) / (1 - kb) - jitter,
      128 + (112 * (r - y)) / (1 - kr) + jitter,
    ] as const;
  });
  const plane = (k: 0 | 1 | 2) => Float32Array.from(boxes, (box) => box[k]);
  return { y: plane(0), cb: plane(1), cr: plane(2) };
}
