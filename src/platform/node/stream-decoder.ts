/**
 * @module platform/node/stream-decoder
 * Decodes video from a pipe: ffmpeg reads it once, in order, and writes Y4M.
 */
import { once } from 'node:events';
import { ioError, mediaError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import { endChild, startChild } from '../../files/child-process.js';
import { delivery, everyFrame } from '../../media/delivery.js';
import type { ByteStream, DecodedStream } from '../../media/types.js';
import { LOG_LEVEL, pipedArgs } from '../ffmpeg/commands.js';
import { firstError } from '../ffmpeg/log.js';
import { createFfmpegDecoder } from './ffmpeg/decoder.js';
import { readLines, toolCommand } from './ffmpeg/tool.js';
import { nodeByteStream } from './files.js';

/** The codec and layout of the video in ffmpeg's log. */
const VIDEO = /Stream #0:\d+.*: Video: (\w+).*?, (\w+)(?:\(|,)/;

/** @returns `undefined` without ffmpeg */
export async function decodeStream(bytes: ByteStream, name: string): Promise<DecodedStream | undefined> {
  const { usable, version = '' } = await createFfmpegDecoder().availability();
  return usable
    ? { stream: new StreamDecoding(bytes, name, version), decodedBy: `ffmpeg ${version}` }
    : undefined;
}

class StreamDecoding implements ByteStream {
  readonly #name: string;
  readonly #bytes: ByteStream;
  readonly #child;
  readonly #output: ByteStream;
  readonly #ended: Promise<number | null>;
  readonly #errors: string[] = [];
  #failure: unknown;
  #closed = false;

  constructor(bytes: ByteStream, name: string, version: string) {
    this.#name = name;
    this.#bytes = bytes;
    const args = [
      ...['-hide_banner', '-nostats', '-loglevel', LOG_LEVEL, '-err_detect', 'crccheck'],
      ...[...pipedArgs(), '-map', '0:V:0', ...everyFrame(version)],
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

  async next(): Promise<Uint8Array | undefined> {
    const piece = await this.#output.next().catch((error: unknown) => {
      // Report the cause, not the truncated output.
      throw this.#failure ?? error;
    });
    if (this.#failure !== undefined) throw this.#failure;
    if (piece || this.#closed) return piece;
    const code = await this.#ended;
    if (this.#failure !== undefined) throw this.#failure;
    if (code === 0 && this.#errors.length === 0) return undefined;
    const reason = this.#errors.at(0) ?? `it ended with code ${code}`;
    throw mediaError(
      `ffmpeg cannot decode ${shown(this.#name)} without seeking: ${shown(reason)}; give encoded video as a file, in ` +
        'which ffmpeg can seek, or decode it first: ffmpeg -i - -strict -1 -f yuv4mpegpipe -',
    );
  }

  close(): void {
    this.#closed = true;
    this.#bytes.close();
    void endChild(this.#child, this.#ended, [this.#child.stdout, this.#child.stderr]);
  }

  async #feed(stdin: NodeJS.WritableStream): Promise<void> {
    try {
      for (let piece = await this.#bytes.next(); piece; piece = await this.#bytes.next()) {
        // Copy: the stream may reuse the memory of a piece.
        if (!stdin.write(Uint8Array.from(piece))) await Promise.race([once(stdin, 'drain'), this.#ended]);
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
    const found = firstError(line);
    if (found !== undefined && this.#errors.length < 8) this.#errors.push(found);
  }
}
