/**
 * @module web/sample/worker
 * Worker that makes the sample pair in memory: a painted video of a boat on a lake, and an encode with a bad part.
 */

import { y4mHeader } from 'anyvmaf/core/frame';
import { y4mFrame } from 'anyvmaf/sample/files';
import { makeSample, makeTexture, type SampleSide, TILE } from 'anyvmaf/sample/generator';
import { serve } from '../engine/calls.js';

type Rgb = readonly [red: number, green: number, blue: number];

/** Row of the shore, as a share of the height. */
const SHORE = 0.64;
/** Position in shares of width and height; reach of its light. */
const SUN = { x: 0.72, y: 0.38, reach: 0.42 } as const;
const SKY: Rgb = [66, 112, 178];
const HORIZON: Rgb = [242, 208, 168];
const CLOUD: Rgb = [250, 244, 236];
const SUNLIGHT: Rgb = [255, 238, 200];
const WOOD: Rgb = [92, 52, 34];
const SAIL: Rgb = [252, 248, 238];
const WATER: Rgb = [28, 62, 86];
const GREEN: Rgb = [64, 84, 30];
const STRAW: Rgb = [196, 178, 92];
/** Farthest first. `speed` in pixels per frame, sizes in shares of the height. */
const HILLS = [
  { speed: 0.25, base: 0.44, height: 0.22, stretch: 0.55, teeth: 0, colour: [126, 138, 164] },
  { speed: 0.5, base: 0.52, height: 0.16, stretch: 0.9, teeth: 0.006, colour: [84, 106, 108] },
  { speed: 0.9, base: 0.59, height: 0.1, stretch: 1.5, teeth: 0.03, colour: [40, 66, 48] },
] as const;
const BOAT = { x: 0.3, speed: 1.1, size: 0.2 } as const;
const GRASS = { speed: 4, height: 0.2 } as const;
/** Amplitude of the grain in levels. */
const GRAIN = 3;

/** RGB, 0..255. */
interface Canvas {
  readonly width: number;
  readonly height: number;
  readonly rgb: Float32Array;
}

/** Frames by BT.601 in 4:2:0, 16 bits per sample, in new planes. @param width in pixels, even, as `height` */
function makeFilm(width: number, height: number): (frame: number) => Uint16Array[] {
  const textures = [3, 5, 8].map(makeTexture);
  /** Smooth, periodic noise, 0..1. */
  const noise = (texture: number, x: number, y: number): number => {
    const tile = textures[texture] ?? new Uint16Array();
    const [left, top] = [Math.floor(x), Math.floor(y)];
    const [across, down] = [x - left, y - top];
    const at = (column: number, row: number) => tile[(row & (TILE - 1)) * TILE + (column & (TILE - 1))] ?? 0;
    const above = at(left, top) * (1 - across) + at(left + 1, top) * across;
    const below = at(left, top + 1) * (1 - across) + at(left + 1, top + 1) * across;
    return (above * (1 - down) + below * down) / 65535;
  };
  const canvas = { width, height, rgb: new Float32Array(3 * width * height) };
  let painted = -1;
  return (frame) => {
    if (frame !== painted) {
      paintSky(canvas, noise, frame);
      for (const hill of HILLS) paintHill(canvas, noise, frame, hill);
      paintBoat(canvas, frame);
      paintLake(canvas, noise, frame);
      paintGrass(canvas, noise, frame);
    }
    painted = frame;
    return planesOf(canvas, frame);
  };
}

type Noise = (texture: number, x: number, y: number) => number;

/** @param at index of the red sample */
function put({ rgb }: Canvas, at: number, [red, green, blue]: Rgb, light: number): void {
  rgb[at] = red * light;
  rgb[at + 1] = green * light;
  rgb[at + 2] = blue * light;
}

/** Blends a colour in. @param share 0..1 */
function tint({ rgb }: Canvas, at: number, colour: Rgb, share: number): void {
  for (let i = 0; i < 3; i++) {
    const before = rgb[at + i] ?? 0;
    rgb[at + i] = before + ((colour[i] ?? 0) - before) * share;
  }
}

function paintSky(canvas: Canvas, noise: Noise, frame: number): void {
  const { width, height } = canvas;
  const drift = 0.4 * frame;
  for (let y = 0, at = 0; y < SHORE * height; y++) {
    const depth = Math.min(1, (2 * y) / height);
    // Clouds flatten towards the horizon.
    const flat = (200 + (576 * y) / height) / height;
    const down = (0.7 * (y / height - SUN.y) * height) / width;
    for (let x = 0; x < width; x++, at += 3) {
      const along = ((x + drift) * 360) / height;
      const cloud = noise(0, along * 0.32, y * flat) * 0.7 + noise(1, along * 0.9, y * flat * 2) * 0.3;
      put(canvas, at, SKY, 1);
      tint(canvas, at, HORIZON, depth);
      tint(canvas, at, CLOUD, 0.75 * Math.min(1, Math.max(0, 5 * cloud - 2.5)));
      const across = x / width - SUN.x;
      const near = Math.max(0, 1 - Math.sqrt(across * across + down * down) / SUN.reach);
      tint(canvas, at, SUNLIGHT, 0.8 * near * near);
    }
  }
}

function paintHill(canvas: Canvas, noise: Noise, frame: number, hill: (typeof HILLS)[number]): void {
  const { width, height } = canvas;
  const { speed, stretch, colour } = hill;
  const shore = SHORE * height;
  for (let x = 0; x < width; x++) {
    const along = ((x + speed * frame) * 360) / height;
    const ridge = hill.height * (0.5 - noise(1, along * 0.25 * stretch, 40 * stretch));
    const top = Math.max(0, Math.round((hill.base + ridge - hill.teeth * noise(2, along * 6, 7)) * height));
    for (let y = top; y < shore; y++) {
      const at = 3 * (y * width + x);
      put(canvas, at, colour, 0.7 + 0.6 * noise(2, along * 1.3 + y * 0.5, y * 1.9));
      tint(canvas, at, HORIZON, (0.45 * (1 - speed) * (y - top)) / (shore - top + 1));
    }
  }
}

function paintBoat(canvas: Canvas, frame: number): void {
  const { width, height } = canvas;
  const size = BOAT.size * height;
  const [middle, water] = [BOAT.x * width + BOAT.speed * frame, Math.floor(SHORE * height)];
  for (let up = 0; up < size; up++) {
    const share = up / size;
    const isHull = share < 0.12;
    const [left, right] = isHull ? [-0.34 - share, 0.36 + share] : [-0.36 * (1 - share), 0.3 * (1 - share)];
    for (let x = Math.ceil(middle + left * size); x < middle + right * size; x++) {
      const isMast = Math.abs(x - middle) < 1.2;
      if (share > 0.12 && share < 0.17 && !isMast) continue;
      const at = 3 * ((water - 1 - up) * width + x);
      if (isMast || isHull) put(canvas, at, WOOD, isHull ? 1 + share : 0.8);
      else put(canvas, at, SAIL, (x < middle ? 0.84 : 1) - 0.1 * (Math.floor(share * 9) & 1));
    }
  }
}

/** Mirrors the picture above, distorted by waves that are longer in front. */
function paintLake(canvas: Canvas, noise: Noise, frame: number): void {
  const { width, height, rgb } = canvas;
  const water = Math.floor(SHORE * height);
  for (let y = water, at = 3 * water * width; y < height * (1 - 0.2 * GRASS.height); y++) {
    const depth = (y - water) / (height - water);
    for (let x = 0; x < width; x++, at += 3) {
      const wave =
        noise(0, (x + 0.6 * frame) * (1.6 - depth), y * (11 - 7 * depth) + 1.7 * frame) +
        noise(2, (x - 0.9 * frame) * (2.4 - depth), y * (14 - 9 * depth) - 1.1 * frame) -
        1;
      const mirrored = Math.round(water - 1 - (y - water) * 1.2 - (4 + 40 * depth) * wave);
      const column = Math.min(width - 1, Math.max(0, Math.round(x + 14 * depth * wave)));
      const from = 3 * (Math.min(water - 1, Math.max(0, mirrored)) * width + column);
      for (let i = 0; i < 3; i++) rgb[at + i] = (rgb[from + i] ?? 0) * (0.94 + 0.3 * wave);
      tint(canvas, at, WATER, 0.25 + 0.3 * depth);
      const near = Math.max(0, 1 - Math.abs(x / width - SUN.x) / 0.16);
      tint(canvas, at, SUNLIGHT, Math.min(1, 6 * near * Math.max(0, wave - 0.16)));
    }
  }
}

function paintGrass(canvas: Canvas, noise: Noise, frame: number): void {
  const { width, height } = canvas;
  for (let x = 0; x < width; x++) {
    const along = ((x + GRASS.speed * frame) * 360) / height;
    const meadow = noise(0, along * 0.3, 11);
    // The tips bend most.
    const bend = 0.5 * (noise(1, along * 0.2 + 2 * frame, 90) - 0.5);
    for (let layer = 0; layer < 2; layer++) {
      const tall =
        GRASS.height * (0.25 + meadow * 0.7 + 0.45 * noise(2, along * 3.1, 60 * layer)) - 0.04 * layer;
      const top = Math.floor((1 - tall) * height);
      for (let y = top; y < height; y++) {
        const at = 3 * (y * width + x);
        const straw = noise(2, (along + bend * (height - y)) * 4 + 50 * layer, y * 0.35);
        put(canvas, at, GREEN, 0.35 + 0.75 * straw + (0.5 * (height - y)) / (height - top) - 0.12 * layer);
        tint(canvas, at, STRAW, 0.8 * straw * straw);
      }
    }
  }
}

/** Limited range, with grain in luma. */
function planesOf({ width, height, rgb }: Canvas, frame: number): Uint16Array[] {
  const luma = new Uint16Array(width * height);
  const half = width >> 1;
  const chroma = [0, 1].map(() => new Float32Array(half * (height >> 1)));
  const [cb = new Float32Array(), cr = new Float32Array()] = chroma;
  let state = 0x9e3779b9 ^ (frame + 1);
  for (let i = 0, at = 0; i < luma.length; i++, at += 3) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const grain = (state >> 16) * (GRAIN / 65536);
    const red = Math.min(255, rgb[at] ?? 0);
    const green = Math.min(255, rgb[at + 1] ?? 0);
    const blue = Math.min(255, rgb[at + 2] ?? 0);
    const light = 0.299 * red + 0.587 * green + 0.114 * blue;
    luma[i] = 256 * (16 + Math.min(255, Math.max(0, light + grain)) * (219 / 255));
    const place = (Math.floor(i / width) >> 1) * half + ((i % width) >> 1);
    cb[place] = (cb[place] ?? 0) + ((blue - light) / 1.772) * (56 / 255);
    cr[place] = (cr[place] ?? 0) + ((red - light) / 1.402) * (56 / 255);
  }
  return [luma, ...chroma.map((plane) => Uint16Array.from(plane, (sum) => 256 * (128 + sum)))];
}

// --- the pair ---

const FORMAT = { width: 480, height: 270, bitDepth: 8, chroma: '420' } as const;
const FRAMES = 50;
/** Frames of bad quality. */
const BAD = { from: 28, to: 38 } as const;

export const sampler = {
  async make(_: null): Promise<Readonly<Record<SampleSide, Blob>>> {
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

serve(sampler, self);
