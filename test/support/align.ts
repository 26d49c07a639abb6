/**
 * @module test/support/align
 * Pairs for alignment and preflight: luma that moves, stands still or repeats, shifted and distorted; and the facts of a pair
 * without problems, for tests to change.
 */
import { alignThumbs } from '../../src/media/align/index.js';
import { RecordedThumbs } from '../../src/media/align/thumbs.js';
import type { TrackFacts } from '../../src/media/decoder.js';
import type { AlignOptions, AlignResult, LumaReader } from '../../src/media/pairing/types.js';
import type { FrameSource } from '../../src/media/types.js';
import { seeded } from './random.js';

/** Luma of frame `index` at (x, y), 0..255. */
export interface Content {
  (index: number, x: number, y: number): number;
  /** The first frame that shows the same as a frame. Default: itself. */
  readonly shows?: (index: number) => number;
}

/** Discs and waves that move at different speeds and never come back. */
export function moving(seed: number): Content {
  const random = seeded(seed);
  const objects = Array.from({ length: 6 }, () => ({
    x: random.next(),
    y: random.next(),
    dx: (random.next() - 0.5) * 0.021,
    dy: (random.next() - 0.5) * 0.017,
    r: 0.05 + 0.12 * random.next(),
    level: 30 + 195 * random.next(),
  }));
  const wrap = (value: number) => value - Math.floor(value);
  return (index, x, y) => {
    let value = 120 + 30 * Math.sin(9 * x + 0.031 * index) + 25 * Math.cos(7 * y - 0.017 * index);
    for (const { x: cx, y: cy, dx, dy, r, level } of objects) {
      const across = wrap(x - cx - dx * index + 0.5) - 0.5;
      const down = wrap(y - cy - dy * index + 0.5) - 0.5;
      if (across * across + down * down < r * r) value = level;
    }
    return value;
  };
}

/** The same picture for ever. */
export function still(seed: number): Content {
  return repeating(seed, 1);
}

/** The same `period` pictures over and over. */
export function repeating(seed: number, period: number): Content {
  const content = moving(seed);
  const shows = (index: number) => index % period;
  return Object.assign((index: number, x: number, y: number) => content(shows(index), x, y), { shows });
}

/** Pictures of a content by size and frame: videos of one content draw each once. */
const drawn = new WeakMap<Content, Map<string, Float64Array>>();

function draw(content: Content, index: number, width: number, height: number): Float64Array {
  const pictures = drawn.get(content) ?? new Map<string, Float64Array>();
  drawn.set(content, pictures);
  const shown = content.shows?.(index) ?? index;
  const key = `${width}x${height} ${shown}`;
  const before = pictures.get(key);
  if (before) return before;
  const picture = new Float64Array(width * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      picture[y * width + x] = content(shown, (x + 0.5) / width, (y + 0.5) / height);
  pictures.set(key, picture);
  return picture;
}

/** What happens to a video. */
export interface Treatment {
  readonly width?: number;
  readonly height?: number;
  readonly bitDepth?: number;
  /** Frames of the content left out at the start. */
  readonly from?: number;
  readonly frames?: number;
  /** Step, in levels, to which samples are quantised. */
  readonly quantiser?: number;
  /** Amplitude in levels of noise. */
  readonly noise?: number;
  readonly gain?: number;
  readonly bias?: number;
  /** Exponent of the tone curve. */
  readonly gamma?: number;
  /** Picture shown at each frame, as a number from `from` on. Default: each after the other. */
  readonly order?: (index: number) => number;
  readonly seed?: number;
}

export function video(content: Content, treatment: Treatment = {}): LumaReader {
  const { width = 64, height = 36, bitDepth = 8, from = 0, frames = 160, seed = 1 } = treatment;
  const { quantiser = 0, noise = 0, gain = 1, bias = 0, gamma = 1 } = treatment;
  const { order = (index: number) => index } = treatment;
  const unit = 2 ** (bitDepth - 8);
  return {
    info: { width, height, bitDepth, chroma: '400', frameCount: frames },
    readFrame(index, { y: into }) {
      if (index >= frames) return false;
      const random = seeded(seed * 4099 + index);
      const picture = draw(content, from + order(index), width, height);
      for (let at = 0; at < picture.length; at++) {
        let value = Math.max(0, picture[at] ?? 0);
        if (gamma !== 1) value = 255 * (value / 255) ** gamma;
        value = value * gain + bias;
        if (noise > 0) value += noise * (2 * random.next() - 1);
        if (quantiser > 0) value = quantiser * Math.round(value / quantiser);
        const sample = Math.max(0, Math.min(255 * unit, Math.round(value * unit)));
        if (bitDepth === 8) into[at] = sample;
        else into.set([sample & 255, sample >> 8], 2 * at);
      }
      return true;
    },
  };
}

/** The offset between two videos, each read from a start frame on. */
export function align(
  reference: LumaReader,
  distorted: LumaReader,
  options: AlignOptions = {},
  start = { reference: 0, distorted: 0 },
): Promise<AlignResult> {
  const thumbs = (reader: LumaReader, from: number) => {
    const source = { ...reader, close() {} } as FrameSource;
    return new RecordedThumbs(async () => ({ source, start: from })).reader(Number.POSITIVE_INFINITY);
  };
  return alignThumbs(thumbs(reference, start.reference), thumbs(distorted, start.distorted), options);
}

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

export const DISTORTED = { ...REFERENCE, name: 'encode.mp4', bitrate: 4_000_000, fileSize: 5_000_000 };

/** Aligned from the first frame on. */
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
