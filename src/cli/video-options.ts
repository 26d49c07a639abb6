/**
 * @module cli/video-options
 * The videos of a command line, and the geometry of raw video.
 */
import { usageError } from '../core/errors.js';
import { nearest } from '../core/nearest.js';
import { quoted, shown } from '../core/printable.js';
import { localPath } from '../files/file-url.js';
import type { RawVideoFormat } from '../index.js';
import { COMMANDS } from './command.js';
import {
  choiceValue,
  fileName,
  list,
  type OptionUse,
  optionTable,
  orList,
  refusedValue,
  type SettingsOf,
  unsigned,
  unsignedValue,
} from './options.js';
import { YES_OPTION } from './terminal.js';

const PIXEL_FORMATS = ['420', '422', '444', '400'] as const;
const BIT_DEPTHS = [8, 10, 12, 16];

export const VIDEO_OPTIONS = optionTable({
  Input: {
    '-r, --reference FILE': [
      'the original video; - is standard input',
      (use) => ({ reference: localPath(fileName(use)) }),
    ],
    '-d, --distorted FILE': [
      'the video to compare with it',
      list('distorted', (use) => localPath(fileName(use))),
    ],
    '-w, --width N': [
      'raw YUV: width in samples; both files are then raw',
      (use) => ({ width: unsignedValue(use, 1920) }),
    ],
    '-h, --height N': [
      'raw YUV: height in lines (-h is not help)',
      (use) => ({ height: unsignedValue(use, 1080) }),
    ],
    '-p, --pixel_format FMT': [
      'raw YUV: 420, 422, 444, or 400 for luma only',
      (use) => ({ chroma: choiceValue(use, PIXEL_FORMATS) }),
    ],
    '-b, --bitdepth N': [
      'raw YUV: 8, 10, 12 or 16 bits per sample',
      (use) => ({ bitDepth: bitDepthValue(use) }),
    ],
    ...YES_OPTION,
  },
});

export type VideoSettings = SettingsOf<typeof VIDEO_OPTIONS>;

export interface Videos {
  readonly reference: string;
  readonly distorted: readonly [string, ...string[]];
  readonly raw?: RawVideoFormat;
}

export interface SingleVideo extends Omit<Videos, 'reference'> {
  /** A reference that was named but is not read. */
  readonly unread?: string;
}

/**
 * The videos of -r and -d; positional arguments name the others, the reference first.
 * @param most distorted videos that the command takes
 * @param command as messages show it: `anyvmaf` or `anyvmaf inspect`
 * @throws {AnyvmafError} `usage`
 */
export function videosOf(
  settings: Partial<VideoSettings>,
  positionals: readonly string[],
  most: number,
  command = 'anyvmaf',
): Videos {
  const videos = chooseVideos(positionals, settings, most, command);
  const raw = rawFormatOf(settings);
  return { ...videos, ...(raw && { raw }) };
}

/** One reference and one distorted video, as {@link videosOf}. @throws {AnyvmafError} `usage` */
export function pairOf(settings: Partial<VideoSettings>, positionals: readonly string[], command: string) {
  const { distorted, ...others } = videosOf(settings, positionals, 1, command);
  return { ...others, distorted: distorted[0] };
}

/** @throws {AnyvmafError} `usage` unless exactly one video is named */
export function singleVideoOf(
  { reference, distorted = [], ...geometry }: Partial<VideoSettings>,
  positionals: readonly string[],
): SingleVideo {
  const [only, more] = [...distorted, ...positionals.map(localPath)];
  if (only === undefined || only === '')
    throw usageError('no video given; --no-reference scores the one that -d FILE names');
  if (more !== undefined)
    throw usageError(
      `${quoted(more)} is one argument too many; --no-reference scores one video, and no reference`,
    );
  const raw = rawFormatOf(geometry);
  return { distorted: [only], ...(raw && { raw }), ...(reference !== undefined && { unread: reference }) };
}

function bitDepthValue(use: OptionUse): number {
  const depth = unsigned(use.value);
  if (depth !== undefined && BIT_DEPTHS.includes(depth)) return depth;
  throw refusedValue(use, orList(BIT_DEPTHS.map(String)));
}

function chooseVideos(
  positionals: readonly string[],
  files: Partial<Pick<VideoSettings, 'reference' | 'distorted'>>,
  most: number,
  command: string,
): Pick<Videos, 'reference' | 'distorted'> {
  const others = positionals.map(localPath);
  const reference = files.reference ?? others.shift();
  const [first, ...more] = [...(files.distorted ?? []), ...others];
  if (reference === undefined && first === undefined)
    throw usageError(`no videos given; try '${command} reference.mp4 distorted.mp4' or '${command} --help'`);
  if (reference === undefined)
    throw usageError('the reference video is missing; give it with -r FILE or before the distorted one');
  if (first === undefined) {
    const names = command === 'anyvmaf' ? COMMANDS.map((entry) => entry.name) : [];
    const near = nearest(reference, names);
    const hint = near === undefined ? '' : `; or did you mean the command ${near}?`;
    throw usageError(
      `only one video given, "${shown(reference)}"; the other is missing: ${command} REFERENCE DISTORTED${hint}`,
    );
  }
  const distorted: [string, ...string[]] = [first, ...more];
  const surplus = distorted[most];
  if (surplus !== undefined)
    throw usageError(
      `${quoted(surplus)} is one argument too many; ${command} takes one reference and ` +
        `${most === 1 ? 'one distorted video' : `at most ${most} distorted videos`}`,
    );
  const all = [reference, ...distorted];
  if (all.includes('')) throw usageError('the name of a video is empty');
  if (all.filter((name) => name === '-').length > 1)
    throw usageError(
      `only one of the ${all.length === 2 ? 'two ' : ''}videos can come from standard input (-); name a file for ` +
        `the other${all.length === 2 ? '' : 's'}`,
    );
  return { reference, distorted };
}

/** Any of the four options makes the others necessary (spec A.1, A.5). */
function rawFormatOf({
  width,
  height,
  chroma,
  bitDepth,
}: Partial<RawVideoFormat>): RawVideoFormat | undefined {
  if ([width, height, chroma, bitDepth].every((value) => value === undefined)) return undefined;
  if (width && height && chroma && bitDepth) return { width, height, chroma, bitDepth };
  const missing = [
    width ? '' : '-w/--width',
    height ? '' : '-h/--height',
    chroma ? '' : '-p/--pixel_format',
    bitDepth ? '' : '-b/--bitdepth',
  ].filter((label) => label !== '');
  const zero = width === 0 || height === 0 ? 'missing or zero' : 'missing';
  throw usageError(
    `raw YUV needs its geometry, and of it ${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} ${zero}; ` +
      'an example: -w 1920 -h 1080 -p 420 -b 8 (for all other videos leave all four out)',
  );
}
