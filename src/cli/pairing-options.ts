/**
 * @module cli/pairing-options
 * The options that say how two videos are brought together: decoder, size, rate, offset, range. Pure.
 */
import {
  COLOR_MATRICES,
  COLOR_RANGES,
  COLOUR_AS,
  DECODER_CHOICES,
  FILM_GRAIN,
  FRAME_RATE_POLICIES,
  PAIR_BY,
  SCALE_FILTERS,
} from '../core/choices.js';
import { usageError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import { parseSize } from '../core/size.js';
import type { FrameRange, PairingOptions, ScaleFilter, ScaleTo } from '../index.js';
import { type Draft, grouped, type OptionReaders, type OptionUse, takeOption } from './options.js';
import { choiceValue, refusedValue, unsigned, unsignedValue } from './values.js';

const FILTERS: readonly (ScaleFilter | 'none')[] = [...SCALE_FILTERS, 'none'];

const PAIRING = 'Bringing the videos together';

/** The options in the order in which help lists them. All are additions to the `vmaf` tool's. */
export const PAIRING_OPTIONS = grouped(
  PAIRING,
  [
    {
      name: 'decoder',
      argument: 'NAME',
      help: 'what decodes encoded video: auto (default: the first that is installed), ffmpeg, mediabunny, wasm, none',
    },
    {
      name: 'scale',
      argument: 'FILTER',
      help: 'how different sizes are made equal: bicubic (default), bilinear, lanczos, or none to refuse them',
    },
    {
      name: 'scale-to',
      argument: 'SIZE',
      help: 'the size to score at: ref (default), dis, or WIDTHxHEIGHT for both',
    },
    {
      name: 'frame-rate-policy',
      argument: 'HOW',
      help: 'nearest (default) pairs frames by nearest time; strict refuses other rates and missing or repeated frames',
    },
    {
      name: 'pair-by',
      argument: 'VIDEO',
      help: 'score at the frames of the reference (default) or, for an encode with fewer a second, of the distorted',
    },
    {
      name: 'offset',
      argument: 'N',
      help: 'the distorted video begins with reference frame N (negative: it has frames before the first); auto finds N',
    },
    {
      name: 'window',
      argument: 'N',
      help: 'offset auto tries offsets from -N to N frames, 1 to 1000 (default: 50, widened if ambiguous)',
    },
    {
      name: 'range',
      argument: 'A-B',
      help: 'only this part of the reference: frames 240-480, or times 1:30-2:00, 10s-12.5s; either end may be left out',
    },
    {
      name: 'crop',
      argument: 'auto',
      help: 'auto cuts off black borders: what lies outside the pictures of both',
    },
    {
      name: 'crop-ref',
      argument: 'W:H:X:Y',
      help: 'the part of the reference to compare, in samples, as of ffmpeg; without X:Y its middle',
    },
    { name: 'crop-dis', argument: 'W:H:X:Y', help: 'the part of the distorted video' },
    {
      name: 'deinterlace',
      help: 'make whole pictures of the fields of what is interlaced, by its pictures or its label (bwdif)',
    },
    {
      name: 'grain',
      argument: 'WHICH',
      help:
        'off leaves out the film grain that decoders add to AV1, which metrics count as a loss; both: with and without it ' +
        '(default: on)',
    },
    {
      name: 'colour-as',
      argument: 'TOOL',
      help: 'metrics of colour convert as libjxl (PNG files by ffmpeg), vship or vszip do',
    },
    {
      name: 'color-range',
      argument: 'RANGE',
      help: 'convert samples of the other range: limited or full; untagged counts as limited',
    },
    {
      name: 'matrix',
      argument: 'NAME',
      help: 'convert samples of another matrix: bt601, bt709 or bt2020 (ffmpeg)',
    },
    {
      name: 'pix-fmt',
      argument: 'NAME',
      help: 'compare in this planar format, such as yuv420p10le',
    },
    {
      name: 'vf-ref',
      argument: 'CHAIN',
      help: "ffmpeg's filters for the reference, as after -vf; only such as change pictures",
    },
    { name: 'vf-dis', argument: 'CHAIN', help: 'the same for the distorted video' },
    {
      name: 'track-ref',
      argument: 'N',
      help: 'the video track of the reference to read, from 0 (default: the default track, else the largest)',
    },
    { name: 'track-dis', argument: 'N', help: 'the same for the distorted video' },
    { name: 'strict', help: 'refuse a pair that preflight warns of' },
    { name: 'no-preflight', help: 'do not look for mismatches before scoring' },
    { name: 'allow-damaged', help: 'score a damaged video up to its first damage' },
    {
      name: 'rate',
      argument: 'R',
      help: 'pictures per second of frame_%04d.png, "shots/*.jpg" or a folder: 24, 24000/1001 (default: 25)',
    },
    {
      name: 'allow-url',
      argument: 'HOST',
      optional: isHost,
      help: 'read videos on HOST by URL, in parts and checked. May be repeated. Without HOST: ffmpeg fetches them, unchecked',
    },
  ],
  { ours: true },
);

/** {@link PairingOptions} while they are gathered. */
export type PairingDraft = Draft<PairingOptions>;

const READERS: OptionReaders<Exclude<(typeof PAIRING_OPTIONS)[number]['name'], 'allow-url'>, PairingDraft> = {
  decoder: (use) => ({ decoder: choiceValue(use, DECODER_CHOICES) }),
  scale: (use) => ({ scale: choiceValue(use, FILTERS) }),
  'scale-to': (use) => ({ scaleTo: sizeValue(use) }),
  'frame-rate-policy': (use) => ({ frameRatePolicy: choiceValue(use, FRAME_RATE_POLICIES) }),
  'pair-by': (use) => ({ pairBy: choiceValue(use, PAIR_BY) }),
  offset: (use) => ({ offset: offsetValue(use) }),
  window: (use) => ({ window: windowValue(use) }),
  range: (use) => ({ range: rangeValue(use) }),
  crop: (use) => ({ crop: choiceValue(use, ['auto'] as const) }),
  'crop-ref': (use) => ({ cropReference: areaValue(use) }),
  'crop-dis': (use) => ({ cropDistorted: areaValue(use) }),
  deinterlace: () => ({ deinterlace: true }),
  grain: (use) => ({ grain: choiceValue(use, FILM_GRAIN) }),
  'colour-as': (use) => ({ colourAs: choiceValue(use, COLOUR_AS) }),
  'color-range': (use) => ({ colorRange: choiceValue(use, COLOR_RANGES) }),
  matrix: (use) => ({ matrix: choiceValue(use, COLOR_MATRICES) }),
  'pix-fmt': (use) => ({ pixelFormat: use.value }),
  'vf-ref': (use) => ({ vfReference: use.value }),
  'vf-dis': (use) => ({ vfDistorted: use.value }),
  'track-ref': (use) => ({ trackReference: unsignedValue(use, 1) }),
  'track-dis': (use) => ({ trackDistorted: unsignedValue(use, 1) }),
  strict: () => ({ strict: true }),
  'no-preflight': () => ({ preflight: false }),
  'allow-damaged': () => ({ allowDamaged: true }),
  rate: (use) => ({ rate: use.value }),
};

/**
 * Takes one option into `options`.
 * @returns false if it is not one of {@link PAIRING_OPTIONS}
 * @throws {AnyvmafError} `usage`
 */
export function takePairingOption(use: OptionUse, options: PairingDraft): boolean {
  if (use.name === 'allow-url') {
    options.allowUrl = withHost(options.allowUrl, use);
    return true;
  }
  return takeOption(READERS, use, options);
}

/** Endings of files that could be taken for those of a host: `--allow-url ref.mp4 dis.mp4` names no host. */
const FILES =
  /\.(?:mp4|m4v|mov|mkv|webm|avi|m?ts|m2ts|mpe?g|mxf|ivf|obu|264|h264|265|hevc|av1|y4m|yuv|wmv|flv|ogv|gif|png|jpe?g|csv|jsonl|ndjson|json|xml|html?)$/i;

/** Whether an argument after `--allow-url` is its host: a name with a dot, an address, or anything with a port. */
function isHost(text: string): boolean {
  if (/^\[[\da-f:.]+\](?::\d+)?$/i.test(text) || /^[\da-f.:]+\/\d+$/i.test(text)) return true;
  const [, name = '', port] = /^((?:\*\.)?[a-z\d_-]+(?:\.[a-z\d_-]+)*\.?)(:\d+)?$/i.exec(text) ?? [];
  if (port !== undefined || name.toLowerCase() === 'localhost') return name !== '';
  return name.includes('.') && !FILES.test(name);
}

/** The hosts named so far and another one; `true` where URLs are fetched unchecked. */
function withHost(before: PairingOptions['allowUrl'], { label, value }: OptionUse): true | readonly string[] {
  if ((value === '') === (typeof before === 'object') && before !== undefined) {
    throw usageError(
      `${label} is given with a host and without one; with hosts nothing else is fetched, so leave out one of the two`,
    );
  }
  if (value === '') return true;
  return [...(typeof before === 'object' ? before : []), value];
}

/** A video or a place for results on another machine. */
export function isUrl(name: string): boolean {
  return /^https?:\/\//i.test(name);
}

/**
 * Refuses hosts where nothing is on any: one of them may be meant as a file.
 * @throws {AnyvmafError} `usage`
 */
export function refuseUnusedHosts(
  { allowUrl }: PairingOptions,
  names: readonly (string | undefined)[],
): void {
  if (typeof allowUrl !== 'object' || names.some((name) => name !== undefined && isUrl(name))) return;
  throw usageError(
    `--allow-url names ${quoted(allowUrl[0] ?? '')}, but nothing here is a URL; leave it out, or, if that is a file, put ` +
      '--allow-url after the videos',
  );
}

/**
 * Refuses options that contradict each other.
 * @throws {AnyvmafError} `usage`
 */
export function checkPairingOptions(options: PairingOptions): void {
  if (options.window !== undefined && options.offset !== 'auto') {
    throw usageError('--window requires --offset auto; add that, or leave out --window');
  }
  if (options.crop && (options.cropReference ?? options.cropDistorted) !== undefined) {
    throw usageError(
      '--crop auto looks for what to cut off, but --crop-ref or --crop-dis says it; leave out one',
    );
  }
  if (options.strict && options.preflight === false) {
    throw usageError(
      '--strict judges by what preflight finds, but --no-preflight turns it off; leave out one',
    );
  }
}

/** `ref`, `dis` or `1920x1080`. */
function sizeValue(use: OptionUse): ScaleTo {
  if (use.value === 'ref' || use.value === 'dis') return use.value;
  const size = parseSize(use.value);
  if (size) return size;
  throw refusedValue(use, 'ref, dis or a size such as 1920x1080');
}

/** `1920:800:0:140`, `1920:800`. */
function areaValue(use: OptionUse): string {
  if (/^\d{1,5}:\d{1,5}(?::\d{1,5}:\d{1,5})?$/.test(use.value)) return use.value;
  throw refusedValue(use, 'WIDTH:HEIGHT:X:Y in samples, such as 1920:800:0:140');
}

/** A whole number of frames with or without a sign, or `auto`. */
function offsetValue(use: OptionUse): number | 'auto' {
  if (use.value === 'auto') return 'auto';
  const [, sign, digits] = /^([-+]?)(.*)$/.exec(use.value) ?? [];
  const frames = unsigned(digits ?? '');
  if (frames !== undefined && frames <= 1e9) return sign === '-' ? -frames : frames;
  throw refusedValue(use, 'a whole number of frames, such as 12 or -3, or auto');
}

/**
 * Frames to either side.
 * @throws {AnyvmafError} `usage`
 */
export function windowValue(use: OptionUse): number {
  const window = unsignedValue(use, 100);
  if (window >= 1 && window <= 1000) return window;
  throw usageError(`${use.label} is "${use.value}", but it must be from 1 to 1000 frames`);
}

/** One end of a range: a number, and its unit where it has one. */
interface Bound {
  readonly value: number;
  readonly seconds: boolean;
}

/**
 * `240-480`, `1:30-2:00`, `10s-12.5s`, `10-12.5s`, `1:30-`, `-200`. The end is exclusive. A unit on one side holds for
 * both; without any, whole numbers are frames.
 */
function rangeValue(use: OptionUse): FrameRange {
  const [, from = '', to = ''] = /^([^-]*)-([^-]*)$/.exec(use.value.trim()) ?? [];
  const [start, end] = [from.trim(), to.trim()].map((text) => (text === '' ? null : bound(text)));
  if (start === undefined || end === undefined || (start === null && end === null)) {
    throw usageError(
      `${use.label} is ${quoted(use.value)}, but it must be a range of frames such as 240-480, or of time such as ` +
        '1:30-2:00 or 10s-12.5s; one end may be left out',
    );
  }
  const seconds = start?.seconds === true || end?.seconds === true;
  const range: FrameRange = {
    unit: seconds ? 'seconds' : 'frames',
    start: start?.value ?? 0,
    ...(end && { end: end.value }),
  };
  if (range.end !== undefined && range.end <= range.start) {
    throw usageError(
      `${use.label} is ${quoted(use.value)}, which is empty: its end must come after its start`,
    );
  }
  return range;
}

/** `90`, `90s`, `1.5`, `1:30`, `1:02:03.5`; `undefined` for anything else. */
function bound(text: string): Bound | undefined {
  if (/^\d{1,12}$/.test(text)) return { value: Number(text), seconds: false };
  const [, clock, plain] = /^(?:((?:\d+:)?\d+:\d{1,2}(?:\.\d+)?)|(\d+(?:\.\d+)?)s?)$/.exec(text) ?? [];
  if (plain !== undefined) return { value: Number(plain), seconds: true };
  if (clock === undefined) return undefined;
  const parts = clock.split(':').map(Number);
  if (parts.slice(1).some((part) => part >= 60)) return undefined;
  return { value: parts.reduce((sum, part) => sum * 60 + part, 0), seconds: true };
}
