/**
 * @module media/pairing/convert
 * Converts both videos to one format while reading: resizes, then raises depth and chroma without loss. For colour
 * metrics, preserves light: full-range peaks stay peaks, and chroma is interpolated as in perceptual.wasm.
 */
import { CHROMA_FORMATS } from '../../core/choices.js';
import type { Colour } from '../../core/colour.js';
import {
  allocateFrame,
  chromaSize,
  type FramePlanes,
  type Samples,
  samplesOf,
  type VideoFormat,
} from '../../core/frame.js';
import type { PictureSize } from '../../core/size.js';
import type { ScaleFilter } from '../decoder.js';
import { afterRead, planesLike } from '../own-filters.js';
import type { FrameSource } from '../types.js';
import { Resampler } from './resample.js';

/** The lowest format that holds the samples of both without loss, at the size of the first. */
export function commonFormat(a: VideoFormat, b: VideoFormat): VideoFormat {
  const finer = Math.max(CHROMA_FORMATS.indexOf(a.chroma), CHROMA_FORMATS.indexOf(b.chroma));
  return {
    width: a.width,
    height: a.height,
    bitDepth: Math.max(a.bitDepth, b.bitDepth),
    chroma: CHROMA_FORMATS[finer] ?? a.chroma,
    ...((a.alpha || b.alpha) && { alpha: true }),
  };
}

/** One phrase per conversion. */
export function describeConversion(from: VideoFormat, to: VideoFormat, light = false): string[] {
  const phrases: string[] = [];
  if (to.bitDepth !== from.bitDepth) {
    const how = light ? '' : ` by a shift of ${to.bitDepth - from.bitDepth}`;
    phrases.push(`${from.bitDepth} to ${to.bitDepth} bit${how}`);
  }
  if (to.chroma !== from.chroma) {
    const by = light ? 'by bicubic chroma' : 'by repeating chroma samples';
    const how = from.chroma === '400' ? 'with grey chroma' : by;
    phrases.push(`${[...from.chroma].join(':')} to ${[...to.chroma].join(':')} ${how}`);
  }
  return phrases;
}

interface PlaneConversions {
  luma(source: Samples, target: Samples): void;
  chroma(source: Samples, small: PictureSize, target: Samples, large: PictureSize): void;
}

/**
 * Converts frames without loss: by shifts and repetition, unless `light` is to be preserved.
 * @returns a function that fills those planes that `into` has
 */
export function formatConverter(
  from: VideoFormat,
  to: VideoFormat,
  light?: LightOfSamples,
): (planes: FramePlanes, into: FramePlanes) => void {
  const [depth, depthTo] = [from.bitDepth, to.bitDepth];
  const { luma, chroma } = light ? preservingLight(from, to, light) : shifting(depthTo - depth);
  const [small, large] = [chromaSize(from), chromaSize(to)];
  return (planes, into) => {
    luma(samplesOf(planes.y, depth), samplesOf(into.y, depthTo));
    for (const name of ['cb', 'cr'] as const) {
      if (!into[name]) continue;
      const target = samplesOf(into[name], depthTo);
      const source = planes[name];
      if (source && source.length > 0) chroma(samplesOf(source, depth), small, target, large);
      else target.fill(2 ** (depthTo - 1));
    }
    if (!into.alpha) return;
    // Alpha is always full range.
    const [alpha, peak] = [samplesOf(into.alpha, depthTo), 2 ** depthTo - 1];
    alpha.fill(peak);
    if (!planes.alpha) return;
    const [stored, gain] = [samplesOf(planes.alpha, depth), peak / (2 ** depth - 1)];
    for (let i = 0; i < alpha.length; i++) alpha[i] = stored[i]! * gain + 0.5;
  };
}

function shifting(shift: number): PlaneConversions {
  const luma = (source: Samples, target: Samples): void => {
    if (shift === 0) target.set(source);
    else for (let i = 0; i < target.length; i++) target[i] = source[i]! << shift;
  };
  return {
    luma,
    chroma(source, small, target, large) {
      if (small.width === large.width && small.height === large.height) {
        luma(source, target);
        return;
      }
      // Odd luma sizes lack the last chroma column or row; repeat the one before.
      const halfX = small.width < large.width ? 1 : 0;
      const halfY = small.height < large.height ? 1 : 0;
      for (let y = 0; y < large.height; y++) {
        const row = Math.min(y >> halfY, small.height - 1) * small.width;
        const at = y * large.width;
        for (let x = 0; x < large.width; x++) {
          target[at + x] = source[row + Math.min(x >> halfX, small.width - 1)]! << shift;
        }
      }
    },
  };
}

export type LightOfSamples = Pick<Colour, 'matrix' | 'range' | 'siting'>;

type Taps = readonly [number, number, number, number];
/** Weights of four samples around even and odd positions. */
type Phases = readonly [even: Taps, odd: Taps];

/** Catmull-Rom, as in wasm/perceptual/colour_frame.c: for chroma between luma samples, and on even ones. */
const BETWEEN: Phases = [
  [-3 / 128, 29 / 128, 111 / 128, -9 / 128],
  [-9 / 128, 111 / 128, 29 / 128, -3 / 128],
];
const ON_EVEN: Phases = [
  [0, 0, 1, 0],
  [-1 / 16, 9 / 16, 9 / 16, -1 / 16],
];

function preservingLight(
  from: VideoFormat,
  to: VideoFormat,
  { matrix, range, siting }: LightOfSamples,
): PlaneConversions {
  const peak = 2 ** to.bitDepth - 1;
  const gain = range === 'full' ? peak / (2 ** from.bitDepth - 1) : 2 ** (to.bitDepth - from.bitDepth);
  // Keeps chroma's zero in the middle.
  const offset = matrix === 'gbr' ? 0 : 2 ** (to.bitDepth - 1) - 2 ** (from.bitDepth - 1) * gain;
  const across = siting === 'center' ? BETWEEN : ON_EVEN;
  const down = siting === 'topleft' ? ON_EVEN : BETWEEN;

  function scale(source: Samples, target: Samples, more: number): void {
    // Full-range chroma of 0 is below the deeper range, and a negative number would wrap around.
    for (let i = 0; i < target.length; i++) target[i] = Math.max(0, source[i]! * gain + more + 0.5);
  }

  function enlarge(source: Samples, small: PictureSize, target: Samples, large: PictureSize): void {
    const columns = placesOf(large.width, small.width, across);
    const row = new Float64Array(small.width);
    for (const [y, { at, taps }] of placesOf(large.height, small.height, down).entries()) {
      const [a, b, c, d] = at.map((place) => place * small.width) as [number, number, number, number];
      for (let x = 0; x < small.width; x++) {
        row[x] =
          source[a + x]! * taps[0] +
          source[b + x]! * taps[1] +
          source[c + x]! * taps[2] +
          source[d + x]! * taps[3];
      }
      let next = y * large.width;
      for (const { at: near, taps: weights } of columns) {
        let sum = 0;
        for (let k = 0; k < 4; k++) sum += row[near[k]!]! * weights[k]!;
        target[next++] = Math.min(peak, Math.max(0, sum * gain + offset + 0.5));
      }
    }
  }

  return {
    luma: (source, target) => scale(source, target, 0),
    chroma(source, small, target, large) {
      if (small.width === large.width && small.height === large.height) scale(source, target, offset);
      else enlarge(source, small, target, large);
    },
  };
}

/** For each of `many` positions: the four nearest of `few` samples, mirrored at the edges, and their weights. */
function placesOf(many: number, few: number, phases: Phases): { readonly at: Taps; readonly taps: Taps }[] {
  return Array.from({ length: many }, (_, i) => {
    if (many === few) return { at: [i, i, i, i], taps: [1, 0, 0, 0] };
    const first = (i >> 1) + (i & 1) - 2;
    const at = [0, 1, 2, 3].map((k) => mirrored(first + k, few)) as unknown as Taps;
    return { at, taps: phases[(i & 1) as 0 | 1] };
  });
}

function mirrored(place: number, count: number): number {
  const positive = place < 0 ? -1 - place : place;
  const inside = positive < count ? positive : 2 * count - 1 - positive;
  return Math.min(count - 1, Math.max(0, inside));
}

export interface Target {
  /** Depth and chroma format must not be lower than the source's. */
  readonly format: VideoFormat;
  readonly filter: ScaleFilter;
  /** Set to preserve light. */
  readonly light?: LightOfSamples;
}

/** Returns the source itself if its frames already match. */
export function adaptSource(source: FrameSource, { format, filter, light }: Target): FrameSource {
  const from = source.info;
  const { width, height, bitDepth, chroma, alpha } = format;
  const sameSize = from.width === width && from.height === height;
  if (sameSize && from.bitDepth === bitDepth && from.chroma === chroma && from.alpha === alpha) return source;
  const stored = allocateFrame(from);
  const resizedFormat: VideoFormat = { ...from, width, height };
  const resize = sameSize ? undefined : frameResizer(from, resizedFormat, filter);
  const convert = formatConverter(resizedFormat, format, light);
  return {
    info: { ...from, width, height, bitDepth, chroma, ...(alpha && { alpha }) },
    seekable: source.seekable,
    readFrame(index, into) {
      const wanted = planesLike(stored, into);
      return afterRead(source.readFrame(index, wanted), (found) => {
        if (found) convert(resize?.(wanted) ?? wanted, into);
        return found;
      });
    },
    close: () => source.close(),
  };
}

/** Resizes planes into a buffer that it reuses. */
function frameResizer(
  from: VideoFormat,
  to: VideoFormat,
  filter: ScaleFilter,
): (stored: FramePlanes) => FramePlanes {
  const { bitDepth } = from;
  const resized = allocateFrame(to);
  const luma = new Resampler(from, to, bitDepth, filter);
  const chroma =
    from.chroma === '400'
      ? undefined
      : new Resampler(chromaSize(from), chromaSize(to), bitDepth, filter, from.chroma === '420');
  return (stored) => {
    const into = planesLike(resized, stored);
    for (const key of ['y', 'cb', 'cr', 'alpha'] as const) {
      const [source, target] = [stored[key], into[key]];
      const resampler = key === 'cb' || key === 'cr' ? chroma : luma;
      if (source && target) resampler?.resize(samplesOf(source, bitDepth), samplesOf(target, bitDepth));
    }
    return into;
  };
}
