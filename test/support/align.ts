/**
 * @module test/support/align
 * Luma made for alignment: content that moves, stands still or repeats, shifted and distorted.
 */
import { alignThumbs } from '../../src/media/align/index.js';
import { RecordedThumbs } from '../../src/media/align/recorded.js';
import type { AlignOptions, AlignResult, LumaReader } from '../../src/media/align/types.js';
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

/** A video of some content. */
export function video(content: Content, treatment: Treatment = {}): LumaReader {
  const {
    width = 64,
    height = 36,
    bitDepth = 8,
    from = 0,
    frames = 160,
    quantiser = 0,
    noise = 0,
  } = treatment;
  const { gain = 1, bias = 0, gamma = 1, order = (index: number) => index, seed = 1 } = treatment;
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

/** The offset between two videos, from some frames of each on. */
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
