/**
 * @module media/open
 * Opens any kind of video input as a source of frames.
 */
import { onAbort, unlessAborted } from '../core/abort.js';
import {
  holds,
  requireArray,
  requireAttached,
  requireObject,
  requireRate,
  requireText,
  wrongType,
} from '../core/arguments.js';
import {
  type AnyvmafError,
  ioError,
  mediaError,
  mismatchError,
  type OptionHint,
  ofInput,
  usageError,
} from '../core/errors.js';
import { describeFormat, formatProblem } from '../core/frame.js';
import { hasScheme, STANDARD_INPUT } from '../core/names.js';
import { quoted, shown, showValue, withoutAccess } from '../core/printable.js';
import { convertCommand, DECLARE_RAW, FETCH_URL, incompleteFrame, incompleteFrameWarning } from './errors.js';
import {
  checkRawFormat,
  indexFrames,
  isContainer,
  isY4m,
  parseY4mHeader,
  rawInfo,
  rawLayout,
  STREAM_HEADER_MAX,
  sniffContent,
  type Y4mHeader,
  y4mInfo,
} from './formats.js';
import { filteredSource } from './own-filters.js';
import { ByteQueue, blobReader, bytesReader, webByteStream } from './readers.js';
import { blankSource, RandomAccessSource, SequentialSource, withReads } from './sources.js';
import {
  type ByteReader,
  type ByteStream,
  type BytesPlace,
  type DecodedStream,
  type FilePlatform,
  type FrameSource,
  type RawVideoFormat,
  RemoteVideo,
  type SourceDescriptor,
  type VideoInfo,
  type VideoInput,
} from './types.js';

export interface OpenOptions {
  /** Format of raw planar YUV. A Y4M input must agree with it. */
  readonly raw?: RawVideoFormat;
  /** For messages. Default: the path, the `File`'s name, or the kind of input. */
  readonly name?: string;
  readonly platform: FilePlatform;
  /**
   * Set if there are decoders: they read URLs if allowed (a list restricts the hosts), and encoded files are not read
   * as raw video. Default: URLs are unknown files.
   */
  readonly decoding?:
    | {
        readonly urls: boolean | readonly string[];
        /** Decode encoded streams, if the platform can. */
        readonly streams?: boolean;
      }
    | undefined;
  /** If a video ends within a frame: fail at once if it is a raw file, or drop the frame and warn. Default: reading it fails. */
  readonly partialFrame?: 'refuse' | 'drop';
  /** Aborts opening; rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface EncodedInput extends FileNotes {
  readonly kind: 'encoded';
  readonly name: string;
  readonly input: VideoInput;
  /** Set for a sequence of picture files. */
  readonly sequence?: true;
}

interface FileNotes {
  /** File type with its article; absent if unknown. */
  readonly looksLike?: string;
  /** What is missing from a truncated file, as a clause. */
  readonly cutOff?: string;
  /** Settings that x264 or x265 recorded in the stream. */
  readonly encoderSettings?: string;
  /** Profile of Dolby Vision in MP4. */
  readonly dolbyVision?: number;
  /** True for separate alpha, which decoders omit. */
  readonly alphaApart?: boolean;
}

/**
 * Opens a video, which the caller closes. Recognises Y4M by its content. Files, Blobs and bytes give random access;
 * pipes and streams give frames in order; the results of a {@link FrameSource} are checked.
 * @throws {AnyvmafError} `io` if the input cannot be read, `media` if it needs a decoder, `mismatch` if a Y4M header
 * contradicts `raw`, `usage` for other inputs
 */
export async function openVideo(input: VideoInput, options: OpenOptions): Promise<FrameSource> {
  const opened = await openInput(input, options);
  if (!('kind' in opened)) return opened;
  throw notY4m(opened);
}

/**
 * Like {@link openVideo}, but returns encoded inputs unopened.
 * @throws {AnyvmafError} as openVideo; `media` for an encoded stream
 */
export async function openInput(
  input: VideoInput,
  options: OpenOptions,
): Promise<FrameSource | EncodedInput> {
  const { raw, signal } = options;
  signal?.throwIfAborted();
  if (raw) checkRawFormat(raw);
  if (isFrameSource(input)) {
    const problem = formatProblem(input.info);
    if (problem) throw usageError(`the frames of ${shown(input.info.name)} are not usable: ${problem}.`);
    const { info } = input;
    const source = withReads(input, (read) => checkFound(info.name, read()));
    return { ...source, info: { ...info, frameCount: info.frameCount ?? null } };
  }
  const url = options.decoding && urlOf(input);
  const urls = options.decoding?.urls;
  const remote =
    url !== undefined && typeof urls === 'object' ? await openUrl(url, urls, options) : undefined;
  const name = options.name ?? withoutAccess(inputName(input));
  if (url !== undefined && !remote) {
    if (urls) return { kind: 'encoded', name, input: url };
    throw usageError(`${shown(url)} is a URL, which is not fetched by default`, {
      hints: [allowing(url), 'download the video and pass its path'],
    });
  }
  if (options.decoding && typeof input === 'string' && options.platform.namesSequence?.(input))
    return { kind: 'encoded', name, input, looksLike: 'a sequence of pictures', sequence: true };
  const bytes = await openBytes(remote ?? input, name, options.platform);
  const close = (): void => (bytes.kind === 'random' ? bytes.reader : bytes.stream).close();
  const forget = onAbort(signal, close);
  try {
    signal?.throwIfAborted();
    if (bytes.kind === 'stream') {
      const { platform, decoding } = options;
      return await openStream(
        bytes.stream,
        name,
        options,
        decoding?.streams ? platform.decodeStream : undefined,
      );
    }
    const opened = await openRandom(bytes, name, options);
    if ('info' in opened) return opened;
    close();
    return { kind: 'encoded', name, input: remote ?? input, ...opened };
  } catch (error) {
    close();
    // Closing looks like the end of the stream, so report the abort instead.
    throw signal?.aborted ? signal.reason : error;
  } finally {
    forget();
  }
}

/**
 * Opens a described source in a worker.
 * @throws {AnyvmafError} `io` if the file no longer exists
 */
export function reopen(descriptor: SourceDescriptor, platform: FilePlatform): FrameSource {
  if (descriptor.kind === 'blank') return blankSource(descriptor.info, descriptor.info.frameCount);
  if (descriptor.kind === 'filtered')
    return filteredSource(reopen(descriptor.of, platform), descriptor.filters);
  const { info, layout } = descriptor;
  return new RandomAccessSource(readerOf(descriptor, info.name, platform), info, layout, descriptor);
}

/** Reopens an input for random access; `undefined` if it has none. */
export async function bytesOfInput(
  opened: FrameSource | EncodedInput,
  platform: FilePlatform,
): Promise<{ readonly name: string; readonly reader: ByteReader } | undefined> {
  if (!('kind' in opened)) {
    const { descriptor, info } = opened;
    const reader = descriptor && bytesOf(descriptor, platform);
    return reader && { name: info.name, reader };
  }
  const { input, name } = opened;
  if (!(input instanceof RemoteVideo) && urlOf(input) !== undefined) return undefined;
  if (typeof input === 'string' && platform.namesSequence?.(input)) return undefined;
  const bytes = await openBytes(input, name, platform);
  if (bytes.kind === 'random') return { name, reader: bytes.reader };
  bytes.stream.close();
  return undefined;
}

function bytesOf(descriptor: SourceDescriptor, platform: FilePlatform): ByteReader | undefined {
  if (descriptor.kind === 'blank') return undefined;
  if (descriptor.kind === 'filtered') return bytesOf(descriptor.of, platform);
  return readerOf(descriptor, descriptor.info.name, platform);
}

function readerOf(place: BytesPlace, name: string, platform: FilePlatform): ByteReader {
  switch (place.kind) {
    case 'file':
      return platform.reopen(place.path, place.origin);
    case 'blob':
      return blobReader(place.blob, name);
    case 'bytes':
      return bytesReader(place.bytes);
    case 'here':
      return place.open();
  }
}

/** @throws {AnyvmafError} `usage` if the platform cannot fetch; as {@link FilePlatform.openUrl} */
async function openUrl(url: string, hosts: readonly string[], { platform, signal }: OpenOptions) {
  if (platform.openUrl) return platform.openUrl(url, hosts, signal);
  throw usageError(
    `${shown(url)} is a URL, but nothing can be fetched here; download the video and pass the file.`,
  );
}

interface RandomBytes {
  readonly kind: 'random';
  readonly reader: ByteReader;
  readonly place: BytesPlace;
}

/** @throws {AnyvmafError} as {@link FilePlatform.open}; `usage` for other inputs */
export async function openBytes(
  input: VideoInput,
  name: string,
  platform: FilePlatform,
): Promise<RandomBytes | { readonly kind: 'stream'; readonly stream: ByteStream }> {
  const random = (place: BytesPlace, reader = readerOf(place, name, platform)) =>
    ({ kind: 'random', reader, place }) as const;
  if (input instanceof RemoteVideo) return random({ kind: 'here', open: () => input.content.reader() });
  if (typeof input === 'string' || typeof input === 'number' || input instanceof URL) {
    const file = await platform.open(input);
    if (file.kind === 'stream') return file;
    const { reader, path, origin } = file;
    return random({ kind: 'file', path, ...(origin && { origin }) }, reader);
  }
  if (input instanceof Uint8Array) return random({ kind: 'bytes', bytes: input });
  if (input instanceof Blob) return random({ kind: 'blob', blob: input });
  if (input instanceof ReadableStream) return { kind: 'stream', stream: webByteStream(input, name) };
  throw usageError(
    `a video must be a path, URL, file descriptor, Blob, Uint8Array, ReadableStream or FrameSource, not ` +
      `${kindOf(input)}.`,
  );
}

async function openRandom(
  bytes: RandomBytes,
  name: string,
  options: Pick<OpenOptions, 'raw' | 'decoding' | 'partialFrame'>,
): Promise<FrameSource | FileNotes> {
  const { raw, partialFrame } = options;
  const decoding = options.decoding !== undefined;
  const { reader, place } = bytes;
  const buffer = new Uint8Array(STREAM_HEADER_MAX);
  const start = buffer.subarray(0, await reader.read(0, [buffer]));
  const recognised = recognise(start, name, decoding && isContainer(start) ? undefined : raw);
  if (recognised.kind === 'other') {
    const { looksLike } = recognised;
    if (!decoding || looksLike === undefined) return { looksLike };
    const notes = await import('./file-notes.js');
    if (/MOV/.test(looksLike) && (await notes.isEncrypted(reader)))
      throw mediaError(
        `${shown(name)} is encrypted, so its frames cannot be decoded; score the video before encryption.`,
      );
    const cutOff = await notes.findCutOff(reader);
    const dolbyVision = /MOV/.test(looksLike) ? await notes.dolbyVisionProfile(reader) : undefined;
    const alphaApart = /MOV|WebM/.test(looksLike) && (await notes.hasAlphaApart(reader));
    const encoderSettings = await notes.encoderSettings(reader);
    return { looksLike, cutOff, encoderSettings, dolbyVision, alphaApart };
  }
  if (recognised.kind === 'yuv') {
    const known = { ...rawInfo(recognised.raw, name, reader.size, start), fileSize: reader.size };
    const info = partialFrame ? settlePartialFrame(known, partialFrame) : known;
    const layout = rawLayout(recognised.raw);
    return new RandomAccessSource(reader, info, layout, { ...place, info, layout });
  }
  const index = await indexFrames(reader, recognised.header, name);
  const known = { ...y4mInfo(recognised.header, name, index), fileSize: reader.size };
  // A frame that is not scored may be incomplete.
  const info = partialFrame === 'drop' ? settlePartialFrame(known, partialFrame) : known;
  const { layout } = index;
  return new RandomAccessSource(reader, info, layout, { ...place, info, layout });
}

/** @throws {MediaError} if the file ends within a frame and `policy` is `refuse` */
function settlePartialFrame(info: VideoInfo, policy: 'refuse' | 'drop'): VideoInfo {
  const { incompleteFrame: at, ...rest } = info;
  if (!at) return info;
  if (policy === 'refuse') throw incompleteFrame(info, at);
  return { ...rest, warnings: [...info.warnings, incompleteFrameWarning(info, at)] };
}

async function openDecodedStream(decoded: DecodedStream, name: string): Promise<FrameSource> {
  const source = await openStream(decoded.stream, name, {});
  const skipped = decoded.skippedStart();
  const warnings = [
    ...source.info.warnings,
    `${shown(name)} was decoded in order by ${decoded.decodedBy}; its frames are paired by number.`,
    ...(skipped === undefined
      ? []
      : [
          `the beginning of ${shown(name)} cannot be decoded (${shown(skipped)}), as is usual if a recording starts ` +
            'between key frames; its first frame is the first one that can.',
        ]),
  ];
  return Object.assign(source, { info: { ...source.info, warnings } });
}

async function openStream(
  stream: ByteStream,
  name: string,
  { raw, partialFrame }: Pick<OpenOptions, 'raw' | 'partialFrame'>,
  decodeStream?: FilePlatform['decodeStream'],
): Promise<FrameSource> {
  const queue = new ByteQueue(stream);
  const start = await queue.peek(STREAM_HEADER_MAX);
  const recognised = recognise(start, name, raw);
  if (recognised.kind === 'other') {
    const decoded = recognised.looksLike && (await decodeStream?.(queue.rest(), name));
    if (!decoded) throw notY4m({ name, ...recognised });
    return openDecodedStream(decoded, name);
  }
  if (recognised.kind === 'yuv') {
    const info = rawInfo(recognised.raw, name, null, start);
    return new SequentialSource(stream, queue, info, rawLayout(recognised.raw).frameBytes, partialFrame);
  }
  const { header } = recognised;
  await queue.skip(header.headerBytes);
  return new SequentialSource(stream, queue, y4mInfo(header, name), header.frameBytes, partialFrame);
}

type Recognised =
  | { readonly kind: 'y4m'; readonly header: Y4mHeader }
  | { readonly kind: 'yuv'; readonly raw: RawVideoFormat }
  | { readonly kind: 'other'; readonly looksLike?: string };

function recognise(start: Uint8Array, name: string, raw: RawVideoFormat | undefined): Recognised {
  if (start.length === 0) throw ioError(`${shown(name)} is empty.`);
  if (isY4m(start)) {
    const header = parseY4mHeader(start, name);
    if (raw && describeFormat(raw) !== describeFormat(header.format)) {
      const contrary =
        `${shown(name)} is a Y4M file of ${describeFormat(header.format)}, but the given raw format is ` +
        describeFormat(raw);
      const hints = [{ purpose: 'correct', option: 'raw' }, 'leave them out if both videos are Y4M'] as const;
      throw mismatchError(contrary, { hints, file: name });
    }
    return { kind: 'y4m', header };
  }
  if (raw) return { kind: 'yuv', raw };
  return { kind: 'other', looksLike: sniffContent(start) };
}

export type OpenedInput = FrameSource | EncodedInput;

/** Without a reference, for no-reference metrics. */
export interface OpenedInputs {
  readonly reference?: OpenedInput;
  readonly distorted: OpenedInput;
}

/**
 * Opens both videos concurrently, as two pipes of one producer may require; leaves encoded ones unopened.
 * @throws {AnyvmafError} as {@link openInput}; `usage` if both would read one stream
 */
export async function openInputs(
  { reference, distorted }: { readonly reference?: VideoInput; readonly distorted: VideoInput },
  options: Omit<OpenOptions, 'name'>,
): Promise<OpenedInputs> {
  if (reference !== undefined && reference === distorted && readsOnce(reference))
    throw usageError(
      `reference and distorted are both ${reference === '-' ? 'standard input (-)' : 'the same stream'}, ` +
        'which can be read only once; pass one of them as a file.',
    );
  const giveUp = new AbortController();
  const forget = onAbort(options.signal, (reason) => giveUp.abort(reason));
  const each = { ...options, signal: giveUp.signal };
  const opening = [
    reference === undefined ? undefined : ofInput('reference', () => openInput(reference, each)),
    ofInput('distorted', () => openInput(distorted, each)),
  ] as const;
  try {
    options.signal?.throwIfAborted();
    // An input may never open.
    const [first, second] = await unlessAborted(options.signal, Promise.all(opening));
    // One source for both takes one call at a time, so it must remain one.
    const same = first && reference === distorted && isFrameSource(distorted);
    return { reference: first, distorted: same ? first : second };
  } catch (error) {
    giveUp.abort(error);
    // Close the other once open, and ignore its errors.
    for (const input of opening) input?.then(closeInput).catch(() => {});
    throw error;
  } finally {
    forget();
  }
}

function checkFound(name: string, found: Promise<boolean> | boolean): Promise<boolean> | boolean {
  if (typeof found === 'boolean') return found;
  return Promise.resolve(found).then((settled) => {
    if (typeof settled === 'boolean') return settled;
    throw usageError(
      `readFrame of ${shown(name)} gave ${showValue(settled)}, but it must give true, or false after the last frame.`,
    );
  });
}

export async function closeInput(input: OpenedInput): Promise<void> {
  if (!('kind' in input)) await input.close();
}

export function readsOnce(input: VideoInput): boolean {
  if (input === '-' || typeof input === 'number') return true;
  if (typeof input !== 'object' || input === null) return false;
  return 'getReader' in input || ('seekable' in input && !input.seekable);
}

/** For inputs that are neither Y4M nor declared as raw, without a decoder. */
export function notY4m({ name, looksLike }: Pick<EncodedInput, 'name' | 'looksLike'>): AnyvmafError {
  return looksLike
    ? mediaError(
        `${shown(name)} is not a Y4M file but ${looksLike}; pass encoded video as a file, which a decoder can ` +
          `read, or convert it first: ${convertCommand(name)}`,
        { file: name },
      )
    : mediaError(`${shown(name)} is not a Y4M file`, { hints: [DECLARE_RAW], file: name });
}

/** The address of a URL; a single letter before the colon is a drive. */
function urlOf(input: VideoInput): string | undefined {
  const text = input instanceof URL ? input.href : input;
  if (typeof text !== 'string' || /^file:/i.test(text)) return undefined;
  return hasScheme(text) ? text : undefined;
}

/** Advises to allow the host; of other schemes, ffmpeg reads any URL. */
function allowing(url: string): OptionHint {
  const { protocol, host } = URL.canParse(url) ? new URL(url) : { protocol: '', host: '' };
  return /^https?:$/.test(protocol) ? { ...FETCH_URL, value: [host] } : FETCH_URL;
}

/** @throws {AnyvmafError} `usage` for a value that is not a video input; `name` is the argument's */
export function requireVideo(name: string, input: VideoInput): void {
  if (typeof input === 'string' && input.includes('\0'))
    throw usageError(`${name} is ${quoted(input)}, but a file name cannot contain a NUL character.`);
  if (typeof input === 'string' || (Number.isInteger(input) && Number(input) >= 0)) return;
  requireAttached(name, input);
  if (ArrayBuffer.isView(input) && input instanceof Uint8Array) return;
  requireObject(name, input, KINDS);
  if (input instanceof URL || input instanceof Blob || input instanceof ReadableStream) return;
  if (!isFrameSource(input)) throw wrongType(name, input, KINDS);
  const { info, readFrame, close } = input;
  requireObject(`${name}.info`, info);
  requireText(`${name}.info.name`, info.name);
  requireText(`${name}.info.container`, info.container);
  const frames = info.frameCount ?? 0;
  if (!Number.isSafeInteger(frames) || frames < 0)
    throw wrongType(`${name}.info.frameCount`, frames, 'a whole number, or null if it is not known');
  requireRate(`${name}.info.frameRate`, info.frameRate);
  requireArray(`${name}.info.warnings`, info.warnings, 'an array of sentences, which may be empty');
  for (const [method, value] of Object.entries({ readFrame, close }))
    if (typeof value !== 'function') throw wrongType(`${name}.${method}`, value, 'a function');
}

const KINDS = 'a path, URL, file descriptor, Blob, Uint8Array, ReadableStream or FrameSource';

export function isFrameSource(input: VideoInput): input is FrameSource {
  return typeof input === 'object' && input !== null && holds(() => 'readFrame' in input && 'info' in input);
}

function inputName(input: Exclude<VideoInput, FrameSource>): string {
  if (input === '-') return STANDARD_INPUT;
  if (typeof input === 'string') return input;
  if (typeof input === 'number') return `file descriptor ${input}`;
  if (input instanceof URL) return input.href;
  if (input instanceof Blob)
    return 'name' in input && typeof input.name === 'string' ? input.name : 'the Blob';
  return input instanceof Uint8Array ? 'the byte array' : 'the stream';
}

function kindOf(value: unknown): string {
  if (value === null || typeof value !== 'object') return String(value);
  return value.constructor?.name ?? 'an object';
}
