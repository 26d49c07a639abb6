/**
 * @module web/setup/raw-guess
 * Guesses the format of raw YUV from file names, and from file sizes that are whole frames.
 */
import type { ChromaFormat, RawVideoFormat } from 'anyvmaf';
import { storedFrameBytes } from 'anyvmaf/core/frame';
import { parseSize } from 'anyvmaf/core/size';

export interface NamedFormat {
  readonly width?: number;
  readonly height?: number;
  readonly bitDepth?: number;
  readonly chroma?: ChromaFormat;
  /** A layout that is not planar (`nv12`) and cannot be read. */
  readonly packed?: string;
}

export interface Guess {
  readonly format: RawVideoFormat;
  /** `name`: the size is in the name; `size`: a common size of which the file is whole frames; `none`: a default. */
  readonly from: 'name' | 'size' | 'none';
}

const NAMED_SIZES: readonly (readonly [RegExp, number, number])[] = [
  [/(?:^|[^a-z0-9])(?:4320p?|8k|uhd2)(?![a-z0-9])/, 7680, 4320],
  [/(?:^|[^a-z0-9])(?:2160p?\d*|4k|uhd)(?![a-z0-9])/, 3840, 2160],
  [/(?:^|[^a-z0-9])(?:1440p\d*|qhd)(?![a-z0-9])/, 2560, 1440],
  [/(?:^|[^a-z0-9])(?:1080[pi]\d*|fhd)(?![a-z0-9])/, 1920, 1080],
  [/(?:^|[^a-z0-9])720p\d*(?![a-z0-9])/, 1280, 720],
  [/(?:^|[^a-z0-9])576[pi]\d*(?![a-z0-9])/, 720, 576],
  [/(?:^|[^a-z0-9])480[pi]\d*(?![a-z0-9])/, 720, 480],
  [/(?:^|[^a-z0-9])4cif(?![a-z])/, 704, 576],
  [/(?:^|[^a-z0-9])qcif(?![a-z])/, 176, 144],
  [/(?:^|[^a-z0-9])sqcif(?![a-z])/, 128, 96],
  [/(?:^|[^a-z0-9])cif(?![a-z])/, 352, 288],
  [/(?:^|[^a-z0-9])wqvga(?![a-z])/, 416, 240],
  [/(?:^|[^a-z0-9])wvga(?![a-z])/, 832, 480],
];

/** Likelier ones first. */
const USUAL_SIZES = [
  '1920x1080 3840x2160 1280x720 352x288 176x144 640x360 854x480 852x480 960x540 832x480 416x240 640x480 720x576',
  '720x480 704x576 2560x1440 2560x1600 1024x768 576x324 480x270 426x240 320x240 320x180 4096x2160 7680x4320',
].flatMap((line) => line.split(' ').flatMap((size) => parseSize(size) ?? []));

export function formatInName(name: string): NamedFormat {
  const text = name.toLowerCase();
  const pair = /(?:^|[^0-9])(\d{2,5})\s?[x×]\s?(\d{2,5})(?![0-9])/.exec(text);
  // Two adjacent numbers such as `_352_288_` may be width and height.
  const loose = /(?:^|[_\-. ])(\d{3,4})[_-](\d{3,4})(?=[_\-. ]|$)/.exec(text);
  const named = NAMED_SIZES.find(([pattern]) => pattern.test(text));
  const found = pair ?? (named ? null : loose);
  const size = found
    ? { width: Number(found[1]), height: Number(found[2]) }
    : named && { width: named[1], height: named[2] };
  const layout = /yuv[aj]?(4(?:20|22|44))p?(\d{1,2})?/.exec(text);
  const packed =
    /(?:^|[^a-z0-9])(nv12|nv21|nv16|p010|p016|p210|uyvy|yuy2|yuyv|v210)(?:le|be)?(?![a-z0-9])/.exec(
      text,
    )?.[1];
  const chroma =
    layout?.[1] ??
    /(?:^|[^0-9a-z])4[:.]?(2[:.]?0|2[:.]?2|4[:.]?4)(?:p|(?![0-9a-z]))/.exec(text)?.[0]?.replace(/\D/g, '') ??
    (/(?:^|[^a-z])(?:gray|grey|mono|y8|y800|400)(?![a-z0-9])|gray\d/.test(text) ? '400' : undefined);
  const depth =
    layout?.[2] ??
    /(?:^|[^0-9])(8|9|10|12|14|16)[-_ ]?(?:bits?|bpp|b)(?![a-z0-9])/.exec(text)?.[1] ??
    /(?:^|[^0-9])(9|10|12|14|16)[lb]e(?![a-z0-9])/.exec(text)?.[1] ??
    (packed === 'p010' || packed === 'p210' || packed === 'v210'
      ? '10'
      : packed === 'p016'
        ? '16'
        : undefined);
  const bitDepth = depth === undefined ? undefined : Number(depth);
  return {
    ...size,
    ...(bitDepth !== undefined && bitDepth >= 8 && bitDepth <= 16 && { bitDepth }),
    ...(isChroma(chroma) && { chroma }),
    ...(packed !== undefined && { packed }),
  };
}

function isChroma(text: string | undefined): text is ChromaFormat {
  return text === '420' || text === '422' || text === '444' || text === '400';
}

export interface RawFile {
  readonly name: string;
  readonly size: number;
}

/** The likeliest format of all files: what names say, completed so that all files are whole frames. */
export function guessRaw(files: readonly RawFile[]): Guess {
  // Earlier names win.
  const named: NamedFormat = Object.assign({}, ...files.map(({ name }) => formatInName(name)).reverse());
  const divides = (format: RawVideoFormat) =>
    files.every(({ size }) => size >= storedFrameBytes(format) && size % storedFrameBytes(format) === 0);
  const depths = named.bitDepth === undefined ? [8, 10] : [named.bitDepth];
  const chromas: readonly ChromaFormat[] =
    named.chroma === undefined ? ['420', '422', '444'] : [named.chroma];
  const layouts = chromas.flatMap((chroma) => depths.map((bitDepth) => ({ bitDepth, chroma })));
  const { width, height } = named;
  if (width !== undefined && height !== undefined) {
    const fits = layouts.map((layout) => ({ width, height, ...layout }));
    const format = fits.find(divides) ?? fits[0];
    if (format) return { format, from: 'name' };
  }
  for (const layout of layouts)
    for (const size of USUAL_SIZES) {
      const format = { ...size, ...layout };
      if (divides(format)) return { format, from: 'size' };
    }
  const [first = { bitDepth: 8, chroma: '420' as const }] = layouts;
  return { format: { width: 1920, height: 1080, ...first }, from: 'none' };
}
