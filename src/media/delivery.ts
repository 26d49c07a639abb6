/**
 * @module media/delivery
 * Chooses the planar format that holds the samples of a decoded picture unchanged.
 */
import type { ColorMatrix } from '../core/choices.js';
import { AnyvmafError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import { pixelFormat, pixelFormatName, type SampleFormat } from './pixel-format.js';

/** A planar format for decoded samples; values do not change. */
export interface Delivery extends SampleFormat {
  /** ffmpeg's name of the planar format. */
  readonly pixelFormat: string;
  /** Describes the repetition of chroma samples, if the format requires it, for the report. */
  readonly note?: string;
  /** Filters of ffmpeg that make luma and chroma of RGB. */
  readonly fromRgb?: string;
  /** Set if alpha comes after the other planes. */
  readonly alpha?: true;
  /** Filters of ffmpeg that keep samples, where a change of the layout alone does not. */
  readonly unpacked?: string;
}

/** Flags with which swscale rounds a conversion of colours to the nearest value; without them grey becomes a level darker. */
export const EXACT = 'bicubic+accurate_rnd+full_chroma_int';

/**
 * ffmpeg's filter by which RGB becomes luma and chroma: no file says, so it is stated here and in the report.
 * @param size options of the filter for another size
 */
export function fromRgbBy(matrix: ColorMatrix, size: readonly string[] = []): string {
  const options = [...size, `out_color_matrix=${matrix}`, 'out_range=limited', `flags=${EXACT}`];
  return `scale=${options.join(':')}`;
}

/** The scale filter's names of the matrices by which RGB is converted. */
const CONVERTED_BY: Readonly<Record<string, ColorMatrix>> = {
  bt709: 'bt709',
  smpte170m: 'bt601',
  bt470bg: 'bt601',
  bt2020nc: 'bt2020',
};

/** Whether RGB can be converted by a matrix of ffmpeg's name. */
export function convertsBy(matrix: string | undefined): matrix is string {
  return matrix !== undefined && Object.hasOwn(CONVERTED_BY, matrix);
}

/** ffmpeg's layouts of red, green and blue, with or without alpha; those of floating point are left out. */
const RGB =
  /^(?:(?:[abrgx0]{3,4}|rgb|bgr)(?:24|48|64|0)?(?:le|be)?|gbra?p(9|1[0246])?(?:le|be)?|pal8|rgb8|bgr8|x2rgb10(?:le|be))$/;

/** Layouts with alpha. A palette has one for each of its colours. */
const ALPHA = /^(?:yuva|ya\d|gbrap|rgba|argb|abgr|bgra|pal8)/;

/** swscale makes some values of alpha one less when it unpacks 8 bits. */
const UNPACK_ALPHA =
  'format=rgba,split[rgb][a];[rgb]format=gbrp,format=gbrap[planar];[a]alphaextract[alpha];[planar][alpha]alphamerge';

/** Whether a layout of ffmpeg's name has alpha. */
export function hasAlpha(pixelFormat: string): boolean {
  return ALPHA.test(pixelFormat);
}

/** Whether a layout of ffmpeg's name is RGB of integers. */
export function isRgb(pixelFormat: string): boolean {
  return RGB.test(pixelFormat);
}

/** Chroma formats without support, and the supported one that holds their samples repeated. */
const REPEATED: Readonly<Record<string, { readonly ratio: string; readonly chroma: '422' | '444' }>> = {
  '411': { ratio: '4:1:1', chroma: '422' },
  '440': { ratio: '4:4:0', chroma: '444' },
};

/**
 * @param name ffmpeg's name of the decoded layout
 * @param rotation of the picture in degrees
 * @param file name of the file, for messages
 * @param how RGB is converted by {@link Delivery.fromRgb} and its matrix, by ffmpeg's name: BT.709 unless it is another
 *   that is known. `gbr`: RGB is delivered as it is, its planes in the order G, B, R. Absent: RGB is refused. With `alpha`,
 *   alpha comes behind, and grey with alpha is RGB
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
  // Full-range layouts have names of their own; any other name would make ffmpeg convert the range.
  const full = /^yuvj4\d\dp$/.test(name);
  const named = (format: SampleFormat) =>
    full ? `yuvj${format.chroma}p` : pixelFormatName(format).replace(/^yuv/, alpha ? 'yuva' : 'yuv');
  const kept = alpha && { alpha };
  if (alpha && known?.chroma === '400') return rgbDelivery(name, 'gbr', alpha);
  if (known) {
    if (known.chroma === '422' && (rotation === 90 || rotation === 270)) {
      const format: SampleFormat = { ...known, chroma: '444' };
      const note = 'turned, each chroma sample of 4:2:2 twice, as 4:4:4';
      return { ...format, pixelFormat: named(format), note, ...kept };
    }
    return { ...known, pixelFormat: named(known), ...kept };
  }
  const match = /^yuvj?(411|440)p(10|12)?(?:le|be)?$/.exec(name);
  const repeated = REPEATED[match?.[1] ?? ''];
  if (repeated) {
    const turned = rotation === 90 || rotation === 270;
    const format: SampleFormat = {
      bitDepth: Number(match?.[2] ?? 8),
      chroma: turned ? '444' : repeated.chroma,
    };
    const note = `${turned ? 'turned, ' : ''}chroma samples of ${repeated.ratio} repeated, as ${ratio(format)}`;
    return { ...format, pixelFormat: named(format), note };
  }
  if (how && isRgb(name)) return rgbDelivery(name, how.matrix ?? 'bt709', alpha);
  const remedy = 'use the same conversion for both videos';
  throw new AnyvmafError(
    'media',
    /rgb|bgr|gbr|bayer|xyz|^pal8$|^mono[wb]$/.test(name)
      ? `the frames of ${shown(file)} are RGB (${name}) and have no luma plane to measure; convert them on purpose ` +
          `first, for example with ffmpeg -pix_fmt yuv444p -c:v ffv1, and ${remedy}.`
      : `the frames of ${shown(file)} are ${shown(name)}, which is not 4:2:0, 4:2:2, 4:4:4 or luma only with 8 to 16 ` +
          `bit; convert them first, for example with ffmpeg -pix_fmt yuv420p -c:v ffv1, and ${remedy}.`,
  );
}

/** RGB as it is, perhaps with alpha, or converted by a matrix; grey with alpha as RGB of the same samples. */
function rgbDelivery(name: string, matrix: string, alpha: true | false | undefined): Delivery {
  const format: SampleFormat = { bitDepth: rgbDepth(name), chroma: '444' };
  if (matrix !== 'gbr') {
    const pixelFormat = pixelFormatName(format);
    const fromRgb = `${fromRgbBy(CONVERTED_BY[matrix] ?? 'bt709')},format=${pixelFormat}`;
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

/** What becomes of the planes that are not compared, a phrase each. */
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
