/**
 * @module platform/node/stream-decoder
 * Decodes video from a pipe: ffmpeg reads it once, in order, and writes Y4M.
 */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { ioError, mediaError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import { endChild, startChild } from '../../files/child-process.js';
import { delivery, everyFrame } from '../../media/delivery.js';
import type { ByteStream, DecodedStream } from '../../media/types.js';
import { LOG_LEVEL, pipedArgs } from '../ffmpeg/commands.js';
import { type ExpectedFrame, parseLogLine, RECORDINGS, unranged } from '../ffmpeg/log.js';
import { createFfmpegDecoder } from './ffmpeg/decoder.js';
import { readLines, toolCommand } from './ffmpeg/tool.js';
import { nodeByteStream } from './files.js';

/** The codec and layout of the video in ffmpeg's log. */
const VIDEO = /Stream #0:\d+.*: Video: (\w+).*?, (\w+)(?:\(|,)/;
/** The container in ffmpeg's log. */
const CONTAINER = /^\[info\] Input #0, (.+), from 'pipe:0':/;

/** @returns `undefined` without ffmpeg */
export async function decodeStream(bytes: ByteStream, name: string): Promise<DecodedStream | undefined> {
  const { usable, version = '' } = await createFfmpegDecoder().availability();
  if (!usable) return undefined;
  const stream = new StreamDecoding(bytes, name, version);
  return { stream, decodedBy: `ffmpeg ${version}`, skippedStart: () => stream.skippedStart };
}

class StreamDecoding implements ByteStream {
  readonly #name: string;
  readonly #bytes: ByteStream;
  readonly #child;
  readonly #output: ByteStream;
  readonly #ended: Promise<number | null>;
  #container = '';
  #first: ExpectedFrame | undefined;
  #begin = () => {};
  /** Settles with the first frame in the log, which may be read after that frame's bytes. */
  readonly #begun = new Promise<void>((resolve) => {
    this.#begin = resolve;
  });
  /** The first errors before and after the first frame. */
  #before: string | undefined;
  #after: string | undefined;
  #failure: unknown;
  #closed = false;

  constructor(bytes: ByteStream, name: string, version: string) {
    this.#name = name;
    this.#bytes = bytes;
    const args = [
      ...['-hide_banner', '-nostats', '-loglevel', LOG_LEVEL, '-err_detect', 'crccheck'],
      // showinfo shows changes of size, which ffmpeg hides by scaling.
      ...[...pipedArgs(), '-map', '0:V:0', '-vf', 'showinfo=checksum=0', ...everyFrame(version)],
      ...['-strict', '-1', '-f', 'yuv4mpegpipe', 'pipe:1'],
    ];
    const child = startChild(toolCommand('ffmpeg'), args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const { stdin, stdout, stderr } = child;
    if (!stdin || !stdout || !stderr) throw ioError('ffmpeg cannot be started: there are no pipes for it.');
    this.#child = child;
    this.#output = nodeByteStream(stdout, name);
    this.#ended = once(child, 'close').then(([code]) => (typeof code === 'number' ? code : null));
    this.#ended.catch((error: unknown) => {
      this.#failure ??= error;
    });
    readLines(stderr, (line) => this.#listen(line));
    stdin.on('error', () => {});
    void this.#feed(stdin);
  }

  /** Why pictures before the first could not be decoded, as is usual if a recording starts between key frames. */
  get skippedStart(): string | undefined {
    return this.#first && RECORDINGS.has(this.#container) ? this.#before : undefined;
  }

  async next(): Promise<Uint8Array | undefined> {
    const piece = await this.#output.next().catch((error: unknown) => {
      // Report the cause, not the truncated output.
      throw this.#failure ?? error;
    });
    if (this.#failure !== undefined) throw this.#failure;
    if (piece && !this.#first) await Promise.race([this.#begun, this.#ended]);
    if (piece || this.#closed) return piece;
    const code = await this.#ended;
    if (this.#failure !== undefined) throw this.#failure;
    const error = this.#after ?? (this.skippedStart === undefined ? this.#before : undefined);
    if (code === 0 && error === undefined) return undefined;
    const reason = error ?? `it ended with code ${code}`;
    throw mediaError(
      `ffmpeg cannot decode ${shown(this.#name)} without seeking: ${shown(reason)}; give encoded video as a file, in ` +
        'which ffmpeg can seek, or pipe its frames: ffmpeg -i VIDEO -strict -1 -f yuv4mpegpipe -',
    );
  }

  close(): void {
    this.#closed = true;
    this.#bytes.close();
    void endChild(this.#child, this.#ended, [this.#child.stdout, this.#child.stderr]);
  }

  async #feed(stdin: Writable): Promise<void> {
    try {
      for (let piece = await this.#bytes.next(); piece; piece = await this.#bytes.next()) {
        // Copy: the stream may reuse the memory of a piece.
        if (!stdin.write(Uint8Array.from(piece))) await drained(stdin);
        if (this.#closed || this.#child.exitCode !== null) return;
      }
    } catch (error) {
      this.#failure ??= error;
    } finally {
      stdin.end();
    }
  }

  #listen(line: string): void {
    const [, codec, layout] = VIDEO.exec(line) ?? [];
    if (codec !== undefined && layout !== undefined && layout !== 'none' && codec !== 'wrapped_avframe') {
      try {
        delivery(layout, 0, this.#name);
      } catch (error) {
        this.#failure ??= error;
        this.#child.stdout?.destroy();
      }
    }
    this.#container ||= CONTAINER.exec(line)?.[1] ?? '';
    const event = parseLogLine(line);
    if (event?.kind === 'frame') this.#compare(event);
    if (event?.kind !== 'damage') return;
    if (this.#first) this.#after ??= event.text;
    else this.#before ??= event.text;
  }

  #compare(found: ExpectedFrame): void {
    this.#first ??= found;
    this.#begin();
    const text = ({ width, height, pixelFormat }: ExpectedFrame) =>
      `${width}x${height} ${unranged(pixelFormat)}`;
    const [first, now] = [text(this.#first), text(found)];
    if (first === now) return;
    this.#failure ??= mediaError(
      `${shown(this.#name)} changes from ${first} to ${now}; cut it there, and score the parts one by one.`,
    );
    this.#child.stdout?.destroy();
  }
}

/** Settles once a stream takes more or is closed. A race with a lasting promise would keep memory for each call. */
export function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    if (stream.closed) resolve();
    else stream.on('drain', done).on('close', done);
  });
}
