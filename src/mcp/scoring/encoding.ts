/**
 * @module mcp/scoring/encoding
 * Runs work that encodes a source within a call, with progress and limits of time and disk. Raw YUV is copied to Y4M.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { basename, extname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod/v4';
import { AnyvmafError, ioError, usageError } from '../../core/errors.js';
import {
  type ChromaFormat,
  formatProblem,
  storedFrameBytes,
  type VideoFormat,
  y4mHeader,
} from '../../core/frame.js';
import { quotedWord } from '../../core/names.js';
import type { Origin } from '../../core/origin.js';
import { quoted, showValue } from '../../core/printable.js';
import { openChecked } from '../../files/checked-file.js';
import { makeScratchFolder, removeScratch } from '../../files/folders.js';
import type { CurveResult, SearchOptions, ShotStage, TuneShotsOptions } from '../../index.js';
import type { Measuring } from '../call-threads.js';
import {
  type CheckedArguments,
  type CheckedModel,
  type CheckedPath,
  type InputFile,
  type InputModel,
  RAW_ENDING,
  VIDEO_ENDINGS,
} from '../paths.js';
import type { ExtraContent, OtherOutcome, ToolContext } from '../tool.js';
import { headKeys, headOf } from './answers.js';
import type { callLimits, encodingSource } from './parameters.js';

type EncodingLimits = z.output<z.ZodObject<typeof callLimits>>;

/** Options of all work with a source. */
type EncodingCall = Pick<SearchOptions, 'finish'> &
  Required<Pick<TuneShotsOptions, 'threads' | 'cache' | 'scratchBytes' | 'signal' | 'onStage'>>;

/** Most encodes of a search or a curve. */
export const ENCODES_OF_SEARCH = 8;

export interface EncodingTask<Result> {
  /** Path of the source, by which later calls find its points. */
  readonly source: string;
  readonly limits: EncodingLimits;
  /** True if the work can end at the limits with what it has. */
  readonly finishes?: boolean;
  /** Most encodes for a number of shots. */
  most(shots: number): number;
  /** @param onBest receives the best result so far, in words */
  work(call: EncodingCall, api: Measuring, onBest: (best: string) => void): Promise<Result>;
}

const plan = z.object({
  ...headKeys,
  summary: z.string(),
  dry_run: z.literal(true),
  encodes_at_most: z.int(),
  frames_per_encode: z.int().nullable().describe('null: the whole source, or a whole shot.'),
});

/**
 * Ends work at its limits; a dry run ends before the first encode.
 * @throws {AnyvmafError} those of the work; `resource` at a limit, without a result
 */
export function encodingCall<Result extends object>(
  { source, limits, finishes = false, most, work }: EncodingTask<Result>,
  context: ToolContext,
): Promise<Result | OtherOutcome> {
  const { max_seconds, max_encodes = Number.POSITIVE_INFINITY, max_temp_gb, dry_run } = limits;
  return context.pool.run(null, async ({ threads, api }) => {
    const limit = new AbortController();
    const { signal: finish } = limit;
    const { onStage, onBest, end } = encodingProgress(context);
    let [encodes, shots] = [0, 0];
    let frames: number | null = null;
    const call: EncodingCall = {
      ...{ threads, scratchBytes: max_temp_gb * 1e9, cache: await context.resources.points(source) },
      ...(finishes && !dry_run
        ? { signal: context.signal, finish }
        : { signal: AbortSignal.any([context.signal, finish]) }),
      onStage(stage) {
        if (stage.kind === 'cutting') frames ??= stage.frames;
        // Later reports of an encode have a frame count.
        if (stage.kind === 'encoding' && stage.frames === undefined) encodes++;
        if (stage.kind === 'cutting' || stage.kind === 'encoding') shots = Math.max(1, stage.shots ?? 1);
        if (dry_run ? shots > 0 : encodes > max_encodes) limit.abort();
        onStage(stage);
      },
    };
    // Not AbortSignal.timeout, which may be garbage collected if only AbortSignal.any refers to it.
    const timer = dry_run ? undefined : setTimeout(() => limit.abort(), max_seconds * 1000);
    try {
      const result = await work(call, api, onBest);
      end();
      if (!dry_run) return result;
    } catch (error) {
      if (!finish.aborted || context.signal.aborted) throw error;
      if (!dry_run) throw new AnyvmafError('resource', limitSentence(encodes, limits));
    } finally {
      clearTimeout(timer);
    }
    // No encode began: an earlier call has measured everything.
    return planOf(shots === 0 ? 0 : Math.min(most(shots), max_encodes), frames, context);
  });
}

function limitSentence(
  encodes: number,
  { max_seconds, max_encodes = Number.POSITIVE_INFINITY }: EncodingLimits,
) {
  const resume = 'call again with the same arguments to resume: measured encodes are kept';
  if (encodes > max_encodes) return `stopped at max_encodes, ${max_encodes}; ${resume}.`;
  if (encodes > 1) return `stopped at max_seconds, ${max_seconds}; ${resume}.`;
  return `no encode was measured within max_seconds, ${max_seconds}; raise it, or use a faster preset.`;
}

function planOf(most: number, frames: number | null, context: ToolContext): OtherOutcome {
  const each = frames === null ? 'each of the whole source or a shot' : `each of ${frames} frames`;
  const document = {
    ...headOf({ outcome: 'planned', next: context.again({ dry_run: false }) }),
    summary: `${context.tool} would make and score at most ${most} encodes, ${each}. Nothing was encoded.`,
    ...{ dry_run: true, encodes_at_most: most, frames_per_encode: frames },
  };
  return { document, fits: plan };
}

/** Like {@link encodingCall}, for a source that may be raw video. */
export function sourceCall<Result>(
  input: SourceInput & { readonly model: InputModel },
  context: ToolContext,
  most: EncodingTask<Result>['most'],
  work: (source: EncodingSource, options: SourceOptions, api: Measuring) => Promise<Result>,
): Promise<{ readonly result: Result; readonly notes: readonly string[] } | OtherOutcome> {
  const task: EncodingTask<{ readonly result: Result; readonly notes: readonly string[] }> = {
    ...{ source: input.src.path, limits: input, most },
    work: (call, api) =>
      withSource(input, { files: context.files, signal: call.signal }, async (source) => {
        const { origin, scratchBytes, pixelFormat, notes } = source;
        const options = { ...call, models: [input.model.text], origin, scratchBytes, pixelFormat };
        return { result: await work(source, options, api), notes };
      }),
  };
  return encodingCall(task, context);
}

type SourceOptions = EncodingCall &
  Pick<EncodingSource, 'origin' | 'scratchBytes' | 'pixelFormat'> & {
    readonly models: readonly CheckedModel[];
  };

/** Milliseconds between two reports of one stage. */
const PACE = 1000;

function encodingProgress({ progress }: ToolContext) {
  let [before, frames, total] = [0, 0, 0];
  let [at, last] = [Number.NEGATIVE_INFINITY, ''];
  let best: string | undefined;
  const tell = (message: string) => {
    [at, last] = [performance.now(), message];
    const known = total > 0 ? before + total : null;
    progress({ done: before + frames, total: known, isOpen: true, message, best });
  };
  return {
    onBest(known: string): void {
      best = known;
    },
    onStage(stage: ShotStage): void {
      const message = stageText(stage);
      if (message !== last) {
        // The previous stage is complete.
        before += Math.max(total, 1);
        [frames, total] = [0, 0];
      }
      if ('total' in stage && stage.frames !== undefined && stage.total !== undefined)
        [frames, total] = [stage.frames, stage.total];
      if (message !== last || frames === total || performance.now() - at >= PACE) tell(message);
    },
    end(): void {
      if (last === '') return;
      [before, frames] = [before + total, 0];
      total = 0;
      progress({ done: before + 1, total: before + 1, message: 'done' });
    },
  };
}

function stageText(stage: ShotStage): string {
  if (stage.kind === 'joining') return 'joining the shots';
  const shot = stage.shot === undefined ? '' : `shot ${stage.shot} of ${stage.shots}: `;
  if (stage.kind === 'finding') return `${shot}detecting shots`;
  if (!('value' in stage)) return `${shot}${stage.kind} the source`;
  const size = stage.size ? `, ${stage.size.width}x${stage.size.height}` : '';
  return `${shot}${stage.kind} at ${stage.value} with ${stage.encoder}${size}`;
}

export async function publishResult(
  result: CurveResult,
  { resources }: ToolContext,
): Promise<{ readonly uris: { json: string; html: string }; readonly content: ExtraContent[] }> {
  const { formatEncodingResult } = await import('../../index.js');
  const publish = async (format: 'json' | 'html', mimeType: string, description: string) =>
    resources.publish({
      name: `${result.kind}.${format}`,
      mimeType,
      description,
      data: await formatEncodingResult(result, format),
    });
  const json = await publish('json', 'application/json', 'Every point with all pooled values.');
  const html = await publish('html', 'text/html', 'The curves and tables as a self-contained page.');
  return { uris: { json: json.uri, html: html.uri }, content: [json.link, html.link] };
}

/** `pix_fmt` is that of raw YUV, or of the encodes of other sources. */
type SourceInput = CheckedArguments<z.output<z.ZodObject<typeof encodingSource>>> & EncodingLimits;

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

/** ffmpeg's default for raw video. */
const USUAL_RATE = 25;

/**
 * Runs work on the file itself, or on a temporary Y4M copy of raw YUV.
 * @throws {AnyvmafError} `usage` for raw YUV with a missing or wrong geometry; `io` if the copy is too large
 */
async function withSource<Result>(
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
  if (width === undefined || height === undefined)
    throw usageError(
      `src, ${quoted(basename(src.named))}, is raw video: pass width and height, and pix_fmt and framerate if they are not ` +
        `yuv420p and ${USUAL_RATE}.`,
    );
  const format = formatOf(width, height, pix_fmt ?? 'yuv420p');
  const rate = rateOf(framerate ?? USUAL_RATE);
  const bytes = files.sizeOf(src.path);
  checkSize(src, format, bytes, limit);
  const folder = await makeScratchFolder('mcp');
  try {
    const copy = join(folder, `${basename(src.path, extname(src.path))}.y4m`);
    await writeCopy(openChecked(src.path, origin), bytes, copy, format, rate, signal);
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
          .replaceAll(quotedWord(copy), () => quotedWord(src.path))
          .replaceAll(' -i "$source"', ` ${words.join(' ')} -i "$source"`),
    });
  } finally {
    await removeScratch(folder);
  }
}

/** True by the ending, or by a geometry and no video's ending. */
function isRaw({ path }: InputFile, hasGeometry: boolean): boolean {
  const ending = extname(path).toLowerCase();
  return ending === RAW_ENDING || (hasGeometry && !VIDEO_ENDINGS.has(ending));
}

const PIXELS = /^(?:yuv(420|422|444)p|gray)(9|10|12|14|16)?(?:le)?$/;

function formatOf(width: number, height: number, pixels: string): VideoFormat {
  const [, chroma = '400', depth = '8'] = PIXELS.exec(pixels) ?? [];
  if (!PIXELS.test(pixels))
    throw usageError(
      `pix_fmt of raw YUV is ${showValue(pixels)}, but it must be planar and little endian, such as yuv420p, yuv422p10le or gray.`,
    );
  const format = { width, height, chroma: chroma as ChromaFormat, bitDepth: Number(depth) };
  const problem = formatProblem(format);
  if (problem) throw usageError(`The format given for raw video is invalid: ${problem}.`);
  return format;
}

/** Frame rate in Y4M's notation; film and television have fractions of 1001. */
function rateOf(rate: number): string {
  if (Math.abs(rate - Math.round(rate)) < 1e-6) return `${Math.round(rate)}:1`;
  const television = Math.round(rate * 1.001);
  if (Math.abs((television * 1000) / 1001 - rate) < 0.005) return `${television * 1000}:1001`;
  return `${Math.round(rate * 1000)}:1000`;
}

const FRAME = Buffer.from('FRAME\n');

/** @param fd of the raw video, closed at the end, and its size */
async function writeCopy(
  fd: number,
  bytes: number,
  copy: string,
  format: VideoFormat,
  rate: string,
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
  const raw = createReadStream('', { fd, end: bytes - 1, highWaterMark: 1 << 20 });
  await pipeline(raw, frames, createWriteStream(copy, { flags: 'wx', mode: 0o600 }), { signal });
}

/** @throws {AnyvmafError} `usage` unless the size is a whole number of frames; `io` above the limit of the copy */
function checkSize({ named }: InputFile, format: VideoFormat, bytes: number, limit: number): void {
  const name = quoted(basename(named));
  const frame = storedFrameBytes(format);
  if (bytes === 0 || bytes % frame !== 0)
    throw usageError(
      `src, ${name}, has ${bytes} bytes, which is not a whole number of frames of ${frame} bytes; check width, height and pix_fmt.`,
    );
  if (bytes <= limit) return;
  throw ioError(
    `src, ${name}, is raw video of ${(bytes / 1e9).toFixed(1)} GB and needs a temporary copy, but max_temp_gb is ` +
      `${limit / 1e9}; raise it.`,
  );
}
