/**
 * @module test/support/align
 * Luma made for alignment: content that moves, stands still or repeats, shifted and distorted.
 */
import type { LumaReader } from '../../src/media/align.js';
import { seeded } from './random.js';

/** Luma of frame `index` at (x, y), 0..255. */
export type Content = (index: number, x: number, y: number) => number;

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
  const content = moving(seed);
  return (_, x, y) => content(0, x, y);
}

/** The same `period` pictures over and over. */
export function repeating(seed: number, period: number): Content {
  const content = moving(seed);
  return (index, x, y) => content(index % period, x, y);
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
    width = 128,
    height = 72,
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
      for (let y = 0; y < height; y++) {
        for (let x = 0; x < width; x++) {
          let value = content(from + order(index), (x + 0.5) / width, (y + 0.5) / height);
          value = 255 * (Math.max(0, value) / 255) ** gamma * gain + bias;
          value += noise * (2 * random.next() - 1);
          if (quantiser > 0) value = quantiser * Math.round(value / quantiser);
          const sample = Math.max(0, Math.min(255 * unit, Math.round(value * unit)));
          const at = y * width + x;
          if (bitDepth === 8) into[at] = sample;
          else into.set([sample & 255, sample >> 8], 2 * at);
        }
      }
      return true;
    },
  };
}
