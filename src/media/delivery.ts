/**
 * @module media/delivery
 * ffmpeg's pixel formats: which planar one holds the samples of another, and how to make ffmpeg deliver it.
 */
import type { ColorMatrix } from '../core/choices.js';
import { mediaError } from '../core/errors.js';
import type { ChromaFormat } from '../core/frame.js';
import { shown } from '../core/printable.js';

export interface SampleFormat {
  /** 8..16. */
  readonly bitDepth: number;
  readonly chroma: ChromaFormat;
}

/** Same luma and chroma samples in another order. */
const REARRANGED: Readonly<Record<string, SampleFormat>> = {
  nv12: { bitDepth: 8, chroma: '420' },
  nv21: { bitDepth: 8, chroma: '420' },
  nv24: { bitDepth: 8, chroma: '444' },
  nv42: { bitDepth: 8, chroma: '444' },
  yuyv422: { bitDepth: 8, chroma: '422' },
  yvyu422: { bitDepth: 8, chroma: '422' },
  uyvy422: { bitDepth: 8, chroma: '422' },
  ya8: { bitDepth: 8, chroma: '400' },
};

const FAMILIES: readonly (readonly [pattern: RegExp, chroma?: ChromaFormat])[] = [
  /** Planar, with alpha as a separate plane: `yuv420p`, `yuvj444p`, `yuva422p10le`. */
  [/^yuv[aj]?(420|422|444)p(9|1[0246])?(?:le|be)?$/],
  [/^gray(9|1[0246])?(?:le|be)?$/, '400'],
  [/^ya(16)(?:le|be)$/, '400'],
  /** Semi-planar, with values in the high bits: `p010le`. */
  [/^p0(1[0246])(?:le|be)$/, '420'],
  [/^p2(1[0246])(?:le|be)$/, '422'],
  [/^p4(1[0246])(?:le|be)$/, '444'],
];

/** `undefined` unless the format is 4:2:0, 4:2:2, 4:4:4 or 4:0:0; RGB, palettes, 4:1:1 and floats are not. */
export function pixelFormat(name: string): SampleFormat | undefined {
  if (Object.hasOwn(REARRANGED, name)) return REARRANGED[name];
  for (const [pattern, fixed] of FAMILIES) {
    const match = pattern.exec(name);
    if (!match) continue;
    const [, first = '', second] = match;
    if (fixed) return { bitDepth: Number(first || 8), chroma: fixed };
    if (first === '420' || first === '422' || first === '444')
      return { bitDepth: Number(second ?? 8), chroma: first };
  }
  return undefined;
}

export function pixelFormatName({ bitDepth, chroma }: SampleFormat): string {
  const base = chroma === '400' ? 'gray' : `yuv${chroma}p`;
  return bitDepth === 8 ? base : `${base}${bitDepth}le`;
}

/** A planar format that holds decoded samples unchanged. */
export interface Delivery extends SampleFormat {
  readonly pixelFormat: string;
  /** How chroma samples are repeated, if necessary, for the report. */
  readonly note?: string;
  /** ffmpeg filters that convert RGB to luma and chroma. */
  readonly fromRgb?: string;
  /** Set if alpha follows the other planes. */
  readonly alpha?: true;
  /** ffmpeg filters that preserve samples if changing the layout alone does not. */
  readonly unpacked?: string;
}

/** swscale flags that round to nearest; without them, grey becomes one level darker. */
export const EXACT = 'bicubic+accurate_rnd+full_chroma_int';

/** Converts RGB to luma and chroma by an explicit matrix, which no file states; `size` holds further options. */
export function fromRgbBy(matrix: ColorMatrix, palette: boolean, size: readonly string[] = []): string {
  const options = [...size, `out_color_matrix=${matrix}`, 'out_range=limited', `flags=${EXACT}`];
  return `${palette ? 'format=rgb24,' : ''}scale=${options.join(':')}`;
}

/** Matrix names of the scale filter by those of video streams. */
const SCALE_MATRIX: Readonly<Record<string, ColorMatrix>> = {
  bt709: 'bt709',
  smpte170m: 'bt601',
  bt470bg: 'bt601',
  bt2020nc: 'bt2020',
};

/** Matrix by the name of ffmpeg's scale filter; `undefined` if the filter does not have it. */
export function scaleMatrix(matrix: string): ColorMatrix | undefined {
  return Object.hasOwn(SCALE_MATRIX, matrix) ? SCALE_MATRIX[matrix] : undefined;
}

export function convertsBy(matrix: string | undefined): matrix is string {
  return matrix !== undefined && scaleMatrix(matrix) !== undefined;
}

/** ffmpeg's integer RGB layouts, with or without alpha. */
const RGB =
  /^(?:(?:[abrgx0]{3,4}|rgb|bgr)(?:24|48|64|0)?(?:le|be)?|gbra?p(9|1[0246])?(?:le|be)?|pal8|rgb8|bgr8|x2rgb10(?:le|be))$/;

/** Layouts with alpha; palettes have it per colour. */
const ALPHA = /^(?:yuva|ya\d|gbrap|rgba|argb|abgr|bgra|pal8)/;

/** swscale lowers some alpha values by one when it unpacks 8 bits. */
const UNPACK_ALPHA =
  'format=rgba,split[rgb][a];[rgb]format=gbrp,format=gbrap[planar];[a]alphaextract[alpha];[planar][alpha]alphamerge';

/** swscale converts palettes by BT.601, whatever matrix is set. */
const PALETTE = /^(?:pal8|rgb8|bgr8)$/;

export function isPalette(pixelFormat: string): boolean {
  return PALETTE.test(pixelFormat);
}

/** Options of the scale filter, which by itself makes labelled full range limited, and limited grey full. */
export function keptRange(
  { colorRange }: { readonly colorRange?: 'limited' | 'full' },
  { chroma, pixelFormat }: Delivery,
): readonly string[] {
  const converted = chroma === '400' ? 'limited' : 'full';
  if (colorRange !== converted || pixelFormat.startsWith('gbr')) return [];
  return [`in_range=${converted}`, `out_range=${converted}`];
}

/** As ffmpeg turns pictures by itself, and mirrored ones. */
const TURNS = {
  0: [[], ['vflip']],
  90: [['transpose=clock'], ['transpose=cclock_flip']],
  180: [['hflip', 'vflip'], ['hflip']],
  270: [['transpose=cclock'], ['transpose=clock_flip']],
} as const;

interface Stored {
  readonly rotation?: 0 | 90 | 180 | 270;
  readonly mirrored?: true;
  readonly colorRange?: 'limited' | 'full';
}

/** ffmpeg filters that repeat chroma samples, then turn the picture; none without a note. */
export function repeating(planes: Delivery, facts: Stored): readonly string[] {
  if (planes.note === undefined) return [];
  // Nearest neighbour only repeats samples.
  const scale = `scale=${['flags=neighbor', ...keptRange(facts, planes)].join(':')}`;
  return [scale, `format=${planes.pixelFormat}`, ...TURNS[facts.rotation ?? 0][facts.mirrored ? 1 : 0]];
}

export function hasAlpha(pixelFormat: string): boolean {
  return ALPHA.test(pixelFormat);
}

export function isRgb(pixelFormat: string): boolean {
  return RGB.test(pixelFormat);
}

/** Unsupported chroma formats, and the supported one that can hold their repeated samples. */
const REPEATED: Readonly<Record<string, { readonly ratio: string; readonly chroma: '422' | '444' }>> = {
  '411': { ratio: '4:1:1', chroma: '422' },
  '440': { ratio: '4:4:0', chroma: '444' },
};

/**
 * @param name ffmpeg's name of the decoded layout
 * @param file the file's name, for messages
 * @param how to deliver RGB; refused if absent. `matrix`: ffmpeg's name of the one to convert by (BT.709 if absent
 * or unknown), or `gbr` for unconverted planes G, B, R. `alpha`: appends alpha, and delivers grey with alpha as RGB
 * @throws {AnyvmafError} `media` if no planar format holds the samples
 */
export function delivery(
  name: string,
  rotation: 0 | 90 | 180 | 270,
  file: string,
  how?: { readonly matrix?: string; readonly alpha?: true },
): Delivery {
  const known = pixelFormat(name);
  const alpha = how?.alpha && ALPHA.test(name);
  // Full-range layouts have their own names; under any other, ffmpeg would convert the range.
  const full = /^yuvj4\d\dp$/.test(name);
  const named = (format: SampleFormat) =>
    full ? `yuvj${format.chroma}p` : pixelFormatName(format).replace(/^yuv/, alpha ? 'yuva' : 'yuv');
  const withAlpha = alpha && { alpha };
  if (alpha && known?.chroma === '400') return rgbDelivery(name, 'gbr', alpha);
  if (known) {
    if (known.chroma === '422' && (rotation === 90 || rotation === 270)) {
      const format: SampleFormat = { ...known, chroma: '444' };
      const note = 'chroma samples of 4:2:2 repeated, as 4:4:4';
      return { ...format, pixelFormat: named(format), note, ...withAlpha };
    }
    return { ...known, pixelFormat: named(known), ...withAlpha };
  }
  const match = /^yuvj?(411|440)p(10|12)?(?:le|be)?$/.exec(name);
  const repeated = REPEATED[match?.[1] ?? ''];
  if (repeated) {
    const turned = rotation === 90 || rotation === 270;
    const chroma = turned ? '444' : repeated.chroma;
    const format: SampleFormat = { bitDepth: Number(match?.[2] ?? 8), chroma };
    const note = `chroma samples of ${repeated.ratio} repeated, as ${ratio(format)}`;
    return { ...format, pixelFormat: named(format), note };
  }
  if (how && isRgb(name)) return rgbDelivery(name, how.matrix ?? 'bt709', alpha);
  const remedy = 'use the same conversion for both videos';
  throw mediaError(
    /rgb|bgr|gbr|bayer|xyz|^pal8$|^mono[wb]$/.test(name)
      ? `the frames of ${shown(file)} are RGB (${name}) and have no luma plane to measure; convert them first, ` +
          `for example with ffmpeg -pix_fmt yuv444p -c:v ffv1, and ${remedy}.`
      : `the frames of ${shown(file)} are ${shown(name)}, which is not 4:2:0, 4:2:2, 4:4:4 or luma only with 8 to 16 ` +
          `bit; convert them first, for example with ffmpeg -pix_fmt yuv420p -c:v ffv1, and ${remedy}.`,
  );
}

/** RGB as stored (grey with alpha as RGB of the same samples), or converted by a matrix. */
function rgbDelivery(name: string, matrix: string, alpha: true | false | undefined): Delivery {
  const format: SampleFormat = { bitDepth: rgbDepth(name), chroma: '444' };
  if (matrix !== 'gbr') {
    const pixelFormat = pixelFormatName(format);
    const fromRgb = `${fromRgbBy(scaleMatrix(matrix) ?? 'bt709', isPalette(name))},format=${pixelFormat}`;
    return { ...format, pixelFormat, fromRgb };
  }
  const planar = alpha ? 'gbrap' : 'gbrp';
  const pixelFormat = format.bitDepth === 8 ? planar : `${planar}${format.bitDepth}le`;
  const packed = pixelFormat === 'gbrap' && name !== pixelFormat;
  return { ...format, pixelFormat, ...(alpha && { alpha }), ...(packed && { unpacked: UNPACK_ALPHA }) };
}

function rgbDepth(name: string): number {
  const [, planar] = /^gbra?p(\d+)/.exec(name) ?? [];
  if (planar !== undefined) return Number(planar);
  if (/48|64|^ya16/.test(name)) return 16;
  return /^x2rgb10/.test(name) ? 10 : 8;
}

/** One phrase for each conversion or omission of planes, for the report. */
export function deliveryPhrases(name: string, { fromRgb, pixelFormat }: Delivery): string[] {
  const filter = fromRgb?.replace(/,format=.*$/, '');
  const matrix = /matrix=bt(\d+)/.exec(filter ?? '')?.[1];
  return [
    ...(filter === undefined
      ? []
      : [`${name} (RGB) to ${pixelFormat} by the matrix BT.${matrix} in limited range (${filter})`]),
    ...(ALPHA.test(name) && name !== 'pal8' ? ['alpha left out'] : []),
  ];
}

function ratio({ chroma }: SampleFormat): string {
  return [...chroma].join(':');
}

/** Makes ffmpeg output every frame once, without repeating or dropping any to even out their times. */
export function everyFrame(version: string): string[] {
  const [, major = '', minor = ''] = /^n?(\d+)\.(\d+)/.exec(version) ?? [];
  const old = major !== '' && Number(major) * 100 + Number(minor) < 501;
  return [old ? '-vsync' : '-fps_mode', 'passthrough'];
}
