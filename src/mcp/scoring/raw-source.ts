/**
 * @module mcp/scoring/raw-source
 * Makes raw YUV a source for tools that encode, as a Y4M copy.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { basename, extname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type * as z from 'zod/v4';
import { AnyvmafError, usageError } from '../../core/errors.js';
import { type ChromaFormat, formatProblem, storedFrameBytes, type VideoFormat } from '../../core/frame.js';
import type { Origin } from '../../core/origin.js';
import { quoted, showValue } from '../../core/printable.js';
import { quotedWord } from '../../core/shell.js';
import { openChecked } from '../../files/checked-file.js';
import { makeScratchFolder, removeScratch } from '../../files/scratch.js';
import { y4mHeader } from '../../sample/files.js';
import type { ToolContext } from '../context.js';
import {
  type CheckedArguments,
  type CheckedPath,
  type InputFile,
  RAW_ENDING,
  VIDEO_ENDINGS,
} from '../paths.js';
import type { EncodingLimits } from './encoding.js';
import type { encodingSource } from './parameters.js';

/** `pix_fmt` is that of raw YUV, or of the encodes of any other source. */
export type SourceInput = CheckedArguments<z.output<z.ZodObject<typeof encodingSource>>> & EncodingLimits;

export interface EncodingSource {
  readonly path: CheckedPath;
  readonly origin: Origin;
  /** Pixel format of the encodes, if the caller chose one. */
  readonly pixelFormat?: string;
  /** Bytes left for other temporary files. */
  readonly scratchBytes: number;
  /** Ignored parameters, and why. */
  readonly notes: readonly string[];
  readonly name: string;
  /** Replaces the copy in a command by the caller's file. */
  command(words: readonly string[]): string[];
  /** Replaces the copy in a script by the caller's file. */
  script(text: string): string;
}

/** Default frame rate of raw video, as in ffmpeg. */
const USUAL_RATE = 25;

/**
 * Runs work on the file itself, or on a temporary Y4M copy of raw YUV.
 * @throws {AnyvmafError} `usage` for raw YUV with a missing or wrong geometry; `io` if the copy is too large
 */
export async function withSource<Result>(
  input: SourceInput,
  { files, signal }: Pick<ToolContext, 'files' | 'signal'>,
  work: (source: EncodingSource) => Promise<Result>,
): Promise<Result> {
  const { src, width, height, framerate, pix_fmt, max_temp_gb } = input;
  const { origin } = files;
  const limit = max_temp_gb * 1e9;
  const given = (['width', 'height', 'framerate'] as const).filter((name) => input[name] !== undefined);
  if (!isRaw(src, width !== undefined || height !== undefined)) {
    return work({
      path: src.path,
      origin,
      pixelFormat: pix_fmt,
      scratchBytes: limit,
      notes: given.map(
        (name) => `${name} applies to raw YUV only and is ignored; ${basename(src.named)} declares its own.`,
      ),
      name: basename(src.path),
      command: (words) => [...words],
      script: (text) => text,
    });
  }
  if (width === undefined || height === undefined) {
    throw usageError(
      `src, ${quoted(basename(src.named))}, is raw video: pass width and height, and pix_fmt and framerate if they are not ` +
        `yuv420p and ${USUAL_RATE}.`,
    );
  }
  const format = formatOf(width, height, pix_fmt ?? 'yuv420p');
  const rate = rateOf(framerate ?? USUAL_RATE);
  const bytes = files.sizeOf(src.path);
  checkSize(src, format, bytes, limit);
  const folder = await makeScratchFolder('mcp');
  try {
    const copy = join(folder, `${basename(src.path, extname(src.path))}.y4m`);
    await writeCopy({ src, origin, copy, format, rate, bytes }, signal);
    const words = [
      ...['-f', 'rawvideo', '-pixel_format', pix_fmt ?? 'yuv420p', '-video_size', `${width}x${height}`],
      ...['-framerate', rate.replace(':', '/')],
    ];
    return await work({
      path: copy as CheckedPath,
      origin: { by: 'foreign', folders: [...(origin.folders ?? []), folder] },
      scratchBytes: limit - bytes,
      notes: [],
      name: basename(src.path),
      command: (all) =>
        all.flatMap((word, i) =>
          word === copy ? [src.path] : word === '-i' && all[i + 1] === copy ? [...words, word] : [word],
        ),
      script: (text) =>
        text
          .replaceAll(quotedWord(copy), quotedWord(src.path))
          .replaceAll(' -i "$source"', ` ${words.join(' ')} -i "$source"`),
    });
  } finally {
    await removeScratch(folder);
  }
}

/** Raw video: by its ending, or by a geometry and an ending that is not a video's. */
function isRaw({ path }: InputFile, hasGeometry: boolean): boolean {
  const ending = extname(path).toLowerCase();
  return ending === RAW_ENDING || (hasGeometry && !VIDEO_ENDINGS.has(ending));
}

const PIXELS = /^(?:yuv(420|422|444)p|gray)(9|10|12|14|16)?(?:le)?$/;

function formatOf(width: number, height: number, pixels: string): VideoFormat {
  const [, chroma = '400', depth = '8'] = PIXELS.exec(pixels) ?? [];
  if (!PIXELS.test(pixels)) {
    throw usageError(
      `pix_fmt of raw YUV is ${showValue(pixels)}, but it must be planar and little endian, such as yuv420p, yuv422p10le or gray.`,
    );
  }
  const format = { width, height, chroma: chroma as ChromaFormat, bitDepth: Number(depth) };
  const problem = formatProblem(format);
  if (problem) throw usageError(`The format given for raw video is invalid: ${problem}.`);
  return format;
}

/** Frame rate in Y4M's notation; rates of film and television are fractions of 1001. */
function rateOf(rate: number): string {
  if (Math.abs(rate - Math.round(rate)) < 1e-6) return `${Math.round(rate)}:1`;
  const television = Math.round(rate * 1.001);
  if (Math.abs((television * 1000) / 1001 - rate) < 0.005) return `${television * 1000}:1001`;
  return `${Math.round(rate * 1000)}:1000`;
}

interface Copy {
  readonly src: InputFile;
  readonly origin: Origin;
  readonly copy: string;
  readonly format: VideoFormat;
  readonly rate: string;
  /** Size of the raw video. */
  readonly bytes: number;
}

const FRAME = Buffer.from('FRAME\n');

async function writeCopy(
  { src, origin, copy, format, rate, bytes }: Copy,
  signal: AbortSignal,
): Promise<void> {
  const frameBytes = storedFrameBytes(format);
  async function* frames(chunks: Readable): AsyncGenerator<Buffer> {
    let left = frameBytes;
    yield Buffer.from(y4mHeader(format, rate));
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; ) {
        if (left === frameBytes) yield FRAME;
        const part = chunk.subarray(at, at + left);
        at += part.length;
        left = left === part.length ? frameBytes : left - part.length;
        yield part;
      }
    }
  }
  await pipeline(
    createReadStream('', { fd: openChecked(src.path, origin), end: bytes - 1, highWaterMark: 1 << 20 }),
    frames,
    createWriteStream(copy, { flags: 'wx', mode: 0o600 }),
    { signal },
  );
}

/** @throws {AnyvmafError} `usage` unless the size is a whole number of frames; `io` above the limit of the copy */
function checkSize({ named }: InputFile, format: VideoFormat, bytes: number, limit: number): void {
  const name = quoted(basename(named));
  const frame = storedFrameBytes(format);
  if (bytes === 0 || bytes % frame !== 0) {
    throw usageError(
      `src, ${name}, has ${bytes} bytes, which is not a whole number of frames of ${frame} bytes; check width, height and pix_fmt.`,
    );
  }
  if (bytes <= limit) return;
  throw new AnyvmafError(
    'io',
    `src, ${name}, is raw video of ${(bytes / 1e9).toFixed(1)} GB and needs a temporary copy, but max_temp_gb is ` +
      `${limit / 1e9}; raise it.`,
  );
}
