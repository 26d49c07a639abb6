/**
 * @module web/setup/files
 * Adds files to the session: chooses sides, detects kinds, guesses raw formats by name and size, describes videos.
 */

import type { ChromaFormat, Inspection, RawVideoFormat } from 'anyvmaf';
import { CHROMA_FORMATS } from 'anyvmaf/core/choices';
import { storedFrameBytes } from 'anyvmaf/core/frame';
import { parseSize } from 'anyvmaf/core/size';
import { baseName, bitrateText, timeText } from 'anyvmaf/view';
import type { ChosenFile, FileKind, Session } from '../session.js';
import { text } from '../text.js';

export type Side = 'reference' | 'distorted';

let nextId = 1;

/** Used to reopen files after a reload. */
export const handles = new WeakMap<File, FileSystemFileHandle>();

/** Own settings of encodes of the last session that must be chosen again, by {@link likenessOf}. */
export const awaited = new Map<string, NonNullable<ChosenFile['own']>>();

/** Equal for files that count as one when they are chosen again. */
export const likenessOf = ({ name, size, lastModified }: Pick<File, 'name' | 'size' | 'lastModified'>) =>
  JSON.stringify([name, size, lastModified]);

/** Files that the user's own replace. */
export const samples = new WeakSet<File>();

const START_BYTES = 16;

const RAW_NAME = /\.(yuv|raw|i420|iyuv|yv12|y8|nv12|nv21|p010|uyvy|yuy2)$/i;

/** Y4M by content, raw YUV by name; other files count as encoded, which their decoder checks. */
export function kindOf(name: string, start: Uint8Array): FileKind {
  if (String.fromCharCode(...start.subarray(0, 9)) === 'YUV4MPEG2') return 'y4m';
  return RAW_NAME.test(name) ? 'raw' : 'encoded';
}

/** @returns a sentence if the file is empty or cannot be read */
export async function chosenFile(file: File): Promise<ChosenFile | string> {
  if (file.size === 0) return text.setup.empty(file.name);
  try {
    const start = await file.slice(0, START_BYTES).arrayBuffer();
    const own = awaited.get(likenessOf(file));
    awaited.delete(likenessOf(file));
    return { id: nextId++, file, kind: kindOf(file.name, new Uint8Array(start)), ...(own && { own }) };
  } catch {
    return text.setup.unreadable(file.name);
  }
}

/** Sentences for people. */
export interface Added {
  readonly took: readonly string[];
  readonly refused: readonly string[];
}

/** Adds the usable files. @param side where they were dropped; `null`: anywhere */
export async function addFiles(session: Session, files: readonly File[], side: Side | null): Promise<Added> {
  const all = await Promise.all(files.map(chosenFile));
  const chosen = all.filter((file) => typeof file !== 'string');
  if (chosen.some(({ file }) => !samples.has(file))) dropSample(session);
  const [first, ...others] =
    side === 'distorted' ? [undefined, ...chosen] : withReferenceFirst(chosen, session, side);
  if (first) session.reference.value = first;
  const rest = others.filter((other) => other !== undefined);
  if (rest.length > 0) session.distorted.value = [...session.distorted.value, ...rest];
  guess(session);
  return {
    took: [
      ...(first ? [text.setup.took(first.file.name, 'reference')] : []),
      ...rest.map(({ file }) => text.setup.took(file.name, 'distorted')),
    ],
    refused: all.filter((file) => typeof file === 'string'),
  };
}

function dropSample({ reference, distorted }: Session): void {
  if (reference.value && samples.has(reference.value.file)) reference.value = null;
  if (distorted.value.some(({ file }) => samples.has(file)))
    distorted.value = distorted.value.filter(({ file }) => !samples.has(file));
}

const REFERENCE_NAME =
  /(?:^|[^a-z])(?:ref|reference|orig|original|source|src|master|pristine|lossless)(?:[^a-z]|$)/i;

/** The new reference, then the others; `undefined` first if there already is a reference. */
function withReferenceFirst(
  chosen: readonly ChosenFile[],
  session: Session,
  side: Side | null,
): readonly (ChosenFile | undefined)[] {
  if (side === null && session.reference.value) return [undefined, ...chosen];
  if (side === 'reference') return chosen;
  const scored = session.results.value.map(({ report, saved }) => (report ?? saved)?.reference?.name);
  const known = new Set(scored.map((name) => name && baseName(name)));
  const named =
    chosen.find(({ file }) => known.has(file.name)) ??
    chosen.find(({ file }) => REFERENCE_NAME.test(file.name.replace(/\.[^.]*$/, '')));
  const likeliest =
    named ??
    chosen.reduce<ChosenFile | undefined>((a, b) => (a && a.file.size >= b.file.size ? a : b), undefined);
  return [likeliest, ...chosen.filter((other) => other !== likeliest)];
}

/** The raw files, the reference first. */
export function rawFiles(session: Session): readonly ChosenFile[] {
  const { reference, distorted } = session;
  return [...(reference.value ? [reference.value] : []), ...distorted.value].filter(
    ({ kind }) => kind === 'raw',
  );
}

/** Guesses the raw format unless a link or the user has given it. */
function guess(session: Session): void {
  const raw = rawFiles(session);
  if (raw.length === 0 || session.raw.value) return;
  const guessed = guessRaw(raw.map(({ file }) => file));
  if (guessed.from !== 'none') session.raw.value = guessed.format;
}

export function removeFile(session: Session, id: number): void {
  if (session.reference.value?.id === id) session.reference.value = null;
  session.distorted.value = session.distorted.value.filter((chosen) => chosen.id !== id);
  if (rawFiles(session).length === 0) session.raw.value = null;
}

/** @param file the distorted video; default: the first one */
export function swapSides(session: Session, file?: File): void {
  const { reference, distorted } = session;
  const other = file ? distorted.value.find((chosen) => chosen.file === file) : distorted.value[0];
  const was = reference.value;
  if (!other || !was) return;
  reference.value = other;
  distorted.value = distorted.value.map((chosen) => (chosen === other ? was : chosen));
}

export function treatAsRaw(session: Session, files: readonly ChosenFile[]): void {
  const asRaw = (chosen: ChosenFile): ChosenFile =>
    files.some(({ id }) => id === chosen.id) ? { ...chosen, id: nextId++, kind: 'raw' } : chosen;
  const { reference, distorted } = session;
  if (reference.value) reference.value = asRaw(reference.value);
  distorted.value = distorted.value.map(asRaw);
  guess(session);
}

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

/** Most common first. */
const USUAL_SIZES = [
  '1920x1080 3840x2160 1280x720 352x288 176x144 640x360 854x480 852x480 960x540 832x480 416x240 640x480 720x576',
  '720x480 704x576 2560x1440 2560x1600 1024x768 576x324 480x270 426x240 320x240 320x180 4096x2160 7680x4320',
].flatMap((line) => line.split(' ').flatMap((size) => parseSize(size) ?? []));

/** Bits per sample of packed layouts above 8 bit. */
const PACKED_DEPTHS: Readonly<Record<string, string>> = { p010: '10', p016: '16', p210: '10', v210: '10' };

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
  const sampling =
    layout?.[1] ??
    /(?:^|[^0-9a-z])4[:.]?(2[:.]?0|2[:.]?2|4[:.]?4)(?:p|(?![0-9a-z]))/.exec(text)?.[0]?.replace(/\D/g, '') ??
    (/(?:^|[^a-z])(?:gray|grey|mono|y8|y800|400)(?![a-z0-9])|gray\d/.test(text) ? '400' : undefined);
  const depth =
    layout?.[2] ??
    /(?:^|[^0-9])(8|9|10|12|14|16)[-_ ]?(?:bits?|bpp|b)(?![a-z0-9])/.exec(text)?.[1] ??
    /(?:^|[^0-9])(9|10|12|14|16)[lb]e(?![a-z0-9])/.exec(text)?.[1] ??
    PACKED_DEPTHS[packed ?? ''];
  const bitDepth = depth === undefined ? undefined : Number(depth);
  const chroma = CHROMA_FORMATS.find((format) => format === sampling);
  return {
    ...size,
    ...(bitDepth !== undefined && bitDepth >= 8 && bitDepth <= 16 && { bitDepth }),
    ...(chroma && { chroma }),
    ...(packed !== undefined && { packed }),
  };
}

/** The likeliest format of all files: from their names, completed so that all files are whole frames. */
export function guessRaw(files: readonly Pick<File, 'name' | 'size'>[]): Guess {
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

type Facts = Inspection['reference'];

const CODECS: Readonly<Record<string, string>> = {
  h264: 'H.264',
  hevc: 'HEVC',
  av1: 'AV1',
  vp9: 'VP9',
  vp8: 'VP8',
  mpeg2video: 'MPEG-2',
  mpeg4: 'MPEG-4',
  prores: 'ProRes',
  y4m: 'Y4M',
  yuv: 'raw YUV',
};

/** HDR transfers by ffmpeg's names. */
const HDR: Readonly<Record<string, string>> = { smpte2084: 'PQ', 'arib-std-b67': 'HLG' };

/** `25`, `29.97`. */
function formatRate({ num, den }: { readonly num: number; readonly den: number }): string {
  return String(Math.round((num / den) * 1000) / 1000);
}

/** Most important first. */
export function describeFacts(facts: Facts): readonly string[] {
  const { chroma, frameRate, frameCount, codec, container, duration, bitrate } = facts;
  const hdr = HDR[facts.transfer ?? ''];
  const sampling = chroma === '400' ? 'luma' : chroma.split('').join(':');
  const name = codec ?? container ?? '';
  return [
    `${facts.width} × ${facts.height}`,
    ...(frameRate ? [text.setup.fps(formatRate(frameRate))] : []),
    ...(name ? [CODECS[name] ?? name] : []),
    `${text.setup.bits(facts.bitDepth)} ${sampling}`,
    ...(hdr ? [text.frames.toneMapped(hdr)] : []),
    ...(frameCount === null || frameCount === undefined ? [] : [text.setup.frames(frameCount)]),
    ...(duration ? [timeText(duration, 0)] : []),
    ...(bitrate ? [bitrateText(bitrate) ?? ''] : []),
  ];
}
