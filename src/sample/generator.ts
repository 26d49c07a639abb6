/**
 * @module sample/generator
 * Deterministic video pairs for demonstrations, benchmarks and tests: moving texture, edges, grain and a scene cut,
 * with coding-like distortions. Integer arithmetic only, so that every platform makes the same samples.
 */
import type { VideoFormat } from '../core/frame.js';
import type { PictureSize } from '../core/size.js';

export type SampleSide = 'reference' | 'distorted';

/** Samples of 8-bit video or of deeper video. */
export type Samples = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer>;

/** One plane of a generated frame. Chroma planes are rounded up, as files store them. */
export interface SamplePlane {
  readonly width: number;
  readonly height: number;
  readonly samples: Samples;
}

/** Distortions, applied in the order of the members. All default to 0. */
export interface SampleDistortion {
  /** Passes of a 3x3 binomial blur, 0..8. */
  readonly blur?: number;
  /** Step, in 8-bit levels, that each 8x8 block's deviation from its mean is quantised to, 0..64. */
  readonly quantiser?: number;
  /** Amplitude in 8-bit levels of uniform noise, 0..64. */
  readonly noise?: number;
  /** Added to luma, in 8-bit levels, -128..128. */
  readonly brightness?: number;
}

/** Content of a generated pair. */
export interface SampleOptions {
  /** Any integer; other seeds give other textures, objects and motion. Default 1. */
  readonly seed?: number;
  /** First frame of the second scene. Default 0: no cut. */
  readonly cut?: number;
  /** Default: {@link SAMPLE_DISTORTION}. */
  readonly distortion?: SampleDistortion;
  /** Paints the planes of a reference frame with 16 bits a sample, instead of textures and objects. */
  readonly paint?: (index: number) => readonly Uint16Array[];
}

/** A pair of videos whose frames are computed on demand, in any order. */
export interface SampleClip {
  readonly format: VideoFormat;
  /** Planes of frame `index` (0-based): luma, then Cb and Cr unless the format is luma only. */
  frame(side: SampleSide, index: number): SamplePlane[];
}

/** A mild streaming-like distortion. */
export const SAMPLE_DISTORTION: SampleDistortion = { blur: 1, quantiser: 10, noise: 2 };

/** Width and height of texture tiles in samples; tiles repeat. */
export const TILE = 512;
const TILE_MASK = TILE - 1;
/** Content is computed with this many bits and shifted down to the format's depth. */
const WORK_BITS = 16;
/** Moving objects per scene. */
const OBJECTS = 12;

/** Sizes of the planes of a frame, chroma rounded up. */
export function samplePlaneSizes(format: VideoFormat): PictureSize[] {
  const { width, height, chroma } = format;
  const luma = { width, height };
  if (chroma === '400') return [luma];
  const half = {
    width: chroma === '444' ? width : (width + 1) >> 1,
    height: chroma === '420' ? (height + 1) >> 1 : height,
  };
  return [luma, half, half];
}

export function allocateSamples(bitDepth: number, length: number): Samples {
  return bitDepth > 8 ? new Uint16Array(length) : new Uint8Array(length);
}

function clamp16(value: number): number {
  return Math.max(0, Math.min(65535, value));
}

/** A 32-bit mixing function: every input bit changes about half of the output bits. */
function mix(a: number, b: number, c: number): number {
  let h = (Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca77) ^ Math.imul(c, 0xc2b2ae3d)) | 0;
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39);
  return (h ^ (h >>> 15)) >>> 0;
}

/** Recent textures by seed, shared by clips of the same content. */
const textures = new Map<number, Uint16Array>();
const MOST_TEXTURES = 8;

/** Periodic value noise of four octaves, 0..65535: `TILE` rows of `TILE` samples. Shared, so read-only. */
export function makeTexture(seed: number): Uint16Array {
  const known = textures.get(seed);
  if (known) return known;
  const made = noise(seed);
  const [oldest] = textures.keys();
  if (oldest !== undefined && textures.size >= MOST_TEXTURES) textures.delete(oldest);
  textures.set(seed, made);
  return made;
}

function noise(seed: number): Uint16Array {
  const sum = new Int32Array(TILE * TILE);
  for (let octave = 0; octave < 4; octave++) {
    const shift = 5 - octave; // lattice spacing 32, 16, 8, 4
    const step = 1 << shift;
    const cells = TILE >> shift;
    const weight = 8 >> octave;
    const lattice = (cx: number, cy: number) =>
      mix(seed, (cy & (cells - 1)) * cells + (cx & (cells - 1)), octave) >>> 20; // 12 bits
    for (let cy = 0; cy < cells; cy++) {
      for (let cx = 0; cx < cells; cx++) {
        const a = lattice(cx, cy);
        const b = lattice(cx + 1, cy);
        const c = lattice(cx, cy + 1);
        const d = lattice(cx + 1, cy + 1);
        for (let j = 0; j < step; j++) {
          const left = a * (step - j) + c * j;
          const right = b * (step - j) + d * j;
          const row = (cy * step + j) * TILE + cx * step;
          for (let i = 0; i < step; i++) {
            const value = (left * (step - i) + right * i) >> (2 * shift);
            sum[row + i]! += value * weight;
          }
        }
      }
    }
  }
  const texture = new Uint16Array(sum.length);
  for (let i = 0; i < sum.length; i++) texture[i] = (sum[i]! * 17) >> 4; // at most 4095 * 15 before
  return texture;
}

type Scene = ReturnType<typeof makeScene>;

/** What stays constant until a cut: textures and their motion, and moving rectangles and discs. */
function makeScene(seed: number, format: VideoFormat) {
  const random = (index: number, below: number) => mix(seed, index, 77) % below;
  // Positions are in 1/16 sample, speeds in 1/16 sample a frame; `stripe` is a width in samples, 0 without stripes.
  const objects = Array.from({ length: OBJECTS }, (_, k) => {
    const r = 100 + 16 * k;
    return {
      disc: (k & 1) === 1,
      x: random(r, format.width * 16),
      y: random(r + 1, format.height * 16),
      dx: random(r + 2, 129) - 64,
      dy: random(r + 3, 97) - 48,
      halfWidth: 2 + random(r + 4, 1 + (format.width >> 3)),
      halfHeight: 2 + random(r + 5, 1 + (format.height >> 3)),
      level: random(r + 6, 65536),
      stripe: random(r + 7, 3) === 0 ? 1 + random(r + 8, 6) : 0,
    };
  });
  const motion = [random(1, 7) - 3, random(2, 5) - 2, random(3, 11) - 5, random(4, 7) - 3] as const;
  return { coarse: makeTexture(mix(seed, 1, 0)), fine: makeTexture(mix(seed, 2, 0)), motion, objects };
}

/** Paints one plane of the reference at WORK_BITS. Plane 0 is luma; chroma planes see another part of the scene. */
function paint(
  scene: Scene,
  seed: number,
  plane: number,
  width: number,
  height: number,
  t: number,
  format: VideoFormat,
) {
  const out = new Uint16Array(width * height);
  const { coarse, fine } = scene;
  const [ax, ay, bx, by] = scene.motion;
  // A slow coarse layer, and a fast fine one at twice the frequency.
  const flat = plane === 0 ? 0 : 2; // chroma has a quarter of the contrast
  for (let y = 0; y < height; y++) {
    const coarseRow = ((y + ay * t + plane * 91) & TILE_MASK) * TILE;
    const fineRow = ((2 * y + by * t + plane * 37) & TILE_MASK) * TILE;
    const coarseShift = ax * t + plane * 53;
    const fineShift = bx * t + plane * 29;
    let grain = mix(seed, t, (y << 2) | plane) | 1;
    const row = y * width;
    for (let x = 0; x < width; x++) {
      grain ^= grain << 13;
      grain ^= grain >>> 17;
      grain ^= grain << 5;
      const texture =
        3 * coarse[coarseRow + ((x + coarseShift) & TILE_MASK)]! +
        fine[fineRow + ((2 * x + fineShift) & TILE_MASK)]!;
      const centred = ((texture >> 2) - 32768) >> flat;
      const value = 32768 + centred + (grain >> 22); // grain: +-512, two 8-bit levels
      out[row + x] = clamp16(value);
    }
  }
  // Objects, painted over each other in order.
  const scaleX = plane > 0 && format.chroma !== '444' ? 1 : 0;
  const scaleY = plane > 0 && format.chroma === '420' ? 1 : 0;
  for (const object of scene.objects) {
    const cx = wrap(object.x + object.dx * t, format.width * 16) >> (4 + scaleX);
    const cy = wrap(object.y + object.dy * t, format.height * 16) >> (4 + scaleY);
    const rx = Math.max(1, object.halfWidth >> scaleX);
    const ry = Math.max(1, object.halfHeight >> scaleY);
    const level = plane === 0 ? object.level : 32768 + (((object.level * (plane + 2)) & 0xffff) >> 2) - 8192;
    for (let y = Math.max(0, cy - ry); y < Math.min(height, cy + ry); y++) {
      const span = object.disc ? discSpan(rx, ry, y - cy) : rx;
      for (let x = Math.max(0, cx - span); x < Math.min(width, cx + span); x++) {
        if (object.stripe > 0 && Math.trunc((x - cx + 4096) / object.stripe) & 1) continue;
        out[y * width + x] = level;
      }
    }
  }
  return out;
}

/** `value` modulo `size`, never negative. */
function wrap(value: number, size: number): number {
  return ((value % size) + size) % size;
}

/** Half the width of an ellipse's row at `dy` from its centre: the largest s with (s/rx)^2 + (dy/ry)^2 <= 1. */
function discSpan(rx: number, ry: number, dy: number): number {
  const limit = rx * rx * (ry * ry - dy * dy);
  let span = 0;
  for (let bit = 1 << 13; bit > 0; bit >>= 1) {
    const next = span + bit;
    if (next * next * ry * ry <= limit) span = next;
  }
  return span;
}

/** One pass of the separable filter (1 2 1) / 4 with repeated edges. */
function blurOnce(plane: Uint16Array, width: number, height: number): Uint16Array {
  const across = new Uint16Array(plane.length);
  for (let y = 0; y < height; y++) {
    const row = y * width;
    for (let x = 0; x < width; x++) {
      const left = plane[row + (x > 0 ? x - 1 : 0)]!;
      const right = plane[row + (x + 1 < width ? x + 1 : x)]!;
      across[row + x] = (left + 2 * plane[row + x]! + right + 2) >> 2;
    }
  }
  const out = new Uint16Array(plane.length);
  for (let y = 0; y < height; y++) {
    const row = y * width;
    const above = y > 0 ? row - width : row;
    const below = y + 1 < height ? row + width : row;
    for (let x = 0; x < width; x++) {
      out[row + x] = (across[above + x]! + 2 * across[row + x]! + across[below + x]! + 2) >> 2;
    }
  }
  return out;
}

/** Quantises every 8x8 block's deviation from its own mean, in place. */
function quantise(plane: Uint16Array, width: number, height: number, step: number): void {
  for (let by = 0; by < height; by += 8) {
    const bottom = Math.min(by + 8, height);
    for (let bx = 0; bx < width; bx += 8) {
      const right = Math.min(bx + 8, width);
      let sum = 0;
      for (let y = by; y < bottom; y++) {
        for (let x = bx; x < right; x++) sum += plane[y * width + x]!;
      }
      const mean = Math.floor(sum / ((bottom - by) * (right - bx)));
      for (let y = by; y < bottom; y++) {
        for (let x = bx; x < right; x++) {
          const deviation = plane[y * width + x]! - mean;
          const value = mean + Math.floor((deviation + (step >> 1)) / step) * step;
          plane[y * width + x] = clamp16(value);
        }
      }
    }
  }
}

/** Adds an offset and uniform noise of the given amplitude, in place. */
function disturb(
  plane: Uint16Array,
  width: number,
  height: number,
  key: number,
  noise: number,
  offset: number,
): void {
  const spread = 2 * noise + 1;
  for (let y = 0; y < height; y++) {
    let state = mix(key, y, 0x51) | 1;
    for (let x = 0; x < width; x++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      // The high 16 bits scaled to the spread: cheaper than a remainder, and the product fits a double.
      const value = plane[y * width + x]! + offset + Math.floor(((state >>> 16) * spread) / 65536) - noise;
      plane[y * width + x] = clamp16(value);
    }
  }
}

function store(format: VideoFormat, plane: Uint16Array): Samples {
  const out = allocateSamples(format.bitDepth, plane.length);
  const shift = WORK_BITS - format.bitDepth;
  for (let i = 0; i < out.length; i++) out[i] = plane[i]! >> shift;
  return out;
}

/** Moving textures, objects and grain, distorted as requested. */
export function makeSample(format: VideoFormat, options: SampleOptions = {}): SampleClip {
  const { seed = 1, cut = 0, distortion = SAMPLE_DISTORTION } = options;
  const { blur = 0, quantiser = 0, noise = 0, brightness = 0 } = distortion;
  const scenes = new Map<number, Scene>();
  const sizes = samplePlaneSizes(format);
  const sceneAt = (index: number) => {
    const number = cut > 0 && index >= cut ? 1 : 0;
    const scene = scenes.get(number) ?? makeScene(mix(seed, number, 9), format);
    scenes.set(number, scene);
    return scene;
  };
  return {
    format,
    frame(side, index) {
      const painted =
        options.paint?.(index) ??
        sizes.map(({ width, height }, plane) =>
          paint(sceneAt(index), seed, plane, width, height, index, format),
        );
      return sizes.map(({ width, height }, plane) => {
        let work = painted[plane] ?? new Uint16Array(width * height);
        if (side === 'distorted') {
          for (let pass = 0; pass < blur; pass++) work = blurOnce(work, width, height);
          if (quantiser > 0) quantise(work, width, height, quantiser * 256);
          const offset = plane === 0 ? brightness * 256 : 0;
          const key = mix(seed, index, 0x1000 + plane);
          if (noise > 0 || offset !== 0) disturb(work, width, height, key, noise * 256, offset);
        }
        return { width, height, samples: store(format, work) };
      });
    },
  };
}
